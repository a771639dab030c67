// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/fetch-dialog.h"

#include "engine/base/error.h"
#include "engine/io/fetch.h"
#include "ui/compat/dialogs.h"
#include "ui/model/settings.h"
#include "ui/model/worker.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

struct _LimnFetchDialog {
    GtkWindow parent_instance;
    LimnWindow *window;
    GtkWidget *name, *base, *revision, *folder, *bar, *status, *start, *cancel;
    LimnJob *job; // while it runs
};

G_DEFINE_FINAL_TYPE(LimnFetchDialog, limn_fetch_dialog, GTK_TYPE_WINDOW)

static void
limn_fetch_dialog_dispose(GObject *object)
{
    LimnFetchDialog *self = LIMN_FETCH_DIALOG(object);

    if (self->job)
        limn_job_cancel(self->job);
    g_clear_pointer(&self->job, limn_job_unref);
    g_clear_object(&self->window);
    G_OBJECT_CLASS(limn_fetch_dialog_parent_class)->dispose(object);
}

static void
limn_fetch_dialog_class_init(LimnFetchDialogClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_fetch_dialog_dispose;
    gtk_widget_class_add_binding_action(GTK_WIDGET_CLASS(class), GDK_KEY_Escape, 0,
                                        "window.close", NULL);
}

static void
update(LimnFetchDialog *self)
{
    gboolean running = self->job != NULL;

    gtk_widget_set_visible(self->bar, running);
    gtk_widget_set_sensitive(
        self->start, !running && *gtk_editable_get_text(GTK_EDITABLE(self->name)));
    gtk_widget_set_sensitive(self->cancel, running);
    gtk_widget_set_sensitive(self->name, !running);
    gtk_widget_set_sensitive(self->base, !running);
    gtk_widget_set_sensitive(self->revision, !running);
    gtk_widget_set_sensitive(self->folder, !running);
}

static void
set_status(LimnFetchDialog *self, const char *text, gboolean error)
{
    gtk_label_set_text(GTK_LABEL(self->status), text);
    if (error)
        gtk_widget_add_css_class(self->status, "error-text");
    else
        gtk_widget_remove_css_class(self->status, "error-text");
}

// ---- a thread of its own: a download waits for the network, not for the processor

typedef struct {
    GWeakRef dialog;
    LimnWorkspace *ws;
    LimnJob *job;
    char *name, *base, *revision, *folder;
    GError *error;
    gboolean ok;
} Fetch;

typedef struct {
    Fetch *fetch; // only its weak reference is used
    double fraction;
    char *message;
} Progress;

static void
fetch_free(gpointer data)
{
    Fetch *fetch = data;

    g_weak_ref_clear(&fetch->dialog);
    g_object_unref(fetch->ws);
    limn_job_unref(fetch->job);
    g_free(fetch->name);
    g_free(fetch->base);
    g_free(fetch->revision);
    g_free(fetch->folder);
    g_clear_error(&fetch->error);
    g_free(fetch);
}

static void
progress_free(gpointer data)
{
    Progress *progress = data;

    g_free(progress->message);
    g_free(progress);
}

static gboolean
show_progress(gpointer data)
{
    Progress *progress = data;
    g_autoptr(LimnFetchDialog) self = g_weak_ref_get(&progress->fetch->dialog);

    if (!self || !self->job)
        return G_SOURCE_REMOVE;
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(self->bar),
                                  CLAMP(progress->fraction, 0, 1));
    set_status(self, progress->message, FALSE);
    return G_SOURCE_REMOVE;
}

// Messages are handled in order, so that the fetch outlives its progress.
static void
job_progress(LimnJob *job, const LimnProgress *report, gpointer user_data)
{
    Progress *progress = g_new0(Progress, 1);

    progress->fetch = user_data;
    progress->fraction = report->fraction;
    progress->message = g_strdup(report->message);
    limn_main_invoke(show_progress, progress, progress_free);
}

static gboolean
fetch_done(gpointer data)
{
    Fetch *fetch = data;
    g_autoptr(LimnFetchDialog) self = g_weak_ref_get(&fetch->dialog);
    gboolean cancelled = g_error_matches(fetch->error, LIMN_ERROR, LIMN_ERROR_CANCELLED);

    if (fetch->ok) {
        g_autofree char *text = g_strdup_printf(_("%s was fetched."), fetch->name);

        limn_workspace_use_model(fetch->ws, fetch->folder);
        limn_workspace_message(fetch->ws, LIMN_MESSAGE_INFO, text);
    } else if (!self && !cancelled) {
        limn_workspace_message(fetch->ws, LIMN_MESSAGE_ERROR, fetch->error->message);
    }
    if (!self)
        return G_SOURCE_REMOVE;
    g_clear_pointer(&self->job, limn_job_unref);
    if (fetch->ok)
        set_status(self, _("Done: the checkpoint is in the list of models."), FALSE);
    else
        set_status(self, cancelled ? _("Cancelled.") : fetch->error->message, !cancelled);
    update(self);
    return G_SOURCE_REMOVE;
}

static gpointer
fetch_thread(gpointer data)
{
    Fetch *fetch = data;
    LimnFetchOptions options = {.name = fetch->name,
                                .directory = fetch->folder,
                                .base = *fetch->base ? fetch->base : NULL,
                                .revision = *fetch->revision ? fetch->revision : NULL};

    fetch->ok = limn_fetch_checkpoint(&options, fetch->job, &fetch->error);
    limn_main_invoke(fetch_done, fetch, fetch_free);
    return NULL;
}

static void
start(LimnFetchDialog *self)
{
    g_autoptr(GError) error = NULL;
    const char *folder = gtk_editable_get_text(GTK_EDITABLE(self->folder));
    Fetch *fetch;

    if (self->job)
        return;
    fetch = g_new0(Fetch, 1);
    g_weak_ref_init(&fetch->dialog, self);
    fetch->ws = g_object_ref(limn_window_get_workspace(self->window));
    fetch->job = limn_job_new();
    fetch->name = g_strdup(gtk_editable_get_text(GTK_EDITABLE(self->name)));
    fetch->base = g_strdup(gtk_editable_get_text(GTK_EDITABLE(self->base)));
    fetch->revision = g_strdup(gtk_editable_get_text(GTK_EDITABLE(self->revision)));
    g_strstrip(fetch->name);
    g_strstrip(fetch->base);
    fetch->folder =
        *folder ? g_strdup(folder) : limn_fetch_default_directory(fetch->name, &error);
    if (!fetch->folder) {
        set_status(self, error->message, TRUE);
        fetch_free(fetch);
        return;
    }
    limn_settings_set_string("hub", fetch->base);
    limn_job_set_progress(fetch->job, job_progress, fetch, NULL);
    self->job = limn_job_ref(fetch->job);
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(self->bar), 0);
    set_status(self, _("Connecting…"), FALSE);
    update(self);
    g_thread_unref(g_thread_new("limn-fetch", fetch_thread, fetch));
}

static void
cancel_clicked(GtkButton *button, LimnFetchDialog *self)
{
    if (self->job)
        limn_job_cancel(self->job);
}

static void
folder_chosen(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnFetchDialog *self = LIMN_FETCH_DIALOG(source);
    g_autoptr(GPtrArray) files = limn_choose_files_finish(result);
    g_autofree char *path =
        files && files->len > 0 ? g_file_get_path(files->pdata[0]) : NULL;

    if (path)
        gtk_editable_set_text(GTK_EDITABLE(self->folder), path);
}

static void
browse_clicked(GtkButton *button, LimnFetchDialog *self)
{
    limn_choose_files_async(GTK_WINDOW(self), LIMN_CHOOSE_FOLDER, LIMN_FILTER_NONE,
                            _("Where to Put the Checkpoint"), NULL, NULL, folder_chosen,
                            NULL);
}

// ---- construction

static void
attach(GtkWidget *grid, int row, const char *label, GtkWidget *widget)
{
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_grid_attach(GTK_GRID(grid), limn_label_for(label, widget), 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static GtkWidget *
make_fields(LimnFetchDialog *self)
{
    GtkWidget *grid = gtk_grid_new();
    g_autofree char *hub = limn_settings_get_string("hub");
    GtkWidget *browse =
        limn_icon_button_new("folder-symbolic", _("Choose the folder"), NULL);

    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    self->name = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->name), _("OWNER/NAME"));
    gtk_entry_set_activates_default(GTK_ENTRY(self->name), TRUE);
    self->base = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->base), LIMN_FETCH_DEFAULT_BASE);
    gtk_editable_set_text(GTK_EDITABLE(self->base), hub);
    self->revision = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->revision), "main");
    self->folder = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->folder),
                                   _("Below the program's data folder"));
    attach(grid, 0, _("_Name"), self->name);
    attach(grid, 1, _("_Hub"), self->base);
    attach(grid, 2, _("_Revision"), self->revision);
    attach(grid, 3, _("_Folder"), self->folder);
    g_signal_connect(browse, "clicked", G_CALLBACK(browse_clicked), self);
    gtk_grid_attach(GTK_GRID(grid), browse, 2, 3, 1, 1);
    return grid;
}

static void
limn_fetch_dialog_init(LimnFetchDialog *self)
{
    GtkWidget *header = gtk_header_bar_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *hint = limn_label_new(
        _("Downloads a CLIP checkpoint (safetensors) with its configuration. An "
          "interrupted "
          "download goes on where it stopped; sizes and hashes are checked."),
        "dim-label", TRUE);

    gtk_window_set_title(GTK_WINDOW(self), _("Fetch a Checkpoint"));
    gtk_window_set_default_size(GTK_WINDOW(self), 520, -1);
    gtk_widget_add_css_class(header, "limn-header");
    gtk_window_set_titlebar(GTK_WINDOW(self), header);
    gtk_widget_add_css_class(box, "limn-dialog");
    gtk_label_set_max_width_chars(GTK_LABEL(hint), 56);
    gtk_box_append(GTK_BOX(box), hint);
    gtk_box_append(GTK_BOX(box), make_fields(self));
    self->bar = gtk_progress_bar_new();
    limn_set_name(self->bar, _("Progress of the download"), FALSE);
    self->status = limn_label_new(NULL, NULL, TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(self->status), 56);
    gtk_label_set_selectable(GTK_LABEL(self->status), TRUE);
    gtk_widget_set_focusable(self->status, FALSE);
    self->cancel = gtk_button_new_with_mnemonic(_("_Cancel"));
    self->start = gtk_button_new_with_mnemonic(_("_Fetch"));
    gtk_widget_add_css_class(self->start, "suggested-action");
    g_signal_connect_swapped(self->start, "clicked", G_CALLBACK(start), self);
    g_signal_connect(self->cancel, "clicked", G_CALLBACK(cancel_clicked), self);
    g_signal_connect_swapped(self->name, "changed", G_CALLBACK(update), self);
    gtk_widget_set_halign(buttons, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(buttons), self->cancel);
    gtk_box_append(GTK_BOX(buttons), self->start);
    gtk_box_append(GTK_BOX(box), self->bar);
    gtk_box_append(GTK_BOX(box), self->status);
    gtk_box_append(GTK_BOX(box), buttons);
    gtk_window_set_child(GTK_WINDOW(self), box);
    gtk_window_set_default_widget(GTK_WINDOW(self), self->start);
    update(self);
}

LimnFetchDialog *
limn_fetch_dialog_open(LimnWindow *window)
{
    LimnFetchDialog *self = g_object_new(LIMN_TYPE_FETCH_DIALOG, NULL);

    self->window = g_object_ref(window);
    gtk_window_set_transient_for(GTK_WINDOW(self), GTK_WINDOW(window));
    gtk_window_present(GTK_WINDOW(self));
    return self;
}

void
limn_fetch_dialog_start(LimnFetchDialog *self, const char *name, const char *base,
                        const char *folder)
{
    gtk_editable_set_text(GTK_EDITABLE(self->name), name);
    gtk_editable_set_text(GTK_EDITABLE(self->base), base);
    gtk_editable_set_text(GTK_EDITABLE(self->folder), folder);
    start(self);
}

const char *
limn_fetch_dialog_get_status(LimnFetchDialog *self)
{
    return gtk_label_get_text(GTK_LABEL(self->status));
}

gboolean
limn_fetch_dialog_is_running(LimnFetchDialog *self)
{
    return self->job != NULL;
}

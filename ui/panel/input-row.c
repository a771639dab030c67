// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/panel/input-row.h"

#include "ui/compat/dialogs.h"
#include "ui/model/document-edit.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _LimnInputRow {
    GtkWidget parent_instance;
    LimnDocument *doc;
    const LimnInput **inputs; // NULL-terminated
    guint n_inputs, chosen;
    gboolean skip_text, syncing;
    GtkWidget *box, *choice;
    GtkWidget *file, *file_label, *pick_folder, *clear, *text, *text_frame, *hint;
};

G_DEFINE_FINAL_TYPE(LimnInputRow, limn_input_row, GTK_TYPE_WIDGET)

static void
limn_input_row_dispose(GObject *object)
{
    LimnInputRow *self = LIMN_INPUT_ROW(object);

    g_clear_object(&self->doc);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_pointer(&self->inputs, g_free);
    G_OBJECT_CLASS(limn_input_row_parent_class)->dispose(object);
}

static void
limn_input_row_class_init(LimnInputRowClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_input_row_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static void
limn_input_row_init(LimnInputRow *self)
{
}

static const LimnInput *
chosen_input(LimnInputRow *self)
{
    return self->inputs[self->chosen];
}

static gboolean
is_folder_input(const LimnInput *input)
{
    return input->type == LIMN_INPUT_FOLDER;
}

// ---- files

void
limn_input_row_set_path(LimnInputRow *self, const char *path)
{
    limn_document_set_input(self->doc, chosen_input(self)->name, path);
}

static void
files_chosen(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(LimnInputRow) self = user_data;
    g_autoptr(GPtrArray) files = limn_choose_files_finish(result);
    g_autofree char *path = NULL;

    if (!files || files->len == 0 || !self->doc)
        return;
    path = g_file_get_path(files->pdata[0]);
    if (path)
        limn_input_row_set_path(self, path);
}

static LimnFileFilter
filter_of(const LimnInput *input)
{
    if (g_str_equal(input->name, "model"))
        return LIMN_FILTER_MODELS;
    if (input->type == LIMN_INPUT_IMAGE || g_str_equal(input->name, "image"))
        return LIMN_FILTER_PICTURES;
    return LIMN_FILTER_NONE;
}

static void
choose(LimnInputRow *self, gboolean folder)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(self));
    const LimnInput *input = chosen_input(self);

    limn_choose_files_async(
        GTK_WINDOW(root), folder ? LIMN_CHOOSE_FOLDER : LIMN_CHOOSE_OPEN,
        folder ? LIMN_FILTER_NONE : filter_of(input), _(input->summary), NULL, NULL,
        files_chosen, g_object_ref(self));
}

static void
file_clicked(GtkButton *button, LimnInputRow *self)
{
    choose(self, is_folder_input(chosen_input(self)));
}

static void
folder_clicked(GtkButton *button, LimnInputRow *self)
{
    choose(self, TRUE);
}

static void
clear_clicked(GtkButton *button, LimnInputRow *self)
{
    limn_document_set_input(self->doc, chosen_input(self)->name, NULL);
}

static gboolean
dropped(GtkDropTarget *target, const GValue *value, double x, double y,
        LimnInputRow *self)
{
    GSList *files = gdk_file_list_get_files(g_value_get_boxed(value));
    g_autofree char *path = files && !files->next ? g_file_get_path(files->data) : NULL;

    g_slist_free(files);
    if (!path || chosen_input(self)->type == LIMN_INPUT_TEXT)
        return FALSE; // several things at once are sorted by the window
    limn_input_row_set_path(self, path);
    return TRUE;
}

// ---- texts, one per line

static void
text_changed(GtkTextBuffer *buffer, LimnInputRow *self)
{
    g_autoptr(GPtrArray) values = g_ptr_array_new();
    GtkTextIter begin, end;
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    if (self->syncing)
        return;
    gtk_text_buffer_get_bounds(buffer, &begin, &end);
    text = gtk_text_buffer_get_text(buffer, &begin, &end, FALSE);
    lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line))
            g_ptr_array_add(values, *line);
    if (!chosen_input(self)->list && values->len > 1)
        g_ptr_array_set_size(values, 1);
    g_ptr_array_add(values, NULL);
    limn_document_set_input_list(self->doc, chosen_input(self)->name,
                                 (const char *const *) values->pdata);
}

static void
sync_text(LimnInputRow *self)
{
    const GPtrArray *inputs = limn_document_get_data(self->doc)->inputs;
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->text));
    g_autoptr(GString) wanted = g_string_new(NULL);
    g_autofree char *shown = NULL;
    GtkTextIter begin, end;

    for (guint i = 0; i < inputs->len; i++) {
        const LimnPair *pair = inputs->pdata[i];

        if (g_str_equal(pair->key, chosen_input(self)->name))
            g_string_append_printf(wanted, "%s%s", wanted->len ? "\n" : "", pair->value);
    }
    gtk_text_buffer_get_bounds(buffer, &begin, &end);
    shown = gtk_text_buffer_get_text(buffer, &begin, &end, FALSE);
    g_strchomp(shown);
    if (!gtk_widget_has_focus(self->text) && !g_str_equal(shown, wanted->str))
        gtk_text_buffer_set_text(buffer, wanted->str, -1);
}

// ---- which of a group

static void
choice_selected(GtkDropDown *drop_down, GParamSpec *pspec, LimnInputRow *self)
{
    guint index = gtk_drop_down_get_selected(drop_down);
    const LimnInput *old = chosen_input(self);

    if (self->syncing || index >= self->n_inputs || index == self->chosen)
        return;
    self->chosen = index;
    if (limn_pairs_get(limn_document_get_data(self->doc)->inputs, old->name))
        limn_document_set_input(self->doc, old->name, NULL);
    limn_input_row_sync(self);
}

// The member that has a value is the chosen one.
static void
follow_value(LimnInputRow *self)
{
    const GPtrArray *inputs = limn_document_get_data(self->doc)->inputs;

    for (guint i = 0; i < self->n_inputs; i++)
        if (limn_pairs_get(inputs, self->inputs[i]->name))
            self->chosen = i;
}

void
limn_input_row_sync(LimnInputRow *self)
{
    const LimnInput *input;
    const char *value;
    gboolean is_text, hidden;
    g_autofree char *shown = NULL;

    self->syncing = TRUE;
    follow_value(self);
    input = chosen_input(self);
    value = limn_pairs_get(limn_document_get_data(self->doc)->inputs, input->name);
    is_text = input->type == LIMN_INPUT_TEXT;
    hidden = is_text && self->skip_text && g_str_equal(input->name, "text");
    if (self->choice)
        gtk_drop_down_set_selected(GTK_DROP_DOWN(self->choice), self->chosen);
    gtk_label_set_text(GTK_LABEL(self->hint), hidden ? _("the sentences above") : "");
    gtk_widget_set_visible(self->file, !is_text);
    gtk_widget_set_visible(self->pick_folder, !is_text && input->type == LIMN_INPUT_PATH);
    gtk_widget_set_visible(self->clear, !is_text && value);
    gtk_widget_set_visible(self->text_frame, is_text && !hidden);
    if (value)
        shown = g_filename_display_basename(value);
    else if (input->builtin)
        shown = g_strdup(_("Built-in"));
    else
        shown = g_strdup(_("Choose or drop…"));
    gtk_label_set_text(GTK_LABEL(self->file_label), shown);
    if (value) {
        g_autofree char *full = g_filename_display_name(value);

        gtk_widget_set_tooltip_text(self->file, full);
    } else {
        gtk_widget_set_tooltip_text(self->file,
                                    input->accepts ? _(input->accepts) : NULL);
    }
    if (is_text && !hidden)
        sync_text(self);
    self->syncing = FALSE;
}

// ---- construction

static void
build_head(LimnInputRow *self, GtkWidget *head)
{
    g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < self->n_inputs; i++)
        g_ptr_array_add(titles, limn_title_from_key(self->inputs[i]->name));
    g_ptr_array_add(titles, NULL);
    if (self->n_inputs == 1) {
        GtkWidget *label = limn_label_new(titles->pdata[0], NULL, FALSE);

        gtk_widget_set_tooltip_text(label, _(self->inputs[0]->summary));
        gtk_label_set_width_chars(GTK_LABEL(label), 9);
        gtk_box_append(GTK_BOX(head), label);
        return;
    }
    self->choice = limn_drop_down_new(_("Which input is given"),
                                      (const char *const *) titles->pdata);
    g_signal_connect(self->choice, "notify::selected", G_CALLBACK(choice_selected), self);
    gtk_box_append(GTK_BOX(head), self->choice);
}

static GtkWidget *
small_button(const char *icon, const char *name, GCallback clicked, LimnInputRow *self)
{
    GtkWidget *button = limn_icon_button_new(icon, name, NULL);

    gtk_widget_add_css_class(button, "limn-small");
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    g_signal_connect(button, "clicked", clicked, self);
    return button;
}

static void
build_file(LimnInputRow *self, GtkWidget *head)
{
    g_autofree char *name = g_strdup_printf(_("Choose: %s"), _(self->inputs[0]->summary));
    GtkDropTarget *target = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

    self->hint = limn_label_new(NULL, "dim-label", FALSE);
    gtk_widget_set_hexpand(self->hint, TRUE);
    self->file = gtk_button_new();
    self->file_label = limn_label_new(NULL, NULL, FALSE);
    gtk_label_set_ellipsize(GTK_LABEL(self->file_label), PANGO_ELLIPSIZE_MIDDLE);
    gtk_button_set_child(GTK_BUTTON(self->file), self->file_label);
    gtk_widget_add_css_class(self->file, "limn-drop-target");
    gtk_widget_set_hexpand(self->file, TRUE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->file),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    g_signal_connect(self->file, "clicked", G_CALLBACK(file_clicked), self);
    self->pick_folder = small_button("folder-symbolic", _("Choose a folder"),
                                     G_CALLBACK(folder_clicked), self);
    self->clear = small_button("edit-clear-symbolic", _("Take the input away"),
                               G_CALLBACK(clear_clicked), self);
    g_signal_connect(target, "drop", G_CALLBACK(dropped), self);
    gtk_widget_add_controller(self->file, GTK_EVENT_CONTROLLER(target));
    gtk_box_append(GTK_BOX(self->box), self->file);
    gtk_box_append(GTK_BOX(head), self->hint);
    gtk_box_append(GTK_BOX(head), self->pick_folder);
    gtk_box_append(GTK_BOX(head), self->clear);
}

static void
build_text(LimnInputRow *self)
{
    GtkWidget *scroller = gtk_scrolled_window_new();

    self->text = gtk_text_view_new();
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(self->text), GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(self->text), FALSE);
    limn_set_name(self->text, _("Texts, one per line"), FALSE);
    gtk_widget_set_tooltip_text(self->text, _("One per line"));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), self->text);
    gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scroller), 72);
    gtk_scrolled_window_set_has_frame(GTK_SCROLLED_WINDOW(scroller), TRUE);
    g_signal_connect(gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->text)), "changed",
                     G_CALLBACK(text_changed), self);
    self->text_frame = scroller;
    gtk_box_append(GTK_BOX(self->box), scroller);
}

GtkWidget *
limn_input_row_new(LimnDocument *doc, const LimnInput *const *inputs, gboolean skip_text)
{
    LimnInputRow *self = g_object_new(LIMN_TYPE_INPUT_ROW, NULL);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);

    self->doc = g_object_ref(doc);
    self->skip_text = skip_text;
    while (inputs[self->n_inputs])
        self->n_inputs++;
    self->inputs = g_new0(const LimnInput *, self->n_inputs + 1);
    for (guint i = 0; i < self->n_inputs; i++)
        self->inputs[i] = inputs[i];
    self->syncing = TRUE;
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);
    build_head(self, head);
    gtk_box_append(GTK_BOX(self->box), head);
    build_file(self, head);
    build_text(self);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    self->syncing = FALSE;
    limn_input_row_sync(self);
    return GTK_WIDGET(self);
}

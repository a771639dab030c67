// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/export-dialog.h"

#include "ui/compat/dialogs.h"
#include "ui/model/worker.h"
#include "ui/widget/figure-view.h"
#include "ui/widget/helpers.h"
#include "ui/widget/view-popover.h"
#include "ui/window/figure-source.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const char *const extensions[] = {".pdf", ".svg", ".png"};

struct _LimnExportDialog {
    GtkWindow parent_instance;
    LimnWindow *window;
    LimnSourceKind kinds[LIMN_SOURCE_N_KINDS];
    guint n_kinds;
    LimnFigureSource *source;
    LimnSourceKind kind;
    LimnFigureOptions options;
    char *caption;
    gboolean syncing;
    guint preview_idle;
    GtkWidget *what, *format, *width, *dpi, *dpi_label, *colormap, *opacity,
        *caption_entry;
    GtkWidget *checks[7];
    GtkWidget *preview, *problem, *save, *size;
};

enum {
    CHECK_CAPTION,
    CHECK_COLORBAR,
    CHECK_SMOOTH,
    CHECK_CONTOURS,
    CHECK_MASK,
    CHECK_OUTLINES,
    CHECK_DATA
};

G_DEFINE_FINAL_TYPE(LimnExportDialog, limn_export_dialog, GTK_TYPE_WINDOW)

static void
limn_export_dialog_dispose(GObject *object)
{
    LimnExportDialog *self = LIMN_EXPORT_DIALOG(object);

    g_clear_handle_id(&self->preview_idle, g_source_remove);
    g_clear_pointer(&self->source, limn_figure_source_unref);
    g_clear_pointer(&self->caption, g_free);
    g_clear_object(&self->window);
    G_OBJECT_CLASS(limn_export_dialog_parent_class)->dispose(object);
}

static void
limn_export_dialog_class_init(LimnExportDialogClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_export_dialog_dispose;
    gtk_widget_class_add_binding_action(GTK_WIDGET_CLASS(class), GDK_KEY_Escape, 0,
                                        "window.close", NULL);
}

// ---- preview

static void
show_size(LimnExportDialog *self, LimnFigure *figure)
{
    double width, height;
    g_autofree char *w = NULL;
    g_autofree char *h = NULL;
    g_autofree char *text = NULL;

    limn_figure_get_size(figure, &width, &height);
    w = limn_format_fixed(width * 25.4 / 72, 1);
    h = limn_format_fixed(height * 25.4 / 72, 1);
    text = g_strdup_printf(_("%s × %s mm"), w, h);
    gtk_label_set_text(GTK_LABEL(self->size), text);
}

static gboolean
update_preview(gpointer user_data)
{
    LimnExportDialog *self = user_data;
    g_autoptr(GError) error = NULL;
    LimnFigure *figure = limn_figure_source_make(self->source, &self->options, &error);

    self->preview_idle = 0;
    if (figure)
        show_size(self, figure);
    limn_figure_view_set_figure(LIMN_FIGURE_VIEW(self->preview), figure);
    gtk_label_set_text(GTK_LABEL(self->problem), error ? error->message : "");
    gtk_widget_set_visible(self->problem, error != NULL);
    gtk_widget_set_sensitive(self->save, figure != NULL);
    return G_SOURCE_REMOVE;
}

static void
queue_preview(LimnExportDialog *self)
{
    if (!self->preview_idle)
        self->preview_idle = g_idle_add(update_preview, self);
}

static gboolean
is_checked(LimnExportDialog *self, int check)
{
    return gtk_check_button_get_active(GTK_CHECK_BUTTON(self->checks[check]));
}

static void
read_options(LimnExportDialog *self)
{
    const char *caption = gtk_editable_get_text(GTK_EDITABLE(self->caption_entry));

    if (self->syncing)
        return;
    g_free(self->caption);
    self->caption = g_strdup(caption);
    self->options.caption = *caption ? self->caption : NULL;
    self->options.width_mm = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->width));
    self->options.dpi = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->dpi));
    self->options.colormap = limn_colormap_name_at(
        gtk_drop_down_get_selected(GTK_DROP_DOWN(self->colormap)), TRUE);
    self->options.opacity = gtk_range_get_value(GTK_RANGE(self->opacity)) / 100;
    self->options.show_caption = is_checked(self, CHECK_CAPTION);
    self->options.show_colorbar = is_checked(self, CHECK_COLORBAR);
    self->options.interpolate = is_checked(self, CHECK_SMOOTH);
    self->options.contours = is_checked(self, CHECK_CONTOURS);
    self->options.show_mask = is_checked(self, CHECK_MASK);
    self->options.text_as_outlines = is_checked(self, CHECK_OUTLINES);
    gtk_widget_set_sensitive(self->caption_entry, self->options.show_caption);
    gtk_widget_set_sensitive(self->dpi, gtk_drop_down_get_selected(GTK_DROP_DOWN(
                                            self->format)) == LIMN_FIGURE_PNG);
    queue_preview(self);
}

static void
check(LimnExportDialog *self, int index, gboolean active)
{
    gtk_check_button_set_active(GTK_CHECK_BUTTON(self->checks[index]), active);
}

static void
take_kind(LimnExportDialog *self, LimnSourceKind kind)
{
    gboolean maps = kind != LIMN_SOURCE_WORDS;

    self->kind = kind;
    g_clear_pointer(&self->source, limn_figure_source_unref);
    self->source = limn_figure_source_new(self->window, kind);
    limn_figure_source_init_options(self->window, kind, &self->options);
    self->syncing = TRUE;
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->width), self->options.width_mm);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->dpi), self->options.dpi);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->colormap),
                               limn_colormap_index_of(self->options.colormap, TRUE));
    gtk_range_set_value(GTK_RANGE(self->opacity), self->options.opacity * 100);
    check(self, CHECK_CAPTION, self->options.show_caption);
    check(self, CHECK_COLORBAR, self->options.show_colorbar);
    check(self, CHECK_SMOOTH, self->options.interpolate);
    check(self, CHECK_CONTOURS, self->options.contours);
    check(self, CHECK_MASK, self->options.show_mask);
    gtk_widget_set_sensitive(self->colormap, maps);
    gtk_widget_set_sensitive(self->opacity, maps);
    gtk_widget_set_sensitive(self->checks[CHECK_SMOOTH], maps);
    gtk_widget_set_sensitive(self->checks[CHECK_CONTOURS], maps);
    gtk_widget_set_sensitive(self->checks[CHECK_MASK], self->options.show_mask);
    self->syncing = FALSE;
    read_options(self);
}

static void
what_selected(LimnExportDialog *self)
{
    guint index = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->what));

    if (!self->syncing && index < self->n_kinds)
        take_kind(self, self->kinds[index]);
}

// ---- writing

typedef struct {
    LimnFigureSource *source;
    LimnFigureOptions options;
    char *caption, *path;
    gboolean data;
} Export;

static void
export_free(gpointer user_data)
{
    Export *export = user_data;

    limn_figure_source_unref(export->source);
    g_free(export->caption);
    g_free(export->path);
    g_free(export);
}

static void
write_figure(GTask *task, gpointer source, gpointer user_data, GCancellable *cancellable)
{
    const Export *export = user_data;
    GError *error = NULL;
    g_autoptr(LimnFigure) figure =
        limn_figure_source_make(export->source, &export->options, &error);

    if (figure && limn_figure_save(figure, export->path, &error) && export->data)
        limn_figure_save_data(figure, export->path, &error);
    if (error)
        g_task_return_error(task, error);
    else
        g_task_return_boolean(task, TRUE);
}

static void
written(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnWindow *window = LIMN_WINDOW(source);
    LimnWorkspace *ws = limn_window_get_workspace(window);
    const Export *export = g_task_get_task_data(G_TASK(result));
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_filename_display_basename(export->path);
    g_autofree char *uri = g_filename_to_uri(export->path, NULL, NULL);
    g_autofree char *text = g_strdup_printf(_("The figure was saved as %s."), name);
    g_autofree char *action = NULL;
    gboolean ok = g_task_propagate_boolean(G_TASK(result), &error);

    if (!ws)
        return; // the window was closed meanwhile
    if (!ok) {
        limn_workspace_message(ws, LIMN_MESSAGE_ERROR, error->message);
        return;
    }
    action = g_action_print_detailed_name("win.show-file",
                                          g_variant_new_string(uri ? uri : ""));
    limn_workspace_message_with_action(ws, LIMN_MESSAGE_INFO, text, _("Show Folder"),
                                       action);
}

static gboolean
has_extension(const char *path)
{
    for (gsize i = 0; i < G_N_ELEMENTS(extensions); i++)
        if (g_str_has_suffix(path, extensions[i]))
            return TRUE;
    return FALSE;
}

void
limn_export_dialog_export_to(LimnExportDialog *self, const char *path)
{
    g_autoptr(GTask) task = g_task_new(self->window, NULL, written, NULL);
    guint format = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->format));
    Export *export = g_new0(Export, 1);

    export->source = limn_figure_source_ref(self->source);
    export->options = self->options;
    export->caption = g_strdup(self->options.caption);
    export->options.caption = export->caption;
    export->path = has_extension(path) ? g_strdup(path)
                                       : g_strconcat(path, extensions[format], NULL);
    export->data = is_checked(self, CHECK_DATA);
    g_task_set_task_data(task, export, export_free);
    limn_worker_run(LIMN_WORKER_FILES, task, write_figure);
    gtk_window_close(GTK_WINDOW(self));
}

static void
path_chosen(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GPtrArray) files = limn_choose_files_finish(result);
    g_autofree char *path =
        files && files->len > 0 ? g_file_get_path(files->pdata[0]) : NULL;

    if (path)
        limn_export_dialog_export_to(LIMN_EXPORT_DIALOG(source), path);
}

static void
save_clicked(GtkButton *button, LimnExportDialog *self)
{
    guint format = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->format));
    LimnDocument *doc = limn_window_get_document(self->window);
    g_autofree char *stem = g_strdup(doc ? limn_document_get_title(doc) : _("figure"));
    g_autofree char *name = NULL;

    g_strdelimit(stem, "/\\:\n\r\t", '-');
    name = g_strconcat(stem, extensions[format], NULL);
    limn_choose_files_async(GTK_WINDOW(self), LIMN_CHOOSE_SAVE, LIMN_FILTER_FIGURES,
                            _("Save the Figure"), name, NULL, path_chosen, NULL);
}

gboolean
limn_export_dialog_has_preview(LimnExportDialog *self)
{
    return limn_figure_view_get_figure(LIMN_FIGURE_VIEW(self->preview)) != NULL;
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
watch(LimnExportDialog *self, GtkWidget *widget, const char *signal)
{
    g_signal_connect_swapped(widget, signal, G_CALLBACK(read_options), self);
    return widget;
}

static GtkWidget *
make_fields(LimnExportDialog *self)
{
    const char *formats[] = {_("PDF"), _("SVG"), _("PNG"), NULL};
    g_auto(GStrv) colormaps = limn_colormap_titles(TRUE);
    const char *whats[LIMN_SOURCE_N_KINDS + 1] = {NULL};
    GtkWidget *grid = gtk_grid_new();

    for (guint i = 0; i < self->n_kinds; i++)
        whats[i] = limn_source_title(self->kinds[i]);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    self->what = limn_drop_down_new(NULL, whats);
    g_signal_connect_swapped(self->what, "notify::selected", G_CALLBACK(what_selected),
                             self);
    self->format = watch(self, limn_drop_down_new(NULL, formats), "notify::selected");
    self->width =
        watch(self, gtk_spin_button_new_with_range(20, 600, 1), "value-changed");
    self->dpi = watch(self, gtk_spin_button_new_with_range(36, 1200, 1), "value-changed");
    self->colormap =
        watch(self, limn_drop_down_new(NULL, (const char *const *) colormaps),
              "notify::selected");
    self->opacity =
        watch(self, gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 100, 5),
              "value-changed");
    gtk_scale_set_draw_value(GTK_SCALE(self->opacity), TRUE);
    gtk_scale_set_value_pos(GTK_SCALE(self->opacity), GTK_POS_RIGHT);
    self->caption_entry = watch(self, gtk_entry_new(), "changed");
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->caption_entry), _("As proposed"));
    attach(grid, 0, _("_What"), self->what);
    attach(grid, 1, _("_Format"), self->format);
    attach(grid, 2, _("_Width (mm)"), self->width);
    attach(grid, 3, _("_Resolution (dpi)"), self->dpi);
    attach(grid, 4, _("Colour _map"), self->colormap);
    attach(grid, 5, _("_Opacity (%)"), self->opacity);
    attach(grid, 6, _("_Caption"), self->caption_entry);
    return grid;
}

static GtkWidget *
make_options(LimnExportDialog *self)
{
    const char *names[] = {_("Show the ca_ption"),
                           _("Colour _bar"),
                           _("S_mooth"),
                           _("Con_tour lines"),
                           _("_Outlines of the mask"),
                           _("Letters as out_lines"),
                           _("_Numbers beside the figure")};
    const char *help[] = {
        NULL,
        NULL,
        _("Bilinear between the patches; otherwise every patch is one cell"),
        NULL,
        NULL,
        _("Looks the same without the font, but is no text any more"),
        _("The values as .npy or .csv files with the figure's name")};
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

    gtk_box_append(GTK_BOX(box), make_fields(self));
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        self->checks[i] =
            watch(self, gtk_check_button_new_with_mnemonic(names[i]), "toggled");
        gtk_widget_set_tooltip_text(self->checks[i], help[i]);
        gtk_box_append(GTK_BOX(box), self->checks[i]);
    }
    self->problem = limn_label_new(NULL, "error-text", TRUE);
    self->size = limn_label_new(NULL, "dim-label", FALSE);
    gtk_box_append(GTK_BOX(box), self->size);
    gtk_box_append(GTK_BOX(box), self->problem);
    gtk_widget_set_size_request(box, 300, -1);
    return box;
}

static void
build(LimnExportDialog *self)
{
    GtkWidget *header = gtk_header_bar_new();
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 18);
    GtkWidget *scroller = gtk_scrolled_window_new();

    gtk_widget_add_css_class(header, "limn-header");
    self->save = gtk_button_new_with_mnemonic(_("_Save…"));
    gtk_widget_add_css_class(self->save, "suggested-action");
    g_signal_connect(self->save, "clicked", G_CALLBACK(save_clicked), self);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), self->save);
    gtk_window_set_titlebar(GTK_WINDOW(self), header);
    gtk_widget_add_css_class(row, "limn-dialog");
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), make_options(self));
    self->preview = limn_figure_view_new(_("Preview of the figure"));
    gtk_widget_set_hexpand(self->preview, TRUE);
    gtk_widget_set_vexpand(self->preview, TRUE);
    gtk_widget_add_css_class(self->preview, "limn-canvas");
    gtk_box_append(GTK_BOX(row), scroller);
    gtk_box_append(GTK_BOX(row), self->preview);
    gtk_window_set_child(GTK_WINDOW(self), row);
}

static void
limn_export_dialog_init(LimnExportDialog *self)
{
    gtk_window_set_title(GTK_WINDOW(self), _("Export a Figure"));
    gtk_window_set_default_size(GTK_WINDOW(self), 900, 640);
}

LimnExportDialog *
limn_export_dialog_open(LimnWindow *window)
{
    LimnExportDialog *self = g_object_new(LIMN_TYPE_EXPORT_DIALOG, NULL);
    LimnDocument *doc = limn_window_get_document(window);
    gboolean grid = doc && limn_document_get_view(doc)->grid;
    guint first = 0;

    self->window = g_object_ref(window);
    for (int kind = 0; kind < LIMN_SOURCE_N_KINDS; kind++) {
        g_autoptr(LimnFigureSource) source =
            limn_figure_source_new(window, (LimnSourceKind) kind);

        if (!source)
            continue;
        // what is on screen comes first
        if (kind == (grid ? LIMN_SOURCE_GRID : LIMN_SOURCE_PANES))
            first = self->n_kinds;
        self->kinds[self->n_kinds++] = (LimnSourceKind) kind;
    }
    if (self->n_kinds == 0) {
        gtk_window_destroy(GTK_WINDOW(self));
        limn_workspace_message(
            limn_window_get_workspace(window), LIMN_MESSAGE_INFO,
            _("There is nothing to export yet: type a sentence first."));
        return NULL;
    }
    self->syncing = TRUE;
    build(self);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->what), first);
    self->syncing = FALSE;
    take_kind(self, self->kinds[first]);
    gtk_window_set_transient_for(GTK_WINDOW(self), GTK_WINDOW(window));
    gtk_window_present(GTK_WINDOW(self));
    return self;
}

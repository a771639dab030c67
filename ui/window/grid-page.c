// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/grid-page.h"

#include "engine/figure/scale.h"
#include "ui/model/document-edit.h"
#include "ui/model/method-list.h"
#include "ui/model/worker.h"
#include "ui/widget/grid-cell.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

#define SMALL_PICTURE 256
#define MAX_ROWS 50 // sentences; what is beyond is said

typedef enum { SCALE_METHOD, SCALE_ALL, SCALE_CELL } GridScale;

struct _LimnGridPage {
    GtkWidget parent_instance;
    LimnWorkspace *ws;
    LimnDocument *doc;
    GtkWidget *box, *grid, *fill, *cancel, *export, *progress, *scale, *rest;
    GtkWidget *checks[LIMN_EXPLAIN_N_METHODS];
    gboolean syncing, filling;
    // what the cells show
    GPtrArray *cells; // LimnGridCell, row by row; the grid owns them
    GStrv prompts;
    LimnExplainMethod methods[LIMN_EXPLAIN_N_METHODS];
    guint n_methods;
    LimnImage *picture, *small;
    GCancellable *shrinking;
    guint redraw;
};

G_DEFINE_FINAL_TYPE(LimnGridPage, limn_grid_page, GTK_TYPE_WIDGET)

static void
stop_shrinking(LimnGridPage *self)
{
    if (self->shrinking)
        g_cancellable_cancel(self->shrinking);
    g_clear_object(&self->shrinking);
}

static void
limn_grid_page_dispose(GObject *object)
{
    LimnGridPage *self = LIMN_GRID_PAGE(object);

    if (self->ws)
        g_signal_handlers_disconnect_by_data(self->ws, self);
    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    stop_shrinking(self);
    g_clear_handle_id(&self->redraw, g_source_remove);
    g_clear_object(&self->ws);
    g_clear_object(&self->doc);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_pointer(&self->cells, g_ptr_array_unref);
    g_clear_pointer(&self->prompts, g_strfreev);
    g_clear_pointer(&self->picture, limn_image_unref);
    g_clear_pointer(&self->small, limn_image_unref);
    G_OBJECT_CLASS(limn_grid_page_parent_class)->dispose(object);
}

static void
limn_grid_page_class_init(LimnGridPageClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_grid_page_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

// ---- colours

static void
get_range(LimnGridPage *self, guint cell, double *min, double *max)
{
    guint scale = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->scale));
    g_autofree const float **arrays = g_new0(const float *, self->cells->len);
    g_autofree gsize *lengths = g_new0(gsize, self->cells->len);
    LimnScaleRule rule = {0};
    LimnScale result;
    gsize n = 0;

    for (guint i = 0; i < self->cells->len; i++) {
        LimnLiveResult *other = limn_grid_cell_get_result(self->cells->pdata[i]);

        if (!other || other->error || (scale == SCALE_CELL && i != cell) ||
            (scale == SCALE_METHOD && i % self->n_methods != cell % self->n_methods))
            continue;
        arrays[n] = limn_array_f32(other->explanation->map);
        lengths[n++] = (gsize) other->explanation->map->length;
    }
    limn_scale_compute(&result, &rule, arrays, lengths, n);
    *min = result.min;
    *max = result.max;
}

static gboolean
redraw(gpointer user_data)
{
    LimnGridPage *self = user_data;
    const char *colormap = self->doc ? limn_document_get_view(self->doc)->colormap : NULL;

    self->redraw = 0;
    if (!self->small)
        return G_SOURCE_REMOVE;
    for (guint i = 0; i < self->cells->len; i++) {
        LimnLiveResult *result = limn_grid_cell_get_result(self->cells->pdata[i]);
        double min, max, factor;
        LimnRect rect;

        if (!result || result->error)
            continue;
        get_range(self, i, &min, &max);
        factor = (double) self->small->width / self->picture->width;
        rect = (LimnRect){result->rect.x * factor, result->rect.y * factor,
                          result->rect.width * factor, result->rect.height * factor};
        limn_grid_cell_draw(self->cells->pdata[i], self->small, &rect, min, max,
                            colormap);
    }
    return G_SOURCE_REMOVE;
}

static void
queue_redraw(LimnGridPage *self)
{
    if (!self->redraw)
        self->redraw = g_idle_add(redraw, self);
}

// ---- the small picture

static void
shrink(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    GError *error = NULL;
    g_autoptr(LimnImage) rgb = limn_image_to_rgb8(data, LIMN_RANGE_TYPE, &error);
    LimnImage *small = NULL;
    double scale;

    if (rgb) {
        scale = (double) SMALL_PICTURE / MAX(rgb->width, rgb->height);
        small = scale >= 1 ? limn_image_ref(rgb)
                           : limn_resize_bilinear_antialias(
                                 rgb, MAX(1, (int) (rgb->width * scale + 0.5)),
                                 MAX(1, (int) (rgb->height * scale + 0.5)), NULL, &error);
    }
    if (small)
        g_task_return_pointer(task, small, (GDestroyNotify) limn_image_unref);
    else
        g_task_return_error(task, error);
}

static void
shrunk(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnGridPage *self = LIMN_GRID_PAGE(source);
    g_autoptr(GError) error = NULL;
    LimnImage *small = g_task_propagate_pointer(G_TASK(result), &error);

    if (g_task_get_cancellable(G_TASK(result)) != self->shrinking) {
        g_clear_pointer(&small, limn_image_unref);
        return;
    }
    g_clear_object(&self->shrinking);
    self->small = small;
    queue_redraw(self);
}

static void
take_picture(LimnGridPage *self, LimnImage *picture)
{
    g_autoptr(GTask) task = NULL;

    stop_shrinking(self);
    g_clear_pointer(&self->small, limn_image_unref);
    g_clear_pointer(&self->picture, limn_image_unref);
    if (!picture)
        return;
    self->picture = limn_image_ref(picture);
    self->shrinking = g_cancellable_new();
    task = g_task_new(self, self->shrinking, shrunk, NULL);
    g_task_set_task_data(task, limn_image_ref(picture),
                         (GDestroyNotify) limn_image_unref);
    limn_worker_run(LIMN_WORKER_THUMBNAILS, task, shrink);
}

// ---- rows and columns

static guint
chosen_methods(LimnGridPage *self, LimnExplainMethod *methods)
{
    guint n = 0;

    for (int i = 0; i < LIMN_EXPLAIN_N_METHODS; i++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(self->checks[i])))
            methods[n++] = (LimnExplainMethod) i;
    return n;
}

static GStrv
used_prompts(LimnDocument *doc)
{
    const GPtrArray *prompts = limn_document_get_data(doc)->prompts;
    g_autoptr(GStrvBuilder) used = g_strv_builder_new();

    for (guint i = 0; i < MIN(prompts->len, MAX_ROWS); i++)
        g_strv_builder_add(used, prompts->pdata[i]);
    return g_strv_builder_end(used);
}

static void
cell_clicked(LimnGridCell *cell, LimnGridPage *self)
{
    guint index, active = limn_document_get_view(self->doc)->active;

    if (!g_ptr_array_find(self->cells, cell, &index))
        return;
    limn_document_set_pane_prompt(self->doc, active, index / self->n_methods);
    limn_document_set_pane_method(
        self->doc, active,
        limn_explain_method_id(self->methods[index % self->n_methods]));
    limn_document_edit_view(self->doc)->grid = FALSE;
    limn_document_view_changed(self->doc);
}

static void
clear_grid(LimnGridPage *self)
{
    GtkWidget *child;

    while ((child = gtk_widget_get_first_child(self->grid)))
        gtk_grid_remove(GTK_GRID(self->grid), child);
    g_ptr_array_set_size(self->cells, 0);
}

static GtkWidget *
head_label(const char *text, gboolean column)
{
    GtkWidget *label = limn_label_new(text, "heading", TRUE);

    gtk_label_set_lines(GTK_LABEL(label), column ? 2 : 5);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(label), column ? 12 : 18);
    gtk_label_set_width_chars(GTK_LABEL(label), column ? 8 : 14);
    gtk_label_set_xalign(GTK_LABEL(label), column ? 0.5 : 1);
    gtk_widget_set_tooltip_text(label, text);
    return label;
}

static void
build_grid(LimnGridPage *self)
{
    clear_grid(self);
    g_clear_pointer(&self->prompts, g_strfreev);
    self->prompts = used_prompts(self->doc);
    self->n_methods = chosen_methods(self, self->methods);
    for (guint column = 0; column < self->n_methods; column++)
        gtk_grid_attach(
            GTK_GRID(self->grid),
            head_label(limn_explain_method_title(self->methods[column]), TRUE),
            (int) column + 1, 0, 1, 1);
    for (guint row = 0; self->prompts[row]; row++) {
        gtk_grid_attach(GTK_GRID(self->grid), head_label(self->prompts[row], FALSE), 0,
                        (int) row + 1, 1, 1);
        for (guint column = 0; column < self->n_methods; column++) {
            GtkWidget *cell =
                limn_grid_cell_new(self->prompts[row], self->methods[column]);

            g_signal_connect(cell, "clicked", G_CALLBACK(cell_clicked), self);
            gtk_grid_attach(GTK_GRID(self->grid), cell, (int) column + 1, (int) row + 1,
                            1, 1);
            g_ptr_array_add(self->cells, cell);
        }
    }
}

// TRUE when the cells still belong to the study's picture, sentences and methods.
static gboolean
is_current(LimnGridPage *self)
{
    g_auto(GStrv) prompts = used_prompts(self->doc);
    LimnExplainMethod methods[LIMN_EXPLAIN_N_METHODS];
    guint n = chosen_methods(self, methods);

    if (!self->prompts || n != self->n_methods ||
        self->picture != limn_document_get_picture(self->doc) ||
        !g_strv_equal((const char *const *) prompts, (const char *const *) self->prompts))
        return FALSE;
    for (guint i = 0; i < n; i++)
        if (methods[i] != self->methods[i])
            return FALSE;
    return TRUE;
}

static guint
count_known(LimnGridPage *self)
{
    guint n = 0;

    for (guint i = 0; i < self->cells->len; i++)
        n += limn_grid_cell_get_result(self->cells->pdata[i]) != NULL;
    return n;
}

static void
update(LimnGridPage *self)
{
    guint known = count_known(self), n = self->cells->len;
    g_autofree char *text = g_strdup_printf(_("%u of %u"), known, n);

    gtk_widget_set_visible(self->fill, !self->filling);
    gtk_widget_set_visible(self->cancel, self->filling);
    gtk_widget_set_visible(self->progress, self->filling);
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(self->progress),
                                  n ? (double) known / n : 0);
    gtk_progress_bar_set_text(GTK_PROGRESS_BAR(self->progress), text);
    gtk_widget_set_visible(self->rest,
                           self->doc && limn_document_get_data(self->doc)->prompts->len >
                                            MAX_ROWS);
    gtk_widget_set_sensitive(self->export, known > 0 && !self->filling);
    gtk_widget_set_sensitive(
        self->fill,
        self->doc && limn_document_get_picture(self->doc) &&
            chosen_methods(self, (LimnExplainMethod[LIMN_EXPLAIN_N_METHODS]){0}) > 0);
}

static void
sync_methods(LimnGridPage *self)
{
    const GPtrArray *chosen = limn_document_get_data(self->doc)->grid_methods;

    for (int i = 0; i < LIMN_EXPLAIN_N_METHODS; i++) {
        const char *id = limn_explain_method_id((LimnExplainMethod) i);
        gboolean active =
            chosen->len == 0 && !limn_explain_method_is_slow((LimnExplainMethod) i);

        for (guint k = 0; k < chosen->len; k++)
            active = active || g_str_equal(chosen->pdata[k], id);
        gtk_check_button_set_active(GTK_CHECK_BUTTON(self->checks[i]), active);
    }
}

static void
update_state(LimnGridPage *self)
{
    // built only where it is seen: sentences change at every keystroke
    if (!self->doc || self->syncing || !limn_document_get_view(self->doc)->grid)
        return;
    self->syncing = TRUE;
    sync_methods(self);
    if (!is_current(self)) {
        if (self->filling)
            limn_workspace_cancel_grid(self->ws);
        build_grid(self);
        take_picture(self, limn_document_get_picture(self->doc));
    }
    update(self);
    self->syncing = FALSE;
}

// ---- filling

void
limn_grid_page_fill(LimnGridPage *self)
{
    if (!self->doc || self->cells->len == 0)
        return;
    for (guint i = 0; i < self->cells->len; i++) {
        if (*self->prompts[i / self->n_methods])
            limn_grid_cell_set_waiting(self->cells->pdata[i]);
        else
            limn_grid_cell_set_empty(self->cells->pdata[i]);
    }
    self->filling =
        limn_workspace_fill_grid(self->ws, self->doc, g_strv_length(self->prompts),
                                 self->methods, self->n_methods);
    if (!self->filling)
        for (guint i = 0; i < self->cells->len; i++)
            limn_grid_cell_set_empty(self->cells->pdata[i]);
    update(self);
}

static void
cancel_clicked(GtkButton *button, LimnGridPage *self)
{
    limn_workspace_cancel_grid(self->ws);
}

static void
grid_result(LimnWorkspace *ws, LimnLiveResult *result, LimnGridPage *self)
{
    guint index = result->key - LIMN_GRID_KEY;

    if (result->tag != self->doc || index >= self->cells->len || !self->filling ||
        !g_str_equal(self->prompts[index / self->n_methods], result->text))
        return;
    limn_grid_cell_set_result(self->cells->pdata[index], result);
    queue_redraw(self);
    update(self);
}

static void
grid_finished(LimnWorkspace *ws, LimnGridPage *self)
{
    self->filling = FALSE;
    for (guint i = 0; i < self->cells->len; i++)
        if (!limn_grid_cell_get_result(self->cells->pdata[i]))
            limn_grid_cell_set_empty(self->cells->pdata[i]);
    update(self);
}

static void
method_toggled(GtkCheckButton *check, LimnGridPage *self)
{
    LimnExplainMethod methods[LIMN_EXPLAIN_N_METHODS];
    const char *ids[LIMN_EXPLAIN_N_METHODS + 1];
    guint n;

    if (self->syncing || !self->doc)
        return;
    n = chosen_methods(self, methods);
    if (n == 0) { // at least one column
        gtk_check_button_set_active(check, TRUE);
        return;
    }
    for (guint i = 0; i < n; i++)
        ids[i] = limn_explain_method_id(methods[i]);
    ids[n] = NULL;
    limn_document_set_grid_methods(self->doc, ids);
}

// ---- construction

static GtkWidget *
make_methods_button(LimnGridPage *self)
{
    GtkWidget *button = gtk_menu_button_new();
    GtkWidget *popover = gtk_popover_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);

    for (int i = 0; i < LIMN_EXPLAIN_N_METHODS; i++) {
        LimnExplainMethod method = (LimnExplainMethod) i;
        g_autofree char *label =
            limn_explain_method_is_slow(method)
                ? g_strdup_printf(_("%s (slow)"), limn_explain_method_title(method))
                : g_strdup(limn_explain_method_title(method));

        self->checks[i] = gtk_check_button_new_with_label(label);
        gtk_check_button_set_active(GTK_CHECK_BUTTON(self->checks[i]),
                                    !limn_explain_method_is_slow(method));
        g_signal_connect(self->checks[i], "toggled", G_CALLBACK(method_toggled), self);
        gtk_box_append(GTK_BOX(box), self->checks[i]);
    }
    gtk_popover_set_child(GTK_POPOVER(popover), box);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
    gtk_menu_button_set_label(GTK_MENU_BUTTON(button), _("Methods"));
    limn_set_name(gtk_widget_get_first_child(button), _("Methods of the grid"), FALSE);
    return button;
}

static GtkWidget *
make_bar(LimnGridPage *self)
{
    const char *scales[] = {_("One scale per method"), _("One scale for all"),
                            _("Every map its own scale"), NULL};
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);

    gtk_widget_add_css_class(bar, "limn-toolbar");
    self->fill = gtk_button_new_with_mnemonic(_("_Fill"));
    gtk_widget_add_css_class(self->fill, "suggested-action");
    gtk_widget_set_tooltip_text(self->fill,
                                _("Compute every sentence with every method"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->fill), "win.fill-grid");
    self->cancel = gtk_button_new_with_mnemonic(_("_Cancel"));
    g_signal_connect(self->cancel, "clicked", G_CALLBACK(cancel_clicked), self);
    self->progress = gtk_progress_bar_new();
    gtk_progress_bar_set_show_text(GTK_PROGRESS_BAR(self->progress), TRUE);
    limn_set_name(self->progress, _("Progress of the grid"), FALSE);
    gtk_widget_set_valign(self->progress, GTK_ALIGN_CENTER);
    self->scale = limn_drop_down_new(_("Scale of the grid"), scales);
    g_signal_connect_swapped(self->scale, "notify::selected", G_CALLBACK(queue_redraw),
                             self);
    self->export = gtk_button_new_with_mnemonic(_("E_xport…"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->export), "win.export");
    gtk_box_append(GTK_BOX(bar), self->fill);
    gtk_box_append(GTK_BOX(bar), self->cancel);
    gtk_box_append(GTK_BOX(bar), make_methods_button(self));
    gtk_box_append(GTK_BOX(bar), self->scale);
    gtk_box_append(GTK_BOX(bar), self->export);
    gtk_box_append(GTK_BOX(bar), self->progress);
    return bar;
}

static void
limn_grid_page_init(LimnGridPage *self)
{
    GtkWidget *scroller = gtk_scrolled_window_new();

    self->cells = g_ptr_array_new();
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->syncing = TRUE;
    gtk_box_append(GTK_BOX(self->box), make_bar(self));
    self->syncing = FALSE;
    self->grid = gtk_grid_new();
    gtk_widget_add_css_class(self->grid, "limn-page");
    gtk_grid_set_row_spacing(GTK_GRID(self->grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(self->grid), 6);
    gtk_widget_set_halign(self->grid, GTK_ALIGN_START);
    gtk_widget_set_valign(self->grid, GTK_ALIGN_START);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), self->grid);
    gtk_widget_set_vexpand(scroller, TRUE);
    self->rest =
        limn_label_new(_("Only the first sentences are shown here."), "caption", FALSE);
    gtk_widget_add_css_class(self->rest, "limn-family");
    gtk_box_append(GTK_BOX(self->box), self->rest);
    gtk_box_append(GTK_BOX(self->box), scroller);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
}

GtkWidget *
limn_grid_page_new(LimnWorkspace *ws)
{
    LimnGridPage *self = g_object_new(LIMN_TYPE_GRID_PAGE, NULL);

    self->ws = g_object_ref(ws);
    g_signal_connect(ws, "grid-result", G_CALLBACK(grid_result), self);
    g_signal_connect(ws, "grid-finished", G_CALLBACK(grid_finished), self);
    return GTK_WIDGET(self);
}

static void
view_changed(LimnGridPage *self)
{
    update_state(self);
    queue_redraw(self);
}

void
limn_grid_page_set_document(LimnGridPage *self, LimnDocument *doc)
{
    if (self->filling)
        limn_workspace_cancel_grid(self->ws);
    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_set_object(&self->doc, doc);
    clear_grid(self);
    g_clear_pointer(&self->prompts, g_strfreev);
    if (!doc)
        return;
    g_signal_connect_swapped(doc, "data-changed", G_CALLBACK(update_state), self);
    g_signal_connect_swapped(doc, "picture-changed", G_CALLBACK(update_state), self);
    g_signal_connect_swapped(doc, "view-changed", G_CALLBACK(view_changed), self);
    update_state(self);
}

guint
limn_grid_page_get_n_cells(LimnGridPage *self)
{
    return self->cells->len;
}

guint
limn_grid_page_get_n_done(LimnGridPage *self)
{
    guint n = 0;

    for (guint i = 0; i < self->cells->len; i++)
        n += limn_grid_cell_is_drawn(self->cells->pdata[i]);
    return n;
}

static LimnArtifact *
cell_artifact(LimnGridPage *self, guint index)
{
    LimnLiveResult *result = limn_grid_cell_get_result(self->cells->pdata[index]);
    g_autoptr(GPtrArray) maps = g_ptr_array_new();
    const char *labels[] = {self->prompts[index / self->n_methods], NULL};
    LimnArtifact *artifact;

    if (!result || result->error)
        return NULL;
    g_ptr_array_add(maps, result->explanation->map);
    artifact = limn_artifact_from_maps("map", maps, labels, self->picture, &result->rect,
                                       FALSE, NULL);
    if (artifact) {
        artifact->has_range = TRUE;
        get_range(self, index, &artifact->range[0], &artifact->range[1]);
    }
    return artifact;
}

static void
artifact_unref_or_null(gpointer artifact)
{
    if (artifact)
        limn_artifact_unref(artifact);
}

GPtrArray *
limn_grid_page_make_artifacts(LimnGridPage *self, GStrv *rows, GStrv *columns,
                              gboolean *shared)
{
    GPtrArray *artifacts;
    g_autoptr(GStrvBuilder) titles = g_strv_builder_new();

    if (count_known(self) == 0)
        return NULL;
    artifacts = g_ptr_array_new_with_free_func(artifact_unref_or_null);
    for (guint i = 0; i < self->cells->len; i++)
        g_ptr_array_add(artifacts, cell_artifact(self, i));
    for (guint i = 0; i < self->n_methods; i++)
        g_strv_builder_add(titles, limn_explain_method_title(self->methods[i]));
    *rows = g_strdupv(self->prompts);
    *columns = g_strv_builder_end(titles);
    *shared = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->scale)) == SCALE_ALL;
    return artifacts;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/canvas.h"

#include "engine/figure/scale.h"
#include "ui/model/document-edit.h"
#include "ui/widget/filmstrip.h"
#include "ui/widget/helpers.h"
#include "ui/widget/pane-grid.h"
#include "ui/widget/view-popover.h"
#include "ui/window/grid-page.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define WORDS_MIN_HEIGHT 36 // one line of words with the legend beside it
#define WORDS_MAX_HEIGHT 120

struct _LimnCanvas {
    GtkWidget parent_instance;
    LimnWorkspace *ws;
    LimnDocument *doc;
    gboolean syncing;
    LimnCanvasTool tool;
    GtkWidget *box, *toolbar, *stack, *grid_page, *pane_grid;
    LimnPane *panes[LIMN_MAX_PANES];
    GtkWidget *words_scroller, *sentence, *entry, *explain, *filmstrip, *view_popover;
    LimnTextView *words;
    LimnLiveResult *words_of; // result whose words are shown
};

static guint probed_signal, measured_signal;

G_DEFINE_FINAL_TYPE(LimnCanvas, limn_canvas, GTK_TYPE_WIDGET)

static void
limn_canvas_dispose(GObject *object)
{
    LimnCanvas *self = LIMN_CANVAS(object);

    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_clear_object(&self->doc);
    g_clear_object(&self->ws);
    g_clear_pointer(&self->words_of, limn_live_result_unref);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_canvas_parent_class)->dispose(object);
}

static void
limn_canvas_class_init(LimnCanvasClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_canvas_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
    probed_signal = g_signal_new("probed", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0,
                                 NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
    measured_signal =
        g_signal_new("measured", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL,
                     NULL, NULL, G_TYPE_NONE, 2, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
}

// ---- the scale that all panes share

static gboolean
widen(LimnPane *pane, double *min, double *max, gboolean any)
{
    double low, high;

    if (!limn_heatmap_view_get_data_range(limn_pane_get_view(pane), &low, &high))
        return any;
    *min = any ? MIN(*min, low) : low;
    *max = any ? MAX(*max, high) : high;
    return TRUE;
}

// Signed maps and others share one scale each: their colours mean different things.
static void
share_scale(LimnCanvas *self, gboolean is_signed)
{
    guint n = limn_document_get_data(self->doc)->n_panes;
    double min = 0, max = 1;
    gboolean any = FALSE;

    for (guint i = 0; i < n; i++)
        if (limn_pane_is_signed(self->panes[i]) == is_signed)
            any = widen(self->panes[i], &min, &max, any);
    if (is_signed) {
        max = MAX(fabs(min), fabs(max));
        min = -max;
    }
    for (guint i = 0; i < n; i++) {
        LimnHeatmapView *view = limn_pane_get_view(self->panes[i]);

        if (limn_pane_is_signed(self->panes[i]) != is_signed)
            continue;
        if (any)
            limn_heatmap_view_set_range(view, min, max);
        limn_heatmap_view_set_range_mode(view, any ? LIMN_RANGE_SHARED : LIMN_RANGE_AUTO);
    }
}

static void
sync_scale(LimnCanvas *self)
{
    const LimnStudyView *view = limn_document_get_view(self->doc);
    guint n = limn_document_get_data(self->doc)->n_panes;

    if (view->scale == LIMN_SCALE_SHARED && n > 1) {
        share_scale(self, FALSE);
        share_scale(self, TRUE);
        return;
    }
    for (guint i = 0; i < n; i++) {
        LimnHeatmapView *heatmap = limn_pane_get_view(self->panes[i]);

        if (view->scale == LIMN_SCALE_FIXED)
            limn_heatmap_view_set_range(heatmap, view->range[0], view->range[1]);
        limn_heatmap_view_set_range_mode(heatmap, view->scale == LIMN_SCALE_FIXED
                                                      ? LIMN_RANGE_FIXED
                                                      : LIMN_RANGE_AUTO);
    }
}

// ---- words and sentence

static void
sync_words(LimnCanvas *self, gboolean live)
{
    guint active = limn_document_get_view(self->doc)->active;
    LimnLiveResult *result = limn_document_get_result(self->doc, active);
    gboolean has = live && result && result->words &&
                   *limn_document_get_pane_text(self->doc, active);

    gtk_widget_set_visible(self->words_scroller, has);
    if (!has || result == self->words_of)
        return;
    g_clear_pointer(&self->words_of, limn_live_result_unref);
    self->words_of = limn_live_result_ref(result);
    limn_text_view_set_item(self->words, result->words);
    limn_text_view_set_message(self->words, result->explanation->no_positive_token
                                                ? _("No word raises the score.")
                                                : NULL);
}

static void
sync_sentence(LimnCanvas *self, gboolean live)
{
    guint active = limn_document_get_view(self->doc)->active;
    guint prompt = limn_document_get_data(self->doc)->panes[active].prompt;
    const char *text = limn_document_get_prompt(self->doc, prompt);

    gtk_widget_set_visible(self->sentence, limn_document_has_prompts(self->doc));
    // the entry is left alone while it says the same, so that the cursor stays
    if (!g_str_equal(gtk_editable_get_text(GTK_EDITABLE(self->entry)), text))
        gtk_editable_set_text(GTK_EDITABLE(self->entry), text);
    gtk_widget_set_visible(self->explain,
                           live && !limn_document_get_view(self->doc)->live);
}

static void
entry_changed(GtkEditable *editable, LimnCanvas *self)
{
    guint active;

    if (self->syncing || !self->doc)
        return;
    active = limn_document_get_view(self->doc)->active;
    limn_document_set_override(self->doc, active, NULL, NULL);
    limn_document_set_prompt(self->doc,
                             limn_document_get_data(self->doc)->panes[active].prompt,
                             gtk_editable_get_text(editable));
}

static void
entry_activated(GtkEntry *entry, LimnCanvas *self)
{
    limn_workspace_explain_now(self->ws);
}

// Up and Down walk through the sentences.
static gboolean
entry_key(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
          LimnCanvas *self)
{
    const LimnStudyData *data;
    guint active, prompt;

    if (!self->doc || (key != GDK_KEY_Up && key != GDK_KEY_Down))
        return FALSE;
    data = limn_document_get_data(self->doc);
    active = limn_document_get_view(self->doc)->active;
    prompt = data->panes[active].prompt;
    if (key == GDK_KEY_Up && prompt > 0)
        limn_document_set_pane_prompt(self->doc, active, prompt - 1);
    else if (key == GDK_KEY_Down && prompt + 1 < data->prompts->len)
        limn_document_set_pane_prompt(self->doc, active, prompt + 1);
    else
        return FALSE;
    gtk_editable_set_position(GTK_EDITABLE(self->entry), -1);
    return TRUE;
}

char *
limn_canvas_word_text(const char *text, guint begin, guint end, gboolean without)
{
    gsize length = strlen(text);
    char *result;

    g_return_val_if_fail(begin <= end && end <= length, g_strdup(text));
    if (!without)
        return g_strndup(text + begin, end - begin);
    while (end < length && text[end] == ' ') // one blank of the two around it
        end++;
    result = g_strdup_printf("%.*s%s", (int) begin, text, text + end);
    return g_strstrip(result);
}

static void
word_activated(LimnTextView *view, guint begin, guint end, gboolean without,
               LimnCanvas *self)
{
    guint active = limn_document_get_view(self->doc)->active;
    const LimnLiveResult *result = limn_document_get_result(self->doc, active);
    g_autofree char *word = NULL;
    g_autofree char *text = NULL;
    g_autofree char *description = NULL;

    if (!result || end > strlen(result->text) || begin > end)
        return;
    word = limn_canvas_word_text(result->text, begin, end, FALSE);
    text = limn_canvas_word_text(result->text, begin, end, without);
    description = without ? g_strdup_printf(_("The sentence without “%s”"), word)
                          : g_strdup_printf(_("The word “%s” alone"), word);
    limn_document_set_override(self->doc, active, text, description);
}

// ---- everything

static void
tell_measures(LimnCanvas *self)
{
    LimnPane *pane = limn_canvas_get_active_pane(self);
    double energy = NAN, iou = NAN;

    if (!self->doc || !limn_heatmap_view_measure(limn_pane_get_view(pane), &energy, &iou))
        energy = iou = NAN;
    g_signal_emit(self, measured_signal, 0, energy, iou);
}

static void
view_measured(LimnHeatmapView *view, LimnCanvas *self)
{
    if (!self->syncing)
        tell_measures(self);
}

static void
update_state(LimnCanvas *self)
{
    const LimnStudyData *data;
    const LimnStudyView *view;
    gboolean live;

    if (!self->doc || self->syncing)
        return;
    self->syncing = TRUE;
    data = limn_document_get_data(self->doc);
    view = limn_document_get_view(self->doc);
    live = limn_document_is_live_capable(self->doc);
    limn_pane_grid_set_n_shown(LIMN_PANE_GRID(self->pane_grid), data->n_panes);
    for (guint i = 0; i < data->n_panes; i++)
        limn_pane_sync(self->panes[i]);
    sync_scale(self);
    sync_words(self, live);
    sync_sentence(self, live);
    gtk_stack_set_visible_child(GTK_STACK(self->stack),
                                view->grid && live ? self->grid_page : self->pane_grid);
    limn_filmstrip_sync(LIMN_FILMSTRIP(self->filmstrip));
    tell_measures(self);
    self->syncing = FALSE;
}

static void
view_range_changed(LimnHeatmapView *view, LimnCanvas *self)
{
    if (!self->syncing && self->doc) { // large maps tell their range later
        self->syncing = TRUE;
        sync_scale(self);
        self->syncing = FALSE;
    }
}

static void
pane_activated(LimnPane *pane, LimnCanvas *self)
{
    for (guint i = 0; self->doc && i < LIMN_MAX_PANES; i++)
        if (self->panes[i] == pane)
            limn_document_set_active(self->doc, i);
}

// With several panes: the value of every map at the place under the pointer.
static void
pane_probed(LimnPane *pane, int row, int col, const char *text, LimnCanvas *self)
{
    guint n = self->doc ? limn_document_get_data(self->doc)->n_panes : 0;
    g_autoptr(GString) all = g_string_new(text);

    for (guint i = 0; i < n && n > 1 && row >= 0; i++) {
        LimnArray *map = limn_heatmap_view_get_map(limn_pane_get_view(self->panes[i]));
        g_autofree char *value = NULL;

        if (!map || row >= map->shape[0] || col >= map->shape[1])
            continue;
        value =
            limn_number_display(limn_array_get_double(map, row * map->shape[1] + col), 3);
        g_string_append_printf(
            all, "  |  %s: %s",
            limn_explain_method_title(limn_document_get_pane_method(self->doc, i)),
            value);
    }
    g_signal_emit(self, probed_signal, 0, all->str);
}

static void
tool_changed(LimnHeatmapView *view, LimnCanvas *self)
{
    LimnCanvasTool tool = limn_heatmap_view_get_tool(view);

    if (tool == self->tool)
        return;
    self->tool = tool;
    for (guint i = 0; i < LIMN_MAX_PANES; i++)
        limn_heatmap_view_set_tool(limn_pane_get_view(self->panes[i]), tool);
    gtk_widget_activate_action(GTK_WIDGET(self), "win.tool", "s",
                               tool == LIMN_TOOL_BOX ? "box" : "pan");
}

// ---- construction

static void
add_separator(GtkWidget *bar)
{
    gtk_box_append(GTK_BOX(bar), gtk_separator_new(GTK_ORIENTATION_VERTICAL));
}

static void
build_toolbar(LimnCanvas *self)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *space = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *view = limn_icon_menu_button_new("limn-view-symbolic", _("View settings"));
    static const char *const icons[] = {"limn-panes-1-symbolic", "limn-panes-2-symbolic",
                                        "limn-panes-3-symbolic", "limn-panes-4-symbolic"};
    const char *names[] = {_("One pane (Alt+1)"), _("Two panes (Alt+2)"),
                           _("Three panes (Alt+3)"), _("Four panes (Alt+4)")};
    const char *actions[] = {"win.panes::1", "win.panes::2", "win.panes::3",
                             "win.panes::4"};

    gtk_widget_add_css_class(bar, "limn-toolbar");
    for (guint i = 0; i < G_N_ELEMENTS(icons); i++)
        gtk_box_append(GTK_BOX(bar),
                       limn_icon_toggle_new(icons[i], names[i], actions[i]));
    gtk_box_append(GTK_BOX(bar),
                   limn_icon_toggle_new("limn-grid-symbolic", _("Method grid (Ctrl+G)"),
                                        "win.grid"));
    add_separator(bar);
    gtk_box_append(GTK_BOX(bar), limn_icon_toggle_new("limn-scale-symbolic",
                                                      _("One scale for all panes"),
                                                      "win.shared-scale"));
    add_separator(bar);
    gtk_box_append(GTK_BOX(bar),
                   limn_icon_toggle_new("limn-pan-symbolic", _("Move the picture"),
                                        "win.tool::pan"));
    gtk_box_append(GTK_BOX(bar),
                   limn_icon_toggle_new("limn-box-symbolic", _("Draw a box (Ctrl+B)"),
                                        "win.tool::box"));
    gtk_box_append(GTK_BOX(bar), limn_icon_button_new("limn-mask-symbolic",
                                                      _("Load a mask"), "win.load-mask"));
    gtk_widget_set_hexpand(space, TRUE);
    gtk_box_append(GTK_BOX(bar), space);
    gtk_box_append(GTK_BOX(bar),
                   limn_icon_button_new("limn-fit-symbolic",
                                        _("Fit the picture (Ctrl+0)"), "win.fit"));
    gtk_box_append(GTK_BOX(bar),
                   limn_icon_button_new("limn-one-to-one-symbolic",
                                        _("Original size (Ctrl+1)"), "win.one-to-one"));
    self->view_popover = limn_view_popover_new();
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(view), self->view_popover);
    gtk_box_append(GTK_BOX(bar), view);
    self->toolbar = bar;
}

static void
build_sentence(LimnCanvas *self)
{
    GtkEventController *keys = gtk_event_controller_key_new();

    self->sentence = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_widget_add_css_class(self->sentence, "limn-sentence");
    self->entry = gtk_entry_new();
    gtk_widget_set_hexpand(self->entry, TRUE);
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->entry),
                                   _("Type what to look for, for example “a dog”"));
    limn_set_name(self->entry, _("Sentence"), FALSE);
    gtk_editable_set_enable_undo(GTK_EDITABLE(self->entry), FALSE); // the window's undo
    g_signal_connect(self->entry, "changed", G_CALLBACK(entry_changed), self);
    g_signal_connect(self->entry, "activate", G_CALLBACK(entry_activated), self);
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(entry_key), self);
    gtk_widget_add_controller(self->entry, keys);
    self->explain = gtk_button_new_with_mnemonic(_("E_xplain"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->explain), "win.explain-now");
    gtk_box_append(GTK_BOX(self->sentence), self->entry);
    gtk_box_append(GTK_BOX(self->sentence), self->explain);
    gtk_box_append(GTK_BOX(self->sentence),
                   limn_icon_button_new("list-add-symbolic", _("Add a sentence (Ctrl+N)"),
                                        "win.add-prompt"));
}

static void
build_words(LimnCanvas *self)
{
    self->words = LIMN_TEXT_VIEW(limn_text_view_new());
    self->words_scroller = gtk_scrolled_window_new();
    gtk_widget_add_css_class(self->words_scroller, "limn-words");
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->words_scroller),
                                   GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(self->words_scroller),
                                               WORDS_MIN_HEIGHT);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(self->words_scroller),
                                               WORDS_MAX_HEIGHT);
    gtk_scrolled_window_set_propagate_natural_height(
        GTK_SCROLLED_WINDOW(self->words_scroller), TRUE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->words_scroller),
                                  GTK_WIDGET(self->words));
    gtk_widget_set_visible(self->words_scroller, FALSE);
    g_signal_connect(self->words, "word-activated", G_CALLBACK(word_activated), self);
}

static void
build_panes(LimnCanvas *self)
{
    self->pane_grid = limn_pane_grid_new();
    for (guint i = 0; i < LIMN_MAX_PANES; i++) {
        LimnHeatmapView *view;

        self->panes[i] = LIMN_PANE(limn_pane_new(i));
        view = limn_pane_get_view(self->panes[i]);
        g_signal_connect(self->panes[i], "activated", G_CALLBACK(pane_activated), self);
        g_signal_connect(self->panes[i], "probed", G_CALLBACK(pane_probed), self);
        g_signal_connect(view, "range-changed", G_CALLBACK(view_range_changed), self);
        g_signal_connect(view, "tool-changed", G_CALLBACK(tool_changed), self);
        g_signal_connect(view, "measured", G_CALLBACK(view_measured), self);
        limn_pane_grid_add(LIMN_PANE_GRID(self->pane_grid), GTK_WIDGET(self->panes[i]));
    }
}

static void
limn_canvas_init(LimnCanvas *self)
{
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_add_css_class(self->box, "limn-canvas");
    build_toolbar(self);
    build_panes(self);
    build_words(self);
    build_sentence(self);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
}

GtkWidget *
limn_canvas_new(LimnWorkspace *ws)
{
    LimnCanvas *self = g_object_new(LIMN_TYPE_CANVAS, NULL);

    self->ws = g_object_ref(ws);
    self->stack = gtk_stack_new();
    gtk_stack_set_hhomogeneous(GTK_STACK(self->stack), FALSE);
    gtk_stack_set_vhomogeneous(GTK_STACK(self->stack), FALSE);
    self->grid_page = limn_grid_page_new(ws);
    self->filmstrip = limn_filmstrip_new();
    gtk_stack_add_child(GTK_STACK(self->stack), self->pane_grid);
    gtk_stack_add_child(GTK_STACK(self->stack), self->grid_page);
    gtk_widget_set_vexpand(self->stack, TRUE);
    gtk_box_append(GTK_BOX(self->box), self->toolbar);
    gtk_box_append(GTK_BOX(self->box), self->stack);
    gtk_box_append(GTK_BOX(self->box), self->words_scroller);
    gtk_box_append(GTK_BOX(self->box), self->sentence);
    gtk_box_append(GTK_BOX(self->box), self->filmstrip);
    return GTK_WIDGET(self);
}

void
limn_canvas_set_document(LimnCanvas *self, LimnDocument *doc)
{
    static const char *const signals[] = {"data-changed", "view-changed",
                                          "picture-changed", "results-changed",
                                          "status-changed"};

    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_set_object(&self->doc, doc);
    g_clear_pointer(&self->words_of, limn_live_result_unref);
    self->syncing = TRUE;
    for (guint i = 0; i < LIMN_MAX_PANES; i++)
        limn_pane_set_document(self->panes[i], doc);
    limn_filmstrip_set_document(LIMN_FILMSTRIP(self->filmstrip), doc);
    limn_view_popover_set_document(LIMN_VIEW_POPOVER(self->view_popover), doc);
    limn_grid_page_set_document(LIMN_GRID_PAGE(self->grid_page), doc);
    self->syncing = FALSE;
    if (!doc)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(signals); i++)
        g_signal_connect_swapped(doc, signals[i], G_CALLBACK(update_state), self);
    update_state(self);
}

// ---- interface

LimnPane *
limn_canvas_get_pane(LimnCanvas *self, guint index)
{
    return self->panes[index];
}

LimnPane *
limn_canvas_get_active_pane(LimnCanvas *self)
{
    return self->panes[self->doc ? limn_document_get_view(self->doc)->active : 0];
}

guint
limn_canvas_get_n_panes(LimnCanvas *self)
{
    return self->doc ? limn_document_get_data(self->doc)->n_panes : 0;
}

GtkWidget *
limn_canvas_get_entry(LimnCanvas *self)
{
    return self->entry;
}

LimnTextView *
limn_canvas_get_words(LimnCanvas *self)
{
    return self->words;
}

GtkWidget *
limn_canvas_get_grid(LimnCanvas *self)
{
    return self->grid_page;
}

void
limn_canvas_focus_entry(LimnCanvas *self)
{
    if (gtk_widget_get_visible(self->sentence))
        gtk_entry_grab_focus_without_selecting(GTK_ENTRY(self->entry));
    gtk_editable_set_position(GTK_EDITABLE(self->entry), -1);
}

void
limn_canvas_focus_next_pane(LimnCanvas *self)
{
    guint active;

    if (!self->doc)
        return;
    active =
        (limn_document_get_view(self->doc)->active + 1) % limn_canvas_get_n_panes(self);
    limn_document_set_active(self->doc, active);
    gtk_widget_grab_focus(GTK_WIDGET(limn_pane_get_view(self->panes[active])));
}

void
limn_canvas_set_tool(LimnCanvas *self, LimnCanvasTool tool)
{
    self->tool = tool;
    for (guint i = 0; i < LIMN_MAX_PANES; i++)
        limn_heatmap_view_set_tool(limn_pane_get_view(self->panes[i]), tool);
}

LimnCanvasTool
limn_canvas_get_tool(LimnCanvas *self)
{
    return self->tool;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/view/text-view.h"

#include "engine/figure/scale.h"
#include "ui/view/view-theme.h"
#include "ui/widget/word-button.h"
#include "ui/widget/wrap-box.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define LEGEND_WIDTH 120
#define LEGEND_STRIP 10
#define LEGEND_STEPS 32

struct _LimnTextView {
    GtkWidget parent_instance;

    GtkWidget *box;
    GtkWidget *flow;  // words and legend, beside or below each other
    GtkWidget *words; // LimnWrapBox
    GtkWidget *empty; // what is shown without a sentence
    GtkWidget *cut;   // why a part is struck through
    GtkWidget *message;
    GtkWidget *legend_row, *legend, *legend_label;
    GPtrArray
        *buttons;      // LimnWordButton, all that were ever needed; borrowed from `words`
    GPtrArray *labels; // of text that is no word
    GArray *spans;     // Span, of the shown buttons

    double largest; // absolute weight
    gboolean is_signed;
};

// Bytes of the sentence that a button stands for.
typedef struct {
    guint begin, end;
} Span;

enum { WORD_ACTIVATED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(LimnTextView, limn_text_view, GTK_TYPE_WIDGET)

// ---- legend

static void
draw_legend_number(GtkWidget *widget, cairo_t *cr, double value, double at, int width)
{
    g_autofree char *text = limn_number_display(value, 2);
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(widget, text);
    PangoFontDescription *font = pango_font_description_copy(
        pango_context_get_font_description(pango_layout_get_context(layout)));
    gboolean dark = limn_view_is_dark(widget);
    int text_width;

    pango_font_description_set_absolute_size(font, 11 * PANGO_SCALE);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_get_pixel_size(layout, &text_width, NULL);
    cairo_move_to(cr, CLAMP(at - text_width / 2.0, 0, MAX(width - text_width, 0)),
                  LEGEND_STRIP + 2);
    cairo_set_source_rgb(cr, dark ? 0.85 : 0.25, dark ? 0.85 : 0.25, dark ? 0.86 : 0.27);
    pango_cairo_show_layout(cr, layout);
}

// A strip from nothing (or the largest weight against) to the largest weight, with
// numbers.
static void
draw_legend(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    LimnTextView *view = data;
    GtkWidget *widget = GTK_WIDGET(area);
    gboolean dark = limn_view_is_dark(widget);
    double from = view->is_signed ? -1 : 0;

    for (int i = 0; i < LEGEND_STEPS; i++) {
        double strength = from + (1 - from) * i / (LEGEND_STEPS - 1.0);
        int left = width * i / LEGEND_STEPS, right = width * (i + 1) / LEGEND_STEPS;
        GdkRGBA color;

        limn_word_color(strength, dark, &color);
        gdk_cairo_set_source_rgba(cr, &color);
        cairo_rectangle(cr, left, 0, right - left, LEGEND_STRIP);
        cairo_fill(cr);
    }
    cairo_rectangle(cr, 0.5, 0.5, width - 1, LEGEND_STRIP - 1);
    cairo_set_line_width(cr, 1);
    cairo_set_source_rgba(cr, dark ? 1 : 0, dark ? 1 : 0, dark ? 1 : 0, 0.25);
    cairo_stroke(cr);
    draw_legend_number(widget, cr, from * view->largest, 0, width);
    if (view->is_signed)
        draw_legend_number(widget, cr, 0, width / 2.0, width);
    draw_legend_number(widget, cr, view->largest, width, width);
}

static void
update_legend(LimnTextView *view)
{
    g_autofree char *from = limn_number_display(view->is_signed ? -view->largest : 0, 2);
    g_autofree char *to = limn_number_display(view->largest, 2);
    g_autofree char *name =
        g_strdup_printf(_("Colours of the words from %s to %s"), from, to);

    gtk_widget_set_visible(view->legend_row, view->largest > 0);
    gtk_label_set_text(GTK_LABEL(view->legend_label),
                       view->is_signed ? _("Weight: purple against, green for the score")
                                       : _("Weight in the score"));
    gtk_widget_queue_draw(view->legend);
    gtk_accessible_update_property(GTK_ACCESSIBLE(view->legend),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

// ---- words

static void
on_pressed(LimnWordButton *button, gboolean without, LimnTextView *view)
{
    guint i;

    if (g_ptr_array_find(view->buttons, button, &i) && i < view->spans->len) {
        const Span *span = &g_array_index(view->spans, Span, i);

        g_signal_emit(view, signals[WORD_ACTIVATED], 0, span->begin, span->end, without);
    }
}

static char *
dup_piece(const char *text, gsize begin, gsize end)
{
    return g_utf8_make_valid(text + begin, end - begin);
}

static void
append_tokens(const LimnTextItem *item, const LimnTextWord *word, GString *tooltip)
{
    guint n = item->tokens != NULL ? item->tokens->len : 0;

    for (guint i = 0; i < n; i++) {
        const LimnTextToken *token = &g_array_index(item->tokens, LimnTextToken, i);
        g_autofree char *weight = NULL;
        g_autofree char *piece = NULL;

        if (token->begin >= token->end || token->begin < word->begin ||
            token->end > word->end)
            continue;
        weight = limn_number_display(token->weight, 3);
        piece = token->piece != NULL ? g_utf8_make_valid(token->piece, -1)
                                     : dup_piece(item->text, token->begin, token->end);
        g_string_append_printf(tooltip, "\n%s  %s", piece, weight);
    }
}

static char *
make_tooltip(LimnTextView *view, const LimnTextItem *item, const LimnTextWord *word)
{
    g_autofree char *weight = limn_number_display(word->weight, 3);
    GString *tooltip = g_string_new(NULL);

    g_string_append_printf(tooltip, _("Weight %s"), weight);
    if (view->largest > 0)
        g_string_append_printf(tooltip, _(" (%.0f %% of the largest)"),
                               100 * word->weight / view->largest);
    g_string_append(tooltip, _("\nTokens:"));
    append_tokens(item, word, tooltip);
    g_string_append(tooltip, _("\nClick: map of this word. Shift+click: without it."));
    return g_string_free(tooltip, FALSE);
}

static GtkWidget *
get_button(LimnTextView *view, guint i)
{
    GtkWidget *button;

    if (i < view->buttons->len)
        return g_ptr_array_index(view->buttons, i);
    button = limn_word_button_new();
    g_signal_connect(button, "pressed-word", G_CALLBACK(on_pressed), view);
    gtk_widget_set_parent(button, view->words);
    g_ptr_array_add(view->buttons, button);
    return button;
}

static void
add_word(LimnTextView *view, const LimnTextItem *item, const LimnTextWord *word)
{
    guint i = view->spans->len;
    Span span = {word->begin, word->end};
    GtkWidget *button = get_button(view, i);
    g_autofree char *text = dup_piece(item->text, word->begin, word->end);
    g_autofree char *weight = limn_number_display(word->weight, 3);
    g_autofree char *name = g_strdup_printf(_("%s, weight %s"), text, weight);
    g_autofree char *tooltip = make_tooltip(view, item, word);

    g_array_append_val(view->spans, span);
    limn_word_button_set_word(LIMN_WORD_BUTTON(button), text,
                              view->largest > 0 ? word->weight / view->largest : 0);
    gtk_widget_set_tooltip_text(button, tooltip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   name, -1);
    gtk_widget_set_visible(button, TRUE);
    gtk_widget_insert_before(button, view->words, NULL);
}

static void
add_label(LimnTextView *view, const char *text, gboolean struck)
{
    GtkWidget *label = gtk_label_new(text);

    if (struck) {
        g_autoptr(PangoAttrList) attributes = pango_attr_list_new();

        pango_attr_list_insert(attributes, pango_attr_strikethrough_new(TRUE));
        gtk_label_set_attributes(GTK_LABEL(label), attributes);
    }
    gtk_widget_add_css_class(label, "dim-label");
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_CHAR);
    gtk_widget_insert_before(label, view->words, NULL);
    g_ptr_array_add(view->labels, label);
}

// What lies between words, or was cut off: one label per run without blanks.
static void
add_rest(LimnTextView *view, const LimnTextItem *item, gsize begin, gsize end,
         gboolean struck)
{
    g_autofree char *text = begin < end ? dup_piece(item->text, begin, end) : NULL;
    g_auto(GStrv) runs = text != NULL ? g_strsplit_set(text, " \t\r\n\v\f", -1) : NULL;

    for (gsize i = 0; runs != NULL && runs[i] != NULL; i++)
        if (*runs[i] != '\0')
            add_label(view, runs[i], struck);
}

static void
find_largest(LimnTextView *view, const LimnTextItem *item)
{
    guint n = item->words != NULL ? item->words->len : 0;

    view->largest = 0;
    view->is_signed = FALSE;
    for (guint i = 0; i < n; i++) {
        double weight = g_array_index(item->words, LimnTextWord, i).weight;

        if (isfinite(weight))
            view->largest = MAX(view->largest, fabs(weight));
        view->is_signed |= weight < 0;
    }
}

static void
clear_words(LimnTextView *view)
{
    for (guint i = 0; i < view->labels->len; i++)
        gtk_widget_unparent(g_ptr_array_index(view->labels, i));
    g_ptr_array_set_size(view->labels, 0);
    g_array_set_size(view->spans, 0);
}

// Buttons are kept from sentence to sentence, so that the focus stays while somebody
// types.
static void
hide_spare_buttons(LimnTextView *view)
{
    for (guint i = view->spans->len; i < view->buttons->len; i++)
        gtk_widget_set_visible(g_ptr_array_index(view->buttons, i), FALSE);
}

static void
show_words(LimnTextView *view, const LimnTextItem *item)
{
    gsize length = strlen(item->text);
    gsize used = item->truncated ? MIN(item->used_bytes, length) : length;
    guint n = item->words != NULL ? item->words->len : 0;
    gsize at = 0;

    for (guint i = 0; i < n; i++) {
        const LimnTextWord *word = &g_array_index(item->words, LimnTextWord, i);

        if (word->begin < at || word->end <= word->begin || word->end > used)
            continue; // not of this text
        add_rest(view, item, at, word->begin, FALSE);
        add_word(view, item, word);
        at = word->end;
    }
    add_rest(view, item, at, used, FALSE);
    add_rest(view, item, used, length, TRUE);
}

static void
set_direction(LimnTextView *view, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(view->words, valid);
    PangoLayoutLine *line = pango_layout_get_line_readonly(layout, 0);
    gboolean rtl = pango_layout_line_get_resolved_direction(line) == PANGO_DIRECTION_RTL;

    gtk_widget_set_direction(view->words, rtl ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR);
}

void
limn_text_view_set_item(LimnTextView *view, const LimnTextItem *item)
{
    gboolean has_text;

    g_return_if_fail(LIMN_IS_TEXT_VIEW(view));

    has_text = item != NULL && item->text != NULL && *item->text != '\0';
    clear_words(view);
    view->largest = 0;
    if (has_text) {
        find_largest(view, item);
        set_direction(view, item->text);
        show_words(view, item);
    }
    hide_spare_buttons(view);
    gtk_widget_set_visible(view->empty, !has_text);
    gtk_widget_set_visible(view->flow, has_text);
    gtk_widget_set_visible(view->cut, has_text && item->truncated);
    update_legend(view);
}

void
limn_text_view_set_message(LimnTextView *view, const char *message)
{
    g_return_if_fail(LIMN_IS_TEXT_VIEW(view));

    gtk_label_set_text(GTK_LABEL(view->message), message != NULL ? message : "");
    gtk_widget_set_visible(view->message, message != NULL && *message != '\0');
}

// ---- class

static void
dispose(GObject *object)
{
    g_clear_pointer(&LIMN_TEXT_VIEW(object)->box, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_text_view_parent_class)->dispose(object);
}

static void
finalize(GObject *object)
{
    LimnTextView *view = LIMN_TEXT_VIEW(object);

    g_ptr_array_unref(view->buttons);
    g_ptr_array_unref(view->labels);
    g_array_unref(view->spans);
    G_OBJECT_CLASS(limn_text_view_parent_class)->finalize(object);
}

static void
limn_text_view_class_init(LimnTextViewClass *class)
{
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(widget_class, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
    gtk_widget_class_set_css_name(widget_class, "textweights");
    signals[WORD_ACTIVATED] = g_signal_new(
        "word-activated", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
        NULL, G_TYPE_NONE, 3, G_TYPE_UINT, G_TYPE_UINT, G_TYPE_BOOLEAN);
}

static GtkWidget *
new_note(const char *text)
{
    GtkWidget *label = gtk_label_new(text);

    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_add_css_class(label, "dim-label");
    return label;
}

static GtkWidget *
new_legend(LimnTextView *view)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);

    view->legend = g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role",
                                GTK_ACCESSIBLE_ROLE_IMG, NULL);
    gtk_drawing_area_set_content_width(GTK_DRAWING_AREA(view->legend), LEGEND_WIDTH);
    gtk_drawing_area_set_content_height(GTK_DRAWING_AREA(view->legend),
                                        LEGEND_STRIP + 18);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->legend), draw_legend, view,
                                   NULL);
    view->legend_label = new_note("");
    gtk_widget_set_valign(view->legend_label, GTK_ALIGN_START);
    gtk_box_append(GTK_BOX(row), view->legend);
    gtk_box_append(GTK_BOX(row), view->legend_label);
    return row;
}

static void
limn_text_view_init(LimnTextView *view)
{
    view->buttons = g_ptr_array_new();
    view->labels = g_ptr_array_new();
    view->spans = g_array_new(FALSE, FALSE, sizeof(Span));
    view->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8);
    view->flow = limn_wrap_box_new(24, 8);
    view->words = limn_wrap_box_new(4, 4);
    view->empty =
        new_note(_("No sentence yet: its words will be coloured by their weight."));
    view->cut =
        new_note(_("The text is longer than the model reads: what is struck through did "
                   "not take part."));
    view->message = new_note("");
    view->legend_row = new_legend(view);
    gtk_box_append(GTK_BOX(view->box), view->empty);
    gtk_widget_set_parent(view->words, view->flow);
    gtk_widget_set_parent(view->legend_row, view->flow);
    gtk_box_append(GTK_BOX(view->box), view->flow);
    gtk_box_append(GTK_BOX(view->box), view->cut);
    gtk_box_append(GTK_BOX(view->box), view->message);
    gtk_widget_set_parent(view->box, GTK_WIDGET(view));
    gtk_accessible_update_property(GTK_ACCESSIBLE(view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Words of the sentence"), -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(view->words),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, _("Words"), -1);
    limn_text_view_set_message(view, NULL);
    limn_text_view_set_item(view, NULL);
}

GtkWidget *
limn_text_view_new(void)
{
    return g_object_new(LIMN_TYPE_TEXT_VIEW, NULL);
}

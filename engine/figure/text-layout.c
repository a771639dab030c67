// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/text-layout.h"

#include <math.h>
#include <string.h>

// Every replacement is as long as what it replaces, so that byte offsets stay valid.
char *
limn_text_make_drawable(const char *text)
{
    char *clean = g_strdup(text ? text : "");
    const char *bad;
    while (!g_utf8_validate(clean, -1, &bad))
        clean[bad - clean] = '?';
    for (char *p = clean; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (c < 0x20 || c == 0x7f)
            *p = ' ';
        else if (c >= 0x80 && c < 0xa0) // C1 controls; a no-break space instead
            memcpy(p, "\xc2\xa0", 2);
        else if (c == 0x2028 || c == 0x2029) // line and paragraph separators
            memcpy(p, "\xe2\x80\x83", 3);
        else if (c == 0xfffe || c == 0xffff)
            memcpy(p, "\xef\xbf\xbd", 3);
    }
    return clean;
}

// Sets up a context on which results do not depend on desktop, locale or zoom.
static void
prepare_context(PangoContext *context)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(context, options);
    cairo_font_options_destroy(options);
    pango_cairo_context_set_resolution(context, 72);
    pango_context_set_round_glyph_positions(context, FALSE);
    pango_context_set_language(context, pango_language_from_string("en"));
    pango_context_set_base_dir(context, PANGO_DIRECTION_WEAK_LTR);
}

PangoLayout *
limn_text_create_layout(cairo_t *cr, const char *text, const LimnTextStyle *font)
{
    PangoContext *context =
        cr ? pango_cairo_create_context(cr)
           : pango_font_map_create_context(pango_cairo_font_map_get_default());
    prepare_context(context);
    PangoLayout *layout = pango_layout_new(context);
    g_object_unref(context);
    PangoFontDescription *description = pango_font_description_new();
    pango_font_description_set_family(description, font->family);
    pango_font_description_set_absolute_size(description,
                                             floor(font->size * PANGO_SCALE + 0.5));
    if (font->bold)
        pango_font_description_set_weight(description, PANGO_WEIGHT_BOLD);
    if (font->italic)
        pango_font_description_set_style(description, PANGO_STYLE_ITALIC);
    pango_layout_set_font_description(layout, description);
    pango_font_description_free(description);
    pango_layout_set_text(layout, text, -1);
    return layout;
}

void
limn_text_measure(const char *text, const LimnTextStyle *font, LimnTextSize *size)
{
    g_autofree char *clean = limn_text_make_drawable(text);
    g_autoptr(PangoLayout) layout = limn_text_create_layout(NULL, clean, font);
    PangoRectangle ink, logical;
    pango_layout_get_extents(layout, &ink, &logical);
    double baseline = pango_layout_get_baseline(layout) / (double) PANGO_SCALE;
    size->width = logical.width / (double) PANGO_SCALE;
    size->ascent = baseline;
    size->descent = logical.height / (double) PANGO_SCALE - baseline;
    size->ink_left = (ink.x - logical.x) / (double) PANGO_SCALE;
    size->ink_right = (ink.x + ink.width - logical.x) / (double) PANGO_SCALE;
}

double
limn_text_width(const char *text, const LimnTextStyle *font)
{
    LimnTextSize size;
    limn_text_measure(text, font, &size);
    return size.width;
}

double
limn_anchor_shift(LimnAnchor anchor, double width)
{
    static const double fraction[] = {0, 0.5, 1};
    return fraction[anchor] * width;
}

double
limn_text_word_width(const char *text, const LimnTextStyle *font)
{
    g_auto(GStrv) words = g_strsplit_set(text ? text : "", " \n\t", -1);
    double widest = 0;
    for (guint i = 0; words[i]; i++) {
        if (words[i][0])
            widest = MAX(widest, limn_text_width(words[i], font));
    }
    return widest;
}

LimnTextStyle
limn_text_fit(const char *text, const LimnTextStyle *font, double width)
{
    LimnTextStyle fitted = *font;
    double widest = limn_text_word_width(text, font);
    if (widest > width)
        fitted.size = MAX(MIN(6, font->size), font->size * width / widest * 0.995);
    return fitted;
}

double
limn_text_line_height(const LimnTextStyle *font)
{
    return font->size * 1.28;
}

static void
line_free(gpointer data)
{
    LimnTextLine *line = data;
    g_free(line->text);
    g_free(line);
}

static void
wrap_paragraph(GPtrArray *lines, const char *paragraph, const LimnTextStyle *font,
               double width)
{
    g_autofree char *clean = limn_text_make_drawable(paragraph);
    g_autoptr(PangoLayout) layout = limn_text_create_layout(NULL, clean, font);
    pango_layout_set_width(layout, (int) ceil(MAX(width, 1) * PANGO_SCALE));
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    for (GSList *l = pango_layout_get_lines_readonly(layout); l; l = l->next) {
        PangoLayoutLine *part = l->data;
        LimnTextLine *line = g_new0(LimnTextLine, 1);
        line->text = g_strndup(clean + part->start_index, part->length);
        g_strchomp(line->text);
        line->rtl = part->resolved_dir == PANGO_DIRECTION_RTL;
        line->width = limn_text_width(line->text, font);
        g_ptr_array_add(lines, line);
    }
}

// Cuts characters off the end until the line with an ellipsis fits.
static void
add_ellipsis(LimnTextLine *line, const LimnTextStyle *font, double width)
{
    char *end = line->text + strlen(line->text);
    for (;;) {
        g_autofree char *text =
            g_strdup_printf("%.*s\u2026", (int) (end - line->text), line->text);
        double needed = limn_text_width(text, font);
        if (needed <= width || end == line->text) {
            g_free(line->text);
            line->text = g_steal_pointer(&text);
            line->width = needed;
            return;
        }
        end = g_utf8_prev_char(end);
    }
}

GPtrArray *
limn_text_wrap(const char *text, const LimnTextStyle *font, double width, int max_lines)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(line_free);
    g_auto(GStrv) paragraphs = g_strsplit(text ? text : "", "\n", -1);
    for (guint i = 0; paragraphs[i]; i++)
        wrap_paragraph(lines, paragraphs[i], font, width);
    if (max_lines > 0 && lines->len > (guint) max_lines) {
        g_ptr_array_set_size(lines, max_lines);
        add_ellipsis(lines->pdata[max_lines - 1], font, width);
    }
    return lines;
}

double
limn_text_add_paragraph(LimnDisplayList *list, const char *text,
                        const LimnTextStyle *font, double x, double y, double width,
                        LimnAnchor align, int max_lines)
{
    if (!text || text[0] == '\0')
        return 0;
    g_autoptr(GPtrArray) lines = limn_text_wrap(text, font, width, max_lines);
    double pitch = limn_text_line_height(font);
    for (guint i = 0; i < lines->len; i++) {
        const LimnTextLine *line = lines->pdata[i];
        LimnAnchor side = align;
        if (line->rtl && align != LIMN_ANCHOR_MIDDLE)
            side = align == LIMN_ANCHOR_START ? LIMN_ANCHOR_END : LIMN_ANCHOR_START;
        double at = x + limn_anchor_shift(side, width);
        limn_display_list_add_text(list, line->text, font, at,
                                   y + i * pitch + font->size * 0.97, side, 0);
    }
    return lines->len * pitch;
}

void
limn_text_flow_free(LimnTextFlow *flow)
{
    if (!flow)
        return;
    g_array_unref(flow->pieces);
    g_free(flow);
}

// The part of bytes [begin, end) that lies on a line, as one piece.
static void
add_piece(LimnTextFlow *flow, PangoLayoutLine *line, gsize begin, gsize end)
{
    gsize line_begin = line->start_index, line_end = line_begin + line->length;
    begin = MAX(begin, line_begin);
    end = MIN(end, line_end);
    if (begin >= end)
        return;
    int *ranges = NULL;
    int n_ranges = 0;
    pango_layout_line_get_x_ranges(line, (int) begin, (int) end, &ranges, &n_ranges);
    int left = G_MAXINT, right = G_MININT;
    for (int i = 0; i < n_ranges; i++) {
        left = MIN(left, MIN(ranges[2 * i], ranges[2 * i + 1]));
        right = MAX(right, MAX(ranges[2 * i], ranges[2 * i + 1]));
    }
    g_free(ranges);
    if (n_ranges == 0)
        return;
    LimnTextPiece piece = {begin, end, flow->n_lines, left / (double) PANGO_SCALE,
                           (right - left) / (double) PANGO_SCALE};
    g_array_append_val(flow->pieces, piece);
}

LimnTextFlow *
limn_text_flow_new(const char *text, const LimnTextStyle *font, double width,
                   double pitch, const gsize (*ranges)[2], gsize n_ranges)
{
    LimnTextFlow *flow = g_new0(LimnTextFlow, 1);
    flow->pieces = g_array_new(FALSE, FALSE, sizeof(LimnTextPiece));
    flow->line_pitch = pitch;
    g_autofree char *clean = limn_text_make_drawable(text);
    g_autoptr(PangoLayout) layout = limn_text_create_layout(NULL, clean, font);
    pango_layout_set_width(layout, (int) ceil(MAX(width, 1) * PANGO_SCALE));
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    gsize next = 0;
    for (GSList *l = pango_layout_get_lines_readonly(layout); l; l = l->next) {
        PangoLayoutLine *line = l->data;
        gsize line_end = line->start_index + line->length;
        while (next < n_ranges && ranges[next][1] <= (gsize) line->start_index)
            next++;
        for (gsize i = next; i < n_ranges && ranges[i][0] < line_end; i++)
            add_piece(flow, line, ranges[i][0], ranges[i][1]);
        PangoRectangle logical;
        pango_layout_line_get_extents(line, NULL, &logical);
        flow->width = MAX(flow->width, logical.width / (double) PANGO_SCALE);
        flow->n_lines++;
    }
    return flow;
}

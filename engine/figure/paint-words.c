// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/paint.h"

#include "engine/base/number.h"
#include "engine/figure/text-layout.h"

#include <math.h>
#include <string.h>

// A stretch of text that is drawn as one: a word with its weight, or what lies between.
typedef struct {
    gsize begin, end;
    double weight; // NaN: no weight (blanks, punctuation, what was not read)
} Span;

typedef struct {
    const LimnPainter *painter;
    const LimnTextItem *item;
    LimnDisplayList *list;
    LimnTextStyle font;
    double largest;
    gboolean has_negative;
    double width;
} Words;

// ---- spans

// Words where there are some, else tokens that stand for text.
static GArray *
weighted_spans(const LimnTextItem *item)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(Span));
    gsize length = strlen(item->text);
    for (guint i = 0; i < item->words->len; i++) {
        LimnTextWord *w = &g_array_index(item->words, LimnTextWord, i);
        Span span = {w->begin, MIN(w->end, length), w->weight};
        if (span.begin < span.end)
            g_array_append_val(spans, span);
    }
    for (guint i = 0; item->words->len == 0 && i < item->tokens->len; i++) {
        LimnTextToken *t = &g_array_index(item->tokens, LimnTextToken, i);
        Span span = {t->begin, MIN(t->end, length), t->weight};
        if (span.begin < span.end)
            g_array_append_val(spans, span);
    }
    return spans;
}

static gint
compare_spans(gconstpointer a, gconstpointer b)
{
    const Span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

// Adds the text between two places cut at blanks, so that each piece keeps its place.
static void
add_plain(GArray *spans, const char *text, gsize begin, gsize end)
{
    gsize at = begin;
    while (at < end) {
        while (at < end && text[at] == ' ')
            at++;
        gsize stop = at;
        while (stop < end && text[stop] != ' ')
            stop++;
        Span span = {at, stop, NAN};
        if (at < stop)
            g_array_append_val(spans, span);
        at = stop;
    }
}

// All of the text as rising spans that do not overlap.
static GArray *
all_spans(const LimnTextItem *item)
{
    g_autoptr(GArray) weighted = weighted_spans(item);
    g_array_sort(weighted, compare_spans);
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(Span));
    gsize at = 0;
    for (guint i = 0; i < weighted->len; i++) {
        Span span = g_array_index(weighted, Span, i);
        if (span.begin < at)
            continue;
        add_plain(spans, item->text, at, span.begin);
        g_array_append_val(spans, span);
        at = span.end;
    }
    add_plain(spans, item->text, at, strlen(item->text));
    return spans;
}

static void
include_range(const LimnTextItem *item, double *largest, gboolean *has_negative,
              gboolean *has_words)
{
    g_autoptr(GArray) spans = weighted_spans(item);
    for (guint i = 0; i < spans->len; i++) {
        double weight = g_array_index(spans, Span, i).weight;
        if (!isfinite(weight))
            continue;
        *has_words = TRUE;
        *largest = MAX(*largest, fabs(weight));
        *has_negative |= weight < 0;
    }
}

void
limn_words_range(const LimnArtifact *artifact, gint64 item, double *largest,
                 gboolean *has_negative, gboolean *has_words)
{
    for (guint i = 0; i < artifact->texts->len; i++) {
        if (item < 0 || item == (gint64) i)
            include_range(artifact->texts->pdata[i], largest, has_negative, has_words);
    }
}

// ---- drawing

static LimnColor
word_color(const LimnTheme *theme, double weight, double largest)
{
    if (!isfinite(weight) || !(largest > 0))
        return theme->page;
    double t = CLAMP(fabs(weight) / largest, 0, 1);
    return limn_color_mix(theme->page, weight < 0 ? theme->against : theme->word, t);
}

static LimnTextFlow *
flow_spans(Words *words, GArray *spans)
{
    g_autofree gsize(*ranges)[2] = g_malloc_n(spans->len + 1, sizeof *ranges);
    for (guint i = 0; i < spans->len; i++) {
        ranges[i][0] = g_array_index(spans, Span, i).begin;
        ranges[i][1] = g_array_index(spans, Span, i).end;
    }
    double inset = words->font.size * 0.13;
    return limn_text_flow_new(words->item->text, &words->font, words->width - 2 * inset,
                              words->font.size * 1.75,
                              (const gsize(*)[2])(gpointer) ranges, spans->len);
}

static const Span *
span_of_piece(GArray *spans, const LimnTextPiece *piece)
{
    guint low = 0, high = spans->len;
    while (low + 1 < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(spans, Span, middle).begin <= piece->begin)
            low = middle;
        else
            high = middle;
    }
    return &g_array_index(spans, Span, low);
}

static void
draw_piece(Words *words, const LimnTextPiece *piece, const Span *span, double top,
           double pitch)
{
    LimnDisplayList *list = words->list;
    const LimnTheme *theme = words->painter->theme;
    double size = words->font.size, inset = size * 0.13;
    double baseline = top + piece->line * pitch + size * 1.15;
    gboolean unread = piece->begin >= words->item->used_bytes;
    LimnColor background = word_color(theme, unread ? NAN : span->weight, words->largest);
    if (!unread && isfinite(span->weight)) {
        LimnBox box = {piece->x, baseline - size * 1.06, piece->width + 2 * inset,
                       size * 1.48};
        LimnPath *path = limn_path_new();
        limn_path_rounded(path, &box, size * 0.22);
        LimnPathStyle style = {.has_fill = TRUE,
                               .fill = background,
                               .has_stroke = TRUE,
                               .stroke = theme->grid,
                               .width = 0.4};
        limn_display_list_add_path(list, path, &style);
    }
    LimnTextStyle font = words->font;
    font.color = unread ? theme->muted : limn_color_readable_on(background);
    g_autofree char *text =
        g_strndup(words->item->text + piece->begin, piece->end - piece->begin);
    limn_display_list_add_text(list, text, &font, piece->x + inset, baseline,
                               LIMN_ANCHOR_START, 0);
    if (unread)
        limn_display_list_add_line(list, piece->x + inset, baseline - size * 0.28,
                                   piece->x + inset + piece->width,
                                   baseline - size * 0.28, theme->muted, 0.6);
}

static void
add_note(Words *words, const char *text)
{
    LimnTextStyle font = limn_painter_font(words->painter, LIMN_FONT_MUTED);
    words->list->height +=
        limn_text_add_paragraph(words->list, text, &font, 0, words->list->height,
                                words->width, LIMN_ANCHOR_START, 0);
}

// The name of a text, where it has one beside itself (the picture that it belongs to).
static void
add_name(Words *words, const char *label)
{
    if (label && strcmp(label, words->item->text) != 0)
        add_note(words, label);
}

static void
add_notes(Words *words)
{
    const LimnTextItem *item = words->item;
    if (isfinite(item->score) && item->score != 0) {
        char buffer[LIMN_NUMBER_BUFFER];
        limn_number_format_fixed(buffer, item->score, 3);
        g_autofree char *text = buffer[0] == '-'
                                    ? g_strconcat("cosine \u2212", buffer + 1, NULL)
                                    : g_strconcat("cosine ", buffer, NULL);
        add_note(words, text);
    }
    if (item->truncated || item->used_bytes < strlen(item->text))
        add_note(words, "struck through: beyond the context length, not read");
    if (item->text[0] == '\0')
        add_note(words, "empty text");
}

// One text below what is there.
static void
add_item(Words *words)
{
    g_autoptr(GArray) spans = all_spans(words->item);
    g_autoptr(LimnTextFlow) flow = flow_spans(words, spans);
    double top = words->list->height;
    limn_display_list_begin_group(words->list, "words");
    for (guint i = 0; i < flow->pieces->len; i++) {
        const LimnTextPiece *piece = &g_array_index(flow->pieces, LimnTextPiece, i);
        draw_piece(words, piece, span_of_piece(spans, piece), top, flow->line_pitch);
    }
    limn_display_list_end_group(words->list);
    words->list->height = top + (spans->len ? flow->n_lines * flow->line_pitch : 0);
    words->list->height += words->font.size * 0.2;
    add_notes(words);
}

// ---- legend

// White to full colour in 256 steps, from -largest (or 0) to largest.
static GBytes *
ramp_pixels(const LimnTheme *theme, gboolean has_negative)
{
    guint8 *rgb = g_malloc(256 * 3);
    for (int i = 0; i < 256; i++) {
        double weight = has_negative ? 2 * i / 255.0 - 1 : i / 255.0;
        LimnColor color = word_color(theme, weight, 1);
        rgb[3 * i] = (guint8) floor(color.red * 255 + 0.5);
        rgb[3 * i + 1] = (guint8) floor(color.green * 255 + 0.5);
        rgb[3 * i + 2] = (guint8) floor(color.blue * 255 + 0.5);
    }
    return g_bytes_new_take(rgb, 256 * 3);
}

static void
add_ramp(const LimnPainter *painter, LimnDisplayList *list, double largest,
         gboolean has_negative, double width)
{
    LimnTextStyle font = limn_painter_font(painter, LIMN_FONT_SMALL);
    LimnBox box = {0, 0, MIN(width, font.size * 14), font.size * 0.95};
    g_autoptr(GBytes) rgb = ramp_pixels(painter->theme, has_negative);
    limn_display_list_add_image(list, rgb, 256, 1, &box, TRUE, 1);
    limn_display_list_stroke_box(list, &box, painter->theme->rule, 0.4);
    g_autofree char *high = limn_number_display(largest, 3);
    g_autofree char *low = limn_number_display(-largest, 3);
    double y = box.height + font.size * 1.12;
    limn_display_list_add_text(list, has_negative ? low : "0", &font, 0, y,
                               LIMN_ANCHOR_START, 0);
    limn_display_list_add_text(list, high, &font, box.width, y, LIMN_ANCHOR_END, 0);
    if (has_negative)
        limn_display_list_add_text(list, "0", &font, box.width / 2, y, LIMN_ANCHOR_MIDDLE,
                                   0);
    list->height = y + font.size * 0.45;
}

LimnDisplayList *
limn_paint_words_legend(const LimnPainter *painter, LimnArtifact *const *artifacts,
                        guint n, double width)
{
    double largest = 0;
    gboolean has_negative = FALSE, has_words = FALSE;
    for (guint i = 0; i < n; i++) {
        if (artifacts[i] && artifacts[i]->kind == LIMN_ARTIFACT_TEXT)
            limn_words_range(artifacts[i], painter->options->item, &largest,
                             &has_negative, &has_words);
    }
    if (!has_words)
        return NULL;
    LimnDisplayList *list = limn_display_list_new();
    LimnTextStyle font = limn_painter_font(painter, LIMN_FONT_MUTED);
    limn_display_list_begin_group(list, "legend");
    if (largest > 0)
        add_ramp(painter, list, largest, has_negative, width);
    const char *text = "weight of the word (0: none)";
    if (largest == 0)
        text = "all words have weight 0";
    else if (has_negative)
        text = "weight of the word (below 0: lowers the score)";
    list->height += limn_text_add_paragraph(list, text, &font, 0, list->height, width,
                                            LIMN_ANCHOR_START, 0);
    limn_display_list_end_group(list);
    list->width = width;
    return list;
}

LimnDisplayList *
limn_paint_words(const LimnPainter *painter, const LimnPanel *panel, double width)
{
    Words words = {.painter = painter, .list = limn_display_list_new(), .width = width};
    words.font = limn_painter_font(painter, LIMN_FONT_BODY);
    gboolean has_words = FALSE;
    if (panel->scale)
        words.largest = panel->scale->max;
    else
        limn_words_range(panel->artifact, panel->item, &words.largest,
                         &words.has_negative, &has_words);
    GPtrArray *texts = panel->artifact->texts;
    for (guint i = 0; i < texts->len; i++) {
        if (panel->item >= 0 && panel->item != (gint64) i)
            continue;
        if (words.list->height > 0)
            words.list->height += limn_painter_gap(painter);
        words.item = texts->pdata[i];
        add_name(&words, limn_panel_label(panel->artifact, i));
        add_item(&words);
    }
    if (panel->with_legend) {
        g_autoptr(LimnDisplayList) legend =
            limn_paint_words_legend(painter, &panel->artifact, 1, width);
        if (legend) {
            double y = words.list->height + limn_painter_gap(painter);
            limn_display_list_append(words.list, legend, 0, y);
            words.list->height = y + legend->height;
        }
    }
    words.list->width = width;
    return words.list;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Measuring and breaking text. All sizes are points; hinting and rounding of glyph
// positions are off, so that a line is equally long on every back end and at every zoom.
// Nothing depends on the locale or on the desktop's font settings.

#include "engine/figure/display-list.h"

#include <pango/pangocairo.h>

typedef struct {
    double width;           // advance
    double ascent, descent; // above and below the baseline, positive
    double ink_left, ink_right;
} LimnTextSize;

// Valid UTF-8 on one line: control characters become blanks, invalid bytes U+FFFD.
// Returns: (transfer full)
char *limn_text_make_drawable(const char *text);
void limn_text_measure(const char *text, const LimnTextStyle *font, LimnTextSize *size);
double limn_text_width(const char *text, const LimnTextStyle *font);
// How far left of the anchor point a line begins.
double limn_anchor_shift(LimnAnchor anchor, double width);

typedef struct {
    char *text;
    double width;
    gboolean rtl;
} LimnTextLine;

// Lines no wider than `width` (a word that is longer breaks between characters); LF
// begins a paragraph. With max_lines > 0 the last line ends in an ellipsis when text is
// left over. Returns: (transfer full) (element-type LimnTextLine)
GPtrArray *limn_text_wrap(const char *text, const LimnTextStyle *font, double width,
                          int max_lines);

// Adds wrapped text below y and returns its height. Lines are aligned in [x, x + width];
// START is the right side for right-to-left lines.
double limn_text_add_paragraph(LimnDisplayList *list, const char *text,
                               const LimnTextStyle *font, double x, double y,
                               double width, LimnAnchor align, int max_lines);
// The font, smaller when that keeps the longest word within `width` (not below 6 points).
LimnTextStyle limn_text_fit(const char *text, const LimnTextStyle *font, double width);
// Width of the longest word.
double limn_text_word_width(const char *text, const LimnTextStyle *font);
double limn_text_line_height(const LimnTextStyle *font);

// A Pango layout set up for `font` on a context of `cr` (NULL: for measuring).
PangoLayout *limn_text_create_layout(cairo_t *cr, const char *text,
                                     const LimnTextStyle *font);

// Where the pieces of a wrapped text lie: each range of bytes in visual position.
typedef struct {
    gsize begin, end; // bytes of the text as given
    int line;
    double x, width; // of the piece
} LimnTextPiece;

typedef struct {
    int n_lines;
    double width;      // of the widest line
    GArray *pieces;    // LimnTextPiece, in logical order
    double line_pitch; // from baseline to baseline
} LimnTextFlow;

// Breaks text at `width` and locates the ranges (begin, end pairs that do not overlap,
// rising), a range that crosses lines or directions giving several pieces.
LimnTextFlow *limn_text_flow_new(const char *text, const LimnTextStyle *font,
                                 double width, double pitch, const gsize (*ranges)[2],
                                 gsize n_ranges);
void limn_text_flow_free(LimnTextFlow *flow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnTextFlow, limn_text_flow_free)

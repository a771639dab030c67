// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the tests of figures share: small artifacts, a look into SVG files, and rendering
// by other programs where they are installed.

#include <gio/gio.h>

#include "engine/figure/figure.h"

// ---- artifacts
// [height, width] map; values are copied.
LimnArtifact *testing_map(int height, int width, const float *values);
// [n, height, width]; map k holds k + a ramp.
LimnArtifact *testing_maps(int n, int height, int width);
LimnImage *testing_picture(int width, int height);
// A mask with a disc of value 1 and a square of value 2.
LimnImage *testing_mask(int width, int height);
void testing_add_word(LimnTextItem *item, const char *word, double weight);
// Curves over x = 0 .. n - 1.
LimnArtifact *testing_series(int n, int n_curves);

// ---- figures
LimnFigure *testing_figure(LimnArtifact *artifact, const LimnFigureOptions *options);
// Encoded without error, as text when it is SVG.
GBytes *testing_encode(LimnFigure *figure, LimnFigureFormat format);
char *testing_svg(LimnFigure *figure);

// ---- SVG
typedef struct {
    char *text, *family, *anchor, *fill;
    double x, y, size, angle;
    gboolean bold;
} TestingText;
typedef struct {
    double x, y, width, height, opacity;
    gboolean crisp;
    cairo_surface_t *surface; // RGB24 or ARGB32
} TestingImage;
typedef struct {
    double width, height; // of the view box, points
    double width_mm, height_mm;
    GPtrArray *texts;  // TestingText
    GPtrArray *images; // TestingImage
    GPtrArray *ids;    // char *
    int n_paths, n_clips;
} TestingSvg;
TestingSvg *testing_svg_parse(const char *svg);
void testing_svg_free(TestingSvg *svg);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestingSvg, testing_svg_free)
// A text that is or contains `part`; NULL when there is none.
const TestingText *testing_svg_find(const TestingSvg *svg, const char *part);
// Fails unless every text lies on the page and is at least 6 points.
void testing_svg_check_page(const TestingSvg *svg);

// ---- pixels
guint32 testing_pixel(cairo_surface_t *surface, int x, int y); // 0xRRGGBB
int testing_difference(guint32 a, guint32 b);                  // largest of the channels
cairo_surface_t *testing_decode_png(GBytes *png);
// By pdftoppm and rsvg-convert; NULL when the program is not installed.
cairo_surface_t *testing_render_pdf(GBytes *pdf, int dpi);
cairo_surface_t *testing_render_svg(GBytes *svg, int dpi);
// Standard output of a program that gets the bytes as a file (NAME is replaced by its
// path in the arguments); NULL when it is not installed.
char *testing_run(GBytes *bytes, const char *suffix, const char *const *arguments);

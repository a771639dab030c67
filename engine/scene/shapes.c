// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/scene/shapes.h"

#include <cairo.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    double rgb[3];
} colours[] = {
    {"red", {0.84, 0.15, 0.16}},    {"green", {0.17, 0.63, 0.17}},
    {"blue", {0.12, 0.35, 0.75}},   {"yellow", {0.95, 0.80, 0.15}},
    {"purple", {0.55, 0.25, 0.68}}, {"white", {0.97, 0.97, 0.97}},
};

static const char *const shapes[] = {"circle", "square", "triangle", "cross",
                                     "ring",   "star",   "diamond",  "heart"};

guint
limn_shapes_get_n(void)
{
    return G_N_ELEMENTS(colours) * G_N_ELEMENTS(shapes);
}

char *
limn_shapes_dup_name(guint shape)
{
    return g_strdup_printf("%s %s", colours[shape / G_N_ELEMENTS(shapes)].name,
                           shapes[shape % G_N_ELEMENTS(shapes)]);
}

// A closed polygon with corners at these fractions of the square.
static void
polygon(cairo_t *cr, const double *xy, int corners)
{
    for (int i = 0; i < corners; i++)
        cairo_line_to(cr, xy[2 * i], xy[2 * i + 1]);
    cairo_close_path(cr);
}

static void
star(cairo_t *cr)
{
    for (int i = 0; i < 10; i++) {
        double angle = -G_PI_2 + i * G_PI / 5, radius = i % 2 ? 0.2 : 0.48;
        cairo_line_to(cr, 0.5 + radius * cos(angle), 0.52 + radius * sin(angle));
    }
    cairo_close_path(cr);
}

static void
heart(cairo_t *cr)
{
    cairo_move_to(cr, 0.5, 0.93);
    cairo_curve_to(cr, -0.25, 0.45, 0.15, -0.12, 0.5, 0.28);
    cairo_curve_to(cr, 0.85, -0.12, 1.25, 0.45, 0.5, 0.93);
}

static void
trace_shape(cairo_t *cr, const char *name)
{
    static const double triangle[] = {0.5, 0.06, 0.96, 0.9, 0.04, 0.9};
    static const double diamond[] = {0.5, 0.03, 0.9, 0.5, 0.5, 0.97, 0.1, 0.5};
    static const double cross[] = {0.35, 0.05, 0.65, 0.05, 0.65, 0.35, 0.95, 0.35,
                                   0.95, 0.65, 0.65, 0.65, 0.65, 0.95, 0.35, 0.95,
                                   0.35, 0.65, 0.05, 0.65, 0.05, 0.35, 0.35, 0.35};
    if (strcmp(name, "circle") == 0)
        cairo_arc(cr, 0.5, 0.5, 0.46, 0, 2 * G_PI);
    else if (strcmp(name, "square") == 0)
        cairo_rectangle(cr, 0.08, 0.08, 0.84, 0.84);
    else if (strcmp(name, "triangle") == 0)
        polygon(cr, triangle, 3);
    else if (strcmp(name, "diamond") == 0)
        polygon(cr, diamond, 4);
    else if (strcmp(name, "cross") == 0)
        polygon(cr, cross, 12);
    else if (strcmp(name, "star") == 0)
        star(cr);
    else if (strcmp(name, "heart") == 0)
        heart(cr);
    else { // ring
        cairo_arc(cr, 0.5, 0.5, 0.46, 0, 2 * G_PI);
        cairo_new_sub_path(cr);
        cairo_arc_negative(cr, 0.5, 0.5, 0.26, 2 * G_PI, 0);
    }
}

guint32 *
limn_shapes_draw(guint shape, int size)
{
    const double *rgb = colours[shape / G_N_ELEMENTS(shapes)].rgb;
    guint32 *pixels = g_new0(guint32, (gsize) size * (gsize) size);
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        (guchar *) pixels, CAIRO_FORMAT_ARGB32, size, size, 4 * size);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, size, size);
    trace_shape(cr, shapes[shape % G_N_ELEMENTS(shapes)]);
    cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
    cairo_fill_preserve(cr);
    cairo_set_source_rgba(cr, 0, 0, 0, 0.55);
    cairo_set_line_width(cr, 0.03);
    cairo_stroke(cr);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return pixels;
}

// SPDX-License-Identifier: GPL-3.0-or-later

// What lies over the canvas: title, colour bar, crop rectangle, box, divider, probe,
// focus. Texts stand on plates, so that they can be read on any picture.

#include "limn-config.h"

#include "engine/base/number.h"
#include "engine/figure/legend.h"
#include "ui/view/heatmap-view-private.h"
#include "ui/view/view-theme.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define PLATE_PAD_X 8
#define PLATE_PAD_Y 4
#define PLATE_RADIUS 5
#define TEXT_SIZE 12
#define TITLE_HEIGHT 22
#define BAR_TEXT_SIZE 11
#define BAR_THICKNESS 14
#define MIN_BAR 48          // shorter bars cannot be read
#define WIDE 520            // narrower panes have smaller margins
#define MIN_ROOMY_WIDTH 260 // and these give nothing away to overlays
#define MIN_ROOMY_HEIGHT 150
#define HANDLE 4 // half the side of a handle

typedef struct {
    LimnHeatmapView *view;
    cairo_t *cr;
    int width, height;
    LimnViewTransform transform;
    gboolean dark, interactive;
    int margin;
    double bar_left; // where the colour bar's plate begins, or width
} Overlay;

static int
find_margin(int width)
{
    return width >= WIDE ? 12 : 6;
}

// ---- colours and plates

static void
set_ink(const Overlay *overlay, double alpha)
{
    double level = overlay->dark ? 0.93 : 0.11;

    cairo_set_source_rgba(overlay->cr, level, level, level + 0.01, alpha);
}

static void
rounded(cairo_t *cr, double x, double y, double width, double height, double radius)
{
    cairo_new_sub_path(cr);
    cairo_arc(cr, x + width - radius, y + radius, radius, -G_PI / 2, 0);
    cairo_arc(cr, x + width - radius, y + height - radius, radius, 0, G_PI / 2);
    cairo_arc(cr, x + radius, y + height - radius, radius, G_PI / 2, G_PI);
    cairo_arc(cr, x + radius, y + radius, radius, G_PI, 3 * G_PI / 2);
    cairo_close_path(cr);
}

static void
draw_plate(const Overlay *overlay, double x, double y, double width, double height)
{
    cairo_t *cr = overlay->cr;

    rounded(cr, x + 0.5, y + 0.5, width - 1, height - 1, PLATE_RADIUS);
    if (overlay->dark)
        cairo_set_source_rgba(cr, 0.15, 0.155, 0.165, 0.92);
    else
        cairo_set_source_rgba(cr, 1, 1, 1, 0.93);
    cairo_fill_preserve(cr);
    cairo_set_line_width(cr, 1);
    set_ink(overlay, 0.14);
    cairo_stroke(cr);
}

static PangoLayout *
new_layout(const Overlay *overlay, const char *text, gboolean bold)
{
    PangoLayout *layout = gtk_widget_create_pango_layout(GTK_WIDGET(overlay->view), text);
    PangoFontDescription *font = pango_font_description_copy(
        pango_context_get_font_description(pango_layout_get_context(layout)));

    pango_font_description_set_absolute_size(font, TEXT_SIZE * PANGO_SCALE);
    pango_font_description_set_weight(font,
                                      bold ? PANGO_WEIGHT_SEMIBOLD : PANGO_WEIGHT_NORMAL);
    pango_layout_set_font_description(layout, font);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    pango_font_description_free(font);
    return layout;
}

// A text on a plate of at most that width; (x, y) is its top left, or top right when
// `from_right`. Returns its width.
static double
draw_note(const Overlay *overlay, const char *text, gboolean bold, double x, double y,
          double max_width, gboolean from_right)
{
    g_autoptr(PangoLayout) layout = NULL;
    int width, height;

    if (max_width < 4 * PLATE_PAD_X)
        return 0;
    layout = new_layout(overlay, text, bold);
    pango_layout_get_pixel_size(layout, &width, &height);
    if (width > max_width - 2 * PLATE_PAD_X) {
        pango_layout_set_width(layout, (max_width - 2 * PLATE_PAD_X) * PANGO_SCALE);
        pango_layout_get_pixel_size(layout, &width, &height);
    }
    if (from_right)
        x -= width + 2 * PLATE_PAD_X;
    draw_plate(overlay, x, y, width + 2 * PLATE_PAD_X, height + 2 * PLATE_PAD_Y);
    cairo_move_to(overlay->cr, x + PLATE_PAD_X, y + PLATE_PAD_Y);
    set_ink(overlay, 1);
    pango_cairo_show_layout(overlay->cr, layout);
    return width + 2 * PLATE_PAD_X;
}

static double
note_height(const Overlay *overlay)
{
    g_autoptr(PangoLayout) layout = new_layout(overlay, "0", FALSE);
    int height;

    pango_layout_get_pixel_size(layout, NULL, &height);
    return height + 2 * PLATE_PAD_Y;
}

// ---- colour bar

static void
init_bar(LimnHeatmapView *view, LimnColorbarStyle *style, char **family)
{
    limn_colorbar_style_init(style);
    limn_colorbar_style_set_scale(style, &view->scale);
    *family = limn_view_font_family(GTK_WIDGET(view));
    style->colormap = limn_heatmap_view_effective_colormap(view);
    style->vertical = TRUE;
    style->font = *family;
    style->font_size = BAR_TEXT_SIZE;
    style->thickness = BAR_THICKNESS;
    style->dark = limn_heatmap_view_is_dark(view);
}

static gboolean
has_bar(LimnHeatmapView *view)
{
    return view->show_colorbar && view->has_scale;
}

// The longest bar up to a pleasant length whose plate fits into the pane; 0: none does.
static double
fit_bar(const LimnColorbarStyle *style, int width, int height, double *bar_width,
        double *bar_height)
{
    double room = height - 2 * find_margin(width) - 2 * PLATE_PAD_X;

    for (double length = CLAMP(height * 0.5, MIN_BAR, 240); length >= MIN_BAR;
         length -= 8) {
        limn_colorbar_get_size(style, length, bar_width, bar_height);
        if (*bar_height <= room &&
            *bar_width <= width - 2 * find_margin(width) - 2 * PLATE_PAD_X)
            return length;
    }
    return 0;
}

static void
draw_bar(Overlay *overlay)
{
    LimnHeatmapView *view = overlay->view;
    g_autofree char *family = NULL;
    LimnColorbarStyle style;
    double width, height, length, x, y;

    overlay->bar_left = overlay->width;
    if (!has_bar(view))
        return;
    init_bar(view, &style, &family);
    length = fit_bar(&style, overlay->width, overlay->height, &width, &height);
    if (length == 0)
        return;
    x = overlay->width - overlay->margin - PLATE_PAD_X - ceil(width);
    y = floor((overlay->height - height) / 2);
    draw_plate(overlay, x - PLATE_PAD_X, y - PLATE_PAD_X, ceil(width) + 2 * PLATE_PAD_X,
               ceil(height) + 2 * PLATE_PAD_X);
    limn_colorbar_draw(overlay->cr, &style, x, y, length);
    overlay->bar_left = x - PLATE_PAD_X;
}

// Room at the right for the colour bar; what is fitted stays in the middle as far as it
// can.
static void
make_room(LimnHeatmapView *view, int width, int height, int room, LimnInsets *insets)
{
    double inner_width = width - insets->left - room;
    double inner_height = height - insets->top - insets->bottom;
    double fitted = view->scene.width * MIN(inner_width / view->scene.width,
                                            inner_height / view->scene.height);

    insets->right = room;
    insets->left = MAX(insets->left, MIN(room, (int) (width - room - fitted)));
}

void
limn_heatmap_view_get_insets(LimnHeatmapView *view, int width, int height,
                             LimnInsets *insets)
{
    gboolean roomy = width >= MIN_ROOMY_WIDTH && height >= MIN_ROOMY_HEIGHT;
    int margin = roomy ? find_margin(width) : 0;

    *insets = (LimnInsets){margin, margin, margin, margin};
    if (!roomy)
        return;
    if (view->titles[0] != NULL || view->titles[1] != NULL)
        insets->top = 2 * margin + TITLE_HEIGHT;
    if (has_bar(view)) {
        g_autofree char *family = NULL;
        LimnColorbarStyle style;
        double bar_width, bar_height;

        init_bar(view, &style, &family);
        if (fit_bar(&style, width, height, &bar_width, &bar_height) > 0)
            make_room(
                view, width, height,
                MIN((int) ceil(bar_width) + 2 * PLATE_PAD_X + 2 * margin, 2 * width / 5),
                insets);
    }
}

// ---- rectangles of the scene

static void
scene_rectangle(const Overlay *overlay, const LimnRect *rect)
{
    const LimnViewTransform *t = &overlay->transform;
    double left = floor(rect->x * t->zoom + t->x0) + 0.5;
    double top = floor(rect->y * t->zoom + t->y0) + 0.5;
    double right = floor((rect->x + rect->width) * t->zoom + t->x0) + 0.5;
    double bottom = floor((rect->y + rect->height) * t->zoom + t->y0) + 0.5;

    cairo_rectangle(overlay->cr, left, top, right - left, bottom - top);
}

// White on a dark edge: visible on everything.
static void
stroke_twice(const Overlay *overlay, gboolean dashed)
{
    static const double dashes[] = {5, 4};
    cairo_t *cr = overlay->cr;

    cairo_set_line_width(cr, 3);
    cairo_set_source_rgba(cr, 0, 0, 0, dashed ? 0.35 : 0.55);
    cairo_stroke_preserve(cr);
    if (dashed)
        cairo_set_dash(cr, dashes, G_N_ELEMENTS(dashes), 0);
    cairo_set_line_width(cr, 1.5);
    cairo_set_source_rgba(cr, 1, 1, 1, 0.95);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

static void
draw_crop(const Overlay *overlay)
{
    LimnHeatmapView *view = overlay->view;
    const LimnRect *rect = &view->scene.rects[limn_heatmap_view_shown_map(view)];

    if (!view->scene.style.dim_outside)
        return;
    scene_rectangle(overlay, rect);
    stroke_twice(overlay, TRUE);
}

static void
draw_handles(const Overlay *overlay, const LimnRect *box)
{
    const LimnViewTransform *t = &overlay->transform;
    cairo_t *cr = overlay->cr;

    for (int j = 0; j <= 2; j++) {
        for (int i = 0; i <= 2; i++) {
            double x = floor((box->x + box->width * i / 2) * t->zoom + t->x0) + 0.5;
            double y = floor((box->y + box->height * j / 2) * t->zoom + t->y0) + 0.5;

            if (i == 1 && j == 1)
                continue;
            cairo_rectangle(cr, x - HANDLE, y - HANDLE, 2 * HANDLE, 2 * HANDLE);
        }
    }
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_fill_preserve(cr);
    cairo_set_line_width(cr, 1);
    cairo_set_source_rgba(cr, 0, 0, 0, 0.75);
    cairo_stroke(cr);
}

// "42 % of the energy · IoU 0.31". Returns: (transfer full), NULL when nothing was
// measured
static char *
describe_measurement(LimnHeatmapView *view)
{
    char energy[LIMN_NUMBER_BUFFER], iou[LIMN_NUMBER_BUFFER];

    if (!view->measurement.valid)
        return NULL;
    limn_number_format_fixed(energy, 100 * view->measurement.energy, 0);
    limn_number_format_fixed(iou, view->measurement.iou, 2);
    return g_strdup_printf(_("%s %% of the energy · IoU %s"), energy, iou);
}

static void
draw_box(const Overlay *overlay)
{
    LimnHeatmapView *view = overlay->view;
    const LimnViewTransform *t = &overlay->transform;
    g_autofree char *text = describe_measurement(view);
    double x, y;

    if (!view->has_box)
        return;
    scene_rectangle(overlay, &view->box);
    stroke_twice(overlay, FALSE);
    if (overlay->interactive && view->tool == LIMN_TOOL_BOX)
        draw_handles(overlay, &view->box);
    if (text == NULL)
        return;
    x = CLAMP(view->box.x * t->zoom + t->x0, 4, MAX(overlay->width - 200, 4));
    y = view->box.y * t->zoom + t->y0 - note_height(overlay) - 6;
    if (y < 4)
        y = view->box.y * t->zoom + t->y0 + 8;
    y = CLAMP(y, 4, MAX(overlay->height - note_height(overlay) - 4, 4));
    draw_note(overlay, text, FALSE, floor(x), floor(y), overlay->bar_left - x - 4, FALSE);
}

// ---- divider and titles

static void
draw_divider(const Overlay *overlay)
{
    LimnHeatmapView *view = overlay->view;
    cairo_t *cr = overlay->cr;
    double x, y = floor(overlay->height / 2.0);

    if (!(view->scene.divider >= 0) || view->maps[1] == NULL)
        return;
    x = floor(view->scene.divider * overlay->width + 0.5);
    cairo_rectangle(cr, x - 1.5, 0, 3, overlay->height);
    cairo_set_source_rgba(cr, 0, 0, 0, 0.45);
    cairo_fill(cr);
    cairo_rectangle(cr, x - 0.5, 0, 1, overlay->height);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_fill(cr);
    rounded(cr, x - 11, y - 14, 22, 28, 11);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_fill_preserve(cr);
    cairo_set_source_rgba(cr, 0, 0, 0, 0.55);
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
    for (int side = -1; side <= 1; side += 2) {
        cairo_move_to(cr, x + side * 3, y - 4);
        cairo_line_to(cr, x + side * 7, y);
        cairo_line_to(cr, x + side * 3, y + 4);
    }
    cairo_set_line_width(cr, 1.6);
    cairo_set_source_rgba(cr, 0.1, 0.1, 0.1, 1);
    cairo_stroke(cr);
}

static void
draw_titles(const Overlay *overlay)
{
    LimnHeatmapView *view = overlay->view;
    gboolean divided = view->scene.divider >= 0 && view->maps[1] != NULL;
    double room = overlay->width - 2 * overlay->margin;
    const char *first = view->titles[limn_heatmap_view_shown_map(view)];

    if (!divided && first != NULL)
        draw_note(overlay, first, TRUE, overlay->margin, overlay->margin, room, FALSE);
    if (!divided)
        return;
    if (view->titles[0] != NULL)
        draw_note(overlay, view->titles[0], TRUE, overlay->margin, overlay->margin,
                  room / 2 - 6, FALSE);
    if (view->titles[1] != NULL)
        draw_note(overlay, view->titles[1], TRUE, overlay->width - overlay->margin,
                  overlay->margin, room / 2 - 6, TRUE);
}

// ---- probe

static void
append_samples(LimnHeatmapView *view, GString *text, int x, int y)
{
    const LimnImage *picture = view->picture;
    int channels = limn_pixels_channels(picture->pixels);

    switch (picture->pixels) {
    case LIMN_PIXELS_INDEXED:
        g_string_append(text, _("index"));
        break;
    case LIMN_PIXELS_GREY:
    case LIMN_PIXELS_GREY_ALPHA:
        g_string_append(text, channels == 2 ? _("grey, alpha") : _("grey"));
        break;
    case LIMN_PIXELS_RGB:
    case LIMN_PIXELS_RGBA:
        g_string_append(text, channels == 4 ? "RGBA" : "RGB");
        break;
    }
    for (int c = 0; c < channels; c++) {
        double sample = limn_image_get_sample(picture, x, y, c);

        if (picture->depth == LIMN_DEPTH_F32) {
            g_autofree char *number = limn_number_display(sample, 4);

            g_string_append_printf(text, " %s", number);
        } else {
            g_string_append_printf(text, " %.0f", sample);
        }
    }
}

// What the mask says there.
static void
append_label(LimnHeatmapView *view, GString *text, int x, int y)
{
    double label = limn_image_get_sample(view->mask, x, y, 0);

    if (view->effective_ignore >= 0 && label == view->effective_ignore)
        g_string_append(text, _("  ·  ignore"));
    else
        g_string_append_printf(text, _("  ·  label %.0f"), label);
}

static gboolean
in_picture(LimnHeatmapView *view, const LimnHeatmapPick *probe)
{
    return view->picture != NULL && probe->x >= 0 && probe->y >= 0 &&
           probe->x < view->picture->width && probe->y < view->picture->height;
}

// Place and value; with `samples` also what picture and mask hold there.
static char *
describe_probe(LimnHeatmapView *view, gboolean samples)
{
    const LimnHeatmapPick *probe = &view->probe;
    GString *text;

    if (!view->has_probe || !probe->inside)
        return NULL;
    text = g_string_new(NULL);
    if (view->picture != NULL)
        g_string_append_printf(text, "%d, %d", (int) probe->x, (int) probe->y);
    if (probe->row >= 0) {
        g_autofree char *number = limn_number_display(probe->value, 4);
        g_autofree char *value = isnan(probe->value)
                                     ? g_strdup(_("no value"))
                                     : g_strdup_printf(_("value %s"), number);

        g_string_append_printf(text, _("%srow %d, column %d  ·  %s"),
                               text->len > 0 ? "  ·  " : "", probe->row, probe->col,
                               value);
    }
    if (samples && in_picture(view, probe)) {
        g_string_append(text, "  ·  ");
        append_samples(view, text, (int) probe->x, (int) probe->y);
    }
    if (samples && view->mask != NULL && probe->x < view->mask->width &&
        probe->y < view->mask->height)
        append_label(view, text, (int) probe->x, (int) probe->y);
    return g_string_free(text, FALSE);
}

char *
limn_heatmap_view_describe_probe(LimnHeatmapView *view)
{
    return describe_probe(view, TRUE);
}

// Marks the place of a probe that was moved by keys.
static void
draw_cursor(const Overlay *overlay)
{
    LimnHeatmapView *view = overlay->view;
    const LimnViewTransform *t = &overlay->transform;
    cairo_t *cr = overlay->cr;
    double x = floor(view->cursor_x * t->zoom + t->x0) + 0.5;
    double y = floor(view->cursor_y * t->zoom + t->y0) + 0.5;

    if (!view->has_cursor)
        return;
    for (int side = -1; side <= 1; side += 2) {
        cairo_move_to(cr, x + side * 4, y);
        cairo_line_to(cr, x + side * 13, y);
        cairo_move_to(cr, x, y + side * 4);
        cairo_line_to(cr, x, y + side * 13);
    }
    stroke_twice(overlay, FALSE);
}

static gboolean
fits(const Overlay *overlay, const char *text, double max_width)
{
    g_autoptr(PangoLayout) layout = new_layout(overlay, text, FALSE);
    int width;

    pango_layout_get_pixel_size(layout, &width, NULL);
    return width + 2 * PLATE_PAD_X <= max_width;
}

static void
draw_probe(const Overlay *overlay)
{
    double room = overlay->width - 2 * overlay->margin;
    double y = overlay->height - overlay->margin - note_height(overlay);
    g_autofree char *full = describe_probe(overlay->view, TRUE);
    g_autofree char *brief = NULL;

    draw_cursor(overlay);
    if (full == NULL)
        return;
    if (!fits(overlay, full, room))
        brief = describe_probe(overlay->view, FALSE);
    draw_note(overlay, brief != NULL && *brief != '\0' ? brief : full, FALSE,
              overlay->margin, y, room, FALSE);
}

// ---- notes

static void
draw_notes(const Overlay *overlay)
{
    LimnHeatmapView *view = overlay->view;
    double height = note_height(overlay);
    double right = overlay->width - overlay->margin;
    double y = overlay->height - overlay->margin - height;
    g_autofree char *measurement = describe_measurement(view);

    // a box carries its numbers itself
    if (!view->has_box && measurement != NULL) {
        draw_note(overlay, measurement, FALSE, right, y, right - overlay->margin, TRUE);
        y -= height + 6;
    }
    if (view->gl_message != NULL && overlay->interactive)
        draw_note(overlay, _("Drawn without OpenGL"), FALSE, right, y,
                  right - overlay->margin, TRUE);
}

static void
draw_empty(const Overlay *overlay)
{
    g_autoptr(PangoLayout) layout = NULL;
    int width, height;

    if (overlay->view->picture != NULL || overlay->view->maps[0] != NULL)
        return;
    layout = new_layout(overlay, _("No picture"), FALSE);
    pango_layout_get_pixel_size(layout, &width, &height);
    cairo_move_to(overlay->cr, floor((overlay->width - width) / 2.0),
                  floor((overlay->height - height) / 2.0));
    set_ink(overlay, 0.55);
    pango_cairo_show_layout(overlay->cr, layout);
}

static void
draw_focus(const Overlay *overlay)
{
    if (!gtk_widget_has_visible_focus(GTK_WIDGET(overlay->view)))
        return;
    rounded(overlay->cr, 1.5, 1.5, overlay->width - 3, overlay->height - 3, 3);
    cairo_set_line_width(overlay->cr, 3);
    cairo_set_source_rgba(overlay->cr, 0, 0, 0, 0.35);
    cairo_stroke_preserve(overlay->cr);
    cairo_set_line_width(overlay->cr, 2);
    cairo_set_source_rgb(overlay->cr, 0.21, 0.52, 0.89);
    cairo_stroke(overlay->cr);
}

void
limn_heatmap_view_draw_overlay(LimnHeatmapView *view, cairo_t *cr, int width, int height,
                               gboolean interactive)
{
    Overlay overlay = {.view = view,
                       .cr = cr,
                       .width = width,
                       .height = height,
                       .dark = limn_heatmap_view_is_dark(view),
                       .interactive = interactive,
                       .margin = find_margin(width),
                       .bar_left = width};

    if (width < 8 || height < 8)
        return;
    limn_heatmap_view_get_view_transform(view, width, height, &overlay.transform);
    draw_empty(&overlay);
    draw_crop(&overlay);
    draw_divider(&overlay);
    draw_bar(&overlay);
    draw_box(&overlay);
    draw_titles(&overlay);
    draw_notes(&overlay);
    if (interactive) {
        draw_probe(&overlay);
        draw_focus(&overlay);
    }
}

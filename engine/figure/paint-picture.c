// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"

static LimnImage *
find_picture(const LimnPanel *panel)
{
    LimnRect rect;
    return limn_panel_picture(panel->artifact, panel->item, &rect);
}

LimnDisplayList *
limn_paint_picture(const LimnPainter *painter, const LimnPanel *panel, double width)
{
    LimnDisplayList *list = limn_display_list_new();
    list->width = width;
    LimnImage *image = find_picture(panel);
    if (!image)
        return list;
    double shown = width * painter->shrink;
    double height = CLAMP(shown * image->height / image->width, shown / 40, shown * 4);
    LimnBox box = {(width - shown) / 2, 0, shown, height};
    int columns, rows;
    g_autoptr(GBytes) rgb = limn_picture_pixels(image, shown, &columns, &rows);
    limn_display_list_begin_group(list, "picture");
    // Small pictures (samples of a model) keep their pixels.
    gboolean crisp = columns < shown && !painter->options->interpolate;
    if (rgb)
        limn_display_list_add_image(list, rgb, columns, rows, &box, crisp, 1);
    limn_display_list_stroke_box(list, &box, painter->theme->rule, 0.4);
    limn_display_list_end_group(list);
    list->height = height;
    const char *label = limn_panel_label(panel->artifact, MAX(panel->item, 0));
    if (panel->with_label && label) {
        LimnTextStyle font = limn_painter_font(painter, LIMN_FONT_BODY);
        double y = height + font.size * 0.35;
        list->height = y + limn_text_add_paragraph(list, label, &font, 0, y, width,
                                                   LIMN_ANCHOR_MIDDLE, 0);
    }
    return list;
}

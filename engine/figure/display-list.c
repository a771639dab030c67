// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/display-list.h"

#include "engine/figure/text-layout.h"

#include <math.h>

LimnPath *
limn_path_new(void)
{
    LimnPath *path = g_new0(LimnPath, 1);
    path->steps = g_array_new(FALSE, FALSE, sizeof(LimnPathStep));
    return path;
}

void
limn_path_free(LimnPath *path)
{
    if (!path)
        return;
    g_array_unref(path->steps);
    g_free(path);
}

static LimnPath *
path_dup(const LimnPath *path, double dx, double dy)
{
    LimnPath *copy = limn_path_new();
    g_array_append_vals(copy->steps, path->steps->data, path->steps->len);
    for (guint i = 0; i < copy->steps->len; i++) {
        LimnPathStep *step = &g_array_index(copy->steps, LimnPathStep, i);
        for (int k = 0; k < 3; k++) {
            step->x[k] += dx;
            step->y[k] += dy;
        }
    }
    return copy;
}

static void
add_step(LimnPath *path, LimnPathOp op, double x, double y)
{
    LimnPathStep step = {op, {x, x, x}, {y, y, y}};
    g_array_append_val(path->steps, step);
}

void
limn_path_move(LimnPath *path, double x, double y)
{
    add_step(path, LIMN_PATH_MOVE, x, y);
}

void
limn_path_line(LimnPath *path, double x, double y)
{
    add_step(path, LIMN_PATH_LINE, x, y);
}

void
limn_path_curve(LimnPath *path, double x1, double y1, double x2, double y2, double x3,
                double y3)
{
    LimnPathStep step = {LIMN_PATH_CURVE, {x1, x2, x3}, {y1, y2, y3}};
    g_array_append_val(path->steps, step);
}

void
limn_path_close(LimnPath *path)
{
    LimnPathStep step = {LIMN_PATH_CLOSE, {0}, {0}};
    g_array_append_val(path->steps, step);
}

void
limn_path_rectangle(LimnPath *path, const LimnBox *box)
{
    limn_path_move(path, box->x, box->y);
    limn_path_line(path, box->x + box->width, box->y);
    limn_path_line(path, box->x + box->width, box->y + box->height);
    limn_path_line(path, box->x, box->y + box->height);
    limn_path_close(path);
}

void
limn_path_rounded(LimnPath *path, const LimnBox *box, double radius)
{
    double r = MIN(radius, MIN(box->width, box->height) / 2);
    double k = 0.5522847498 * r; // a quarter circle as a cubic
    double x0 = box->x, x1 = box->x + box->width;
    double y0 = box->y, y1 = box->y + box->height;
    limn_path_move(path, x0 + r, y0);
    limn_path_line(path, x1 - r, y0);
    limn_path_curve(path, x1 - r + k, y0, x1, y0 + r - k, x1, y0 + r);
    limn_path_line(path, x1, y1 - r);
    limn_path_curve(path, x1, y1 - r + k, x1 - r + k, y1, x1 - r, y1);
    limn_path_line(path, x0 + r, y1);
    limn_path_curve(path, x0 + r - k, y1, x0, y1 - r + k, x0, y1 - r);
    limn_path_line(path, x0, y0 + r);
    limn_path_curve(path, x0, y0 + r - k, x0 + r - k, y0, x0 + r, y0);
    limn_path_close(path);
}

void
limn_path_circle(LimnPath *path, double x, double y, double radius)
{
    LimnBox box = {x - radius, y - radius, 2 * radius, 2 * radius};
    limn_path_rounded(path, &box, radius);
}

static void
item_free(gpointer data)
{
    LimnItem *item = data;
    limn_path_free(item->path);
    g_free(item->text);
    g_clear_pointer(&item->rgb, g_bytes_unref);
    g_free(item);
}

LimnDisplayList *
limn_display_list_new(void)
{
    LimnDisplayList *list = g_new0(LimnDisplayList, 1);
    list->items = g_ptr_array_new_with_free_func(item_free);
    return list;
}

void
limn_display_list_free(LimnDisplayList *list)
{
    if (!list)
        return;
    g_ptr_array_unref(list->items);
    g_free(list);
}

static LimnItem *
add_item(LimnDisplayList *list, LimnItemKind kind)
{
    LimnItem *item = g_new0(LimnItem, 1);
    item->kind = kind;
    g_ptr_array_add(list->items, item);
    return item;
}

// Ink inside a clip counts by the clip's own extents.
static void
extend(LimnDisplayList *list, double left, double top, double right, double bottom)
{
    if (list->clip_depth > 0)
        return;
    if (!list->has_ink) {
        list->has_ink = TRUE;
        list->left = left;
        list->top = top;
        list->right = right;
        list->bottom = bottom;
        return;
    }
    list->left = MIN(list->left, left);
    list->top = MIN(list->top, top);
    list->right = MAX(list->right, right);
    list->bottom = MAX(list->bottom, bottom);
}

static void
extend_by_path(LimnDisplayList *list, const LimnPath *path, double margin)
{
    for (guint i = 0; i < path->steps->len; i++) {
        const LimnPathStep *step = &g_array_index(path->steps, LimnPathStep, i);
        for (int k = 0; step->op != LIMN_PATH_CLOSE && k < 3; k++)
            extend(list, step->x[k] - margin, step->y[k] - margin, step->x[k] + margin,
                   step->y[k] + margin);
    }
}

void
limn_display_list_add_path(LimnDisplayList *list, LimnPath *path,
                           const LimnPathStyle *style)
{
    extend_by_path(list, path, style->has_stroke ? style->width / 2 : 0);
    LimnItem *item = add_item(list, LIMN_ITEM_PATH);
    item->path = path;
    item->style = *style;
}

void
limn_display_list_add_line(LimnDisplayList *list, double x1, double y1, double x2,
                           double y2, LimnColor color, double width)
{
    LimnPath *path = limn_path_new();
    limn_path_move(path, x1, y1);
    limn_path_line(path, x2, y2);
    LimnPathStyle style = {.has_stroke = TRUE, .stroke = color, .width = width};
    limn_display_list_add_path(list, path, &style);
}

void
limn_display_list_fill_box(LimnDisplayList *list, const LimnBox *box, LimnColor color)
{
    LimnPath *path = limn_path_new();
    limn_path_rectangle(path, box);
    LimnPathStyle style = {.has_fill = TRUE, .fill = color};
    limn_display_list_add_path(list, path, &style);
}

void
limn_display_list_stroke_box(LimnDisplayList *list, const LimnBox *box, LimnColor color,
                             double width)
{
    LimnPath *path = limn_path_new();
    limn_path_rectangle(path, box);
    LimnPathStyle style = {.has_stroke = TRUE, .stroke = color, .width = width};
    limn_display_list_add_path(list, path, &style);
}

// The box of a line of text turned about its anchor.
static void
extend_by_text(LimnDisplayList *list, const LimnItem *item)
{
    LimnTextSize size;
    limn_text_measure(item->text, &item->font, &size);
    double shift = limn_anchor_shift(item->anchor, size.width);
    double x[2] = {-shift, size.width - shift};
    double y[2] = {-size.ascent, size.descent};
    double angle = -item->angle * G_PI / 180;
    for (int k = 0; k < 4; k++) {
        double px = item->x + x[k & 1] * cos(angle) - y[k >> 1] * sin(angle);
        double py = item->y + x[k & 1] * sin(angle) + y[k >> 1] * cos(angle);
        extend(list, px, py, px, py);
    }
}

void
limn_display_list_add_text(LimnDisplayList *list, const char *text,
                           const LimnTextStyle *font, double x, double y,
                           LimnAnchor anchor, double angle)
{
    g_autofree char *clean = limn_text_make_drawable(text);
    if (clean[0] == '\0')
        return;
    LimnItem *item = add_item(list, LIMN_ITEM_TEXT);
    item->text = g_steal_pointer(&clean);
    item->font = *font;
    item->font.family = g_intern_string(font->family);
    item->x = x;
    item->y = y;
    item->anchor = anchor;
    item->angle = angle;
    extend_by_text(list, item);
}

void
limn_display_list_add_image(LimnDisplayList *list, GBytes *rgb, int width, int height,
                            const LimnBox *box, gboolean crisp, double opacity)
{
    g_return_if_fail(width > 0 && height > 0);
    g_return_if_fail(g_bytes_get_size(rgb) == (gsize) width * height * 3);
    LimnItem *item = add_item(list, LIMN_ITEM_IMAGE);
    item->rgb = g_bytes_ref(rgb);
    item->width = width;
    item->height = height;
    item->box = *box;
    item->crisp = crisp;
    item->opacity = opacity;
    extend(list, box->x, box->y, box->x + box->width, box->y + box->height);
}

void
limn_display_list_begin_clip(LimnDisplayList *list, LimnPath *path)
{
    extend_by_path(list, path, 0);
    list->clip_depth++;
    list->n_clips++;
    add_item(list, LIMN_ITEM_CLIP_BEGIN)->path = path;
}

void
limn_display_list_end_clip(LimnDisplayList *list)
{
    g_return_if_fail(list->clip_depth > 0);
    list->clip_depth--;
    add_item(list, LIMN_ITEM_CLIP_END);
}

void
limn_display_list_begin_group(LimnDisplayList *list, const char *id)
{
    list->n_groups++;
    add_item(list, LIMN_ITEM_GROUP_BEGIN)->text = g_strdup(id);
}

void
limn_display_list_end_group(LimnDisplayList *list)
{
    add_item(list, LIMN_ITEM_GROUP_END);
}

void
limn_display_list_append(LimnDisplayList *list, const LimnDisplayList *other, double dx,
                         double dy)
{
    for (guint i = 0; i < other->items->len; i++) {
        const LimnItem *source = g_ptr_array_index(other->items, i);
        LimnItem *item = g_memdup2(source, sizeof *source);
        item->path = source->path ? path_dup(source->path, dx, dy) : NULL;
        item->text = g_strdup(source->text);
        item->rgb = source->rgb ? g_bytes_ref(source->rgb) : NULL;
        item->x += dx;
        item->y += dy;
        item->box.x += dx;
        item->box.y += dy;
        g_ptr_array_add(list->items, item);
    }
    list->n_clips += other->n_clips;
    list->n_groups += other->n_groups;
    if (other->has_ink)
        extend(list, other->left + dx, other->top + dy, other->right + dx,
               other->bottom + dy);
}

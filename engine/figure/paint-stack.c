// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"

// A grid of this many panels is as much as a page can show; the rest is said in a note.
#define MAX_STACK 400

typedef struct {
    const LimnPainter *painter;
    LimnArtifact *artifact;
    LimnDisplayList *list;
    LimnScale scale;
    int columns;
    gint64 n;
    double cell_width, gap;
} Stack;

static LimnDisplayList *
paint_cell(Stack *stack, gint64 item)
{
    LimnFigureLayout layout = stack->painter->options->layout;
    LimnPanel panel = {
        .artifact = stack->artifact,
        .item = item,
        .with_picture = layout != LIMN_LAYOUT_MAP,
        .with_label = TRUE,
        .colormap = stack->painter->options->colormap,
    };
    if (stack->artifact->kind == LIMN_ARTIFACT_HEATMAP)
        panel.scale = &stack->scale;
    return limn_paint_panel(stack->painter, &panel, stack->cell_width);
}

static void
add_row(Stack *stack, gint64 first)
{
    double height = 0;
    for (int column = 0; column < stack->columns && first + column < stack->n; column++) {
        g_autoptr(LimnDisplayList) cell = paint_cell(stack, first + column);
        limn_display_list_append(stack->list, cell,
                                 column * (stack->cell_width + stack->gap),
                                 stack->list->height);
        height = MAX(height, cell->height);
    }
    stack->list->height += height + stack->gap;
}

static void
add_colorbar(Stack *stack, double width)
{
    const LimnFigureOptions *options = stack->painter->options;
    g_autoptr(LimnDisplayList) bar = limn_paint_colorbar(
        stack->painter, stack->artifact, &stack->scale, options->colormap, width);
    limn_display_list_append(stack->list, bar, 0, stack->list->height);
    stack->list->height += bar->height;
    LimnRect rect;
    gboolean with_picture = options->layout != LIMN_LAYOUT_MAP &&
                            limn_panel_picture(stack->artifact, 0, &rect) != NULL;
    limn_paint_map_notes(stack->painter, stack->list, stack->artifact, with_picture,
                         width);
}

static void
add_legend(Stack *stack, double width)
{
    LimnArtifactKind kind = stack->artifact->kind;
    if (kind == LIMN_ARTIFACT_HEATMAP && stack->painter->options->show_colorbar)
        add_colorbar(stack, width);
    if (kind != LIMN_ARTIFACT_LABELMAP)
        return;
    g_autoptr(LimnDisplayList) legend =
        limn_paint_class_legend(stack->painter, stack->artifact, stack->n, width);
    limn_display_list_append(stack->list, legend, 0, stack->list->height);
    stack->list->height += legend->height;
}

LimnDisplayList *
limn_paint_stack(const LimnPainter *painter, LimnArtifact *artifact, double width)
{
    Stack stack = {
        .painter = painter,
        .artifact = artifact,
        .list = limn_display_list_new(),
        .n = MIN(limn_panel_count(artifact), MAX_STACK),
        .gap = limn_painter_gap(painter),
    };
    stack.columns = limn_painter_columns(painter, stack.n, width);
    stack.cell_width = (width + stack.gap) / stack.columns - stack.gap;
    if (artifact->kind == LIMN_ARTIFACT_HEATMAP)
        limn_panel_scale(painter, &artifact, 1, -1, &stack.scale);
    for (gint64 first = 0; first < stack.n; first += stack.columns)
        add_row(&stack, first);
    gint64 left_out = limn_panel_count(artifact) - stack.n;
    if (left_out > 0) {
        LimnTextStyle font = limn_painter_font(painter, LIMN_FONT_MUTED);
        g_autofree char *note =
            g_strdup_printf("%" G_GINT64_FORMAT " more not shown", left_out);
        stack.list->height += limn_text_add_paragraph(
            stack.list, note, &font, 0, stack.list->height, width, LIMN_ANCHOR_START, 0);
    }
    add_legend(&stack, width);
    stack.list->width = width;
    return stack.list;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draws a scene with GL into the framebuffer that is bound. Knows no widget: a window
// gives it the context of a GtkGLArea, tests an offscreen one. Everything but _new and
// _get_bytes needs that context to be current. Textures are tiles; they are uploaded a
// few at a time, and a coarser tile stands in until the wanted one is there.

#include "ui/gl/heatmap-scene.h"

#define LIMN_HEATMAP_UPLOAD_BYTES (4 << 20)              // per frame
#define LIMN_HEATMAP_TEXTURE_BUDGET ((gint64) 256 << 20) // beyond what a frame needs

typedef struct LimnHeatmapRenderer LimnHeatmapRenderer;

LimnHeatmapRenderer *limn_heatmap_renderer_new(void);
// With `has_context` FALSE (the context is lost) nothing is deleted on the GPU.
void limn_heatmap_renderer_free(LimnHeatmapRenderer *renderer, gboolean has_context);

// *more: draw again soon, uploads are left. FALSE when the driver refuses a shader.
gboolean limn_heatmap_renderer_draw(LimnHeatmapRenderer *renderer,
                                    const LimnHeatmapScene *scene,
                                    const LimnViewTransform *transform, int width,
                                    int height, gboolean *more, GError **error);
// Bytes in textures.
gint64 limn_heatmap_renderer_get_bytes(const LimnHeatmapRenderer *renderer);

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Drawings of named things in several styles, as raw material for scenes with exact
// truth: built-in shapes drawn by cairo, or icon sets in Iconify's JSON (one file
// icons.json per set; see the manual, "Scenes"). Drawings are rendered once, on first
// use, at LIMN_DRAWING_SIZE pixels; after limn_drawings_render() the object is immutable
// and may be used by several threads.

#include "engine/base/job.h"
#include "engine/image/image.h"

#define LIMN_DRAWING_SIZE 96

typedef struct LimnDrawings LimnDrawings;

// Six colours times eight shapes ("red circle"), one style.
LimnDrawings *limn_drawings_new_shapes(GError **error);

// Icon sets: each file one style, named by its "prefix". `concepts` is a table of names
// and keys (tab-separated with a header line: name, key, group, subgroup, code_points,
// bootstrap); NULL: the built-in table. Only names that at least one style has are kept;
// a name that no style has is a diagnostic. SVG must be readable (limn_svg_init).
// LIMN_ERROR_FORMAT names file and icon; LIMN_ERROR_MISMATCH when no name is found.
LimnDrawings *limn_drawings_load_icons(const char *const *files, const char *concepts,
                                       LimnJob *job, GError **error);
LimnDrawings *limn_drawings_ref(LimnDrawings *drawings);
void limn_drawings_unref(LimnDrawings *drawings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnDrawings, limn_drawings_unref)

guint limn_drawings_n_names(LimnDrawings *drawings);
const char *limn_drawings_get_name(LimnDrawings *drawings, guint name);
const char *limn_drawings_get_group(LimnDrawings *drawings, guint name); // "" when none
// Marked as one of the names of the bootstrap model (common things).
gboolean limn_drawings_is_common(LimnDrawings *drawings, guint name);
int limn_drawings_find(LimnDrawings *drawings, const char *name); // -1: none

guint limn_drawings_n_styles(LimnDrawings *drawings);
const char *limn_drawings_get_style(LimnDrawings *drawings, guint style);
gboolean limn_drawings_has(LimnDrawings *drawings, guint name, guint style);

// Renders everything that is asked for (styles: bit i = style i; 0: all) in parallel.
gboolean limn_drawings_render(LimnDrawings *drawings, guint64 styles, LimnJob *job,
                              GError **error);
// Premultiplied ARGB32 (cairo's native order), LIMN_DRAWING_SIZE squared, or NULL when
// the style lacks the name or was not rendered. Borrowed.
const guint32 *limn_drawings_get_pixels(LimnDrawings *drawings, guint name, guint style);

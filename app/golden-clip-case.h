// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model case of METHOD grad_eclip, opened, and what its keys mean.

#include <jansson.h>

#include "engine/io/safetensors.h"
#include "engine/model/clip.h"
#include "engine/model/pass.h"
#include "golden.h"

typedef struct {
    LimnGolden *golden;
    LimnJob *job; // borrowed
    char *folder;
    LimnClip *clip; // of hf/
    LimnSafetensors *inputs, *expected;
    json_t *json;               // expected.json
    json_t *scalars, *end_rows; // borrowed from it
    int hidden_image, hidden_text, surgery_image, surgery_depth, surgery_redundant;
    int rise_image, rise_text;
    double rise_keep;
    gboolean has_f16;
    LimnArray *pixels, *pixels_keep; // [n,3,S,S], [1,3,h,w]
    LimnArray *ids, *ids_end;        // [t,ctx] i64
    gsize n_images, n_texts;
    GHashTable *passes; // name -> LimnPass *
} LimnClipCase;

LimnClipCase *limn_clip_case_open(LimnGolden *golden, const char *folder, GError **error);
void limn_clip_case_free(LimnClipCase *c);

// Weights of openclip/ equal those of hf/, one comparison for each.
void limn_clip_case_compare_layouts(LimnClipCase *c);

// What the engine computes for a key of expected.safetensors; NULL with a message when
// the key means nothing.
LimnArray *limn_clip_case_compute(LimnClipCase *c, const char *key, GError **error);
gboolean limn_clip_case_compute_scalar(LimnClipCase *c, const char *key, double *value,
                                       GError **error);
// TRUE when the map of that key, as computed, is zero everywhere.
gboolean limn_clip_case_is_zero(LimnClipCase *c, const char *key);
// Row of the end token of text i.
gsize limn_clip_case_end_row(LimnClipCase *c, gsize i);

// For golden-clip-*.c. A picture or sentence through its tower, by name: "img0", "keep",
// "t1", "t1 end" (end-token padding), "t1 valid" (no padding). Borrowed.
LimnPass *limn_clip_case_get_pass(LimnClipCase *c, const char *name, GError **error);
// The unit embedding [P] of a pass.
float *limn_clip_case_dup_unit(LimnClipCase *c, LimnPass *pass, GError **error);
LimnArray *limn_clip_case_unknown(const char *key, GError **error);
// Model outputs, hidden states, CLIP Surgery and RISE.
LimnArray *limn_clip_case_compute_output(LimnClipCase *c, const char *key,
                                         GError **error);
LimnArray *limn_clip_case_compute_surgery(LimnClipCase *c, const char *key,
                                          GError **error);
LimnArray *limn_clip_case_compute_rise(LimnClipCase *c, const char *key, GError **error);
// image.*, text.*, text_eotpad.*, text_validonly.*
LimnArray *limn_clip_case_compute_explanation(LimnClipCase *c, const char *key,
                                              GError **error);

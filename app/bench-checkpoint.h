// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checkpoints of real size for the benchmarks: the published shapes of CLIP filled with
// small random numbers, in the layout of Hugging Face. Speed does not depend on the
// values as long as they are ordinary.

#include "engine/base/job.h"
#include "engine/image/image.h"

typedef struct {
    const char *name; // "ViT-B/32"
    int image, patch;
    int width, layers, heads; // picture tower; mlp is 4 width
    int text_width, text_layers, text_heads;
    int projection;
} LimnBenchModel;

enum { LIMN_BENCH_B32, LIMN_BENCH_B16, LIMN_BENCH_L14, LIMN_BENCH_N_MODELS };
extern const LimnBenchModel limn_bench_models[LIMN_BENCH_N_MODELS];

// Writes model.safetensors and config.json into a new temporary folder ($TMPDIR).
// Returns: (transfer full) the folder; remove it with limn_remove_tree.
char *limn_bench_write_checkpoint(const LimnBenchModel *model, LimnJob *job,
                                  GError **error);

// A picture of that size with structure in it.
LimnImage *limn_bench_make_picture(int width, int height, GError **error);

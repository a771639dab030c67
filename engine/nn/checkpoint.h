// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checkpoints of a training as safetensors (training specification, section 13):
// "model.NAME", "opt.m.NAME", "opt.v.NAME", "ema.NAME" and "rng.state" (I64: seed, step,
// then counters of the caller); metadata "limn.kind", "limn.step", "limn.config".
// Resuming reproduces the uninterrupted run bit for bit. float32 only.

#include "engine/nn/optimizer.h"

typedef struct {
    const char *kind;   // "clip-train"; a checkpoint of another kind is refused
    const char *config; // the model's configuration as JSON text; must agree on loading
    guint64 seed;
    gint64 counters[6]; // of the caller
} LimnCheckpointState;

// Atomic. `optimizer` may be NULL (weights only).
gboolean limn_checkpoint_save(const char *path, LimnParameters *parameters,
                              LimnOptimizer *optimizer, const LimnCheckpointState *state,
                              GError **error);
// Fills parameters, optimiser and state->seed and counters. LIMN_ERROR_MISMATCH names the
// tensor with both shapes, the kind or the configuration that differs.
gboolean limn_checkpoint_load(const char *path, LimnParameters *parameters,
                              LimnOptimizer *optimizer, LimnCheckpointState *state,
                              GError **error);

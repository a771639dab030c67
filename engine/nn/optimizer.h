// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Optimisers, learning-rate schedules and gradient clipping (training specification,
// section 8). Steps count from 0 in schedules, t from 1 in the bias corrections.

#include "engine/nn/parameters.h"

typedef enum {
    LIMN_OPTIMIZER_SGD,
    LIMN_OPTIMIZER_ADAM,  // weight decay is added to the gradient
    LIMN_OPTIMIZER_ADAMW, // decoupled weight decay (Loshchilov and Hutter 2019)
} LimnOptimizerKind;

typedef enum {
    LIMN_SCHEDULE_CONSTANT,
    LIMN_SCHEDULE_WARMUP_LINEAR, // to zero over total - warmup steps
    LIMN_SCHEDULE_WARMUP_COSINE,
    LIMN_SCHEDULE_INVERSE_SQRT,
    LIMN_SCHEDULE_STEPS,       // times `factor` every `period` steps
    LIMN_SCHEDULE_EXPONENTIAL, // times factor^step
    LIMN_SCHEDULE_INVERSE,     // (1 + i / period)^-power (1 - factor^(i + 1))
} LimnScheduleKind;

typedef struct {
    LimnScheduleKind kind;
    double lr;
    gint64 warmup, total;
    gint64 warmup_first; // the first step uses lr * warmup_first / warmup
    gint64 period;
    double factor, power;
} LimnSchedule;

double limn_schedule_rate(const LimnSchedule *schedule, gint64 step);

typedef struct {
    LimnOptimizerKind kind;
    LimnSchedule schedule;
    double momentum;
    gboolean nesterov;
    double beta1, beta2, eps;
    double weight_decay;
    double clip_norm; // 0: off
    double ema_decay; // 0: no average of the weights
} LimnOptimizerOptions;
void limn_optimizer_options_init(LimnOptimizerOptions *options, LimnOptimizerKind kind);

typedef struct LimnOptimizer LimnOptimizer;

// Keeps a reference-free pointer to `parameters`, which must outlive it.
LimnOptimizer *limn_optimizer_new(LimnParameters *parameters,
                                  const LimnOptimizerOptions *options, GError **error);
void limn_optimizer_free(LimnOptimizer *optimizer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnOptimizer, limn_optimizer_free)

typedef struct {
    double rate;
    double norm;      // of all gradients, before clipping
    gboolean skipped; // the norm was not finite: nothing was changed
} LimnStepInfo;

// One step with the gradients in the parameters' block. A gradient that is not finite
// skips the step; the third in a row is LIMN_ERROR_FAILED.
gboolean limn_optimizer_step(LimnOptimizer *optimizer, LimnStepInfo *info,
                             GError **error);

gint64 limn_optimizer_get_step(LimnOptimizer *optimizer);
void limn_optimizer_set_step(LimnOptimizer *optimizer, gint64 step);
// Moment blocks laid out as the parameters' block; NULL where the kind has none.
LimnReal *limn_optimizer_get_first_moment(LimnOptimizer *optimizer);
LimnReal *limn_optimizer_get_second_moment(LimnOptimizer *optimizer);
LimnReal *limn_optimizer_get_average(LimnOptimizer *optimizer); // NULL without ema_decay

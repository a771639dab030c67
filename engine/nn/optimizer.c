// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/nn/optimizer.h"

#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SKIPPED 3

struct LimnOptimizer {
    LimnParameters *parameters;
    LimnOptimizerOptions options;
    gint64 step;
    LimnReal *first, *second, *average;
    guint skipped; // in a row
};

// ---- schedules

static double
after_warmup(const LimnSchedule *s, gint64 step)
{
    double span = (double) MAX(s->total - s->warmup, 1);
    double done = CLAMP((double) (step - s->warmup) / span, 0, 1);
    if (s->kind == LIMN_SCHEDULE_WARMUP_COSINE)
        return s->lr * 0.5 * (1 + cos(G_PI * done));
    return s->lr * (1 - done);
}

double
limn_schedule_rate(const LimnSchedule *s, gint64 step)
{
    if (step < s->warmup)
        return s->lr * (double) (step + s->warmup_first) / (double) s->warmup;
    switch (s->kind) {
    case LIMN_SCHEDULE_CONSTANT:
        return s->lr;
    case LIMN_SCHEDULE_WARMUP_LINEAR:
    case LIMN_SCHEDULE_WARMUP_COSINE:
        return after_warmup(s, step);
    case LIMN_SCHEDULE_INVERSE_SQRT:
        return s->lr * sqrt((double) MAX(s->warmup, 1) / (double) MAX(step, 1));
    case LIMN_SCHEDULE_STEPS:
        return s->lr * pow(s->factor, (double) (step / MAX(s->period, 1)));
    case LIMN_SCHEDULE_EXPONENTIAL:
        return s->lr * pow(s->factor, (double) step);
    case LIMN_SCHEDULE_INVERSE:
        return s->lr * pow(1 + (double) step / (double) MAX(s->period, 1), -s->power) *
               (1 - pow(s->factor, (double) (step + 1)));
    }
    return s->lr;
}

// ---- optimiser

void
limn_optimizer_options_init(LimnOptimizerOptions *options, LimnOptimizerKind kind)
{
    *options = (LimnOptimizerOptions){
        .kind = kind,
        .schedule = {.kind = LIMN_SCHEDULE_CONSTANT, .lr = 1e-3, .warmup_first = 1},
        .beta1 = 0.9,
        .beta2 = 0.999,
        .eps = 1e-8};
}

LimnOptimizer *
limn_optimizer_new(LimnParameters *parameters, const LimnOptimizerOptions *options,
                   GError **error)
{
    g_autoptr(LimnOptimizer) optimizer = g_new0(LimnOptimizer, 1);
    gint64 length = limn_parameters_get_length(parameters);
    gboolean two = options->kind != LIMN_OPTIMIZER_SGD;
    optimizer->parameters = parameters;
    optimizer->options = *options;
    if (two || options->momentum != 0)
        optimizer->first = limn_parameters_new_block(parameters);
    if (two)
        optimizer->second = limn_parameters_new_block(parameters);
    if (options->ema_decay > 0)
        optimizer->average = limn_parameters_new_block(parameters);
    if (((two || options->momentum != 0) && !optimizer->first) ||
        (two && !optimizer->second) || (options->ema_decay > 0 && !optimizer->average)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no room for the optimiser's state of %" G_GINT64_FORMAT
                    " parameters",
                    length);
        return NULL;
    }
    if (optimizer->average)
        memcpy(optimizer->average, limn_parameters_get_block(parameters),
               (gsize) length * sizeof(LimnReal));
    return g_steal_pointer(&optimizer);
}

void
limn_optimizer_free(LimnOptimizer *optimizer)
{
    if (!optimizer)
        return;
    free(optimizer->first);
    free(optimizer->second);
    free(optimizer->average);
    g_free(optimizer);
}

// Norm over the gradients of all parameters that are not frozen, in double, blocks in
// order.
static double
gradient_norm(LimnParameters *parameters)
{
    double total = 0;
    for (guint p = 0; p < limn_parameters_get_n(parameters); p++) {
        const LimnParameterInfo *info = limn_parameters_get_info(parameters, (int) p);
        if (info->frozen)
            continue;
        const LimnReal *g = limn_parameters_get_gradient(parameters, (int) p);
        double sum = 0;
        for (gint64 i = 0; i < info->length; i++)
            sum += (double) g[i] * g[i];
        total += sum;
    }
    return sqrt(total);
}

// v = m v + d (v = d at the first step); step by v, or by d + m v for Nesterov
static void
step_sgd(LimnOptimizer *o, const LimnParameterInfo *info, double rate, double clip)
{
    LimnReal *w = limn_parameters_get_block(o->parameters) + info->offset;
    const LimnReal *g = limn_parameters_get_gradient_block(o->parameters) + info->offset;
    LimnReal *v = o->first ? o->first + info->offset : NULL;
    double m = o->options.momentum, decay = info->decay ? o->options.weight_decay : 0;
    for (gint64 i = 0; i < info->length; i++) {
        double d = g[i] * clip + decay * w[i], move = d;
        if (v) {
            v[i] = (LimnReal) (o->step == 0 ? d : m * v[i] + d);
            move = o->options.nesterov ? d + m * v[i] : v[i];
        }
        w[i] = (LimnReal) (w[i] - rate * move);
    }
}

// m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
// w -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
static void
step_adam(LimnOptimizer *o, const LimnParameterInfo *info, double rate, double clip)
{
    const LimnOptimizerOptions *p = &o->options;
    LimnReal *w = limn_parameters_get_block(o->parameters) + info->offset;
    const LimnReal *g = limn_parameters_get_gradient_block(o->parameters) + info->offset;
    LimnReal *m = o->first + info->offset, *v = o->second + info->offset;
    double decay = info->decay ? p->weight_decay : 0;
    double shrink = p->kind == LIMN_OPTIMIZER_ADAMW ? 1 - rate * decay : 1;
    double added = p->kind == LIMN_OPTIMIZER_ADAM ? decay : 0;
    double t = (double) (o->step + 1);
    double scale1 = 1 / (1 - pow(p->beta1, t)), scale2 = 1 / (1 - pow(p->beta2, t));
    for (gint64 i = 0; i < info->length; i++) {
        double d = g[i] * clip + added * w[i];
        double mi = p->beta1 * m[i] + (1 - p->beta1) * d;
        double vi = p->beta2 * v[i] + (1 - p->beta2) * d * d;
        m[i] = (LimnReal) mi;
        v[i] = (LimnReal) vi;
        w[i] = (LimnReal) (shrink * w[i] -
                           rate * mi * scale1 / (sqrt(vi * scale2) + p->eps));
    }
}

static void
update_average(LimnOptimizer *o)
{
    const LimnReal *w = limn_parameters_get_block(o->parameters);
    double decay = o->options.ema_decay;
    for (gint64 i = 0; i < limn_parameters_get_length(o->parameters); i++)
        o->average[i] = (LimnReal) (decay * o->average[i] + (1 - decay) * w[i]);
}

static gboolean
skip_step(LimnOptimizer *o, LimnStepInfo *info, GError **error)
{
    info->skipped = TRUE;
    if (++o->skipped < MAX_SKIPPED)
        return TRUE;
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED,
                "training diverged at step %" G_GINT64_FORMAT
                ": the gradient was not finite %d times in a row",
                o->step, MAX_SKIPPED);
    return FALSE;
}

gboolean
limn_optimizer_step(LimnOptimizer *o, LimnStepInfo *info, GError **error)
{
    LimnStepInfo unused;
    if (!info)
        info = &unused;
    *info = (LimnStepInfo){.rate = limn_schedule_rate(&o->options.schedule, o->step),
                           .norm = gradient_norm(o->parameters)};
    if (!isfinite(info->norm))
        return skip_step(o, info, error);
    o->skipped = 0;
    double clip = 1;
    if (o->options.clip_norm > 0)
        clip = MIN(1, o->options.clip_norm / (info->norm + 1e-6));
    for (guint p = 0; p < limn_parameters_get_n(o->parameters); p++) {
        const LimnParameterInfo *parameter =
            limn_parameters_get_info(o->parameters, (int) p);
        if (parameter->frozen)
            continue;
        if (o->options.kind == LIMN_OPTIMIZER_SGD)
            step_sgd(o, parameter, info->rate, clip);
        else
            step_adam(o, parameter, info->rate, clip);
    }
    o->step++;
    if (o->average)
        update_average(o);
    return TRUE;
}

gint64
limn_optimizer_get_step(LimnOptimizer *optimizer)
{
    return optimizer->step;
}

void
limn_optimizer_set_step(LimnOptimizer *optimizer, gint64 step)
{
    optimizer->step = step;
}

LimnReal *
limn_optimizer_get_first_moment(LimnOptimizer *optimizer)
{
    return optimizer->first;
}

LimnReal *
limn_optimizer_get_second_moment(LimnOptimizer *optimizer)
{
    return optimizer->second;
}

LimnReal *
limn_optimizer_get_average(LimnOptimizer *optimizer)
{
    return optimizer->average;
}

// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/nn/checkpoint.h"

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/io/safetensors.h"

#include <string.h>

#define N_STATE 8 // seed, step, six counters

typedef struct {
    const char *prefix;
    LimnReal *block;
} Section;

// The blocks that are saved; returns how many.
static int
sections(LimnParameters *parameters, LimnOptimizer *optimizer, Section out[4])
{
    int n = 0;
    out[n++] = (Section){"model.", limn_parameters_get_block(parameters)};
    if (!optimizer)
        return n;
    if (limn_optimizer_get_first_moment(optimizer))
        out[n++] = (Section){"opt.m.", limn_optimizer_get_first_moment(optimizer)};
    if (limn_optimizer_get_second_moment(optimizer))
        out[n++] = (Section){"opt.v.", limn_optimizer_get_second_moment(optimizer)};
    if (limn_optimizer_get_average(optimizer))
        out[n++] = (Section){"ema.", limn_optimizer_get_average(optimizer)};
    return n;
}

static LimnArray *
section_tensor(const LimnReal *block, const LimnParameterInfo *info, GError **error)
{
    LimnArray *array = limn_array_new(LIMN_DTYPE_F32, info->rank, info->dim, error);
    if (array)
        memcpy(limn_array_f32(array), block + info->offset,
               (gsize) info->length * sizeof(float));
    return array;
}

static LimnArray *
state_tensor(const LimnCheckpointState *state, gint64 step, GError **error)
{
    LimnArray *array = limn_array_new(LIMN_DTYPE_I64, 1, (gint64[]){N_STATE}, error);
    if (!array)
        return NULL;
    gint64 *values = limn_array_i64(array);
    values[0] = (gint64) state->seed;
    values[1] = step;
    memcpy(values + 2, state->counters, sizeof state->counters);
    return array;
}

static gboolean
collect(LimnParameters *parameters, LimnOptimizer *optimizer, GPtrArray *names,
        GPtrArray *arrays, GError **error)
{
    Section list[4];
    int n = sections(parameters, optimizer, list);
    for (int s = 0; s < n; s++)
        for (guint p = 0; p < limn_parameters_get_n(parameters); p++) {
            const LimnParameterInfo *info = limn_parameters_get_info(parameters, (int) p);
            LimnArray *array = section_tensor(list[s].block, info, error);
            if (!array)
                return FALSE;
            g_ptr_array_add(arrays, array);
            g_ptr_array_add(names, g_strconcat(list[s].prefix, info->name, NULL));
        }
    return TRUE;
}

gboolean
limn_checkpoint_save(const char *path, LimnParameters *parameters,
                     LimnOptimizer *optimizer, const LimnCheckpointState *state,
                     GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) arrays =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    gint64 step = optimizer ? limn_optimizer_get_step(optimizer) : 0;
    if (!collect(parameters, optimizer, names, arrays, error))
        return FALSE;
    LimnArray *numbers = state_tensor(state, step, error);
    if (!numbers)
        return FALSE;
    g_ptr_array_add(arrays, numbers);
    g_ptr_array_add(names, g_strdup("rng.state"));
    g_autofree LimnTensorEntry *entries = g_new0(LimnTensorEntry, names->len);
    for (guint i = 0; i < names->len; i++)
        entries[i] = (LimnTensorEntry){names->pdata[i], arrays->pdata[i]};
    g_autofree char *step_text = g_strdup_printf("%" G_GINT64_FORMAT, step);
    const char *metadata[] = {"limn.kind",   state->kind,
                              "limn.step",   step_text,
                              "limn.config", state->config ? state->config : "",
                              NULL};
    return limn_safetensors_save(path, entries, names->len, metadata, error);
}

static gboolean
check_metadata(const char *path, LimnSafetensors *st, const LimnCheckpointState *state,
               GError **error)
{
    const char *kind = limn_safetensors_get_metadata(st, "limn.kind");
    const char *config = limn_safetensors_get_metadata(st, "limn.config");
    if (g_strcmp0(kind, state->kind) != 0)
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                                   "this is a checkpoint of another kind (found '%s', "
                                   "expected '%s')",
                                   kind ? kind : "none", state->kind);
    if (state->config && g_strcmp0(config, state->config) != 0)
        return limn_error_set_file(
            error, LIMN_ERROR_MISMATCH, path,
            "the checkpoint was made with other settings (found %s, "
            "expected %s)",
            config ? config : "none", state->config);
    return TRUE;
}

static gboolean
load_tensor(const char *path, LimnSafetensors *st, const Section *section,
            const LimnParameterInfo *info, GError **error)
{
    g_autofree char *name = g_strconcat(section->prefix, info->name, NULL);
    g_autoptr(LimnArray) stored = limn_safetensors_get(st, name, error);
    if (!stored)
        return FALSE;
    if (!limn_array_has_shape(stored, info->rank, info->dim)) {
        g_autofree char *found = limn_array_describe_shape(stored);
        g_autofree char *expected = limn_shape_describe(info->rank, info->dim);
        return limn_error_set_file(
            error, LIMN_ERROR_MISMATCH, path,
            "tensor '%s' has another shape (found %s, expected %s)", name, found,
            expected);
    }
    g_autoptr(LimnArray) values = limn_array_to_f32(stored, error);
    if (!values)
        return FALSE;
    memcpy(section->block + info->offset, limn_array_f32(values),
           (gsize) info->length * sizeof(float));
    return TRUE;
}

static gboolean
load_state(const char *path, LimnSafetensors *st, LimnOptimizer *optimizer,
           LimnCheckpointState *state, GError **error)
{
    g_autoptr(LimnArray) numbers = limn_safetensors_get(st, "rng.state", error);
    if (!numbers)
        return FALSE;
    if (numbers->dtype != LIMN_DTYPE_I64 || numbers->length != N_STATE)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                   "tensor 'rng.state' is not a list of %d integers",
                                   N_STATE);
    const gint64 *values = limn_array_i64(numbers);
    if (values[1] < 0)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                   "tensor 'rng.state' gives step %" G_GINT64_FORMAT
                                   " (expected at least 0)",
                                   values[1]);
    state->seed = (guint64) values[0];
    memcpy(state->counters, values + 2, sizeof state->counters);
    if (optimizer)
        limn_optimizer_set_step(optimizer, values[1]);
    return TRUE;
}

gboolean
limn_checkpoint_load(const char *path, LimnParameters *parameters,
                     LimnOptimizer *optimizer, LimnCheckpointState *state, GError **error)
{
    g_autoptr(LimnSafetensors) st = limn_safetensors_open(path, error);
    if (!st || !check_metadata(path, st, state, error))
        return FALSE;
    Section list[4];
    int n = sections(parameters, optimizer, list);
    for (int s = 0; s < n; s++)
        for (guint p = 0; p < limn_parameters_get_n(parameters); p++)
            if (!load_tensor(path, st, &list[s],
                             limn_parameters_get_info(parameters, (int) p), error))
                return FALSE;
    return load_state(path, st, optimizer, state, error);
}

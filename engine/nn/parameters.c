// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/nn/parameters.h"

#include "engine/base/error.h"
#include "engine/base/rng.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Every parameter begins at a multiple of 16 elements (64 bytes).
#define ALIGN_ELEMENTS 16
#define MAX_LENGTH ((gint64) 1 << 36)
#define BLOCKS_OF_A_TRAINING 4 // values, gradients, two moments

struct LimnParameters {
    GArray *infos; // LimnParameterInfo
    gint64 length; // MAX_LENGTH + 1: too large
    LimnReal *block, *gradients;
};

static void
clear_info(gpointer data)
{
    g_free(((LimnParameterInfo *) data)->name);
}

LimnParameters *
limn_parameters_new(void)
{
    LimnParameters *parameters = g_new0(LimnParameters, 1);
    parameters->infos = g_array_new(FALSE, TRUE, sizeof(LimnParameterInfo));
    g_array_set_clear_func(parameters->infos, clear_info);
    return parameters;
}

void
limn_parameters_free(LimnParameters *parameters)
{
    if (!parameters)
        return;
    g_array_unref(parameters->infos);
    free(parameters->block);
    free(parameters->gradients);
    g_free(parameters);
}

static LimnParameterInfo *
info_at(LimnParameters *parameters, int index)
{
    return &g_array_index(parameters->infos, LimnParameterInfo, index);
}

int
limn_parameters_add(LimnParameters *parameters, const char *name, int rank,
                    const gint64 *dim)
{
    g_return_val_if_fail(!parameters->block && rank <= LIMN_TENSOR_MAX_RANK, -1);
    LimnParameterInfo info = {.name = g_strdup(name), .rank = rank, .length = 1};
    for (int i = 0; i < LIMN_TENSOR_MAX_RANK; i++) {
        info.dim[i] = i < rank ? dim[i] : 1;
        if (info.dim[i] < 0 ||
            __builtin_mul_overflow(info.length, info.dim[i], &info.length))
            info.length = MAX_LENGTH + 1;
    }
    info.length = MIN(info.length, MAX_LENGTH + 1);
    info.decay = rank >= 2 && !strstr(name, "position");
    info.offset = parameters->length;
    parameters->length +=
        (info.length + ALIGN_ELEMENTS - 1) / ALIGN_ELEMENTS * ALIGN_ELEMENTS;
    parameters->length = MIN(parameters->length, MAX_LENGTH + 1);
    g_array_append_val(parameters->infos, info);
    return (int) parameters->infos->len - 1;
}

// Asked before memory is touched: more than there is would not fail but end the program.
static gsize
machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (gsize) pages * (gsize) size : G_MAXSIZE;
}

LimnReal *
limn_parameters_new_block(LimnParameters *parameters)
{
    if (parameters->length > MAX_LENGTH)
        return NULL;
    gsize bytes = (gsize) MAX(parameters->length, ALIGN_ELEMENTS) * sizeof(LimnReal);
    if (bytes > machine_memory() / BLOCKS_OF_A_TRAINING)
        return NULL;
    LimnReal *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (block)
        memset(block, 0, bytes);
    return block;
}

gboolean
limn_parameters_allocate(LimnParameters *parameters, GError **error)
{
    parameters->block = limn_parameters_new_block(parameters);
    if (parameters->block)
        parameters->gradients = limn_parameters_new_block(parameters);
    if (parameters->block && parameters->gradients)
        return TRUE;
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                "no room for %s%" G_GINT64_FORMAT " parameters",
                parameters->length > MAX_LENGTH ? "more than " : "",
                MIN(parameters->length, MAX_LENGTH));
    return FALSE;
}

void
limn_parameters_set_decay(LimnParameters *parameters, int index, gboolean decay)
{
    info_at(parameters, index)->decay = decay;
}

void
limn_parameters_set_frozen(LimnParameters *parameters, int index, gboolean frozen)
{
    info_at(parameters, index)->frozen = frozen;
}

guint
limn_parameters_get_n(LimnParameters *parameters)
{
    return parameters->infos->len;
}

gint64
limn_parameters_get_length(LimnParameters *parameters)
{
    return parameters->length;
}

const LimnParameterInfo *
limn_parameters_get_info(LimnParameters *parameters, int index)
{
    return info_at(parameters, index);
}

int
limn_parameters_find(LimnParameters *parameters, const char *name)
{
    for (guint i = 0; i < parameters->infos->len; i++)
        if (strcmp(info_at(parameters, (int) i)->name, name) == 0)
            return (int) i;
    return -1;
}

LimnReal *
limn_parameters_get_values(LimnParameters *parameters, int index)
{
    return parameters->block + info_at(parameters, index)->offset;
}

LimnReal *
limn_parameters_get_gradient(LimnParameters *parameters, int index)
{
    return parameters->gradients + info_at(parameters, index)->offset;
}

LimnReal *
limn_parameters_get_block(LimnParameters *parameters)
{
    return parameters->block;
}

LimnReal *
limn_parameters_get_gradient_block(LimnParameters *parameters)
{
    return parameters->gradients;
}

LimnTensor *
limn_parameters_leaf(LimnParameters *parameters, int index, LimnTape *tape)
{
    LimnParameterInfo *info = info_at(parameters, index);
    return limn_tape_leaf(tape, info->rank, info->dim, parameters->block + info->offset,
                          info->frozen ? NULL : parameters->gradients + info->offset);
}

void
limn_parameters_zero_gradients(LimnParameters *parameters)
{
    memset(parameters->gradients, 0, (gsize) parameters->length * sizeof(LimnReal));
}

void
limn_parameters_fill_normal(LimnParameters *parameters, int index, guint64 seed,
                            guint64 stream, double deviation)
{
    LimnReal *values = limn_parameters_get_values(parameters, index);
    LimnRng rng = limn_rng_make(seed, stream);
    for (gint64 i = 0; i < info_at(parameters, index)->length; i++)
        values[i] = (LimnReal) (deviation * limn_rng_normal(&rng));
}

void
limn_parameters_fill(LimnParameters *parameters, int index, double value)
{
    LimnReal *values = limn_parameters_get_values(parameters, index);
    for (gint64 i = 0; i < info_at(parameters, index)->length; i++)
        values[i] = (LimnReal) value;
}

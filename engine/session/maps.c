// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/maps.h"

#include "engine/base/error.h"

#include <math.h>

LimnArray *
limn_map_difference(const LimnArray *a, const LimnArray *b, GError **error)
{
    LimnArray *difference;
    const float *p, *q;
    float *out;

    if (!limn_array_has_shape(a, b->rank, b->shape)) {
        g_autofree char *found = limn_array_describe_shape(b);
        g_autofree char *expected = limn_array_describe_shape(a);

        g_set_error(
            error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
            "maps of different shape cannot be subtracted (found %s, expected %s)", found,
            expected);
        return NULL;
    }
    difference = limn_array_new(LIMN_DTYPE_F32, a->rank, a->shape, error);
    if (!difference)
        return NULL;
    p = limn_array_f32(a);
    q = limn_array_f32(b);
    out = limn_array_f32(difference);
    for (gint64 i = 0; i < a->length; i++)
        out[i] = p[i] - q[i];
    return difference;
}

void
limn_softmax(const double *logits, guint n, double *probabilities)
{
    double largest = -INFINITY, sum = 0;

    for (guint i = 0; i < n; i++)
        if (!isnan(logits[i]))
            largest = MAX(largest, logits[i]);
    for (guint i = 0; i < n; i++) {
        probabilities[i] = isnan(logits[i]) ? NAN : exp(logits[i] - largest);
        if (!isnan(probabilities[i]))
            sum += probabilities[i];
    }
    for (guint i = 0; i < n; i++)
        probabilities[i] /= sum;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/session/maps.h"

#include <math.h>
#include <string.h>

static LimnArray *
make(gint64 rows, gint64 cols, const float *values)
{
    LimnArray *array = limn_array_new_f32_2d(rows, cols, NULL);

    memcpy(limn_array_f32(array), values, (gsize) (rows * cols) * sizeof(float));
    return array;
}

static void
test_difference(void)
{
    g_autoptr(LimnArray) a = make(2, 2, (const float[]){1, 2, NAN, 0.5f});
    g_autoptr(LimnArray) b = make(2, 2, (const float[]){3, 2, 1, 0.25f});
    g_autoptr(LimnArray) c = make(1, 4, (const float[]){3, 2, 1, 0.25f});
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) difference = limn_map_difference(a, b, &error);
    const float *values = limn_array_f32(difference);

    g_assert_no_error(error);
    g_assert_cmpfloat(values[0], ==, -2);
    g_assert_cmpfloat(values[1], ==, 0);
    g_assert_true(isnan(values[2]));
    g_assert_cmpfloat(values[3], ==, 0.25f);
    g_assert_null(limn_map_difference(a, c, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH);
    g_assert_nonnull(strstr(error->message, "[1, 4]"));
    g_assert_nonnull(strstr(error->message, "[2, 2]"));
}

static void
test_softmax(void)
{
    const double logits[] = {1000, 1000 + log(3), NAN, -INFINITY};
    double p[4];

    limn_softmax(logits, 4, p);
    g_assert_cmpfloat(fabs(p[0] - 0.25), <, 1e-12);
    g_assert_cmpfloat(fabs(p[1] - 0.75), <, 1e-12);
    g_assert_true(isnan(p[2]));
    g_assert_cmpfloat(p[3], ==, 0);
    limn_softmax(logits, 1, p);
    g_assert_cmpfloat(p[0], ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/session/maps/difference", test_difference);
    g_test_add_func("/session/maps/softmax", test_softmax);
    return g_test_run();
}

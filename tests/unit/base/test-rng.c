// SPDX-License-Identifier: GPL-3.0-or-later

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "engine/base/rng.h"

static json_t *
load_golden(void)
{
    g_autofree char *path = g_build_filename(g_getenv("LIMN_TEST_DATA"), "golden",
                                             "autodiff", "rng.json", NULL);
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    g_assert_nonnull(root);
    return root;
}

static void
read_words(json_t *object, const char *key, guint32 *out, gsize n)
{
    json_t *list = json_object_get(object, key);
    g_assert_cmpuint(json_array_size(list), ==, n);
    for (gsize i = 0; i < n; i++) {
        out[i] = (guint32) json_integer_value(json_array_get(list, i));
    }
}

static void
test_known_answers(void)
{
    json_t *root = load_golden();
    json_t *list = json_object_get(root, "philox_kat");
    gsize i;
    json_t *item;
    g_assert_cmpuint(json_array_size(list), >, 0);
    json_array_foreach(list, i, item)
    {
        guint32 counter[4], key[2], expected[4], out[4];
        read_words(item, "ctr", counter, 4);
        read_words(item, "key", key, 2);
        read_words(item, "out", expected, 4);
        limn_philox4x32(counter, key, out);
        g_assert_cmpmem(out, sizeof out, expected, sizeof expected);
    }
    json_decref(root);
}

static void
check_permutation(LimnRng rng, json_t *values, guint32 n)
{
    g_autofree guint32 *order = g_new(guint32, n);
    limn_rng_permutation(&rng, n, order);
    for (guint32 i = 0; i < n; i++) {
        g_assert_cmpint(order[i], ==, json_integer_value(json_array_get(values, i)));
    }
}

static void
check_stream(guint64 seed, json_t *stream)
{
    const char *dist = json_string_value(json_object_get(stream, "dist"));
    guint64 number = (guint64) json_integer_value(json_object_get(stream, "stream"));
    json_t *values = json_object_get(stream, "values");
    LimnRng rng = limn_rng_make(seed, number);
    if (strcmp(dist, "permutation") == 0) {
        check_permutation(rng, values,
                          (guint32) json_integer_value(json_object_get(stream, "n")));
        return;
    }
    gsize i;
    json_t *value;
    json_array_foreach(values, i, value)
    {
        double expected = json_number_value(value);
        if (strcmp(dist, "uint32") == 0) {
            g_assert_cmpint(limn_rng_uint32(&rng), ==, json_integer_value(value));
        } else if (strcmp(dist, "uniform") == 0) {
            g_assert_cmpfloat_with_epsilon(limn_rng_uniform(&rng), expected, 1e-6);
        } else if (strcmp(dist, "normal") == 0) {
            g_assert_cmpfloat_with_epsilon(limn_rng_normal(&rng), expected, 1e-6);
        } else if (strcmp(dist, "exponential") == 0) {
            g_assert_cmpfloat_with_epsilon(limn_rng_exponential(&rng), expected, 1e-6);
        } else if (strcmp(dist, "poisson") == 0) {
            double lambda = json_number_value(json_object_get(stream, "lambda"));
            g_assert_cmpint(limn_rng_poisson(&rng, lambda), ==,
                            json_integer_value(value));
        } else {
            g_error("unknown distribution %s", dist);
        }
    }
}

static void
test_streams(void)
{
    json_t *root = load_golden();
    json_t *options = json_object_get(root, "options");
    guint64 seed = (guint64) json_integer_value(json_object_get(options, "seed"));
    json_t *streams = json_object_get(root, "streams");
    gsize i;
    json_t *stream;
    g_assert_cmpuint(json_array_size(streams), >, 0);
    json_array_foreach(streams, i, stream)
    {
        check_stream(seed, stream);
    }
    json_decref(root);
}

static void
test_random_access(void)
{
    LimnRng rng = limn_rng_make(0x123456789abcdef0, 0xfedcba9876543210);
    LimnRng normal = rng;
    for (guint64 i = 0; i < 40; i++) {
        g_assert_cmpfloat(limn_rng_normal_at(&rng, i), ==, limn_rng_normal(&normal));
    }
    LimnRng sequence = rng;
    for (guint64 i = 0; i < 40; i++) {
        g_assert_cmpuint(limn_rng_uint32_at(&rng, i), ==, limn_rng_uint32(&sequence));
        float u = limn_rng_uniform_at(&rng, i);
        g_assert_true(u >= 0 && u < 1);
    }
    g_assert_cmpuint(sequence.position, ==, 40);
    // The upper half of the block number is part of the counter.
    g_assert_cmpuint(limn_rng_uint32_at(&rng, 0), !=,
                     limn_rng_uint32_at(&rng, (guint64) 1 << 34));
}

static void
test_below(void)
{
    LimnRng rng = limn_rng_make(5, 6);
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        counts[limn_rng_below(&rng, 7)]++;
    }
    for (int i = 0; i < 7; i++) { // five standard deviations
        g_assert_cmpint(ABS(counts[i] - 10000), <, 470);
    }
    g_assert_cmpuint(limn_rng_below(&rng, 1), ==, 0);
    // For this n the plain product would take the upper third twice as often.
    const guint32 n = 0xaaaaaaab;
    int low = 0;
    for (int i = 0; i < 30000; i++) {
        low += limn_rng_below(&rng, n) < n / 2;
    }
    g_assert_cmpint(ABS(low - 15000), <, 450);
}

static void
test_poisson_large(void)
{
    const double lambdas[] = {64.5, 100, 5000};
    for (guint l = 0; l < G_N_ELEMENTS(lambdas); l++) {
        LimnRng rng = limn_rng_make(7, l);
        double sum = 0, square = 0;
        const int n = 20000;
        for (int i = 0; i < n; i++) {
            double x = limn_rng_poisson(&rng, lambdas[l]);
            sum += x;
            square += x * x;
        }
        double mean = sum / n, variance = square / n - mean * mean;
        g_assert_cmpfloat(fabs(mean - lambdas[l]), <, 5 * sqrt(lambdas[l] / n));
        g_assert_cmpfloat(fabs(variance / lambdas[l] - 1), <, 0.06);
    }
    LimnRng rng = limn_rng_make(1, 1);
    g_assert_cmpuint(limn_rng_poisson(&rng, 0), ==, 0);
}

static void
test_permutation(void)
{
    LimnRng rng = limn_rng_make(8, 9);
    guint32 order[257];
    gboolean seen[257] = {FALSE};
    limn_rng_permutation(&rng, 257, order);
    for (int i = 0; i < 257; i++) {
        g_assert_cmpuint(order[i], <, 257);
        g_assert_false(seen[order[i]]);
        seen[order[i]] = TRUE;
    }
    g_assert_cmpuint(rng.position, ==, 256);
    limn_rng_permutation(&rng, 0, NULL);
    limn_rng_permutation(&rng, 1, order);
    g_assert_cmpuint(order[0], ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rng/known-answers", test_known_answers);
    g_test_add_func("/rng/streams", test_streams);
    g_test_add_func("/rng/random-access", test_random_access);
    g_test_add_func("/rng/below", test_below);
    g_test_add_func("/rng/poisson-large", test_poisson_large);
    g_test_add_func("/rng/permutation", test_permutation);
    return g_test_run();
}

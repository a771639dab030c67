// SPDX-License-Identifier: GPL-3.0-or-later

// limn-cli bench: its output and its refusals. Times are not looked at.

#include <glib.h>
#include <jansson.h>
#include <string.h>
#include <sys/wait.h>

static char *program;

static int
run(char **out, char **err, const char *const *words)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    int status = 0;
    g_ptr_array_add(argv, program);
    for (guint i = 0; words[i] != NULL; i++) {
        g_ptr_array_add(argv, (gpointer) (guintptr) words[i]);
    }
    g_ptr_array_add(argv, NULL);
    g_spawn_sync(NULL, (char **) argv->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, out, err,
                 &status, &error);
    g_assert_no_error(error);
    g_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void
test_json(void)
{
    g_autofree char *out = NULL, *err = NULL;
    const char *const words[] = {"bench", "gemm-small", "--json", "--threads=1", NULL};
    g_assert_cmpint(run(&out, &err, words), ==, 0);
    g_assert_cmpstr(err, ==, "");
    json_t *root = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
    g_assert_nonnull(root);
    json_t *machine = json_object_get(root, "machine");
    g_assert_cmpint(json_integer_value(json_object_get(machine, "threads")), ==, 1);
    json_t *benchmark = json_array_get(json_object_get(root, "benchmarks"), 0);
    g_assert_cmpstr(json_string_value(json_object_get(benchmark, "id")), ==,
                    "gemm-small");
    json_t *results = json_object_get(benchmark, "results");
    g_assert_cmpuint(json_array_size(results), >, 0);
    gsize i;
    json_t *result;
    json_array_foreach(results, i, result)
    {
        json_t *compared = json_object_get(result, "compared");
        g_assert_cmpfloat(json_number_value(json_object_get(result, "median")), >, 0);
        g_assert_cmpfloat(json_number_value(json_object_get(compared, "median")), >, 0);
        g_assert_cmpfloat(json_number_value(json_object_get(result, "ratio")), >, 0);
        g_assert_cmpfloat(json_number_value(json_object_get(result, "low")), <=,
                          json_number_value(json_object_get(result, "high")));
    }
    json_decref(root);
}

static void
test_text(void)
{
    g_autofree char *out = NULL, *err = NULL;
    const char *const words[] = {"bench", "gemm-small", NULL};
    g_assert_cmpint(run(&out, &err, words), ==, 0);
    g_assert_nonnull(strstr(out, "gemm-small: small matrix products"));
    g_assert_nonnull(strstr(out, "times faster"));
}

static void
test_usage(void)
{
    const char *const cases[][4] = {
        {"bench", "nonsense", NULL, NULL},    {"bench", "gemm-small", "clip-image", NULL},
        {"bench", "--threads=0", NULL, NULL}, {"bench", "--threads=x", NULL, NULL},
        {"bench", "--nonsense", NULL, NULL},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *out = NULL, *err = NULL;
        g_assert_cmpint(run(&out, &err, cases[i]), ==, 2);
        g_assert_cmpstr(out, ==, "");
        g_assert_true(g_str_has_prefix(err, "limn-cli: "));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    program = g_strdup(g_getenv("LIMN_CLI"));
    g_assert_nonnull(program);
    g_test_add_func("/cli/bench/json", test_json);
    g_test_add_func("/cli/bench/text", test_text);
    g_test_add_func("/cli/bench/usage", test_usage);
    int status = g_test_run();
    g_free(program);
    return status;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/file.h"
#include "engine/session/samples.h"

#include <string.h>

static void
test_installed(void)
{
    g_autofree char *folder = limn_data_path("samples", NULL);
    g_autoptr(GPtrArray) samples = limn_samples_list(folder);
    const LimnSample *sample;

    g_assert_cmpuint(samples->len, ==, 8);
    for (guint i = 0; i < samples->len; i++) {
        sample = samples->pdata[i];
        g_assert_true(g_file_test(sample->picture, G_FILE_TEST_EXISTS));
        g_assert_true(g_file_test(sample->labels, G_FILE_TEST_EXISTS));
        g_assert_cmpuint(g_strv_length(sample->prompts), >=, 2);
    }
    sample = samples->pdata[3];
    g_assert_cmpstr(sample->title, ==, "Dog and car");
    g_assert_cmpstr(sample->prompts[0], ==, "a dog");
    g_assert_cmpstr(sample->prompts[1], ==, "an automobile");
}

static void
test_beside_picture(void)
{
    g_autofree char *picture = limn_data_path("samples/dog-and-car.png", NULL);
    g_autofree char *labels = limn_data_path("samples/dog-and-car_labels.png", NULL);
    g_autoptr(LimnSample) sample = limn_sample_of_picture(picture);

    g_assert_nonnull(sample);
    g_assert_cmpstr(sample->picture, ==, picture);
    g_assert_cmpstr(sample->prompts[0], ==, "a dog");
    g_assert_null(limn_sample_of_picture(labels)); // named by no description of its own
    g_assert_null(limn_sample_of_picture("/does/not/exist.png"));
    g_assert_null(limn_sample_of_picture("no-extension"));
}

static void
test_malformed(void)
{
    static const char *const files[][2] = {
        {"a.json", "{"},
        {"b.json", "[]"},
        {"c.json", "{\"picture\": \"../../etc/passwd\"}"}, // no path out of the folder
        {"d.json", "{\"picture\": 3, \"objects\": {}}"},
        {"e.json", "{\"picture\": \"p.png\", \"objects\": [1, {\"name\": \"\"}, "
                   "{\"name\": \"ox\"}]}"},
        {"notes.txt", "nothing"},
    };
    g_autofree char *folder = g_dir_make_tmp("limn-samples-XXXXXX", NULL);
    g_autoptr(GPtrArray) samples = NULL;
    const LimnSample *sample;

    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(folder, files[i][0], NULL);

        g_assert_true(g_file_set_contents(path, files[i][1], -1, NULL));
    }
    samples = limn_samples_list(folder);
    g_assert_cmpuint(samples->len, ==, 1);
    sample = samples->pdata[0];
    g_assert_cmpuint(g_strv_length(sample->prompts), ==, 1);
    g_assert_cmpstr(sample->prompts[0], ==, "an ox");
    limn_remove_tree(folder, NULL);
    g_clear_pointer(&samples, g_ptr_array_unref);
    samples = limn_samples_list("/does/not/exist");
    g_assert_cmpuint(samples->len, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/session/samples/installed", test_installed);
    g_test_add_func("/session/samples/beside-picture", test_beside_picture);
    g_test_add_func("/session/samples/malformed", test_malformed);
    return g_test_run();
}

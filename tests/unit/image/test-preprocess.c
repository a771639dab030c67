// SPDX-License-Identifier: GPL-3.0-or-later

#include <jansson.h>
#include <math.h>

#include "engine/image/resample.h"
#include "engine/io/npy.h"
#include "engine/io/picture.h"
#include "tests/unit/image/image-testing.h"

static const LimnPreprocess clip_options = {
    .mode = LIMN_PREPROCESS_CLIP,
    .size = 224,
    .mean = {0.48145466f, 0.4578275f, 0.40821073f},
    .std = {0.26862954f, 0.26130258f, 0.27577711f},
};

static LimnArray *
load_array(const char *folder, const char *name, const char *suffix)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_strconcat(folder, "/", name, suffix, NULL);
    g_autofree char *path = test_path(file);
    LimnArray *array = limn_npy_load(path, &error);
    g_assert_no_error(error);
    return array;
}

static LimnPreprocessed *
preprocess(LimnImage *image, const LimnPreprocess *options, LimnJob *job)
{
    g_autoptr(GError) error = NULL;
    LimnPreprocessed *result = limn_preprocess(image, options, job, &error);
    g_assert_no_error(error);
    return result;
}

static void
assert_pair(json_t *item, const char *key, int first, int second)
{
    json_t *pair = json_object_get(item, key);
    g_assert_cmpint(json_integer_value(json_array_get(pair, 0)), ==, first);
    g_assert_cmpint(json_integer_value(json_array_get(pair, 1)), ==, second);
}

static void
assert_tensor(const LimnArray *tensor, const LimnArray *expected)
{
    g_assert_true(limn_array_has_shape(tensor, expected->rank, expected->shape));
    for (gint64 i = 0; i < expected->length; i++) {
        g_assert_cmpfloat_with_epsilon(limn_array_get_double(tensor, i),
                                       limn_array_get_double(expected, i), 1e-6);
    }
}

static void
check_golden_case(json_t *item)
{
    static const char folder[] = "golden/grad_eclip/preprocess";
    g_autoptr(GError) error = NULL;
    const char *name = json_string_value(json_object_get(item, "name"));
    g_autofree char *file = g_strconcat(folder, "/", name, ".png", NULL);
    g_autofree char *path = test_path(file);
    g_autoptr(LimnImage) image = limn_picture_load(path, NULL, &error);
    g_assert_no_error(error);
    assert_pair(item, "source_wh", image->width, image->height);
    for (int keep = 0; keep < 2; keep++) {
        LimnPreprocess options = clip_options;
        options.mode = keep ? LIMN_PREPROCESS_KEEP : LIMN_PREPROCESS_CLIP;
        options.size = (int) json_integer_value(json_object_get(item, "target"));
        options.patch = (int) json_integer_value(json_object_get(item, "patch"));
        options.keep_limit = 640;
        g_autoptr(LimnPreprocessed) result = preprocess(image, &options, NULL);
        assert_pair(item, keep ? "keep_wh" : "resized_wh", result->resized_width,
                    result->resized_height);
        if (!keep) {
            assert_pair(item, "crop_left_top", result->crop_left, result->crop_top);
        }
        g_autoptr(LimnArray) bytes =
            load_array(folder, name, keep ? "_keep_u8.npy" : "_clip_u8.npy");
        g_autoptr(LimnArray) tensor =
            load_array(folder, name, keep ? "_keep_tensor.npy" : "_clip_tensor.npy");
        assert_equals_array(result->image, bytes);
        assert_tensor(result->tensor, tensor);
    }
}

static void
test_golden(void)
{
    g_autofree char *path = test_path("golden/grad_eclip/preprocess/cases.json");
    json_t *cases = json_load_file(path, 0, NULL);
    g_assert_cmpuint(json_array_size(cases), ==, 9);
    for (gsize i = 0; i < json_array_size(cases); i++) {
        check_golden_case(json_array_get(cases, i));
    }
    json_decref(cases);
}

// The samples that come with the program, as the built-in model's recipe saw them.
static void
test_builtin_model(void)
{
    static const char folder[] = "models/emoji-clip/expected";
    g_autofree char *path = test_path("models/emoji-clip/expected/cases.json");
    json_t *root = json_load_file(path, 0, NULL);
    json_t *cases = json_object_get(root, "cases");
    g_assert_cmpuint(json_array_size(cases), ==, 4);
    for (gsize i = 0; i < json_array_size(cases); i++) {
        g_autoptr(GError) error = NULL;
        json_t *item = json_array_get(cases, i);
        g_autofree char *base =
            g_path_get_basename(json_string_value(json_object_get(item, "picture")));
        g_autofree char *sample =
            g_build_filename(g_getenv("LIMN_DATA_DIR"), "samples", base, NULL);
        g_autoptr(LimnImage) image = limn_picture_load(sample, NULL, &error);
        g_assert_no_error(error);
        g_autoptr(LimnArray) expected = load_array(
            folder, json_string_value(json_object_get(item, "resized_u8")), "");
        LimnPreprocess options = clip_options;
        options.size = (int) expected->shape[0];
        g_autoptr(LimnPreprocessed) result = preprocess(image, &options, NULL);
        assert_equals_array(result->image, expected);
    }
    json_decref(root);
}

// Excess 2k: k. Odd excess: halves go to the even neighbour.
static void
test_half_even_crop(void)
{
    static const int cases[][2] = {{224, 0}, {225, 0}, {226, 1}, {227, 2},
                                   {228, 2}, {229, 2}, {230, 3}, {231, 4}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(LimnImage) wide = test_pattern(cases[i][0], 224, LIMN_PIXELS_RGB);
        g_autoptr(LimnPreprocessed) result = preprocess(wide, &clip_options, NULL);
        g_assert_cmpint(result->resized_width, ==, cases[i][0]);
        g_assert_cmpint(result->crop_left, ==, cases[i][1]);
        g_assert_cmpint(result->crop_top, ==, 0);
        g_autoptr(LimnImage) crop = limn_crop(wide, cases[i][1], 0, 224, 224, NULL);
        assert_same_pixels(result->image, crop);
    }
}

// Strong reduction of a picture that is not square: the bytes are those of resizing the
// whole picture and cropping it, and the rectangle is what the model saw.
static void
test_hard_b47(void)
{
    g_autoptr(LimnImage) image = test_pattern(1037, 691, LIMN_PIXELS_RGB);
    g_autoptr(LimnPreprocessed) result = preprocess(image, &clip_options, NULL);
    g_assert_cmpint(result->resized_width, ==, 336);
    g_assert_cmpint(result->resized_height, ==, 224);
    g_assert_cmpint(result->crop_left, ==, 56);
    g_autoptr(LimnImage) whole = limn_resize_bicubic(image, 336, 224, NULL, NULL);
    g_autoptr(LimnImage) crop = limn_crop(whole, 56, 0, 224, 224, NULL);
    assert_same_pixels(result->image, crop);
    g_assert_cmpfloat_with_epsilon(result->rect.x, 56.0 * 1037 / 336, 1e-9);
    g_assert_cmpfloat_with_epsilon(result->rect.width, 224.0 * 1037 / 336, 1e-9);
    g_assert_cmpfloat_with_epsilon(result->rect.y, 0, 1e-9);
    g_assert_cmpfloat_with_epsilon(result->rect.height, 691, 1e-9);
}

static void
test_hard_b48(void)
{
    static const struct {
        int width, height, resized_width, resized_height, keep_width, keep_height;
    } cases[] = {
        {640, 480, 298, 224, 640, 480}, {224, 223, 225, 224, 224, 224},
        {17, 900, 224, 11858, 16, 896}, {900, 17, 11858, 224, 896, 16},
        {1, 1, 224, 224, 16, 16},       {3, 5000, 224, 373333, 16, 5008},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(LimnImage) image =
            test_pattern(cases[i].width, cases[i].height, LIMN_PIXELS_RGB);
        g_autoptr(LimnPreprocessed) clip = preprocess(image, &clip_options, NULL);
        g_assert_cmpint(clip->resized_width, ==, cases[i].resized_width);
        g_assert_cmpint(clip->resized_height, ==, cases[i].resized_height);
        g_assert_cmpint(clip->image->width, ==, 224);
        g_assert_cmpint(clip->image->height, ==, 224);
        g_assert_cmpfloat(clip->rect.x + clip->rect.width, <=, cases[i].width + 1e-6);
        g_assert_cmpfloat(clip->rect.y + clip->rect.height, <=, cases[i].height + 1e-6);
        LimnPreprocess options = clip_options;
        options.mode = LIMN_PREPROCESS_KEEP;
        options.patch = 16;
        g_autoptr(LimnPreprocessed) keep = preprocess(image, &options, NULL);
        g_assert_cmpint(keep->image->width, ==, cases[i].keep_width);
        g_assert_cmpint(keep->image->height, ==, cases[i].keep_height);
        g_assert_cmpint(keep->tensor->shape[1], ==, cases[i].keep_height);
        g_assert_cmpfloat(keep->rect.width, ==, cases[i].width);
        g_assert_cmpfloat(keep->rect.height, ==, cases[i].height);
    }
}

// The short side above the limit is shrunk to it first, sizes truncated.
static void
test_keep_limit(void)
{
    g_autoptr(LimnImage) image = test_pattern(1300, 701, LIMN_PIXELS_RGB);
    LimnPreprocess options = clip_options;
    options.mode = LIMN_PREPROCESS_KEEP;
    options.patch = 32;
    options.keep_limit = 640;
    g_autoptr(LimnPreprocessed) result = preprocess(image, &options, NULL);
    g_autoptr(LimnImage) limited = limn_resize_bicubic(image, 1186, 640, NULL, NULL);
    g_autoptr(LimnImage) expected = limn_resize_bicubic(limited, 1184, 640, NULL, NULL);
    assert_same_pixels(result->image, expected);
    g_assert_cmpfloat(result->rect.width, ==, 1300);
    g_assert_cmpfloat(result->rect.height, ==, 701);
    options.keep_limit = 0;
    g_autoptr(LimnPreprocessed) unlimited = preprocess(image, &options, NULL);
    g_assert_cmpint(unlimited->image->width, ==, 1312);
    g_assert_cmpint(unlimited->image->height, ==, 704);
}

static void
test_squash_and_bilinear(void)
{
    g_autoptr(LimnImage) image = test_pattern(90, 40, LIMN_PIXELS_RGB);
    LimnPreprocess options = clip_options;
    options.size = 32;
    options.squash = TRUE;
    options.bilinear = TRUE;
    g_autoptr(LimnPreprocessed) result = preprocess(image, &options, NULL);
    g_autoptr(LimnImage) expected =
        limn_resize_bilinear_antialias(image, 32, 32, NULL, NULL);
    assert_same_pixels(result->image, expected);
    g_assert_cmpint(result->crop_left, ==, 0);
    g_assert_cmpfloat(result->rect.width, ==, 90);
    g_assert_cmpfloat(result->rect.height, ==, 40);
}

static void
test_normalisation(void)
{
    g_autoptr(LimnImage) image = test_image(1, 1, LIMN_PIXELS_RGB, LIMN_DEPTH_U8);
    memcpy(image->data, "\0\200\377", 3);
    LimnPreprocess options = clip_options;
    options.size = 1;
    g_autoptr(LimnPreprocessed) result = preprocess(image, &options, NULL);
    const double unit[] = {0, 128 / 255.0, 1};
    for (int c = 0; c < 3; c++) {
        double expected = (unit[c] - (double) options.mean[c]) / (double) options.std[c];
        g_assert_cmpfloat_with_epsilon(limn_array_get_double(result->tensor, c), expected,
                                       1e-6);
    }
}

// Pictures of more than 8 bits: one rule, said in a diagnostic where it may surprise.
static void
test_deep_pictures(void)
{
    LimnPreprocess options = clip_options;
    options.size = 4;
    g_autoptr(LimnImage) dark = test_image(4, 4, LIMN_PIXELS_GREY, LIMN_DEPTH_U16);
    g_autoptr(LimnImage) floats = test_image(4, 4, LIMN_PIXELS_GREY, LIMN_DEPTH_F32);
    for (int i = 0; i < 16; i++) {
        ((guint16 *) dark->data)[i] = (guint16) (i * 273); // 0..4095
        ((float *) floats->data)[i] = (float) i * 20;
    }
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnPreprocessed) as_type = preprocess(dark, &options, job);
    assert_diagnostic(job, "the picture uses only 0 to 4095 of its range of 0 to 65535");
    g_assert_cmpfloat(limn_image_get_sample(as_type->image, 3, 3, 0), ==, 16);
    options.data_range = TRUE;
    g_autoptr(LimnPreprocessed) as_data = preprocess(dark, &options, job);
    assert_diagnostic(job, "samples, 0 to 4095, was mapped");
    g_assert_cmpfloat(limn_image_get_sample(as_data->image, 3, 3, 0), ==, 255);
    options.data_range = FALSE;
    g_autoptr(LimnPreprocessed) of_floats = preprocess(floats, &options, job);
    assert_diagnostic(job, "samples, 0 to 300, was mapped");
    g_assert_cmpfloat(limn_image_get_sample(of_floats->image, 1, 0, 0), ==, 17);

    g_autoptr(LimnJob) quiet = limn_job_new();
    g_autoptr(LimnImage) bytes = test_pattern(4, 4, LIMN_PIXELS_GREY);
    limn_preprocessed_free(preprocess(bytes, &options, quiet));
    g_assert_cmpint(test_count_diagnostics(quiet), ==, 0);
}

static void
expect_error(LimnImage *image, const LimnPreprocess *options, LimnJob *job,
             LimnErrorCode code)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_preprocess(image, options, job, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
}

static void
test_errors(void)
{
    g_autoptr(LimnImage) image = test_pattern(8, 8, LIMN_PIXELS_RGB);
    LimnPreprocess options = clip_options;
    options.size = 0;
    expect_error(image, &options, NULL, LIMN_ERROR_ARGUMENT);
    options.mode = LIMN_PREPROCESS_KEEP;
    options.patch = -3;
    expect_error(image, &options, NULL, LIMN_ERROR_ARGUMENT);
    options = clip_options;
    options.std[1] = 0;
    expect_error(image, &options, NULL, LIMN_ERROR_FORMAT);
    options.std[1] = NAN;
    expect_error(image, &options, NULL, LIMN_ERROR_FORMAT);
    options = clip_options;
    options.mean[2] = INFINITY;
    expect_error(image, &options, NULL, LIMN_ERROR_FORMAT);
    g_autoptr(LimnImage) strip = test_image(1, 20000000, LIMN_PIXELS_GREY, LIMN_DEPTH_U8);
    expect_error(strip, &clip_options, NULL, LIMN_ERROR_UNSUPPORTED);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    expect_error(image, &clip_options, job, LIMN_ERROR_CANCELLED);
    limn_preprocessed_free(NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/preprocess/golden", test_golden);
    g_test_add_func("/preprocess/builtin-model", test_builtin_model);
    g_test_add_func("/preprocess/half-even-crop", test_half_even_crop);
    g_test_add_func("/preprocess/keep-limit", test_keep_limit);
    g_test_add_func("/preprocess/squash-and-bilinear", test_squash_and_bilinear);
    g_test_add_func("/preprocess/normalisation", test_normalisation);
    g_test_add_func("/preprocess/deep-pictures", test_deep_pictures);
    g_test_add_func("/preprocess/errors", test_errors);
    g_test_add_func("/hard/B47-same-bytes-as-the-reference", test_hard_b47);
    g_test_add_func("/hard/B48-not-square", test_hard_b48);
    return g_test_run();
}

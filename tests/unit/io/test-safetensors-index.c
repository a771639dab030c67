// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/io/safetensors.h"
#include "tests/unit/loader-test.h"

#define INDEX "model.safetensors.index.json"

// A shard with tensor `name` [n] = value, value + 1, ..., and one more that no index
// names.
static void
write_shard(const char *folder, const char *file, const char *name, gint64 n, float value)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(folder, file, NULL);
    g_autoptr(LimnArray) array = limn_array_new_f32_1d(n, &error);
    for (gint64 i = 0; i < n; i++)
        limn_array_f32(array)[i] = value + i;
    const LimnTensorEntry entries[] = {{name, array}, {"unnamed", array}};
    static const char *const METADATA[] = {"format", "pt", NULL};
    g_assert_true(limn_safetensors_save(path, entries, 2, METADATA, &error));
    g_assert_no_error(error);
}

static LimnSafetensors *
open_index(const char *folder, const char *json, GError **error)
{
    g_autofree char *path = write_file(folder, INDEX, json, strlen(json));
    return limn_safetensors_open(path, error);
}

#define THREE                                                                            \
    "{\"metadata\": {\"total_size\": 36}, \"weight_map\": {"                             \
    "\"a\": \"model-00001-of-00003.safetensors\", \"b\": \"second.safetensors\", "       \
    "\"c\": \"model.safetensors-00001-of-00002.safetensors\"}}\n"

static void
test_b43_shards(void)
{
    g_autofree char *folder = make_folder();
    g_autoptr(GError) error = NULL;
    write_shard(folder, "model-00001-of-00003.safetensors", "a", 2, 10);
    write_shard(folder, "second.safetensors", "b", 3, 20);
    write_shard(folder, "model.safetensors-00001-of-00002.safetensors", "c", 4, 30);
    g_autoptr(LimnSafetensors) st = open_index(folder, THREE, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(limn_safetensors_n_tensors(st), ==, 3);
    static const char *const NAMES[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        g_autoptr(LimnArray) array = limn_safetensors_get(st, NAMES[i], &error);
        g_assert_no_error(error);
        g_assert_cmpint(array->length, ==, i + 2);
        g_assert_cmpfloat(limn_array_f32(array)[1], ==, 10 * (i + 1) + 1);
        g_assert_cmpstr(limn_safetensors_get_info(st, i)->name, ==, NAMES[i]);
    }
    g_assert_nonnull(strstr(limn_safetensors_find(st, "b")->file, "second.safetensors"));
    g_assert_cmpstr(limn_safetensors_get_metadata(st, "format"), ==, "pt");
    g_assert_null(limn_safetensors_find(st, "unnamed"));
    g_assert_null(limn_safetensors_get(st, "d", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, INDEX, "\"d\"", NULL);
    remove_folder(folder);
}

static void
test_b43_missing(void)
{
    g_autofree char *folder = make_folder();
    g_autoptr(GError) error = NULL;
    write_shard(folder, "model-00001-of-00003.safetensors", "a", 2, 10);
    write_shard(folder, "model.safetensors-00001-of-00002.safetensors", "c", 4, 30);
    g_assert_null(open_index(folder, THREE, &error));
    assert_refused(&error, LIMN_ERROR_IO, INDEX, "\"second.safetensors\" is missing",
                   "\"b\"", NULL);
    // A shard that is there but holds something else.
    write_shard(folder, "second.safetensors", "other", 3, 20);
    g_assert_null(open_index(folder, THREE, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, INDEX, "\"b\"", "does not hold it", NULL);
    // A shard that is cut: the shard is named.
    g_autofree char *cut = write_file(folder, "second.safetensors", "\x02", 1);
    g_assert_nonnull(cut);
    g_assert_null(open_index(folder, THREE, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "second.safetensors", NULL);
    remove_folder(folder);
}

static void
test_malformed(void)
{
    static const struct {
        const char *json;
        LimnErrorCode code;
        const char *text;
    } CASES[] = {
        {"{", LIMN_ERROR_FORMAT, "malformed JSON"},
        {"{}", LIMN_ERROR_FORMAT, "no weight_map"},
        {"{\"weight_map\":{}} x", LIMN_ERROR_FORMAT, "nothing more"},
        {"{\"weight_map\":[]}", LIMN_ERROR_FORMAT, "expected '{'"},
        {"{\"weight_map\":{\"a\":1}}", LIMN_ERROR_FORMAT, "a string"},
        {"{\"weight_map\":{},\"weight_map\":{}}", LIMN_ERROR_FORMAT, "twice"},
        {"{\"weight_map\":{\"a\":\"s.safetensors\",\"a\":\"s.safetensors\"}}",
         LIMN_ERROR_FORMAT, "\"a\" twice"},
        {"{\"weight_map\":{\"a\":\"../s.safetensors\"}}", LIMN_ERROR_FORMAT, "beside"},
        {"{\"weight_map\":{\"a\":\"/etc/passwd\"}}", LIMN_ERROR_FORMAT, "beside"},
        {"{\"weight_map\":{\"a\":\"sub/s.safetensors\"}}", LIMN_ERROR_FORMAT, "beside"},
        {"{\"weight_map\":{\"a\":\"..\"}}", LIMN_ERROR_FORMAT, "beside"},
        {"{\"weight_map\":{\"a\":\"\"}}", LIMN_ERROR_FORMAT, "beside"},
        {"{\"weight_map\":{\"a\":\"model.safetensors.index.json\"}}", LIMN_ERROR_FORMAT,
         "index.json"},
    };
    g_autofree char *folder = make_folder();
    write_shard(folder, "s.safetensors", "a", 2, 10);
    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(open_index(folder, CASES[i].json, &error));
        assert_refused(&error, CASES[i].code, CASES[i].text, NULL);
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnSafetensors) empty = open_index(folder, "{\"weight_map\":{}}", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(limn_safetensors_n_tensors(empty), ==, 0);
    g_assert_null(limn_safetensors_find(empty, "a"));
    remove_folder(folder);
}

// Hubs keep their files as links into a store.
static void
test_links(void)
{
    g_autofree char *folder = make_folder();
    g_autofree char *store = make_folder();
    g_autoptr(GError) error = NULL;
    write_shard(store, "blob", "a", 2, 10);
    g_autofree char *target = g_build_filename(store, "blob", NULL);
    g_autofree char *link = g_build_filename(folder, "s.safetensors", NULL);
    g_assert_cmpint(symlink(target, link), ==, 0);
    g_autoptr(LimnSafetensors) st =
        open_index(folder, "{\"weight_map\":{\"a\":\"s.safetensors\"}}", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(limn_safetensors_n_tensors(st), ==, 1);
    remove_folder(folder);
    remove_folder(store);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hard/B43-shards", test_b43_shards);
    g_test_add_func("/hard/B43-missing-shard", test_b43_missing);
    g_test_add_func("/safetensors-index/malformed", test_malformed);
    g_test_add_func("/safetensors-index/links", test_links);
    return g_test_run();
}

// SPDX-License-Identifier: GPL-3.0-or-later

// limn-golden itself: what it prints and how it ends for good, spoilt and foreign
// folders. The program's path is the first argument.

#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/io/safetensors.h"
#include "tests/unit/loader-test.h"

static const char *program;

typedef struct {
    char *out;
    int status;
} Outcome;

static Outcome
run(const char *method, const char *folder)
{
    g_autoptr(GError) error = NULL;
    Outcome outcome = {NULL, -1};
    g_autoptr(GSubprocess) process = g_subprocess_new(
        G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error,
        program, method, folder, NULL);
    g_assert_no_error(error);
    g_subprocess_communicate_utf8(process, NULL, NULL, &outcome.out, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(g_subprocess_get_if_exited(process)); // it never crashes
    outcome.status = g_subprocess_get_exit_status(process);
    return outcome;
}

// Runs grad_eclip and expects failure with a line that holds both texts.
static void
assert_fails(const char *folder, const char *name, const char *word)
{
    Outcome o = run("grad_eclip", folder);
    g_assert_cmpint(o.status, ==, 1);
    g_auto(GStrv) lines = g_strsplit(o.out, "\n", -1);
    gboolean found = FALSE;
    for (gsize i = 0; lines[i] != NULL; i++) {
        found =
            found || (strstr(lines[i], name) != NULL && strstr(lines[i], word) != NULL);
    }
    if (!found) {
        g_test_message("no line with %s and %s", name, word);
    }
    g_assert_true(found);
    gsize n = g_strv_length(lines);
    g_assert_cmpuint(n, >=, 2);
    g_assert_true(g_str_has_suffix(lines[n - 2], " failed"));
    g_free(o.out);
}

// Copies a folder of the golden data below a new one.
static void
copy_tree(const char *from, const char *to)
{
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(g_mkdir_with_parents(to, 0700), ==, 0);
    g_autoptr(GDir) dir = g_dir_open(from, 0, &error);
    g_assert_no_error(error);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *a = g_build_filename(from, name, NULL);
        g_autofree char *b = g_build_filename(to, name, NULL);
        if (g_file_test(a, G_FILE_TEST_IS_DIR)) {
            copy_tree(a, b);
            continue;
        }
        g_autofree char *data = NULL;
        gsize size;
        g_assert_true(g_file_get_contents(a, &data, &size, NULL));
        g_assert_true(g_file_set_contents(b, data, (gssize) size, NULL));
    }
}

static char *
copy_of(const char *part)
{
    g_autofree char *relative = g_build_filename("golden/grad_eclip", part, NULL);
    g_autofree char *from = data_path(relative);
    char *folder = make_folder();
    g_autofree char *to = g_build_filename(folder, part, NULL);
    copy_tree(from, to);
    return folder;
}

typedef void (*Spoil)(GPtrArray *names, GPtrArray *arrays);

// Rewrites expected.safetensors of case_a.
static void
check_spoilt(Spoil spoil, const char *name, const char *word)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = copy_of("case_a");
    g_autofree char *path =
        g_build_filename(folder, "case_a", "expected.safetensors", NULL);
    g_autoptr(LimnSafetensors) tensors = limn_safetensors_open(path, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) arrays =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    for (guint i = 0; i < limn_safetensors_n_tensors(tensors); i++) {
        const LimnTensorInfo *info = limn_safetensors_get_info(tensors, i);
        g_autoptr(LimnArray) view = limn_safetensors_get(tensors, info->name, &error);
        LimnArray *own = limn_array_new(view->dtype, view->rank, view->shape, &error);
        g_assert_no_error(error);
        memcpy(own->data, view->data, (gsize) view->length * 4);
        g_ptr_array_add(names, g_strdup(info->name));
        g_ptr_array_add(arrays, own);
    }
    spoil(names, arrays);
    g_autofree LimnTensorEntry *entries = g_new0(LimnTensorEntry, names->len);
    for (guint i = 0; i < names->len; i++) {
        entries[i].name = names->pdata[i];
        entries[i].array = arrays->pdata[i];
    }
    limn_safetensors_save(path, entries, names->len, NULL, &error);
    g_assert_no_error(error);
    assert_fails(folder, name, word);
    remove_folder(folder);
}

static guint
find(GPtrArray *names, const char *name)
{
    for (guint i = 0; i < names->len; i++) {
        if (strcmp(names->pdata[i], name) == 0) {
            return i;
        }
    }
    g_assert_not_reached();
}

static void
drop_cosine(GPtrArray *names, GPtrArray *arrays)
{
    guint i = find(names, "cosine");
    g_ptr_array_remove_index(names, i);
    g_ptr_array_remove_index(arrays, i);
}

static void
turn_cosine(GPtrArray *names, GPtrArray *arrays)
{
    LimnArray *cosine = arrays->pdata[find(names, "cosine")];
    gint64 rows = cosine->shape[0];
    cosine->shape[0] = cosine->shape[1];
    cosine->shape[1] = rows;
}

static void
retype_cosine(GPtrArray *names, GPtrArray *arrays)
{
    ((LimnArray *) arrays->pdata[find(names, "cosine")])->dtype = LIMN_DTYPE_I32;
}

static void
change_map(GPtrArray *names, GPtrArray *arrays)
{
    LimnArray *map = arrays->pdata[find(names, "image.img0.t0.mh.n3.raw.map")];
    limn_array_f32(map)[3] += 1e-3f;
}

static void
rename_tensor(GPtrArray *names, const char *from, const char *to)
{
    guint i = find(names, from);
    g_free(names->pdata[i]);
    names->pdata[i] = g_strdup(to);
}

static void
add_unknown(GPtrArray *names, GPtrArray *arrays)
{
    rename_tensor(names, "image_embeds", "image_other");
}

static void
add_nameless(GPtrArray *names, GPtrArray *arrays)
{
    rename_tensor(names, "image_embeds", "");
}

static void
add_far_picture(GPtrArray *names, GPtrArray *arrays)
{
    rename_tensor(names, "image.img0.t0.mh.n3.raw.map", "image.img9.t0.mh.n3.raw.map");
}

static void
test_spoilt_tensors(void)
{
    check_spoilt(drop_cosine, "case_a/cosine", "missing key");
    check_spoilt(turn_cosine, "case_a/cosine", "wrong size");
    check_spoilt(retype_cosine, "case_a/cosine", "wrong type");
    check_spoilt(change_map, "image.img0.t0.mh.n3.raw.map", "FAIL");
    check_spoilt(add_unknown, "case_a/image_other", "FAIL");
    check_spoilt(add_nameless, "case_a/", "FAIL");
    check_spoilt(add_far_picture, "image.img9.t0.mh.n3.raw.map", "FAIL");
}

static void
put(const char *folder, const char *name, const char *data, gsize size)
{
    g_autofree char *path = write_file(folder, name, data, size);
    g_assert_nonnull(path);
}

static void
test_spoilt_files(void)
{
    g_autofree char *folder = copy_of("case_b");
    g_autofree char *case_folder = g_build_filename(folder, "case_b", NULL);
    g_autofree char *stray = write_file(case_folder, "notes.txt", "x", 1);
    assert_fails(folder, "case_b/notes.txt", "skipped");
    g_assert_cmpint(g_unlink(stray), ==, 0);
    Outcome good = run("grad_eclip", folder);
    g_assert_cmpint(good.status, ==, 0);
    g_free(good.out);
    put(case_folder, "expected.json", "{\"options\":", 11);
    assert_fails(folder, "case_b/case", "FAIL");
    put(case_folder, "inputs.safetensors", "\x10\0\0", 3);
    assert_fails(folder, "inputs.safetensors", "FAIL");
    remove_folder(folder);
    folder = (g_free(folder), copy_of("preprocess"));
    g_autofree char *pictures = g_build_filename(folder, "preprocess", NULL);
    put(pictures, "up.png", "no picture", 10);
    assert_fails(folder, "up.png", "FAIL");
    remove_folder(folder);
    folder = (g_free(folder), copy_of("tokenizer"));
    g_autofree char *list = g_build_filename(folder, "tokenizer", NULL);
    put(list, "cases.json", "[7,{\"text\":\"a\"}]", 16);
    assert_fails(folder, "tokenizer/0.text", "FAIL");
    // A pipe that nobody writes to is not waited for.
    g_autofree char *cases = g_build_filename(list, "cases.json", NULL);
    g_assert_cmpint(g_unlink(cases), ==, 0);
    g_assert_cmpint(mkfifo(cases, 0600), ==, 0);
    assert_fails(folder, "tokenizer/cases.json", "FAIL");
    remove_folder(folder);
}

static void
test_ends(void)
{
    g_autofree char *empty = make_folder();
    Outcome nothing = run("grad_eclip", empty);
    g_assert_cmpint(nothing.status, ==, 1);
    g_assert_cmpstr(nothing.out, ==, "0 passed, 0 failed\n");
    g_free(nothing.out);
    Outcome method = run("no_such_method", empty);
    g_assert_cmpint(method.status, ==, 2);
    g_free(method.out);
    remove_folder(empty);
    Outcome missing = run("grad_eclip", empty);
    g_assert_cmpint(missing.status, ==, 3);
    g_free(missing.out);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(argc, ==, 2);
    program = argv[1];
    g_test_add_func("/golden/spoilt-tensors", test_spoilt_tensors);
    g_test_add_func("/golden/spoilt-files", test_spoilt_files);
    g_test_add_func("/golden/ends", test_ends);
    return g_test_run();
}

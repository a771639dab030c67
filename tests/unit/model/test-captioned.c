// SPDX-License-Identifier: GPL-3.0-or-later

// Folders of captioned pictures, in every layout that is read, sound and spoilt.

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/picture.h"
#include "engine/model/captioned.h"

#include <glib/gstdio.h>
#include <string.h>

enum { SIDE = 8 };

typedef struct {
    char *folder;
    LimnJob *job;
} Fixture;

static void
put(Fixture *f, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(f->folder, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

// Left half of one brightness, right half of another.
static void
put_picture(Fixture *f, const char *name, guint8 left, guint8 right)
{
    g_autoptr(LimnImage) image =
        limn_image_new(SIDE, SIDE, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, NULL);
    for (int i = 0; i < SIDE * SIDE; i++)
        ((guint8 *) image->data)[i] = i % SIDE < SIDE / 2 ? left : right;
    g_autofree char *path = g_build_filename(f->folder, name, NULL);
    g_assert_true(limn_png_save(image, path, NULL));
}

static void
set_up(Fixture *f, gconstpointer data)
{
    f->folder = g_dir_make_tmp("limn-captioned-XXXXXX", NULL);
    f->job = limn_job_new();
    put_picture(f, "a.png", 0, 200);
    put_picture(f, "b..c.png", 100, 50);
}

static void
tear_down(Fixture *f, gconstpointer data)
{
    g_assert_true(limn_remove_tree(f->folder, NULL));
    g_free(f->folder);
    limn_job_unref(f->job);
}

static LimnCaptioned *
load(Fixture *f)
{
    g_autoptr(GError) error = NULL;
    LimnCaptioned *captioned = limn_captioned_load(f->folder, SIDE, f->job, &error);
    g_assert_no_error(error);
    return captioned;
}

static void
expect(Fixture *f, LimnErrorCode code, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_captioned_load(f->folder, SIDE, f->job, &error));
    g_assert_error(error, LIMN_ERROR, (gint) code);
    g_assert_nonnull(strstr(error->message, part));
}

static guint
n_diagnostics(Fixture *f, const char *item)
{
    g_autoptr(GPtrArray) list = limn_job_dup_diagnostics(f->job);
    guint n = 0;
    for (guint i = 0; i < list->len; i++)
        n += g_strcmp0(((LimnDiagnostic *) list->pdata[i])->item, item) == 0;
    return n;
}

static void
check(Fixture *f, guint pictures, const char *first, const char *second)
{
    g_autoptr(LimnCaptioned) c = load(f);
    g_assert_cmpuint(limn_captioned_n_pictures(c), ==, pictures);
    g_assert_cmpuint(limn_captioned_n_captions(c), ==, 2);
    g_assert_cmpstr(limn_captioned_get_caption(c, 0), ==, first);
    g_assert_cmpstr(limn_captioned_get_caption(c, 1), ==, second);
}

#define LINES                                                                            \
    "{\"file\": \"a.png\", \"caption\": \"one\"}\n\n"                                    \
    "{\"file\": \"b..c.png\", \"caption\": \"two\", \"objects\": []}"

static void
test_lines(Fixture *f, gconstpointer data)
{
    put(f, "captions.jsonl", LINES);
    check(f, 2, "one", "two");
}

static void
test_metadata(Fixture *f, gconstpointer data)
{
    put(f, "metadata.jsonl",
        "{\"file_name\": \"a.png\", \"text\": \"one\"}\r\n"
        "{\"file_name\": \"b..c.png\", \"text\": \"two\"}\n");
    check(f, 2, "one", "two");
}

static void
test_coco(Fixture *f, gconstpointer data)
{
    put(f, "coco.json",
        "{\"images\": [{\"id\": 7, \"file_name\": \"a.png\"}],"
        "\"annotations\": [{\"image_id\": 7, \"caption\": \"one\"},"
        "{\"image_id\": 8, \"caption\": \"of no picture\"},"
        "{\"image_id\": 7, \"category_id\": 3}, {\"image_id\": 7, \"caption\": "
        "\"two\"}]}");
    check(f, 1, "one", "two");
}

static void
test_text_files(Fixture *f, gconstpointer data)
{
    put(f, "a.txt", "  one\n");
    put(f, "b..c.txt", "two");
    put_picture(f, "without.png", 1, 2);
    put_picture(f, "broken.png", 1, 2);
    put(f, "broken.txt", "caf\xe9");
    check(f, 2, "one", "two");
    g_assert_cmpuint(n_diagnostics(f, "broken.png"), ==, 1);
}

// A picture that cannot be read is said once, however many captions it has; names that
// lead out are left out and said.
static void
test_left_out(Fixture *f, gconstpointer data)
{
    put(f, "captions.jsonl",
        "{\"file\": \"gone.png\", \"caption\": \"x\"}\n"
        "{\"file\": \"gone.png\", \"caption\": \"y\"}\n"
        "{\"file\": \"../a.png\", \"caption\": \"z\"}\n"
        "{\"file\": \"/etc/passwd\", \"caption\": \"z\"}\n" LINES);
    check(f, 2, "one", "two");
    g_assert_cmpuint(n_diagnostics(f, "gone.png"), ==, 1);
    g_assert_cmpuint(n_diagnostics(f, "../a.png"), ==, 1);
    g_assert_cmpuint(n_diagnostics(f, "/etc/passwd"), ==, 1);
}

static void
test_errors(Fixture *f, gconstpointer data)
{
    expect(f, LIMN_ERROR_FORMAT, "too few captioned pictures (found 0");
    put(f, "captions.jsonl",
        "{\"file\": \"a.png\", \"caption\": \"one\"}\n{\"file\": \n");
    expect(f, LIMN_ERROR_FORMAT, "line 2");
    put(f, "captions.jsonl", "{\"file\": \"a.png\", \"caption\": \"one\"}\n[3]\n7\n");
    expect(f, LIMN_ERROR_FORMAT, "found 1 captions");
    put(f, "captions.jsonl", LINES);
    limn_job_cancel(f->job);
    expect(f, LIMN_ERROR_CANCELLED, "cancelled");
    g_free(f->folder);
    f->folder = g_strdup("/nowhere/at/all");
    limn_job_unref(f->job);
    f->job = limn_job_new();
    expect(f, LIMN_ERROR_IO, "/nowhere/at/all");
}

// What is composed: pictures of the model's size, as bytes, as they are or mirrored, of
// the captions allowed only, the same for the same number.
static void
test_compose(Fixture *f, gconstpointer data)
{
    put(f, "captions.jsonl", LINES);
    g_autoptr(LimnCaptioned) c = load(f);
    LimnClipSource source = limn_captioned_get_source(c);
    const guint32 allowed[] = {0};
    LimnSceneOptions options;
    guint mirrored = 0, plain = 0;
    limn_scene_options_init(&options, SIDE);
    options.names = allowed;
    options.n_names = 1;
    g_autofree char *sentence = source.caption(source.data, 1, 0);
    g_assert_cmpstr(sentence, ==, "two");
    for (guint i = 0; i < 40; i++) {
        g_autoptr(LimnScene) a = source.compose(source.data, &options, 3, i, NULL);
        g_autoptr(LimnScene) b = source.compose(source.data, &options, 3, i, NULL);
        g_assert_cmpint(a->picture->width, ==, SIDE);
        g_assert_cmpint(a->picture->height, ==, SIDE);
        g_assert_cmpint(a->picture->pixels, ==, LIMN_PIXELS_RGB);
        g_assert_cmpint(a->picture->depth, ==, LIMN_DEPTH_U8);
        g_assert_cmpstr(a->caption, ==, "one");
        g_assert_cmpuint(a->objects[0].name, ==, 0);
        g_assert_cmpmem(a->picture->data, 3 * SIDE * SIDE, b->picture->data,
                        3 * SIDE * SIDE);
        guint8 corner = ((const guint8 *) a->picture->data)[0];
        g_assert_true(corner == 0 || corner == 200);
        mirrored += corner == 200;
        plain += corner == 0;
    }
    g_assert_cmpuint(mirrored, >, 5);
    g_assert_cmpuint(plain, >, 5);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define TEST(name, function)                                                             \
    g_test_add("/captioned/" name, Fixture, NULL, set_up, function, tear_down)
    TEST("lines", test_lines);
    TEST("metadata", test_metadata);
    TEST("coco", test_coco);
    TEST("text-files", test_text_files);
    TEST("left-out", test_left_out);
    TEST("errors", test_errors);
    TEST("compose", test_compose);
    return g_test_run();
}

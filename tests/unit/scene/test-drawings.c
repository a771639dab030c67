// SPDX-License-Identifier: GPL-3.0-or-later

// Drawings: the built-in shapes and icon sets, sound and spoilt.

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/scene/scene.h"
#include "engine/svg/svg.h"

#include <glib/gstdio.h>
#include <string.h>

#define AREA (LIMN_DRAWING_SIZE * LIMN_DRAWING_SIZE)
#define DISC "<circle cx='8' cy='8' r='7' fill='#c00'/>"

typedef struct {
    char *folder;
} Fixture;

static void
set_up(Fixture *f, gconstpointer data)
{
    limn_svg_init();
    f->folder = g_dir_make_tmp("limn-drawings-XXXXXX", NULL);
}

static void
tear_down(Fixture *f, gconstpointer data)
{
    g_assert_true(limn_remove_tree(f->folder, NULL));
    g_free(f->folder);
}

static char *
put(Fixture *f, const char *name, const char *text)
{
    char *path = g_build_filename(f->folder, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static LimnDrawings *
load(Fixture *f, const char *concepts, const char *first, const char *second,
     GError **error)
{
    g_autofree char *table = put(f, "concepts.tsv", concepts);
    g_autofree char *a = put(f, "first.json", first);
    g_autofree char *b = second ? put(f, "second.json", second) : NULL;
    const char *const files[] = {a, b, NULL};
    return limn_drawings_load_icons(files, table, NULL, error);
}

static void
expect(Fixture *f, const char *concepts, const char *icons, LimnErrorCode code,
       const char *part)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(load(f, concepts, icons, NULL, &error));
    g_assert_error(error, LIMN_ERROR, (gint) code);
    g_assert_nonnull(strstr(error->message, part));
}

static void
test_shapes(void)
{
    g_autoptr(LimnDrawings) d = limn_drawings_new_shapes(NULL);
    g_assert_cmpuint(limn_drawings_n_names(d), ==, 48);
    g_assert_cmpuint(limn_drawings_n_styles(d), ==, 1);
    g_assert_cmpint(limn_drawings_find(d, "red circle"), ==, 0);
    g_assert_cmpint(limn_drawings_find(d, "red giraffe"), ==, -1);
    for (guint i = 0; i < 48; i++) {
        const guint32 *pixels = limn_drawings_get_pixels(d, i, 0);
        guint opaque = 0, clear = 0;
        g_assert_cmpint(limn_drawings_find(d, limn_drawings_get_name(d, i)), ==, i);
        for (int p = 0; p < AREA; p++) {
            guint alpha = pixels[p] >> 24;
            for (int shift = 0; shift < 24; shift += 8) // premultiplied
                g_assert_cmpuint(pixels[p] >> shift & 255, <=, alpha);
            opaque += alpha == 255;
            clear += alpha == 0;
        }
        g_assert_cmpuint(opaque, >, AREA / 10);
        g_assert_cmpuint(clear, >, AREA / 10);
        for (guint k = 0; k < i; k++) // no two are the same
            g_assert_cmpint(memcmp(pixels, limn_drawings_get_pixels(d, k, 0), 4 * AREA),
                            !=, 0);
    }
}

static void
test_icons(Fixture *f, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnDrawings) d = load(
        f,
        "name\tkey\tgroup\nunknown\tnone\tx\ndog\tdog-face\tanimal\ncat\tcat\tanimal\n",
        "{\"prefix\": \"one\", \"icons\": {\"dog\": {\"body\": \"" DISC "\"}},"
        "\"aliases\": {\"dog-face\": {\"parent\": \"dog\"}}}",
        "{\"width\": 32, \"icons\": {\"cat\": {\"body\": \"" DISC "\", \"height\": 32}}}",
        &error);
    g_assert_no_error(error);
    g_assert_cmpuint(limn_drawings_n_names(d), ==, 2); // the unknown one is left out
    g_assert_cmpstr(limn_drawings_get_style(d, 0), ==, "one");
    g_assert_cmpstr(limn_drawings_get_style(d, 1), ==, "second.json");
    int dog = limn_drawings_find(d, "dog"), cat = limn_drawings_find(d, "cat");
    g_assert_true(limn_drawings_has(d, (guint) dog, 0));
    g_assert_false(limn_drawings_has(d, (guint) dog, 1));
    g_assert_true(limn_drawings_has(d, (guint) cat, 1));
    g_assert_null(limn_drawings_get_pixels(d, (guint) dog, 0)); // not yet
    g_assert_true(limn_drawings_render(d, 1, NULL, &error));
    g_assert_nonnull(limn_drawings_get_pixels(d, (guint) dog, 0));
    g_assert_null(limn_drawings_get_pixels(d, (guint) cat, 1)); // that style not
    g_assert_true(limn_drawings_render(d, 0, NULL, &error));
    const guint32 *pixels = limn_drawings_get_pixels(d, (guint) cat, 1);
    // A disc of radius 7 in a view box of 32: in the upper left quarter only.
    g_assert_cmphex(pixels[24 * LIMN_DRAWING_SIZE + 24], ==, 0xffcc0000);
    g_assert_cmphex(pixels[72 * LIMN_DRAWING_SIZE + 72], ==, 0);
}

#define TABLE "name\tkey\ndog\tdog\n"

static void
test_malformed(Fixture *f, gconstpointer data)
{
    expect(f, TABLE, "{\"icons\": ", LIMN_ERROR_FORMAT, "first.json");
    expect(f, TABLE, "[]", LIMN_ERROR_FORMAT, "no icon set");
    expect(f, TABLE, "{\"icons\": []}", LIMN_ERROR_FORMAT, "no icon set");
    expect(f, TABLE, "{\"icons\": {\"dog\": 3}}", LIMN_ERROR_FORMAT, "'dog'");
    expect(f, TABLE, "{\"icons\": {\"dog\": {\"width\": 3}}}", LIMN_ERROR_FORMAT,
           "'dog'");
    expect(f, TABLE, "{\"icons\": {\"dog\": {\"body\": \"\", \"height\": -1}}}",
           LIMN_ERROR_FORMAT, "'dog'");
    expect(f, TABLE, "{\"icons\": {\"cat\": {\"body\": \"\"}}}", LIMN_ERROR_MISMATCH,
           "none of the 1 names");
    // Aliases that go round.
    expect(f, TABLE,
           "{\"icons\": {}, \"aliases\": {\"dog\": {\"parent\": \"a\"}, \"a\": "
           "{\"parent\": \"dog\"}}}",
           LIMN_ERROR_MISMATCH, "none of the 1 names");
    expect(f, "name\tkey\ndog\n", "{\"icons\": {}}", LIMN_ERROR_FORMAT, "line 2");
    expect(f, "name\tkey\ndog\ta\n\ndog\tb\n", "{\"icons\": {}}", LIMN_ERROR_FORMAT,
           "line 4");
    expect(f, "", "{\"icons\": {}}", LIMN_ERROR_MISMATCH, "none of the 0 names");
    g_autoptr(GError) error = NULL;
    const char *const missing[] = {"/nowhere/icons.json", NULL};
    g_autofree char *table = put(f, "concepts.tsv", TABLE);
    g_assert_null(limn_drawings_load_icons(missing, table, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
    g_clear_error(&error);
    const char *const none[] = {NULL};
    g_assert_null(limn_drawings_load_icons(none, table, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
}

// Of several drawings that cannot be drawn the first is named, with any threads.
static void
test_unreadable(Fixture *f, gconstpointer data)
{
    g_autofree char *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        g_autoptr(LimnJob) job = limn_job_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnDrawings) d =
            load(f, "name\tkey\na\ta\nb\tb\nc\tc\nd\td\n",
                 "{\"prefix\": \"p\", \"icons\": {\"a\": {\"body\": \"" DISC "\"},"
                 "\"b\": {\"body\": \"<g>\"}, \"c\": {\"body\": \"<\"},"
                 "\"d\": {\"body\": \"</svg>\"}}}",
                 NULL, &error);
        g_assert_no_error(error);
        limn_job_set_threads(job, threads);
        g_assert_false(limn_drawings_render(d, 0, job, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
        g_assert_nonnull(strstr(error->message, "p: b"));
        if (first)
            g_assert_cmpstr(first, ==, error->message);
        g_free(first);
        first = g_strdup(error->message);
    }
}

// A style with one drawing among many names: every scene finds it.
static void
test_rare_style(Fixture *f, gconstpointer data)
{
    g_autoptr(GString) table = g_string_new("name\tkey\n");
    g_autoptr(GString) icons = g_string_new("{\"icons\": {");
    for (int i = 0; i < 300; i++) {
        g_string_append_printf(table, "name%d\tkey%d\n", i, i);
        g_string_append_printf(icons, "%s\"key%d\": {\"body\": \"" DISC "\"}",
                               i ? "," : "", i);
    }
    g_string_append(icons, "}}");
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnDrawings) d =
        load(f, table->str, icons->str,
             "{\"icons\": {\"key123\": {\"body\": \"" DISC "\"}}}", &error);
    g_assert_true(limn_drawings_render(d, 2, NULL, &error));
    LimnSceneOptions options;
    limn_scene_options_init(&options, 32);
    options.styles = 2;
    for (guint i = 0; i < 20; i++) {
        g_autoptr(LimnScene) scene = limn_scene_compose(d, &options, 1, i, &error);
        g_assert_no_error(error);
        g_assert_cmpint(scene->n_objects, ==, 1);
        g_assert_cmpstr(limn_drawings_get_name(d, scene->objects[0].name), ==, "name123");
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/drawings/shapes", test_shapes);
    g_test_add("/drawings/icons", Fixture, NULL, set_up, test_icons, tear_down);
    g_test_add("/drawings/malformed", Fixture, NULL, set_up, test_malformed, tear_down);
    g_test_add("/drawings/unreadable", Fixture, NULL, set_up, test_unreadable, tear_down);
    g_test_add("/drawings/rare-style", Fixture, NULL, set_up, test_rare_style, tear_down);
    return g_test_run();
}

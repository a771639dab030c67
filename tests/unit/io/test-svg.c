// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/svg/svg.h"

#include "tests/unit/io/picture-testing.h"

#define SVG                                                                              \
    "<svg xmlns='http://www.w3.org/2000/svg' "                                           \
    "xmlns:xlink='http://www.w3.org/1999/xlink' "

static LimnImage *
load(const char *text, LimnJob *job)
{
    g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
    return test_load_bytes(bytes, job);
}

static void
assert_pixel(const LimnImage *image, int x, int y, int r, int g, int b, int a)
{
    const int expected[] = {r, g, b, a};
    for (int c = 0; c < 4; c++) {
        g_assert_cmpfloat(limn_image_get_sample(image, x, y, c), ==, expected[c]);
    }
}

static void
test_colours(void)
{
    g_autoptr(LimnImage) image =
        load("<?xml version='1.0'?>\n<!-- a drawing -->\n" SVG
             "width='8' height='6'><rect width='4' height='6' fill='#c86432'/>"
             "<rect x='4' width='2' height='6' fill='#0000ff' fill-opacity='0.2'/></svg>",
             NULL);
    g_assert_cmpint(image->width, ==, 8);
    g_assert_cmpint(image->height, ==, 6);
    g_assert_cmpint(image->pixels, ==, LIMN_PIXELS_RGBA);
    g_assert_cmpstr(image->format, ==, "SVG");
    assert_pixel(image, 1, 1, 200, 100, 50, 255);
    assert_pixel(image, 5, 3, 0, 0, 255, 51);
    assert_pixel(image, 7, 5, 0, 0, 0, 0);
}

static void
test_sizes(void)
{
    static const struct {
        const char *attributes;
        int width, height;
    } cases[] = {
        {"width='30' height='20'", 30, 20},
        {"viewBox='0 0 48 24'", 48, 24},
        {"width='100%' height='100%' viewBox='0 0 10 70'", 10, 70},
        {"width='1in' height='0.5in'", 96, 48},
        {"", 5, 4}, // what it covers
        {"width='0.2' height='0.1'", 1, 1},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strdup_printf(
            SVG "%s><rect width='5' height='4'/></svg>", cases[i].attributes);
        g_autoptr(LimnImage) image = load(text, NULL);
        g_assert_cmpint(image->width, ==, cases[i].width);
        g_assert_cmpint(image->height, ==, cases[i].height);
        g_autofree char *path = test_write_file("d.svg", text, strlen(text));
        LimnPictureInfo info;
        g_assert_true(limn_picture_probe(path, &info, NULL));
        g_assert_cmpstr(info.format, ==, "SVG");
        g_assert_cmpint(info.width, ==, image->width);
        g_assert_cmpint(info.height, ==, image->height);
    }
}

static void
test_bounded(void)
{
    static const char *const sizes[] = {"width='100000' height='1000'",
                                        "width='1e30' height='1e28'"};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(LimnJob) job = limn_job_new();
        g_autofree char *text =
            g_strdup_printf(SVG "%s><rect width='5' height='4'/></svg>", sizes[i]);
        g_autoptr(LimnImage) image = load(text, job);
        g_assert_cmpint(image->width, ==, LIMN_SVG_MAX_SIDE);
        g_assert_cmpint(image->height, ==, 41);
        assert_diagnostic(job, "scaled down to 4096 x 41");
    }
}

// Nothing outside the file is loaded, also not what exists.
static void
test_nothing_external(void)
{
    g_autofree char *sample =
        g_build_filename(g_getenv("LIMN_DATA_DIR"), "samples", "desk.png", NULL);
    g_autofree char *uri = g_filename_to_uri(sample, NULL, NULL);
    const char *const links[] = {uri, sample, "desk.png"};
    for (gsize i = 0; i < G_N_ELEMENTS(links); i++) {
        g_autofree char *text = g_strdup_printf(
            SVG "width='8' height='8'><image width='8' height='8' xlink:href='%s'/>"
                "<image width='8' height='8' href='%s'/></svg>",
            links[i], links[i]);
        g_autoptr(LimnImage) image = load(text, NULL);
        for (int p = 0; p < 64; p++) {
            assert_pixel(image, p % 8, p / 8, 0, 0, 0, 0);
        }
    }
    // Entities of other files are not read either.
    g_autofree char *secret = test_write_file("secret.txt", "4", 1);
    g_autofree char *text =
        g_strdup_printf("<!DOCTYPE svg [<!ENTITY e SYSTEM 'file://%s'>]>" SVG
                        "width='8' height='8'><rect width='&e;' height='8'/></svg>",
                        secret);
    g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
    g_autoptr(LimnImage) image = limn_picture_load_bytes(bytes, "e.svg", NULL, NULL);
    if (image != NULL) {
        assert_pixel(image, 1, 1, 0, 0, 0, 0);
    }
}

static void
test_bad(void)
{
    static const char *const texts[] = {SVG "width='5' height='5'><rect>", SVG "/>",
                                        "<html><svg", "<svg"};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        expect_refusal(texts[i], strlen(texts[i]), LIMN_ERROR_FORMAT, "");
    }
    static const char bomb[] =
        "<!DOCTYPE svg [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>"
        "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;'>"
        "<!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;'><!ENTITY f '&e;&e;&e;&e;&e;&e;&e;&e;'>"
        "<!ENTITY g '&f;&f;&f;&f;&f;&f;&f;&f;'><!ENTITY h "
        "'&g;&g;&g;&g;&g;&g;&g;&g;'>]>" SVG "width='5' height='5'><text>&h;</text></svg>";
    g_autoptr(GBytes) bytes = g_bytes_new_static(bomb, sizeof bomb - 1);
    g_autoptr(LimnImage) image = limn_picture_load_bytes(bytes, "bomb.svg", NULL, NULL);
    g_test_message("entities: %s", image != NULL ? "ignored" : "refused");
}

static void
test_other_text(void)
{
    expect_refusal("<html></html>", 13, LIMN_ERROR_FORMAT, "found text");
    expect_refusal("an <svg> in a sentence", 22, LIMN_ERROR_UNSUPPORTED, "SVG");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    limn_svg_init();
    limn_svg_init();
    g_test_add_func("/svg/colours", test_colours);
    g_test_add_func("/svg/sizes", test_sizes);
    g_test_add_func("/svg/bounded", test_bounded);
    g_test_add_func("/svg/nothing-external", test_nothing_external);
    g_test_add_func("/svg/bad", test_bad);
    g_test_add_func("/svg/other-text", test_other_text);
    return g_test_run();
}

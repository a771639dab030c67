// SPDX-License-Identifier: GPL-3.0-or-later

// The GL renderer against the painter without GL, pixel by pixel, in both dialects,
// without any display.

#include "engine/figure/colormap.h"
#include "tests/ui/views/offscreen.h"
#include "ui/gl/gl-objects.h"
#include "ui/gl/heatmap-paint.h"
#include "ui/gl/heatmap-renderer.h"

#include <math.h>
#include <string.h>

typedef struct {
    LimnImage *picture, *mask;
    LimnArray *maps[2];
    LimnHeatmapScene scene;
    LimnViewTransform transform;
    int width, height;
} Setup;

static LimnImage *
make_picture(int width, int height, LimnPixels pixels)
{
    g_autoptr(GError) error = NULL;
    LimnImage *image = limn_image_new(width, height, pixels, LIMN_DEPTH_U8, &error);
    int channels = limn_pixels_channels(pixels);

    g_assert_no_error(error);
    image->bits = 8;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++)
                ((guint8 *) image->data)[((gsize) y * width + x) * channels + c] =
                    c == 0   ? x * 5 + y
                    : c == 1 ? y * 3
                    : c == 2 ? (x ^ y) * 7
                             : (x + y) * 4;
    return image;
}

static LimnImage *
make_mask(int width, int height)
{
    g_autoptr(GError) error = NULL;
    LimnImage *mask =
        limn_image_new(width, height, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, &error);

    g_assert_no_error(error);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            ((guint8 *) mask->data)[(gsize) y * width + x] =
                hypot(x - width / 2.0, y - height / 3.0) < height / 4.0 ? 3
                : x > width - height / 5                                ? 9
                                                                        : 0;
    return mask;
}

static LimnArray *
make_map(int height, int width, gboolean odd)
{
    g_autoptr(GError) error = NULL;
    LimnArray *map = limn_array_new_f32_2d(height, width, &error);

    g_assert_no_error(error);
    for (int i = 0; i < width * height; i++)
        limn_array_f32(map)[i] = sinf(i * 0.7f) * (odd ? -1.3f : 1) + 0.2f * (i % 5);
    return map;
}

static void
setup_init(Setup *setup, int width, int height)
{
    LimnHeatmapStyle *style = &setup->scene.style;

    memset(setup, 0, sizeof(*setup));
    setup->width = width;
    setup->height = height;
    setup->transform.zoom = 1;
    setup->scene.divider = -1;
    memcpy(style->table, limn_colormap_table("viridis"), sizeof(style->table));
    limn_colormap_nan(style->nan);
    memcpy(style->background, (guint8[]){30, 60, 90}, 3);
    style->min = -1;
    style->max = 1.5;
    style->opacity = 0.6;
    style->scale = 1;
}

static LimnTileStore *
make_store(LimnPyramid *pyramid)
{
    LimnTileStore *store = limn_tile_store_new(pyramid, NULL, NULL);

    limn_pyramid_unref(pyramid);
    return store;
}

static void
setup_picture(Setup *setup, int width, int height, LimnPixels pixels)
{
    setup->picture = make_picture(width, height, pixels);
    setup->scene.width = width;
    setup->scene.height = height;
    setup->scene.picture =
        make_store(limn_pyramid_new_picture(setup->picture, LIMN_RANGE_TYPE));
}

static void
setup_map(Setup *setup, int which, int rows, int columns, double x, double y,
          double width, double height)
{
    setup->maps[which] = make_map(rows, columns, which == 1);
    setup->scene.rects[which] = (LimnRect){x, y, width, height};
    setup->scene.maps[which] = make_store(limn_pyramid_new_map(setup->maps[which]));
}

static void
setup_mask(Setup *setup)
{
    setup->mask = make_mask(setup->scene.width, setup->scene.height);
    setup->scene.mask = make_store(limn_pyramid_new_mask(setup->mask, 9));
}

static void
setup_clear(Setup *setup)
{
    limn_tile_store_free(setup->scene.picture);
    limn_tile_store_free(setup->scene.mask);
    for (int i = 0; i < 2; i++) {
        limn_tile_store_free(setup->scene.maps[i]);
        g_clear_pointer(&setup->maps[i], limn_array_unref);
    }
    g_clear_pointer(&setup->picture, limn_image_unref);
    g_clear_pointer(&setup->mask, limn_image_unref);
}

// ---- comparing

static void
draw_gl(Setup *setup, LimnHeatmapRenderer *renderer, guint8 *rgba)
{
    g_autoptr(GError) error = NULL;
    LimnGLTarget target;
    gboolean more = TRUE;

    g_assert_true(limn_gl_target_init(&target, setup->width, setup->height, &error));
    for (int i = 0; i < 1000 && more; i++) {
        limn_gl_target_bind(&target);
        limn_heatmap_renderer_draw(renderer, &setup->scene, &setup->transform,
                                   setup->width, setup->height, &more, &error);
        g_assert_no_error(error);
    }
    g_assert_false(more);
    g_assert_cmpint(glGetError(), ==, GL_NO_ERROR);
    limn_gl_target_read(&target, rgba);
    limn_gl_target_clear(&target);
}

static void
save(cairo_surface_t *surface, const char *name)
{
    const char *dir = g_getenv("LIMN_SNAPSHOT_DIR");

    if (dir != NULL) {
        g_autofree char *path = g_strdup_printf("%s/%s.png", dir, name);

        cairo_surface_write_to_png(surface, path);
    }
}

// Shares of pixels that differ by more than one level, and by more than a few.
static void
compare(cairo_surface_t *surface, const guint8 *rgba, double *share, int *largest)
{
    int width = cairo_image_surface_get_width(surface);
    int height = cairo_image_surface_get_height(surface);
    int n = 0;

    *largest = 0;
    for (int y = 0; y < height; y++) {
        const guint32 *row =
            (const guint32 *) (cairo_image_surface_get_data(surface) +
                               (gsize) y * cairo_image_surface_get_stride(surface));

        for (int x = 0; x < width; x++) {
            const guint8 *gl = rgba + ((gsize) y * width + x) * 4;
            int worst = 0;

            g_assert_cmpint(gl[3], ==, 255);
            for (int c = 0; c < 3; c++)
                worst =
                    MAX(worst, ABS((int) gl[c] - (int) (row[x] >> (16 - 8 * c) & 0xff)));
            n += worst > 1;
            *largest = MAX(*largest, worst);
        }
    }
    *share = n / ((double) width * height);
}

// Both dialects against the painter. A pixel whose centre falls on a border between two
// cells or two entries of the table may go either way; there must be hardly any.
static void
check(Setup *setup, const char *name)
{
    for (int gles = 0; gles < 2; gles++) {
        Offscreen *offscreen = offscreen_new(gles);
        g_autofree guint8 *rgba = g_malloc0((gsize) setup->width * setup->height * 4);
        cairo_surface_t *surface;
        LimnHeatmapRenderer *renderer;
        double share;
        int largest;

        if (offscreen == NULL) {
            g_test_skip("no surfaceless EGL here");
            return;
        }
        g_assert_cmpint(epoxy_is_desktop_gl(), ==, !gles);
        renderer = limn_heatmap_renderer_new();
        surface =
            cairo_image_surface_create(CAIRO_FORMAT_RGB24, setup->width, setup->height);
        draw_gl(setup, renderer, rgba);
        g_assert_false(limn_heatmap_paint(&setup->scene, &setup->transform, surface));
        save(surface, name);
        compare(surface, rgba, &share, &largest);
        g_test_message("%s %s: %.5f of the pixels differ, most by %d", name,
                       gles ? "ES" : "GL", share, largest);
        g_assert_cmpfloat(share, <=, 0.001);
        limn_heatmap_renderer_free(renderer, TRUE);
        cairo_surface_destroy(surface);
        offscreen_free(offscreen);
        g_assert_cmpint(limn_gl_get_counts().textures, ==, 0);
        g_assert_cmpint(limn_gl_get_counts().programs, ==, 0);
        g_assert_cmpint(limn_gl_get_counts().vertex_arrays, ==, 0);
        g_assert_cmpint(limn_gl_get_counts().framebuffers, ==, 0);
        g_assert_cmpint(limn_gl_get_counts().renderbuffers, ==, 0);
    }
}

static void
test_picture(void)
{
    Setup setup;

    setup_init(&setup, 160, 120);
    setup_picture(&setup, 100, 70, LIMN_PIXELS_RGB);
    setup.transform = (LimnViewTransform){1, 13, 21};
    check(&setup, "picture-1");
    setup.transform = (LimnViewTransform){1.37, -13, 5};
    check(&setup, "picture-1.37");
    setup.transform = (LimnViewTransform){9.5, -301, -77};
    check(&setup, "picture-9.5");
    setup.transform = (LimnViewTransform){0.3, 40, 30};
    check(&setup, "picture-0.3");
    setup_clear(&setup);
}

// Hard case B05: partly transparent, odd width.
static void
test_alpha(void)
{
    Setup setup;

    setup_init(&setup, 200, 120);
    setup_picture(&setup, 1617, 300, LIMN_PIXELS_RGBA);
    setup.transform = (LimnViewTransform){0.11, 4, 9};
    check(&setup, "alpha-small");
    setup.transform = (LimnViewTransform){3, -2000, -400};
    check(&setup, "alpha-large");
    setup.scene.style.scale = 2;
    check(&setup, "alpha-scale-2");
    setup_clear(&setup);
}

static void
test_map(void)
{
    Setup setup;

    setup_init(&setup, 240, 180);
    setup_picture(&setup, 100, 80, LIMN_PIXELS_RGB);
    setup_map(&setup, 0, 14, 14, 10, 0, 80, 80);
    setup.scene.style.dim_outside = TRUE;
    setup.transform = (LimnViewTransform){2, 20, 10};
    check(&setup, "map-nearest");
    setup.scene.style.bilinear = TRUE;
    check(&setup, "map-linear");
    setup.scene.style.n_contours = 3;
    setup.scene.style.contours[0] = -0.25;
    setup.scene.style.contours[1] = 0.5;
    setup.scene.style.contours[2] = 1.1;
    check(&setup, "map-contours");
    setup.scene.style.bilinear = FALSE;
    setup.scene.style.scale = 2;
    check(&setup, "map-nearest-contours-scale-2");
    setup_clear(&setup);
}

static void
test_map_alone(void)
{
    Setup setup;

    setup_init(&setup, 200, 200);
    setup.scene.width = setup.scene.height = 7;
    setup_map(&setup, 0, 7, 7, 0, 0, 7, 7);
    setup.transform = (LimnViewTransform){25, 12, 12};
    check(&setup, "map-alone");
    setup_clear(&setup);
}

// Hard case B27.
static void
test_not_finite(void)
{
    static const float special[] = {NAN, INFINITY, -INFINITY};
    Setup setup;

    setup_init(&setup, 224, 224);
    setup_picture(&setup, 112, 112, LIMN_PIXELS_RGB);
    for (int all = 0; all < 2; all++) {
        setup_map(&setup, 0, 14, 14, 0, 0, 112, 112);
        for (int i = 0; i < 14 * 14; i++)
            if (all || i % 5 == 0)
                limn_array_f32(setup.maps[0])[i] = special[all ? 0 : i % 3];
        setup.transform = (LimnViewTransform){2, 0, 0};
        setup.scene.style.bilinear = TRUE;
        setup.scene.style.n_contours = 1;
        check(&setup, all ? "nan-all" : "nan-some");
        g_clear_pointer(&setup.scene.maps[0], limn_tile_store_free);
        g_clear_pointer(&setup.maps[0], limn_array_unref);
    }
    setup_clear(&setup);
}

// Hard case B28: a range without width.
static void
test_constant(void)
{
    Setup setup;

    setup_init(&setup, 64, 64);
    setup_picture(&setup, 32, 32, LIMN_PIXELS_GREY);
    setup_map(&setup, 0, 4, 4, 0, 0, 32, 32);
    for (int i = 0; i < 16; i++)
        limn_array_f32(setup.maps[0])[i] = i < 8 ? 0.3f : 0.4f;
    setup.scene.style.min = setup.scene.style.max = 0.35;
    setup.transform = (LimnViewTransform){2, 0, 0};
    check(&setup, "constant");
    setup_clear(&setup);
}

static void
test_divider(void)
{
    Setup setup;

    setup_init(&setup, 220, 160);
    setup_picture(&setup, 100, 80, LIMN_PIXELS_RGB);
    setup_map(&setup, 0, 7, 7, 10, 0, 80, 80);
    setup_map(&setup, 1, 10, 12, 0, 10, 100, 60);
    setup.transform = (LimnViewTransform){1.9, 3, 2};
    for (int i = 0; i <= 4; i++) {
        g_autofree char *name = g_strdup_printf("divider-%d", i);

        setup.scene.divider = i / 4.0;
        check(&setup, name);
    }
    setup.scene.divider = -1;
    setup.scene.shown = 1;
    check(&setup, "second");
    setup_clear(&setup);
}

static void
test_mask(void)
{
    Setup setup;

    setup_init(&setup, 220, 160);
    setup_picture(&setup, 100, 80, LIMN_PIXELS_RGB);
    setup_map(&setup, 0, 7, 7, 10, 0, 80, 80);
    setup_mask(&setup);
    setup.transform = (LimnViewTransform){2, 3, 2};
    check(&setup, "mask");
    setup.transform = (LimnViewTransform){11, -600, -90};
    check(&setup, "mask-large");
    setup.scene.style.scale = 2;
    check(&setup, "mask-scale-2");
    setup_clear(&setup);
}

// Pictures and maps of several tiles, borders between them included.
static void
test_tiles(void)
{
    Setup setup;

    setup_init(&setup, 300, 200);
    setup_picture(&setup, 1300, 1100, LIMN_PIXELS_RGB);
    setup_map(&setup, 0, 900, 1200, 50, 0, 1200, 1100);
    setup_mask(&setup);
    setup.scene.style.bilinear = TRUE;
    setup.transform = (LimnViewTransform){1, -400, -450};
    check(&setup, "tiles-1");
    setup.transform = (LimnViewTransform){20, -512 * 20 + 150, -512 * 20 + 90};
    check(&setup, "tiles-20");
    setup.transform = (LimnViewTransform){0.17, 10, 4};
    check(&setup, "tiles-0.17");
    setup_clear(&setup);
}

// Hard case B23: beyond every texture limit.
static void
test_huge(void)
{
    static const int sizes[][2] = {{33000, 100}, {6898, 9946}, {1, 20000}};

    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        Setup setup;
        int width = sizes[i][0], height = sizes[i][1];
        g_autofree char *name = g_strdup_printf("huge-%d-%d", width, height);

        setup_init(&setup, 320, 200);
        setup_picture(&setup, width, height, i == 0 ? LIMN_PIXELS_RGB : LIMN_PIXELS_GREY);
        setup_map(&setup, 0, 14, 14, 0, 0, width, height);
        setup.transform.zoom = MIN(320.0 / width, 200.0 / height);
        check(&setup, name);
        setup.transform = (LimnViewTransform){1, -width + 200, -height + 100};
        check(&setup, name);
        setup_clear(&setup);
    }
}

static void
test_tiny(void)
{
    static const int views[][2] = {{1, 1}, {1, 50}, {50, 1}, {2, 3}};
    Setup setup;

    setup_init(&setup, 1, 1);
    setup_picture(&setup, 1, 1, LIMN_PIXELS_RGB);
    setup_map(&setup, 0, 1, 1, 0, 0, 1, 1);
    setup_mask(&setup);
    for (gsize i = 0; i < G_N_ELEMENTS(views); i++) {
        setup.width = views[i][0];
        setup.height = views[i][1];
        setup.transform.zoom = 20;
        setup.scene.style.bilinear = i % 2;
        check(&setup, "tiny");
    }
    setup_clear(&setup);
}

// The ramp of hard case B30: what is on screen is the colour of the table, in order.
static void
test_ramp(void)
{
    Offscreen *offscreen = offscreen_new(FALSE);
    const guint8(*table)[3] = limn_colormap_table("viridis");
    g_autofree guint8 *rgba = g_malloc(256 * 4);
    LimnHeatmapRenderer *renderer;
    Setup setup;

    if (offscreen == NULL) {
        g_test_skip("no surfaceless EGL here");
        return;
    }
    setup_init(&setup, 256, 1);
    setup.scene.width = 256;
    setup.scene.height = 1;
    setup_map(&setup, 0, 1, 256, 0, 0, 256, 1);
    for (int i = 0; i < 256; i++)
        limn_array_f32(setup.maps[0])[i] = i;
    setup.scene.style.min = 0;
    setup.scene.style.max = 255;
    renderer = limn_heatmap_renderer_new();
    draw_gl(&setup, renderer, rgba);
    for (int i = 0; i < 256; i++)
        for (int c = 0; c < 3; c++)
            g_assert_cmpint(rgba[4 * i + c], ==, table[i][c]);
    limn_heatmap_renderer_free(renderer, TRUE);
    setup_clear(&setup);
    offscreen_free(offscreen);
}

// Textures of what is no longer shown are deleted, uploads are spread over frames.
static void
test_memory(void)
{
    Offscreen *offscreen = offscreen_new(FALSE);
    g_autoptr(GError) error = NULL;
    LimnHeatmapRenderer *renderer;
    LimnGLTarget target;
    gboolean more = TRUE;
    gint64 before = 0;
    int frames = 0;
    Setup setup;

    if (offscreen == NULL) {
        g_test_skip("no surfaceless EGL here");
        return;
    }
    setup_init(&setup, 3000, 2000);
    setup_picture(&setup, 3000, 2000, LIMN_PIXELS_RGB);
    renderer = limn_heatmap_renderer_new();
    g_assert_true(limn_gl_target_init(&target, 3000, 2000, &error));
    while (more) {
        limn_heatmap_renderer_draw(renderer, &setup.scene, &setup.transform, 3000, 2000,
                                   &more, &error);
        // a frame uploads up to its share, one tile more, and the stand-in
        g_assert_cmpint(limn_heatmap_renderer_get_bytes(renderer) - before, <=,
                        LIMN_HEATMAP_UPLOAD_BYTES + 2 * 514 * 514 * 4);
        before = limn_heatmap_renderer_get_bytes(renderer);
        frames++;
    }
    g_assert_cmpint(frames, >=, 5);
    g_assert_cmpint(limn_gl_get_counts().textures, ==,
                    6 * 4 + 1 + 1); // tiles, coarsest, table
    g_clear_pointer(&setup.scene.picture, limn_tile_store_free);
    limn_heatmap_renderer_draw(renderer, &setup.scene, &setup.transform, 3000, 2000,
                               &more, &error);
    g_assert_cmpint(limn_gl_get_counts().textures, ==, 1);
    g_assert_cmpint(limn_heatmap_renderer_get_bytes(renderer), ==, 0);
    limn_gl_target_clear(&target);
    limn_heatmap_renderer_free(renderer, TRUE);
    setup_clear(&setup);
    offscreen_free(offscreen);
}

// Hard case B78: what is picked is what is drawn, at any zoom.
static void
test_pick(void)
{
    static const double zooms[] = {0.37, 1, 2.5, 17};
    Setup setup;

    setup_init(&setup, 200, 150);
    setup.scene.width = 40;
    setup.scene.height = 30;
    setup_map(&setup, 0, 6, 10, 0, 0, 40, 30);
    for (int i = 0; i < 60; i++)
        limn_array_f32(setup.maps[0])[i] = i;
    setup.scene.style.min = 0;
    setup.scene.style.max = 255;
    for (gsize i = 0; i < G_N_ELEMENTS(zooms); i++) {
        cairo_surface_t *surface =
            cairo_image_surface_create(CAIRO_FORMAT_RGB24, 200, 150);

        setup.transform = (LimnViewTransform){zooms[i], 7, -5};
        limn_heatmap_paint(&setup.scene, &setup.transform, surface);
        for (int y = 0; y < 150; y += 3) {
            const guint32 *row =
                (const guint32 *) (cairo_image_surface_get_data(surface) +
                                   (gsize) y * cairo_image_surface_get_stride(surface));

            for (int x = 0; x < 200; x += 3) {
                LimnHeatmapPick pick;
                const guint8 *expected;

                limn_heatmap_scene_pick(&setup.scene, &setup.transform, 200, x + 0.5,
                                        y + 0.5, &pick);
                expected = pick.inside ? setup.scene.style.table[(int) pick.value]
                                       : setup.scene.style.background;
                g_assert_cmpint(pick.inside, ==, pick.row >= 0);
                for (int c = 0; c < 3; c++)
                    g_assert_cmpint(row[x] >> (16 - 8 * c) & 0xff, ==, expected[c]);
            }
        }
        cairo_surface_destroy(surface);
    }
    setup_clear(&setup);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/renderer/picture", test_picture);
    g_test_add_func("/renderer/hard/B05-alpha", test_alpha);
    g_test_add_func("/renderer/map", test_map);
    g_test_add_func("/renderer/map-alone", test_map_alone);
    g_test_add_func("/renderer/hard/B27-nan", test_not_finite);
    g_test_add_func("/renderer/hard/B28-constant", test_constant);
    g_test_add_func("/renderer/hard/B30-ramp", test_ramp);
    g_test_add_func("/renderer/divider", test_divider);
    g_test_add_func("/renderer/mask", test_mask);
    g_test_add_func("/renderer/tiles", test_tiles);
    g_test_add_func("/renderer/hard/B23-huge", test_huge);
    g_test_add_func("/renderer/hard/B78-pick", test_pick);
    g_test_add_func("/renderer/tiny", test_tiny);
    g_test_add_func("/renderer/memory", test_memory);
    return g_test_run();
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/pixel-source.h"
#include "ui/gl/tile-store.h"

#include <math.h>
#include <string.h>

static LimnImage *
make_image(int width, int height, LimnPixels pixels, LimnDepth depth, int bits)
{
    g_autoptr(GError) error = NULL;
    LimnImage *image = limn_image_new(width, height, pixels, depth, &error);
    gsize n = (gsize) width * height * limn_pixels_channels(pixels);

    g_assert_no_error(error);
    image->bits = bits;
    for (gsize i = 0; i < n; i++) {
        guint32 value = (guint32) i * 2654435761u;

        switch (depth) {
        case LIMN_DEPTH_U8:
            ((guint8 *) image->data)[i] = value >> (32 - bits);
            break;
        case LIMN_DEPTH_U16:
            ((guint16 *) image->data)[i] = value >> 17; // half of the range
            break;
        case LIMN_DEPTH_U32:
            ((guint32 *) image->data)[i] = value;
            break;
        case LIMN_DEPTH_F32:
            ((float *) image->data)[i] = i % 17 == 3 ? NAN : value / 4e9f * 3 - 1;
            break;
        }
    }
    return image;
}

static guint8
premultiplied(guint value, guint alpha)
{
    return (guint8) floor(value * alpha / 255.0 + 0.5);
}

// Every pixel read in pieces equals the conversion of the whole picture.
static void
check_source(LimnImage *image, LimnRangeRule rule)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnPixelSource) source = limn_pixel_source_new(image, rule);
    g_autoptr(LimnImage) whole = limn_image_to_rgba8(image, rule, &error);

    g_assert_no_error(error);
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x += 5) {
            int n = MIN(5, image->width - x);
            guint8 out[5 * 4];

            limn_pixel_source_read(source, x, y, n, out);
            for (int i = 0; i < n; i++) {
                const guint8 *expected =
                    (const guint8 *) whole->data + ((gsize) y * image->width + x + i) * 4;

                g_assert_cmpint(out[4 * i + 3], ==, expected[3]);
                g_assert_true(!source->opaque || expected[3] == 255);
                for (int c = 0; c < 3; c++)
                    g_assert_cmpint(out[4 * i + c], ==,
                                    premultiplied(expected[c], expected[3]));
            }
        }
    }
}

// Hard cases B03, B04, B05: every depth by one rule; odd width with alpha.
static void
test_source(void)
{
    static const LimnPixels pixels[] = {LIMN_PIXELS_GREY, LIMN_PIXELS_GREY_ALPHA,
                                        LIMN_PIXELS_RGB, LIMN_PIXELS_RGBA};
    static const struct {
        LimnDepth depth;
        int bits;
    } depths[] = {{LIMN_DEPTH_U8, 8},   {LIMN_DEPTH_U8, 1},   {LIMN_DEPTH_U8, 4},
                  {LIMN_DEPTH_U16, 16}, {LIMN_DEPTH_U32, 32}, {LIMN_DEPTH_F32, 32}};

    for (gsize i = 0; i < G_N_ELEMENTS(pixels); i++) {
        for (gsize j = 0; j < G_N_ELEMENTS(depths); j++) {
            g_autoptr(LimnImage) image =
                make_image(37, 11, pixels[i], depths[j].depth, depths[j].bits);

            check_source(image, LIMN_RANGE_TYPE);
            check_source(image, LIMN_RANGE_DATA);
        }
    }
}

static void
test_source_key(void)
{
    g_autoptr(LimnImage) grey = make_image(33, 9, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, 2);
    g_autoptr(LimnImage) rgb = make_image(33, 9, LIMN_PIXELS_RGB, LIMN_DEPTH_U16, 16);

    grey->has_key = TRUE;
    grey->key[0] = 2;
    check_source(grey, LIMN_RANGE_TYPE);
    rgb->has_key = TRUE;
    memcpy(rgb->key, (const guint16 *) rgb->data + 3 * 12, sizeof(rgb->key));
    check_source(rgb, LIMN_RANGE_TYPE);
}

static void
test_source_palette(void)
{
    g_autoptr(LimnImage) image = make_image(41, 7, LIMN_PIXELS_INDEXED, LIMN_DEPTH_U8, 8);

    image->n_palette = 256;
    image->palette_has_alpha = TRUE;
    for (int i = 0; i < 256; i++)
        for (int c = 0; c < 4; c++)
            image->palette[i][c] = i * (3 + 2 * c);
    check_source(image, LIMN_RANGE_TYPE);
    check_source(image, LIMN_RANGE_DATA);
}

static LimnArray *
make_map(int height, int width)
{
    g_autoptr(GError) error = NULL;
    LimnArray *map = limn_array_new_f32_2d(height, width, &error);

    g_assert_no_error(error);
    for (gint64 i = 0; i < map->length; i++)
        limn_array_f32(map)[i] = (i % width) + 1000 * (i / width);
    return map;
}

static float
tile_value(const LimnTile *tile, int x, int y)
{
    return (
        (const float *) tile->texels)[(y - tile->y + 1) * tile->width + x - tile->x + 1];
}

static void
test_levels(void)
{
    g_autoptr(LimnArray) map = make_map(100, 33000);
    g_autoptr(LimnPyramid) pyramid = limn_pyramid_new_map(map);
    int width, height;

    g_assert_cmpint(limn_pyramid_n_levels(pyramid), ==, 8);
    limn_pyramid_level_size(pyramid, 7, &width, &height);
    g_assert_cmpint(width, ==, 258);
    g_assert_cmpint(height, ==, 1);
    g_assert_cmpint(limn_pyramid_choose_level(pyramid, 0.01), ==, 0);
    g_assert_cmpint(limn_pyramid_choose_level(pyramid, 1.2), ==, 0);
    g_assert_cmpint(limn_pyramid_choose_level(pyramid, 2), ==, 1);
    g_assert_cmpint(limn_pyramid_choose_level(pyramid, 1e9), ==, 7);
    g_assert_cmpint(limn_pyramid_choose_level(pyramid, NAN), ==, 0);
}

static void
check_border(const LimnTile *tile, int level_width, int level_height)
{
    for (int j = 0; j < tile->height; j++) {
        for (int i = 0; i < tile->width; i++) {
            int x = CLAMP(tile->x - 1 + i, 0, level_width - 1);
            int y = CLAMP(tile->y - 1 + j, 0, level_height - 1);

            g_assert_cmpfloat(tile_value(tile, tile->x - 1 + i, tile->y - 1 + j), ==,
                              x + 1000.0f * y);
        }
    }
}

static void
test_tiles(void)
{
    g_autoptr(LimnArray) map = make_map(700, 1200);
    g_autoptr(LimnPyramid) pyramid = limn_pyramid_new_map(map);

    for (int row = 0; row < 2; row++) {
        for (int column = 0; column < 3; column++) {
            LimnTile *tile = limn_pyramid_make_tile(pyramid, 0, column, row, NULL);

            g_assert_cmpint(tile->x, ==, 512 * column);
            g_assert_cmpint(tile->width, ==, MIN(512, 1200 - 512 * column) + 2);
            check_border(tile, 1200, 700);
            limn_tile_free(tile);
        }
    }
}

// A level is the mean of what it covers, also at odd edges; the same when reduced tile by
// tile.
static void
test_means(void)
{
    g_autoptr(LimnArray) map = make_map(601, 1001);
    g_autoptr(LimnPyramid) pyramid = limn_pyramid_new_map(map);
    LimnTile *tile = limn_pyramid_make_tile(pyramid, 1, 0, 0, NULL);

    g_assert_cmpfloat(tile_value(tile, 0, 0), ==, 500.5f);
    g_assert_cmpfloat(tile_value(tile, 10, 7), ==, 20.5f + 14500);
    g_assert_cmpfloat(tile_value(tile, 500, 0), ==, 1000 + 500.0f);   // one column left
    g_assert_cmpfloat(tile_value(tile, 500, 300), ==, 1000 + 600000); // one pixel left
    limn_tile_free(tile);
    g_assert_true(limn_pyramid_is_built(pyramid));
    g_assert_cmpint(limn_pyramid_memory(pyramid), ==, 501 * 301 * 4);
}

// Hard case B27: a level shows NaN only where nothing is finite.
static void
test_not_finite(void)
{
    g_autoptr(LimnArray) map = make_map(600, 600);
    float *values = limn_array_f32(map);
    g_autoptr(LimnPyramid) pyramid = NULL;
    LimnTile *tile;

    for (gint64 i = 0; i < map->length; i++)
        values[i] = 2;
    values[0] = NAN;
    values[2] = values[3] = values[602] = values[603] = NAN;
    values[4] = values[5] = values[604] = values[605] = INFINITY;
    pyramid = limn_pyramid_new_map(map);
    tile = limn_pyramid_make_tile(pyramid, 1, 0, 0, NULL);
    g_assert_cmpfloat(tile_value(tile, 0, 0), ==, 2);
    g_assert_true(isnan(tile_value(tile, 1, 0)));
    g_assert_cmpfloat(tile_value(tile, 2, 0), ==, INFINITY);
    g_assert_true(isnan(limn_pyramid_get_value(pyramid, 2, 1)));
    limn_tile_free(tile);
}

static void
test_colours(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image =
        limn_image_new(601, 3, LIMN_PIXELS_RGBA, LIMN_DEPTH_U8, &error);
    g_autoptr(LimnPyramid) pyramid = NULL;
    guint8 *data = image->data;
    LimnTile *tile;
    const guint8 *texel;

    image->bits = 8;
    memcpy(data,
           "\xff\x00\x00\xff"
           "\x00\xff\x00\x00",
           8); // opaque red beside invisible green
    memcpy(data + 601 * 4,
           "\xff\x00\x00\xff"
           "\x00\xff\x00\x00",
           8);
    pyramid = limn_pyramid_new_picture(image, LIMN_RANGE_TYPE);
    g_assert_false(limn_pyramid_is_opaque(pyramid));
    tile = limn_pyramid_make_tile(pyramid, 1, 0, 0, NULL);
    texel = tile->texels + (tile->width + 1) * 4;
    g_assert_cmpint(texel[0], ==, 128);
    g_assert_cmpint(texel[1], ==, 0); // what is invisible does not bleed
    g_assert_cmpint(texel[3], ==, 128);
    limn_tile_free(tile);
}

static void
test_shared(void)
{
    g_autoptr(LimnImage) image = make_image(20, 20, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, 8);
    LimnPyramid *a = limn_pyramid_new_picture(image, LIMN_RANGE_TYPE);
    LimnPyramid *b = limn_pyramid_new_picture(image, LIMN_RANGE_TYPE);
    LimnPyramid *c = limn_pyramid_new_picture(image, LIMN_RANGE_DATA);

    g_assert_true(a == b);
    g_assert_true(a != c);
    limn_pyramid_unref(a);
    limn_pyramid_unref(b);
    limn_pyramid_unref(c);
}

static void
test_mask(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) mask =
        limn_image_new(5, 4, LIMN_PIXELS_GREY, LIMN_DEPTH_U16, &error);
    g_autoptr(LimnPyramid) pyramid = NULL;

    ((guint16 *) mask->data)[7] = 256; // low byte 0
    pyramid = limn_pyramid_new_mask(mask, -1);
    g_assert_cmpfloat(limn_pyramid_get_value(pyramid, 2, 1), ==, 1);
    g_assert_cmpfloat(limn_pyramid_get_value(pyramid, 1, 1), ==, 0);
    g_clear_pointer(&pyramid, limn_pyramid_unref);
    pyramid = limn_pyramid_new_mask(mask, 256);
    g_assert_true(isnan(limn_pyramid_get_value(pyramid, 2, 1)));
}

// ---- store

static void
on_ready(gpointer data)
{
    (*(int *) data)++;
}

static void
iterate_until(const int *counter, int value)
{
    gint64 end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;

    while (*counter < value && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint(*counter, >=, value);
}

static void
test_store_asynchronous(void)
{
    g_autoptr(LimnArray) map = make_map(2000, 3000);
    g_autoptr(LimnPyramid) pyramid = limn_pyramid_new_map(map);
    int ready = 0;
    g_autoptr(LimnTileStore) store = limn_tile_store_new(pyramid, on_ready, &ready);
    int coarsest = limn_pyramid_n_levels(pyramid) - 1;
    const LimnTile *tile;

    limn_tile_store_begin_frame(store);
    tile = limn_tile_store_get(store, coarsest, 0, 0);
    g_assert_nonnull(tile);
    if (tile->preview) {
        g_assert_cmpint(limn_tile_store_n_pending(store), ==, 1);
        iterate_until(&ready, 1);
        g_assert_cmpint(limn_tile_store_n_pending(store), ==, 0);
        limn_tile_store_begin_frame(store);
        tile = limn_tile_store_get(store, coarsest, 0, 0);
    }
    g_assert_false(tile->preview);
    // now the rest is cheap
    tile = limn_tile_store_get(store, 1, 1, 1);
    g_assert_nonnull(tile);
    g_assert_cmpfloat(tile_value(tile, 600, 600), ==, 1200.5f + 1200500);
    limn_tile_store_release(store, tile);
    g_assert_null(limn_tile_store_peek(store, 1, 1, 1));
}

// Freed while its tiles are being made: nobody is called, nothing leaks.
static void
test_store_freed_early(void)
{
    g_autoptr(LimnArray) map = make_map(3000, 3000);
    int ready = 0;

    for (int i = 0; i < 5; i++) {
        g_autoptr(LimnPyramid) pyramid = limn_pyramid_new_map(map);
        LimnTileStore *store = limn_tile_store_new(pyramid, on_ready, &ready);

        limn_tile_store_begin_frame(store);
        limn_tile_store_get(store, limn_pyramid_n_levels(pyramid) - 1, 0, 0);
        limn_tile_store_free(store);
    }
    for (int i = 0; i < 100; i++) {
        g_main_context_iteration(NULL, FALSE);
        g_usleep(2000);
    }
    g_assert_cmpint(ready, ==, 0);
}

static void
test_store_budget(void)
{
    g_autoptr(LimnImage) image =
        make_image(9000, 6000, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, 8);
    g_autoptr(LimnPyramid) pyramid = limn_pyramid_new_picture(image, LIMN_RANGE_TYPE);
    g_autoptr(LimnTileStore) store = limn_tile_store_new(pyramid, NULL, NULL);

    for (int row = 0; row < 12; row++) {
        limn_tile_store_begin_frame(store);
        for (int column = 0; column < 18; column++)
            g_assert_nonnull(limn_tile_store_get(store, 0, column, row));
    }
    limn_tile_store_begin_frame(store);
    g_assert_cmpint(limn_tile_store_get_bytes(store), <=, LIMN_TILE_STORE_BUDGET);
    g_assert_nonnull(limn_tile_store_peek(store, 0, 0, 11));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pixel-source/hard/B03-B04-B05-depths", test_source);
    g_test_add_func("/pixel-source/key", test_source_key);
    g_test_add_func("/pixel-source/palette", test_source_palette);
    g_test_add_func("/pyramid/levels", test_levels);
    g_test_add_func("/pyramid/tiles", test_tiles);
    g_test_add_func("/pyramid/means", test_means);
    g_test_add_func("/pyramid/hard/B27-nan", test_not_finite);
    g_test_add_func("/pyramid/colours", test_colours);
    g_test_add_func("/pyramid/shared", test_shared);
    g_test_add_func("/pyramid/mask", test_mask);
    g_test_add_func("/tile-store/asynchronous", test_store_asynchronous);
    g_test_add_func("/tile-store/freed-early", test_store_freed_early);
    g_test_add_func("/tile-store/budget", test_store_budget);
    return g_test_run();
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/pyramid.h"

#include "ui/gl/pixel-source.h"

#include <math.h>
#include <string.h>

typedef enum { PICTURE, MAP, MASK } Kind;

// Pyramids of pictures that are alive, weakly held. The lock also guards the last unref,
// so that a pyramid found here cannot be on its way out.
static GMutex shared_lock;
static GPtrArray *shared;

struct LimnPyramid {
    gatomicrefcount refs;
    Kind kind;
    int width, height;
    int n_levels;
    LimnPixelSource *source; // PICTURE
    LimnArray *map;          // MAP
    LimnImage *mask;         // MASK
    gint64 ignore;           // MASK, -1: none
    GMutex lock;             // building
    int built;               // atomic
    int first_stored;        // levels below are reduced tile by tile
    guint8 *levels[LIMN_PYRAMID_MAX_LEVELS];
};

void
limn_tile_free(LimnTile *tile)
{
    if (tile == NULL)
        return;
    g_free(tile->texels);
    g_free(tile);
}

static gint64
level_bytes(const LimnPyramid *pyramid, int level)
{
    int width, height;

    limn_pyramid_level_size(pyramid, level, &width, &height);
    return (gint64) width * height * 4;
}

static void
choose_stored_levels(LimnPyramid *pyramid)
{
    gint64 sum = 0;
    int level = pyramid->n_levels;

    while (level > 1 && sum + level_bytes(pyramid, level - 1) <= LIMN_PYRAMID_BUDGET) {
        level--;
        sum += level_bytes(pyramid, level);
    }
    pyramid->first_stored = level;
    pyramid->built = level >= pyramid->n_levels; // nothing to store
}

static LimnPyramid *
pyramid_new(Kind kind, int width, int height)
{
    LimnPyramid *pyramid = g_new0(LimnPyramid, 1);

    g_atomic_ref_count_init(&pyramid->refs);
    g_mutex_init(&pyramid->lock);
    pyramid->kind = kind;
    pyramid->width = width;
    pyramid->height = height;
    pyramid->n_levels = 1;
    while (MAX(width, height) > LIMN_TILE_SIZE) {
        width = (width + 1) / 2;
        height = (height + 1) / 2;
        pyramid->n_levels++;
    }
    choose_stored_levels(pyramid);
    return pyramid;
}

// The living pyramid of that picture, or else `fresh`, which is one from then on.
static LimnPyramid *
find_shared(LimnImage *image, LimnRangeRule rule, LimnPyramid *fresh)
{
    LimnPyramid *found = NULL;

    g_mutex_lock(&shared_lock);
    for (guint i = 0; shared != NULL && found == NULL && i < shared->len; i++) {
        LimnPyramid *other = g_ptr_array_index(shared, i);

        if (other->source->image == image && other->source->rule == rule)
            found = limn_pyramid_ref(other);
    }
    if (found == NULL && fresh != NULL) {
        if (shared == NULL)
            shared = g_ptr_array_new();
        g_ptr_array_add(shared, fresh);
        found = fresh;
    }
    g_mutex_unlock(&shared_lock);
    return found;
}

LimnPyramid *
limn_pyramid_new_picture(LimnImage *image, LimnRangeRule rule)
{
    LimnPyramid *pyramid = NULL;

    g_return_val_if_fail(image != NULL && image->width > 0 && image->height > 0, NULL);

    pyramid = find_shared(image, rule, NULL);
    if (pyramid == NULL) {
        // Looking for the range may take long: not under the lock.
        LimnPyramid *fresh = pyramid_new(PICTURE, image->width, image->height);

        fresh->source = limn_pixel_source_new(image, rule);
        pyramid = find_shared(image, rule, fresh);
        if (pyramid != fresh)
            limn_pyramid_unref(fresh);
    }
    return pyramid;
}

LimnPyramid *
limn_pyramid_new_map(LimnArray *map)
{
    LimnPyramid *pyramid;

    g_return_val_if_fail(map != NULL && map->dtype == LIMN_DTYPE_F32 && map->rank >= 2,
                         NULL);
    g_return_val_if_fail(map->length > 0, NULL);
    g_return_val_if_fail(
        map->length == map->shape[map->rank - 1] * map->shape[map->rank - 2], NULL);

    pyramid = pyramid_new(MAP, map->shape[map->rank - 1], map->shape[map->rank - 2]);
    pyramid->map = limn_array_ref(map);
    return pyramid;
}

LimnPyramid *
limn_pyramid_new_mask(LimnImage *mask, gint64 ignore)
{
    LimnPyramid *pyramid;

    g_return_val_if_fail(mask != NULL && mask->width > 0 && mask->height > 0, NULL);

    pyramid = pyramid_new(MASK, mask->width, mask->height);
    pyramid->mask = limn_image_ref(mask);
    pyramid->ignore = ignore;
    return pyramid;
}

LimnPyramid *
limn_pyramid_ref(LimnPyramid *pyramid)
{
    g_atomic_ref_count_inc(&pyramid->refs);
    return pyramid;
}

void
limn_pyramid_unref(LimnPyramid *pyramid)
{
    gboolean last;

    if (pyramid == NULL)
        return;
    g_mutex_lock(&shared_lock);
    last = g_atomic_ref_count_dec(&pyramid->refs);
    if (last && shared != NULL)
        g_ptr_array_remove_fast(shared, pyramid);
    if (shared != NULL && shared->len == 0)
        g_clear_pointer(&shared, g_ptr_array_unref);
    g_mutex_unlock(&shared_lock);
    if (!last)
        return;
    limn_pixel_source_free(pyramid->source);
    g_clear_pointer(&pyramid->map, limn_array_unref);
    g_clear_pointer(&pyramid->mask, limn_image_unref);
    for (int i = 0; i < LIMN_PYRAMID_MAX_LEVELS; i++)
        g_free(pyramid->levels[i]);
    g_mutex_clear(&pyramid->lock);
    g_free(pyramid);
}

gboolean
limn_pyramid_is_float(const LimnPyramid *pyramid)
{
    return pyramid->kind != PICTURE;
}

gboolean
limn_pyramid_is_opaque(const LimnPyramid *pyramid)
{
    return pyramid->kind != PICTURE || pyramid->source->opaque;
}

int
limn_pyramid_n_levels(const LimnPyramid *pyramid)
{
    return pyramid->n_levels;
}

void
limn_pyramid_level_size(const LimnPyramid *pyramid, int level, int *width, int *height)
{
    gint64 step = (gint64) 1 << level;

    *width = (pyramid->width + step - 1) >> level;
    *height = (pyramid->height + step - 1) >> level;
}

int
limn_pyramid_choose_level(const LimnPyramid *pyramid, double texels)
{
    int level = texels > 1 ? (int) floor(log2(texels) + 0.5) : 0;

    return CLAMP(level, 0, pyramid->n_levels - 1);
}

gboolean
limn_pyramid_is_built(LimnPyramid *pyramid)
{
    return g_atomic_int_get(&pyramid->built);
}

gboolean
limn_pyramid_is_cheap(LimnPyramid *pyramid, int level)
{
    return level == 0 ||
           (level >= pyramid->first_stored && limn_pyramid_is_built(pyramid));
}

gint64
limn_pyramid_memory(const LimnPyramid *pyramid)
{
    gint64 sum = 0;

    for (int level = pyramid->first_stored; level < pyramid->n_levels; level++)
        sum += level_bytes(pyramid, level);
    return sum;
}

// ---- reading

static void
read_mask(const LimnPyramid *pyramid, int x, int y, int n, float *out)
{
    const LimnImage *mask = pyramid->mask;
    gsize step = limn_pixels_channels(mask->pixels) * limn_depth_size(mask->depth);
    const guint8 *sample =
        (const guint8 *) mask->data + y * limn_image_stride(mask) + x * step;

    for (int i = 0; i < n; i++, sample += step) {
        double value;

        switch (mask->depth) {
        case LIMN_DEPTH_U8:
            value = *sample;
            break;
        case LIMN_DEPTH_U16:
            value = *(const guint16 *) sample;
            break;
        case LIMN_DEPTH_U32:
            value = *(const guint32 *) sample;
            break;
        default:
            value = *(const float *) sample;
            break;
        }
        out[i] = value == pyramid->ignore && pyramid->ignore >= 0 ? NAN
                 : value != 0                                     ? 1
                                                                  : 0;
    }
}

// n texels of row y of a level that is level 0 or stored.
static void
read_row(const LimnPyramid *pyramid, int level, int x, int y, int n, guint8 *out)
{
    if (level > 0) {
        int width, height;

        limn_pyramid_level_size(pyramid, level, &width, &height);
        memcpy(out, pyramid->levels[level] + ((gsize) y * width + x) * 4, (gsize) n * 4);
        return;
    }
    switch (pyramid->kind) {
    case PICTURE:
        limn_pixel_source_read(pyramid->source, x, y, n, out);
        break;
    case MAP:
        memcpy(out, limn_array_f32(pyramid->map) + (gsize) y * pyramid->width + x,
               (gsize) n * sizeof(float));
        break;
    case MASK:
        read_mask(pyramid, x, y, n, (float *) out);
        break;
    }
}

double
limn_pyramid_get_value(const LimnPyramid *pyramid, int x, int y)
{
    float value;

    g_return_val_if_fail(pyramid->kind != PICTURE, NAN);

    read_row(pyramid, 0, x, y, 1, (guint8 *) &value);
    return value;
}

// ---- reducing

static void
add_colours(const guint8 *row, int n, int shift, guint32 *sums)
{
    for (int i = 0; i < n; i++) {
        guint32 *sum = sums + 4 * (i >> shift);

        for (int c = 0; c < 4; c++)
            sum[c] += row[4 * i + c];
    }
}

static void
mean_colours(const guint32 *sums, int n, int n_in, int n_rows, int shift, guint8 *out)
{
    for (int i = 0; i < n; i++) {
        int columns = MIN(1 << shift, n_in - (i << shift));
        guint32 count = (guint32) columns * n_rows;

        for (int c = 0; c < 4; c++)
            out[4 * i + c] = (sums[4 * i + c] + count / 2) / count;
    }
}

typedef struct {
    double sum;
    int n;
    float other; // a value that is not finite, shown when there is no finite one
} FloatSum;

static void
add_floats(const float *row, int n, int shift, FloatSum *sums)
{
    for (int i = 0; i < n; i++) {
        FloatSum *sum = sums + (i >> shift);

        if (isfinite(row[i])) {
            sum->sum += row[i];
            sum->n++;
        } else {
            sum->other = row[i];
        }
    }
}

static void
mean_floats(const FloatSum *sums, int n, float *out)
{
    for (int i = 0; i < n; i++)
        out[i] = sums[i].n > 0 ? (float) (sums[i].sum / sums[i].n) : sums[i].other;
}

// Texels [x, x+n) of row y of a level, as means of 2^shift x 2^shift texels of the finer
// level `from`, which is level 0 or stored. `row` and `sums` are work space.
static void
reduce_row(const LimnPyramid *pyramid, int from, int shift, int x, int y, int n,
           guint8 *row, void *sums, guint8 *out)
{
    int width, height, n_in, n_rows;

    limn_pyramid_level_size(pyramid, from, &width, &height);
    n_in = MIN(n << shift, width - (x << shift));
    n_rows = MIN(1 << shift, height - (y << shift));
    memset(sums, 0, n * sizeof(FloatSum));
    for (int k = 0; k < n_rows; k++) {
        read_row(pyramid, from, x << shift, (y << shift) + k, n_in, row);
        if (pyramid->kind == PICTURE)
            add_colours(row, n_in, shift, sums);
        else
            add_floats((const float *) row, n_in, shift, sums);
    }
    if (pyramid->kind == PICTURE)
        mean_colours(sums, n, n_in, n_rows, shift, out);
    else
        mean_floats(sums, n, (float *) out);
}

static gboolean
build_level(LimnPyramid *pyramid, int level, const int *cancelled)
{
    int from = level == pyramid->first_stored ? 0 : level - 1;
    int shift = level - from;
    int width, height;
    g_autofree guint8 *row = NULL;
    g_autofree void *sums = NULL;

    G_STATIC_ASSERT(sizeof(FloatSum) >= 4 * sizeof(guint32));
    limn_pyramid_level_size(pyramid, level, &width, &height);
    row = g_try_malloc(((gsize) width << shift) * 4);
    sums = g_try_malloc(width * sizeof(FloatSum));
    pyramid->levels[level] = g_try_malloc(level_bytes(pyramid, level));
    if (row == NULL || sums == NULL || pyramid->levels[level] == NULL)
        return FALSE;
    for (int y = 0; y < height; y++) {
        if (cancelled != NULL && g_atomic_int_get(cancelled))
            return FALSE;
        reduce_row(pyramid, from, shift, 0, y, width, row, sums,
                   pyramid->levels[level] + (gsize) y * width * 4);
    }
    return TRUE;
}

gboolean
limn_pyramid_build(LimnPyramid *pyramid, const int *cancelled)
{
    gboolean ok = TRUE;

    if (g_atomic_int_get(&pyramid->built))
        return TRUE;
    g_mutex_lock(&pyramid->lock);
    if (!g_atomic_int_get(&pyramid->built)) {
        for (int level = pyramid->first_stored; ok && level < pyramid->n_levels; level++)
            ok = build_level(pyramid, level, cancelled);
        if (ok)
            g_atomic_int_set(&pyramid->built, TRUE);
        else
            for (int level = 0; level < pyramid->n_levels; level++)
                g_clear_pointer(&pyramid->levels[level], g_free);
    }
    g_mutex_unlock(&pyramid->lock);
    return ok;
}

// ---- tiles

// Empty tile, and the part of its level that it covers, border included where there is
// one.
static LimnTile *
tile_new(LimnPyramid *pyramid, int level, int column, int row, int *left, int *top,
         int *right, int *bottom)
{
    LimnTile *tile = g_new0(LimnTile, 1);
    int width, height;

    limn_pyramid_level_size(pyramid, level, &width, &height);
    tile->level = level;
    tile->x = column * LIMN_TILE_SIZE;
    tile->y = row * LIMN_TILE_SIZE;
    tile->width = MIN(LIMN_TILE_SIZE, width - tile->x) + 2;
    tile->height = MIN(LIMN_TILE_SIZE, height - tile->y) + 2;
    tile->texels = g_malloc((gsize) tile->width * tile->height * 4);
    *left = MAX(tile->x - 1, 0);
    *top = MAX(tile->y - 1, 0);
    *right = MIN(tile->x + tile->width - 1, width);
    *bottom = MIN(tile->y + tile->height - 1, height);
    return tile;
}

// Repeats the outermost texels where the tile reaches over the edge of its level.
static void
repeat_edges(LimnTile *tile, int left, int top, int right, int bottom)
{
    guint32 *texels = (guint32 *) tile->texels;
    int width = tile->width;
    int first_column = left - (tile->x - 1), last_column = right - (tile->x - 1) - 1;
    int first_row = top - (tile->y - 1), last_row = bottom - (tile->y - 1) - 1;

    for (int y = first_row; y <= last_row; y++) {
        guint32 *row = texels + (gsize) y * width;

        if (first_column > 0)
            row[0] = row[1];
        if (last_column < width - 1)
            row[width - 1] = row[width - 2];
    }
    if (first_row > 0)
        memcpy(texels, texels + width, (gsize) width * 4);
    if (last_row < tile->height - 1)
        memcpy(texels + (gsize) (tile->height - 1) * width,
               texels + (gsize) (tile->height - 2) * width, (gsize) width * 4);
}

LimnTile *
limn_pyramid_make_tile(LimnPyramid *pyramid, int level, int column, int row,
                       const int *cancelled)
{
    int left, top, right, bottom, n;
    gboolean reduced = level > 0 && level < pyramid->first_stored;
    g_autofree guint8 *buffer = NULL;
    g_autofree void *sums = NULL;
    LimnTile *tile;

    if (level >= pyramid->first_stored && !limn_pyramid_build(pyramid, cancelled))
        return NULL;
    tile = tile_new(pyramid, level, column, row, &left, &top, &right, &bottom);
    n = right - left;
    if (reduced) {
        buffer = g_malloc(((gsize) n << level) * 4);
        sums = g_malloc(n * sizeof(FloatSum));
    }
    for (int y = top; y < bottom; y++) {
        guint8 *out =
            tile->texels +
            ((gsize) (y - tile->y + 1) * tile->width + (left - tile->x + 1)) * 4;

        if (reduced)
            reduce_row(pyramid, 0, level, left, y, n, buffer, sums, out);
        else
            read_row(pyramid, level, left, y, n, out);
    }
    repeat_edges(tile, left, top, right, bottom);
    return tile;
}

LimnTile *
limn_pyramid_make_preview(LimnPyramid *pyramid)
{
    int level = pyramid->n_levels - 1;
    int left, top, right, bottom;
    LimnTile *tile = tile_new(pyramid, level, 0, 0, &left, &top, &right, &bottom);
    gint64 half = ((gint64) 1 << level) / 2;

    tile->preview = level > 0;

    for (int y = top; y < bottom; y++) {
        guint8 *out = tile->texels + ((gsize) (y + 1) * tile->width + 1) * 4;
        int source_y = MIN(((gint64) y << level) + half, pyramid->height - 1);

        for (int x = left; x < right; x++, out += 4) {
            int source_x = MIN(((gint64) x << level) + half, pyramid->width - 1);

            read_row(pyramid, 0, source_x, source_y, 1, out);
        }
    }
    repeat_edges(tile, left, top, right, bottom);
    return tile;
}

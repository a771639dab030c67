// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/io/picture.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/picture-private.h"

#define DEFAULT_BUDGET ((guint64) 4 << 30)
#define MAX_READERS 8

static guint64 budget = DEFAULT_BUDGET; // atomic

static GMutex readers_mutex;
static const LimnPictureReader *readers[MAX_READERS];
static int n_readers;

void
limn_picture_set_budget(guint64 bytes)
{
    __atomic_store_n(&budget, bytes, __ATOMIC_RELAXED);
}

guint64
limn_picture_get_budget(void)
{
    return __atomic_load_n(&budget, __ATOMIC_RELAXED);
}

void
limn_picture_register_reader(const LimnPictureReader *reader)
{
    g_mutex_lock(&readers_mutex);
    gboolean known = FALSE;
    for (int i = 0; i < n_readers; i++) {
        known |= readers[i] == reader;
    }
    if (!known && n_readers < MAX_READERS) {
        readers[n_readers++] = reader;
    }
    g_mutex_unlock(&readers_mutex);
}

static const LimnPictureReader *
find_reader(const LimnPictureSource *source)
{
    const LimnPictureReader *found = NULL;
    g_mutex_lock(&readers_mutex);
    for (int i = 0; i < n_readers && found == NULL; i++) {
        if (readers[i]->sniff(source->data, source->size)) {
            found = readers[i];
        }
    }
    g_mutex_unlock(&readers_mutex);
    return found;
}

gboolean
limn_picture_check_size(const LimnPictureSource *source, guint64 width, guint64 height,
                        guint64 pixel_size, guint64 extra, guint64 least, GError **error)
{
    guint64 area = 0, bytes = 0;
    gboolean fits = g_uint64_checked_mul(&area, width, height) && width <= G_MAXINT &&
                    height <= G_MAXINT && area <= (guint64) LIMN_IMAGE_MAX_PIXELS;
    if (width == 0 || height == 0) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                                   "has no pixels (found %" G_GUINT64_FORMAT
                                   " x %" G_GUINT64_FORMAT ")",
                                   width, height);
    }
    if (least > source->size) {
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, source->name,
            "claims %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
            " pixels, more than its data can hold (found %" G_GSIZE_FORMAT
            " bytes, expected at least %" G_GUINT64_FORMAT
            "; the limit is %" G_GINT64_FORMAT " pixels)",
            width, height, source->size, least, LIMN_IMAGE_MAX_PIXELS);
    }
    if (!fits) {
        return limn_error_set_file(error, LIMN_ERROR_MEMORY, source->name,
                                   "is too large (found %" G_GUINT64_FORMAT
                                   " x %" G_GUINT64_FORMAT
                                   " pixels, the limit is %" G_GINT64_FORMAT " pixels)",
                                   width, height, LIMN_IMAGE_MAX_PIXELS);
    }
    guint64 allowed = limn_picture_get_budget();
    if (!g_uint64_checked_mul(&bytes, area, pixel_size) ||
        !g_uint64_checked_add(&bytes, bytes, extra) || bytes > allowed) {
        return limn_error_set_file(
            error, LIMN_ERROR_MEMORY, source->name,
            "%" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " pixels need %" G_GUINT64_FORMAT
            " MiB of memory (the limit for one picture is %" G_GUINT64_FORMAT " MiB)",
            width, height, (bytes >> 20) + 1, allowed >> 20);
    }
    return TRUE;
}

gboolean
limn_picture_set_truncated(const LimnPictureSource *source, gint64 rows, gint64 height,
                           GError **error)
{
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                               "the file ends early (found %" G_GINT64_FORMAT
                               " of %" G_GINT64_FORMAT " rows in %" G_GSIZE_FORMAT
                               " bytes)",
                               rows, height, source->size);
}

LimnPictureSource
limn_picture_make_source(GBytes *bytes, const char *name, LimnJob *job)
{
    LimnPictureSource source = {.bytes = bytes, .name = name, .job = job};
    source.data = g_bytes_get_data(bytes, &source.size);
    if (source.data == NULL) { // no bytes
        source.data = (const guint8 *) "";
    }
    return source;
}

// Turns the picture as its file says.
static LimnImage *
make_upright(LimnImage *stored, GError **error)
{
    int orientation = stored->orientation;
    LimnImage *upright = limn_image_orient(stored, orientation, error);
    limn_image_unref(stored);
    return upright;
}

LimnImage *
limn_picture_load_bytes(GBytes *bytes, const char *name, LimnJob *job, GError **error)
{
    if (!limn_job_check(job, error)) {
        return NULL;
    }
    LimnPictureSource source = limn_picture_make_source(bytes, name, job);
    const LimnPictureCodec *codec = limn_picture_find_codec(&source);
    if (codec != NULL) {
        LimnImage *stored = codec->load(&source, error);
        return stored != NULL ? make_upright(stored, error) : NULL;
    }
    const LimnPictureReader *reader = find_reader(&source);
    if (reader != NULL) {
        return reader->load(bytes, name, job, error);
    }
    limn_picture_refuse(&source, error);
    return NULL;
}

LimnImage *
limn_picture_load(const char *path, LimnJob *job, GError **error)
{
    // Read, not mapped: a file that is cut while it is decoded must not end the program.
    g_autoptr(GBytes) bytes = limn_file_read(path, limn_picture_get_budget(), error);
    return bytes != NULL ? limn_picture_load_bytes(bytes, path, job, error) : NULL;
}

gboolean
limn_picture_probe(const char *path, LimnPictureInfo *info, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_map(path, 0, error);
    if (bytes == NULL) {
        return FALSE;
    }
    LimnPictureSource source = limn_picture_make_source(bytes, path, NULL);
    const LimnPictureCodec *codec = limn_picture_find_codec(&source);
    *info = (LimnPictureInfo){.orientation = 1};
    if (codec != NULL) {
        if (!codec->probe(&source, info, error)) {
            return FALSE;
        }
        info->format = codec->format;
        if (info->orientation >= 5) {
            int width = info->width;
            info->width = info->height;
            info->height = width;
        }
        return TRUE;
    }
    const LimnPictureReader *reader = find_reader(&source);
    if (reader != NULL) {
        info->format = reader->format;
        return reader->probe(bytes, path, info, error);
    }
    limn_picture_refuse(&source, error);
    return FALSE;
}

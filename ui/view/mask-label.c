// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/mask-label.h"

#include <string.h>

// Bytes are looked at eight at a time; with other labels the first few tell already.
static gboolean
bytes_are_binary(const guint8 *bytes, gsize n, guint8 ignore)
{
    guint64 word, all;
    gsize i = 0;

    memset(&all, ignore, sizeof(all));
    for (; i + sizeof(word) <= n; i += sizeof(word)) {
        memcpy(&word, bytes + i, sizeof(word));
        if (word == 0 || word == all)
            continue;
        for (gsize k = 0; k < sizeof(word); k++)
            if (bytes[i + k] != 0 && bytes[i + k] != ignore)
                return FALSE;
    }
    for (; i < n; i++)
        if (bytes[i] != 0 && bytes[i] != ignore)
            return FALSE;
    return TRUE;
}

static gboolean
samples_are_binary(const LimnImage *mask, gint64 ignore)
{
    for (int y = 0; y < mask->height; y++) {
        for (int x = 0; x < mask->width; x++) {
            double sample = limn_image_get_sample(mask, x, y, 0);

            if (sample != 0 && sample != ignore)
                return FALSE;
        }
    }
    return TRUE;
}

gint64
limn_mask_effective_ignore(const LimnImage *mask, gint64 ignore)
{
    gboolean bytes =
        mask->depth == LIMN_DEPTH_U8 && limn_pixels_channels(mask->pixels) == 1;
    gboolean binary;

    if (ignore <= 0)
        return -1;
    if (bytes && ignore > 255)
        return -1;
    if (bytes)
        binary = bytes_are_binary(mask->data, (gsize) mask->width * mask->height, ignore);
    else
        binary = samples_are_binary(mask, ignore);
    return binary ? -1 : ignore;
}

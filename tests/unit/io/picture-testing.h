// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Picture files made in the test by the format libraries themselves, and what is expected
// of bad ones.

#include "engine/io/picture.h"
#include "tests/unit/image/image-testing.h"

typedef struct {
    int width, height;
    int bits, type; // as in the file (type = PNG_COLOR_TYPE_*)
    gboolean interlaced;
    int n_palette;
    const guint8 (*palette)[3];
    int n_alpha; // tRNS of a palette
    const guint8 *alpha;
    const guint16 *key; // tRNS of grey (1 value) and RGB (3)
    gsize exif_size;
    const guint8 *exif;
    gboolean gamma;         // a gAMA chunk that would change everything
    const guint16 *samples; // [height, width, channels]
} TestPng;

GBytes *test_png(const TestPng *png);

// A file of its own in a folder that is removed at the end of the program.
char *test_temporary_path(const char *name);
char *test_write_file(const char *name, const void *data, gsize size);

LimnImage *test_load_bytes(GBytes *bytes, LimnJob *job);
LimnImage *test_load_path(const char *path, LimnJob *job);
GBytes *test_read(const char *relative); // below tests/data

// Loading fails with this code and says `part`; the name is in the message.
void expect_refusal(const void *data, gsize size, LimnErrorCode code, const char *part);
// The file is refused however it is cut or damaged, or gives a picture; never anything
// else. `step` bytes lie between two cuts.
void check_damaged(GBytes *bytes, gsize step);

// A block with one tag, 0x0112.
GBytes *test_exif(int orientation, gboolean big_endian, gboolean with_prefix);

// SPDX-License-Identifier: GPL-3.0-or-later
// PNG. The checksums of the chunks are put right first, so that damage gets behind them.
#include <zlib.h>

#include "tests/fuzz/picture.h"

static guint32
read_u32(const guint8 *p)
{
    return (guint32) p[0] << 24 | (guint32) p[1] << 16 | (guint32) p[2] << 8 | p[3];
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    static const char signature[] = "\211PNG\r\n\032\n";
    g_autofree guint8 *copy = g_malloc(MAX(size, 8));
    memcpy(copy, data, size);
    memcpy(copy, signature, 8);
    gsize position = 8;
    while (size >= position + 12) {
        guint32 length = read_u32(copy + position);
        if (length > size - position - 12) {
            break;
        }
        guint32 sum = (guint32) crc32(0, copy + position + 4, length + 4);
        for (int i = 0; i < 4; i++) {
            copy[position + 8 + length + (gsize) i] = (guint8) (sum >> (24 - 8 * i));
        }
        position += length + 12;
    }
    fuzz_picture(copy, MAX(size, 8));
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later

// The orientation in an EXIF block. The block is a small TIFF file:
//
//   offset  size  meaning                        invariant checked here
//   0       2     "II" little, "MM" big endian   one of the two
//   2       2     42
//   4       4     offset of the first directory  whole directory inside the block
//   dir     2     number of entries
//   dir+2   12 n  entries: tag u16, type u16, count u32, value or offset u32
//
// Tag 0x0112 holds the orientation as one SHORT (some writers use LONG). Everything
// else is left alone; a block that breaks a rule means "upright".

#include <string.h>

#include "engine/io/picture-private.h"

typedef struct {
    const guint8 *data;
    gsize size;
    gboolean big;
} Block;

// The caller has checked that the bytes are there.
static guint32
read_u16(const Block *block, gsize offset)
{
    const guint8 *p = block->data + offset;
    return block->big ? (guint32) p[0] << 8 | p[1] : (guint32) p[1] << 8 | p[0];
}

static guint32
read_u32(const Block *block, gsize offset)
{
    guint32 first = read_u16(block, offset), second = read_u16(block, offset + 2);
    return block->big ? first << 16 | second : second << 16 | first;
}

static int
orientation_of_entry(const Block *block, gsize entry)
{
    enum { TYPE_BYTE = 1, TYPE_SHORT = 3, TYPE_LONG = 4 };
    guint32 type = read_u16(block, entry + 2);
    guint32 value = 0;
    if (read_u32(block, entry + 4) != 1) {
        return 1;
    }
    if (type == TYPE_BYTE) {
        value = block->data[entry + 8];
    } else if (type == TYPE_SHORT) {
        value = read_u16(block, entry + 8);
    } else if (type == TYPE_LONG) {
        value = read_u32(block, entry + 8);
    }
    return value >= 1 && value <= 8 ? (int) value : 1;
}

int
limn_exif_orientation(const guint8 *data, gsize size)
{
    if (size >= 6 && memcmp(data, "Exif\0", 5) == 0) {
        data += 6;
        size -= 6;
    }
    if (size < 8 || (memcmp(data, "II", 2) != 0 && memcmp(data, "MM", 2) != 0)) {
        return 1;
    }
    Block block = {data, size, data[0] == 'M'};
    gsize directory = read_u32(&block, 4);
    if (read_u16(&block, 2) != 42 || directory > size - 2) {
        return 1;
    }
    gsize n = MIN(read_u16(&block, directory), (size - directory - 2) / 12);
    for (gsize i = 0; i < n; i++) {
        gsize entry = directory + 2 + 12 * i;
        if (read_u16(&block, entry) == 0x0112) {
            return orientation_of_entry(&block, entry);
        }
    }
    return 1;
}

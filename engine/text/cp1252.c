// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/cp1252.h"

static const guint16 UPPER[32] = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, // 80
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008d, 0x017d, 0x008f, // 88
    0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, // 90
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178, // 98
};

gunichar
limn_cp1252_to_unicode(guint8 byte)
{
    return byte >= 0x80 && byte <= 0x9f ? UPPER[byte - 0x80] : byte;
}

gboolean
limn_cp1252_from_unicode(gunichar c, guint8 *byte)
{
    if (c < 0x100) {
        *byte = (guint8) c;
        return TRUE;
    }
    for (guint i = 0; i < G_N_ELEMENTS(UPPER); i++)
        if (UPPER[i] == c) {
            *byte = (guint8) (0x80 + i);
            return TRUE;
        }
    return FALSE;
}

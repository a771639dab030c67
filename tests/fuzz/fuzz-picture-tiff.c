// SPDX-License-Identifier: GPL-3.0-or-later
// TIFF.
#include "tests/fuzz/picture.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    fuzz_picture(data, size);
    return 0;
}

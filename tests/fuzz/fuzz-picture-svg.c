// SPDX-License-Identifier: GPL-3.0-or-later
// SVG by librsvg.
#include "engine/svg/svg.h"
#include "tests/fuzz/picture.h"

// Found by the leak checker at its start; leaks of librsvg and libxml2, not ours.
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
    return "leak:librsvg\nleak:libxml2\nleak:libpango\nleak:libfontconfig\n";
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    limn_svg_init();
    fuzz_picture(data, size);
    return 0;
}

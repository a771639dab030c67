// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/prompts.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) lines = limn_prompts_parse(data, size, "input", &error);
    if (lines == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    fuzz_check(lines[0] != NULL);
    for (gsize i = 0; lines[i] != NULL; i++)
        fuzz_check(lines[i][0] != '\0' && g_utf8_validate(lines[i], -1, NULL));
    return 0;
}

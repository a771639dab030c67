// SPDX-License-Identifier: GPL-3.0-or-later

// METHOD grad_eclip: discovery.

#include "golden-grad-eclip.h"

void
limn_golden_grad_eclip(LimnGolden *golden, const char *folder)
{
    static const struct {
        const char *prefix;
        void (*run)(LimnGolden *, const char *, const char *);
    } KINDS[] = {
        {"case_", limn_golden_clip_model},
        {"preprocess", limn_golden_clip_preprocess},
        {"tokenizer", limn_golden_clip_tokenizer},
        {"metrics", limn_golden_clip_metrics},
    };
    g_auto(GStrv) names = limn_golden_list(folder);
    for (gsize i = 0; names[i] != NULL; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        gboolean is_folder = g_file_test(path, G_FILE_TEST_IS_DIR), known = FALSE;
        for (gsize k = 0; k < G_N_ELEMENTS(KINDS) && is_folder && !known; k++) {
            if (g_str_has_prefix(names[i], KINDS[k].prefix)) {
                known = TRUE;
                KINDS[k].run(golden, path, names[i]);
            }
        }
        if (!known && !limn_golden_is_note(names[i])) {
            limn_golden_begin(golden, NULL);
            limn_golden_skip(golden, names[i]);
        }
    }
}

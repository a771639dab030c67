// SPDX-License-Identifier: GPL-3.0-or-later
// study.json: what is read can be written, and reads back as the same study.
#include "engine/method/operations.h"
#include "engine/study/study.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static LimnStudy *
load(const void *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(fuzz_folder(), "study.json", NULL);
    fuzz_check(g_file_set_contents_full(path, data, (gssize) size,
                                        G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    LimnStudy *study = limn_study_load(path, FALSE, NULL, &error);
    if (study == NULL) {
        fuzz_check_error(&error);
    }
    return study;
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    limn_registry_set(limn_operations);
    g_autoptr(LimnStudy) study = load(data, size);
    if (study == NULL) {
        return 0;
    }
    g_autofree char *text = limn_study_to_json(study, fuzz_folder());
    g_autoptr(LimnStudy) again = load(text, strlen(text));
    fuzz_check(again != NULL);
    fuzz_check(limn_study_equal(study, again, NULL));
    g_autofree char *once_more = limn_study_to_json(again, fuzz_folder());
    fuzz_check(strcmp(text, once_more) == 0);
    return 0;
}

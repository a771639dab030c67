// SPDX-License-Identifier: GPL-3.0-or-later
// A table of concepts, superclasses and labels: three texts with NUL between them.
#include "engine/model/concept-list.h"
#include "engine/model/neuron-concepts.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static char *
write_file(const char *name, const void *data, gsize size)
{
    char *path = g_build_filename(fuzz_folder(), name, NULL);
    fuzz_check(g_file_set_contents_full(path, data != NULL ? data : "", (gssize) size,
                                        G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    return path;
}

static void
use(const LimnArray *presence, const char *const *classes, GPtrArray *superclasses)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnConcepts) concepts = limn_concepts_from_labels(
        presence, classes, superclasses, 2, "input", NULL, &error);
    fuzz_check(concepts != NULL);
    fuzz_touch(concepts->values->data, (gsize) concepts->values->length * sizeof(float));
    fuzz_check(concepts->names->len == (guint) concepts->values->shape[1]);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    const guint8 *super, *labels;
    gsize n_super, n_labels;
    gsize n = fuzz_split(data, size, &super, &n_super);
    gsize n_first = fuzz_split(super, n_super, &labels, &n_labels);
    g_autofree char *table = write_file("c.tsv", data, n);
    g_autofree char *super_path = write_file("s.json", super, n_first);
    g_autofree char *labels_path = write_file("l.json", labels, n_labels);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnConceptList) list = limn_concept_list_load(table, NULL, &error);
    if (list == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    g_auto(GStrv) classes = limn_concept_list_dup_names(list);
    const char *const *names = (const char *const *) classes;
    g_autoptr(GPtrArray) groups = limn_concept_list_make_superclasses(list);
    g_autoptr(GPtrArray) superclasses =
        limn_superclasses_load(super_path, names, NULL, &error);
    if (superclasses == NULL) {
        fuzz_check_error(&error);
    }
    g_autoptr(LimnArray) presence = limn_presence_load_json(labels_path, names, &error);
    if (presence == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    use(presence, names, superclasses != NULL ? superclasses : groups);
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of explanations in the authors' CSV layout: what is read can be written, and is
// then read again as the same.
#include "engine/io/artifact-files.h"
#include "engine/model/neuron-csv.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static GPtrArray *
load(const void *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(fuzz_folder(), "e.csv", NULL);
    fuzz_check(g_file_set_contents_full(path, data != NULL ? data : "", (gssize) size,
                                        G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    GPtrArray *rows = limn_neuron_rows_load(path, &error);
    if (rows == NULL) {
        fuzz_check_error(&error);
    }
    return rows;
}

static void
check_row(const LimnNeuronRow *row)
{
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(LimnTextWord));
    g_autofree char *formula = limn_neuron_row_dup_formula(row, words);
    gsize length = strlen(formula);
    fuzz_check(row->concepts->len == row->weights->len);
    fuzz_check(words->len == row->concepts->len);
    for (guint i = 0; i < words->len; i++) {
        const LimnTextWord *word = &g_array_index(words, LimnTextWord, i);
        fuzz_check(word->begin <= word->end && word->end <= length);
        fuzz_check(isfinite(word->weight));
    }
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GPtrArray) rows = load(data, size);
    if (rows == NULL) {
        return 0;
    }
    for (guint i = 0; i < rows->len; i++) {
        check_row(g_ptr_array_index(rows, i));
    }
    LimnTable *table = limn_neuron_rows_to_table(rows, 10);
    g_autofree char *csv = limn_table_to_csv(table);
    limn_table_free(table);
    g_autoptr(GPtrArray) again = load(csv, strlen(csv));
    fuzz_check(again != NULL && again->len == rows->len);
    for (guint i = 0; i < rows->len; i++) {
        const LimnNeuronRow *a = g_ptr_array_index(rows, i);
        const LimnNeuronRow *b = g_ptr_array_index(again, i);
        fuzz_check(a->unit == b->unit && a->concepts->len == b->concepts->len);
        for (guint c = 0; c < a->concepts->len; c++) {
            fuzz_check(strcmp(g_ptr_array_index(a->concepts, c),
                              g_ptr_array_index(b->concepts, c)) == 0);
            fuzz_check(g_array_index(a->weights, double, c) ==
                       g_array_index(b->weights, double, c));
        }
    }
    return 0;
}

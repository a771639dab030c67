// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of a study: result.json, words.json and table.csv are the input, with NUL
// between them; study.json, a map and a picture are good ones.
#include "engine/io/npy.h"
#include "engine/io/picture.h"
#include "engine/io/study-folder.h"
#include "engine/method/operations.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void
write_file(const char *name, const void *data, gsize size)
{
    g_autofree char *path = g_build_filename(fuzz_folder(), name, NULL);
    fuzz_check(g_file_set_contents_full(path, data != NULL ? data : "", (gssize) size,
                                        G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
write_good_files(void)
{
    static gboolean written;
    static const char study[] = "{\"operation\": \"grad-eclip\", \"seed\": 1}";
    if (written) {
        return;
    }
    g_autoptr(LimnArray) field = limn_array_new_f32_3d(2, 2, 2, NULL);
    g_autoptr(GBytes) npy = limn_npy_encode(field, NULL);
    g_autoptr(LimnImage) image =
        limn_image_new(2, 2, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, NULL);
    image->bits = 8;
    g_autoptr(GBytes) png = limn_png_encode(image, NULL);
    write_file("study.json", study, strlen(study));
    write_file("map.npy", g_bytes_get_data(npy, NULL), g_bytes_get_size(npy));
    write_file("picture.png", g_bytes_get_data(png, NULL), g_bytes_get_size(png));
    written = TRUE;
}

// What came in is whole enough to be shown.
static void
use_artifact(const LimnArtifact *artifact)
{
    double min, max;
    gint64 n_nan;
    for (gint64 i = 0; i < limn_artifact_n_maps(artifact); i++) {
        limn_artifact_data_range(artifact, i, &min, &max, &n_nan);
    }
    for (guint i = 0; artifact->texts != NULL && i < artifact->texts->len; i++) {
        const LimnTextItem *item = g_ptr_array_index(artifact->texts, i);
        gsize length = strlen(item->text);
        fuzz_check(item->used_bytes <= length);
        for (guint k = 0; k < item->words->len; k++) {
            const LimnTextWord *word = &g_array_index(item->words, LimnTextWord, k);
            fuzz_check(word->begin <= word->end && word->end <= length);
        }
    }
    if (artifact->table != NULL) {
        guint n = limn_table_n_rows(artifact->table);
        for (guint c = 0; c < artifact->table->columns->len; c++) {
            const LimnColumn *column = g_ptr_array_index(artifact->table->columns, c);
            fuzz_check(n ==
                       (column->numeric ? column->numbers->len : column->strings->len));
        }
    }
    fuzz_check(artifact->pictures == NULL ||
               artifact->pictures->len == artifact->rects->len);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    const guint8 *words, *table;
    gsize n_words, n_table;
    limn_registry_set(limn_operations);
    write_good_files();
    gsize n = fuzz_split(data, size, &words, &n_words);
    gsize n_first = fuzz_split(words, n_words, &table, &n_table);
    write_file("result.json", data, n);
    write_file("words.json", words, n_first);
    write_file("table.csv", table, n_table);
    g_autoptr(LimnStudyFolder) folder =
        limn_study_folder_load(fuzz_folder(), NULL, &error);
    if (folder == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    for (guint i = 0; i < folder->artifacts->len; i++) {
        use_artifact(g_ptr_array_index(folder->artifacts, i));
    }
    return 0;
}

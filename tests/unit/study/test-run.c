// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/run.h"

#include "engine/base/file.h"
#include "engine/study/item-journal.h"
#include "tests/unit/study/study-testing.h"

#include <math.h>
#include <string.h>

static LimnRun *
new_run(const LimnOperation *operation)
{
    g_autoptr(LimnStudy) study = limn_study_new(operation);
    g_autoptr(LimnJob) job = limn_job_new();
    return limn_run_new(study, job);
}

static void
test_values(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnRun) run = new_run(&test_operation);
    LimnStudy *study = limn_run_get_study(run);
    limn_study_set(study, "count", "7", &error);
    limn_study_set(study, "mode", "gamma", &error);
    limn_study_set(study, "flag", "yes", &error);
    limn_study_set(study, "text", "one", &error);
    limn_study_set(study, "text", "two", &error);
    limn_study_set(study, "image", "/a", &error);
    g_assert_no_error(error);
    study->seed = 5;
    g_assert_cmpint(limn_run_get_int(run, "count"), ==, 7);
    g_assert_cmpfloat(limn_run_get_float(run, "ratio"), ==, 0.25);
    g_assert_cmpint(limn_run_get_choice(run, "mode"), ==, 2);
    g_assert_true(limn_run_get_bool(run, "flag"));
    g_assert_cmpstr(limn_run_get_text(run, "words"), ==, "");
    g_assert_cmpuint(limn_run_get_seed(run), ==, 5);
    const char *const *texts = limn_run_get_input_list(run, "text");
    g_assert_cmpstr(texts[0], ==, "one");
    g_assert_cmpstr(texts[1], ==, "two");
    g_assert_null(texts[2]);
    g_assert_null(limn_run_get_input_list(run, "notes")[0]);
    g_assert_null(limn_run_get_input(run, "notes"));
    g_assert_true(limn_run_execute(run, &error));
    g_assert_cmpuint(limn_run_get_scalars(run)->len, ==, 1);
}

static void
test_refused(void)
{
    GError *error = NULL;
    g_autoptr(LimnRun) run = new_run(&test_operation);
    g_assert_false(limn_run_execute(run, &error)); // no picture
    test_expect(&error, LIMN_ERROR_ARGUMENT, "image", NULL);
    g_autoptr(LimnRun) cancelled = new_run(&test_items_operation);
    limn_job_cancel(limn_run_get_job(cancelled));
    g_assert_false(limn_run_execute(cancelled, &error));
    test_expect(&error, LIMN_ERROR_CANCELLED, NULL);
}

static void
count_call(gpointer user_data)
{
    (*(guint *) user_data)++;
}

static void
test_items(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnRun) run = new_run(&test_items_operation);
    guint n_yields = 0;
    limn_run_set_yield(run, count_call, &n_yields);
    g_assert_true(limn_run_execute(run, &error));
    g_assert_cmpuint(n_yields, ==, 6);
    g_assert_cmpuint(limn_run_get_items(run)->len, ==, 6);
    g_assert_cmpuint(limn_run_get_skipped(run)->len, ==, 1);
    const LimnSkipped *skipped = g_ptr_array_index(limn_run_get_skipped(run), 0);
    g_assert_cmpint(skipped->index, ==, 2);
    GPtrArray *scalars = limn_run_get_scalars(run);
    const LimnScalar *first = g_ptr_array_index(scalars, 0);
    const LimnScalar *last = g_ptr_array_index(scalars, scalars->len - 1);
    g_assert_cmpint(first->index, ==, -1);
    g_assert_cmpstr(last->name, ==, "sum"); // of the finish function
}

// Shards own disjoint items, all of them together; finish is left to the merge.
static void
test_shards(void)
{
    guint owned[6] = {0};
    for (guint s = 0; s < 4; s++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnRun) run = new_run(&test_items_operation);
        limn_run_set_shard(run, s, 4);
        g_assert_true(limn_run_execute(run, &error));
        GPtrArray *items = limn_run_get_items(run);
        for (guint i = 0; i < items->len; i++) {
            owned[((LimnRunItem *) g_ptr_array_index(items, i))->index]++;
        }
        GPtrArray *scalars = limn_run_get_scalars(run);
        for (guint i = 0; i < scalars->len; i++) {
            const LimnScalar *scalar = g_ptr_array_index(scalars, i);
            g_assert_cmpstr(scalar->name, !=, "sum");
        }
    }
    for (guint i = 0; i < 6; i++) {
        g_assert_cmpuint(owned[i], ==, 1);
    }
}

// ---- the journal of items

static LimnTable *
new_table(void)
{
    LimnTable *table = limn_table_new();
    limn_table_add_column(table, "x", TRUE);
    limn_table_add_column(table, "name", FALSE);
    return table;
}

static void
add_row(LimnTable *table, double x, const char *name)
{
    limn_column_add_number(g_ptr_array_index(table->columns, 0), x);
    limn_column_add_string(g_ptr_array_index(table->columns, 1), name);
}

static void
record(const char *folder, gboolean resume, guint64 items, const char *parameter)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnRun) run = new_run(&test_items_operation);
    limn_study_set(limn_run_get_study(run), "items", parameter, NULL);
    limn_run_set_work_directory(run, folder, resume);
    LimnTable *table = new_table();
    LimnTable *const tables[] = {table};
    g_autoptr(LimnItemJournal) journal = limn_item_journal_open(run, tables, 1, &error);
    g_assert_no_error(error);
    for (guint64 i = 0; i < items; i++) {
        guint count = (guint) i;
        limn_run_begin_item(run, i, "item", &error);
        limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_WARNING, "item",
                          "said of %d", (int) i);
        for (guint64 r = 0; r < i; r++) {
            add_row(table, r == 0 ? NAN : 0.1 * (double) i, r == 0 ? NULL : "a\n\"b\"");
        }
        limn_item_journal_add(journal, i, &count, &error);
        g_assert_no_error(error);
    }
    limn_table_free(table);
}

static guint
count_restored(const char *folder, const char *parameter, guint *n_diagnostics)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnRun) run = new_run(&test_items_operation);
    limn_study_set(limn_run_get_study(run), "items", parameter, NULL);
    limn_run_set_work_directory(run, folder, TRUE);
    LimnTable *table = new_table();
    LimnTable *const tables[] = {table};
    g_autoptr(LimnItemJournal) journal = limn_item_journal_open(run, tables, 1, &error);
    g_assert_no_error(error);
    guint restored = 0;
    for (guint64 i = 0; i < 10; i++) {
        guint count = 99;
        if (limn_item_journal_restore(journal, i, &count)) {
            g_assert_cmpuint(count, ==, i);
            restored++;
        }
    }
    const LimnColumn *x = g_ptr_array_index(table->columns, 0);
    const LimnColumn *name = g_ptr_array_index(table->columns, 1);
    if (restored > 2) {
        g_assert_true(isnan(g_array_index(x->numbers, double, 0)));
        g_assert_cmpfloat(g_array_index(x->numbers, double, 2), ==, 0.1 * 2);
        g_assert_null(g_ptr_array_index(name->strings, 0));
        g_assert_cmpstr(g_ptr_array_index(name->strings, 2), ==, "a\n\"b\"");
    }
    g_autoptr(GPtrArray) diagnostics = limn_job_dup_diagnostics(limn_run_get_job(run));
    *n_diagnostics = diagnostics->len;
    limn_table_free(table);
    return restored;
}

static void
test_journal(void)
{
    char *parent = test_folder();
    g_autofree char *folder = g_build_filename(parent, "work", NULL);
    guint n = 0;
    record(folder, FALSE, 4, "6");
    g_assert_cmpuint(count_restored(folder, "6", &n), ==, 4);
    g_assert_cmpuint(n, ==, 4);
    // Without --resume it begins anew; another study's is put aside with a warning.
    record(folder, FALSE, 1, "6");
    g_assert_cmpuint(count_restored(folder, "6", &n), ==, 1);
    g_assert_cmpuint(count_restored(folder, "7", &n), ==, 0);
    g_assert_cmpuint(n, ==, 1);
    // Killed before the first line: nothing is left, and nothing is said.
    g_free(test_write(folder, "items.journal", ""));
    g_assert_cmpuint(count_restored(folder, "7", &n), ==, 0);
    g_assert_cmpuint(n, ==, 0);
    // Other files of the folder stay.
    g_free(test_write(folder, "mine", "x"));
    record(folder, FALSE, 1, "6");
    g_free(test_read_text(folder, "mine"));
    test_folder_remove(parent);
}

// A line cut by a crash, or damaged, ends what is known; nothing else is lost.
static void
test_journal_damaged(void)
{
    char *parent = test_folder();
    g_autofree char *folder = g_build_filename(parent, "work", NULL);
    guint n = 0;
    record(folder, FALSE, 4, "6");
    g_autofree char *text = test_read_text(folder, "items.journal");
    text[strlen(text) - 9] = '\0';
    g_free(test_write(folder, "items.journal", text));
    g_assert_cmpuint(count_restored(folder, "6", &n), ==, 3);
    char *rows = strstr(text, "\"item\": 2");
    memset(rows, '!', 5);
    g_free(test_write(folder, "items.journal", text));
    g_assert_cmpuint(count_restored(folder, "6", &n), ==, 2);
    test_folder_remove(parent);
}

static void
test_no_journal(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnRun) run = new_run(&test_items_operation);
    LimnTable *table = new_table();
    LimnTable *const tables[] = {table};
    g_autoptr(LimnItemJournal) journal = limn_item_journal_open(run, tables, 1, &error);
    guint count = 0;
    g_assert_true(limn_item_journal_add(journal, 0, &count, &error));
    g_assert_false(limn_item_journal_restore(journal, 0, &count));
    limn_table_free(table);
}

// ---- artifacts

static void
test_artifact(void)
{
    gint64 shape[4] = {2, 3, 1, 2};
    g_autoptr(LimnArray) field = limn_array_new(LIMN_DTYPE_F32, 4, shape, NULL);
    for (gint64 i = 0; i < field->length; i++) {
        limn_array_f32(field)[i] = (float) i;
    }
    limn_array_f32(field)[3] = NAN;
    limn_array_f32(field)[11] = INFINITY;
    g_autoptr(LimnArtifact) artifact = limn_artifact_new_heatmap("map", field);
    double min, max;
    gint64 bad;
    int height, width;
    g_assert_cmpint(limn_artifact_n_maps(artifact), ==, 6);
    limn_artifact_map_size(artifact, &height, &width);
    g_assert_cmpint(height, ==, 1);
    g_assert_cmpint(width, ==, 2);
    g_assert_cmpfloat(limn_artifact_get_map(artifact, 2)[1], ==, 5);
    g_assert_true(limn_artifact_data_range(artifact, -1, &min, &max, &bad));
    g_assert_cmpfloat(min, ==, 0);
    g_assert_cmpfloat(max, ==, 10);
    g_assert_cmpint(bad, ==, 2);
    g_assert_true(limn_artifact_data_range(artifact, 1, &min, &max, &bad));
    g_assert_cmpfloat(min, ==, 2);
    g_assert_cmpfloat(max, ==, 2);
    g_assert_cmpint(bad, ==, 1);
    limn_array_f32(field)[0] = limn_array_f32(field)[1] = NAN;
    g_assert_false(limn_artifact_data_range(artifact, 0, &min, &max, &bad));
    for (int k = 0; k <= LIMN_ARTIFACT_MODEL; k++) {
        LimnArtifactKind kind;
        g_assert_true(limn_artifact_kind_parse(
            limn_artifact_kind_name((LimnArtifactKind) k), &kind));
        g_assert_cmpint((int) kind, ==, k);
    }
    LimnArtifactKind kind;
    g_assert_false(limn_artifact_kind_parse("film", &kind));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_register();
    g_test_add_func("/run/values", test_values);
    g_test_add_func("/run/refused", test_refused);
    g_test_add_func("/run/items", test_items);
    g_test_add_func("/run/shards", test_shards);
    g_test_add_func("/run/journal", test_journal);
    g_test_add_func("/run/journal-damaged", test_journal_damaged);
    g_test_add_func("/run/no-journal", test_no_journal);
    g_test_add_func("/run/artifact", test_artifact);
    return g_test_run();
}

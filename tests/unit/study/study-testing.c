// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/study/study-testing.h"

#include "engine/base/file.h"

#include <glib/gstdio.h>
#include <string.h>

static const LimnInput inputs[] = {
    {.name = "model", .type = LIMN_INPUT_PATH, .builtin = "text/concepts.tsv"},
    {.name = "image", .type = LIMN_INPUT_IMAGE, .one_of = "picture"},
    {.name = "pixels", .type = LIMN_INPUT_FILE, .one_of = "picture"},
    {.name = "text",
     .type = LIMN_INPUT_TEXT,
     .list = TRUE,
     .one_of = "sentence",
     .optional_group = TRUE},
    {.name = "texts",
     .type = LIMN_INPUT_FILE,
     .one_of = "sentence",
     .optional_group = TRUE},
    {.name = "notes", .type = LIMN_INPUT_FILE},
    {.name = NULL},
};
static const char *const modes[] = {"alpha", "beta", "gamma", NULL};
static const LimnParameter parameters[] = {
    {.name = "mode", .type = LIMN_PARAMETER_CHOICE, .choices = modes},
    {.name = "count",
     .type = LIMN_PARAMETER_INT,
     .int_default = 3,
     .min = 1,
     .max = 10,
     .unit = "things"},
    {.name = "ratio",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 0.25,
     .min = 0,
     .max = 1},
    {.name = "flag", .type = LIMN_PARAMETER_BOOL},
    {.name = "words", .type = LIMN_PARAMETER_TEXT, .text_default = NULL},
    {.name = NULL},
};
static const LimnOutput outputs[] = {{NULL, NULL, NULL, NULL}};

static gboolean
run_nothing(LimnRun *run, GError **error)
{
    limn_run_add_scalar(run, "count", (double) limn_run_get_int(run, "count"));
    return TRUE;
}

const LimnOperation test_operation = {.id = "test-operation",
                                      .title = "Test",
                                      .family = LIMN_FAMILY_EXPLAIN,
                                      .summary = "For tests",
                                      .inputs = inputs,
                                      .parameters = parameters,
                                      .outputs = outputs,
                                      .run = run_nothing};

// ---- work over items

static const LimnInput no_inputs[] = {{.name = NULL}};
static const LimnParameter item_parameters[] = {
    {.name = "items", .type = LIMN_PARAMETER_INT, .int_default = 6, .min = 0, .max = 99},
    {.name = NULL},
};

// Item i gives i + 1 rows of a table, one slice of a field and an array, one text; item 2
// fails. Diagnostics of the whole, of items, and the same one twice.
static void
fill_item(LimnRun *run, guint64 i, LimnTable *table, GArray *values, LimnArtifact *texts)
{
    static const char *const names[] = {"number", "label"};
    g_autofree char *name = g_strdup_printf("item %d", (int) i);
    for (guint64 row = 0; row <= i; row++) {
        LimnColumn *number = g_ptr_array_index(table->columns, 0);
        LimnColumn *label = g_ptr_array_index(table->columns, 1);
        g_assert_cmpstr(number->name, ==, names[0]);
        limn_column_add_number(number, (double) i + (double) row / 3);
        limn_column_add_string(label, row % 2 == 0 ? name : NULL);
    }
    for (int k = 0; k < 4; k++) {
        float value = (float) i * 10 + (float) k;
        g_array_append_val(values, value);
    }
    LimnTextItem *text = limn_text_item_new(name);
    text->score = (double) i / 7;
    LimnTextWord word = {0, 4, 0.5};
    g_array_append_val(text->words, word);
    g_ptr_array_add(texts->texts, text);
    limn_run_add_item_scalar(run, "score", name, (double) i / 7);
    limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_NOTE, NULL, "common note");
    limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_WARNING, name,
                      "about item %d", (int) i);
}

static void
add_item_artifacts(LimnRun *run, LimnTable *table, GArray *values, LimnArtifact *texts,
                   GArray *done)
{
    gint64 shape[3] = {done->len, 2, 2};
    g_autoptr(LimnArray) field = limn_array_new(LIMN_DTYPE_F32, 3, shape, NULL);
    memcpy(field->data, values->data, values->len * sizeof(float));
    LimnArtifact *rows = limn_artifact_new_table("rows", table);
    LimnArtifact *maps = limn_artifact_new_heatmap("maps", field);
    LimnArtifact *array = limn_artifact_new_array("array", field);
    for (guint k = 0; k < done->len; k++) {
        guint64 i = g_array_index(done, guint64, k);
        g_autofree char *label = g_strdup_printf("map %d", (int) i);
        limn_artifact_add_label(maps, label);
        limn_artifact_tag_item(rows, i, i + 1);
        limn_artifact_tag_item(maps, i, 1);
        limn_artifact_tag_item(array, i, 1);
        limn_artifact_tag_item(texts, i, 1);
    }
    limn_run_add_artifact(run, rows);
    limn_run_add_artifact(run, maps);
    limn_run_add_artifact(run, array);
    limn_run_add_artifact(run, limn_artifact_ref(texts));
}

static gboolean
run_items(LimnRun *run, GError **error)
{
    guint64 n = (guint64) limn_run_get_int(run, "items");
    LimnTable *table = limn_table_new();
    limn_table_add_column(table, "number", TRUE);
    limn_table_add_column(table, "label", FALSE);
    g_autoptr(LimnArtifact) texts = limn_artifact_new_text("texts");
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(float));
    g_autoptr(GArray) done = g_array_new(FALSE, FALSE, sizeof(guint64));
    limn_run_set_n_items(run, n);
    limn_run_add_scalar(run, "constant", 42);
    limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_NOTE, NULL, "at the start");
    for (guint64 i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("item %d", (int) i);
        if (!limn_run_owns_item(run, i)) {
            continue;
        }
        if (!limn_run_begin_item(run, i, name, error)) {
            limn_table_free(table);
            return FALSE;
        }
        if (i == 2) {
            g_autoptr(GError) reason =
                g_error_new(LIMN_ERROR, LIMN_ERROR_FORMAT, "item 2 is bad");
            limn_run_skip_item(run, name, reason);
            continue;
        }
        fill_item(run, i, table, values, texts);
        g_array_append_val(done, i);
    }
    if (done->len == 0) {
        limn_table_free(table);
        return TRUE;
    }
    add_item_artifacts(run, table, values, texts, done);
    return TRUE;
}

static gboolean
finish_items(LimnRun *run, GError **error)
{
    const LimnArtifact *rows = limn_run_find_artifact(run, "rows");
    double sum = 0;
    if (rows != NULL) {
        const LimnColumn *number = g_ptr_array_index(rows->table->columns, 0);
        for (guint i = 0; i < number->numbers->len; i++) {
            sum += g_array_index(number->numbers, double, i);
        }
    }
    limn_run_add_scalar(run, "sum", sum);
    return TRUE;
}

const LimnOperation test_items_operation = {.id = "test-items",
                                            .title = "Items",
                                            .family = LIMN_FAMILY_LEARNING,
                                            .summary = "For tests",
                                            .inputs = no_inputs,
                                            .parameters = item_parameters,
                                            .outputs = outputs,
                                            .shardable = TRUE,
                                            .run = run_items,
                                            .finish = finish_items};

void
test_register(void)
{
    static const LimnOperation *const operations[] = {&test_operation,
                                                      &test_items_operation, NULL};
    limn_registry_set(operations);
}

// ---- files

char *
test_folder(void)
{
    g_autoptr(GError) error = NULL;
    char *path = g_dir_make_tmp("limn-test-XXXXXX", &error);
    g_assert_no_error(error);
    return path;
}

void
test_folder_remove(char *path)
{
    g_autoptr(GError) error = NULL;
    limn_remove_tree(path, &error);
    g_assert_no_error(error);
    g_free(path);
}

char *
test_write(const char *folder, const char *name, const char *text)
{
    char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GError) error = NULL;
    limn_file_write(path, text, strlen(text), &error);
    g_assert_no_error(error);
    return path;
}

char *
test_read_text(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GError) error = NULL;
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

void
test_expect(GError **error, LimnErrorCode code, ...)
{
    va_list args;
    g_assert_error(*error, LIMN_ERROR, (int) code);
    va_start(args, code);
    const char *part;
    while ((part = va_arg(args, const char *)) != NULL) {
        if (strstr((*error)->message, part) == NULL) {
            g_error("\"%s\" does not say \"%s\"", (*error)->message, part);
        }
    }
    va_end(args);
    g_clear_error(error);
}

static GPtrArray *
list_folder(const char *path)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_ptr_array_add(names, g_strdup(name));
    }
    return names;
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

void
test_same_folders(const char *a, const char *b)
{
    g_autoptr(GPtrArray) x = list_folder(a), y = list_folder(b);
    g_ptr_array_sort(x, compare_names);
    g_ptr_array_sort(y, compare_names);
    g_assert_cmpuint(x->len, ==, y->len);
    for (guint i = 0; i < x->len; i++) {
        const char *name = g_ptr_array_index(x, i);
        g_assert_cmpstr(name, ==, g_ptr_array_index(y, i));
        if (strcmp(name, "timing.json") == 0) {
            continue;
        }
        g_autofree char *p = g_build_filename(a, name, NULL);
        g_autofree char *q = g_build_filename(b, name, NULL);
        g_autofree char *m = NULL, *n = NULL;
        gsize m_size = 0, n_size = 0;
        g_assert_true(g_file_get_contents(p, &m, &m_size, NULL));
        g_assert_true(g_file_get_contents(q, &n, &n_size, NULL));
        g_assert_cmpmem(m, m_size, n, n_size);
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later

// The journal is a file of lines, each one JSON value on one line:
//   first   {"study": limn_study_identity, "shard": "I/N"}
//   others  {"item": index, "rows": [[[cell, ...], ...], ...], "diagnostics": [...]}
// with one list of rows per table; a missing value is null.

#include "engine/study/item-journal.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/study/json-writer.h"
#include "engine/text/json.h"

#include <math.h>
#include <string.h>

#define JOURNAL_FILE "items.journal"

struct LimnItemJournal {
    LimnRun *run;
    LimnTable *const *tables;
    guint n_tables;
    LimnJournal *file;    // NULL: nothing is kept
    GHashTable *finished; // item (gint64 *) -> json_t of its line
};

void
limn_item_journal_free(LimnItemJournal *journal)
{
    if (journal == NULL) {
        return;
    }
    g_clear_pointer(&journal->file, limn_journal_free);
    g_hash_table_unref(journal->finished);
    g_free(journal);
}

static char *
make_head(LimnRun *run, GError **error)
{
    guint index, count;
    limn_run_get_shard(run, &index, &count);
    g_autofree char *digest =
        limn_study_identity(limn_run_get_study(run), limn_run_get_job(run), error);
    if (digest == NULL) {
        return NULL;
    }
    return g_strdup_printf("{\"study\": \"%s\", \"shard\": \"%u/%u\"}", digest, index,
                           count);
}

static void
unref_json(gpointer value)
{
    json_decref(value);
}

// Lines that cannot be read end the journal: what stands behind them is done again.
static void
read_lines(LimnItemJournal *journal, GStrv lines, const char *path)
{
    for (guint i = 1; lines[0] != NULL && lines[i] != NULL; i++) {
        json_t *line = limn_json_parse(lines[i], strlen(lines[i]), path, NULL);
        json_t *item = json_object_get(line, "item");
        if (!json_is_integer(item) ||
            json_array_size(json_object_get(line, "rows")) != journal->n_tables) {
            json_decref(line);
            return;
        }
        gint64 *key = g_new(gint64, 1);
        *key = json_integer_value(item);
        g_hash_table_replace(journal->finished, key, line);
    }
}

static gboolean
begin_file(LimnItemJournal *journal, const char *directory, GError **error)
{
    g_autofree char *path = g_build_filename(directory, JOURNAL_FILE, NULL);
    g_autofree char *head = make_head(journal->run, error);
    gboolean kept = FALSE;
    if (head == NULL || !limn_make_directory(directory, error)) {
        return FALSE;
    }
    if (limn_run_get_resume(journal->run) && g_file_test(path, G_FILE_TEST_EXISTS)) {
        gboolean torn;
        g_auto(GStrv) lines = limn_journal_read(path, &torn, error);
        if (lines == NULL) {
            return FALSE;
        }
        kept = lines[0] != NULL && strcmp(lines[0], head) == 0;
        if (kept) {
            read_lines(journal, lines, path);
        } else if (lines[0] != NULL) {
            limn_job_diagnose(limn_run_get_job(journal->run), LIMN_DIAGNOSTIC_WARNING,
                              NULL,
                              "what was left of an interrupted run belongs to another "
                              "study: everything is done anew");
        }
    }
    if (!kept && !limn_remove_tree(path, error)) {
        return FALSE;
    }
    journal->file = limn_journal_open(path, error);
    return journal->file != NULL &&
           (kept || limn_journal_append(journal->file, head, error));
}

LimnItemJournal *
limn_item_journal_open(LimnRun *run, LimnTable *const *tables, guint n, GError **error)
{
    g_autoptr(LimnItemJournal) journal = g_new0(LimnItemJournal, 1);
    journal->run = run;
    journal->tables = tables;
    journal->n_tables = n;
    journal->finished =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, unref_json);
    const char *directory = limn_run_get_work_directory(run);
    if (directory != NULL && !begin_file(journal, directory, error)) {
        return NULL;
    }
    return g_steal_pointer(&journal);
}

// ---- restoring

static gboolean
row_fits(const LimnTable *table, const json_t *row)
{
    if (json_array_size(row) != table->columns->len) {
        return FALSE;
    }
    for (guint c = 0; c < table->columns->len; c++) {
        const LimnColumn *column = g_ptr_array_index(table->columns, c);
        const json_t *cell = json_array_get(row, c);
        if (!json_is_null(cell) &&
            !(column->numeric ? json_is_number(cell) : json_is_string(cell))) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
rows_fit(const LimnItemJournal *journal, const json_t *rows)
{
    for (guint t = 0; t < journal->n_tables; t++) {
        const json_t *list = json_array_get(rows, t);
        for (gsize r = 0; r < json_array_size(list); r++) {
            if (!row_fits(journal->tables[t], json_array_get(list, r))) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static void
restore_row(LimnTable *table, const json_t *row)
{
    for (guint c = 0; c < table->columns->len; c++) {
        LimnColumn *column = g_ptr_array_index(table->columns, c);
        const json_t *cell = json_array_get(row, c);
        if (column->numeric) {
            limn_column_add_number(column,
                                   json_is_number(cell) ? json_number_value(cell) : NAN);
        } else {
            limn_column_add_string(column, json_string_value(cell));
        }
    }
}

static void
restore_diagnostics(LimnItemJournal *journal, const json_t *list)
{
    for (gsize i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *message = json_string_value(json_object_get(entry, "message"));
        if (message != NULL) {
            limn_job_diagnose(
                limn_run_get_job(journal->run),
                json_is_true(json_object_get(entry, "warning")) ? LIMN_DIAGNOSTIC_WARNING
                                                                : LIMN_DIAGNOSTIC_NOTE,
                json_string_value(json_object_get(entry, "item")), "%s", message);
        }
    }
}

gboolean
limn_item_journal_restore(LimnItemJournal *journal, guint64 item, guint *counts)
{
    gint64 key = (gint64) item;
    const json_t *line = g_hash_table_lookup(journal->finished, &key);
    const json_t *rows = json_object_get(line, "rows");
    if (line == NULL || !rows_fit(journal, rows)) {
        return FALSE;
    }
    for (guint t = 0; t < journal->n_tables; t++) {
        const json_t *list = json_array_get(rows, t);
        counts[t] = (guint) json_array_size(list);
        for (guint r = 0; r < counts[t]; r++) {
            restore_row(journal->tables[t], json_array_get(list, r));
        }
    }
    restore_diagnostics(journal, json_object_get(line, "diagnostics"));
    return TRUE;
}

// ---- adding

static void
write_rows(LimnJsonWriter *json, const LimnTable *table, guint count)
{
    guint n = limn_table_n_rows(table);
    limn_json_writer_begin_array(json, NULL);
    for (guint row = n - MIN(count, n); row < n; row++) {
        limn_json_writer_begin_array(json, NULL);
        for (guint c = 0; c < table->columns->len; c++) {
            const LimnColumn *column = g_ptr_array_index(table->columns, c);
            if (column->numeric) {
                limn_json_writer_double(json, NULL,
                                        g_array_index(column->numbers, double, row));
            } else {
                limn_json_writer_string(json, NULL,
                                        g_ptr_array_index(column->strings, row));
            }
        }
        limn_json_writer_end_array(json);
    }
    limn_json_writer_end_array(json);
}

static void
write_diagnostics(LimnJsonWriter *json, LimnRun *run)
{
    GPtrArray *items = limn_run_get_items(run);
    g_autoptr(GPtrArray) diagnostics = limn_job_dup_diagnostics(limn_run_get_job(run));
    guint first = 0;
    if (items->len > 0) {
        const LimnRunItem *item = g_ptr_array_index(items, items->len - 1);
        first = item->first_diagnostic;
    }
    limn_json_writer_begin_array(json, "diagnostics");
    for (guint i = first; i < diagnostics->len; i++) {
        const LimnDiagnostic *diagnostic = g_ptr_array_index(diagnostics, i);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_bool(json, "warning",
                              diagnostic->severity == LIMN_DIAGNOSTIC_WARNING);
        limn_json_writer_string(json, "item", diagnostic->item);
        limn_json_writer_string(json, "message", diagnostic->message);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
}

gboolean
limn_item_journal_add(LimnItemJournal *journal, guint64 item, const guint *counts,
                      GError **error)
{
    if (journal->file == NULL) {
        return TRUE;
    }
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_inline(json);
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_uint(json, "item", item);
    limn_json_writer_begin_array(json, "rows");
    for (guint t = 0; t < journal->n_tables; t++) {
        write_rows(json, journal->tables[t], counts[t]);
    }
    limn_json_writer_end_array(json);
    write_diagnostics(json, journal->run);
    limn_json_writer_end_object(json);
    g_autofree char *text = limn_json_writer_finish(json);
    text[strlen(text) - 1] = '\0'; // the journal ends its lines itself
    return limn_journal_append(journal->file, text, error);
}

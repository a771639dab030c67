// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/artifact-files.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"

#include <math.h>
#include <string.h>

#define MAX_CSV_FILE ((guint64) 2 << 30)

static gboolean
needs_quotes(const char *text)
{
    size_t length = strlen(text);
    return length == 0 || strpbrk(text, ",\"\r\n") != NULL || text[0] == ' ' ||
           text[0] == '\t' || text[length - 1] == ' ' || text[length - 1] == '\t';
}

static void
append_text(GString *out, const char *text)
{
    if (text == NULL) {
        return;
    }
    if (!needs_quotes(text)) {
        g_string_append(out, text);
        return;
    }
    g_string_append_c(out, '"');
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"') {
            g_string_append_c(out, '"');
        }
        g_string_append_c(out, *at);
    }
    g_string_append_c(out, '"');
}

static void
append_cell(GString *out, const LimnColumn *column, guint row)
{
    char buffer[LIMN_NUMBER_BUFFER];
    if (!column->numeric) {
        append_text(out, row < column->strings->len
                             ? g_ptr_array_index(column->strings, row)
                             : NULL);
        return;
    }
    double value =
        row < column->numbers->len ? g_array_index(column->numbers, double, row) : NAN;
    if (!isnan(value)) {
        g_string_append(out, limn_number_format(buffer, value));
    }
}

char *
limn_table_to_csv(const LimnTable *table)
{
    GString *out = g_string_new(NULL);
    guint n_rows = limn_table_n_rows(table);
    for (guint c = 0; c < table->columns->len; c++) {
        const LimnColumn *column = g_ptr_array_index(table->columns, c);
        if (c > 0) {
            g_string_append_c(out, ',');
        }
        append_text(out, column->name);
    }
    g_string_append_c(out, '\n');
    for (guint row = 0; row < n_rows; row++) {
        for (guint c = 0; c < table->columns->len; c++) {
            if (c > 0) {
                g_string_append_c(out, ',');
            }
            append_cell(out, g_ptr_array_index(table->columns, c), row);
        }
        g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}

// ---- reading

typedef struct {
    const char *path;
    const char *at, *end;
    guint line;
} Csv;

typedef struct {
    GString *text;
    gboolean quoted;
    gboolean last; // of its line
} Cell;

static gboolean
read_quoted(Csv *csv, Cell *cell, GError **error)
{
    guint line = csv->line;
    for (csv->at++; csv->at < csv->end; csv->at++) {
        if (*csv->at == '"') {
            csv->at++;
            if (csv->at == csv->end || *csv->at != '"') {
                return TRUE;
            }
        } else if (*csv->at == '\n') {
            csv->line++;
        }
        g_string_append_c(cell->text, *csv->at);
    }
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, csv->path,
                               "line %u: a quoted cell has no end", line);
}

static gboolean
read_cell(Csv *csv, Cell *cell, GError **error)
{
    g_string_truncate(cell->text, 0);
    cell->quoted = csv->at < csv->end && *csv->at == '"';
    if (cell->quoted && !read_quoted(csv, cell, error)) {
        return FALSE;
    }
    while (csv->at < csv->end && *csv->at != ',' && *csv->at != '\n' &&
           *csv->at != '\r') {
        if (cell->quoted) {
            return limn_error_set_file(
                error, LIMN_ERROR_FORMAT, csv->path,
                "line %u: text after a quoted cell (expected a comma)", csv->line);
        }
        g_string_append_c(cell->text, *csv->at++);
    }
    cell->last = csv->at == csv->end || *csv->at != ',';
    if (!cell->last) {
        csv->at++;
        return TRUE;
    }
    csv->at += csv->at < csv->end && *csv->at == '\r';
    csv->at += csv->at < csv->end && *csv->at == '\n';
    csv->line++;
    return TRUE;
}

static gboolean
store_cell(const Csv *csv, LimnColumn *column, const Cell *cell, gboolean header,
           GError **error)
{
    guint line = csv->line - (cell->last ? 1 : 0);
    double value = NAN;
    if (header) {
        return strcmp(cell->text->str, column->name) == 0 ||
               limn_error_set_file(error, LIMN_ERROR_FORMAT, csv->path,
                                   "line 1: a column is named '%s' (expected '%s')",
                                   cell->text->str, column->name);
    }
    if (!column->numeric) {
        gboolean missing = cell->text->len == 0 && !cell->quoted;
        limn_column_add_string(column, missing ? NULL : cell->text->str);
        return TRUE;
    }
    if (cell->text->len > 0 && !limn_number_parse(cell->text->str, &value)) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, csv->path,
                                   "line %u: column '%s' is '%s' (expected a number)",
                                   line, column->name, cell->text->str);
    }
    limn_column_add_number(column, value);
    return TRUE;
}

static gboolean
read_row(Csv *csv, LimnTable *table, Cell *cell, gboolean header, GError **error)
{
    guint line = csv->line;
    guint n = table->columns->len;
    for (guint c = 0; c < n; c++) {
        if (!read_cell(csv, cell, error) ||
            !store_cell(csv, g_ptr_array_index(table->columns, c), cell, header, error)) {
            return FALSE;
        }
        if (cell->last != (c + 1 == n)) {
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, csv->path,
                                       "line %u has %s cells than there are columns "
                                       "(expected %u)",
                                       line, cell->last ? "fewer" : "more", n);
        }
    }
    return TRUE;
}

// The bytes of the file, and `csv` at their beginning; NULL with an error.
static GBytes *
open_csv(const char *path, Csv *csv, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(path, MAX_CSV_FILE, error);
    if (bytes == NULL) {
        return NULL;
    }
    gsize size = 0;
    const char *data = g_bytes_get_data(bytes, &size);
    if (size > 0 && !g_utf8_validate_len(data, size, NULL)) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, path, "is not UTF-8 text");
        return NULL;
    }
    *csv = (Csv){.path = path, .at = data, .end = data + size, .line = 1};
    return g_steal_pointer(&bytes);
}

static void
free_row(gpointer row)
{
    g_ptr_array_unref(row);
}

GPtrArray *
limn_csv_load(const char *path, GError **error)
{
    Csv csv;
    g_autoptr(GBytes) bytes = open_csv(path, &csv, error);
    if (bytes == NULL) {
        return NULL;
    }
    if (csv.end - csv.at >= 3 && memcmp(csv.at, "\xef\xbb\xbf", 3) == 0) {
        csv.at += 3;
    }
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    Cell cell = {.text = g_string_new(NULL)};
    gboolean good = TRUE;
    while (good && csv.at < csv.end) {
        GPtrArray *row = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(rows, row);
        do {
            good = read_cell(&csv, &cell, error);
            g_ptr_array_add(row, g_strdup(cell.text->str));
        } while (good && !cell.last);
    }
    g_string_free(cell.text, TRUE);
    return good ? g_steal_pointer(&rows) : NULL;
}

gboolean
limn_table_from_csv(LimnTable *table, const char *path, GError **error)
{
    Csv csv;
    g_autoptr(GBytes) bytes = open_csv(path, &csv, error);
    if (bytes == NULL) {
        return FALSE;
    }
    Cell cell = {.text = g_string_new(NULL)};
    gboolean good = TRUE;
    if (table->columns->len > 0) {
        good = read_row(&csv, table, &cell, TRUE, error);
        while (good && csv.at < csv.end) {
            good = read_row(&csv, table, &cell, FALSE, error);
        }
    }
    g_string_free(cell.text, TRUE);
    return good;
}

// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/concept-list.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/artifact-files.h"
#include "engine/model/neuron-concepts.h"
#include "engine/text/prompts.h"

#define MOST_NAMED 5

static void
free_name(gpointer data)
{
    LimnConceptName *name = data;
    g_free(name->name);
    g_free(name->group);
    g_free(name->subgroup);
    g_free(name);
}

LimnConceptList *
limn_concept_list_new(void)
{
    LimnConceptList *list = g_new0(LimnConceptList, 1);
    list->names = g_ptr_array_new_with_free_func(free_name);
    return list;
}

void
limn_concept_list_free(LimnConceptList *list)
{
    if (list != NULL) {
        g_ptr_array_unref(list->names);
        g_free(list);
    }
}

void
limn_concept_list_add(LimnConceptList *list, const char *name, const char *group,
                      const char *subgroup)
{
    LimnConceptName *entry = g_new0(LimnConceptName, 1);
    entry->name = g_strdup(name);
    entry->group = g_strdup(group != NULL ? group : "");
    entry->subgroup = g_strdup(subgroup != NULL ? subgroup : "");
    g_ptr_array_add(list->names, entry);
}

const LimnConceptName *
limn_concept_list_find(const LimnConceptList *list, const char *name)
{
    for (guint i = 0; i < list->names->len; i++) {
        const LimnConceptName *entry = g_ptr_array_index(list->names, i);
        if (strcmp(entry->name, name) == 0) {
            return entry;
        }
    }
    return NULL;
}

// ---- reading

static void
drop_repeated(LimnConceptList *list, const char *path, LimnJob *job)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GString) again = g_string_new(NULL);
    g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func(free_name);
    guint n = list->names->len;
    g_ptr_array_set_free_func(list->names, NULL);
    for (guint i = 0; i < n; i++) {
        LimnConceptName *entry = g_ptr_array_index(list->names, i);
        if (!g_hash_table_contains(seen, entry->name)) {
            g_hash_table_add(seen, entry->name);
            g_ptr_array_add(kept, entry);
            continue;
        }
        if (i - kept->len < MOST_NAMED) {
            g_string_append_printf(again, "%s'%s'", again->len > 0 ? ", " : "",
                                   entry->name);
        }
        free_name(entry);
    }
    guint n_again = n - kept->len;
    g_ptr_array_unref(list->names);
    list->names = g_steal_pointer(&kept);
    if (n_again > 0) {
        g_autofree char *shown = limn_display_path(path);
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_WARNING, shown,
                          "concepts that occur again were dropped (%u): %s%s", n_again,
                          again->str, n_again > MOST_NAMED ? ", ..." : "");
    }
}

static int
find_column(GPtrArray *header, const char *name)
{
    for (guint i = 0; i < header->len; i++) {
        if (g_ascii_strcasecmp(g_ptr_array_index(header, i), name) == 0) {
            return (int) i;
        }
    }
    return -1;
}

static const char *
cell(GPtrArray *row, int column)
{
    return column >= 0 && column < (int) row->len ? g_ptr_array_index(row, column) : "";
}

static gboolean
read_rows(LimnConceptList *list, GPtrArray *rows, const char *path, GError **error)
{
    GPtrArray *header = rows->len > 0 ? g_ptr_array_index(rows, 0) : NULL;
    int name = header != NULL ? find_column(header, "name") : -1;
    if (header != NULL && name < 0) {
        name = find_column(header, "concept");
    }
    if (name < 0) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                   "the table has no column 'name' or 'concept'");
    }
    int group = find_column(header, "group"), subgroup = find_column(header, "subgroup");
    for (guint i = 1; i < rows->len; i++) {
        GPtrArray *row = g_ptr_array_index(rows, i);
        if (row->len == 1 && *cell(row, 0) == '\0') {
            continue; // a blank line
        }
        if (*cell(row, name) == '\0') {
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                       "row %u has no name", i + 1);
        }
        g_autofree char *words = g_strdup(cell(row, subgroup));
        g_strdelimit(words, "-", ' ');
        limn_concept_list_add(list, cell(row, name), cell(row, group), words);
    }
    return TRUE;
}

static void
free_row(gpointer row)
{
    g_ptr_array_unref(row);
}

// Cells between tabs; there is no quoting.
static GPtrArray *
split_tabs(const char *path, GError **error)
{
    g_auto(GStrv) lines = limn_prompts_load(path, error);
    if (lines == NULL) {
        return NULL;
    }
    GPtrArray *rows = g_ptr_array_new_with_free_func(free_row);
    for (guint i = 0; lines[i] != NULL; i++) {
        GPtrArray *row = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) cells = g_strsplit(lines[i], "\t", -1);
        for (guint c = 0; cells[c] != NULL; c++) {
            g_ptr_array_add(row, g_strdup(cells[c]));
        }
        g_ptr_array_add(rows, row);
    }
    return rows;
}

static gboolean
read_lines(LimnConceptList *list, const char *path, GError **error)
{
    g_auto(GStrv) lines = limn_prompts_load(path, error);
    for (guint i = 0; lines != NULL && lines[i] != NULL; i++) {
        g_strdelimit(lines[i], "_", ' ');
        limn_concept_list_add(list, lines[i], "", "");
    }
    return lines != NULL;
}

static gboolean
read_file(LimnConceptList *list, const char *path, GError **error)
{
    gboolean csv = g_str_has_suffix(path, ".csv");
    if (!csv && !g_str_has_suffix(path, ".tsv")) {
        return read_lines(list, path, error);
    }
    g_autoptr(GPtrArray) rows =
        csv ? limn_csv_load(path, error) : split_tabs(path, error);
    return rows != NULL && read_rows(list, rows, path, error);
}

LimnConceptList *
limn_concept_list_load(const char *path, LimnJob *job, GError **error)
{
    g_autofree char *builtin =
        path == NULL ? limn_data_path("text/concepts.tsv", error) : NULL;
    const char *file = path != NULL ? path : builtin;
    if (file == NULL) {
        return NULL;
    }
    g_autoptr(LimnConceptList) list = limn_concept_list_new();
    if (!read_file(list, file, error)) {
        return NULL;
    }
    drop_repeated(list, file, job);
    if (list->names->len == 0) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, file, "there is no concept in it");
        return NULL;
    }
    return g_steal_pointer(&list);
}

// ---- what is in it

GStrv
limn_concept_list_dup_names(const LimnConceptList *list)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (guint i = 0; i < list->names->len; i++) {
        const LimnConceptName *entry = g_ptr_array_index(list->names, i);
        g_strv_builder_add(builder, entry->name);
    }
    return g_strv_builder_end(builder);
}

GStrv
limn_concept_list_dup_all(const LimnConceptList *list)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (int pass = 0; pass < 3; pass++) {
        for (guint i = 0; i < list->names->len; i++) {
            const LimnConceptName *entry = g_ptr_array_index(list->names, i);
            char *text = pass == 0   ? entry->name
                         : pass == 1 ? entry->group
                                     : entry->subgroup;
            if (*text != '\0' && !g_hash_table_contains(seen, text)) {
                g_hash_table_add(seen, text);
                g_strv_builder_add(builder, text);
            }
        }
    }
    return g_strv_builder_end(builder);
}

// A group that has the name of a concept gets another one.
static LimnSuperclass *
add_superclass(const LimnConceptList *list, const char *name, GPtrArray *out)
{
    if (limn_concept_list_find(list, name) == NULL) {
        return limn_superclasses_add(out, name);
    }
    g_autofree char *other = g_strdup_printf("%s (group)", name);
    return limn_superclasses_add(out, other);
}

static void
add_superclasses(const LimnConceptList *list, gboolean subgroups, GPtrArray *out)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint32 i = 0; i < list->names->len; i++) {
        const LimnConceptName *entry = g_ptr_array_index(list->names, i);
        char *text = subgroups ? entry->subgroup : entry->group;
        if (*text == '\0') {
            continue;
        }
        LimnSuperclass *super = g_hash_table_lookup(known, text);
        if (super == NULL) {
            super = add_superclass(list, text, out);
            g_hash_table_insert(known, text, super);
        }
        g_array_append_val(super->members, i);
    }
}

GPtrArray *
limn_concept_list_make_superclasses(const LimnConceptList *list)
{
    GPtrArray *all = limn_superclasses_new();
    add_superclasses(list, FALSE, all);
    add_superclasses(list, TRUE, all);
    limn_superclasses_drop_redundant(all, NULL, NULL);
    return all;
}

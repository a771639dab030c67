// SPDX-License-Identifier: GPL-3.0-or-later

// Labels and superclasses from files, for the concept matrix.

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/json.h"
#include "engine/model/neuron-concepts.h"

#define MOST_CLASSES 1000000

// Numbers of classes by name.
static GHashTable *
index_classes(const char *const *classes)
{
    GHashTable *index = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; classes[i] != NULL; i++) {
        if (!g_hash_table_contains(index, classes[i])) {
            g_hash_table_insert(index, (gpointer) (gintptr) classes[i],
                                GUINT_TO_POINTER(i + 1));
        }
    }
    return index;
}

static char *
with_spaces(const char *name)
{
    return g_strdelimit(g_strdup(name), "_", ' ');
}

// A class given by its number or name (underscores as they are, or as spaces); -1 with an
// error.
static gint64
read_class(json_t *value, GHashTable *index, gsize n_classes, const char *path,
           const char *where, GError **error)
{
    if (json_is_integer(value)) {
        gint64 number = json_integer_value(value);
        if (number >= 0 && number < (gint64) n_classes) {
            return number;
        }
        limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                            "%s: there is no class %" G_GINT64_FORMAT
                            " (expected 0 to %" G_GSIZE_FORMAT ")",
                            where, number, n_classes - 1);
        return -1;
    }
    const char *name = json_string_value(value);
    g_autofree char *spaced = name != NULL ? with_spaces(name) : NULL;
    guint found = name != NULL ? GPOINTER_TO_UINT(g_hash_table_lookup(index, name)) : 0;
    if (name != NULL && found == 0) {
        found = GPOINTER_TO_UINT(g_hash_table_lookup(index, spaced));
    }
    if (found > 0) {
        return found - 1;
    }
    limn_error_set_file(error, name != NULL ? LIMN_ERROR_MISMATCH : LIMN_ERROR_FORMAT,
                        path, "%s: %s%s%s (expected the number or name of a class)",
                        where, name != NULL ? "there is no class '" : "not a class",
                        name != NULL ? name : "", name != NULL ? "'" : "");
    return -1;
}

// ---- superclasses

static void
free_superclass(gpointer data)
{
    LimnSuperclass *super = data;
    g_free(super->name);
    g_array_unref(super->members);
    g_free(super);
}

GPtrArray *
limn_superclasses_new(void)
{
    return g_ptr_array_new_with_free_func(free_superclass);
}

LimnSuperclass *
limn_superclasses_add(GPtrArray *superclasses, const char *name)
{
    LimnSuperclass *super = g_new0(LimnSuperclass, 1);
    super->name = g_strdup(name);
    super->members = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_ptr_array_add(superclasses, super);
    return super;
}

static gint
compare_members(gconstpointer a, gconstpointer b)
{
    guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
    return (x > y) - (x < y);
}

static void
drop_repeated(GArray *members)
{
    g_array_sort(members, compare_members);
    guint kept = 0;
    for (guint i = 0; i < members->len; i++) {
        guint32 member = g_array_index(members, guint32, i);
        if (kept == 0 || g_array_index(members, guint32, kept - 1) != member) {
            g_array_index(members, guint32, kept++) = member;
        }
    }
    g_array_set_size(members, kept);
}

static gboolean
same_members(const LimnSuperclass *a, const LimnSuperclass *b)
{
    return a->members->len == b->members->len &&
           memcmp(a->members->data, b->members->data,
                  a->members->len * sizeof(guint32)) == 0;
}

void
limn_superclasses_drop_redundant(GPtrArray *superclasses, const char *path, LimnJob *job)
{
    guint n_single = 0, n_same = 0;
    for (guint i = 0; i < superclasses->len;) {
        const LimnSuperclass *super = g_ptr_array_index(superclasses, i);
        gboolean single = super->members->len < 2, same = FALSE;
        for (guint j = 0; j < i && !single && !same; j++) {
            same = same_members(super, g_ptr_array_index(superclasses, j));
        }
        n_single += single;
        n_same += same;
        if (single || same) {
            g_ptr_array_remove_index(superclasses, i);
        } else {
            i++;
        }
    }
    if (n_single + n_same > 0 && path != NULL) {
        g_autofree char *shown = limn_display_path(path);
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, shown,
                          "%u superclasses of fewer than two classes and %u with the "
                          "classes of another one were left out",
                          n_single, n_same);
    }
}

GPtrArray *
limn_superclasses_load(const char *path, const char *const *classes, LimnJob *job,
                       GError **error)
{
    g_autoptr(json_t) root = limn_json_load_object(path, error);
    if (root == NULL) {
        return NULL;
    }
    g_autoptr(GPtrArray) superclasses = limn_superclasses_new();
    g_autoptr(GHashTable) index = index_classes(classes);
    gsize n_classes = g_strv_length((char **) (gintptr) classes);
    const char *name;
    json_t *list;
    json_object_foreach(root, name, list)
    {
        g_autofree char *spaced = with_spaces(name);
        LimnSuperclass *super = limn_superclasses_add(superclasses, spaced);
        g_autofree char *where = g_strdup_printf("superclass '%s'", name);
        if (!json_is_array(list)) {
            limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                "%s is not a list (expected the numbers or names of its "
                                "classes)",
                                where);
            return NULL;
        }
        for (gsize i = 0; i < json_array_size(list); i++) {
            gint64 class =
                read_class(json_array_get(list, i), index, n_classes, path, where, error);
            guint32 member = (guint32) class;
            if (class < 0) {
                return NULL;
            }
            g_array_append_val(super->members, member);
        }
        drop_repeated(super->members);
    }
    limn_superclasses_drop_redundant(superclasses, path, job);
    return g_steal_pointer(&superclasses);
}

// ---- presence

static LimnArray *
new_presence(gint64 n, gsize n_classes, GError **error)
{
    gint64 shape[2] = {n, (gint64) n_classes};
    return limn_array_new(LIMN_DTYPE_U8, 2, shape, error);
}

static LimnArray *
presence_from_matrix(LimnArray *labels, const char *path, GError **error)
{
    gsize k = (gsize) labels->shape[1];
    g_autoptr(LimnArray) presence = new_presence(labels->shape[0], k, error);
    for (gint64 i = 0; presence != NULL && i < labels->length; i++) {
        double value = limn_array_get_double(labels, i);
        if (value != 0 && value != 1) {
            limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                "the label of picture %" G_GINT64_FORMAT
                                " for class %" G_GINT64_FORMAT " is %g (expected 0 or 1)",
                                i / (gint64) k, i % (gint64) k, value);
            return NULL;
        }
        limn_array_u8(presence)[i] = value == 1;
    }
    return g_steal_pointer(&presence);
}

LimnArray *
limn_presence_from_array(LimnArray *labels, gsize n_classes, const char *path,
                         GError **error)
{
    if (labels->rank == 2 && labels->shape[1] == (gint64) n_classes) {
        return presence_from_matrix(labels, path, error);
    }
    if (labels->rank != 1) {
        g_autofree char *shape = limn_array_describe_shape(labels);
        limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                            "the labels have the wrong shape (found %s, expected "
                            "[pictures] or [pictures, %" G_GSIZE_FORMAT "])",
                            shape, n_classes);
        return NULL;
    }
    g_autoptr(LimnArray) presence = new_presence(labels->length, n_classes, error);
    for (gint64 i = 0; presence != NULL && i < labels->length; i++) {
        double value = limn_array_get_double(labels, i);
        if (value == -1) {
            continue;
        }
        if (!(value >= 0 && value < (double) n_classes) || value != floor(value)) {
            limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                                "the label of picture %" G_GINT64_FORMAT
                                " is %g (expected the number of a class, 0 to "
                                "%" G_GSIZE_FORMAT ", or -1)",
                                i, value, n_classes - 1);
            return NULL;
        }
        limn_array_u8(presence)[(gsize) i * n_classes + (gsize) value] = 1;
    }
    return g_steal_pointer(&presence);
}

LimnArray *
limn_presence_load_json(const char *path, const char *const *classes, GError **error)
{
    g_autoptr(json_t) root = limn_json_load(path, error);
    if (root == NULL) {
        return NULL;
    }
    gsize n = json_array_size(root);
    gsize n_classes = g_strv_length((char **) (gintptr) classes);
    if (!json_is_array(root) || n == 0 || n_classes > MOST_CLASSES) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                            "is not a list (expected one entry per picture: a class or "
                            "a list of classes)");
        return NULL;
    }
    g_autoptr(GHashTable) index = index_classes(classes);
    g_autoptr(LimnArray) presence = new_presence((gint64) n, n_classes, error);
    for (gsize i = 0; presence != NULL && i < n; i++) {
        json_t *entry = json_array_get(root, i);
        gsize length = json_is_array(entry) ? json_array_size(entry) : 1;
        g_autofree char *where = g_strdup_printf("picture %" G_GSIZE_FORMAT, i);
        for (gsize j = 0; j < length; j++) {
            json_t *value = json_is_array(entry) ? json_array_get(entry, j) : entry;
            gint64 class = read_class(value, index, n_classes, path, where, error);
            if (class < 0) {
                return NULL;
            }
            limn_array_u8(presence)[i * n_classes + (gsize) class] = 1;
        }
    }
    return g_steal_pointer(&presence);
}

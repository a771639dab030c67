// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-concepts.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/math/columns.h"

// Elements or columns that one chunk works on.
#define CHUNK_ELEMENTS ((gsize) 1 << 16)
#define CHUNK_COLUMNS ((gsize) 16)
#define MOST_NAMED 5

void
limn_concepts_free(LimnConcepts *concepts)
{
    if (concepts != NULL) {
        g_clear_pointer(&concepts->values, limn_array_unref);
        g_clear_pointer(&concepts->names, g_ptr_array_unref);
        g_free(concepts->wide);
        g_free(concepts);
    }
}

// Makes names unique; says which occurred again.
static void
make_names_unique(GPtrArray *names, const char *path, LimnJob *job)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GString) again = g_string_new(NULL);
    guint n_again = 0;
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (g_hash_table_contains(seen, name)) {
            if (n_again++ < MOST_NAMED) {
                g_string_append_printf(again, "%s'%s'", again->len > 0 ? ", " : "", name);
            }
            char *unique = NULL;
            for (guint k = 2; unique == NULL; k++) {
                unique = g_strdup_printf("%s (%u)", name, k);
                if (g_hash_table_contains(seen, unique)) {
                    g_clear_pointer(&unique, g_free);
                }
            }
            g_free(g_ptr_array_index(names, i));
            g_ptr_array_index(names, i) = unique;
        }
        g_hash_table_add(seen, g_ptr_array_index(names, i));
    }
    if (n_again > 0) {
        g_autofree char *shown = limn_display_path(path);
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_WARNING, shown,
                          "names of concepts that occur again were numbered (%u): %s%s",
                          n_again, again->str, n_again > MOST_NAMED ? ", ..." : "");
    }
}

LimnConcepts *
limn_concepts_new(LimnArray *values, GPtrArray *names, const char *path, LimnJob *job,
                  GError **error)
{
    g_autoptr(GPtrArray) owned = names;
    if (values->rank != 2 || values->dtype != LIMN_DTYPE_F32 ||
        values->shape[1] != (gint64) names->len) {
        g_autofree char *shape = limn_array_describe_shape(values);
        limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                            "there are %u names of concepts for a matrix of %s (expected "
                            "as many names as columns)",
                            names->len, shape);
        return NULL;
    }
    make_names_unique(names, path, job);
    LimnConcepts *concepts = g_new0(LimnConcepts, 1);
    concepts->values = limn_array_ref(values);
    concepts->names = g_steal_pointer(&owned);
    return concepts;
}

gboolean
limn_concepts_check_finite(const LimnArray *values, GPtrArray *names, const char *path,
                           GError **error)
{
    gint64 k = values->shape[1];
    const float *x = limn_array_f32(values);
    for (gint64 i = 0; i < values->length; i++) {
        if (!isfinite(x[i])) {
            g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, i % k);
            return limn_error_set_file(
                error, LIMN_ERROR_FORMAT, path,
                "the value of concept %s in picture %" G_GINT64_FORMAT
                " is %s (expected a number)",
                names != NULL ? (const char *) g_ptr_array_index(names, i % k) : number,
                i / k, isnan(x[i]) ? "NaN" : "infinite");
        }
    }
    return TRUE;
}

// ---- from labels

LimnConcepts *
limn_concepts_from_labels(const LimnArray *presence, const char *const *classes,
                          GPtrArray *superclasses, guint most_members, const char *path,
                          LimnJob *job, GError **error)
{
    gsize n = (gsize) presence->shape[0], n_classes = (gsize) presence->shape[1];
    gsize n_super = superclasses != NULL ? superclasses->len : 0;
    gsize k = n_classes + n_super;
    g_autoptr(LimnArray) values = limn_array_new_f32_2d((gint64) n, (gint64) k, error);
    if (values == NULL) {
        return NULL;
    }
    for (gsize i = 0; i < n; i++) {
        const guint8 *from = limn_array_u8(presence) + i * n_classes;
        float *to = limn_array_f32(values) + i * k;
        for (gsize c = 0; c < n_classes; c++) {
            to[c] = from[c];
        }
        for (gsize s = 0; s < n_super; s++) {
            const LimnSuperclass *super = g_ptr_array_index(superclasses, s);
            for (guint m = 0; m < super->members->len && to[n_classes + s] == 0; m++) {
                to[n_classes + s] = from[g_array_index(super->members, guint32, m)];
            }
        }
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (gsize c = 0; classes[c] != NULL; c++) {
        g_ptr_array_add(names, g_strdup(classes[c]));
    }
    for (gsize s = 0; s < n_super; s++) {
        const LimnSuperclass *super = g_ptr_array_index(superclasses, s);
        g_ptr_array_add(names, g_strdup(super->name));
    }
    LimnConcepts *concepts = limn_concepts_new(values, names, path, job, error);
    if (concepts != NULL && most_members > 0) {
        concepts->wide = g_new0(guint8, k);
        for (gsize s = 0; s < n_super; s++) {
            const LimnSuperclass *super = g_ptr_array_index(superclasses, s);
            concepts->wide[n_classes + s] = super->members->len > most_members;
        }
    }
    return concepts;
}

// ---- from similarity

typedef struct {
    const float *x;
    float *y;
    gsize n;
    double a, b;
} Sigmoid;

static void
sigmoid_chunk(gsize chunk, gpointer data)
{
    const Sigmoid *s = data;
    gsize end = MIN((chunk + 1) * CHUNK_ELEMENTS, s->n);
    for (gsize i = chunk * CHUNK_ELEMENTS; i < end; i++) {
        s->y[i] = (float) (1 / (1 + exp(-s->a * (s->x[i] + s->b))));
    }
}

LimnArray *
limn_concepts_sigmoid(const LimnArray *cosines, double a, double b, LimnJob *job,
                      GError **error)
{
    g_autoptr(LimnArray) values =
        limn_array_new_f32_2d(cosines->shape[0], cosines->shape[1], error);
    if (values == NULL) {
        return NULL;
    }
    Sigmoid sigmoid = {limn_array_f32(cosines), limn_array_f32(values),
                       (gsize) cosines->length, a, b};
    limn_parallel_for(job, (sigmoid.n + CHUNK_ELEMENTS - 1) / CHUNK_ELEMENTS,
                      sigmoid_chunk, &sigmoid);
    return limn_job_check(job, error) ? g_steal_pointer(&values) : NULL;
}

LimnArray *
limn_concepts_cosines(const LimnArray *images, const LimnArray *texts, LimnJob *job,
                      GError **error)
{
    if (images->rank != 2 || texts->rank != 2 || images->shape[1] != texts->shape[1] ||
        images->shape[1] == 0) {
        g_autofree char *one = limn_array_describe_shape(images);
        g_autofree char *two = limn_array_describe_shape(texts);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "the embeddings of pictures and concepts do not fit together (found "
                    "%s and %s, expected [pictures, d] and [concepts, d])",
                    one, two);
        return NULL;
    }
    g_autoptr(LimnArray) cosines =
        limn_array_new_f32_2d(images->shape[0], texts->shape[0], error);
    if (cosines == NULL) {
        return NULL;
    }
    limn_cosine_matrix(job, (gsize) images->shape[0], (gsize) texts->shape[0],
                       (gsize) images->shape[1], limn_array_f32(images),
                       limn_array_f32(texts), limn_array_f32(cosines));
    return limn_job_check(job, error) ? g_steal_pointer(&cosines) : NULL;
}

// ---- filter

void
limn_concept_filter_init(LimnConceptFilter *filter)
{
    *filter = (LimnConceptFilter){.top = 5, .mean = 0.5, .std = 1e-5};
}

typedef struct {
    const LimnArray *values;
    gsize top;
    double *top_mean;
} TopMeans;

// The largest values of 16 columns in rising order, in one pass over the rows.
static void
top_chunk(gsize chunk, gpointer data)
{
    const TopMeans *t = data;
    gsize k = (gsize) t->values->shape[1], n = (gsize) t->values->shape[0];
    gsize begin = chunk * CHUNK_COLUMNS, end = MIN(begin + CHUNK_COLUMNS, k);
    gsize top = MIN(t->top, n), size = CHUNK_COLUMNS * t->top;
    g_autofree float *largest = g_new(float, size);
    for (gsize i = 0; i < n; i++) {
        const float *row = limn_array_f32(t->values) + i * k;
        for (gsize j = begin; j < end; j++) {
            float *list = largest + (j - begin) * t->top;
            gsize held = MIN(i, top);
            if (held == top && !(row[j] > list[0])) {
                continue;
            }
            gsize at = 0;
            if (held < top) { // insert into a growing list
                for (at = held; at > 0 && list[at - 1] > row[j]; at--) {
                    list[at] = list[at - 1];
                }
            } else { // replace the smallest
                for (; at + 1 < top && list[at + 1] < row[j]; at++) {
                    list[at] = list[at + 1];
                }
            }
            list[at] = row[j];
        }
    }
    for (gsize j = begin; j < end; j++) {
        double sum = 0;
        for (gsize r = 0; r < top; r++) {
            sum += largest[(j - begin) * t->top + r];
        }
        t->top_mean[j] = top > 0 ? sum / (double) top : 0;
    }
}

LimnConceptChoice *
limn_concepts_filter(const LimnArray *values, const LimnConceptFilter *filter,
                     LimnJob *job)
{
    gsize k = (gsize) values->shape[1], n = (gsize) values->shape[0];
    LimnConceptChoice *choice = g_new0(LimnConceptChoice, 1);
    choice->kept = g_new0(guint32, MAX(k, 1));
    choice->top_mean = g_new0(double, MAX(k, 1));
    choice->std = g_new0(double, MAX(k, 1));
    choice->mask = g_new0(guint8, MAX(k, 1));
    g_autofree double *mean = g_new0(double, MAX(k, 1));
    LimnColumns columns = {.x = limn_array_f32(values), .stride = k, .n = n, .k = k};
    limn_columns_describe(job, &columns, mean, choice->std);
    TopMeans top = {values, (gsize) MAX(filter->top, 1), choice->top_mean};
    limn_parallel_for(job, (k + CHUNK_COLUMNS - 1) / CHUNK_COLUMNS, top_chunk, &top);
    for (gsize j = 0; j < k; j++) {
        choice->mask[j] =
            choice->top_mean[j] >= filter->mean && choice->std[j] >= filter->std;
        if (choice->mask[j]) {
            choice->kept[choice->n_kept++] = (guint32) j;
        }
    }
    return choice;
}

void
limn_concept_choice_free(LimnConceptChoice *choice)
{
    if (choice != NULL) {
        g_free(choice->kept);
        g_free(choice->top_mean);
        g_free(choice->std);
        g_free(choice->mask);
        g_free(choice);
    }
}

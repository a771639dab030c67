// SPDX-License-Identifier: GPL-3.0-or-later

// Joining the folders of shards. What belongs to items (see LimnItemSpan) is put into
// item order; what does not must be the same in all shards and is taken once.

#include "engine/base/error.h"
#include "engine/io/study-folder.h"

#include <string.h>

// The entries of one item in one shard.
typedef struct {
    guint64 item;
    guint64 count;
    guint64 begin;          // first entry, in units of entries
    const LimnArtifact *in; // borrowed
} Piece;

static gint
compare_pieces(gconstpointer a, gconstpointer b)
{
    const Piece *x = a, *y = b;
    return x->item < y->item ? -1 : x->item > y->item;
}

// ---- checks

static gboolean
check_shard(const LimnStudyFolder *folder, GError **error)
{
    if (folder->shard_count > 1) {
        return TRUE;
    }
    return limn_error_set_file(error, LIMN_ERROR_MISMATCH, folder->path,
                               "is not the folder of a shard (it was run without "
                               "--shard)");
}

static gboolean
check_same_study(const LimnStudyFolder *first, const LimnStudyFolder *folder,
                 GError **error)
{
    GError *local = NULL;
    g_autofree char *shown = limn_display_path(first->path);
    if (!limn_study_equal(first->study, folder->study, &local)) {
        limn_error_set_file(error, LIMN_ERROR_MISMATCH, folder->path,
                            "is a shard of another study than %s: %s", shown,
                            local->message);
        g_error_free(local);
        return FALSE;
    }
    if (first->shard_count != folder->shard_count || first->n_items != folder->n_items) {
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, folder->path,
                                   "is one of %u shards of %" G_GUINT64_FORMAT
                                   " items (%s is one of %u of %" G_GUINT64_FORMAT ")",
                                   folder->shard_count, folder->n_items, shown,
                                   first->shard_count, first->n_items);
    }
    return TRUE;
}

// Every shard once. Shards are shown as they may be asked for: --shard 0/3 is index 0.
static gboolean
check_complete(GPtrArray *folders, GError **error)
{
    const LimnStudyFolder *first = g_ptr_array_index(folders, 0);
    g_autoptr(GHashTable) by_index = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < folders->len; i++) {
        LimnStudyFolder *folder = g_ptr_array_index(folders, i);
        gpointer key = GUINT_TO_POINTER(folder->shard_index);
        const LimnStudyFolder *other = g_hash_table_lookup(by_index, key);
        if (other != NULL) {
            g_autofree char *shown = limn_display_path(other->path);
            return limn_error_set_file(error, LIMN_ERROR_MISMATCH, folder->path,
                                       "is the same shard %u/%u as %s",
                                       folder->shard_index, folder->shard_count, shown);
        }
        g_hash_table_insert(by_index, key, folder);
    }
    g_autoptr(GString) missing = g_string_new(NULL);
    for (guint i = 0; i < first->shard_count && missing->len < 100; i++) {
        if (!g_hash_table_contains(by_index, GUINT_TO_POINTER(i))) {
            g_string_append_printf(missing, "%s%u/%u", missing->len > 0 ? ", " : "", i,
                                   first->shard_count);
        }
    }
    return missing->len == 0 ||
           limn_error_set_file(error, LIMN_ERROR_MISMATCH, first->path,
                               "not all shards were given (missing: %s)", missing->str);
}

static gint
compare_folders(gconstpointer a, gconstpointer b)
{
    const LimnStudyFolder *x = *(LimnStudyFolder *const *) a;
    const LimnStudyFolder *y = *(LimnStudyFolder *const *) b;
    return x->shard_index < y->shard_index ? -1 : x->shard_index > y->shard_index;
}

// ---- artifacts

static LimnArtifact *
find_artifact(const LimnStudyFolder *folder, const char *name)
{
    for (guint i = 0; i < folder->artifacts->len; i++) {
        LimnArtifact *artifact = g_ptr_array_index(folder->artifacts, i);
        if (strcmp(artifact->name, name) == 0) {
            return artifact;
        }
    }
    return NULL;
}

// The first of that name that has entries of items: a shard whose items all failed has an
// artifact without them.
static const LimnArtifact *
find_with_items(GPtrArray *folders, const char *name)
{
    for (guint i = 0; i < folders->len; i++) {
        const LimnArtifact *artifact = find_artifact(g_ptr_array_index(folders, i), name);
        if (artifact != NULL && artifact->items != NULL && artifact->items->len > 0) {
            return artifact;
        }
    }
    return NULL;
}

static const LimnArray *
array_of(const LimnArtifact *artifact)
{
    return artifact->field != NULL ? artifact->field : artifact->array;
}

static guint64
n_entries(const LimnArtifact *artifact)
{
    const LimnArray *array = array_of(artifact);
    if (array != NULL) {
        return array->rank > 0 ? (guint64) array->shape[0] : 1;
    }
    if (artifact->table != NULL) {
        return limn_table_n_rows(artifact->table);
    }
    if (artifact->texts != NULL) {
        return artifact->texts->len;
    }
    return artifact->pictures != NULL ? artifact->pictures->len : 0;
}

// The pieces of an artifact in all shards, in item order.
static GArray *
collect_pieces(GPtrArray *folders, const LimnArtifact *model, GError **error)
{
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    for (guint i = 0; i < folders->len; i++) {
        const LimnStudyFolder *folder = g_ptr_array_index(folders, i);
        const LimnArtifact *artifact = find_artifact(folder, model->name);
        if (artifact == NULL || artifact->items == NULL) {
            continue;
        }
        if (artifact->kind != model->kind) {
            limn_error_set_file(error, LIMN_ERROR_MISMATCH, folder->path,
                                "'%s' is of kind %s (another shard has a %s)",
                                model->name, limn_artifact_kind_name(artifact->kind),
                                limn_artifact_kind_name(model->kind));
            return NULL;
        }
        guint64 begin = 0, n = n_entries(artifact);
        gboolean fits = TRUE;
        for (guint k = 0; fits && k < artifact->items->len; k++) {
            const LimnItemSpan *span = &g_array_index(artifact->items, LimnItemSpan, k);
            Piece piece = {span->item, span->count, begin, artifact};
            fits = span->count <= n - begin;
            begin += fits ? span->count : 0;
            g_array_append_val(pieces, piece);
        }
        if (!fits || begin != n) {
            limn_error_set_file(error, LIMN_ERROR_FORMAT, folder->path,
                                "'%s' has %" G_GUINT64_FORMAT " entries (its items have "
                                "%s)",
                                model->name, n, fits ? "fewer" : "more");
            return NULL;
        }
    }
    g_array_sort(pieces, compare_pieces);
    return g_steal_pointer(&pieces);
}

static gboolean
set_shape_error(const char *name, const LimnArray *a, const LimnArray *b, GError **error)
{
    g_autofree char *x = limn_array_describe_shape(a);
    g_autofree char *y = limn_array_describe_shape(b);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                "%s: the shards do not fit together (found %s and %s)", name, x, y);
    return FALSE;
}

static LimnArray *
join_arrays(GArray *pieces, const char *name, GError **error)
{
    const LimnArray *first = array_of(g_array_index(pieces, Piece, 0).in);
    gint64 shape[LIMN_ARRAY_MAX_RANK];
    memcpy(shape, first->shape, sizeof shape);
    shape[0] = 0;
    for (guint i = 0; i < pieces->len; i++) {
        const LimnArray *array = array_of(g_array_index(pieces, Piece, i).in);
        if (array->rank != first->rank || array->rank == 0 ||
            array->dtype != first->dtype ||
            memcmp(array->shape + 1, first->shape + 1,
                   sizeof(gint64) * (LIMN_ARRAY_MAX_RANK - 1)) != 0) {
            set_shape_error(name, first, array, error);
            return NULL;
        }
        shape[0] += (gint64) g_array_index(pieces, Piece, i).count;
    }
    LimnArray *joined = limn_array_new(first->dtype, first->rank, shape, error);
    if (joined == NULL) {
        return NULL;
    }
    gsize entry = limn_dtype_size(first->dtype);
    for (int d = 1; d < first->rank; d++) {
        entry *= (gsize) first->shape[d];
    }
    guint8 *out = joined->data;
    for (guint i = 0; i < pieces->len; i++) {
        const Piece *piece = &g_array_index(pieces, Piece, i);
        const guint8 *in = array_of(piece->in)->data;
        if (piece->count * entry > 0) {
            memcpy(out, in + piece->begin * entry, piece->count * entry);
            out += piece->count * entry;
        }
    }
    return joined;
}

static void
append_column(LimnColumn *to, const LimnColumn *from, guint64 begin, guint64 count)
{
    for (guint64 row = begin; row < begin + count; row++) {
        if (to->numeric) {
            limn_column_add_number(to, g_array_index(from->numbers, double, row));
        } else {
            limn_column_add_string(to, g_ptr_array_index(from->strings, row));
        }
    }
}

static LimnTable *
join_tables(GArray *pieces, const char *name, GError **error)
{
    const LimnTable *first = g_array_index(pieces, Piece, 0).in->table;
    LimnTable *joined = limn_table_new();
    for (guint c = 0; c < first->columns->len; c++) {
        const LimnColumn *column = g_ptr_array_index(first->columns, c);
        LimnColumn *added = limn_table_add_column(joined, column->name, column->numeric);
        added->unit = g_strdup(column->unit);
    }
    for (guint i = 0; i < pieces->len; i++) {
        const Piece *piece = &g_array_index(pieces, Piece, i);
        const LimnTable *table = piece->in->table;
        for (guint c = 0; c < first->columns->len; c++) {
            LimnColumn *to = g_ptr_array_index(joined->columns, c);
            const LimnColumn *from =
                c < table->columns->len ? g_ptr_array_index(table->columns, c) : NULL;
            if (from == NULL || strcmp(from->name, to->name) != 0 ||
                from->numeric != to->numeric) {
                g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                            "%s: the shards have different columns (expected '%s')", name,
                            to->name);
                limn_table_free(joined);
                return NULL;
            }
            append_column(to, from, piece->begin, piece->count);
        }
    }
    return joined;
}

static LimnTextItem *
text_item_dup(const LimnTextItem *item)
{
    LimnTextItem *copy = limn_text_item_new(item->text);
    copy->score = item->score;
    copy->truncated = item->truncated;
    copy->used_bytes = item->used_bytes;
    for (guint i = 0; i < item->tokens->len; i++) {
        LimnTextToken token = g_array_index(item->tokens, LimnTextToken, i);
        token.piece = g_strdup(token.piece);
        g_array_append_val(copy->tokens, token);
    }
    g_array_append_vals(copy->words, item->words->data, item->words->len);
    return copy;
}

// Labels, pictures and rectangles go with the entries when there is the same number of
// them for each. The labels of an array name its columns.
static void
join_companions(LimnArtifact *joined, GArray *pieces)
{
    for (guint i = 0; i < pieces->len; i++) {
        const Piece *piece = &g_array_index(pieces, Piece, i);
        const LimnArtifact *in = piece->in;
        guint64 n = n_entries(in);
        gboolean per_entry = n > 0 && in->kind != LIMN_ARTIFACT_ARRAY;
        guint64 labels = per_entry ? in->labels->len / n : 0;
        for (guint64 k = piece->begin * labels;
             k < (piece->begin + piece->count) * labels; k++) {
            limn_artifact_add_label(joined, g_ptr_array_index(in->labels, k));
        }
        guint64 pictures = n > 0 && in->pictures != NULL ? in->pictures->len / n : 0;
        for (guint64 k = piece->begin * pictures;
             k < (piece->begin + piece->count) * pictures; k++) {
            limn_artifact_add_picture(joined, g_ptr_array_index(in->pictures, k),
                                      &g_array_index(in->rects, LimnRect, k));
        }
        for (guint64 k = piece->begin;
             in->texts != NULL && k < piece->begin + piece->count; k++) {
            g_ptr_array_add(joined->texts,
                            text_item_dup(g_ptr_array_index(in->texts, k)));
        }
        limn_artifact_tag_item(joined, piece->item, piece->count);
    }
}

static LimnArtifact *
join_artifact(GPtrArray *folders, const LimnArtifact *model, GError **error)
{
    g_autoptr(GArray) pieces = collect_pieces(folders, model, error);
    if (pieces == NULL) {
        return NULL;
    }
    g_autoptr(LimnArtifact) joined = limn_artifact_new(model->kind, model->name);
    joined->title = g_strdup(model->title);
    joined->unit = g_strdup(model->unit);
    joined->is_signed = model->is_signed;
    joined->has_range = model->has_range;
    memcpy(joined->range, model->range, sizeof joined->range);
    if (model->texts != NULL) {
        joined->texts =
            g_ptr_array_new_with_free_func((GDestroyNotify) limn_text_item_free);
    }
    if (array_of(model) != NULL) {
        LimnArray *array = join_arrays(pieces, model->name, error);
        if (array == NULL) {
            return NULL;
        }
        *(model->field != NULL ? &joined->field : &joined->array) = array;
    }
    if (model->table != NULL) {
        joined->table = join_tables(pieces, model->name, error);
        if (joined->table == NULL) {
            return NULL;
        }
    }
    for (guint i = 0; model->kind == LIMN_ARTIFACT_ARRAY && i < model->labels->len; i++) {
        limn_artifact_add_label(joined, g_ptr_array_index(model->labels, i));
    }
    join_companions(joined, pieces);
    return g_steal_pointer(&joined);
}

static gboolean
join_artifacts(LimnRun *run, GPtrArray *folders, GError **error)
{
    for (guint i = 0; i < folders->len; i++) {
        const LimnStudyFolder *folder = g_ptr_array_index(folders, i);
        for (guint k = 0; k < folder->artifacts->len; k++) {
            LimnArtifact *artifact = g_ptr_array_index(folder->artifacts, k);
            if (limn_run_find_artifact(run, artifact->name) != NULL) {
                continue;
            }
            const LimnArtifact *model = find_with_items(folders, artifact->name);
            LimnArtifact *joined = model == NULL ? limn_artifact_ref(artifact)
                                                 : join_artifact(folders, model, error);
            if (joined == NULL) {
                return FALSE;
            }
            limn_run_add_artifact(run, joined);
        }
    }
    return TRUE;
}

// ---- scalars, skipped items, diagnostics

static gint
compare_scalars(gconstpointer a, gconstpointer b)
{
    const LimnScalar *x = *(LimnScalar *const *) a, *y = *(LimnScalar *const *) b;
    return x->index < y->index ? -1 : x->index > y->index;
}

static gint
compare_skipped(gconstpointer a, gconstpointer b)
{
    const LimnSkipped *x = *(LimnSkipped *const *) a, *y = *(LimnSkipped *const *) b;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void
join_scalars(LimnRun *run, GPtrArray *folders)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (guint i = 0; i < folders->len; i++) {
        const LimnStudyFolder *folder = g_ptr_array_index(folders, i);
        g_ptr_array_extend(all, folder->scalars, NULL, NULL);
    }
    g_ptr_array_sort(all, compare_scalars); // stable
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *out = limn_run_get_scalars(run);
    for (guint i = 0; i < all->len; i++) {
        const LimnScalar *scalar = g_ptr_array_index(all, i);
        // Of scalars of the whole study every shard has its own copy.
        if (scalar->index < 0 && !g_hash_table_add(seen, scalar->name)) {
            continue;
        }
        LimnScalar *copy = g_new0(LimnScalar, 1);
        copy->name = g_strdup(scalar->name);
        copy->item = g_strdup(scalar->item);
        copy->value = scalar->value;
        copy->index = scalar->index;
        g_ptr_array_add(out, copy);
    }
}

static void
join_skipped(LimnRun *run, GPtrArray *folders)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (guint i = 0; i < folders->len; i++) {
        const LimnStudyFolder *folder = g_ptr_array_index(folders, i);
        g_ptr_array_extend(all, folder->skipped, NULL, NULL);
    }
    g_ptr_array_sort(all, compare_skipped);
    GPtrArray *out = limn_run_get_skipped(run);
    for (guint i = 0; i < all->len; i++) {
        const LimnSkipped *skipped = g_ptr_array_index(all, i);
        LimnSkipped *copy = g_new0(LimnSkipped, 1);
        copy->item = g_strdup(skipped->item);
        copy->reason = g_strdup(skipped->reason);
        copy->index = skipped->index;
        g_ptr_array_add(out, copy);
    }
}

typedef struct {
    gint64 item; // -1: of the whole study
    guint order;
    const LimnDiagnostic *diagnostic;
} Ordered;

static gint
compare_ordered(gconstpointer a, gconstpointer b)
{
    const Ordered *x = a, *y = b;
    if (x->item != y->item) {
        return x->item < y->item ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

// Those of the whole study come first, then those of the items in their order. Double
// ones are left out when they are written.
static void
join_diagnostics(LimnRun *run, GPtrArray *folders)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Ordered));
    for (guint i = 0; i < folders->len; i++) {
        const LimnStudyFolder *folder = g_ptr_array_index(folders, i);
        for (guint k = 0; k < folder->diagnostics->len; k++) {
            Ordered entry = {g_array_index(folder->diagnostic_items, gint64, k), all->len,
                             g_ptr_array_index(folder->diagnostics, k)};
            g_array_append_val(all, entry);
        }
    }
    g_array_sort(all, compare_ordered);
    LimnJob *job = limn_run_get_job(run);
    for (guint i = 0; i < all->len; i++) {
        const LimnDiagnostic *diagnostic = g_array_index(all, Ordered, i).diagnostic;
        limn_job_diagnose(job, diagnostic->severity, diagnostic->item, "%s",
                          diagnostic->message);
    }
}

// ---- all of it

static gboolean
load_folders(const char *const *paths, GPtrArray *folders, LimnJob *job, GError **error)
{
    for (const char *const *at = paths; *at != NULL; at++) {
        LimnStudyFolder *folder = limn_study_folder_load(*at, job, error);
        if (folder == NULL) {
            return FALSE;
        }
        g_ptr_array_add(folders, folder);
        if (!check_shard(folder, error) ||
            !check_same_study(g_ptr_array_index(folders, 0), folder, error)) {
            return FALSE;
        }
    }
    if (folders->len == 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "no folders of shards were given");
        return FALSE;
    }
    if (!check_complete(folders, error)) {
        return FALSE;
    }
    g_ptr_array_sort(folders, compare_folders);
    return TRUE;
}

gboolean
limn_study_folder_merge(const char *const *paths, const char *out, gboolean force,
                        LimnJob *job, GError **error)
{
    g_autoptr(GPtrArray) folders =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_study_folder_free);
    if (!limn_study_folder_check(out, force, error) ||
        !load_folders(paths, folders, job, error)) {
        return FALSE;
    }
    const LimnStudyFolder *first = g_ptr_array_index(folders, 0);
    const LimnOperation *operation = first->study->operation;
    g_autoptr(LimnRun) run = limn_run_new(first->study, job);
    limn_run_set_n_items(run, first->n_items);
    join_scalars(run, folders);
    join_skipped(run, folders);
    join_diagnostics(run, folders);
    if (!join_artifacts(run, folders, error) ||
        (operation->finish != NULL && !operation->finish(run, error))) {
        return FALSE;
    }
    return limn_study_folder_write(run, out, force, error);
}

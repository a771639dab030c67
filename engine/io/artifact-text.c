// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/artifact-files.h"

#include "engine/base/error.h"
#include "engine/io/json.h"

#include <math.h>
#include <string.h>

static void
write_bytes(LimnJsonWriter *json, gsize begin, gsize end)
{
    limn_json_writer_begin_array(json, "bytes");
    limn_json_writer_uint(json, NULL, begin);
    limn_json_writer_uint(json, NULL, end);
    limn_json_writer_end_array(json);
}

static void
write_item(LimnJsonWriter *json, const LimnTextItem *item)
{
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "text", item->text);
    limn_json_writer_double(json, "score", item->score);
    limn_json_writer_begin_array(json, "tokens");
    for (guint i = 0; i < item->tokens->len; i++) {
        const LimnTextToken *token = &g_array_index(item->tokens, LimnTextToken, i);
        limn_json_writer_inline(json);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_int(json, "id", token->id);
        write_bytes(json, token->begin, token->end);
        limn_json_writer_string(json, "piece", token->piece);
        limn_json_writer_double(json, "weight", token->weight);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    limn_json_writer_begin_array(json, "words");
    for (guint i = 0; i < item->words->len; i++) {
        const LimnTextWord *word = &g_array_index(item->words, LimnTextWord, i);
        limn_json_writer_inline(json);
        limn_json_writer_begin_object(json, NULL);
        write_bytes(json, word->begin, word->end);
        limn_json_writer_double(json, "weight", word->weight);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    limn_json_writer_bool(json, "truncated", item->truncated);
    if (item->truncated) {
        limn_json_writer_uint(json, "used_bytes", item->used_bytes);
    }
    limn_json_writer_end_object(json);
}

char *
limn_artifact_text_to_json(const LimnArtifact *artifact)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_begin_array(json, NULL);
    for (guint i = 0; i < artifact->texts->len; i++) {
        write_item(json, g_ptr_array_index(artifact->texts, i));
    }
    limn_json_writer_end_array(json);
    return limn_json_writer_finish(json);
}

// ---- reading

static gboolean
read_bytes(const LimnJson *json, gsize length, gsize *begin, gsize *end, GError **error)
{
    double range[2];
    if (!limn_json_has(json, "bytes")) {
        return limn_json_fail(json, "bytes", error, "is missing");
    }
    if (!limn_json_read_doubles(json, "bytes", range, 2, error)) {
        return FALSE;
    }
    if (!(range[0] >= 0 && range[0] <= range[1] && range[1] <= (double) length)) {
        return limn_json_fail(json, "bytes", error,
                              "is outside the text (expected 0 to %zu)", length);
    }
    *begin = (gsize) range[0];
    *end = (gsize) range[1];
    return TRUE;
}

// A number, or null for one that is not finite.
static gboolean
read_weight(const LimnJson *json, const char *key, double *value, GError **error)
{
    *value = NAN;
    return limn_json_read_double(json, key, -INFINITY, INFINITY, value, error);
}

static gboolean
read_token(const LimnJson *json, LimnTextItem *item, GError **error)
{
    LimnTextToken token = {0};
    gint64 id = 0;
    const char *piece = NULL;
    if (!limn_json_need_int(json, "id", G_MININT32, G_MAXINT32, &id, error) ||
        !read_bytes(json, strlen(item->text), &token.begin, &token.end, error) ||
        !limn_json_read_string(json, "piece", &piece, error) ||
        !read_weight(json, "weight", &token.weight, error)) {
        return FALSE;
    }
    token.id = (gint32) id;
    token.piece = g_strdup(piece);
    g_array_append_val(item->tokens, token);
    return TRUE;
}

static gboolean
read_word(const LimnJson *json, LimnTextItem *item, GError **error)
{
    LimnTextWord word = {0};
    if (!read_bytes(json, strlen(item->text), &word.begin, &word.end, error) ||
        !read_weight(json, "weight", &word.weight, error)) {
        return FALSE;
    }
    g_array_append_val(item->words, word);
    return TRUE;
}

static gboolean
read_parts(const LimnJson *json, const char *key, LimnTextItem *item,
           gboolean (*read)(const LimnJson *json, LimnTextItem *item, GError **error),
           GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(json, key, &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson element;
        if (!limn_json_need_element(json, key, i, &element, error) ||
            !read(&element, item, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static LimnTextItem *
read_item(const LimnJson *json, GError **error)
{
    const char *text = NULL;
    if (!limn_json_need_string(json, "text", &text, error)) {
        return NULL;
    }
    LimnTextItem *item = limn_text_item_new(text);
    gint64 used = (gint64) item->used_bytes;
    if (!read_weight(json, "score", &item->score, error) ||
        !read_parts(json, "tokens", item, read_token, error) ||
        !read_parts(json, "words", item, read_word, error) ||
        !limn_json_read_bool(json, "truncated", &item->truncated, error) ||
        !limn_json_read_int(json, "used_bytes", 0, used, &used, error)) {
        limn_text_item_free(item);
        return NULL;
    }
    item->used_bytes = (gsize) used;
    return item;
}

gboolean
limn_artifact_text_from_json(LimnArtifact *artifact, const char *path, GError **error)
{
    g_autoptr(json_t) list = limn_json_load(path, error);
    if (list == NULL) {
        return FALSE;
    }
    if (!json_is_array(list)) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                   "is not a list of texts");
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson entry;
        if (!limn_json_root(json_array_get(list, i), path, &entry, error)) {
            return FALSE;
        }
        LimnTextItem *item = read_item(&entry, error);
        if (item == NULL) {
            return FALSE;
        }
        g_ptr_array_add(artifact->texts, item);
    }
    return TRUE;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Vocabularies from files:
//
//   vocab.json        {"STRING": number, ...}, every number once, all below
//                     2 * entries + 65536
//   merges.txt        lines "LEFT RIGHT" in order of rank; a first line "#version..."
//   tokenizer.json    {"model": {"type": "BPE", "vocab": {...}, "merges": ["LEFT RIGHT"
//   or
//                     ["LEFT", "RIGHT"], ...], "end_of_word_suffix": "</w>", ...},
//                     "added_tokens": [{"id", "content"}, ...], "pre_tokenizer": ...}
//   bpe_simple_...gz  gzip; a first line that is skipped, then at most 48894 merges
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/text/gzip.h"
#include "engine/text/json.h"
#include "engine/text/text-resources.h"
#include "engine/text/tokenizer-private.h"

#define BPE_GZ "bpe_simple_vocab_16e6.txt.gz"
#define MAX_MERGES (49152 - 256 - 2)
#define MAX_FILE (256 * 1024 * 1024)

// --- Lists of merges
// --------------------------------------------------------------------

// One line "LEFT RIGHT".
typedef struct {
    const char *left, *right;
    gsize left_length, right_length;
} MergeLine;

typedef struct {
    const char *at, *end;
    const char *name;
    guint line; // number of the line read last
} MergeReader;

static gboolean
fail_line(const MergeReader *reader, const char *message, GError **error)
{
    g_autofree char *shown = g_utf8_make_valid(message, -1);
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, reader->name, "line %u: %s",
                               reader->line, shown);
}

// Drops the next line.
static void
skip_line(MergeReader *reader)
{
    const char *newline = memchr(reader->at, '\n', reader->end - reader->at);
    reader->at = newline != NULL ? newline + 1 : reader->end;
    reader->line++;
}

// The next line; FALSE at the end (blank lines only), or with *error set when it is
// malformed. `error` must not be NULL.
static gboolean
next_merge(MergeReader *reader, MergeLine *merge, GError **error)
{
    while (reader->at < reader->end && (*reader->at == '\n' || *reader->at == '\r')) {
        reader->line += *reader->at == '\n';
        reader->at++;
    }
    if (reader->at == reader->end)
        return FALSE;
    const char *begin = reader->at;
    skip_line(reader);
    const char *end = reader->at;
    while (end > begin && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    const char *space = memchr(begin, ' ', end - begin);
    if (space == NULL || space == begin || space + 1 == end ||
        memchr(space + 1, ' ', end - space - 1) != NULL ||
        memchr(begin, '\0', end - begin) != NULL ||
        !g_utf8_validate_len(begin, end - begin, NULL))
        return fail_line(reader, "no merge (expected two strings and one space)", error);
    *merge = (MergeLine){begin, space + 1, space - begin, end - space - 1};
    return TRUE;
}

static gboolean
add_merge_line(LimnBpe *bpe, const MergeReader *reader, const MergeLine *merge,
               GError **error)
{
    g_autofree char *problem = limn_bpe_add_merge(bpe, merge->left, merge->left_length,
                                                  merge->right, merge->right_length);
    return problem == NULL || fail_line(reader, problem, error);
}

// --- The list alone (OpenAI)
// ------------------------------------------------------------

// The strings that the merges make, numbered after the byte symbols.
static gboolean
add_merged_strings(LimnBpe *bpe, MergeReader reader, GError **error)
{
    MergeLine merge;
    GError *failed = NULL;
    const char *other;
    g_autoptr(GString) text = g_string_new(NULL);
    for (int n = 0; n < MAX_MERGES && next_merge(&reader, &merge, &failed); n++) {
        g_string_truncate(text, 0);
        g_string_append_len(text, merge.left, (gssize) merge.left_length);
        g_string_append_len(text, merge.right, (gssize) merge.right_length);
        limn_bpe_add(bpe, text->str, text->len, limn_bpe_get_size(bpe), &other);
    }
    if (failed != NULL)
        g_propagate_error(error, failed);
    return failed == NULL;
}

static gboolean
add_merges(LimnBpe *bpe, MergeReader reader, int max, GError **error)
{
    MergeLine merge;
    GError *failed = NULL;
    for (int n = 0; n < max && next_merge(&reader, &merge, &failed); n++)
        if (!add_merge_line(bpe, &reader, &merge, error))
            return FALSE;
    if (failed != NULL)
        g_propagate_error(error, failed);
    return failed == NULL;
}

LimnTokenizer *
limn_tokenizer_new_from_bpe_gz(GBytes *gz, const char *name, GError **error)
{
    gsize size;
    const void *data = g_bytes_get_data(gz, &size);
    const char *other;
    g_autoptr(GBytes) bytes = limn_gunzip(data, size, MAX_FILE, name, error);
    if (bytes == NULL)
        return NULL;
    const char *text = g_bytes_get_data(bytes, &size);
    MergeReader reader = {text, text + size, name, 0};
    g_autoptr(LimnBpe) bpe = limn_bpe_new();
    skip_line(&reader);
    limn_bpe_add_bytes(bpe);
    if (!add_merged_strings(bpe, reader, error) ||
        !add_merges(bpe, reader, MAX_MERGES, error))
        return NULL;
    gint32 start = (gint32) limn_bpe_get_size(bpe);
    limn_bpe_add(bpe, LIMN_START_TEXT, strlen(LIMN_START_TEXT), start, &other);
    limn_bpe_add(bpe, LIMN_END_TEXT, strlen(LIMN_END_TEXT), start + 1, &other);
    return limn_tokenizer_new_take(g_steal_pointer(&bpe), start, start + 1);
}

LimnTokenizer *
limn_tokenizer_new_clip(GError **error)
{
    static GMutex lock;
    static LimnTokenizer *shared;
    g_mutex_lock(&lock);
    if (shared == NULL) {
        g_autoptr(GBytes) gz = limn_text_resource(BPE_GZ);
        shared = limn_tokenizer_new_from_bpe_gz(gz, BPE_GZ, error);
    }
    g_mutex_unlock(&lock);
    return shared != NULL ? limn_tokenizer_ref(shared) : NULL;
}

// --- Vocabularies in JSON
// ---------------------------------------------------------------

static gboolean
add_string(LimnBpe *bpe, const char *text, const json_t *number, gsize n,
           const char *name, GError **error)
{
    gint64 limit = 2 * (gint64) n + 65536;
    gint64 id = json_integer_value(number);
    const char *other = NULL;
    if (!json_is_integer(number) || id < 0 || id >= limit)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                   "the token \"%s\" has no usable number (expected an "
                                   "integer from 0 to %" G_GINT64_FORMAT
                                   " for %" G_GSIZE_FORMAT " tokens)",
                                   text, limit - 1, n);
    if (limn_bpe_add(bpe, text, strlen(text), (guint32) id, &other))
        return TRUE;
    return strcmp(other, text) == 0 ||
           limn_error_set_file(
               error, LIMN_ERROR_FORMAT, name,
               "the tokens \"%s\" and \"%s\" have the same number %" G_GINT64_FORMAT,
               other, text, id);
}

static gboolean
add_vocabulary(LimnBpe *bpe, json_t *vocab, const char *name, GError **error)
{
    const char *text;
    json_t *number;
    json_object_foreach(vocab, text, number) if (!add_string(bpe, text, number,
                                                             json_object_size(vocab),
                                                             name, error)) return FALSE;
    return TRUE;
}

// Finds start and end and makes the tokenizer.
static LimnTokenizer *
finish(LimnBpe *bpe, const char *unknown, const char *name, GError **error)
{
    gint32 start = limn_bpe_find(bpe, LIMN_START_TEXT, strlen(LIMN_START_TEXT));
    gint32 end = limn_bpe_find(bpe, LIMN_END_TEXT, strlen(LIMN_END_TEXT));
    gint32 other = unknown != NULL ? limn_bpe_find(bpe, unknown, strlen(unknown)) : -1;
    if (start < 0 || end < 0) {
        limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, name,
                            "not a vocabulary of CLIP's kind: it has no %s",
                            start < 0 ? LIMN_START_TEXT : LIMN_END_TEXT);
        return NULL;
    }
    limn_bpe_set_unknown(bpe, other >= 0 ? other : end);
    return limn_tokenizer_new_take(bpe, start, end);
}

LimnTokenizer *
limn_tokenizer_new_from_vocab(GBytes *vocab, const char *vocab_name, GBytes *merges,
                              const char *merges_name, GError **error)
{
    gsize size;
    const char *text = g_bytes_get_data(vocab, &size);
    g_autoptr(json_t) root = limn_json_parse(text, size, vocab_name, error);
    g_autoptr(LimnBpe) bpe = limn_bpe_new();
    LimnJson cursor;
    if (root == NULL || !limn_json_root(root, vocab_name, &cursor, error) ||
        !add_vocabulary(bpe, root, vocab_name, error))
        return NULL;
    text = g_bytes_get_data(merges, &size);
    MergeReader reader = {text, text + size, merges_name, 0};
    if (size >= 8 && memcmp(text, "#version", 8) == 0)
        skip_line(&reader);
    if (!add_merges(bpe, reader, G_MAXINT, error))
        return NULL;
    LimnTokenizer *tokenizer = finish(bpe, NULL, vocab_name, error);
    if (tokenizer != NULL)
        g_steal_pointer(&bpe); // the tokenizer has it
    return tokenizer;
}

// --- tokenizer.json
// ---------------------------------------------------------------------

// TRUE when a (nested) pre-tokenizer or decoder of that type is there.
static gboolean
has_type(const json_t *value, const char *type, int depth)
{
    const char *found = json_string_value(json_object_get(value, "type"));
    if (found != NULL && strcmp(found, type) == 0)
        return TRUE;
    const json_t *parts = json_object_get(value, "pretokenizers");
    for (gsize i = 0; i < json_array_size(parts) && depth < 8; i++)
        if (has_type(json_array_get(parts, i), type, depth + 1))
            return TRUE;
    return FALSE;
}

// Only CLIP's kind: byte-level BPE whose words end in "</w>".
static gboolean
check_kind(const LimnJson *root, const LimnJson *model, GError **error)
{
    const char *type = "BPE", *suffix = "", *prefix = "";
    if (!limn_json_read_string(model, "type", &type, error) ||
        !limn_json_read_string(model, "end_of_word_suffix", &suffix, error) ||
        !limn_json_read_string(model, "continuing_subword_prefix", &prefix, error))
        return FALSE;
    if (strcmp(type, "BPE") != 0)
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, root->file,
                                   "tokenizers of type %s are not supported (expected "
                                   "BPE as CLIP has it)",
                                   type);
    gboolean byte_level =
        has_type(json_object_get(root->value, "pre_tokenizer"), "ByteLevel", 0);
    if (byte_level && suffix[0] == '\0')
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, root->file,
                                   "byte-level BPE without end-of-word marks (GPT-2's "
                                   "kind) is not supported (expected CLIP's kind, with "
                                   "\"end_of_word_suffix\": \"</w>\")");
    if (!byte_level || strcmp(suffix, LIMN_BPE_WORD_END) != 0 || prefix[0] != '\0')
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, root->file,
                                   "BPE of this kind is not supported (found "
                                   "end_of_word_suffix \"%s\" and %s pre-tokenizer, "
                                   "expected \"</w>\" and a byte-level one)",
                                   suffix, byte_level ? "a byte-level" : "another");
    return TRUE;
}

// An element of "merges": "LEFT RIGHT" or ["LEFT", "RIGHT"].
static gboolean
add_merge_value(LimnBpe *bpe, const json_t *value, gsize i, const LimnJson *model,
                GError **error)
{
    const char *left = json_string_value(value), *right = NULL;
    gsize length = 0;
    g_autofree char *key = g_strdup_printf("merges[%" G_GSIZE_FORMAT "]", i);
    if (left != NULL) {
        const char *space = strchr(left, ' ');
        length = space != NULL ? space - left : 0;
        right = space != NULL ? space + 1 : NULL;
    } else if (json_array_size(value) == 2) {
        left = json_string_value(json_array_get(value, 0));
        right = json_string_value(json_array_get(value, 1));
        length = left != NULL ? strlen(left) : 0;
    }
    if (length == 0 || right == NULL || right[0] == '\0' || strchr(right, ' ') != NULL)
        return limn_json_fail(model, key, error, "is no merge (expected two strings)");
    g_autofree char *problem =
        limn_bpe_add_merge(bpe, left, length, right, strlen(right));
    return problem == NULL || limn_json_fail(model, key, error, "%s", problem);
}

static gboolean
add_added_tokens(LimnBpe *bpe, const LimnJson *root, GError **error)
{
    json_t *tokens = NULL;
    if (!limn_json_read_array(root, "added_tokens", &tokens, error))
        return FALSE;
    for (gsize i = 0; i < json_array_size(tokens); i++) {
        LimnJson token;
        const char *content;
        if (!limn_json_need_element(root, "added_tokens", i, &token, error) ||
            !limn_json_need_string(&token, "content", &content, error) ||
            !add_string(bpe, content, json_object_get(token.value, "id"),
                        limn_bpe_get_size(bpe), root->file, error))
            return FALSE;
    }
    return TRUE;
}

LimnTokenizer *
limn_tokenizer_new_from_json(GBytes *json, const char *name, GError **error)
{
    gsize size;
    const char *text = g_bytes_get_data(json, &size), *unknown = NULL;
    g_autoptr(json_t) value = limn_json_parse(text, size, name, error);
    g_autoptr(LimnBpe) bpe = limn_bpe_new();
    LimnJson root, model, vocab;
    json_t *merges = NULL;
    if (value == NULL || !limn_json_root(value, name, &root, error) ||
        !limn_json_need_object(&root, "model", &model, error) ||
        !check_kind(&root, &model, error) ||
        !limn_json_need_object(&model, "vocab", &vocab, error) ||
        !limn_json_read_string(&model, "unk_token", &unknown, error) ||
        !limn_json_read_array(&model, "merges", &merges, error) ||
        !add_vocabulary(bpe, vocab.value, name, error) ||
        !add_added_tokens(bpe, &root, error))
        return NULL;
    for (gsize i = 0; i < json_array_size(merges); i++)
        if (!add_merge_value(bpe, json_array_get(merges, i), i, &model, error))
            return NULL;
    LimnTokenizer *tokenizer = finish(bpe, unknown, name, error);
    if (tokenizer != NULL)
        g_steal_pointer(&bpe); // the tokenizer has it
    return tokenizer;
}

// --- Model folders
// ----------------------------------------------------------------------

// The path of a file in the folder when it is there.
static char *
find_file(const char *folder, const char *name)
{
    char *path = g_build_filename(folder, name, NULL);
    if (limn_file_is_there(path))
        return path;
    g_free(path);
    return NULL;
}

static LimnTokenizer *
load_json(const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(path, MAX_FILE, error);
    return bytes != NULL ? limn_tokenizer_new_from_json(bytes, path, error) : NULL;
}

static LimnTokenizer *
load_vocab(const char *vocab_path, const char *merges_path, GError **error)
{
    g_autoptr(GBytes) vocab = limn_file_read(vocab_path, MAX_FILE, error);
    g_autoptr(GBytes) merges =
        vocab != NULL ? limn_file_read(merges_path, MAX_FILE, error) : NULL;
    if (merges == NULL)
        return NULL;
    return limn_tokenizer_new_from_vocab(vocab, vocab_path, merges, merges_path, error);
}

static LimnTokenizer *
load_gz(const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(path, MAX_FILE, error);
    return bytes != NULL ? limn_tokenizer_new_from_bpe_gz(bytes, path, error) : NULL;
}

LimnTokenizer *
limn_tokenizer_new_for_folder(const char *folder, gboolean *builtin, GError **error)
{
    g_autofree char *json = find_file(folder, "tokenizer.json");
    g_autofree char *vocab = find_file(folder, "vocab.json");
    g_autofree char *gz = find_file(folder, BPE_GZ);
    *builtin = FALSE;
    if (json != NULL)
        return load_json(json, error);
    if (vocab != NULL) {
        g_autofree char *merges = g_build_filename(folder, "merges.txt", NULL);
        return load_vocab(vocab, merges, error);
    }
    if (gz != NULL)
        return load_gz(gz, error);
    *builtin = TRUE;
    return limn_tokenizer_new_clip(error);
}

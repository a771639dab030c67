// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/text/bpe-learn.h"

#include "engine/base/error.h"
#include "engine/base/job.h"
#include "engine/text/bpe.h"
#include "engine/text/tokenizer.h"

#include <jansson.h>
#include <string.h>

typedef struct {
    GArray *symbols; // gint32, ids into Learner.strings
    guint count;
} Word;

typedef struct {
    GPtrArray *strings;     // char *, symbol id -> text
    GHashTable *ids;        // text -> id + 1
    GPtrArray *words;       // Word
    GHashTable *word_index; // joined text -> Word
    GPtrArray *merges;      // char *, "left right"
} Learner;

static void
free_word(gpointer data)
{
    Word *word = data;
    g_array_unref(word->symbols);
    g_free(word);
}

static gint32
symbol_id(Learner *l, const char *text)
{
    gint32 id = GPOINTER_TO_INT(g_hash_table_lookup(l->ids, text));
    if (id)
        return id - 1;
    char *own = g_strdup(text);
    g_ptr_array_add(l->strings, own);
    g_hash_table_insert(l->ids, own, GINT_TO_POINTER((int) l->strings->len));
    return (gint32) l->strings->len - 1;
}

// A vocabulary without merges: its tokens are the byte symbols of the cleaned text.
static LimnTokenizer *
byte_tokenizer(GError **error)
{
    g_autoptr(LimnBpe) bpe = limn_bpe_new();
    limn_bpe_add_bytes(bpe);
    json_t *vocab = json_object();
    guint32 n = limn_bpe_get_size(bpe);
    for (guint32 i = 0; i < n; i++)
        json_object_set_new(vocab, limn_bpe_get_text(bpe, (gint32) i), json_integer(i));
    json_object_set_new(vocab, "<|startoftext|>", json_integer(n));
    json_object_set_new(vocab, "<|endoftext|>", json_integer(n + 1));
    char *text = json_dumps(vocab, JSON_COMPACT);
    json_decref(vocab);
    g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
    free(text);
    g_autoptr(GBytes) merges = g_bytes_new_static("#version: 0.2\n", 14);
    return limn_tokenizer_new_from_vocab(bytes, "vocabulary", merges, "merges", error);
}

static void
add_word(Learner *l, GArray *symbols)
{
    g_autoptr(GString) key = g_string_new(NULL);
    for (guint i = 0; i < symbols->len; i++)
        g_string_append(key, l->strings->pdata[g_array_index(symbols, gint32, i)]);
    Word *word = g_hash_table_lookup(l->word_index, key->str);
    if (!word) {
        word = g_new0(Word, 1);
        word->symbols = g_array_copy(symbols);
        g_ptr_array_add(l->words, word);
        g_hash_table_insert(l->word_index, g_strdup(key->str), word);
    }
    word->count++;
}

static gboolean
add_text(Learner *l, LimnTokenizer *tokenizer, const char *text, GError **error)
{
    g_autoptr(LimnTokens) tokens = limn_tokenizer_encode(tokenizer, text, 0, error);
    if (!tokens)
        return FALSE;
    g_autoptr(GArray) symbols = g_array_new(FALSE, FALSE, sizeof(gint32));
    for (guint i = 1; i + 1 < tokens->tokens->len; i++) {
        LimnToken *token = &g_array_index(tokens->tokens, LimnToken, i);
        if (token->id == limn_tokenizer_get_start(tokenizer) ||
            token->id == limn_tokenizer_get_end(tokenizer))
            continue; // written out in the text: no part of a word
        const char *piece = limn_tokenizer_get_piece(tokenizer, token->id);
        gint32 id = symbol_id(l, piece);
        g_array_append_val(symbols, id);
        if (g_str_has_suffix(piece, LIMN_BPE_WORD_END)) {
            add_word(l, symbols);
            g_array_set_size(symbols, 0);
        }
    }
    return TRUE;
}

static gint64
pair_key(gint32 left, gint32 right)
{
    return (gint64) left << 32 | (guint32) right;
}

// TRUE when pair a goes before pair b among equal counts.
static gboolean
comes_first(const Learner *l, gint64 a, gint64 b)
{
    const char *la = l->strings->pdata[a >> 32], *lb = l->strings->pdata[b >> 32];
    int order = strcmp(la, lb);
    if (order)
        return order < 0;
    return strcmp(l->strings->pdata[(guint32) a], l->strings->pdata[(guint32) b]) < 0;
}

// The most frequent pair; FALSE when none occurs twice.
static gboolean
best_pair(const Learner *l, gint64 *best)
{
    g_autoptr(GHashTable) counts =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint w = 0; w < l->words->len; w++) {
        const Word *word = l->words->pdata[w];
        for (guint i = 0; i + 1 < word->symbols->len; i++) {
            gint64 key = pair_key(g_array_index(word->symbols, gint32, i),
                                  g_array_index(word->symbols, gint32, i + 1));
            guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, &key)) + word->count;
            g_hash_table_insert(counts, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(n));
        }
    }
    guint most = 1;
    gboolean found = FALSE;
    *best = 0;
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, counts);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        guint n = GPOINTER_TO_UINT(value);
        const gint64 pair = *(const gint64 *) key;
        if (n > most || (found && n == most && comes_first(l, pair, *best))) {
            most = n;
            *best = pair;
            found = TRUE;
        }
    }
    return found;
}

static void
merge_word(Word *word, gint32 left, gint32 right, gint32 joined)
{
    guint to = 0;
    for (guint i = 0; i < word->symbols->len; i++, to++) {
        gint32 *s = (gint32 *) (gpointer) word->symbols->data;
        if (i + 1 < word->symbols->len && s[i] == left && s[i + 1] == right) {
            s[to] = joined;
            i++;
        } else {
            s[to] = s[i];
        }
    }
    g_array_set_size(word->symbols, to);
}

static void
merge_pair(Learner *l, gint64 pair)
{
    gint32 left = (gint32) (pair >> 32), right = (gint32) (guint32) pair;
    const char *a = l->strings->pdata[left], *b = l->strings->pdata[right];
    g_ptr_array_add(l->merges, g_strdup_printf("%s %s", a, b));
    g_autofree char *text = g_strconcat(a, b, NULL);
    gint32 joined = symbol_id(l, text);
    for (guint w = 0; w < l->words->len; w++)
        merge_word(l->words->pdata[w], left, right, joined);
}

static LimnLearnedVocabulary *
write_files(const Learner *l)
{
    g_autoptr(LimnBpe) bpe = limn_bpe_new();
    limn_bpe_add_bytes(bpe);
    json_t *vocab = json_object();
    guint32 id = 0;
    for (; id < limn_bpe_get_size(bpe); id++)
        json_object_set_new(vocab, limn_bpe_get_text(bpe, (gint32) id), json_integer(id));
    g_autoptr(GString) merges = g_string_new("#version: 0.2\n");
    for (guint i = 0; i < l->merges->len; i++) {
        g_auto(GStrv) parts = g_strsplit(l->merges->pdata[i], " ", 2);
        g_autofree char *joined = g_strconcat(parts[0], parts[1], NULL);
        // Two pairs may make the same string ("ab" "c", "a" "bc"): one token.
        if (!json_object_get(vocab, joined))
            json_object_set_new(vocab, joined, json_integer(id++));
        g_string_append_printf(merges, "%s\n", (char *) l->merges->pdata[i]);
    }
    json_object_set_new(vocab, "<|startoftext|>", json_integer(id++));
    json_object_set_new(vocab, "<|endoftext|>", json_integer(id++));
    char *text = json_dumps(vocab, JSON_PRESERVE_ORDER);
    json_decref(vocab);
    LimnLearnedVocabulary *learned = g_new0(LimnLearnedVocabulary, 1);
    learned->vocab = g_bytes_new(text, strlen(text));
    learned->merges = g_bytes_new(merges->str, merges->len);
    learned->n_merges = l->merges->len;
    free(text);
    return learned;
}

static void
clear_learner(Learner *l)
{
    g_ptr_array_unref(l->words);
    g_hash_table_unref(l->word_index);
    g_hash_table_unref(l->ids);
    g_ptr_array_unref(l->strings);
    g_ptr_array_unref(l->merges);
}

static gboolean
learn(Learner *l, const char *const *texts, guint max_merges, LimnJob *job,
      GError **error)
{
    g_autoptr(LimnTokenizer) tokenizer = byte_tokenizer(error);
    if (!tokenizer)
        return FALSE;
    for (guint i = 0; texts[i]; i++)
        if (!add_text(l, tokenizer, texts[i], error))
            return FALSE;
    if (l->words->len == 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "a vocabulary cannot be learned: the texts hold no word");
        return FALSE;
    }
    gint64 pair;
    while (l->merges->len < max_merges && best_pair(l, &pair)) {
        if (!limn_job_check(job, error))
            return FALSE;
        merge_pair(l, pair);
    }
    return TRUE;
}

LimnLearnedVocabulary *
limn_bpe_learn(const char *const *texts, guint max_merges, LimnJob *job, GError **error)
{
    Learner l = {.strings = g_ptr_array_new_with_free_func(g_free),
                 .ids = g_hash_table_new(g_str_hash, g_str_equal),
                 .words = g_ptr_array_new_with_free_func(free_word),
                 .word_index =
                     g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                 .merges = g_ptr_array_new_with_free_func(g_free)};
    LimnLearnedVocabulary *learned =
        learn(&l, texts, max_merges, job, error) ? write_files(&l) : NULL;
    clear_learner(&l);
    return learned;
}

void
limn_learned_vocabulary_free(LimnLearnedVocabulary *learned)
{
    if (!learned)
        return;
    g_bytes_unref(learned->vocab);
    g_bytes_unref(learned->merges);
    g_free(learned);
}

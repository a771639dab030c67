// SPDX-License-Identifier: GPL-3.0-or-later

// Vocabularies learned from texts.

#include "engine/base/error.h"
#include "engine/base/job.h"
#include "engine/text/bpe-learn.h"
#include "engine/text/tokenizer.h"

#include <jansson.h>
#include <string.h>

static LimnLearnedVocabulary *
learn(const char *const *texts, guint merges)
{
    g_autoptr(GError) error = NULL;
    LimnLearnedVocabulary *learned = limn_bpe_learn(texts, merges, NULL, &error);
    g_assert_no_error(error);
    return learned;
}

static LimnTokenizer *
tokenizer_of(const LimnLearnedVocabulary *learned)
{
    g_autoptr(GError) error = NULL;
    LimnTokenizer *tokenizer = limn_tokenizer_new_from_vocab(
        learned->vocab, "vocab.json", learned->merges, "merges.txt", &error);
    g_assert_no_error(error);
    return tokenizer;
}

// Numbers of the entries: each from 0 on, once.
static void
check_numbers(const LimnLearnedVocabulary *learned)
{
    gsize size;
    const char *data = g_bytes_get_data(learned->vocab, &size);
    json_t *root = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
    g_assert_nonnull(root);
    gsize n = json_object_size(root);
    g_autofree gboolean *seen = g_new0(gboolean, n);
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        json_int_t id = json_integer_value(value);
        g_assert_true(id >= 0 && (gsize) id < n);
        g_assert_false(seen[id]);
        seen[id] = TRUE;
    }
    json_decref(root);
}

static const char *const texts[] = {
    "a photo of a dog", "a photo of a cat", "the dog",         "the dogfish",
    "a caf\xc3\xa9",    "two caf\xc3\xa9s", "A Photo of DOGS", NULL};

// With merges enough every word that occurs twice is one token; what is decoded is what
// was read.
static void
test_own_texts(void)
{
    g_autoptr(LimnLearnedVocabulary) learned = learn(texts, 1000);
    g_autoptr(LimnTokenizer) tokenizer = tokenizer_of(learned);
    g_autoptr(GError) error = NULL;
    check_numbers(learned);
    g_assert_cmpint(limn_tokenizer_get_size(tokenizer), ==, 512 + 2 + learned->n_merges);
    g_autoptr(LimnTokens) whole =
        limn_tokenizer_encode(tokenizer, "a photo of the dog", 0, &error);
    // "the" and "photo" and "dog" and "of" and "a", start and end
    g_assert_cmpuint(whole->tokens->len, ==, 7);
    for (guint i = 0; texts[i]; i++) {
        g_autoptr(LimnTokens) tokens =
            limn_tokenizer_encode(tokenizer, texts[i], 0, &error);
        g_assert_no_error(error);
        g_autofree gint32 *ids = g_new(gint32, tokens->tokens->len);
        for (guint k = 0; k < tokens->tokens->len; k++)
            ids[k] = g_array_index(tokens->tokens, LimnToken, k).id;
        g_autofree char *back =
            limn_tokenizer_decode(tokenizer, ids, tokens->tokens->len);
        g_assert_cmpstr(back, ==, tokens->cleaned);
    }
}

static void
assert_equal(const LimnLearnedVocabulary *a, const LimnLearnedVocabulary *b)
{
    g_assert_true(g_bytes_equal(a->vocab, b->vocab));
    g_assert_true(g_bytes_equal(a->merges, b->merges));
}

// All pairs occur equally often: the order of the texts decides nothing, that of the
// strings does.
static void
test_ties(void)
{
    const char *const one[] = {"xy", "ab", "mn", "xy", "ab", "mn", NULL};
    const char *const two[] = {"mn", "mn", "xy", "ab", "ab", "xy", NULL};
    g_autoptr(LimnLearnedVocabulary) a = learn(one, 2);
    g_autoptr(LimnLearnedVocabulary) b = learn(two, 2);
    assert_equal(a, b);
    const char expected[] = "#version: 0.2\na b</w>\nm n</w>\n";
    g_assert_cmpmem(g_bytes_get_data(a->merges, NULL), g_bytes_get_size(a->merges),
                    expected, strlen(expected));
}

// The most frequent pair first, however late it comes.
static void
test_order(void)
{
    const char *const list[] = {"ab", "ab", "yz", "yz", "yz", NULL};
    g_autoptr(LimnLearnedVocabulary) learned = learn(list, 1);
    const char expected[] = "#version: 0.2\ny z</w>\n";
    g_assert_cmpmem(g_bytes_get_data(learned->merges, NULL),
                    g_bytes_get_size(learned->merges), expected, strlen(expected));
}

static void
test_too_few_pairs(void)
{
    const char *const once[] = {"abcdef", NULL};
    g_autoptr(LimnLearnedVocabulary) none = learn(once, 50);
    g_assert_cmpuint(none->n_merges, ==, 0);
    const char *const twice[] = {"abcd", "abcd", NULL};
    g_autoptr(LimnLearnedVocabulary) three = learn(twice, 50);
    g_assert_cmpuint(three->n_merges, ==, 3);
    check_numbers(three);
    g_autoptr(LimnTokenizer) tokenizer = tokenizer_of(three);
    g_assert_nonnull(limn_tokenizer_get_piece(tokenizer, 514));
    g_assert_cmpstr(limn_tokenizer_get_piece(tokenizer, 514), ==, "abcd</w>");
}

// Runs of one letter are cut in more than one way; a string that two pairs make is one
// token all the same.
static void
test_runs(void)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
    for (guint n = 1; n < 14; n++)
        for (guint k = 0; k < 15 - n; k++) {
            char *a = g_strnfill(n, 'a'), *b = g_strnfill(k % 4, 'b');
            g_ptr_array_add(list, g_strconcat(b, a, b, a, NULL));
            g_free(a);
            g_free(b);
        }
    g_ptr_array_add(list, NULL);
    g_autoptr(LimnLearnedVocabulary) learned =
        learn((const char *const *) list->pdata, 400);
    g_assert_cmpuint(learned->n_merges, >, 10);
    check_numbers(learned);
    g_autoptr(LimnTokenizer) tokenizer = tokenizer_of(learned);
    g_assert_nonnull(tokenizer);
}

// Special tokens that are written out in a text are no part of a word.
static void
test_specials(void)
{
    const char *const list[] = {"<|endoftext|>dog <|startoftext|>", "dog<|endoftext|>",
                                "<|endoftext|>dog", NULL};
    g_autoptr(LimnLearnedVocabulary) learned = learn(list, 50);
    g_autofree char *merges = g_strndup(g_bytes_get_data(learned->merges, NULL),
                                        g_bytes_get_size(learned->merges));
    g_assert_null(strstr(merges, "|"));
    g_autoptr(LimnTokenizer) tokenizer = tokenizer_of(learned);
    g_assert_nonnull(tokenizer);
}

static void
test_errors(void)
{
    g_autoptr(GError) error = NULL;
    const char *const empty[] = {"", "  \n", NULL};
    g_assert_null(limn_bpe_learn(empty, 10, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    g_clear_error(&error);
    const char *const broken[] = {"dog", "d\xff", NULL};
    g_assert_null(limn_bpe_learn(broken, 10, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    g_clear_error(&error);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_null(limn_bpe_learn(texts, 10, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bpe-learn/own-texts", test_own_texts);
    g_test_add_func("/bpe-learn/ties", test_ties);
    g_test_add_func("/bpe-learn/order", test_order);
    g_test_add_func("/bpe-learn/too-few-pairs", test_too_few_pairs);
    g_test_add_func("/bpe-learn/runs", test_runs);
    g_test_add_func("/bpe-learn/specials", test_specials);
    g_test_add_func("/bpe-learn/errors", test_errors);
    return g_test_run();
}

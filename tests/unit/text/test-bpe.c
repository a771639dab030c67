// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/rng.h"
#include "engine/text/bpe.h"
#include "engine/text/string-index.h"
#include "tests/unit/loader-test.h"

static void
test_byte_symbols(void)
{
    gboolean seen[512] = {FALSE};
    for (guint b = 0; b < 256; b++) {
        guint8 back = 0;
        gunichar symbol = limn_bpe_byte_symbol((guint8) b);
        g_assert_cmpuint(symbol, <, 256 + 68);
        g_assert_false(seen[symbol]);
        seen[symbol] = TRUE;
        g_assert_true(limn_bpe_symbol_byte(symbol, &back));
        g_assert_cmpuint(back, ==, b);
    }
    g_assert_cmpuint(limn_bpe_byte_symbol(' '), ==, 0x120);
    g_assert_cmpuint(limn_bpe_byte_symbol(0xad), ==, 256 + 67);
    guint8 byte;
    g_assert_false(limn_bpe_symbol_byte(' ', &byte));
    g_assert_false(limn_bpe_symbol_byte(256 + 68, &byte));
    g_autoptr(LimnBpe) bpe = limn_bpe_new();
    limn_bpe_add_bytes(bpe);
    g_assert_cmpuint(limn_bpe_get_size(bpe), ==, 512);
    g_assert_cmpstr(limn_bpe_get_text(bpe, 0), ==, "!");
    g_assert_cmpstr(limn_bpe_get_text(bpe, 256), ==, "!</w>");
    g_assert_cmpstr(limn_bpe_get_text(bpe, 188), ==, "\u0100");
    g_assert_cmpint(limn_bpe_find(bpe, "\u0120</w>", 6), ==, 256 + 188 + 32);
}

// --- The reference: merge all occurrences of the best pair, look again
// ------------------

typedef struct {
    char *left, *right;
} Pair;

static int
find_rank(GPtrArray *merges, const char *left, const char *right)
{
    for (int i = (int) merges->len - 1; i >= 0; i--) {
        const Pair *pair = g_ptr_array_index(merges, i);
        if (strcmp(pair->left, left) == 0 && strcmp(pair->right, right) == 0)
            return i;
    }
    return -1;
}

static GPtrArray *
encode_plainly(GPtrArray *merges, const char *word)
{
    GPtrArray *symbols = g_ptr_array_new_with_free_func(g_free);
    for (const char *p = word; *p != '\0'; p++)
        g_ptr_array_add(symbols, g_strdup_printf("%c%s", *p, p[1] == '\0' ? "</w>" : ""));
    while (TRUE) {
        int best = -1;
        for (guint i = 0; i + 1 < symbols->len; i++) {
            int rank = find_rank(merges, symbols->pdata[i], symbols->pdata[i + 1]);
            if (rank >= 0 && (best < 0 || rank < best))
                best = rank;
        }
        if (best < 0)
            return symbols;
        const Pair *pair = g_ptr_array_index(merges, best);
        GPtrArray *next = g_ptr_array_new_with_free_func(g_free);
        for (guint i = 0; i < symbols->len; i++) {
            gboolean merge = i + 1 < symbols->len &&
                             strcmp(symbols->pdata[i], pair->left) == 0 &&
                             strcmp(symbols->pdata[i + 1], pair->right) == 0;
            g_ptr_array_add(next, merge ? g_strconcat(pair->left, pair->right, NULL)
                                        : g_strdup(symbols->pdata[i]));
            i += merge;
        }
        g_ptr_array_unref(symbols);
        symbols = next;
    }
}

static void
pair_free(gpointer data)
{
    Pair *pair = data;
    g_free(pair->left);
    g_free(pair->right);
    g_free(pair);
}

// Merges over a small alphabet in any order of rank: also such as no training would give.
static GPtrArray *
random_merges(LimnRng *rng, guint n)
{
    g_autoptr(GPtrArray) strings = g_ptr_array_new_with_free_func(g_free);
    GPtrArray *merges = g_ptr_array_new_with_free_func(pair_free);
    for (char c = 'a'; c <= 'c'; c++) {
        g_ptr_array_add(strings, g_strdup_printf("%c", c));
        g_ptr_array_add(strings, g_strdup_printf("%c</w>", c));
    }
    while (merges->len < n) {
        const char *left = strings->pdata[limn_rng_below(rng, strings->len)];
        const char *right = strings->pdata[limn_rng_below(rng, strings->len)];
        if (g_str_has_suffix(left, "</w>") || strlen(left) + strlen(right) > 20)
            continue;
        Pair *pair = g_new0(Pair, 1);
        pair->left = g_strdup(left);
        pair->right = g_strdup(right);
        g_ptr_array_add(strings, g_strconcat(left, right, NULL));
        g_ptr_array_add(merges, pair);
    }
    for (guint i = n - 1; i > 0; i--) {
        guint k = limn_rng_below(rng, i + 1);
        gpointer swap = merges->pdata[i];
        merges->pdata[i] = merges->pdata[k];
        merges->pdata[k] = swap;
    }
    return merges;
}

static LimnBpe *
build(GPtrArray *merges)
{
    LimnBpe *bpe = limn_bpe_new();
    const char *other;
    limn_bpe_add_bytes(bpe);
    for (guint i = 0; i < merges->len; i++) {
        const Pair *pair = g_ptr_array_index(merges, i);
        g_autofree char *text = g_strconcat(pair->left, pair->right, NULL);
        if (limn_bpe_find(bpe, text, strlen(text)) < 0)
            limn_bpe_add(bpe, text, strlen(text), limn_bpe_get_size(bpe), &other);
    }
    for (guint i = 0; i < merges->len; i++) {
        const Pair *pair = g_ptr_array_index(merges, i);
        g_assert_null(limn_bpe_add_merge(bpe, pair->left, strlen(pair->left), pair->right,
                                         strlen(pair->right)));
    }
    return bpe;
}

static void
compare(LimnBpe *bpe, GPtrArray *merges, const char *word)
{
    g_autoptr(GArray) tokens = g_array_new(FALSE, FALSE, sizeof(LimnBpeToken));
    g_autoptr(GPtrArray) expected = encode_plainly(merges, word);
    for (int twice = 0; twice < 2; twice++) { // the second time from the cache
        g_array_set_size(tokens, 0);
        limn_bpe_encode(bpe, word, strlen(word), tokens);
        g_assert_cmpuint(tokens->len, ==, expected->len);
        guint32 bytes = 0;
        for (guint i = 0; i < tokens->len; i++) {
            const LimnBpeToken *token = &g_array_index(tokens, LimnBpeToken, i);
            g_assert_cmpstr(limn_bpe_get_text(bpe, token->id), ==, expected->pdata[i]);
            bytes += token->bytes;
        }
        g_assert_cmpuint(bytes, ==, strlen(word));
    }
}

static void
test_against_reference(void)
{
    LimnRng rng = limn_rng_make(1, 0);
    for (int round = 0; round < 40; round++) {
        g_autoptr(GPtrArray) merges = random_merges(&rng, 5 + limn_rng_below(&rng, 40));
        g_autoptr(LimnBpe) bpe = build(merges);
        for (int w = 0; w < 40; w++) {
            char word[80];
            guint n = 1 + limn_rng_below(&rng, w < 38 ? 24 : 79);
            for (guint i = 0; i < n; i++)
                word[i] = "abc"[limn_rng_below(&rng, round % 2 ? 2 : 3)];
            word[n] = '\0';
            compare(bpe, merges, word);
        }
    }
}

// --- The index of strings
// -----------------------------------------------------------------

static const char *
number_text(guint32 i, gsize *length, gconstpointer data)
{
    const GPtrArray *texts = data;
    *length = strlen(texts->pdata[i]);
    return texts->pdata[i];
}

static void
test_string_index(void)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(LimnStringIndex) index = limn_string_index_new(number_text, texts, 0);
    g_assert_cmpuint(limn_string_index_find(index, "", 0), ==, LIMN_STRING_NOT_FOUND);
    for (guint i = 0; i < 5000; i++) {
        char *text = g_strdup_printf("%.*s%u", (int) (i % 30),
                                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", i);
        g_ptr_array_add(texts, text);
        g_assert_cmpuint(limn_string_index_add(index, text, strlen(text), i), ==,
                         LIMN_STRING_NOT_FOUND);
    }
    for (guint i = 0; i < 5000; i++) {
        const char *text = texts->pdata[i];
        g_assert_cmpuint(limn_string_index_find(index, text, strlen(text)), ==, i);
        g_assert_cmpuint(limn_string_index_find(index, text, strlen(text) - 1), !=, i);
        g_assert_cmpuint(limn_string_index_add(index, text, strlen(text), 9), ==, i);
    }
    g_ptr_array_add(texts, g_strdup(texts->pdata[17]));
    limn_string_index_set(index, texts->pdata[17], strlen(texts->pdata[17]), 5000);
    g_assert_cmpuint(
        limn_string_index_find(index, texts->pdata[17], strlen(texts->pdata[17])), ==,
        5000);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bpe/byte-symbols", test_byte_symbols);
    g_test_add_func("/bpe/against-reference", test_against_reference);
    g_test_add_func("/bpe/string-index", test_string_index);
    return g_test_run();
}

// SPDX-License-Identifier: GPL-3.0-or-later

#include <jansson.h>

#include "engine/text/tokenizer.h"
#include "tests/unit/loader-test.h"

static LimnTokenizer *
get_clip(void)
{
    g_autoptr(GError) error = NULL;
    LimnTokenizer *tokenizer = limn_tokenizer_new_clip(&error);
    g_assert_no_error(error);
    return tokenizer;
}

static const LimnToken *
token_at(const LimnTokens *tokens, guint i)
{
    return &g_array_index(tokens->tokens, LimnToken, i);
}

static const LimnTokenWord *
word_at(const LimnTokens *tokens, guint i)
{
    return &g_array_index(tokens->words, LimnTokenWord, i);
}

static void
check_ids(const LimnTokens *tokens, const json_t *ids)
{
    g_assert_cmpuint(tokens->tokens->len, ==, json_array_size(ids));
    for (guint i = 0; i < tokens->tokens->len; i++)
        g_assert_cmpint(token_at(tokens, i)->id, ==,
                        json_integer_value(json_array_get(ids, i)));
}

static gboolean
is_boundary(const LimnTokens *tokens, gsize at)
{
    return at == tokens->text_size || ((guchar) tokens->text[at] & 0xc0) != 0x80;
}

// What must hold for every text.
static void
check_ranges(LimnTokenizer *tokenizer, const LimnTokens *tokens)
{
    gsize n = tokens->tokens->len;
    g_assert_cmpint(token_at(tokens, 0)->id, ==, limn_tokenizer_get_start(tokenizer));
    g_assert_cmpint(token_at(tokens, n - 1)->id, ==, limn_tokenizer_get_end(tokenizer));
    g_assert_cmpuint(token_at(tokens, 0)->end, ==, 0);
    g_assert_cmpuint(token_at(tokens, n - 1)->begin, ==, token_at(tokens, n - 1)->end);
    gsize begin = 0, end = 0;
    for (gsize i = 1; i + 1 < n; i++) {
        const LimnToken *token = token_at(tokens, i);
        g_assert_cmpuint(token->begin, <, token->end);
        g_assert_cmpuint(token->begin, >=, begin);
        g_assert_cmpuint(token->end, >=, end);
        g_assert_cmpuint(token->end, <=, tokens->used_bytes);
        g_assert_true(is_boundary(tokens, token->begin));
        g_assert_true(is_boundary(tokens, token->end));
        begin = token->begin;
        end = token->end;
    }
    int next = 1;
    for (guint i = 0; i < tokens->words->len; i++) {
        const LimnTokenWord *word = word_at(tokens, i);
        g_assert_cmpint(word->first, ==, next);
        g_assert_cmpint(word->last, >=, word->first);
        g_assert_cmpuint(word->begin, ==, token_at(tokens, word->first)->begin);
        g_assert_cmpuint(word->end, ==, token_at(tokens, word->last)->end);
        next = word->last + 1;
    }
    g_assert_cmpint(next, ==, (int) n - 1);
    g_assert_cmpint(token_at(tokens, tokens->end_index)->id, ==,
                    limn_tokenizer_get_end(tokenizer));
}

static json_t *
load_cases(const char *relative)
{
    json_error_t found;
    g_autofree char *path = data_path(relative);
    json_t *cases = json_load_file(path, JSON_ALLOW_NUL, &found);
    g_assert_true(json_is_array(cases));
    return cases;
}

static LimnTokens *
encode_case(LimnTokenizer *tokenizer, const json_t *item, int context)
{
    g_autoptr(GError) error = NULL;
    const json_t *text = json_object_get(item, "text");
    LimnTokens *tokens = limn_tokenizer_encode_bytes(
        tokenizer, json_string_value(text), json_string_length(text), context, &error);
    g_assert_no_error(error);
    check_ranges(tokenizer, tokens);
    return tokens;
}

static void
test_golden(void)
{
    g_autoptr(LimnTokenizer) tokenizer = get_clip();
    json_t *cases = load_cases("golden/grad_eclip/tokenizer/cases.json");
    json_t *item;
    gsize i;
    g_assert_cmpuint(json_array_size(cases), ==, 67);
    json_array_foreach(cases, i, item)
    {
        g_autoptr(LimnTokens) full = encode_case(tokenizer, item, 0);
        check_ids(full, json_object_get(item, "ids_full"));
        g_assert_cmpstr(full->cleaned, ==,
                        json_string_value(json_object_get(item, "cleaned")));
        g_assert_false(full->truncated);
        const json_t *pieces = json_object_get(item, "pieces");
        g_assert_cmpuint(json_array_size(pieces), ==, full->tokens->len);
        for (guint k = 0; k < full->tokens->len; k++)
            g_assert_cmpstr(limn_tokenizer_get_piece(tokenizer, token_at(full, k)->id),
                            ==, json_string_value(json_array_get(pieces, k)));
        g_autoptr(LimnTokens) cut = encode_case(tokenizer, item, 77);
        check_ids(cut, json_object_get(item, "ids_77"));
        g_assert_true(cut->truncated == json_is_true(json_object_get(item, "too_long")));
    }
    json_decref(cases);
}

static void
test_b45_reference(void)
{
    g_autoptr(LimnTokenizer) tokenizer = get_clip();
    json_t *cases = load_cases("text/tokenizer-cases.json");
    json_t *item;
    gsize i;
    g_assert_cmpuint(json_array_size(cases), ==, 200);
    json_array_foreach(cases, i, item)
    {
        g_autoptr(LimnTokens) tokens = encode_case(tokenizer, item, 0);
        g_assert_cmpstr(tokens->cleaned, ==,
                        json_string_value(json_object_get(item, "cleaned")));
        check_ids(tokens, json_object_get(item, "ids"));
    }
    json_decref(cases);
}

static void
test_b46_long(void)
{
    g_autoptr(LimnTokenizer) tokenizer = get_clip();
    g_autoptr(GError) error = NULL;
    GString *text = g_string_new(NULL);
    for (int i = 0; i < 44; i++)
        g_string_append_printf(text, "%s%d", i > 0 ? " " : "", 1000 + i);
    g_autoptr(LimnTokens) tokens =
        limn_tokenizer_encode(tokenizer, text->str, 77, &error);
    g_assert_no_error(error);
    check_ranges(tokenizer, tokens);
    g_assert_true(tokens->truncated);
    g_assert_cmpuint(tokens->tokens->len, ==, 77);
    // 75 digits: 18 numbers and three digits of the next one.
    g_assert_cmpuint(tokens->used_bytes, ==, 18 * 5 + 3);
    g_assert_cmpuint(tokens->words->len, ==, 75);
    g_assert_cmpint(tokens->end_index, ==, 76);
    g_string_free(text, TRUE);

    // A word that is cut in the middle keeps what is left of it.
    g_autoptr(LimnTokens) cut = limn_tokenizer_encode(
        tokenizer, "a pneumonoultramicroscopicsilicovolcanoconiosis", 6, &error);
    g_assert_cmpuint(cut->tokens->len, ==, 6);
    g_assert_cmpuint(cut->words->len, ==, 2);
    g_assert_cmpint(word_at(cut, 1)->last, ==, 4);
    g_assert_cmpuint(cut->used_bytes, ==, strlen("a pneumonoul"));
    check_ranges(tokenizer, cut);

    // Exactly full is not cut; the empty text is start and end.
    g_autoptr(LimnTokens) full = limn_tokenizer_encode(tokenizer, "a a a", 5, &error);
    g_assert_false(full->truncated);
    g_assert_cmpuint(full->used_bytes, ==, 5);
    for (int context = 0; context < 4; context += 2) {
        g_autoptr(LimnTokens) empty =
            limn_tokenizer_encode(tokenizer, " \n ", context, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(empty->tokens->len, ==, 2);
        g_assert_cmpuint(empty->words->len, ==, 0);
        g_assert_cmpint(empty->end_index, ==, 1);
        g_assert_false(empty->truncated);
    }
    g_autoptr(LimnTokens) two = limn_tokenizer_encode(tokenizer, "dog", 2, &error);
    g_assert_true(two->truncated);
    g_assert_cmpuint(two->used_bytes, ==, 0);
    g_assert_null(limn_tokenizer_encode(tokenizer, "dog", 1, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "at least 2", NULL);
}

static void
test_ranges(void)
{
    static const struct {
        const char *text;
        int word;
        const char *slice; // of the text as given
    } CASES[] = {
        {"  A  Photo", 0, "A"},
        {"  A  Photo", 1, "Photo"},
        {"caf&eacute; bar", 0, "caf&eacute;"},
        {"tom &amp;amp; jerry", 1, "&amp;amp;"},
        {"\ufb01ne \ufb02ow", 1, "\ufb02ow"},
        {"cafe\u0301 noir", 0, "cafe\u0301"},
        {"caf\u00c3\u00a9 noir", 0, "caf\u00c3\u00a9"}, // double-encoded
        {"\u0130stanbul", 0, "\u0130"},
        {"it\u2019s", 1, "\u2019s"},
        {"\x1b[31mred\x1b[0m dog", 0, "red"},
        {"dog<|endoftext|>cat", 1, "<|endoftext|>"},
        {"I \u2764\ufe0f pizza", 1, "\u2764\ufe0f"},
    };
    g_autoptr(LimnTokenizer) tokenizer = get_clip();
    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnTokens) tokens =
            limn_tokenizer_encode(tokenizer, CASES[i].text, 0, &error);
        g_assert_no_error(error);
        check_ranges(tokenizer, tokens);
        const LimnTokenWord *word = word_at(tokens, CASES[i].word);
        g_autofree char *slice =
            g_strndup(tokens->text + word->begin, word->end - word->begin);
        g_assert_cmpstr(slice, ==, CASES[i].slice);
    }
    // The pooling row is the first end token, also one that was typed.
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnTokens) typed =
        limn_tokenizer_encode(tokenizer, "dog<|endoftext|>cat", 0, &error);
    g_assert_cmpint(typed->end_index, ==, 2);
}

static void
test_bad_text(void)
{
    static const char *const INVALID[] = {"a\xff", "a\xc3", "a\xed\xa0\x80", "a\xc0\x80",
                                          "a\xf4\x90\x80\x80"};
    g_autoptr(LimnTokenizer) tokenizer = get_clip();
    g_autoptr(GError) error = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(INVALID); i++) {
        g_assert_null(limn_tokenizer_encode(tokenizer, INVALID[i], 77, &error));
        assert_refused(&error, LIMN_ERROR_ARGUMENT, "at byte 1", NULL);
    }
    g_assert_null(limn_tokenizer_encode_bytes(tokenizer, "a\0\0b\xff", 5, 77, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "0xff at byte 4", NULL);
    g_autofree char *large = g_strnfill(LIMN_TOKENIZER_MAX_TEXT + 1, 'a');
    g_assert_null(limn_tokenizer_encode(tokenizer, large, 77, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "1048577", "1048576", NULL);
}

// One word of a million letters, marks or ampersands is no trouble.
static void
test_monsters(void)
{
    static const char *const UNITS[] = {"a",  "ab",      "\u0301\u0323", "&amp;",
                                        "'s", "\u03a3.", "\u1100"};
    g_autoptr(LimnTokenizer) tokenizer = get_clip();
    for (gsize i = 0; i < G_N_ELEMENTS(UNITS); i++) {
        g_autoptr(GError) error = NULL;
        GString *text = g_string_new(NULL);
        while (text->len < 200000)
            g_string_append(text, UNITS[i]);
        g_autoptr(LimnTokens) tokens =
            limn_tokenizer_encode(tokenizer, text->str, 0, &error);
        g_assert_no_error(error);
        check_ranges(tokenizer, tokens);
        g_string_free(text, TRUE);
    }
}

static void
test_decode(void)
{
    g_autoptr(LimnTokenizer) tokenizer = get_clip();
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnTokens) tokens =
        limn_tokenizer_encode(tokenizer, "A dog's caf\u00e9 \U0001f355, ok?", 0, &error);
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(gint32));
    for (guint i = 0; i < tokens->tokens->len; i++)
        g_array_append_val(ids, token_at(tokens, i)->id);
    gint32 padding = 0;
    g_array_append_val(ids, padding);
    g_autofree char *text =
        limn_tokenizer_decode(tokenizer, (const gint32 *) (gpointer) ids->data, ids->len);
    g_assert_cmpstr(text, ==, "a dog 's caf\u00e9 \U0001f355, ok ?");
    const gint32 strange[] = {-1, 170, 49405, 99999};
    g_autofree char *part = limn_tokenizer_decode(tokenizer, strange, 4);
    g_assert_true(g_utf8_validate(part, -1, NULL));
    g_assert_null(limn_tokenizer_get_piece(tokenizer, -1));
    g_assert_null(limn_tokenizer_get_piece(tokenizer, 49408));
    g_assert_cmpint(limn_tokenizer_get_size(tokenizer), ==, 49408);
    g_assert_cmpstr(limn_tokenizer_get_piece(tokenizer, 49407), ==, "<|endoftext|>");
}

static gpointer
encode_many(gpointer data)
{
    json_t *cases = data;
    g_autoptr(LimnTokenizer) tokenizer = get_clip();
    for (int round = 0; round < 5; round++)
        for (gsize i = 0; i < json_array_size(cases); i++) {
            const json_t *item = json_array_get(cases, i);
            g_autoptr(LimnTokens) tokens = encode_case(tokenizer, item, 0);
            check_ids(tokens, json_object_get(item, "ids"));
        }
    return NULL;
}

static void
test_threads(void)
{
    json_t *cases = load_cases("text/tokenizer-cases.json");
    GThread *threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = g_thread_new("encode", encode_many, cases);
    for (int i = 0; i < 4; i++)
        g_thread_join(threads[i]);
    json_decref(cases);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tokenizer/golden", test_golden);
    g_test_add_func("/hard/B45-reference", test_b45_reference);
    g_test_add_func("/hard/B46-long-texts", test_b46_long);
    g_test_add_func("/tokenizer/ranges", test_ranges);
    g_test_add_func("/tokenizer/bad-text", test_bad_text);
    g_test_add_func("/tokenizer/monsters", test_monsters);
    g_test_add_func("/tokenizer/decode", test_decode);
    g_test_add_func("/tokenizer/threads", test_threads);
    return g_test_run();
}

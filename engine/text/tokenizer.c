// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/tokenizer.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/text/text-repair.h"
#include "engine/text/tokenizer-private.h"

LimnTokenizer *
limn_tokenizer_new_take(LimnBpe *bpe, gint32 start, gint32 end)
{
    LimnTokenizer *tokenizer = g_new0(LimnTokenizer, 1);
    g_atomic_ref_count_init(&tokenizer->refs);
    tokenizer->bpe = bpe;
    tokenizer->start = start;
    tokenizer->end = end;
    return tokenizer;
}

LimnTokenizer *
limn_tokenizer_ref(LimnTokenizer *tokenizer)
{
    g_atomic_ref_count_inc(&tokenizer->refs);
    return tokenizer;
}

void
limn_tokenizer_unref(LimnTokenizer *tokenizer)
{
    if (tokenizer == NULL || !g_atomic_ref_count_dec(&tokenizer->refs))
        return;
    limn_bpe_free(tokenizer->bpe);
    g_free(tokenizer);
}

int
limn_tokenizer_get_size(LimnTokenizer *tokenizer)
{
    return (int) limn_bpe_get_size(tokenizer->bpe);
}

gint32
limn_tokenizer_get_start(LimnTokenizer *tokenizer)
{
    return tokenizer->start;
}

gint32
limn_tokenizer_get_end(LimnTokenizer *tokenizer)
{
    return tokenizer->end;
}

const char *
limn_tokenizer_get_piece(LimnTokenizer *tokenizer, gint32 id)
{
    return limn_bpe_get_text(tokenizer->bpe, id);
}

void
limn_tokens_free(LimnTokens *tokens)
{
    if (tokens == NULL)
        return;
    g_free(tokens->text);
    g_free(tokens->cleaned);
    g_array_unref(tokens->tokens);
    g_array_unref(tokens->words);
    g_free(tokens);
}

// --- Splitting
// --------------------------------------------------------------------------

// What is tried in this order at the beginning of a piece, before letters, numbers and
// the rest.
static const char *const LITERALS[] = {LIMN_START_TEXT, LIMN_END_TEXT, "'s",  "'t", "'re",
                                       "'ve",           "'m",          "'ll", "'d"};

// Length of an ASCII literal at `at`, 0 when there is another. Case does not count, which
// in lower-case text leaves the long s; *exact says whether it was none.
static guint
match_literal(const LimnChars *chars, guint at, const char *literal, gboolean *exact)
{
    guint n = strlen(literal);
    *exact = TRUE;
    if (n > chars->len - at)
        return 0;
    for (guint i = 0; i < n; i++) {
        gunichar c = limn_chars_at(chars, at + i)->c;
        if (c == 0x17f && literal[i] == 's')
            *exact = FALSE;
        else if (c != (guchar) literal[i])
            return 0;
    }
    return n;
}

typedef enum {
    CLASS_SPACE,
    CLASS_LETTER,
    CLASS_NUMBER,
    CLASS_OTHER,
} CharClass;

static CharClass
classify(gunichar c)
{
    // U+0345 is a mark, but the letter iota when case is ignored: no alternative of the
    // reference's pattern matches it, so that it separates pieces as a space does.
    if (limn_text_is_space(c) || c == 0x345)
        return CLASS_SPACE;
    switch (g_unichar_type(c)) {
    case G_UNICODE_LOWERCASE_LETTER:
    case G_UNICODE_UPPERCASE_LETTER:
    case G_UNICODE_TITLECASE_LETTER:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_OTHER_LETTER:
        return CLASS_LETTER;
    case G_UNICODE_DECIMAL_NUMBER:
    case G_UNICODE_LETTER_NUMBER:
    case G_UNICODE_OTHER_NUMBER:
        return CLASS_NUMBER;
    default:
        return CLASS_OTHER;
    }
}

// The end of the piece that begins at `at`, which is no space. *special is the literal
// that it is (0: start, 1: end), or -1.
static guint
find_piece_end(const LimnChars *chars, guint at, int *special)
{
    *special = -1;
    for (guint i = 0; i < G_N_ELEMENTS(LITERALS); i++) {
        gboolean exact;
        guint n = match_literal(chars, at, LITERALS[i], &exact);
        if (n > 0) {
            *special = i < 2 && exact ? (int) i : -1;
            return at + n;
        }
    }
    CharClass class = classify(limn_chars_at(chars, at)->c);
    guint end = at + 1;
    while (class != CLASS_NUMBER && end < chars->len &&
           classify(limn_chars_at(chars, end)->c) == class)
        end++;
    return end;
}

// --- Encoding
// ---------------------------------------------------------------------------

static void
append_token(LimnTokens *tokens, gint32 id, gsize begin, gsize end)
{
    LimnToken token = {id, begin, end};
    g_array_append_val(tokens->tokens, token);
}

// The tokens of characters [from, to): one word.
static void
append_word(LimnTokenizer *tokenizer, LimnTokens *tokens, const LimnChars *chars,
            guint from, guint to)
{
    g_autoptr(GString) piece = g_string_new(NULL);
    g_autoptr(GArray) owners = g_array_new(FALSE, FALSE, sizeof(guint)); // of the bytes
    g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(LimnBpeToken));
    for (guint i = from; i < to; i++) {
        g_string_append_unichar(piece, limn_chars_at(chars, i)->c);
        while (owners->len < piece->len)
            g_array_append_val(owners, i);
    }
    limn_bpe_encode(tokenizer->bpe, piece->str, piece->len, parts);
    guint at = 0;
    for (guint k = 0; k < parts->len; k++) {
        const LimnBpeToken *part = &g_array_index(parts, LimnBpeToken, k);
        guint first = g_array_index(owners, guint, at);
        guint last = g_array_index(owners, guint, at + part->bytes - 1);
        append_token(tokens, part->id, limn_chars_at(chars, first)->begin,
                     limn_chars_at(chars, last)->end);
        at += part->bytes;
    }
}

// Start token and the tokens of all pieces; stops when `context` (0: none) is exceeded.
static void
append_pieces(LimnTokenizer *tokenizer, LimnTokens *tokens, const LimnChars *chars,
              int context)
{
    append_token(tokens, tokenizer->start, 0, 0);
    for (guint at = 0; at < chars->len;) {
        int special;
        if (classify(limn_chars_at(chars, at)->c) == CLASS_SPACE) {
            at++;
            continue;
        }
        if (context > 0 && tokens->tokens->len >= (guint) context)
            break;
        guint end = find_piece_end(chars, at, &special);
        guint first = tokens->tokens->len;
        if (special >= 0)
            append_token(tokens, special == 0 ? tokenizer->start : tokenizer->end,
                         limn_chars_at(chars, at)->begin,
                         limn_chars_at(chars, end - 1)->end);
        else
            append_word(tokenizer, tokens, chars, at, end);
        LimnTokenWord word = {limn_chars_at(chars, at)->begin,
                              limn_chars_at(chars, end - 1)->end, (int) first,
                              (int) tokens->tokens->len - 1};
        g_array_append_val(tokens->words, word);
        at = end;
    }
}

// Leaves `context` - 1 tokens; a word that is cut keeps the range of what is left of it.
static void
truncate_tokens(LimnTokens *tokens, int context)
{
    tokens->truncated = TRUE;
    g_array_set_size(tokens->tokens, context - 1);
    while (tokens->words->len > 0) {
        LimnTokenWord *word =
            &g_array_index(tokens->words, LimnTokenWord, tokens->words->len - 1);
        if (word->first < context - 1) {
            word->last = MIN(word->last, context - 2);
            word->end = g_array_index(tokens->tokens, LimnToken, word->last).end;
            break;
        }
        g_array_set_size(tokens->words, tokens->words->len - 1);
    }
    tokens->used_bytes = g_array_index(tokens->tokens, LimnToken, context - 2).end;
}

static gboolean
check_text(const char *text, gsize size, GError **error)
{
    if (size > LIMN_TOKENIZER_MAX_TEXT) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "the text has %" G_GSIZE_FORMAT " bytes (expected at most %d)", size,
                    LIMN_TOKENIZER_MAX_TEXT);
        return FALSE;
    }
    for (const char *p = text; p < text + size; p++) {
        const char *end = NULL;
        if (g_utf8_validate_len(p, text + size - p, &end))
            return TRUE;
        p = end;
        if (*p != '\0') {
            g_set_error(
                error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "the text is not valid UTF-8 (found 0x%02x at byte %" G_GSIZE_FORMAT ")",
                (guint) (guchar) *p, (gsize) (p - text));
            return FALSE;
        }
    }
    return TRUE;
}

LimnTokens *
limn_tokenizer_encode_bytes(LimnTokenizer *tokenizer, const char *text, gsize size,
                            int context, GError **error)
{
    if (!check_text(text, size, error))
        return NULL;
    if (context != 0 && context < 2) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "a context of %d tokens cannot hold a text (expected at least 2)",
                    context);
        return NULL;
    }
    g_autoptr(GArray) chars = limn_text_clean(text, size);
    LimnTokens *tokens = g_new0(LimnTokens, 1);
    tokens->text = g_malloc(size + 1);
    memcpy(tokens->text, text, size);
    tokens->text[size] = '\0';
    tokens->text_size = size;
    tokens->used_bytes = size;
    tokens->cleaned = limn_chars_to_utf8(chars);
    tokens->tokens = g_array_new(FALSE, FALSE, sizeof(LimnToken));
    tokens->words = g_array_new(FALSE, FALSE, sizeof(LimnTokenWord));
    append_pieces(tokenizer, tokens, chars, context);
    if (context > 0 && tokens->tokens->len >= (guint) context)
        truncate_tokens(tokens, context);
    append_token(tokens, tokenizer->end, tokens->used_bytes, tokens->used_bytes);
    while (g_array_index(tokens->tokens, LimnToken, tokens->end_index).id !=
           tokenizer->end)
        tokens->end_index++;
    return tokens;
}

LimnTokens *
limn_tokenizer_encode(LimnTokenizer *tokenizer, const char *text, int context,
                      GError **error)
{
    return limn_tokenizer_encode_bytes(tokenizer, text, strlen(text), context, error);
}

// --- Decoding
// ---------------------------------------------------------------------------

// Appends the bytes of a piece; its "</w>" becomes a space.
static void
append_piece_bytes(GString *bytes, const char *piece)
{
    gboolean ends = g_str_has_suffix(piece, LIMN_BPE_WORD_END);
    const char *stop = piece + strlen(piece) - (ends ? strlen(LIMN_BPE_WORD_END) : 0);
    for (const char *p = piece; p < stop; p = limn_utf8_next(p)) {
        gunichar c = g_utf8_get_char(p);
        guint8 byte;
        if (limn_bpe_symbol_byte(c, &byte))
            g_string_append_c(bytes, (char) byte);
        else
            g_string_append_unichar(bytes, c);
    }
    if (ends)
        g_string_append_c(bytes, ' ');
}

char *
limn_tokenizer_decode(LimnTokenizer *tokenizer, const gint32 *ids, gsize n)
{
    g_autoptr(GString) bytes = g_string_new(NULL);
    for (gsize i = 0; i < n && ids[i] != tokenizer->end; i++) {
        const char *piece = limn_bpe_get_text(tokenizer->bpe, ids[i]);
        if (ids[i] != tokenizer->start && piece != NULL)
            append_piece_bytes(bytes, piece);
    }
    if (bytes->len > 0 && bytes->str[bytes->len - 1] == ' ')
        g_string_truncate(bytes, bytes->len - 1);
    return g_utf8_make_valid(bytes->str, (gssize) bytes->len);
}

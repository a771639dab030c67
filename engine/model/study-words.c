// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/study-words.h"

#include <string.h>

static void
append_token(LimnTextItem *item, LimnClip *clip, gint32 id, gsize begin, gsize end,
             float weight)
{
    LimnTokenizer *tokenizer = limn_clip_get_tokenizer(clip);
    LimnTextToken token = {
        .id = id,
        .begin = begin,
        .end = end,
        .piece =
            g_strdup(tokenizer != NULL ? limn_tokenizer_get_piece(tokenizer, id) : NULL),
        .weight = (double) weight,
    };
    g_array_append_val(item->tokens, token);
}

static void
add_from_tokens(LimnTextItem *item, LimnClip *clip, const LimnExplanation *explanation)
{
    const LimnTokens *tokens = explanation->tokens;
    const float *weights = limn_array_f32(explanation->token_weights);
    gint64 n = explanation->token_weights->length;
    for (gint64 i = 0; i < n && i + 1 < (gint64) tokens->tokens->len; i++) {
        const LimnToken *token = &g_array_index(tokens->tokens, LimnToken, i + 1);
        append_token(item, clip, token->id, token->begin, token->end, weights[i]);
    }
    for (guint i = 0; explanation->word_weights != NULL && i < tokens->words->len; i++) {
        const LimnTokenWord *word = &g_array_index(tokens->words, LimnTokenWord, i);
        LimnTextWord out = {word->begin, word->end,
                            g_array_index(explanation->word_weights, double, i)};
        g_array_append_val(item->words, out);
    }
}

// Where the text of the first n tokens behind the start ends in the decoded sentence.
static gsize
decoded_end(LimnTokenizer *tokenizer, const gint32 *ids, gint64 n)
{
    g_autofree char *text = limn_tokenizer_decode(tokenizer, ids + 1, (gsize) n);
    return strlen(g_strstrip(text));
}

// Tokens are placed by decoding longer and longer beginnings of the sentence.
static void
add_from_ids(LimnTextItem *item, LimnClip *clip, const gint32 *ids, int n_ids,
             const LimnExplanation *explanation)
{
    LimnTokenizer *tokenizer = limn_clip_get_tokenizer(clip);
    const float *weights = limn_array_f32(explanation->token_weights);
    gint64 n = MIN(explanation->token_weights->length, (gint64) n_ids - 1);
    gsize length = strlen(item->text), at = 0, word_begin = 0;
    double word_weight = 0;
    gboolean in_word = FALSE;
    for (gint64 i = 0; i < n; i++) {
        gsize end = tokenizer != NULL ? decoded_end(tokenizer, ids, i + 1) : 0;
        end = CLAMP(end, at, length);
        gsize begin = at;
        while (begin < end && item->text[begin] == ' ') {
            begin++;
        }
        append_token(item, clip, ids[i + 1], begin, end, weights[i]);
        const char *piece =
            tokenizer != NULL ? limn_tokenizer_get_piece(tokenizer, ids[i + 1]) : NULL;
        word_begin = in_word ? word_begin : begin;
        word_weight = (in_word ? word_weight : 0) + (double) weights[i];
        in_word = piece != NULL;
        if (piece != NULL && g_str_has_suffix(piece, "</w>")) {
            LimnTextWord word = {word_begin, end, word_weight};
            g_array_append_val(item->words, word);
            in_word = FALSE;
        }
        at = end;
    }
}

LimnTextItem *
limn_study_make_words(LimnClip *clip, const char *text, const gint32 *ids, int n_ids,
                      const LimnExplanation *explanation)
{
    const LimnTokens *tokens = explanation->tokens;
    LimnTextItem *item =
        limn_text_item_new(tokens != NULL && tokens->text != NULL ? tokens->text : text);
    item->score = explanation->cosine;
    if (tokens != NULL) {
        item->truncated = tokens->truncated;
        item->used_bytes = tokens->used_bytes;
    }
    if (explanation->token_weights == NULL) {
        return item;
    }
    if (tokens != NULL) {
        add_from_tokens(item, clip, explanation);
    } else if (ids != NULL) {
        add_from_ids(item, clip, ids, n_ids, explanation);
    }
    return item;
}

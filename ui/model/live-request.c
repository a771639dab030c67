// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/live-request.h"

#include <string.h>

static void
item_free(gpointer data)
{
    LimnLiveItem *item = data;

    g_free(item->text);
    g_free(item->other_text);
    g_free(item->identity);
    g_free(item);
}

LimnLiveRequest *
limn_live_request_new(const char *model, LimnImage *image, LimnPreprocessMode mode,
                      int keep_limit)
{
    LimnLiveRequest *self = g_new0(LimnLiveRequest, 1);

    g_atomic_ref_count_init(&self->refs);
    self->model = g_strdup(model);
    self->image = limn_image_ref(image);
    self->mode = mode;
    self->keep_limit = keep_limit;
    self->threads = 1;
    self->items = g_ptr_array_new_with_free_func(item_free);
    self->prompts = g_ptr_array_new_with_free_func(g_free);
    self->scored = g_ptr_array_new(); // belong to the prompts
    return self;
}

LimnLiveRequest *
limn_live_request_ref(LimnLiveRequest *self)
{
    g_atomic_ref_count_inc(&self->refs);
    return self;
}

void
limn_live_request_unref(LimnLiveRequest *self)
{
    if (!self || !g_atomic_ref_count_dec(&self->refs))
        return;
    g_free(self->model);
    limn_image_unref(self->image);
    g_ptr_array_unref(self->items);
    g_ptr_array_unref(self->scored);
    g_ptr_array_unref(self->prompts);
    g_free(self);
}

LimnLiveItem *
limn_live_request_add(LimnLiveRequest *self, guint key, const LimnExplainOptions *options,
                      LimnSide side, const char *text)
{
    LimnLiveItem *item = g_new0(LimnLiveItem, 1);

    item->key = key;
    item->options = *options;
    item->other_options = *options;
    item->side = side;
    item->text = g_strdup(text);
    item->query_row = item->query_col = -1;
    g_ptr_array_add(self->items, item);
    return item;
}

void
limn_live_request_add_prompt(LimnLiveRequest *self, const char *text, gboolean score)
{
    char *copy = g_strdup(text);

    g_ptr_array_add(self->prompts, copy);
    if (score)
        g_ptr_array_add(self->scored, copy);
}

LimnLiveResult *
limn_live_result_new(const LimnLiveRequest *request, const LimnLiveItem *item)
{
    LimnLiveResult *self = g_new0(LimnLiveResult, 1);

    g_atomic_ref_count_init(&self->refs);
    self->serial = request->serial;
    self->tag = request->tag;
    if (item) {
        self->key = item->key;
        self->identity = g_strdup(item->identity);
        self->text = g_strdup(item->text);
        self->method = item->options.method;
        self->other_text = g_strdup(item->other_text);
        self->other_method = item->other_options.method;
    }
    return self;
}

LimnLiveResult *
limn_live_result_ref(LimnLiveResult *self)
{
    g_atomic_ref_count_inc(&self->refs);
    return self;
}

void
limn_live_result_unref(LimnLiveResult *self)
{
    if (!self || !g_atomic_ref_count_dec(&self->refs))
        return;
    g_free(self->identity);
    g_free(self->text);
    g_free(self->other_text);
    g_clear_error(&self->error);
    g_clear_pointer(&self->explanation, limn_explanation_free);
    g_clear_pointer(&self->other, limn_explanation_free);
    g_clear_pointer(&self->difference, limn_array_unref);
    g_clear_pointer(&self->words, limn_text_item_free);
    g_free(self);
}

LimnTextItem *
limn_text_item_from_explanation(const LimnExplanation *explanation, const char *text,
                                LimnTokenizer *tokenizer)
{
    const LimnTokens *tokens = explanation->tokens;
    LimnTextItem *item;

    if (!tokens)
        return NULL;
    item = limn_text_item_new(text);
    item->score = explanation->cosine;
    item->truncated = tokens->truncated;
    item->used_bytes = tokens->used_bytes;
    for (guint i = 0; i < tokens->tokens->len; i++) {
        const LimnToken *token = &g_array_index(tokens->tokens, LimnToken, i);
        LimnTextToken out = {token->id, token->begin, token->end, NULL, 0};

        out.piece = g_strdup(limn_tokenizer_get_piece(tokenizer, token->id));
        // weights are of the tokens 1 ... E-1: the start token has none
        if (explanation->token_weights && i > 0 &&
            i <= explanation->token_weights->length)
            out.weight = limn_array_get_double(explanation->token_weights, i - 1);
        g_array_append_val(item->tokens, out);
    }
    for (guint i = 0; i < tokens->words->len; i++) {
        const LimnTokenWord *word = &g_array_index(tokens->words, LimnTokenWord, i);
        LimnTextWord out = {word->begin, word->end, 0};

        if (explanation->word_weights && i < explanation->word_weights->len)
            out.weight = g_array_index(explanation->word_weights, double, i);
        g_array_append_val(item->words, out);
    }
    return item;
}

LimnArtifact *
limn_artifact_from_maps(const char *name, GPtrArray *maps, const char *const *labels,
                        LimnImage *picture, const LimnRect *rect, gboolean is_signed,
                        GError **error)
{
    const LimnArray *first = maps->pdata[0];
    gint64 shape[3] = {maps->len, first->shape[0], first->shape[1]};
    g_autoptr(LimnArray) field = limn_array_new(LIMN_DTYPE_F32, 3, shape, error);
    LimnArtifact *artifact;

    if (!field)
        return NULL;
    for (guint i = 0; i < maps->len; i++) {
        const LimnArray *map = maps->pdata[i];

        g_return_val_if_fail(map->length == first->length, NULL);
        memcpy(limn_array_f32(field) + i * first->length, map->data,
               (gsize) first->length * sizeof(float));
    }
    artifact = limn_artifact_new_heatmap(name, field);
    artifact->is_signed = is_signed;
    for (guint i = 0; i < maps->len; i++)
        limn_artifact_add_label(artifact, labels[i]);
    if (picture)
        limn_artifact_set_picture(artifact, picture, rect);
    return artifact;
}

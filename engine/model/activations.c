// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/activations.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/base/parallel.h"
#include "engine/model/clip-private.h"

// ---- names

static const char *const part_names[] = {"residual", "attention", "mlp"};

const char *
limn_layer_part_name(LimnLayerPart part)
{
    return part_names[part];
}

char *
limn_layer_dup_name(const LimnLayer *layer)
{
    return g_strdup_printf("%s.%d.%s", layer->text ? "text" : "vision", layer->block,
                           part_names[layer->part]);
}

static const LimnTower *
tower_of(LimnClip *clip, const LimnLayer *layer)
{
    return layer->text ? &clip->text : &clip->vision;
}

gint64
limn_layer_width(LimnClip *clip, const LimnLayer *layer)
{
    const LimnTowerConfig *config = &tower_of(clip, layer)->config;
    return layer->part == LIMN_LAYER_MLP ? config->mlp : config->width;
}

GArray *
limn_clip_list_layers(LimnClip *clip)
{
    GArray *layers = g_array_new(FALSE, FALSE, sizeof(LimnLayer));
    for (int text = 0; text <= clip->config.has_text; text++) {
        int n = text ? clip->config.text.layers : clip->config.vision.layers;
        for (int block = 0; block < n; block++) {
            for (guint part = 0; part < G_N_ELEMENTS(part_names); part++) {
                LimnLayer layer = {text == 1, block, (LimnLayerPart) part};
                g_array_append_val(layers, layer);
            }
        }
    }
    return layers;
}

// "vision.4.mlp" -> layer; FALSE when it is not of that form.
static gboolean
split_name(const char *name, LimnLayer *layer, gint64 *block)
{
    g_auto(GStrv) parts = g_strsplit(name, ".", 4);
    if (g_strv_length(parts) != 3 || !limn_integer_parse(parts[1], block)) {
        return FALSE;
    }
    layer->text = strcmp(parts[0], "text") == 0;
    if (!layer->text && strcmp(parts[0], "vision") != 0) {
        return FALSE;
    }
    for (guint part = 0; part < G_N_ELEMENTS(part_names); part++) {
        if (strcmp(parts[2], part_names[part]) == 0) {
            layer->part = (LimnLayerPart) part;
            return TRUE;
        }
    }
    return FALSE;
}

gboolean
limn_layer_parse(LimnClip *clip, const char *key, const char *name, LimnLayer *layer,
                 GError **error)
{
    const LimnClipConfig *config = &clip->config;
    gint64 block = 0;
    if (name == NULL || *name == '\0') {
        *layer = (LimnLayer){FALSE, config->vision.layers - 1, LIMN_LAYER_MLP};
        return TRUE;
    }
    if (split_name(name, layer, &block) && (!layer->text || config->has_text) &&
        block >= 0 &&
        block < (layer->text ? config->text.layers : config->vision.layers)) {
        layer->block = (int) block;
        return TRUE;
    }
    g_autofree char *text = config->has_text ? g_strdup_printf(" or text.0 to text.%d",
                                                               config->text.layers - 1)
                                             : g_strdup("");
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "%s=%s: %s has no such layer (expected TOWER.BLOCK.PART: vision.0 to "
                "vision.%d%s with residual, attention or mlp)",
                key, name, clip->name, config->vision.layers - 1, text);
    return FALSE;
}

// ---- pooling

typedef struct {
    const LimnAttention *shape; // pool NULL
    const gsize *pool;
    LimnPooling pooling;
    const float *rows; // [rows, width]
    gsize width;
    float *out; // [n, width]
} Pool;

static void
pool_sequence(gsize s, gpointer data)
{
    const Pool *p = data;
    gsize begin = p->shape->begin[s], end = p->shape->begin[s + 1];
    float *out = p->out + s * p->width;
    if (p->pooling == LIMN_POOL_FIRST) {
        memcpy(out, p->rows + p->pool[s] * p->width, p->width * sizeof *out);
        return;
    }
    for (gsize j = 0; j < p->width; j++) {
        double sum = 0;
        float largest = -INFINITY;
        for (gsize i = begin; i < end; i++) {
            float value = p->rows[i * p->width + j];
            sum += value;
            largest = MAX(largest, value);
        }
        out[j] = p->pooling == LIMN_POOL_AVG ? (float) (sum / (double) (end - begin))
                                             : largest;
    }
}

// The unit at every row behind the class token.
static void
copy_maps(const LimnAttention *shape, const float *rows, gsize width, gint64 unit,
          float *map)
{
    for (gsize s = 0; s < shape->n; s++) {
        for (gsize i = shape->begin[s] + 1; i < shape->begin[s + 1]; i++) {
            *map++ = rows[i * width + (gsize) unit];
        }
    }
}

// ---- through a tower

typedef struct {
    LimnClip *clip;
    LimnLayer layer;
    LimnPooling pooling;
    LimnAttention shape; // every row asks
    const gsize *pool;   // [n] row that becomes the embedding
    const LimnRecord *record;
} Batch;

// What the attention of the block adds: attention once more, then its output projection.
static float *
attention_output(const Batch *b, const LimnTower *tower, const LimnBlockTrace *trace,
                 LimnJob *job, GError **error)
{
    gsize rows = trace->rows, width = (gsize) tower->config.width;
    const LimnAffine *out = &tower->blocks[b->layer.block].out;
    g_autoptr(LimnFloats) o = limn_floats_new(rows, width, error);
    g_autoptr(LimnFloats) y = o != NULL ? limn_floats_new(rows, width, error) : NULL;
    if (y == NULL) {
        return NULL;
    }
    limn_attention_forward(job, &b->shape, trace->q, trace->k, trace->v, o);
    limn_kernel_linear(job, rows, width, width, o, out->weight, out->bias, y);
    return g_steal_pointer(&y);
}

static gboolean
record_layer(const Batch *b, const LimnTower *tower, const LimnBlockTrace *trace,
             const LimnBlockScratch *scratch, const float *y, LimnJob *job,
             GError **error)
{
    const LimnRecord *record = b->record;
    gsize width = (gsize) limn_layer_width(b->clip, &b->layer);
    g_autoptr(LimnFloats) own = NULL;
    const float *rows = b->layer.part == LIMN_LAYER_MLP ? scratch->h : y;
    if (b->layer.part == LIMN_LAYER_ATTENTION) {
        rows = own = attention_output(b, tower, trace, job, error);
    }
    if (rows == NULL) {
        return FALSE;
    }
    if (record->map != NULL) {
        copy_maps(&b->shape, rows, width, record->map_unit, record->map);
    }
    if (record->pooled == NULL) {
        return TRUE;
    }
    Pool pool = {&b->shape, b->pool, b->pooling, rows, width, record->pooled};
    limn_parallel_for(job, b->shape.n, pool_sequence, &pool);
    return limn_job_check(job, error) &&
           limn_clip_check_finite(b->clip, b->layer.text, record->pooled,
                                  b->shape.n * width, job, error);
}

// y [rows, C] behind the last block -> embeddings of the pool rows.
static gboolean
record_embeddings(const Batch *b, const LimnTower *tower, const float *y, LimnJob *job,
                  GError **error)
{
    gsize width = (gsize) tower->config.width, n = b->shape.n;
    g_autoptr(LimnFloats) asking = limn_floats_new(n, width, error);
    if (asking == NULL) {
        return FALSE;
    }
    for (gsize s = 0; s < n; s++) {
        memcpy(asking + s * width, y + b->pool[s] * width, width * sizeof *asking);
    }
    return limn_tower_project(job, tower, n, asking, b->record->embeddings, error) &&
           limn_job_check(job, error) &&
           limn_clip_check_finite(b->clip, b->layer.text, b->record->embeddings,
                                  n * (gsize) tower->embedding, job, error);
}

// x [rows, C]: the rows before block 0, overwritten.
static gboolean
record_batch(const Batch *b, float *x, LimnJob *job, GError **error)
{
    const LimnTower *tower = tower_of(b->clip, &b->layer);
    int last = b->record->embeddings != NULL ? tower->config.layers - 1 : b->layer.block;
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &b->shape, error);
    if (trace == NULL || !limn_block_scratch_init(&scratch, tower, &b->shape, error)) {
        return FALSE;
    }
    for (int block = 0; block <= last; block++) {
        if (!limn_job_check(job, error)) {
            return FALSE;
        }
        limn_block_forward(job, tower, block, &b->shape, x, trace, &scratch, x);
        if (block == b->layer.block &&
            !record_layer(b, tower, trace, &scratch, x, job, error)) {
            return FALSE;
        }
    }
    return b->record->embeddings == NULL || record_embeddings(b, tower, x, job, error);
}

// The part of a record that belongs to input `first`.
static LimnRecord
record_from(const LimnRecord *record, gsize first, gsize width, gsize embedding,
            gsize cells)
{
    LimnRecord part = *record;
    part.pooled = record->pooled != NULL ? record->pooled + first * width : NULL;
    part.embeddings =
        record->embeddings != NULL ? record->embeddings + first * embedding : NULL;
    part.map = record->map != NULL ? record->map + first * cells : NULL;
    return part;
}

// ---- pictures

// Every input goes through the tower alone, several at a time: so its numbers do not
// depend on which others are recorded.
typedef struct {
    LimnClip *clip;
    const LimnLayer *layer;
    LimnPooling pooling;
    const LimnRecord *record;
    gsize width;
    LimnJob *job;
    // pictures
    const float *pixels;
    int height, picture_width;
    gsize cells;
    // sentences: ids up to the end token
    gint32 **ids;
    gsize *lengths;
} Inputs;

static gboolean
record_picture(gsize i, gpointer data, GError **error)
{
    const Inputs *in = data;
    gsize rows = 1 + in->cells, columns = (gsize) in->clip->config.vision.width;
    gsize plane = 3 * (gsize) in->height * (gsize) in->picture_width;
    const gsize begin[2] = {0, rows};
    g_autoptr(LimnFloats) x = limn_floats_new(rows, columns, error);
    if (x == NULL ||
        !limn_clip_embed_pixels(in->clip, in->pixels + i * plane, in->height,
                                in->picture_width, FALSE, x, in->job, error)) {
        return FALSE;
    }
    LimnRecord record = record_from(in->record, i, in->width,
                                    (gsize) in->clip->config.projection, in->cells);
    Batch batch = {
        .clip = in->clip,
        .layer = *in->layer,
        .pooling = in->pooling,
        .shape = {.n = 1,
                  .begin = begin,
                  .heads = (gsize) in->clip->config.vision.heads,
                  .width = columns},
        .pool = begin,
        .record = &record,
    };
    return record_batch(&batch, x, in->job, error);
}

gboolean
limn_layer_record_pixels(LimnClip *clip, const LimnLayer *layer, LimnPooling pooling,
                         const LimnArray *pixels, const LimnRecord *record, LimnJob *job,
                         GError **error)
{
    g_return_val_if_fail(!layer->text && pixels->rank == 4, FALSE);
    int gh, gw, height = (int) pixels->shape[2], width = (int) pixels->shape[3];
    if (!limn_clip_check_size(clip, height, width, &gh, &gw, error)) {
        return FALSE;
    }
    Inputs in = {.clip = clip,
                 .layer = layer,
                 .pooling = pooling,
                 .record = record,
                 .width = (gsize) limn_layer_width(clip, layer),
                 .job = job,
                 .pixels = limn_array_f32(pixels),
                 .height = height,
                 .picture_width = width,
                 .cells = (gsize) gh * (gsize) gw};
    return limn_parallel_try(job, (gsize) pixels->shape[0], record_picture, &in, error);
}

// ---- sentences

static gboolean
tokenize(LimnClip *clip, const char *text, gint32 **ids, gsize *length, LimnJob *job,
         GError **error)
{
    g_autoptr(LimnTokens) tokens = NULL;
    gsize pool;
    if (!limn_clip_tokenize(clip, text, &tokens, ids, job, error) ||
        !limn_clip_check_ids(clip, *ids, tokens->tokens->len, &pool, error)) {
        return FALSE;
    }
    *length = pool + 1;
    return TRUE;
}

static gboolean
record_sentence(gsize i, gpointer data, GError **error)
{
    const Inputs *in = data;
    gsize rows = in->lengths[i], width = (gsize) in->clip->config.text.width;
    const gsize begin[2] = {0, rows}, pool = rows - 1;
    g_autoptr(LimnFloats) x = limn_floats_new(rows, width, error);
    if (x == NULL) {
        return FALSE;
    }
    limn_clip_embed_ids(in->clip, in->ids[i], rows, x);
    LimnRecord record =
        record_from(in->record, i, in->width, (gsize) in->clip->config.projection, 0);
    Batch batch = {
        .clip = in->clip,
        .layer = *in->layer,
        .pooling = in->pooling,
        .shape = {.n = 1,
                  .begin = begin,
                  .heads = (gsize) in->clip->config.text.heads,
                  .width = width,
                  .causal = TRUE},
        .pool = &pool,
        .record = &record,
    };
    return record_batch(&batch, x, in->job, error);
}

gboolean
limn_layer_record_texts(LimnClip *clip, const LimnLayer *layer, LimnPooling pooling,
                        const char *const *texts, gsize n, const LimnRecord *record,
                        LimnJob *job, GError **error)
{
    g_return_val_if_fail(layer->text, FALSE);
    if (!limn_clip_check_tables(clip, job, error)) {
        return FALSE;
    }
    Inputs in = {.clip = clip,
                 .layer = layer,
                 .pooling = pooling,
                 .record = record,
                 .width = (gsize) limn_layer_width(clip, layer),
                 .job = job,
                 .ids = g_new0(gint32 *, n + 1),
                 .lengths = g_new0(gsize, n + 1)};
    gboolean good = TRUE;
    for (gsize i = 0; i < n && good; i++) {
        good = tokenize(clip, texts[i], &in.ids[i], &in.lengths[i], job, error);
    }
    good = good && limn_parallel_try(job, n, record_sentence, &in, error);
    for (gsize i = 0; i < n; i++) {
        g_free(in.ids[i]);
    }
    g_free(in.ids);
    g_free(in.lengths);
    return good;
}

// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/activations.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/base/parallel.h"
#include "engine/model/clip-private.h"

// Rows (tokens) that go through the tower together, about.
#define GROUP_ROWS ((gsize) 4096)

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

// ---- one batch through a tower

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

// A record of the inputs from `first` on.
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

static gboolean
record_pictures(LimnClip *clip, const LimnLayer *layer, LimnPooling pooling,
                const float *pixels, gsize n, int height, int width, gsize cells,
                const LimnRecord *record, LimnJob *job, GError **error)
{
    gsize rows = 1 + cells, columns = (gsize) clip->config.vision.width;
    gsize plane = 3 * (gsize) height * (gsize) width;
    g_autofree gsize *begin = g_new(gsize, n + 1);
    g_autoptr(LimnFloats) x = limn_floats_new(n * rows, columns, error);
    if (x == NULL) {
        return FALSE;
    }
    for (gsize i = 0; i <= n; i++) {
        begin[i] = i * rows;
        if (i < n && !limn_clip_embed_pixels(clip, pixels + i * plane, height, width,
                                             FALSE, x + i * rows * columns, job, error)) {
            return FALSE;
        }
    }
    Batch batch = {
        .clip = clip,
        .layer = *layer,
        .pooling = pooling,
        .shape = {.n = n,
                  .begin = begin,
                  .heads = (gsize) clip->config.vision.heads,
                  .width = columns},
        .pool = begin,
        .record = record,
    };
    return record_batch(&batch, x, job, error);
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
    gsize n = (gsize) pixels->shape[0], cells = (gsize) gh * (gsize) gw;
    gsize plane = 3 * (gsize) height * (gsize) width;
    gsize group = MAX(GROUP_ROWS / (cells + 1), 1);
    for (gsize i = 0; i < n; i += group) {
        LimnRecord part = record_from(record, i, (gsize) limn_layer_width(clip, layer),
                                      (gsize) clip->config.projection, cells);
        if (!record_pictures(clip, layer, pooling, limn_array_f32(pixels) + i * plane,
                             MIN(group, n - i), height, width, cells, &part, job,
                             error)) {
            return FALSE;
        }
    }
    return TRUE;
}

// ---- sentences

typedef struct {
    GArray *ids;          // gint32, sentences up to their end tokens
    GArray *begin, *pool; // gsize
} Sentences;

static void
sentences_clear(Sentences *s)
{
    g_array_unref(s->ids);
    g_array_unref(s->begin);
    g_array_unref(s->pool);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sentences, sentences_clear)

static gboolean
add_sentence(LimnClip *clip, Sentences *s, const char *text, LimnJob *job, GError **error)
{
    g_autoptr(LimnTokens) tokens = NULL;
    g_autofree gint32 *ids = NULL;
    gsize pool;
    if (!limn_clip_tokenize(clip, text, &tokens, &ids, job, error) ||
        !limn_clip_check_ids(clip, ids, tokens->tokens->len, &pool, error)) {
        return FALSE;
    }
    gsize row = s->ids->len + pool, end = row + 1;
    g_array_append_vals(s->ids, ids, (guint) pool + 1);
    g_array_append_val(s->pool, row);
    g_array_append_val(s->begin, end);
    return TRUE;
}

static gboolean
record_sentences(LimnClip *clip, const LimnLayer *layer, LimnPooling pooling,
                 const Sentences *s, const LimnRecord *record, LimnJob *job,
                 GError **error)
{
    gsize n = s->pool->len, width = (gsize) clip->config.text.width;
    const gsize *begin = (const gsize *) (gpointer) s->begin->data;
    g_autoptr(LimnFloats) x = limn_floats_new(s->ids->len, width, error);
    if (x == NULL) {
        return FALSE;
    }
    for (gsize i = 0; i < n; i++) {
        limn_clip_embed_ids(clip, &g_array_index(s->ids, gint32, begin[i]),
                            begin[i + 1] - begin[i], x + begin[i] * width);
    }
    Batch batch = {
        .clip = clip,
        .layer = *layer,
        .pooling = pooling,
        .shape = {.n = n,
                  .begin = begin,
                  .heads = (gsize) clip->config.text.heads,
                  .width = width,
                  .causal = TRUE},
        .pool = (const gsize *) (gpointer) s->pool->data,
        .record = record,
    };
    return record_batch(&batch, x, job, error);
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
    for (gsize first = 0, next; first < n; first = next) {
        gsize zero = 0;
        g_auto(Sentences) s = {g_array_new(FALSE, FALSE, sizeof(gint32)),
                               g_array_new(FALSE, FALSE, sizeof(gsize)),
                               g_array_new(FALSE, FALSE, sizeof(gsize))};
        g_array_append_val(s.begin, zero);
        for (next = first; next < n && s.ids->len < GROUP_ROWS; next++) {
            if (!add_sentence(clip, &s, texts[next], job, error)) {
                return FALSE;
            }
        }
        LimnRecord part =
            record_from(record, first, (gsize) limn_layer_width(clip, layer),
                        (gsize) clip->config.projection, 0);
        if (!record_sentences(clip, layer, pooling, &s, &part, job, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

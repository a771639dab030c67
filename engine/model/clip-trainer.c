// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/clip-trainer.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/nn/buffer.h"
#include "engine/nn/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_TEXTS ((guint64) 0x7e << 40)
#define EVALUATION_SEED 0x5eedf00dULL
#define EVALUATION_BATCH 50
#define EVALUATION_FRAME 1 // "a photo of a NAME", where there are frames

// The tokens of one text, padded with the end token when they are put into a batch.
typedef struct {
    gint32 *ids;
    int length; // start and end included
} Encoded;

// What a text says: the names that a picture must show.
typedef struct {
    const Encoded *tokens;
    guint32 names[LIMN_SCENE_MAX_OBJECTS];
    int n_names;
} Text;

struct LimnClipTrainer {
    LimnClipNetwork *network;
    LimnTokenizer *tokenizer;
    LimnClipSource source;
    LimnJob *job;
    LimnClipTrainerOptions options;
    guint32 *names;
    guint n_names;
    LimnOptimizer *optimizer;
    LimnTape *tape;
    Encoded **frames; // [name] -> one per frame, filled when first used
    LimnScene **scenes;
    double flops;
};

void
limn_clip_trainer_options_init(LimnClipTrainerOptions *options, int image_size)
{
    *options = (LimnClipTrainerOptions){.batch = 64,
                                        .steps = 5000,
                                        .warmup = 100,
                                        .rate = 1e-3,
                                        .weight_decay = 0.02,
                                        .sampled_names = 256,
                                        .pool_start = 40,
                                        .pool_grow = 0.5,
                                        .single_share = 0.05,
                                        .scale_frozen = 0.1,
                                        .mean = {0.4815f, 0.4578f, 0.4082f},
                                        .std = {0.2686f, 0.2613f, 0.2758f}};
    limn_scene_options_init(&options->scenes, image_size);
}

// ---- drawings as a source

static char *
drawing_caption(gpointer data, guint32 name, guint frame)
{
    const char *title = limn_drawings_get_name(data, name);
    return limn_scene_caption(frame, &title, 1);
}

static LimnScene *
drawing_scene(gpointer data, const LimnSceneOptions *options, guint64 seed,
              guint64 number, GError **error)
{
    return limn_scene_compose(data, options, seed, number, error);
}

LimnClipSource
limn_clip_source_of_drawings(LimnDrawings *drawings)
{
    return (LimnClipSource){drawings, limn_drawings_n_names(drawings),
                            limn_scene_n_frames(), drawing_caption, drawing_scene};
}

// ---- texts

static gboolean
encode_text(LimnClipTrainer *t, const char *text, Encoded *out, GError **error)
{
    int context = limn_clip_network_get_shape(t->network)->context;
    g_autoptr(LimnTokens) tokens =
        limn_tokenizer_encode(t->tokenizer, text, context, error);
    if (!tokens)
        return FALSE;
    out->length = tokens->end_index + 1;
    out->ids = g_new(gint32, out->length);
    for (int i = 0; i < out->length; i++)
        out->ids[i] = g_array_index(tokens->tokens, LimnToken, i).id;
    return TRUE;
}

static const Encoded *
framed_name(LimnClipTrainer *t, guint32 name, guint frame, GError **error)
{
    if (!t->frames[name])
        t->frames[name] = g_new0(Encoded, t->source.n_frames);
    Encoded *entry = &t->frames[name][frame];
    if (!entry->ids) {
        g_autofree char *text = t->source.caption(t->source.data, name, frame);
        if (!encode_text(t, text, entry, error))
            return NULL;
    }
    return entry;
}

// ---- the network's inputs

static LimnTensor *
forward_texts(LimnClipTrainer *t, const Encoded *const *texts, guint n, int *length)
{
    *length = 1;
    for (guint i = 0; i < n; i++)
        *length = MAX(*length, texts[i]->length);
    gint32 end = limn_tokenizer_get_end(t->tokenizer);
    g_autofree gint32 *ids = g_new(gint32, MAX(n, 1) * (guint) *length);
    g_autofree gint32 *ends = g_new(gint32, MAX(n, 1));
    for (guint i = 0; i < n; i++) {
        for (int j = 0; j < *length; j++)
            ids[(int) i * *length + j] = j < texts[i]->length ? texts[i]->ids[j] : end;
        ends[i] = texts[i]->length - 1;
    }
    return limn_clip_network_texts(t->network, t->tape, (int) n, *length, ids, ends);
}

static LimnTensor *
forward_scenes(LimnClipTrainer *t, LimnScene *const *scenes, int n)
{
    const LimnClipTrainerOptions *o = &t->options;
    gint64 size = o->scenes.size, area = size * size;
    LimnTensor *pixels = limn_tape_input(t->tape, 4, (gint64[]){n, 3, size, size}, NULL);
    if (pixels->flags & LIMN_TENSOR_POISONED)
        return pixels;
    for (int s = 0; s < n; s++) {
        const guint8 *rgb = scenes[s]->picture->data;
        for (int c = 0; c < 3; c++) {
            float *to = pixels->data + (s * 3 + c) * area;
            float scale = 1 / (255 * o->std[c]), shift = o->mean[c] / o->std[c];
            for (gint64 i = 0; i < area; i++)
                to[i] = rgb[3 * i + c] * scale - shift;
        }
    }
    return limn_clip_network_images(t->network, t->tape, pixels);
}

// ---- scenes in parallel

typedef struct {
    LimnClipTrainer *trainer;
    const LimnSceneOptions *options;
    guint64 seed, first;
    LimnScene **out;
} Composition;

static gboolean
compose_one(gsize chunk, gpointer data, GError **error)
{
    const Composition *c = data;
    const LimnClipSource *source = &c->trainer->source;
    c->out[chunk] =
        source->compose(source->data, c->options, c->seed, c->first + chunk, error);
    return c->out[chunk] != NULL;
}

static void
clear_scenes(LimnScene **scenes, int n)
{
    for (int i = 0; i < n; i++)
        g_clear_pointer(&scenes[i], limn_scene_free);
}

static gboolean
compose(LimnClipTrainer *t, const LimnSceneOptions *options, guint64 seed, guint64 first,
        int n, LimnScene **out, GError **error)
{
    clear_scenes(out, n);
    Composition c = {t, options, seed, first, out};
    return limn_parallel_try(t->job, (gsize) n, compose_one, &c, error);
}

// ---- one step

// Names in the pool at a step: from pool_start to all of them, geometrically.
static guint
pool_size(const LimnClipTrainer *t, gint64 step)
{
    double grow = t->options.pool_grow * (double) t->options.steps;
    double start = MIN((double) MAX(t->options.pool_start, 1), (double) t->n_names);
    if (grow <= 0 || (double) step >= grow)
        return t->n_names;
    double size = start * pow((double) t->n_names / start, (double) step / grow);
    return CLAMP((guint) size, 1, t->n_names);
}

static gboolean
shows(const LimnScene *scene, guint32 name)
{
    for (int i = 0; i < scene->n_objects; i++)
        if (scene->objects[i].name == name)
            return TRUE;
    return FALSE;
}

static gboolean
matches(const LimnScene *scene, const Text *text)
{
    for (int i = 0; i < text->n_names; i++)
        if (!shows(scene, text->names[i]))
            return FALSE;
    return TRUE;
}

static gboolean
add_name(LimnClipTrainer *t, GArray *texts, GHashTable *taken, guint32 name, LimnRng *rng,
         GError **error)
{
    guint frame = limn_rng_below(rng, t->source.n_frames);
    if (!g_hash_table_add(taken, GUINT_TO_POINTER(name + 1)))
        return TRUE;
    Text text = {.names = {name}, .n_names = 1};
    text.tokens = framed_name(t, name, frame, error);
    if (!text.tokens)
        return FALSE;
    g_array_append_val(texts, text);
    return TRUE;
}

// The names shown, then names from the pool until there are enough.
static gboolean
sample_names(LimnClipTrainer *t, guint pool, GArray *texts, LimnRng *rng, GError **error)
{
    g_autoptr(GHashTable) taken = g_hash_table_new(NULL, NULL);
    for (int s = 0; s < t->options.batch; s++)
        for (int i = 0; i < t->scenes[s]->n_objects; i++)
            if (!add_name(t, texts, taken, t->scenes[s]->objects[i].name, rng, error))
                return FALSE;
    guint wanted = MIN((guint) t->options.sampled_names, pool);
    for (guint tries = 0; texts->len < wanted && tries < 4 * wanted; tries++)
        if (!add_name(t, texts, taken, t->names[limn_rng_below(rng, pool)], rng, error))
            return FALSE;
    return TRUE;
}

static void
free_encoded(gpointer data)
{
    Encoded *encoded = data;
    g_free(encoded->ids);
    g_free(encoded);
}

// The captions that name several objects; their tokens are kept by `owned`.
static gboolean
add_captions(LimnClipTrainer *t, GArray *texts, GPtrArray *owned, GError **error)
{
    for (int s = 0; s < t->options.batch; s++) {
        const LimnScene *scene = t->scenes[s];
        if (scene->n_caption_objects < 2)
            continue;
        Encoded *encoded = g_new0(Encoded, 1);
        g_ptr_array_add(owned, encoded);
        if (!encode_text(t, scene->caption, encoded, error))
            return FALSE;
        Text text = {.tokens = encoded, .n_names = scene->n_caption_objects};
        for (int i = 0; i < text.n_names; i++)
            text.names[i] = scene->objects[scene->caption_objects[i]].name;
        g_array_append_val(texts, text);
    }
    return TRUE;
}

static gboolean
is_positive(const LimnClipTrainer *t, const Text *texts, gboolean by_text, gint64 row,
            gint64 column)
{
    return by_text ? matches(t->scenes[column], &texts[row])
                   : matches(t->scenes[row], &texts[column]);
}

// Soft cross entropy of logits [rows,columns], either pictures by texts or (by_text) the
// other way round. Targets are even over the positives of a row; rows without a positive
// are left out.
static LimnTensor *
direction_loss(LimnClipTrainer *t, LimnTensor *logits, const Text *texts, guint n_texts,
               gboolean by_text)
{
    gint64 batch = t->options.batch, kept = 0;
    gint64 rows = by_text ? n_texts : batch, columns = by_text ? batch : n_texts;
    LimnTensor *which = limn_tape_input_int(t->tape, 1, &rows, NULL);
    LimnTensor *p = limn_tape_input(t->tape, 2, (gint64[]){rows, columns}, NULL);
    if ((which->flags | p->flags) & LIMN_TENSOR_POISONED)
        return limn_tape_poisoned(t->tape);
    for (gint64 r = 0; r < rows; r++) {
        LimnReal *row = p->data + kept * columns;
        int count = 0;
        for (gint64 c = 0; c < columns; c++)
            count += (row[c] = is_positive(t, texts, by_text, r, c)) > 0;
        for (gint64 c = 0; c < columns && count; c++)
            row[c] /= (float) count;
        if (count)
            limn_tensor_i32(which)[kept++] = (gint32) r;
    }
    which = limn_nn_slice(t->tape, which, (gint64[]){0}, &kept, NULL);
    p = limn_nn_slice(t->tape, p, (gint64[]){0, 0}, (gint64[]){kept, columns}, NULL);
    return limn_nn_soft_cross_entropy(t->tape,
                                      limn_nn_gather_rows(t->tape, logits, which), p);
}

// (CE over names + CE over names and captions) / 2 + CE of the texts over the pictures, /
// 2
static LimnTensor *
contrastive_loss(LimnClipTrainer *t, LimnTensor *logits, const GArray *texts,
                 guint n_names)
{
    const Text *all = (const Text *) (gconstpointer) texts->data;
    int batch = t->options.batch;
    LimnTensor *names = limn_nn_slice(t->tape, logits, (gint64[]){0, 0},
                                      (gint64[]){batch, n_names}, NULL);
    LimnTensor *across = limn_nn_permute(t->tape, logits, (const int[]){1, 0});
    LimnTensor *a = direction_loss(t, names, all, n_names, FALSE);
    LimnTensor *b = direction_loss(t, logits, all, texts->len, FALSE);
    LimnTensor *c = direction_loss(t, across, all, texts->len, TRUE);
    LimnTensor *pictures = limn_nn_scale_add(t->tape, limn_nn_add(t->tape, a, b), 0.5, 0);
    return limn_nn_scale_add(t->tape, limn_nn_add(t->tape, pictures, c), 0.5, 0);
}

// Multiply-adds of a tower per token, times two, times three for forward and backward.
static double
count_flops(const LimnClipTrainer *t, guint n_texts, int length)
{
    const LimnClipShape *s = limn_clip_network_get_shape(t->network);
    double g = (double) s->image_size / s->patch, n = 1 + g * g;
    double vw = s->vision_width, tw = s->text_width, l = length;
    double vision =
        n * s->vision_layers * (4 * vw * vw + 2 * vw * s->vision_mlp + 2 * n * vw) +
        g * g * vw * 3 * s->patch * s->patch;
    double text = l * s->text_layers * (4 * tw * tw + 2 * tw * s->text_mlp + 2 * l * tw);
    return 6 * (vision * t->options.batch + text * n_texts);
}

static gboolean
prepare_scenes(LimnClipTrainer *t, gint64 step, guint pool, GError **error)
{
    LimnSceneOptions scenes = t->options.scenes;
    scenes.names = t->names;
    scenes.n_names = pool;
    if ((double) step < t->options.single_share * (double) t->options.steps)
        for (int i = 1; i < LIMN_SCENE_MAX_OBJECTS; i++)
            scenes.chance[i] = 0;
    return compose(t, &scenes, t->options.seed, (guint64) (step * t->options.batch),
                   t->options.batch, t->scenes, error);
}

static LimnTensor *
forward(LimnClipTrainer *t, gint64 step, guint pool, GPtrArray *owned, GError **error)
{
    LimnRng rng = limn_rng_make(t->options.seed, STREAM_TEXTS + (guint64) step);
    g_autoptr(GArray) texts = g_array_new(FALSE, FALSE, sizeof(Text));
    if (!sample_names(t, pool, texts, &rng, error))
        return NULL;
    guint n_names = texts->len;
    if (!add_captions(t, texts, owned, error))
        return NULL;
    g_autofree const Encoded **tokens = g_new(const Encoded *, texts->len);
    for (guint i = 0; i < texts->len; i++)
        tokens[i] = g_array_index(texts, Text, i).tokens;
    int length;
    LimnTensor *written = forward_texts(t, tokens, texts->len, &length);
    LimnTensor *seen = forward_scenes(t, t->scenes, t->options.batch);
    t->flops = count_flops(t, texts->len, length);
    LimnTensor *logits = limn_clip_network_logits(t->network, t->tape, seen, written);
    return contrastive_loss(t, logits, texts, n_names);
}

gboolean
limn_clip_trainer_step(LimnClipTrainer *t, LimnClipTrainerStep *info, GError **error)
{
    gint64 step = limn_clip_trainer_get_step(t);
    guint pool = pool_size(t, step);
    *info = (LimnClipTrainerStep){.step = step, .pool = pool};
    if (!prepare_scenes(t, step, pool, error))
        return FALSE;
    double frozen = t->options.scale_frozen * (double) t->options.steps;
    limn_clip_network_freeze_scale(t->network, (double) step < frozen);
    LimnParameters *parameters = limn_clip_network_get_parameters(t->network);
    limn_tape_reset(t->tape);
    limn_parameters_zero_gradients(parameters);
    g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(free_encoded);
    LimnTensor *loss = forward(t, step, pool, owned, error);
    if (!loss || !limn_tape_backward(t->tape, loss, NULL, error))
        return FALSE;
    info->loss = limn_tensor_item(loss);
    LimnStepInfo done;
    if (!limn_optimizer_step(t->optimizer, &done, error))
        return FALSE;
    // A skipped step still counts: the next one has other scenes.
    limn_optimizer_set_step(t->optimizer, step + 1);
    limn_clip_network_clamp_scale(t->network);
    info->rate = done.rate;
    info->norm = done.norm;
    info->skipped = done.skipped;
    int scale = limn_parameters_find(parameters, "logit_scale");
    info->scale = exp(limn_parameters_get_values(parameters, scale)[0]);
    return TRUE;
}

// ---- life

LimnClipTrainer *
limn_clip_trainer_new(LimnClipNetwork *network, LimnTokenizer *tokenizer,
                      const LimnClipSource *source, const guint32 *names, guint n_names,
                      const LimnClipTrainerOptions *options, LimnJob *job, GError **error)
{
    const LimnClipShape *shape = limn_clip_network_get_shape(network);
    if (n_names < 2 || options->batch < 1 || options->scenes.size != shape->image_size ||
        limn_tokenizer_get_size(tokenizer) != shape->vocab) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "training does not fit the model: %u names, scenes of %d pixels for "
                    "%d, a vocabulary of %d for %d",
                    n_names, options->scenes.size, shape->image_size,
                    limn_tokenizer_get_size(tokenizer), shape->vocab);
        return NULL;
    }
    g_autoptr(LimnClipTrainer) t = g_new0(LimnClipTrainer, 1);
    t->network = network;
    t->tokenizer = tokenizer;
    t->source = *source;
    t->job = job ? limn_job_ref(job) : NULL;
    t->options = *options;
    t->names = g_memdup2(names, n_names * sizeof *names);
    t->n_names = n_names;
    LimnOptimizerOptions adam;
    limn_optimizer_options_init(&adam, LIMN_OPTIMIZER_ADAMW);
    adam.beta2 = 0.98;
    adam.weight_decay = options->weight_decay;
    adam.clip_norm = 1;
    adam.schedule = (LimnSchedule){.kind = LIMN_SCHEDULE_WARMUP_COSINE,
                                   .lr = options->rate,
                                   .warmup = options->warmup,
                                   .warmup_first = 1,
                                   .total = options->steps};
    t->optimizer =
        limn_optimizer_new(limn_clip_network_get_parameters(network), &adam, error);
    if (!t->optimizer)
        return NULL;
    t->tape = limn_tape_new(job);
    t->frames = g_new0(Encoded *, source->n_names);
    t->scenes = g_new0(LimnScene *, MAX(options->batch, EVALUATION_BATCH));
    return g_steal_pointer(&t);
}

void
limn_clip_trainer_free(LimnClipTrainer *t)
{
    if (!t)
        return;
    guint n = t->frames ? t->source.n_names : 0;
    for (guint i = 0; i < n; i++) {
        for (guint f = 0; t->frames[i] && f < t->source.n_frames; f++)
            g_free(t->frames[i][f].ids);
        g_free(t->frames[i]);
    }
    g_free(t->frames);
    if (t->scenes)
        clear_scenes(t->scenes, MAX(t->options.batch, EVALUATION_BATCH));
    g_free(t->scenes);
    limn_optimizer_free(t->optimizer);
    limn_tape_free(t->tape);
    g_clear_pointer(&t->job, limn_job_unref);
    g_free(t->names);
    g_free(t);
}

gint64
limn_clip_trainer_get_step(LimnClipTrainer *trainer)
{
    return limn_optimizer_get_step(trainer->optimizer);
}

LimnOptimizer *
limn_clip_trainer_get_optimizer(LimnClipTrainer *trainer)
{
    return trainer->optimizer;
}

double
limn_clip_trainer_get_flops(LimnClipTrainer *trainer)
{
    return trainer->flops;
}

// ---- evaluation

// Unit embeddings of "a photo of a NAME" for every name, [n,P].
static float *
name_embeddings(LimnClipTrainer *t, const guint32 *names, guint n, GError **error)
{
    int width = limn_clip_network_get_shape(t->network)->projection, length;
    guint frame = MIN(EVALUATION_FRAME, t->source.n_frames - 1);
    float *out = limn_floats_new((gsize) width, n, error);
    if (!out)
        return NULL;
    for (guint first = 0; first < n; first += 256) {
        guint count = MIN(256, n - first);
        const Encoded *tokens[256];
        for (guint i = 0; i < count; i++)
            if (!(tokens[i] = framed_name(t, names[first + i], frame, error))) {
                free(out);
                return NULL;
            }
        limn_tape_reset(t->tape);
        limn_tape_no_grad_begin(t->tape);
        LimnTensor *unit = forward_texts(t, tokens, count, &length);
        if (!limn_tape_check(t->tape, error)) {
            free(out);
            return NULL;
        }
        limn_tensor_copy_values(unit, out + (gsize) first * (gsize) width);
    }
    return out;
}

// How many names do not score less than the right one: those that tie count, so that a
// model that tells nothing apart (or gives no numbers) is not taken for a perfect one.
static guint
rank_of(const float *image, const float *texts, int width, guint n, guint right)
{
    double own = 0;
    for (int c = 0; c < width; c++)
        own += (double) image[c] * texts[(gsize) right * (gsize) width + (gsize) c];
    guint rank = 0;
    for (guint i = 0; i < n; i++) {
        double score = 0;
        for (int c = 0; c < width; c++)
            score += (double) image[c] * texts[(gsize) i * (gsize) width + (gsize) c];
        rank += i != right && !(score < own);
    }
    return rank;
}

static void
count_hits(const LimnScene *scene, const float *image, const float *texts, int width,
           const guint32 *names, guint n, LimnClipAccuracy *accuracy)
{
    for (guint i = 0; i < n; i++)
        if (names[i] == scene->objects[0].name) {
            guint rank = rank_of(image, texts, width, n, i);
            accuracy->top1 += rank == 0;
            accuracy->top5 += rank < 5;
        }
}

gboolean
limn_clip_trainer_evaluate(LimnClipTrainer *t, const guint32 *names, guint n_names,
                           guint64 styles, int n, guint64 seed,
                           LimnClipAccuracy *accuracy, GError **error)
{
    *accuracy = (LimnClipAccuracy){.n = n};
    LimnSceneOptions scenes = t->options.scenes;
    scenes.styles = styles;
    scenes.names = names;
    scenes.n_names = n_names;
    scenes.augment = 0;
    for (int i = 0; i < LIMN_SCENE_MAX_OBJECTS; i++)
        scenes.chance[i] = i == 0;
    g_autoptr(LimnFloats) texts = name_embeddings(t, names, n_names, error);
    if (!texts)
        return FALSE;
    int width = limn_clip_network_get_shape(t->network)->projection;
    for (int first = 0; first < n; first += EVALUATION_BATCH) {
        int count = MIN(EVALUATION_BATCH, n - first);
        if (!compose(t, &scenes, seed ^ EVALUATION_SEED, (guint64) first, count,
                     t->scenes, error))
            return FALSE;
        limn_tape_reset(t->tape);
        limn_tape_no_grad_begin(t->tape);
        LimnTensor *seen = forward_scenes(t, t->scenes, count);
        if (!limn_tape_check(t->tape, error))
            return FALSE;
        for (int s = 0; s < count; s++)
            count_hits(t->scenes[s], seen->data + s * width, texts, width, names, n_names,
                       accuracy);
    }
    accuracy->top1 /= MAX(n, 1);
    accuracy->top5 /= MAX(n, 1);
    return TRUE;
}

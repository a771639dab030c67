// SPDX-License-Identifier: GPL-3.0-or-later

// Trains a CLIP on composed scenes or on a folder of captioned pictures. The computing is
// in engine/model (clip-trainer.h).

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/model/captioned.h"
#include "engine/model/study-scenes.h"
#include "engine/text/bpe-learn.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define CHECKPOINT_KIND "clip-train"
#define HELD_OUT_SHARE 10 // every tenth caption of a folder is kept for validation

static const LimnInput inputs[] = {
    {.name = "pictures",
     .type = LIMN_INPUT_FOLDER,
     .accepts = N_("folder with captions.jsonl, coco.json or STEM.txt files"),
     .summary = N_("Captioned pictures (none: scenes composed on the fly)")},
    {.name = "icons",
     .type = LIMN_INPUT_FILE,
     .list = TRUE,
     .accepts = N_("icons.json of Iconify icon sets"),
     .summary = N_("Drawings of the scenes, one style a file (none: built-in shapes)")},
    {.name = "concepts",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("tab-separated table: name, key, group, ..."),
     .summary = N_("Names and their keys in the icon sets (none: the built-in table)")},
    {.name = "init",
     .type = LIMN_INPUT_FOLDER,
     .accepts = N_("model folder"),
     .summary = N_("Start from these weights; a position table of another grid is "
                   "enlarged")},
    {.name = NULL},
};

static const char *const backgrounds[] = {"mixed",  "plain",  "light", "gradient",
                                          "smooth", "blocks", NULL};
static const char *const name_choices[] = {"all", "common", NULL};
static const char *const precisions[] = {"half", "full", NULL};
static const char *const precision_summaries[] = {
    N_("matrices as float16"),
    N_("everything as float32"),
};

#define INTEGER(key, value, low, high, what, text)                                       \
    {                                                                                    \
        .name = key, .type = LIMN_PARAMETER_INT, .int_default = value, .min = low,       \
        .max = high, .unit = what, .summary = text                                       \
    }
#define SHAPE(key, value, high, text)                                                    \
    {                                                                                    \
        .name = key, .type = LIMN_PARAMETER_INT, .int_default = value, .min = 1,         \
        .max = high, .summary = text, .advanced = TRUE                                   \
    }
#define REAL(key, value, low, high, text)                                                \
    {                                                                                    \
        .name = key, .type = LIMN_PARAMETER_FLOAT, .float_default = value, .min = low,   \
        .max = high, .summary = text, .advanced = TRUE                                   \
    }

static const LimnParameter parameters[] = {
    INTEGER("steps", 2000, 1, 10000000, N_("steps"), N_("Length of the training")),
    INTEGER("batch", 64, 1, 4096, N_("pictures"), N_("Pictures per step")),
    INTEGER("size", 64, 8, 1024, N_("pixels"), N_("Side of the pictures")),
    REAL("rate", 1e-3, 1e-9, 10, N_("Peak learning rate")),
    INTEGER("warmup", 100, 0, 1000000, N_("steps"), N_("Steps of rising rate")),
    REAL("weight-decay", 0.02, 0, 10, N_("Decay of the matrices")),
    INTEGER("evaluate-every", 500, 1, 10000000, N_("steps"),
            N_("Steps between evaluations and checkpoints")),
    INTEGER("evaluate-count", 400, 1, 100000, N_("scenes"), N_("Scenes per evaluation")),
    INTEGER("sampled-names", 256, 1, 100000, N_("names"),
            N_("Sentences of one name per "
               "step")),
    INTEGER("pool-start", 40, 1, 1000000, N_("names"), N_("Names at the beginning")),
    REAL("pool-grow", 0.45, 0, 1,
         N_("Part of the training after which all names are in the pool")),
    REAL("single-share", 0.05, 0, 1,
         N_("Part of the training, at its beginning, with one object a scene")),
    REAL("scale-frozen", 0.1, 0, 1,
         N_("Part of the training, at its beginning, with a fixed temperature")),
    {.name = "objects",
     .type = LIMN_PARAMETER_TEXT,
     .text_default = "0.7,0.3",
     .summary = N_("Chance of one, two, three and four objects")},
    {.name = "sizes",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Smallest and largest side for one, two, ... objects, in pixels "
                   "(unset: in proportion to the canvas)"),
     .advanced = TRUE},
    {.name = "background",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = backgrounds,
     .summary = N_("What is behind the objects")},
    {.name = "names",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = name_choices,
     .summary = N_("Which names are learned")},
    {.name = "styles",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Styles to train on, separated by commas (unset: all)")},
    {.name = "held-out-styles",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Styles kept for evaluation")},
    {.name = "held-out-names",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Names that are never trained on")},
    REAL("augment", 1, 0, 1,
         N_("How often hue, rotation, outlines, grey and blur are changed")),
    SHAPE("patch", 8, 256, N_("Side of a patch in pixels")),
    SHAPE("vision-width", 128, 4096, N_("Width of the picture's tower")),
    SHAPE("vision-layers", 5, 64, N_("Blocks of the picture's tower")),
    SHAPE("vision-heads", 4, 64, N_("Heads of the picture's tower")),
    SHAPE("vision-mlp", 512, 16384, N_("Hidden units of the picture's tower")),
    SHAPE("text-width", 128, 4096, N_("Width of the text's tower")),
    SHAPE("text-layers", 3, 64, N_("Blocks of the text's tower")),
    SHAPE("text-heads", 4, 64, N_("Heads of the text's tower")),
    SHAPE("text-mlp", 512, 16384, N_("Hidden units of the text's tower")),
    SHAPE("context", 32, 1024, N_("Longest sentence in tokens")),
    SHAPE("projection", 128, 4096, N_("Width of the embeddings")),
    SHAPE("merges", 2400, 100000, N_("Most merges of the learned vocabulary")),
    {.name = "precision",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = precisions,
     .choice_summaries = precision_summaries,
     .summary = N_("How the weights are written"),
     .advanced = TRUE},
    {.name = NULL},
};

static const LimnOutput outputs[] = {
    {"model", "model", "",
     N_("the trained model; the folder of the study is a model folder in the layout of "
        "Hugging Face")},
    {"best", "model", "", N_("the weights of the best evaluation so far")},
    {"curves", "series", "steps", N_("loss, rate, norm and accuracy")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "curves",
    .layout = "curve",
    .caption = N_("Training"),
};

// ---- everything of one training

typedef struct {
    LimnRun *run;
    LimnJob *job;
    LimnStudyScenes scenes;   // empty when a folder is trained on
    LimnCaptioned *captioned; // NULL for scenes
    LimnClipSource source;
    guint32 *names, *validation; // trained on, evaluated on
    guint n_names, n_validation;
    LimnLearnedVocabulary *vocabulary;
    LimnTokenizer *tokenizer;
    LimnClipNetwork *network;
    LimnClipTrainer *trainer;
    char *config; // JSON of what a checkpoint must agree with
    char *checkpoint, *best_path;
    double best; // top-1 of the best evaluation, -1: none
    gint64 best_step;
} Training;

static void
clear_training(Training *t)
{
    limn_clip_trainer_free(t->trainer);
    limn_clip_network_free(t->network);
    g_clear_pointer(&t->tokenizer, limn_tokenizer_unref);
    limn_learned_vocabulary_free(t->vocabulary);
    g_free(t->names);
    g_free(t->validation);
    limn_captioned_free(t->captioned);
    limn_study_scenes_clear(&t->scenes);
    g_free(t->config);
    g_free(t->checkpoint);
    g_free(t->best_path);
}

static int
integer(const Training *t, const char *name)
{
    return (int) limn_run_get_int(t->run, name);
}

// ---- data

static gboolean
open_folder(Training *t, const char *folder, GError **error)
{
    t->captioned = limn_captioned_load(folder, integer(t, "size"), t->job, error);
    if (t->captioned == NULL) {
        return FALSE;
    }
    t->source = limn_captioned_get_source(t->captioned);
    guint n = limn_captioned_n_captions(t->captioned);
    t->names = g_new(guint32, n);
    t->validation = g_new(guint32, n);
    for (guint i = 0; i < n; i++) {
        if (n >= 2 * HELD_OUT_SHARE && i % HELD_OUT_SHARE == HELD_OUT_SHARE - 1) {
            t->validation[t->n_validation++] = i;
        } else {
            t->names[t->n_names++] = i;
        }
    }
    if (t->n_validation < 2) { // too few to keep any apart
        memcpy(t->validation, t->names, t->n_names * sizeof *t->names);
        t->n_validation = t->n_names;
    }
    return TRUE;
}

static gboolean
open_scenes(Training *t, GError **error)
{
    if (!limn_study_scenes_read(t->run, &t->scenes, error)) {
        return FALSE;
    }
    t->source = limn_clip_source_of_drawings(t->scenes.drawings);
    t->n_names = t->scenes.n_names;
    t->names = g_memdup2(t->scenes.names, t->n_names * sizeof *t->names);
    t->validation = g_memdup2(t->scenes.names, t->n_names * sizeof *t->names);
    t->n_validation = t->n_names;
    return TRUE;
}

// Every name in every sentence, so that the vocabulary has whole words for all of them.
static gboolean
learn_vocabulary(Training *t, GError **error)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < t->source.n_names; i++) {
        for (guint f = 0; f < t->source.n_frames; f++) {
            g_ptr_array_add(texts, t->source.caption(t->source.data, i, f));
        }
    }
    // Sentences of several names are joined with these words.
    g_ptr_array_add(texts, g_strdup("and a"));
    g_ptr_array_add(texts, g_strdup("and a"));
    g_ptr_array_add(texts, NULL);
    limn_job_report(t->job, "vocabulary", 0, "learning from %u sentences",
                    texts->len - 1);
    guint wanted = (guint) integer(t, "merges");
    t->vocabulary =
        limn_bpe_learn((const char *const *) texts->pdata, wanted, t->job, error);
    if (t->vocabulary == NULL) {
        return FALSE;
    }
    if (t->vocabulary->n_merges < wanted) {
        limn_job_diagnose(t->job, LIMN_DIAGNOSTIC_NOTE, "merges",
                          "the texts give only %u merges (%u were allowed)",
                          t->vocabulary->n_merges, wanted);
    }
    return TRUE;
}

// The vocabulary of the model that is trained on.
static gboolean
take_vocabulary(Training *t, const char *folder, GError **error)
{
    g_autofree char *vocab = g_build_filename(folder, "vocab.json", NULL);
    g_autofree char *merges = g_build_filename(folder, "merges.txt", NULL);
    t->vocabulary = g_new0(LimnLearnedVocabulary, 1);
    t->vocabulary->vocab = limn_file_read(vocab, (guint64) 64 << 20, error);
    t->vocabulary->merges =
        t->vocabulary->vocab ? limn_file_read(merges, (guint64) 64 << 20, error) : NULL;
    if (t->vocabulary->merges == NULL) {
        g_clear_pointer(&t->vocabulary->vocab, g_bytes_unref);
        g_clear_pointer(&t->vocabulary, g_free);
        return FALSE;
    }
    return TRUE;
}

// ---- model

static LimnClipShape
read_shape(const Training *t)
{
    return (LimnClipShape){.image_size = integer(t, "size"),
                           .patch = integer(t, "patch"),
                           .vision_width = integer(t, "vision-width"),
                           .vision_layers = integer(t, "vision-layers"),
                           .vision_heads = integer(t, "vision-heads"),
                           .vision_mlp = integer(t, "vision-mlp"),
                           .vocab = limn_tokenizer_get_size(t->tokenizer),
                           .context = integer(t, "context"),
                           .text_width = integer(t, "text-width"),
                           .text_layers = integer(t, "text-layers"),
                           .text_heads = integer(t, "text-heads"),
                           .text_mlp = integer(t, "text-mlp"),
                           .projection = integer(t, "projection")};
}

static gboolean
open_model(Training *t, GError **error)
{
    const char *init = limn_run_get_input(t->run, "init");
    if (init != NULL ? !take_vocabulary(t, init, error) : !learn_vocabulary(t, error)) {
        return FALSE;
    }
    t->tokenizer = limn_tokenizer_new_from_vocab(
        t->vocabulary->vocab, "vocab.json", t->vocabulary->merges, "merges.txt", error);
    if (t->tokenizer == NULL) {
        return FALSE;
    }
    LimnClipShape shape = read_shape(t);
    t->network = limn_clip_network_new(&shape, limn_run_get_seed(t->run), error);
    return t->network != NULL &&
           (init == NULL || limn_clip_network_load(t->network, init, t->job, error));
}

static gboolean
open_trainer(Training *t, GError **error)
{
    LimnClipTrainerOptions o;
    limn_clip_trainer_options_init(&o, integer(t, "size"));
    if (t->captioned == NULL) {
        o.scenes = t->scenes.options;
    }
    o.batch = integer(t, "batch");
    o.steps = limn_run_get_int(t->run, "steps");
    o.warmup = MIN(limn_run_get_int(t->run, "warmup"), o.steps);
    o.rate = limn_run_get_float(t->run, "rate");
    o.weight_decay = limn_run_get_float(t->run, "weight-decay");
    o.sampled_names = integer(t, "sampled-names");
    o.pool_start = integer(t, "pool-start");
    o.pool_grow = t->captioned == NULL ? limn_run_get_float(t->run, "pool-grow") : 0;
    o.single_share = limn_run_get_float(t->run, "single-share");
    o.scale_frozen = limn_run_get_float(t->run, "scale-frozen");
    o.seed = limn_run_get_seed(t->run);
    t->trainer = limn_clip_trainer_new(t->network, t->tokenizer, &t->source, t->names,
                                       t->n_names, &o, t->job, error);
    return t->trainer != NULL;
}

// What must be the same for a run to go on: every parameter and the inputs.
static char *
describe_settings(LimnRun *run, GError **error)
{
    g_autofree char *digest =
        limn_study_identity(limn_run_get_study(run), limn_run_get_job(run), error);
    if (digest == NULL) {
        return NULL;
    }
    return g_strdup_printf("{\"study\": \"%s\"}", digest);
}

// ---- checkpoints

static LimnCheckpointState
checkpoint_state(const Training *t)
{
    LimnCheckpointState state = {
        CHECKPOINT_KIND, t->config, limn_run_get_seed(t->run), {0}};
    memcpy(&state.counters[0], &t->best, sizeof t->best); // all of its bits
    state.counters[1] = t->best_step;
    return state;
}

static gboolean
save_checkpoint(Training *t, const char *path, GError **error)
{
    LimnCheckpointState state = checkpoint_state(t);
    return path == NULL ||
           limn_checkpoint_save(path, limn_clip_network_get_parameters(t->network),
                                limn_clip_trainer_get_optimizer(t->trainer), &state,
                                error);
}

static char *
curves_path(const Training *t)
{
    return g_strconcat(t->checkpoint, ".curves", NULL);
}

// The curves so far, so that a resumed run shows all of them.
static gboolean
save_curves(Training *t, GError **error)
{
    if (t->checkpoint == NULL) {
        return TRUE;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GPtrArray) metrics = limn_job_dup_metrics(t->job);
    for (guint m = 0; m < metrics->len; m++) {
        const LimnMetric *metric = metrics->pdata[m];
        for (guint i = 0; i < metric->x->len; i++) {
            char x[G_ASCII_DTOSTR_BUF_SIZE], y[G_ASCII_DTOSTR_BUF_SIZE];
            g_ascii_dtostr(x, sizeof x, g_array_index(metric->x, double, i));
            g_ascii_dtostr(y, sizeof y, g_array_index(metric->values, double, i));
            g_string_append_printf(text, "%s\t%s\t%s\n", metric->name, x, y);
        }
    }
    g_autofree char *path = curves_path(t);
    return limn_file_write(path, text->str, text->len, error);
}

static void
load_curves(Training *t, gint64 step)
{
    g_autofree char *path = curves_path(t);
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        g_auto(GStrv) cells = g_strsplit(lines[i], "\t", 3);
        if (g_strv_length(cells) == 3 && g_ascii_strtod(cells[1], NULL) < (double) step) {
            limn_job_add_metric(t->job, cells[0], g_ascii_strtod(cells[1], NULL),
                                g_ascii_strtod(cells[2], NULL));
        }
    }
}

static gboolean
open_checkpoint(Training *t, GError **error)
{
    const char *work = limn_run_get_work_directory(t->run);
    t->best = -1;
    if (work == NULL) {
        return TRUE;
    }
    if (!limn_make_directory(work, error)) {
        return FALSE;
    }
    t->checkpoint = g_build_filename(work, "last.safetensors", NULL);
    t->best_path = g_build_filename(work, "best.safetensors", NULL);
    if (!limn_run_get_resume(t->run) || !g_file_test(t->checkpoint, G_FILE_TEST_EXISTS)) {
        return TRUE;
    }
    LimnCheckpointState state = checkpoint_state(t);
    if (!limn_checkpoint_load(t->checkpoint, limn_clip_network_get_parameters(t->network),
                              limn_clip_trainer_get_optimizer(t->trainer), &state,
                              error)) {
        return FALSE;
    }
    memcpy(&t->best, &state.counters[0], sizeof t->best);
    t->best_step = state.counters[1];
    load_curves(t, limn_clip_trainer_get_step(t->trainer));
    return TRUE;
}

// ---- the loop

static gboolean
evaluate_on(Training *t, const guint32 *names, guint n_names, guint64 styles,
            const char *top1, const char *top5, gint64 step, double *value,
            GError **error)
{
    LimnClipAccuracy accuracy;
    if (!limn_clip_trainer_evaluate(t->trainer, names, n_names, styles,
                                    integer(t, "evaluate-count"),
                                    limn_run_get_seed(t->run), &accuracy, error)) {
        return FALSE;
    }
    limn_job_add_metric(t->job, top1, (double) step, accuracy.top1);
    limn_job_add_metric(t->job, top5, (double) step, accuracy.top5);
    *value = accuracy.top1;
    return TRUE;
}

// Accuracy, the best weights beside the last, and a checkpoint.
static gboolean
evaluate(Training *t, gint64 step, GError **error)
{
    double top1 = 0, held = 0;
    gint64 begin = g_get_monotonic_time();
    if (!evaluate_on(t, t->validation, t->n_validation, t->scenes.styles, "top1", "top5",
                     step, &top1, error)) {
        return FALSE;
    }
    if (t->scenes.held_styles != 0 &&
        !evaluate_on(t, t->validation, t->n_validation, t->scenes.held_styles,
                     "held-out-top1", "held-out-top5", step, &held, error)) {
        return FALSE;
    }
    gboolean better = top1 > t->best;
    if (better) {
        t->best = top1;
        t->best_step = step;
    }
    limn_job_add_time(t->job, "evaluate",
                      (double) (g_get_monotonic_time() - begin) / G_USEC_PER_SEC);
    return (!better || save_checkpoint(t, t->best_path, error)) &&
           save_curves(t, error) && save_checkpoint(t, t->checkpoint, error);
}

static void
report(Training *t, const LimnClipTrainerStep *info, gint64 first, gint64 begin)
{
    gint64 steps = limn_run_get_int(t->run, "steps");
    double seconds = (double) (g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
    double each = seconds / (double) (info->step - first + 1);
    double left = each * (double) (steps - info->step - 1);
    limn_job_add_metric(t->job, "loss", (double) info->step, info->loss);
    limn_job_add_metric(t->job, "rate", (double) info->step, info->rate);
    limn_job_add_metric(t->job, "norm", (double) info->step, info->norm);
    char loss[LIMN_NUMBER_BUFFER], speed[LIMN_NUMBER_BUFFER];
    limn_number_format_fixed(loss, info->loss, 3);
    limn_number_format_fixed(speed, integer(t, "batch") / each, 0);
    limn_job_report(t->job, "train", (double) (info->step + 1) / (double) steps,
                    "step %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                    ", loss %s, %s pictures/s, %d:%02d:%02d left",
                    info->step + 1, steps, loss, speed, (int) (left / 3600),
                    (int) (left / 60) % 60, (int) left % 60);
    if (info->skipped) {
        limn_job_diagnose(t->job, LIMN_DIAGNOSTIC_WARNING, "train",
                          "step %" G_GINT64_FORMAT
                          " was skipped: its gradient is not finite",
                          info->step);
    }
}

static gboolean
train(Training *t, GError **error)
{
    gint64 steps = limn_run_get_int(t->run, "steps"), begin = g_get_monotonic_time();
    gint64 every = limn_run_get_int(t->run, "evaluate-every");
    gint64 first = limn_clip_trainer_get_step(t->trainer);
    while (limn_clip_trainer_get_step(t->trainer) < steps) {
        LimnClipTrainerStep info;
        if (!limn_clip_trainer_step(t->trainer, &info, error)) {
            return FALSE;
        }
        report(t, &info, first, begin);
        gboolean last = info.step + 1 == steps || limn_job_should_finish(t->job);
        if (((info.step + 1) % every == 0 || last) && !evaluate(t, info.step, error)) {
            return FALSE;
        }
        if (last) {
            break;
        }
    }
    limn_job_add_time(t->job, "train",
                      (double) (g_get_monotonic_time() - begin) / G_USEC_PER_SEC);
    return TRUE;
}

// ---- results

static LimnArtifact *
curves_artifact(LimnJob *job)
{
    g_autoptr(GPtrArray) metrics = limn_job_dup_metrics(job);
    g_autoptr(GHashTable) rows = g_hash_table_new(NULL, NULL);
    LimnTable *table = limn_table_new();
    LimnColumn *steps = limn_table_add_column(table, "step", TRUE);
    const LimnMetric *loss = metrics->len > 0 ? metrics->pdata[0] : NULL;
    for (guint i = 0; loss != NULL && i < loss->x->len; i++) {
        double step = g_array_index(loss->x, double, i);
        limn_column_add_number(steps, step);
        g_hash_table_insert(rows, GUINT_TO_POINTER((guint) step + 1),
                            GUINT_TO_POINTER(i + 1));
    }
    for (guint m = 0; m < metrics->len; m++) {
        const LimnMetric *metric = metrics->pdata[m];
        LimnColumn *column = limn_table_add_column(table, metric->name, TRUE);
        for (guint i = 0; i < steps->numbers->len; i++) {
            limn_column_add_number(column, NAN);
        }
        for (guint i = 0; i < metric->x->len; i++) {
            guint step = (guint) g_array_index(metric->x, double, i);
            guint row =
                GPOINTER_TO_UINT(g_hash_table_lookup(rows, GUINT_TO_POINTER(step + 1)));
            if (row > 0) {
                g_array_index(column->numbers, double, row - 1) =
                    g_array_index(metric->values, double, i);
            }
        }
    }
    return limn_artifact_new_series("curves", table);
}

// The Hugging Face folder in a temporary place, its files handed to the artifact.
static gboolean
model_artifact(Training *t, LimnArtifact *artifact, const char *folder, GError **error)
{
    static const char *const companions[] = {"config.json", "preprocessor_config.json",
                                             "vocab.json", "merges.txt",
                                             "tokenizer_config.json"};
    LimnClipTrainerOptions defaults;
    limn_clip_trainer_options_init(&defaults, integer(t, "size"));
    LimnClipFiles files = {.vocab = t->vocabulary->vocab,
                           .merges = t->vocabulary->merges,
                           .half = limn_run_get_choice(t->run, "precision") == 0};
    memcpy(files.mean, defaults.mean, sizeof files.mean);
    memcpy(files.std, defaults.std, sizeof files.std);
    if (!limn_clip_network_save(t->network, &files, folder, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(companions); i++) {
        g_autofree char *path = g_build_filename(folder, companions[i], NULL);
        g_autoptr(GBytes) bytes = limn_file_read(path, 0, error);
        if (bytes == NULL) {
            return FALSE;
        }
        limn_artifact_add_companion(artifact, companions[i], bytes);
    }
    g_free(artifact->path);
    artifact->path = g_build_filename(folder, "model.safetensors", NULL);
    return TRUE;
}

static gboolean
add_results(Training *t, GError **error)
{
    const char *work = limn_run_get_work_directory(t->run);
    g_autofree char *temporary = NULL;
    if (work == NULL) {
        temporary = g_dir_make_tmp("limn-model-XXXXXX", error);
        if (temporary == NULL) {
            return FALSE;
        }
    }
    g_autofree char *folder = g_build_filename(work ? work : temporary, "model", NULL);
    g_autoptr(LimnArtifact) model = limn_artifact_new(LIMN_ARTIFACT_MODEL, "model");
    if (!model_artifact(t, model, folder, error)) {
        return FALSE;
    }
    limn_run_add_artifact(t->run, g_steal_pointer(&model));
    if (t->best_path != NULL && g_file_test(t->best_path, G_FILE_TEST_EXISTS)) {
        LimnArtifact *best = limn_artifact_new(LIMN_ARTIFACT_MODEL, "best");
        best->path = g_strdup(t->best_path);
        limn_run_add_artifact(t->run, best);
    }
    limn_run_add_artifact(t->run, curves_artifact(t->job));
    g_autoptr(GPtrArray) metrics = limn_job_dup_metrics(t->job);
    for (guint m = 0; m < metrics->len; m++) {
        const LimnMetric *metric = metrics->pdata[m];
        guint n = metric->values->len;
        if (n > 0 && strcmp(metric->name, "rate") != 0) {
            limn_run_add_scalar(t->run, metric->name,
                                g_array_index(metric->values, double, n - 1));
        }
    }
    limn_run_add_scalar(t->run, "best-top1", t->best);
    limn_run_add_scalar(t->run, "best-step", (double) t->best_step);
    return TRUE;
}

static gboolean
run_clip_train(LimnRun *run, GError **error)
{
    Training t = {.run = run, .job = limn_run_get_job(run)};
    const char *folder = limn_run_get_input(run, "pictures");
    t.config = describe_settings(run, error);
    gboolean good =
        t.config != NULL &&
        (folder != NULL ? open_folder(&t, folder, error) : open_scenes(&t, error)) &&
        open_model(&t, error) && open_trainer(&t, error) && open_checkpoint(&t, error) &&
        train(&t, error) && add_results(&t, error);
    clear_training(&t);
    return good;
}

const LimnOperation limn_operation_clip_train = {
    .id = "clip-train",
    .title = N_("Train a CLIP"),
    .family = LIMN_FAMILY_LEARNING,
    .summary = N_("Train a small CLIP on composed scenes or on captioned pictures."),
    .description = N_(
        "Learns the vocabulary from the sentences, then both towers by contrast: every "
        "picture is scored against sampled names and against the captions with several "
        "objects, a sentence counts for every picture that shows all it names. The pool "
        "of names starts small and grows geometrically, without which the loss stays at "
        "chance for a long time. Checkpoints are written with every evaluation; an "
        "interrupted run goes on with --resume and ends with the same weights."),
    .paper = {.title = "Learning Transferable Visual Models From Natural Language "
                       "Supervision",
              .authors = "Radford et al.",
              .venue = "ICML 2021"},
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .resumable = TRUE,
    .run = run_clip_train,
};

// SPDX-License-Identifier: GPL-3.0-or-later

// What a CLIP knows of composed scenes, and how well each method's maps find the objects:
// zero-shot accuracy, retrieval, pointing game, energy and IoU with bootstrap intervals.

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/image/map-metrics.h"
#include "engine/model/explainer.h"
#include "engine/model/study-inputs.h"
#include "engine/model/study-scenes.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define STREAM_BOOTSTRAP ((guint64) 0xb0 << 40)
#define SEED_SINGLE 0x51e1e0u  // one object a scene
#define SEED_SEVERAL 0x5e7e4au // several
#define HALF 0.5

static const LimnInput inputs[] = {
    {.name = "model",
     .type = LIMN_INPUT_PATH,
     .accepts = N_("model folder or .safetensors file"),
     .summary = N_("CLIP checkpoint to evaluate"),
     .builtin = "models/emoji-clip"},
    {.name = "icons",
     .type = LIMN_INPUT_FILE,
     .list = TRUE,
     .accepts = N_("icons.json of Iconify icon sets"),
     .summary = N_("Drawings, one style a file (none: built-in shapes)")},
    {.name = "concepts",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("tab-separated table: name, key, group, ..."),
     .summary = N_("Names and their keys in the icon sets (none: the built-in table)")},
    {.name = NULL},
};

static const char *const backgrounds[] = {"mixed",  "plain",  "light", "gradient",
                                          "smooth", "blocks", NULL};
static const char *const name_choices[] = {"all", "common", NULL};
static const char *const method_choices[] = {"fast", "all", NULL};
static const char *const method_summaries[] = {
    N_("every method that takes few passes"),
    N_("RISE and M2IB as well"),
};

static const LimnParameter parameters[] = {
    {.name = "count",
     .type = LIMN_PARAMETER_INT,
     .int_default = 400,
     .min = 2,
     .max = 100000,
     .unit = N_("scenes"),
     .summary = N_("Scenes of one object, and as many of several")},
    {.name = "size",
     .type = LIMN_PARAMETER_INT,
     .int_default = 112,
     .min = 8,
     .max = 2048,
     .unit = N_("pixels"),
     .summary = N_("Side of the scenes")},
    {.name = "objects",
     .type = LIMN_PARAMETER_TEXT,
     .text_default = "0,0.5,0.36,0.14",
     .summary =
         N_("Chance of one, two, three and four objects in the scenes of several")},
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
     .summary = N_("Which names are asked for")},
    {.name = "styles",
     .type = LIMN_PARAMETER_TEXT,
     .summary =
         N_("Styles that the model was trained on, separated by commas (unset: all)")},
    {.name = "held-out-styles",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Styles that it never saw: a second set of single objects")},
    {.name = "held-out-names",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Names that never appear")},
    {.name = "augment",
     .type = LIMN_PARAMETER_FLOAT,
     .min = 0,
     .max = 1,
     .summary = N_("How often hue, rotation, outlines, grey and blur are changed"),
     .advanced = TRUE},
    {.name = "methods",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = method_choices,
     .choice_summaries = method_summaries,
     .summary = N_("Methods whose maps are measured")},
    {.name = "layers",
     .type = LIMN_PARAMETER_INT,
     .int_default = 1,
     .min = 1,
     .max = 1000,
     .unit = N_("blocks"),
     .summary = N_("Last blocks that Grad-ECLIP explains")},
    {.name = "template",
     .type = LIMN_PARAMETER_TEXT,
     .text_default = "a photo of a {}",
     .summary = N_("Sentence around a name")},
    {.name = "resamples",
     .type = LIMN_PARAMETER_INT,
     .int_default = 1000,
     .min = 10,
     .max = 100000,
     .summary = N_("Bootstrap resamples of the scenes"),
     .advanced = TRUE},
    {.name = "heads",
     .type = LIMN_PARAMETER_INT,
     .int_default = 0,
     .min = 0,
     .max = 1024,
     .summary = N_("Attention heads, where the checkpoint does not tell (0: it does)"),
     .advanced = TRUE},
    {.name = NULL},
};

static const LimnOutput outputs[] = {
    {"knowledge", "table", "sets",
     N_("right name first and among five, and retrieval, with 95 % intervals")},
    {"methods", "table", "methods",
     N_("pointing game, energy and IoU of every method, with 95 % intervals")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "methods",
    .layout = "table",
    .caption = N_("Maps of {count} scenes with two to four objects"),
};

typedef struct {
    LimnRun *run;
    LimnJob *job;
    LimnClip *clip;
    LimnStudyScenes scenes;
    LimnArray *names; // [n_names,P] unit embeddings of the sentences
    GStrv sentences;  // one per drawing's name
    guint count;
} Evaluation;

// ---- bootstrap

typedef struct {
    double mean, low, high;
} Interval;

static int
compare_doubles(gconstpointer a, gconstpointer b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

// Ends early when the job is cancelled; the caller checks it.
// 95 % percentile interval of the mean of sum/weight over scenes: whole scenes are drawn
// again, since the prompts of one scene are not independent.
static Interval
bootstrap(LimnRun *run, const double *sums, const double *weights, guint n,
          guint64 stream)
{
    guint resamples = (guint) limn_run_get_int(run, "resamples");
    g_autofree double *means = g_new(double, resamples);
    LimnRng rng = limn_rng_make(limn_run_get_seed(run), STREAM_BOOTSTRAP + stream);
    double sum = 0, weight = 0;
    for (guint i = 0; i < n; i++) {
        sum += sums[i];
        weight += weights[i];
    }
    Interval out = {weight > 0 ? sum / weight : NAN, NAN, NAN};
    guint kept = 0;
    for (guint r = 0; r < resamples && limn_job_check(limn_run_get_job(run), NULL); r++) {
        double s = 0, w = 0;
        for (guint i = 0; i < n; i++) {
            guint32 pick = limn_rng_below(&rng, n);
            s += sums[pick];
            w += weights[pick];
        }
        if (w > 0) {
            means[kept++] = s / w;
        }
    }
    if (kept > 0) {
        qsort(means, kept, sizeof *means, compare_doubles);
        out.low = means[(guint) (0.025 * (kept - 1) + 0.5)];
        out.high = means[(guint) (0.975 * (kept - 1) + 0.5)];
    }
    return out;
}

// Three columns of a measure and the row's values.
typedef struct {
    LimnColumn *mean, *low, *high;
} Columns;

static Columns
add_columns(LimnTable *table, const char *name)
{
    g_autofree char *low = g_strconcat(name, " low", NULL);
    g_autofree char *high = g_strconcat(name, " high", NULL);
    Columns columns;
    columns.mean = limn_table_add_column(table, name, TRUE);
    columns.low = limn_table_add_column(table, low, TRUE);
    columns.high = limn_table_add_column(table, high, TRUE);
    return columns;
}

static void
add_interval(Columns columns, Interval interval)
{
    limn_column_add_number(columns.mean, interval.mean);
    limn_column_add_number(columns.low, interval.low);
    limn_column_add_number(columns.high, interval.high);
}

// ---- what the model knows

static LimnScene *
compose(Evaluation *e, guint64 styles, gboolean single, guint i, GError **error)
{
    LimnSceneOptions options = e->scenes.options;
    options.styles = styles;
    for (int k = 0; single && k < LIMN_SCENE_MAX_OBJECTS; k++) {
        options.chance[k] = k == 0;
    }
    guint64 seed = limn_run_get_seed(e->run) ^ (single ? SEED_SINGLE : SEED_SEVERAL);
    return limn_scene_compose(e->scenes.drawings, &options, seed, i, error);
}

static void
normalise_rows(LimnArray *array)
{
    gint64 width = array->shape[1];
    for (gint64 r = 0; r < array->shape[0]; r++) {
        float *row = limn_array_f32(array) + r * width;
        double norm = 0;
        for (gint64 c = 0; c < width; c++) {
            norm += (double) row[c] * row[c];
        }
        for (gint64 c = 0; c < width; c++) {
            row[c] = (float) (row[c] / MAX(sqrt(norm), 1e-12));
        }
    }
}

static gboolean
embed_names(Evaluation *e, GError **error)
{
    const char *template = limn_run_get_text(e->run, "template");
    guint n = limn_drawings_n_names(e->scenes.drawings);
    if (template == NULL || strstr(template, "{}") == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "template=%s: there is no {} for the name", template ? template : "");
        return FALSE;
    }
    g_auto(GStrv) parts = g_strsplit(template, "{}", 2);
    e->sentences = g_new0(char *, n + 1);
    for (guint i = 0; i < n; i++) {
        e->sentences[i] = g_strconcat(
            parts[0], limn_drawings_get_name(e->scenes.drawings, i), parts[1], NULL);
    }
    e->names = limn_clip_encode_texts(e->clip, (const char *const *) e->sentences, e->job,
                                      error);
    if (e->names != NULL) {
        normalise_rows(e->names);
    }
    return e->names != NULL;
}

static double
dot(const float *a, const float *b, gint64 n)
{
    double sum = 0;
    for (gint64 i = 0; i < n; i++) {
        sum += (double) a[i] * b[i];
    }
    return sum;
}

// Names of the set that do not score less than the right one.
static guint
rank_of_name(const Evaluation *e, const float *image, guint32 right)
{
    gint64 width = e->names->shape[1];
    const float *texts = limn_array_f32(e->names);
    double own = dot(image, texts + right * width, width);
    guint rank = 0;
    for (guint i = 0; i < e->scenes.n_names; i++) {
        guint32 name = e->scenes.names[i];
        rank += name != right && !(dot(image, texts + name * width, width) < own);
    }
    return rank;
}

typedef struct {
    LimnArray *images; // [count,P] unit embeddings
    guint32 *names;
    double *top1, *top5, *ones, *retrieval;
} Singles;

static void
clear_singles(Singles *s)
{
    g_clear_pointer(&s->images, limn_array_unref);
    g_free(s->names);
    g_free(s->top1);
    g_free(s->top5);
    g_free(s->ones);
    g_free(s->retrieval);
}

// Retrieval: of all pictures of the set, does one that shows the name score highest?
static gboolean
measure_retrieval(const Evaluation *e, Singles *s, GError **error)
{
    gint64 width = e->names->shape[1];
    const float *images = limn_array_f32(s->images), *texts = limn_array_f32(e->names);
    for (guint i = 0; i < e->count; i++) {
        if (!limn_job_check(e->job, error)) {
            return FALSE;
        }
        const float *text = texts + s->names[i] * width;
        guint best = 0;
        double most = -INFINITY;
        for (guint j = 0; j < e->count; j++) {
            double score = dot(text, images + j * width, width);
            if (score > most) {
                most = score;
                best = j;
            }
        }
        s->retrieval[i] = s->names[best] == s->names[i];
    }
    return TRUE;
}

static gboolean
measure_singles(Evaluation *e, guint64 styles, const char *title, Singles *s,
                GError **error)
{
    gint64 width = e->names->shape[1];
    s->images = limn_array_new_f32_2d(e->count, width, error);
    if (s->images == NULL) {
        return FALSE;
    }
    s->names = g_new0(guint32, e->count);
    s->top1 = g_new0(double, e->count);
    s->top5 = g_new0(double, e->count);
    s->ones = g_new0(double, e->count);
    s->retrieval = g_new0(double, e->count);
    for (guint i = 0; i < e->count; i++) {
        limn_job_report(e->job, "knowledge", (double) i / e->count, "%s", title);
        g_autoptr(LimnScene) scene =
            limn_job_check(e->job, error) ? compose(e, styles, TRUE, i, error) : NULL;
        g_autoptr(LimnArray) image =
            scene ? limn_clip_encode_image(e->clip, scene->picture, e->job, error) : NULL;
        if (image == NULL) {
            return FALSE;
        }
        memcpy(limn_array_f32(s->images) + i * width, limn_array_f32(image),
               (gsize) width * sizeof(float));
        s->names[i] = scene->objects[0].name;
        s->ones[i] = 1;
    }
    normalise_rows(s->images);
    for (guint i = 0; i < e->count; i++) {
        if (!limn_job_check(e->job, error)) {
            return FALSE;
        }
        guint rank = rank_of_name(e, limn_array_f32(s->images) + i * width, s->names[i]);
        s->top1[i] = rank == 0;
        s->top5[i] = rank < 5;
    }
    return measure_retrieval(e, s, error);
}

static gboolean
add_knowledge(Evaluation *e, GError **error)
{
    const struct {
        const char *title, *scalar;
        guint64 styles;
    } sets[] = {{"trained styles", "trained", e->scenes.styles},
                {"held-out styles", "held-out", e->scenes.held_styles}};
    LimnTable *table = limn_table_new();
    g_autoptr(LimnArtifact) artifact = limn_artifact_new_table("knowledge", table);
    LimnColumn *set = limn_table_add_column(table, "set", FALSE);
    LimnColumn *names = limn_table_add_column(table, "names", TRUE);
    Columns top1 = add_columns(table, "first"), top5 = add_columns(table, "among five");
    Columns retrieval = add_columns(table, "retrieval");
    for (gsize i = 0; i < G_N_ELEMENTS(sets); i++) {
        if (sets[i].styles == 0) {
            continue;
        }
        Singles s = {0};
        limn_job_push_range(e->job, 0.15 * (double) i, 0.15 * (double) (i + 1));
        gboolean good = measure_singles(e, sets[i].styles, sets[i].title, &s, error);
        limn_job_pop_range(e->job);
        if (good) {
            Interval first = bootstrap(e->run, s.top1, s.ones, e->count, 3 * i);
            Interval five = bootstrap(e->run, s.top5, s.ones, e->count, 3 * i + 1);
            limn_column_add_string(set, sets[i].title);
            limn_column_add_number(names, e->scenes.n_names);
            add_interval(top1, first);
            add_interval(top5, five);
            add_interval(retrieval,
                         bootstrap(e->run, s.retrieval, s.ones, e->count, 3 * i + 2));
            limn_run_add_item_scalar(e->run, "first", sets[i].scalar, first.mean);
            limn_run_add_item_scalar(e->run, "among-five", sets[i].scalar, five.mean);
        }
        clear_singles(&s);
        if (!good) {
            return FALSE;
        }
    }
    limn_run_add_artifact(e->run, g_steal_pointer(&artifact));
    return TRUE;
}

// ---- how well maps find objects

typedef struct {
    double *hits, *energy, *iou, *prompts; // sums per scene
    guint constant;
} MethodScores;

static void
score_map(const Evaluation *e, const LimnExplainer *explainer, const LimnExplanation *x,
          const LimnScene *scene, guint8 value, MethodScores *m, guint i)
{
    int n = scene->picture->width, gh, gw;
    LimnRect rect;
    limn_explainer_get_grid((LimnExplainer *) (gsize) explainer, &gh, &gw, &rect);
    g_autofree float *display = g_new(float, (gsize) n *(gsize) n);
    g_autofree guint8 *mask = g_new(guint8, (gsize) n * (gsize) n);
    const guint8 *labels = scene->labels->data;
    gboolean constant =
        limn_display_map(limn_array_f32(x->map), gh, gw, &rect, display, n, n);
    m->constant += constant;
    for (int p = 0; p < n * n; p++) {
        mask[p] = labels[p] == value ? LIMN_MASK_OBJECT : LIMN_MASK_BACKGROUND;
    }
    LimnMapScores scores;
    m->prompts[i]++;
    if (constant || !limn_map_score(display, mask, (gint64) n * n, HALF, &scores, NULL)) {
        return; // says nothing: a miss
    }
    m->hits[i] += scores.pointing_hit;
    m->energy[i] += isfinite(scores.energy) ? scores.energy : 0;
    m->iou[i] += isfinite(scores.iou_threshold) ? scores.iou_threshold : 0;
}

static gboolean
measure_scene(Evaluation *e, LimnExplainer *explainer, const LimnExplainMethod *methods,
              guint n_methods, MethodScores *scores, guint i, GError **error)
{
    g_autoptr(LimnScene) scene = compose(e, e->scenes.styles, FALSE, i, error);
    if (scene == NULL ||
        !limn_explainer_set_image(explainer, scene->picture, LIMN_PREPROCESS_CLIP, 0,
                                  e->job, error)) {
        return FALSE;
    }
    const char *texts[LIMN_SCENE_MAX_OBJECTS + 1] = {NULL};
    for (int k = 0; k < scene->n_objects; k++) {
        texts[k] = e->sentences[scene->objects[k].name];
    }
    for (guint m = 0; m < n_methods; m++) {
        LimnExplainOptions options;
        limn_explain_options_init(&options);
        options.method = methods[m];
        options.layers = methods[m] == LIMN_EXPLAIN_GRAD_ECLIP
                             ? (int) limn_run_get_int(e->run, "layers")
                             : 1;
        options.seed = limn_run_get_seed(e->run);
        g_autoptr(GPtrArray) maps = limn_explainer_explain_all(
            explainer, &options, LIMN_SIDE_IMAGE, texts, e->job, error);
        if (maps == NULL) {
            return FALSE;
        }
        for (int k = 0; k < scene->n_objects; k++) {
            if (scene->objects[k].width > 0) {
                score_map(e, explainer, maps->pdata[k], scene, scene->objects[k].value,
                          &scores[m], i);
            }
        }
    }
    return TRUE;
}

static guint
choose_methods(const Evaluation *e, LimnExplainMethod methods[LIMN_EXPLAIN_N_METHODS])
{
    guint n = 0;
    for (int m = 0; m < LIMN_EXPLAIN_N_METHODS; m++) {
        if (limn_run_get_choice(e->run, "methods") == 1 ||
            !limn_explain_method_is_slow((LimnExplainMethod) m)) {
            methods[n++] = (LimnExplainMethod) m;
        }
    }
    return n;
}

static void
add_method_table(Evaluation *e, const LimnExplainMethod *methods, guint n_methods,
                 const MethodScores *scores)
{
    LimnTable *table = limn_table_new();
    LimnColumn *name = limn_table_add_column(table, "method", FALSE);
    Columns hits = add_columns(table, "pointing game"),
            energy = add_columns(table, "energy");
    Columns iou = add_columns(table, "IoU");
    LimnColumn *prompts = limn_table_add_column(table, "prompts", TRUE);
    LimnColumn *constant = limn_table_add_column(table, "constant maps", TRUE);
    for (guint m = 0; m < n_methods; m++) {
        const MethodScores *s = &scores[m];
        const char *id = limn_explain_method_id(methods[m]);
        double total = 0;
        for (guint i = 0; i < e->count; i++) {
            total += s->prompts[i];
        }
        Interval game = bootstrap(e->run, s->hits, s->prompts, e->count, 100 + 3 * m);
        Interval inside = bootstrap(e->run, s->energy, s->prompts, e->count, 101 + 3 * m);
        Interval overlap = bootstrap(e->run, s->iou, s->prompts, e->count, 102 + 3 * m);
        limn_column_add_string(name, limn_explain_method_title(methods[m]));
        add_interval(hits, game);
        add_interval(energy, inside);
        add_interval(iou, overlap);
        limn_column_add_number(prompts, total);
        limn_column_add_number(constant, s->constant);
        limn_run_add_item_scalar(e->run, "pointing-game", id, game.mean);
        limn_run_add_item_scalar(e->run, "iou", id, overlap.mean);
    }
    limn_run_add_artifact(e->run, limn_artifact_new_table("methods", table));
}

static gboolean
add_methods(Evaluation *e, GError **error)
{
    LimnExplainMethod methods[LIMN_EXPLAIN_N_METHODS];
    MethodScores scores[LIMN_EXPLAIN_N_METHODS];
    guint n_methods = choose_methods(e, methods);
    for (guint m = 0; m < n_methods; m++) {
        scores[m] = (MethodScores){g_new0(double, e->count), g_new0(double, e->count),
                                   g_new0(double, e->count), g_new0(double, e->count), 0};
    }
    g_autoptr(LimnExplainer) explainer = limn_explainer_new(e->clip);
    gboolean good = TRUE;
    for (guint i = 0; good && i < e->count; i++) {
        limn_job_report(e->job, "maps", 0.3 + 0.7 * i / e->count, "scene %u of %u", i + 1,
                        e->count);
        good = limn_job_check(e->job, error) &&
               measure_scene(e, explainer, methods, n_methods, scores, i, error);
    }
    if (good) {
        add_method_table(e, methods, n_methods, scores);
    }
    for (guint m = 0; m < n_methods; m++) {
        g_free(scores[m].hits);
        g_free(scores[m].energy);
        g_free(scores[m].iou);
        g_free(scores[m].prompts);
    }
    return good;
}

static gboolean
run_clip_evaluate(LimnRun *run, GError **error)
{
    Evaluation e = {.run = run,
                    .job = limn_run_get_job(run),
                    .count = (guint) limn_run_get_int(run, "count")};
    e.clip = limn_study_open_clip(run, error);
    gboolean good = e.clip != NULL && limn_study_scenes_read(run, &e.scenes, error) &&
                    embed_names(&e, error) && add_knowledge(&e, error) &&
                    add_methods(&e, error) && limn_job_check(e.job, error);
    g_clear_pointer(&e.names, limn_array_unref);
    g_strfreev(e.sentences);
    g_clear_pointer(&e.clip, limn_clip_unref);
    limn_study_scenes_clear(&e.scenes);
    return good;
}

const LimnOperation limn_operation_clip_evaluate = {
    .id = "clip-evaluate",
    .title = N_("Evaluate a CLIP"),
    .family = LIMN_FAMILY_LEARNING,
    .summary = N_("Measure what a CLIP knows of composed scenes and how well maps find "
                  "their objects."),
    .description = N_(
        "Single objects ask which of all names fits best (first, among five) and which "
        "of all pictures fits a name best (retrieval), in the styles trained on and in "
        "held-out ones. Scenes of several objects ask every method for a map per object "
        "and compare it with the exact mask: pointing game, share of energy inside, IoU "
        "at half of the maximum. Intervals are 95 % percentile intervals over whole "
        "scenes. A map that is constant counts as a miss."),
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .run = run_clip_evaluate,
};

// SPDX-License-Identifier: GPL-3.0-or-later

// Zero-shot classification: pictures against prompts, or against class names that are put
// into templates (the embeddings of all templates of a class are averaged).

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "engine/model/study-classes.h"
#include "engine/model/study-inputs.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const LimnInput inputs[] = {
    {.name = "model",
     .type = LIMN_INPUT_PATH,
     .accepts = N_("model folder or .safetensors file"),
     .summary = N_("CLIP checkpoint in the layout of Hugging Face, OpenCLIP or OpenAI"),
     .builtin = "models/emoji-clip"},
    {.name = "image",
     .type = LIMN_INPUT_PATH,
     .required = TRUE,
     .accepts = N_("PNG, JPEG, TIFF, WebP, or a folder of them"),
     .summary = N_("Picture or pictures to classify")},
    {.name = "text",
     .type = LIMN_INPUT_TEXT,
     .list = TRUE,
     .one_of = "classes",
     .accepts = N_("a sentence"),
     .summary = N_("Prompt, taken as it is")},
    {.name = "texts",
     .type = LIMN_INPUT_FILE,
     .one_of = "classes",
     .accepts = N_("text file"),
     .summary = N_("Prompts, one per line, taken as they are")},
    {.name = "class",
     .type = LIMN_INPUT_TEXT,
     .list = TRUE,
     .one_of = "classes",
     .accepts = N_("a name"),
     .summary = N_("Name of a class, put into the templates")},
    {.name = "classes",
     .type = LIMN_INPUT_FILE,
     .one_of = "classes",
     .accepts = N_("text file"),
     .summary = N_("Names of classes, one per line, put into the templates")},
    {.name = "templates",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("text file"),
     .summary = N_("Templates, one per line, with {} where the name goes")},
    {.name = NULL},
};

static const char *const template_sets[] = {"single", "neutral", NULL};
static const char *const template_set_summaries[] = {
    N_("a photo of a {}"),
    N_("the program's own list of neutral templates"),
};

static const LimnParameter parameters[] = {
    {.name = "template-set",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = template_sets,
     .choice_summaries = template_set_summaries,
     .summary = N_("Templates for class names when no file of them is given")},
    {.name = "top",
     .type = LIMN_PARAMETER_INT,
     .int_default = 0,
     .min = 0,
     .max = 1000000,
     .unit = N_("classes"),
     .summary = N_("Keep the best ones of every picture in the table (0: all)")},
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
    {"scores", "table", NULL,
     N_("for every picture the classes from best to worst: cosine, logit, probability")},
    {"cosines", "array", "[B,T]", N_("cosine of every picture with every class")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "scores",
    .layout = "table",
    .caption = N_("Scores of {image}"),
};

typedef struct {
    LimnRun *run;
    LimnJob *job;
    LimnClip *clip;
    LimnStudyClasses *classes;
    LimnPictureItems *items;
    guint top;
    LimnTable *table;
    LimnColumn *picture, *rank, *label, *cosine, *logit, *probability;
    GArray *cosines; // float, item by item
    GArray *done;    // guint64
} Classifying;

static void
init_table(Classifying *c)
{
    c->table = limn_table_new();
    c->picture = limn_table_add_column(c->table, "picture", FALSE);
    c->rank = limn_table_add_column(c->table, "rank", TRUE);
    c->label = limn_table_add_column(c->table, "label", FALSE);
    c->cosine = limn_table_add_column(c->table, "cosine", TRUE);
    c->logit = limn_table_add_column(c->table, "logit", TRUE);
    c->probability = limn_table_add_column(c->table, "probability", TRUE);
}

static void
add_rows(Classifying *c, guint64 index, const LimnClassScore *scores)
{
    g_autofree guint *by_rank = g_new(guint, c->classes->n);
    for (guint i = 0; i < c->classes->n; i++) {
        by_rank[scores[i].rank] = i;
    }
    for (guint r = 0; r < c->top; r++) {
        const LimnClassScore *score = &scores[by_rank[r]];
        limn_column_add_string(c->picture, c->items->names[index]);
        limn_column_add_number(c->rank, r + 1);
        limn_column_add_string(c->label, c->classes->labels[by_rank[r]]);
        limn_column_add_number(c->cosine, score->cosine);
        limn_column_add_number(c->logit, score->logit);
        limn_column_add_number(c->probability, score->probability);
    }
}

// Of one picture every class; of many only how sure the best one is.
static void
add_scalars(Classifying *c, guint64 index, const LimnClassScore *scores)
{
    for (guint i = 0; i < c->classes->n; i++) {
        const char *label = c->classes->labels[i];
        if (c->items->many && scores[i].rank == 0) {
            limn_run_add_item_scalar(c->run, "best_probability", c->items->names[index],
                                     scores[i].probability);
        } else if (!c->items->many) {
            limn_run_add_item_scalar(c->run, "cosine", label, scores[i].cosine);
            limn_run_add_item_scalar(c->run, "logit", label, scores[i].logit);
            limn_run_add_item_scalar(c->run, "probability", label, scores[i].probability);
        }
    }
}

static gboolean
classify_item(Classifying *c, guint64 index, GError **error)
{
    limn_job_report(c->job, "classify", 0, "%s", c->items->names[index]);
    gint64 start = g_get_monotonic_time();
    g_autoptr(LimnImage) image = limn_picture_load(c->items->paths[index], c->job, error);
    limn_job_add_time(c->job, "decode", (double) (g_get_monotonic_time() - start) * 1e-6);
    if (image == NULL) {
        return FALSE;
    }
    start = g_get_monotonic_time();
    g_autoptr(LimnArray) embedding =
        limn_clip_encode_image(c->clip, image, c->job, error);
    limn_job_add_time(c->job, "encode", (double) (g_get_monotonic_time() - start) * 1e-6);
    if (embedding == NULL) {
        return FALSE;
    }
    g_autofree LimnClassScore *scores = g_new0(LimnClassScore, c->classes->n);
    limn_study_score(c->classes, c->clip, embedding, scores);
    for (guint i = 0; i < c->classes->n; i++) {
        float cosine = (float) scores[i].cosine;
        g_array_append_val(c->cosines, cosine);
    }
    add_rows(c, index, scores);
    add_scalars(c, index, scores);
    g_array_append_val(c->done, index);
    return TRUE;
}

static gboolean
classify_items(Classifying *c, GError **error)
{
    double n = (double) c->items->n;
    for (guint64 i = 0; i < c->items->n; i++) {
        if (!limn_run_owns_item(c->run, i)) {
            continue;
        }
        if (!limn_run_begin_item(c->run, i, c->items->names[i], error)) {
            return FALSE;
        }
        GError *local = NULL;
        limn_job_push_range(c->job, (double) i / n, (double) (i + 1) / n);
        gboolean good = classify_item(c, i, &local);
        limn_job_pop_range(c->job);
        if (!good && !limn_study_item_failed(c->run, c->items, i, local, error)) {
            return FALSE;
        }
    }
    return limn_study_check_any_item(c->run, c->items, error);
}

static gboolean
add_artifacts(Classifying *c, GError **error)
{
    if (c->done->len == 0) {
        return TRUE;
    }
    g_autoptr(LimnArray) cosines =
        limn_array_new_f32_2d(c->done->len, c->classes->n, error);
    if (cosines == NULL) {
        return FALSE;
    }
    memcpy(cosines->data, c->cosines->data, c->cosines->len * sizeof(float));
    LimnArtifact *scores = limn_artifact_new_table("scores", g_steal_pointer(&c->table));
    LimnArtifact *array = limn_artifact_new_array("cosines", cosines);
    for (guint i = 0; i < c->classes->n; i++) {
        limn_artifact_add_label(array, c->classes->labels[i]);
    }
    for (guint k = 0; c->items->many && k < c->done->len; k++) {
        guint64 index = g_array_index(c->done, guint64, k);
        limn_artifact_tag_item(scores, index, c->top);
        limn_artifact_tag_item(array, index, 1);
    }
    limn_run_add_artifact(c->run, scores);
    limn_run_add_artifact(c->run, array);
    return TRUE;
}

static gboolean
check_templates(LimnRun *run, GError **error)
{
    gboolean names = limn_run_get_input(run, "class") != NULL ||
                     limn_run_get_input(run, "classes") != NULL;
    if (limn_run_get_input(run, "templates") != NULL && !names) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "templates=: prompts are taken as they are (expected class= or "
                    "classes= with templates)");
        return FALSE;
    }
    return TRUE;
}

static gboolean
run_clip_classify(LimnRun *run, GError **error)
{
    if (!check_templates(run, error)) {
        return FALSE;
    }
    Classifying c = {.run = run, .job = limn_run_get_job(run)};
    c.cosines = g_array_new(FALSE, FALSE, sizeof(float));
    c.done = g_array_new(FALSE, FALSE, sizeof(guint64));
    c.clip = limn_study_open_clip(run, error);
    c.items = c.clip != NULL ? limn_study_load_items(run, error) : NULL;
    c.classes = c.items != NULL ? limn_study_load_classes(run, c.clip, error) : NULL;
    gboolean good = FALSE;
    if (c.classes != NULL) {
        guint top = (guint) limn_run_get_int(run, "top");
        c.top = top == 0 ? c.classes->n : MIN(top, c.classes->n);
        init_table(&c);
        good = classify_items(&c, error) && add_artifacts(&c, error);
    }
    g_clear_pointer(&c.clip, limn_clip_unref);
    g_clear_pointer(&c.items, limn_picture_items_free);
    g_clear_pointer(&c.classes, limn_study_classes_free);
    g_clear_pointer(&c.table, limn_table_free);
    g_array_unref(c.cosines);
    g_array_unref(c.done);
    return good;
}

const LimnOperation limn_operation_clip_classify = {
    .id = "clip-classify",
    .title = N_("CLIP classification"),
    .family = LIMN_FAMILY_EXPLAIN,
    .summary = N_("Score pictures against prompts or class names without training."),
    .description =
        N_("A CLIP model compares every picture with every prompt. Class names are put "
           "into templates; the unit embeddings of all templates of a class are "
           "averaged. The probability is the softmax of the logits over the classes. "
           "In a folder, pictures that cannot be used are skipped and listed; the "
           "scores of a picture do not depend on what else is in the folder."),
    .paper = {.title = "Learning Transferable Visual Models From Natural Language "
                       "Supervision",
              .authors = "Radford, Kim, Hallacy, Ramesh, Goh, Agarwal, Sastry, Askell, "
                         "Mishkin, Clark, Krueger, Sutskever",
              .venue = "ICML 2021"},
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .shardable = TRUE,
    .run = run_clip_classify,
};

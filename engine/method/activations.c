// SPDX-License-Identifier: GPL-3.0-or-later

// Activations of one layer of a CLIP over a folder of pictures, composed scenes or
// sentences. The computing is in engine/model (activations.h, probe-pictures.h); what the
// study holds is described in activations.h.

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/model/activations.h"
#include "engine/model/probe-pictures.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

// Pictures decoded before they go through the tower.
#define BATCH ((gsize) 64)
#define MAX_BYTES ((gint64) 8 << 30)

static const LimnInput inputs[] = {
    {.name = "model",
     .type = LIMN_INPUT_PATH,
     .accepts = N_("model folder or .safetensors file"),
     .summary = N_("CLIP checkpoint in the layout of Hugging Face, OpenCLIP or OpenAI"),
     .builtin = "models/emoji-clip"},
    {.name = "image",
     .type = LIMN_INPUT_PATH,
     .accepts = N_("a folder of pictures (with captions.jsonl: those it lists), or one "
                   "picture"),
     .summary = N_("Pictures to record (none: scenes composed on the fly)")},
    {.name = "texts",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("text file"),
     .summary = N_("Sentences for a layer of the text tower, one per line (none: the "
                   "captions of the pictures)")},
    {.name = "icons",
     .type = LIMN_INPUT_FILE,
     .list = TRUE,
     .accepts = N_("icons.json of Iconify icon sets"),
     .summary = N_("Drawings of composed scenes, one style a file (none: built-in "
                   "shapes)")},
    {.name = "concepts",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("tab-separated table: name, key, group, ..."),
     .summary = N_("Names with their groups and keys in the icon sets"),
     .builtin = "text/concepts.tsv"},
    {.name = NULL},
};

static const char *const poolings[] = {"first", "avg", "max", NULL};
static const char *const pooling_summaries[] = {
    N_("the token that becomes the embedding: class token, end token"),
    N_("mean over all tokens"),
    N_("largest of all tokens"),
};
static const char *const yes_no[] = {"yes", "no", NULL};
static const char *const keeps[] = {"scenes", "none", NULL};
static const char *const keep_summaries[] = {
    N_("composed scenes are written into the study"),
    N_("no picture is written"),
};
static const char *const backgrounds[] = {"mixed",  "plain",  "light", "gradient",
                                          "smooth", "blocks", NULL};
static const char *const name_choices[] = {"all", "common", NULL};

static const LimnParameter parameters[] = {
    {.name = "layer",
     .type = LIMN_PARAMETER_TEXT,
     .summary =
         N_("Layer as TOWER.BLOCK.PART, for example vision.3.mlp; parts: residual, "
            "attention, mlp (unset: mlp of the last vision block)")},
    {.name = "pool",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = poolings,
     .choice_summaries = pooling_summaries,
     .summary = N_("How the tokens of an input become one number per neuron")},
    {.name = "list",
     .type = LIMN_PARAMETER_BOOL,
     .summary = N_("Only list the layers of the model")},
    {.name = "embeddings",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = yes_no,
     .summary = N_("Record the model's embeddings as well")},
    {.name = "map-unit",
     .type = LIMN_PARAMETER_INT,
     .int_default = -1,
     .min = -1,
     .max = 1000000,
     .summary = N_("Also record the map of this unit over the patches (-1: none)"),
     .advanced = TRUE},
    {.name = "heads",
     .type = LIMN_PARAMETER_INT,
     .int_default = 0,
     .min = 0,
     .max = 1024,
     .summary = N_("Attention heads, where the checkpoint does not tell (0: it does)"),
     .advanced = TRUE},
    {.name = "count",
     .type = LIMN_PARAMETER_INT,
     .int_default = 300,
     .min = 1,
     .max = 1000000,
     .unit = N_("scenes"),
     .summary = N_("How many scenes are composed")},
    {.name = "size",
     .type = LIMN_PARAMETER_INT,
     .int_default = 112,
     .min = 8,
     .max = 2048,
     .unit = N_("pixels"),
     .summary = N_("Side of a scene")},
    {.name = "objects",
     .type = LIMN_PARAMETER_TEXT,
     .text_default = "0.3,0.35,0.25,0.1",
     .summary = N_("Chance of one, two, three and four objects in a scene")},
    {.name = "sizes",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Smallest and largest side for one, two, ... objects, in pixels "
                   "(unset: in proportion to the canvas)"),
     .advanced = TRUE},
    {.name = "background",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = backgrounds,
     .summary = N_("What is behind the objects"),
     .advanced = TRUE},
    {.name = "names",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = name_choices,
     .summary = N_("Which names appear in scenes")},
    {.name = "styles",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Styles to draw, separated by commas (unset: all)"),
     .advanced = TRUE},
    {.name = "held-out-styles",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Styles that never appear"),
     .advanced = TRUE},
    {.name = "held-out-names",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Names that never appear"),
     .advanced = TRUE},
    {.name = "augment",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 0,
     .min = 0,
     .max = 1,
     .summary = N_("How often hue, rotation, outlines, grey and blur are changed"),
     .advanced = TRUE},
    {.name = "keep",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = keeps,
     .choice_summaries = keep_summaries,
     .summary = N_("Pictures in the study")},
    {.name = NULL},
};

static const LimnOutput outputs[] = {
    {"layers", "table", "layers", N_("the layers of the model")},
    {"activations", "array", "[n,m]", N_("one number per input and neuron")},
    {"embeddings", "array", "[n,P]", N_("the model's embeddings (embeddings=yes)")},
    {"index", "table", "n rows", N_("name and caption of every row")},
    {"presence", "array", "[n,C]", N_("1 where a concept is in the picture, if known")},
    {"concepts", "table", "C rows", N_("the concepts of presence with their groups")},
    {"maps", "heatmap", "[n,1,gh,gw]", N_("one unit over the patches (map-unit)")},
    {"pictures", "pictures", "n pictures", N_("the composed scenes (keep=scenes)")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "layers",
    .layout = "table",
    .caption = N_("Layers"),
};

// ---- one recording

typedef struct {
    LimnRun *run;
    LimnJob *job;
    LimnClip *clip;
    LimnLayer layer;
    LimnPooling pooling;
    LimnProbe *probe;
    gint64 map_unit;
    gboolean wants_embeddings, keeps_pictures;
    int gh, gw;
    gsize n, width, embedding, cells; // n: items of this process
    LimnArray *activations, *embeddings, *presence, *maps;
    LimnArray *pixels; // f32 [batch,3,h,w]
    LimnColumn *column_item, *column_name, *column_caption;
    LimnArtifact *index, *pictures, *heatmap;
    GArray *done; // guint64, items that worked
    // The batch: items in it, their pictures.
    guint64 batch[BATCH];
    gsize n_batch;
} Recording;

static void
recording_clear(Recording *r)
{
    LimnArray **arrays[] = {&r->activations, &r->embeddings, &r->presence, &r->maps,
                            &r->pixels};
    for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++) {
        g_clear_pointer(arrays[i], limn_array_unref);
    }
    g_clear_pointer(&r->index, limn_artifact_unref);
    g_clear_pointer(&r->pictures, limn_artifact_unref);
    g_clear_pointer(&r->heatmap, limn_artifact_unref);
    g_clear_pointer(&r->done, g_array_unref);
    limn_probe_free(r->probe);
    g_clear_pointer(&r->clip, limn_clip_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Recording, recording_clear)

static void
add_layers(LimnRun *run, LimnClip *clip)
{
    g_autoptr(GArray) layers = limn_clip_list_layers(clip);
    LimnTable *table = limn_table_new();
    LimnColumn *name = limn_table_add_column(table, "layer", FALSE);
    LimnColumn *tower = limn_table_add_column(table, "tower", FALSE);
    LimnColumn *block = limn_table_add_column(table, "block", TRUE);
    LimnColumn *part = limn_table_add_column(table, "part", FALSE);
    LimnColumn *neurons = limn_table_add_column(table, "neurons", TRUE);
    for (guint i = 0; i < layers->len; i++) {
        const LimnLayer *layer = &g_array_index(layers, LimnLayer, i);
        g_autofree char *text = limn_layer_dup_name(layer);
        limn_column_add_string(name, text);
        limn_column_add_string(tower, layer->text ? "text" : "vision");
        limn_column_add_number(block, layer->block);
        limn_column_add_string(part, limn_layer_part_name(layer->part));
        limn_column_add_number(neurons, (double) limn_layer_width(clip, layer));
    }
    limn_run_add_artifact(run, limn_artifact_new_table("layers", table));
}

// ---- preparing

static LimnArray *
new_rows(Recording *r, const char *what, gsize width, LimnDType dtype, GError **error)
{
    gint64 shape[2] = {(gint64) r->n, (gint64) width};
    double bytes = (double) r->n * (double) width * (double) limn_dtype_size(dtype);
    if (bytes > (double) MAX_BYTES) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "%s of %" G_GSIZE_FORMAT " inputs with %" G_GSIZE_FORMAT
                    " numbers each need more than %d GiB (expected fewer inputs, or "
                    "--shard)",
                    what, r->n, width, (int) (MAX_BYTES >> 30));
        return NULL;
    }
    return limn_array_new(dtype, 2, shape, error);
}

static gboolean
allocate(Recording *r, GError **error)
{
    const LimnConceptList *concepts = limn_probe_get_concepts(r->probe);
    r->activations = new_rows(r, "activations", r->width, LIMN_DTYPE_F32, error);
    if (r->activations == NULL) {
        return FALSE;
    }
    if (r->wants_embeddings) {
        r->embeddings = new_rows(r, "embeddings", r->embedding, LIMN_DTYPE_F32, error);
        if (r->embeddings == NULL) {
            return FALSE;
        }
    }
    if (concepts != NULL) {
        r->presence = new_rows(r, "labels", concepts->names->len, LIMN_DTYPE_U8, error);
        if (r->presence == NULL) {
            return FALSE;
        }
    }
    if (r->map_unit >= 0) {
        r->maps = new_rows(r, "maps", r->cells, LIMN_DTYPE_F32, error);
        if (r->maps == NULL) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
check_map_unit(Recording *r, GError **error)
{
    r->map_unit = limn_run_get_int(r->run, "map-unit");
    if (r->map_unit >= 0 && (r->layer.text || r->map_unit >= (gint64) r->width)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "map-unit=%" G_GINT64_FORMAT ": %s", r->map_unit,
                    r->layer.text ? "sentences have no map (expected a layer of the "
                                    "vision tower)"
                                  : "the layer has no such unit");
        return FALSE;
    }
    return TRUE;
}

// Every picture comes to the model's own size.
static gboolean
make_pixels(Recording *r, GError **error)
{
    int size = limn_clip_get_config(r->clip)->image_size;
    int patch = limn_clip_get_config(r->clip)->patch;
    int side = limn_clip_get_preprocess(r->clip)->size;
    gint64 shape[4] = {(gint64) BATCH, 3, side, side};
    r->gh = r->gw = (side > 0 ? side : size) / patch;
    r->cells = (gsize) r->gh * (gsize) r->gw;
    r->pixels = r->layer.text ? NULL : limn_array_new(LIMN_DTYPE_F32, 4, shape, error);
    return r->layer.text || r->pixels != NULL;
}

static gboolean
check_kept_pictures(Recording *r, GError **error)
{
    gint64 side = limn_run_get_int(r->run, "size");
    r->keeps_pictures = limn_probe_is_composed(r->probe) && !r->layer.text &&
                        limn_run_get_choice(r->run, "keep") == 0;
    if (r->keeps_pictures && (gint64) r->n > ((gint64) 1 << 30) / (side * side)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "count=%" G_GSIZE_FORMAT ": these are more scenes than one study "
                    "keeps (expected at most %" G_GINT64_FORMAT ", or keep=none)",
                    r->n, ((gint64) 1 << 30) / (side * side));
        return FALSE;
    }
    return TRUE;
}

static gboolean
prepare(Recording *r, GError **error)
{
    const char *name = limn_run_get_text(r->run, "layer");
    if (!limn_layer_parse(r->clip, "layer", name, &r->layer, error)) {
        return FALSE;
    }
    r->pooling = (LimnPooling) limn_run_get_choice(r->run, "pool");
    r->width = (gsize) limn_layer_width(r->clip, &r->layer);
    r->embedding = (gsize) limn_clip_get_config(r->clip)->projection;
    r->wants_embeddings = limn_run_get_choice(r->run, "embeddings") == 0;
    if (!check_map_unit(r, error)) {
        return FALSE;
    }
    r->probe = limn_probe_open(r->run, r->layer.text, error);
    if (r->probe == NULL) {
        return FALSE;
    }
    for (guint64 i = 0; i < limn_probe_get_items(r->probe)->n; i++) {
        r->n += limn_run_owns_item(r->run, i);
    }
    if (!check_kept_pictures(r, error) || !make_pixels(r, error) || !allocate(r, error)) {
        return FALSE;
    }
    LimnTable *table = limn_table_new();
    r->column_item = limn_table_add_column(table, "item", TRUE);
    r->column_name = limn_table_add_column(table, "name", FALSE);
    r->column_caption = limn_table_add_column(table, "caption", FALSE);
    r->index = limn_artifact_new_table("index", table);
    r->done = g_array_new(FALSE, FALSE, sizeof(guint64));
    if (r->keeps_pictures) {
        r->pictures = limn_artifact_new(LIMN_ARTIFACT_PICTURES, "pictures");
    }
    if (r->map_unit >= 0) {
        r->heatmap = limn_artifact_new(LIMN_ARTIFACT_HEATMAP, "maps");
    }
    return TRUE;
}

// ---- a batch

// Decodes item `item` into place `at` of the batch.
static gboolean
load_picture(Recording *r, guint64 item, gsize at, GError **error)
{
    g_autoptr(LimnImage) image = limn_probe_load(r->probe, item, r->job, error);
    g_autoptr(LimnPreprocessed) seen =
        image != NULL
            ? limn_preprocess(image, limn_clip_get_preprocess(r->clip), r->job, error)
            : NULL;
    if (seen == NULL) {
        return FALSE;
    }
    gsize plane = (gsize) r->pixels->length / BATCH;
    if ((gsize) seen->tensor->length != plane) {
        g_autofree char *shape = limn_array_describe_shape(seen->tensor);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: the model's preprocessing gave %s (expected %" G_GSIZE_FORMAT
                    " numbers)",
                    limn_probe_get_items(r->probe)->names[item], shape, plane);
        return FALSE;
    }
    memcpy(limn_array_f32(r->pixels) + at * plane, seen->tensor->data,
           plane * sizeof(float));
    if (r->keeps_pictures) {
        limn_artifact_add_picture(r->pictures, image, NULL);
    }
    if (r->heatmap != NULL && (r->keeps_pictures || !limn_probe_is_composed(r->probe))) {
        limn_artifact_add_picture(r->heatmap, seen->image, NULL);
    }
    return TRUE;
}

static void
add_index_row(Recording *r, guint64 item, gsize row)
{
    limn_column_add_number(r->column_item, (double) item);
    limn_column_add_string(r->column_name, limn_probe_get_items(r->probe)->names[item]);
    limn_column_add_string(r->column_caption, limn_probe_get_caption(r->probe, item));
    if (r->presence != NULL) {
        gsize k = (gsize) r->presence->shape[1];
        memcpy(limn_array_u8(r->presence) + row * k,
               limn_probe_get_presence(r->probe, item), k);
    }
    g_array_append_val(r->done, item);
}

static gboolean
record_batch(Recording *r, GError **error)
{
    gsize row = r->done->len;
    LimnRecord record = {.pooled = limn_array_f32(r->activations) + row * r->width,
                         .map_unit = r->map_unit};
    if (r->embeddings != NULL) {
        record.embeddings = limn_array_f32(r->embeddings) + row * r->embedding;
    }
    if (r->maps != NULL) {
        record.map = limn_array_f32(r->maps) + row * r->cells;
    }
    gboolean good;
    if (r->layer.text) {
        const char *text = limn_probe_get_caption(r->probe, r->batch[0]);
        good = limn_layer_record_texts(r->clip, &r->layer, r->pooling, &text, 1, &record,
                                       r->job, error);
    } else {
        LimnArray part = *r->pixels; // the pictures that are there
        part.shape[0] = (gint64) r->n_batch;
        good = limn_layer_record_pixels(r->clip, &r->layer, r->pooling, &part, &record,
                                        r->job, error);
    }
    for (gsize i = 0; good && i < r->n_batch; i++) {
        add_index_row(r, r->batch[i], row + i);
    }
    r->n_batch = 0;
    return good;
}

// The items [n] one after another; sentences go through the tower one by one, so that
// what is said about one belongs to it.
static gboolean
run_items(Recording *r, const guint64 *items, gsize n, GError **error)
{
    const LimnPictureItems *all = limn_probe_get_items(r->probe);
    if (!limn_probe_prepare(r->probe, items, n, r->job, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < n; i++) {
        GError *local = NULL;
        if (!limn_run_begin_item(r->run, items[i], all->names[items[i]], error)) {
            return FALSE;
        }
        if (r->layer.text && limn_probe_get_caption(r->probe, items[i]) == NULL) {
            local = g_error_new(LIMN_ERROR, LIMN_ERROR_FORMAT,
                                "%s: the picture has no caption", all->names[items[i]]);
        } else if (r->layer.text || load_picture(r, items[i], r->n_batch, &local)) {
            r->batch[r->n_batch++] = items[i];
        }
        if (local != NULL &&
            !limn_study_item_failed(r->run, all, items[i], local, error)) {
            return FALSE;
        }
        if (r->layer.text && r->n_batch > 0 && !record_batch(r, error)) {
            return FALSE;
        }
    }
    gboolean good = r->n_batch == 0 || record_batch(r, error);
    limn_probe_release(r->probe);
    return good;
}

static gboolean
record_all(Recording *r, GError **error)
{
    const LimnPictureItems *all = limn_probe_get_items(r->probe);
    guint64 items[BATCH];
    gsize n = 0, seen = 0;
    for (guint64 i = 0; i < all->n; i++) {
        if (!limn_run_owns_item(r->run, i)) {
            continue;
        }
        items[n++] = i;
        seen++;
        if (n < BATCH && seen < r->n) {
            continue;
        }
        limn_job_report(r->job, "record", (double) (seen - n) / (double) r->n,
                        "%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT, seen - n, r->n);
        if (!run_items(r, items, n, error)) {
            return FALSE;
        }
        n = 0;
    }
    return limn_study_check_any_item(r->run, all, error);
}

// ---- results

static void
tag_items(Recording *r, LimnArtifact *artifact)
{
    for (guint i = 0; i < r->done->len; i++) {
        limn_artifact_tag_item(artifact, g_array_index(r->done, guint64, i), 1);
    }
}

// The first rows of the array, those that worked.
static void
add_array(Recording *r, const char *name, LimnArray *array, const char *title)
{
    if (array == NULL) {
        return;
    }
    array->shape[0] = r->done->len;
    array->length = array->shape[0] * array->shape[1];
    LimnArtifact *artifact = limn_artifact_new_array(name, array);
    artifact->title = g_strdup(title);
    tag_items(r, artifact);
    limn_run_add_artifact(r->run, artifact);
}

static void
add_maps(Recording *r)
{
    if (r->maps == NULL) {
        return;
    }
    LimnArray *field = r->maps;
    field->rank = 4;
    field->shape[0] = r->done->len;
    field->shape[1] = 1;
    field->shape[2] = r->gh;
    field->shape[3] = r->gw;
    field->length = field->shape[0] * (gint64) r->cells;
    r->heatmap->field = limn_array_ref(field);
    r->heatmap->title = g_strdup_printf("unit %" G_GINT64_FORMAT, r->map_unit);
    for (guint i = 0; i < r->done->len; i++) {
        guint64 item = g_array_index(r->done, guint64, i);
        limn_artifact_add_label(r->heatmap, limn_probe_get_items(r->probe)->names[item]);
    }
    tag_items(r, r->heatmap);
    limn_run_add_artifact(r->run, g_steal_pointer(&r->heatmap));
}

static void
add_concepts(Recording *r)
{
    const LimnConceptList *list = limn_probe_get_concepts(r->probe);
    if (list == NULL) {
        return;
    }
    LimnTable *table = limn_table_new();
    LimnColumn *name = limn_table_add_column(table, "concept", FALSE);
    LimnColumn *group = limn_table_add_column(table, "group", FALSE);
    LimnColumn *subgroup = limn_table_add_column(table, "subgroup", FALSE);
    for (guint i = 0; i < list->names->len; i++) {
        const LimnConceptName *entry = g_ptr_array_index(list->names, i);
        limn_column_add_string(name, entry->name);
        limn_column_add_string(group, entry->group);
        limn_column_add_string(subgroup, entry->subgroup);
    }
    limn_run_add_artifact(r->run, limn_artifact_new_table("concepts", table));
}

static void
add_results(Recording *r)
{
    g_autofree char *layer = limn_layer_dup_name(&r->layer);
    g_autofree char *title = g_strdup_printf("%s, %s", layer, poolings[r->pooling]);
    add_array(r, "activations", r->activations, title);
    add_array(r, "embeddings", r->embeddings, "embeddings");
    add_array(r, "presence", r->presence, "presence");
    tag_items(r, r->index);
    limn_run_add_artifact(r->run, g_steal_pointer(&r->index));
    add_concepts(r);
    add_maps(r);
    if (r->pictures != NULL) {
        for (guint i = 0; i < r->done->len; i++) {
            guint64 item = g_array_index(r->done, guint64, i);
            const char *caption = limn_probe_get_caption(r->probe, item);
            limn_artifact_add_label(r->pictures, caption != NULL ? caption : "");
        }
        tag_items(r, r->pictures);
        limn_run_add_artifact(r->run, g_steal_pointer(&r->pictures));
    }
}

static gboolean
run_activations(LimnRun *run, GError **error)
{
    g_auto(Recording) r = {.run = run, .job = limn_run_get_job(run)};
    r.clip = limn_study_open_clip(run, error);
    if (r.clip == NULL) {
        return FALSE;
    }
    add_layers(run, r.clip);
    if (limn_run_get_bool(run, "list")) {
        return TRUE;
    }
    if (!prepare(&r, error)) {
        return FALSE;
    }
    gint64 start = g_get_monotonic_time();
    gboolean good = record_all(&r, error);
    limn_job_add_time(r.job, "record", (double) (g_get_monotonic_time() - start) * 1e-6);
    if (good) {
        add_results(&r);
    }
    return good;
}

// Neurons that never change, and how often the others are positive.
static gboolean
finish_activations(LimnRun *run, GError **error)
{
    LimnArtifact *artifact = limn_run_find_artifact(run, "activations");
    if (artifact == NULL) {
        return TRUE;
    }
    gsize n = (gsize) artifact->array->shape[0], m = (gsize) artifact->array->shape[1];
    const float *x = limn_array_f32(artifact->array);
    gsize n_constant = 0;
    double n_positive = 0;
    for (gsize j = 0; j < m; j++) {
        gboolean varies = FALSE;
        for (gsize i = 0; i < n; i++) {
            varies = varies || x[i * m + j] != x[j];
            n_positive += x[i * m + j] > 0;
        }
        n_constant += !varies;
    }
    limn_run_add_scalar(run, "inputs", (double) n);
    limn_run_add_scalar(run, "neurons", (double) m);
    limn_run_add_scalar(run, "constant", (double) n_constant);
    limn_run_add_scalar(run, "positive", n * m > 0 ? n_positive / (double) (n * m) : NAN);
    return TRUE;
}

const LimnOperation limn_operation_activations = {
    .id = "activations",
    .title = N_("Activations"),
    .family = LIMN_FAMILY_EXPLAIN,
    .summary = N_("List the layers of a CLIP model and record what one of them answers "
                  "to many pictures."),
    .description = N_(
        "Every input goes through the tower once; of the layer asked for one number per "
        "neuron is kept: that of the token that becomes the embedding, the mean or the "
        "largest over all tokens. Inputs are the pictures of a folder, scenes composed "
        "on the fly, whose objects are known, or sentences. The study folder is what "
        "neuron-explanations takes as its activations."),
    .paper = {.title = "Linear Explanations for Individual Neurons",
              .authors = "Oikarinen, Weng",
              .venue = "ICML 2024"},
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .shardable = TRUE,
    .run = run_activations,
    .finish = finish_activations,
};

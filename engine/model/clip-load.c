// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/clip-load.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"

// A tensor to be loaded and where its data go. A fused one (q, k and v in one) fills
// three places, `step` elements apart.
typedef struct {
    const LimnTensorInfo *info;
    const float **place[3];
    int n_places;
    gsize step;
    gboolean text;
    LimnArray *array;
    GError *error;
} Wanted;

static void
clear_wanted(gpointer data)
{
    Wanted *wanted = data;
    g_clear_pointer(&wanted->array, limn_array_unref);
    g_clear_error(&wanted->error);
}

void
limn_clip_loader_clear(LimnClipLoader *loader)
{
    g_clear_pointer(&loader->weights, limn_safetensors_unref);
    g_clear_pointer(&loader->vision, g_free);
    g_clear_pointer(&loader->text, g_free);
    g_clear_pointer(&loader->root, g_free);
    g_clear_pointer(&loader->used, g_hash_table_unref);
    g_clear_pointer(&loader->wanted, g_array_unref);
}

// The beginning of the first tensor name that ends in `end`, without it; NULL: none.
// Of several the shortest wins.
static char *
find_prefix(LimnSafetensors *weights, const char *end)
{
    const char *best = NULL;
    gsize best_length = 0, end_length = strlen(end);
    for (guint i = 0; i < limn_safetensors_n_tensors(weights); i++) {
        const char *name = limn_safetensors_get_info(weights, i)->name;
        gsize length = strlen(name);
        if (!g_str_has_suffix(name, end)) {
            continue;
        }
        length -= end_length;
        if (length > 0 && name[length - 1] != '.') {
            continue;
        }
        if (best == NULL || length < best_length) {
            best = name;
            best_length = length;
        }
    }
    return best != NULL ? g_strndup(best, best_length) : NULL;
}

static gboolean
has_part(LimnSafetensors *weights, const char *part)
{
    for (guint i = 0; i < limn_safetensors_n_tensors(weights); i++) {
        if (strstr(limn_safetensors_get_info(weights, i)->name, part) != NULL) {
            return TRUE;
        }
    }
    return FALSE;
}

// Tensors that only architectures have which are not supported.
static const struct {
    const char *part, *what;
} FOREIGN[] = {
    {"visual.trunk.", "timm vision towers are not supported"},
    {"visual.layer1.0.", "ResNet vision towers are not supported"},
    {"visual.attnpool.", "ResNet vision towers are not supported"},
    {"text_decoder.", "CoCa models are not supported"},
    {"visual.attn_pool.", "CoCa models are not supported"},
    {"vision_model.head.", "SigLIP models are not supported"},
    {"visual.blocks.0.", "EVA vision towers are not supported"},
    {"text.transformer.encoder.", "text towers of other libraries are not supported"},
    {"text.transformer.embeddings.", "text towers of other libraries are not supported"},
    {"text_model.encoder.layer.0.attention.",
     "text towers of other libraries are not supported"},
    {"text_encoder.encoder.layer.0.", "BLIP models are not supported"},
    {"vit.embeddings.", "image classifiers are not supported"},
    {"lora_A.", "unmerged LoRA weights are not supported; merge them first"},
    {".ls_1.gamma", "layer scale is not supported"},
};

static gboolean
refuse(const LimnClipLoader *loader, const char *found, const char *what, GError **error)
{
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                "%s: %s (found tensor %s, expected a CLIP with two transformer towers)",
                loader->file, what, found);
    return FALSE;
}

static gboolean
refuse_foreign(const LimnClipLoader *loader, GError **error)
{
    for (gsize f = 0; f < G_N_ELEMENTS(FOREIGN); f++) {
        for (guint i = 0; i < limn_safetensors_n_tensors(loader->weights); i++) {
            const char *name = limn_safetensors_get_info(loader->weights, i)->name;
            if (strstr(name, FOREIGN[f].part) != NULL) {
                return refuse(loader, name, FOREIGN[f].what, error);
            }
        }
    }
    return TRUE;
}

static gboolean
no_clip(const LimnClipLoader *loader, GError **error)
{
    guint n = limn_safetensors_n_tensors(loader->weights);
    g_autofree char *token = find_prefix(loader->weights, "token_embedding.weight");
    if (token != NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: only a text tower was found (expected a vision tower too)",
                    loader->file);
    } else if (n == 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: the file holds no tensors (expected those of a CLIP)",
                    loader->file);
    } else {
        const char *first = limn_safetensors_get_info(loader->weights, 0)->name;
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: this is no CLIP (found %u tensors such as %s, expected "
                    "visual.conv1.weight or "
                    "vision_model.embeddings.patch_embedding.weight)",
                    loader->file, n, first);
    }
    return FALSE;
}

// "model.vision_model." -> "model."
static char *
strip_end(const char *prefix, const char *end)
{
    gsize length = strlen(prefix);
    return g_strndup(prefix,
                     g_str_has_suffix(prefix, end) ? length - strlen(end) : length);
}

static void
find_hf_prefixes(LimnClipLoader *loader)
{
    loader->text = find_prefix(loader->weights, "embeddings.token_embedding.weight");
    loader->root = strip_end(loader->vision, "vision_model.");
    loader->layout = "Hugging Face";
    loader->hf = TRUE;
}

static void
find_open_prefixes(LimnClipLoader *loader)
{
    loader->text = find_prefix(loader->weights, "token_embedding.weight");
    loader->root = strip_end(loader->vision, "visual.");
    loader->layout =
        has_part(loader->weights, "input_resolution") ? "OpenAI" : "OpenCLIP";
}

gboolean
limn_clip_loader_init(LimnClipLoader *loader, LimnSafetensors *weights, const char *file,
                      LimnClip *clip, GError **error)
{
    memset(loader, 0, sizeof *loader);
    loader->weights = limn_safetensors_ref(weights);
    loader->file = file;
    loader->clip = clip;
    loader->used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    loader->wanted = g_array_new(FALSE, TRUE, sizeof(Wanted));
    g_array_set_clear_func(loader->wanted, clear_wanted);
    if (!refuse_foreign(loader, error)) {
        return FALSE;
    }
    loader->vision = find_prefix(weights, "embeddings.patch_embedding.weight");
    if (loader->vision != NULL) {
        find_hf_prefixes(loader);
        return TRUE;
    }
    g_autofree char *prefix = find_prefix(weights, "visual.conv1.weight");
    if (prefix == NULL) {
        return no_clip(loader, error);
    }
    loader->vision = g_strconcat(prefix, "visual.", NULL);
    find_open_prefixes(loader);
    return TRUE;
}

const LimnTensorInfo *
limn_clip_loader_find(LimnClipLoader *loader, const char *prefix, const char *name)
{
    g_autofree char *full = g_strconcat(prefix, name, NULL);
    return limn_safetensors_find(loader->weights, full);
}

static char *
block_prefix(const LimnClipLoader *loader, gboolean text)
{
    const char *tower = text ? loader->text : loader->vision;
    return g_strconcat(tower, loader->hf ? "encoder.layers." : "transformer.resblocks.",
                       NULL);
}

int
limn_clip_loader_count_blocks(LimnClipLoader *loader, gboolean text)
{
    g_autofree char *prefix = block_prefix(loader, text);
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    gsize length = strlen(prefix);
    for (guint i = 0; i < limn_safetensors_n_tensors(loader->weights); i++) {
        const char *name = limn_safetensors_get_info(loader->weights, i)->name;
        if (strncmp(name, prefix, length) != 0) {
            continue;
        }
        gsize digits = strspn(name + length, "0123456789");
        if (digits > 0 && digits < 6 && name[length + digits] == '.') {
            g_hash_table_add(seen, GINT_TO_POINTER(atoi(name + length) + 1));
        }
    }
    return (int) g_hash_table_size(seen);
}

static gboolean
fits(const LimnTensorInfo *info, int rank, const gint64 *shape)
{
    // A scalar may be stored as [] or as [1].
    if (rank == 0) {
        return info->rank == 0 || (info->rank == 1 && info->shape[0] == 1);
    }
    if (info->rank != rank) {
        return FALSE;
    }
    for (int i = 0; i < rank; i++) {
        if (info->shape[i] != shape[i]) {
            return FALSE;
        }
    }
    return TRUE;
}

// Adds a tensor; NULL when it is missing (reported) or does not fit (*error).
static Wanted *
add_wanted(LimnClipLoader *loader, const char *prefix, const char *name, int rank,
           const gint64 *shape, GError **error)
{
    LimnLoadReport *report = &loader->clip->report;
    const LimnTensorInfo *info = limn_clip_loader_find(loader, prefix, name);
    if (info == NULL) {
        g_ptr_array_add(report->missing, g_strconcat(prefix, name, NULL));
        return NULL;
    }
    if (!fits(info, rank, shape)) {
        g_autofree char *found = limn_shape_describe(info->rank, info->shape);
        g_autofree char *expected = limn_shape_describe(rank, shape);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: tensor %s has the wrong shape (found %s, expected %s)",
                    info->file, info->name, found, expected);
        return NULL;
    }
    switch (info->dtype) {
    case LIMN_DTYPE_F32:
    case LIMN_DTYPE_F64:
    case LIMN_DTYPE_F16:
    case LIMN_DTYPE_BF16:
        break;
    default:
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: tensor %s has an unsupported type (found %s, expected f32, "
                    "f16, bf16 or f64)",
                    info->file, info->name, limn_dtype_name(info->dtype));
        return NULL;
    }
    g_hash_table_add(loader->used, g_strdup(info->name));
    g_ptr_array_add(report->used, g_strdup(info->name));
    Wanted wanted = {.info = info, .text = loader->text_now};
    g_array_append_val(loader->wanted, wanted);
    return &g_array_index(loader->wanted, Wanted, loader->wanted->len - 1);
}

gboolean
limn_clip_loader_want(LimnClipLoader *loader, const char *prefix, const char *name,
                      int rank, const gint64 *shape, const float **place, GError **error)
{
    GError *problem = NULL;
    Wanted *wanted = add_wanted(loader, prefix, name, rank, shape, &problem);
    if (wanted != NULL) {
        wanted->place[0] = place;
        wanted->n_places = 1;
    }
    if (problem != NULL) {
        g_propagate_error(error, problem);
        return FALSE;
    }
    return TRUE;
}

// weight [out,in] and bias [out] of NAME.weight and NAME.bias.
static gboolean
want_affine(LimnClipLoader *loader, const char *prefix, const char *name, gint64 out,
            gint64 in, LimnAffine *affine, GError **error)
{
    g_autofree char *weight = g_strconcat(name, ".weight", NULL);
    g_autofree char *bias = g_strconcat(name, ".bias", NULL);
    return limn_clip_loader_want(loader, prefix, weight, 2, (gint64[]){out, in},
                                 &affine->weight, error) &&
           limn_clip_loader_want(loader, prefix, bias, 1, &out, &affine->bias, error);
}

static gboolean
want_norm(LimnClipLoader *loader, const char *prefix, const char *name, gint64 width,
          LimnNorm *norm, GError **error)
{
    g_autofree char *gain = g_strconcat(name, ".weight", NULL);
    g_autofree char *offset = g_strconcat(name, ".bias", NULL);
    return limn_clip_loader_want(loader, prefix, gain, 1, &width, &norm->gain, error) &&
           limn_clip_loader_want(loader, prefix, offset, 1, &width, &norm->offset, error);
}

// in_proj_weight [3C,C] and in_proj_bias [3C]: q rows first, then k, then v.
static gboolean
want_fused(LimnClipLoader *loader, const char *prefix, gint64 width, LimnBlock *block,
           GError **error)
{
    GError *problem = NULL;
    Wanted *weight = add_wanted(loader, prefix, "attn.in_proj_weight", 2,
                                (gint64[]){3 * width, width}, &problem);
    if (weight != NULL) {
        weight->place[0] = &block->q.weight;
        weight->place[1] = &block->k.weight;
        weight->place[2] = &block->v.weight;
        weight->n_places = 3;
        weight->step = (gsize) (width * width);
    }
    Wanted *bias = problem != NULL ? NULL
                                   : add_wanted(loader, prefix, "attn.in_proj_bias", 1,
                                                (gint64[]){3 * width}, &problem);
    if (bias != NULL) {
        bias->place[0] = &block->q.bias;
        bias->place[1] = &block->k.bias;
        bias->place[2] = &block->v.bias;
        bias->n_places = 3;
        bias->step = (gsize) width;
    }
    if (problem != NULL) {
        g_propagate_error(error, problem);
        return FALSE;
    }
    return TRUE;
}

static gboolean
want_block(LimnClipLoader *loader, const char *prefix, const LimnTowerConfig *config,
           LimnBlock *block, GError **error)
{
    gint64 width = config->width, mlp = config->mlp;
    gboolean hf = loader->hf;
    gboolean qkv = hf ? want_affine(loader, prefix, "self_attn.q_proj", width, width,
                                    &block->q, error) &&
                            want_affine(loader, prefix, "self_attn.k_proj", width, width,
                                        &block->k, error) &&
                            want_affine(loader, prefix, "self_attn.v_proj", width, width,
                                        &block->v, error)
                      : want_fused(loader, prefix, width, block, error);
    return qkv &&
           want_affine(loader, prefix, hf ? "self_attn.out_proj" : "attn.out_proj", width,
                       width, &block->out, error) &&
           want_norm(loader, prefix, hf ? "layer_norm1" : "ln_1", width, &block->norm1,
                     error) &&
           want_norm(loader, prefix, hf ? "layer_norm2" : "ln_2", width, &block->norm2,
                     error) &&
           want_affine(loader, prefix, hf ? "mlp.fc1" : "mlp.c_fc", mlp, width,
                       &block->fc1, error) &&
           want_affine(loader, prefix, hf ? "mlp.fc2" : "mlp.c_proj", width, mlp,
                       &block->fc2, error);
}

gboolean
limn_clip_loader_want_blocks(LimnClipLoader *loader, gboolean text, LimnTower *tower,
                             GError **error)
{
    g_autofree char *blocks = block_prefix(loader, text);
    tower->blocks = g_new0(LimnBlock, tower->config.layers);
    for (int i = 0; i < tower->config.layers; i++) {
        g_autofree char *prefix = g_strdup_printf("%s%d.", blocks, i);
        if (!want_block(loader, prefix, &tower->config, &tower->blocks[i], error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
report_missing(LimnClipLoader *loader, GError **error)
{
    GPtrArray *missing = loader->clip->report.missing;
    if (missing->len == 0) {
        return TRUE;
    }
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < MIN(missing->len, 3); i++) {
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "",
                               (const char *) g_ptr_array_index(missing, i));
    }
    if (missing->len > 3) {
        g_string_append(names, ", ...");
    }
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                "%s: %u of the model's tensors %s missing (%s)", loader->file,
                missing->len, missing->len == 1 ? "is" : "are", names->str);
    return FALSE;
}

static void
load_one(gsize chunk, gpointer data)
{
    LimnClipLoader *loader = data;
    Wanted *wanted = &g_array_index(loader->wanted, Wanted, chunk);
    g_autoptr(LimnArray) stored =
        limn_safetensors_get(loader->weights, wanted->info->name, &wanted->error);
    if (stored != NULL) {
        wanted->array = limn_array_to_f32(stored, &wanted->error);
    }
}

static void
place_tensor(LimnClipLoader *loader, Wanted *wanted)
{
    LimnClip *clip = loader->clip;
    guint64 bytes = (guint64) wanted->array->length * sizeof(float);
    if (wanted->array->owner != NULL) {
        clip->report.mapped_bytes += bytes;
    } else {
        clip->report.owned_bytes += bytes;
    }
    for (int i = 0; i < wanted->n_places; i++) {
        *wanted->place[i] = limn_array_f32(wanted->array) + (gsize) i * wanted->step;
    }
    LimnClipTensor tensor = {g_strdup(wanted->info->name),
                             g_steal_pointer(&wanted->array), wanted->text};
    g_array_append_val(clip->tensors, tensor);
}

gboolean
limn_clip_loader_load(LimnClipLoader *loader, LimnJob *job, GError **error)
{
    if (!report_missing(loader, error)) {
        return FALSE;
    }
    limn_parallel_for(job, loader->wanted->len, load_one, loader);
    if (!limn_job_check(job, error)) {
        return FALSE;
    }
    for (guint i = 0; i < loader->wanted->len; i++) {
        Wanted *wanted = &g_array_index(loader->wanted, Wanted, i);
        if (wanted->error != NULL) {
            g_propagate_error(error, g_steal_pointer(&wanted->error));
            return FALSE;
        }
        place_tensor(loader, wanted);
    }
    return TRUE;
}

void
limn_clip_loader_finish(LimnClipLoader *loader, LimnJob *job)
{
    GPtrArray *ignored = loader->clip->report.ignored;
    for (guint i = 0; i < limn_safetensors_n_tensors(loader->weights); i++) {
        const char *name = limn_safetensors_get_info(loader->weights, i)->name;
        if (!g_hash_table_contains(loader->used, name)) {
            g_ptr_array_add(ignored, g_strdup(name));
        }
    }
    guint notable = 0;
    const char *first = NULL;
    for (guint i = 0; i < ignored->len; i++) {
        const char *name = g_ptr_array_index(ignored, i);
        if (!g_str_has_suffix(name, "position_ids")) {
            first = first != NULL ? first : name;
            notable++;
        }
    }
    if (notable > 0) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, loader->file,
                          "%u tensors of the checkpoint are not used (%s%s)", notable,
                          first, notable > 1 ? ", ..." : "");
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later

#include "golden-clip-case.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/io/json.h"
#include "engine/model/clip-private.h"

static gboolean
read_options(LimnClipCase *c, const char *path, GError **error)
{
    LimnJson root, options;
    gint64 values[7];
    static const char *const names[] = {
        "hidden_image",           "hidden_text", "surgery_image", "surgery_depth",
        "surgery_redundant_text", "rise_image",  "rise_text",
    };
    g_autofree char *file = g_path_get_basename(path);
    c->json = limn_json_load_object(path, error);
    if (c->json == NULL || !limn_json_root(c->json, file, &root, error) ||
        !limn_json_need_object(&root, "options", &options, error) ||
        !limn_json_need_double(&options, "rise_p", 1e-6, 1, &c->rise_keep, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!limn_json_need_int(&options, names[i], 0, 1 << 20, &values[i], error)) {
            return FALSE;
        }
    }
    c->hidden_image = (int) values[0];
    c->hidden_text = (int) values[1];
    c->surgery_image = (int) values[2];
    c->surgery_depth = (int) values[3];
    c->surgery_redundant = (int) values[4];
    c->rise_image = (int) values[5];
    c->rise_text = (int) values[6];
    LimnJson scalars;
    if (!limn_json_need_object(&root, "scalars", &scalars, error)) {
        return FALSE;
    }
    c->scalars = scalars.value;
    c->end_rows = json_object_get(c->json, "eot_index");
    return TRUE;
}

// A tensor of inputs.safetensors with that type and rank.
static LimnArray *
read_input(LimnClipCase *c, const char *name, gboolean ids, int rank, GError **error)
{
    g_autoptr(LimnArray) array = limn_safetensors_get(c->inputs, name, error);
    if (array == NULL) {
        return NULL;
    }
    gboolean right =
        ids ? array->dtype == LIMN_DTYPE_I64 || array->dtype == LIMN_DTYPE_I32
            : array->dtype == LIMN_DTYPE_F32;
    if (!right || array->rank != rank) {
        g_autofree char *shape = limn_array_describe_shape(array);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "inputs.safetensors: %s is wrong (found %s %s, expected %s of %d "
                    "sizes)",
                    name, limn_dtype_name(array->dtype), shape, ids ? "i64" : "f32",
                    rank);
        return NULL;
    }
    return ids ? limn_array_to_i64(array, error) : g_steal_pointer(&array);
}

static gboolean
read_inputs(LimnClipCase *c, GError **error)
{
    c->pixels = read_input(c, "pixel_values", FALSE, 4, error);
    c->pixels_keep =
        c->pixels != NULL ? read_input(c, "pixel_values_keep", FALSE, 4, error) : NULL;
    c->ids = c->pixels_keep != NULL ? read_input(c, "input_ids", TRUE, 2, error) : NULL;
    c->ids_end =
        c->ids != NULL ? read_input(c, "input_ids_eot_padded", TRUE, 2, error) : NULL;
    if (c->ids_end == NULL) {
        return FALSE;
    }
    c->n_images = (gsize) c->pixels->shape[0];
    c->n_texts = (gsize) c->ids->shape[0];
    if (!limn_array_has_shape(c->ids_end, 2, c->ids->shape) || c->pixels->shape[1] != 3 ||
        c->pixels_keep->shape[0] != 1 || c->pixels_keep->shape[1] != 3 ||
        c->n_images < 1 || c->n_texts < 1) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                            "inputs.safetensors: sizes do not fit together");
        return FALSE;
    }
    if (c->hidden_text >= (int) c->n_texts || c->rise_text >= (int) c->n_texts ||
        c->surgery_redundant >= (int) c->n_texts ||
        c->hidden_image >= (int) c->n_images || c->rise_image >= (int) c->n_images ||
        c->surgery_image >= (int) c->n_images) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                            "expected.json: an option names a picture or text that "
                            "inputs.safetensors does not have");
        return FALSE;
    }
    return TRUE;
}

static LimnSafetensors *
open_tensors(LimnClipCase *c, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(c->folder, name, NULL);
    return limn_safetensors_open(path, error);
}

static void
free_pass(gpointer pass)
{
    limn_pass_free(pass);
}

LimnClipCase *
limn_clip_case_open(LimnGolden *golden, const char *folder, GError **error)
{
    LimnClipCase *c = g_new0(LimnClipCase, 1);
    c->golden = golden;
    c->job = limn_golden_get_job(golden);
    c->folder = g_strdup(folder);
    c->passes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_pass);
    g_autofree char *model = g_build_filename(folder, "hf", NULL);
    g_autofree char *half = g_build_filename(model, "model_f16.safetensors", NULL);
    g_autofree char *json = g_build_filename(folder, "expected.json", NULL);
    c->has_f16 = g_file_test(half, G_FILE_TEST_EXISTS);
    c->clip = limn_clip_open(model, 0, c->job, error);
    c->inputs = c->clip != NULL ? open_tensors(c, "inputs.safetensors", error) : NULL;
    c->expected =
        c->inputs != NULL ? open_tensors(c, "expected.safetensors", error) : NULL;
    if (c->expected == NULL || !read_options(c, json, error) || !read_inputs(c, error)) {
        limn_clip_case_free(c);
        return NULL;
    }
    return c;
}

void
limn_clip_case_free(LimnClipCase *c)
{
    g_hash_table_unref(c->passes);
    g_clear_pointer(&c->clip, limn_clip_unref);
    g_clear_pointer(&c->inputs, limn_safetensors_unref);
    g_clear_pointer(&c->expected, limn_safetensors_unref);
    g_clear_pointer(&c->json, json_decref);
    g_clear_pointer(&c->pixels, limn_array_unref);
    g_clear_pointer(&c->pixels_keep, limn_array_unref);
    g_clear_pointer(&c->ids, limn_array_unref);
    g_clear_pointer(&c->ids_end, limn_array_unref);
    g_free(c->folder);
    g_free(c);
}

LimnArray *
limn_clip_case_unknown(const char *key, GError **error)
{
    g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                        "the layout knows no such key");
    return NULL;
}

static gboolean
get_ids(LimnClipCase *c, gsize text, const LimnArray *table, gint32 *ids, gsize *end,
        GError **error)
{
    gsize length = (gsize) table->shape[1];
    for (gsize i = 0; i < length; i++) {
        ids[i] = (gint32) CLAMP(limn_array_i64(table)[text * length + i], -1, G_MAXINT32);
    }
    return limn_clip_check_ids(c->clip, ids, length, end, error);
}

gsize
limn_clip_case_end_row(LimnClipCase *c, gsize i)
{
    gsize end = 0;
    g_autofree gint32 *ids = g_new(gint32, (gsize) c->ids->shape[1] + 1);
    return get_ids(c, i, c->ids, ids, &end, NULL) ? end : G_MAXSIZE;
}

static LimnPass *
make_text_pass(LimnClipCase *c, gsize text, const char *padding, GError **error)
{
    const LimnArray *table = strcmp(padding, "end") == 0 ? c->ids_end : c->ids;
    gsize rows = (gsize) table->shape[1], end;
    g_autofree gint32 *ids = g_new(gint32, rows + 1);
    if (!get_ids(c, text, table, ids, &end, error)) {
        return NULL;
    }
    if (strcmp(padding, "valid") == 0) {
        rows = end + 1;
    }
    float *x = limn_floats_new(rows, (gsize) c->clip->config.text.width, error);
    if (x == NULL) {
        return NULL;
    }
    limn_clip_embed_ids(c->clip, ids, rows, x);
    return limn_pass_new(c->job, &c->clip->text, rows, end, TRUE, x, error);
}

static LimnPass *
make_image_pass(LimnClipCase *c, const LimnArray *pixels, gsize i, GError **error)
{
    int height = (int) pixels->shape[2], width = (int) pixels->shape[3], gh, gw;
    if (!limn_clip_check_size(c->clip, height, width, &gh, &gw, error)) {
        return NULL;
    }
    gsize rows = 1 + (gsize) gh * (gsize) gw;
    gsize plane = 3 * (gsize) height * (gsize) width;
    g_autoptr(LimnFloats) x =
        limn_floats_new(rows, (gsize) c->clip->config.vision.width, error);
    if (x == NULL || !limn_clip_embed_pixels(c->clip, limn_array_f32(pixels) + i * plane,
                                             height, width, FALSE, x, c->job, error)) {
        return NULL;
    }
    return limn_pass_new(c->job, &c->clip->vision, rows, 0, FALSE, g_steal_pointer(&x),
                         error);
}

// The number behind a prefix; FALSE when it is none or not below `n`.
static gboolean
read_number(const char *text, const char *prefix, gsize n, gsize *number)
{
    gsize length = strlen(prefix);
    if (strncmp(text, prefix, length) != 0 || !g_ascii_isdigit(text[length])) {
        return FALSE;
    }
    char *end;
    *number = (gsize) g_ascii_strtoull(text + length, &end, 10);
    return (*end == '\0' || *end == ' ') && *number < n;
}

LimnPass *
limn_clip_case_get_pass(LimnClipCase *c, const char *name, GError **error)
{
    LimnPass *pass = g_hash_table_lookup(c->passes, name);
    gsize number;
    if (pass != NULL) {
        return pass;
    }
    if (strcmp(name, "keep") == 0) {
        pass = make_image_pass(c, c->pixels_keep, 0, error);
    } else if (read_number(name, "img", c->n_images, &number)) {
        pass = make_image_pass(c, c->pixels, number, error);
    } else if (read_number(name, "t", c->n_texts, &number)) {
        const char *space = strchr(name, ' ');
        pass = make_text_pass(c, number, space != NULL ? space + 1 : "", error);
    } else {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "inputs.safetensors has no \"%s\"", name);
    }
    if (pass != NULL) {
        g_hash_table_insert(c->passes, g_strdup(name), pass);
    }
    return pass;
}

float *
limn_clip_case_dup_unit(LimnClipCase *c, LimnPass *pass, GError **error)
{
    gsize p = (gsize) c->clip->config.projection;
    float *unit = limn_floats_new(p, 1, error);
    if (unit != NULL) {
        limn_unit_vector(limn_pass_get_embedding(pass), p, unit);
    }
    return unit;
}

LimnArray *
limn_clip_case_compute(LimnClipCase *c, const char *key, GError **error)
{
    if (g_str_has_prefix(key, "image.") || g_str_has_prefix(key, "text.") ||
        g_str_has_prefix(key, "text_eotpad.") ||
        g_str_has_prefix(key, "text_validonly.")) {
        return limn_clip_case_compute_explanation(c, key, error);
    }
    if (g_str_has_prefix(key, "surgery.")) {
        return limn_clip_case_compute_surgery(c, key, error);
    }
    if (g_str_has_prefix(key, "rise.")) {
        return limn_clip_case_compute_rise(c, key, error);
    }
    return limn_clip_case_compute_output(c, key, error);
}

gboolean
limn_clip_case_is_zero(LimnClipCase *c, const char *key)
{
    g_autoptr(LimnArray) map = limn_clip_case_compute(c, key, NULL);
    for (gint64 i = 0; map != NULL && i < map->length; i++) {
        if (limn_array_f32(map)[i] != 0) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
compare_weights(LimnClipCase *c, const char *name, const float *a, const float *b,
                gsize rows, gsize columns)
{
    g_autofree char *shown = g_strconcat("openclip/", name, NULL);
    g_autoptr(GError) error = NULL;
    gint64 shape[2] = {(gint64) rows, (gint64) columns};
    g_autoptr(LimnArray) e = limn_array_new(LIMN_DTYPE_F32, 2, shape, &error);
    if (e == NULL) {
        limn_golden_fail_error(c->golden, shown, &error);
        return;
    }
    memcpy(e->data, a, rows * columns * sizeof *a);
    limn_golden_compare_floats(c->golden, shown, e, b, 2, shape, LIMN_EXACT);
}

static void
compare_block(LimnClipCase *c, const char *tower, int l, const LimnTowerConfig *config,
              const LimnBlock *a, const LimnBlock *b)
{
    gsize width = (gsize) config->width, mlp = (gsize) config->mlp;
    const struct {
        const char *name;
        const float *a, *b;
        gsize rows, columns;
    } parts[] = {
        {"norm1.gain", a->norm1.gain, b->norm1.gain, 1, width},
        {"norm1.offset", a->norm1.offset, b->norm1.offset, 1, width},
        {"norm2.gain", a->norm2.gain, b->norm2.gain, 1, width},
        {"norm2.offset", a->norm2.offset, b->norm2.offset, 1, width},
        {"q.weight", a->q.weight, b->q.weight, width, width},
        {"q.bias", a->q.bias, b->q.bias, 1, width},
        {"k.weight", a->k.weight, b->k.weight, width, width},
        {"k.bias", a->k.bias, b->k.bias, 1, width},
        {"v.weight", a->v.weight, b->v.weight, width, width},
        {"v.bias", a->v.bias, b->v.bias, 1, width},
        {"out.weight", a->out.weight, b->out.weight, width, width},
        {"out.bias", a->out.bias, b->out.bias, 1, width},
        {"fc1.weight", a->fc1.weight, b->fc1.weight, mlp, width},
        {"fc1.bias", a->fc1.bias, b->fc1.bias, 1, mlp},
        {"fc2.weight", a->fc2.weight, b->fc2.weight, width, mlp},
        {"fc2.bias", a->fc2.bias, b->fc2.bias, 1, width},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *name = g_strdup_printf("%s.%d.%s", tower, l, parts[i].name);
        compare_weights(c, name, parts[i].a, parts[i].b, parts[i].rows, parts[i].columns);
    }
}

// Projections are stored transposed in one of the layouts: compared as [P,C].
static void
compare_projection(LimnClipCase *c, const char *name, const LimnTower *a,
                   const LimnTower *b)
{
    gsize width = (gsize) a->config.width, p = (gsize) a->embedding;
    g_autofree float *memory = g_new(float, 2 * width * p);
    float *rows[2] = {memory, memory + width * p};
    const LimnTower *towers[2] = {a, b};
    for (int t = 0; t < 2; t++) {
        for (gsize i = 0; i < p; i++) {
            for (gsize j = 0; j < width; j++) {
                rows[t][i * width + j] = towers[t]->projection_by_row
                                             ? towers[t]->projection[i * width + j]
                                             : towers[t]->projection[j * p + i];
            }
        }
    }
    compare_weights(c, name, rows[0], rows[1], p, width);
}

static void
compare_towers(LimnClipCase *c, const char *name, const LimnTower *a, const LimnTower *b)
{
    gsize width = (gsize) a->config.width;
    g_autofree char *gain = g_strconcat(name, ".final.gain", NULL);
    g_autofree char *offset = g_strconcat(name, ".final.offset", NULL);
    g_autofree char *projection = g_strconcat(name, ".projection", NULL);
    for (int l = 0; l < a->config.layers; l++) {
        compare_block(c, name, l, &a->config, &a->blocks[l], &b->blocks[l]);
    }
    compare_weights(c, gain, a->final.gain, b->final.gain, 1, width);
    compare_weights(c, offset, a->final.offset, b->final.offset, 1, width);
    compare_projection(c, projection, a, b);
}

static gboolean
same_tower(const LimnTowerConfig *a, const LimnTowerConfig *b)
{
    return a->width == b->width && a->layers == b->layers && a->heads == b->heads &&
           a->mlp == b->mlp && a->activation == b->activation && a->eps == b->eps;
}

static gboolean
same_config(const LimnClipConfig *a, const LimnClipConfig *b)
{
    return same_tower(&a->vision, &b->vision) && same_tower(&a->text, &b->text) &&
           a->grid == b->grid && a->patch == b->patch && a->vocab == b->vocab &&
           a->context == b->context && a->projection == b->projection;
}

void
limn_clip_case_compare_layouts(LimnClipCase *c)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_build_filename(c->folder, "openclip", NULL);
    g_autoptr(LimnClip) other = limn_clip_open(folder, 0, c->job, &error);
    if (other == NULL) {
        limn_golden_fail_error(c->golden, "openclip", &error);
        return;
    }
    const LimnClip *a = c->clip, *b = other;
    if (!limn_golden_check(c->golden, "openclip/configuration",
                           same_config(&a->config, &b->config))) {
        return;
    }
    gsize width = (gsize) a->config.vision.width, text = (gsize) a->config.text.width;
    gsize patch = 3 * (gsize) a->config.patch * (gsize) a->config.patch;
    gsize rows = 1 + (gsize) a->config.grid * (gsize) a->config.grid;
    compare_weights(c, "vision.patches", a->patches, b->patches, width, patch);
    compare_weights(c, "vision.class", a->class_token, b->class_token, 1, width);
    compare_weights(c, "vision.positions", a->vision_positions, b->vision_positions, rows,
                    width);
    compare_weights(c, "vision.start.gain", a->vision_start.gain, b->vision_start.gain, 1,
                    width);
    compare_weights(c, "vision.start.offset", a->vision_start.offset,
                    b->vision_start.offset, 1, width);
    compare_weights(c, "text.tokens", a->token_table, b->token_table,
                    (gsize) a->config.vocab, text);
    compare_weights(c, "text.positions", a->text_positions, b->text_positions,
                    (gsize) a->config.context, text);
    compare_towers(c, "vision", &a->vision, &b->vision);
    compare_towers(c, "text", &a->text, &b->text);
    limn_golden_compare_number(c->golden, "openclip/logit_scale", (double) a->logit_scale,
                               (double) b->logit_scale, LIMN_EXACT);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/session/state.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define VERSION 1
#define MAX_STUDIES 10000
#define MAX_TEXTS 100000

static const char *const compare_names[] = {"none", "difference", "divider", "blink"};
static const char *const scale_names[] = {"auto", "shared", "fixed"};
static const char *const status_names[] = {"new", "running", "interrupted", "done",
                                           "failed"};

// ---- writing

// File names may be any bytes; those that are no UTF-8 are written as {"escaped": ...}.
static json_t *
encode_text(const char *text)
{
    g_autofree char *escaped = NULL;

    if (!text)
        return json_null();
    if (g_utf8_validate(text, -1, NULL))
        return json_string(text);
    escaped = g_strescape(text, NULL);
    return json_pack("{s:s}", "escaped", escaped);
}

static json_t *
encode_texts(const GPtrArray *texts)
{
    json_t *array = json_array();

    for (guint i = 0; i < texts->len; i++)
        json_array_append_new(array, encode_text(texts->pdata[i]));
    return array;
}

static json_t *
encode_pairs(const GPtrArray *pairs)
{
    json_t *array = json_array();

    for (guint i = 0; i < pairs->len; i++) {
        const LimnPair *pair = pairs->pdata[i];

        json_array_append_new(array,
                              json_pack("[s, o]", pair->key, encode_text(pair->value)));
    }
    return array;
}

// JSON has no NaN and no infinity.
static json_t *
encode_real(double value)
{
    return json_real(isfinite(value) ? value : 0);
}

static json_t *
encode_pane(const LimnPaneState *pane)
{
    return json_pack(
        "{s:o, s:i, s:o, s:I, s:s, s:o, s:i}", "method", encode_text(pane->method),
        "prompt", (int) pane->prompt, "artifact", encode_text(pane->artifact), "item",
        (json_int_t) pane->item, "compare", compare_names[pane->compare], "other_method",
        encode_text(pane->other_method), "other_prompt", (int) pane->other_prompt);
}

static json_t *
encode_data(const LimnStudyData *data)
{
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, data->seed);
    json_t *panes = json_array();
    json_t *object;

    for (guint i = 0; i < data->n_panes; i++)
        json_array_append_new(panes, encode_pane(&data->panes[i]));
    object = json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "title",
        encode_text(data->title), "operation", encode_text(data->operation), "inputs",
        encode_pairs(data->inputs), "parameters", encode_pairs(data->parameters), "seed",
        seed, "prompts", encode_texts(data->prompts), "panes", panes, "mask",
        encode_text(data->mask), "grid_methods", encode_texts(data->grid_methods));
    if (data->has_box)
        json_object_set_new(
            object, "box",
            json_pack("[o, o, o, o]", encode_real(data->box.x), encode_real(data->box.y),
                      encode_real(data->box.width), encode_real(data->box.height)));
    return object;
}

static json_t *
encode_view(const LimnStudyView *view)
{
    return json_pack(
        "{s:i, s:o, s:b, s:b, s:o, s:o, s:s, s:[o, o], s:b, s:b, s:b, s:b, s:b, s:b, "
        "s:b, s:[o, o, o], s:o}",
        "active", (int) view->active, "item", encode_text(view->item), "live", view->live,
        "grid", view->grid, "colormap", encode_text(view->colormap), "opacity",
        encode_real(view->opacity), "scale", scale_names[view->scale], "range",
        encode_real(view->range[0]), encode_real(view->range[1]), "interpolate",
        view->interpolate, "contours", view->contours, "percentile", view->percentile,
        "signed", view->signed_values, "hide_colorbar", view->hide_colorbar, "hide_crop",
        view->hide_crop, "picture_data_range", view->picture_data_range, "camera",
        encode_real(view->zoom), encode_real(view->cx), encode_real(view->cy), "divider",
        encode_real(view->divider));
}

static json_t *
encode_study(const LimnSessionStudy *study)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:s}", "id", encode_text(study->id), "data",
                     encode_data(&study->data), "view", encode_view(&study->view),
                     "folder", encode_text(study->folder), "status",
                     status_names[study->status]);
}

char *
limn_session_to_json(const LimnSession *session)
{
    json_t *studies = json_array();
    json_t *root;
    char *text, *copy;

    for (guint i = 0; i < session->studies->len; i++)
        json_array_append_new(studies, encode_study(session->studies->pdata[i]));
    root = json_pack(
        "{s:i, s:[i, i], s:b, s:b, s:b, s:i, s:i, s:o, s:o, s:o, s:o, s:o}",
        "limn_session", VERSION, "size", session->width, session->height, "maximized",
        session->maximized, "library_hidden", session->library_hidden, "panel_hidden",
        session->panel_hidden, "library_width", session->library_width, "panel_width",
        session->panel_width, "page", encode_text(session->page), "current",
        encode_text(session->current), "recent", encode_texts(session->recent), "models",
        encode_texts(session->models), "studies", studies);
    text = json_dumps(root, JSON_INDENT(1));
    json_decref(root);
    copy = g_strdup(text);
    free(text);
    return copy;
}

// ---- reading: whatever is missing or of another type keeps its default

static char *
decode_text(const json_t *value)
{
    if (json_is_object(value)) {
        const char *escaped = json_string_value(json_object_get(value, "escaped"));

        return escaped ? g_strcompress(escaped) : NULL;
    }
    return g_strdup(json_string_value(value));
}

static void
read_text(const json_t *object, const char *key, char **text)
{
    char *value = decode_text(json_object_get(object, key));

    if (value) {
        g_free(*text);
        *text = value;
    }
}

static void
read_bool(const json_t *object, const char *key, gboolean *flag)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_boolean(value))
        *flag = json_is_true(value);
}

static void
read_int(const json_t *object, const char *key, gint64 min, gint64 max, gint64 *number)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value))
        *number = CLAMP(json_integer_value(value), min, max);
}

static void
read_small(const json_t *object, const char *key, int min, int max, int *number)
{
    gint64 value = *number;

    read_int(object, key, min, max, &value);
    *number = (int) value;
}

static void
read_index(const json_t *object, const char *key, guint max, guint *number)
{
    gint64 value = *number;

    read_int(object, key, 0, max, &value);
    *number = (guint) value;
}

static void
read_reals(const json_t *object, const char *key, double **numbers, gsize n)
{
    const json_t *array = json_object_get(object, key);

    if (!json_is_array(array) || json_array_size(array) != n)
        return;
    for (gsize i = 0; i < n; i++) {
        const json_t *value = json_array_get(array, i);

        if (json_is_number(value))
            *numbers[i] = json_number_value(value);
    }
}

static void
read_real(const json_t *object, const char *key, double min, double max, double *number)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_number(value))
        *number = CLAMP(json_number_value(value), min, max);
}

static int
read_name(const json_t *object, const char *key, const char *const *names, int n,
          int fallback)
{
    const char *name = json_string_value(json_object_get(object, key));

    for (int i = 0; name && i < n; i++)
        if (g_str_equal(name, names[i]))
            return i;
    return fallback;
}

static void
read_texts(const json_t *object, const char *key, GPtrArray *texts)
{
    const json_t *array = json_object_get(object, key);

    for (gsize i = 0; i < MIN(json_array_size(array), MAX_TEXTS); i++) {
        char *text = decode_text(json_array_get(array, i));

        if (text)
            g_ptr_array_add(texts, text);
    }
}

static void
read_pairs(const json_t *object, const char *key, GPtrArray *pairs)
{
    const json_t *array = json_object_get(object, key);

    for (gsize i = 0; i < MIN(json_array_size(array), MAX_TEXTS); i++) {
        const json_t *pair = json_array_get(array, i);
        g_autofree char *name = decode_text(json_array_get(pair, 0));
        g_autofree char *value = decode_text(json_array_get(pair, 1));

        if (name && value)
            g_ptr_array_add(pairs, limn_pair_new(name, value));
    }
}

static void
read_pane(const json_t *object, LimnPaneState *pane)
{
    read_text(object, "method", &pane->method);
    read_text(object, "artifact", &pane->artifact);
    read_text(object, "other_method", &pane->other_method);
    read_index(object, "prompt", MAX_TEXTS, &pane->prompt);
    read_index(object, "other_prompt", MAX_TEXTS, &pane->other_prompt);
    read_int(object, "item", 0, G_MAXINT32, &pane->item);
    pane->compare = (LimnCompare) read_name(object, "compare", compare_names,
                                            G_N_ELEMENTS(compare_names), 0);
}

static void
read_data(const json_t *object, LimnStudyData *data)
{
    const json_t *panes = json_object_get(object, "panes");
    const char *seed = json_string_value(json_object_get(object, "seed"));

    read_text(object, "title", &data->title);
    read_text(object, "operation", &data->operation);
    read_text(object, "mask", &data->mask);
    read_pairs(object, "inputs", data->inputs);
    read_pairs(object, "parameters", data->parameters);
    read_texts(object, "prompts", data->prompts);
    read_texts(object, "grid_methods", data->grid_methods);
    if (seed)
        data->seed = g_ascii_strtoull(seed, NULL, 10);
    data->n_panes = (guint) CLAMP(json_array_size(panes), 1, LIMN_MAX_PANES);
    for (guint i = 0; i < data->n_panes; i++)
        read_pane(json_array_get(panes, i), &data->panes[i]);
    data->has_box = json_is_array(json_object_get(object, "box"));
    read_reals(
        object, "box",
        (double *[]){&data->box.x, &data->box.y, &data->box.width, &data->box.height}, 4);
    data->has_box = data->has_box && data->box.width > 0 && data->box.height > 0;
}

static void
read_view(const json_t *object, LimnStudyView *view)
{
    read_index(object, "active", LIMN_MAX_PANES - 1, &view->active);
    read_text(object, "item", &view->item);
    read_text(object, "colormap", &view->colormap);
    read_bool(object, "live", &view->live);
    read_bool(object, "grid", &view->grid);
    read_bool(object, "interpolate", &view->interpolate);
    read_bool(object, "contours", &view->contours);
    read_bool(object, "percentile", &view->percentile);
    read_bool(object, "signed", &view->signed_values);
    read_bool(object, "hide_colorbar", &view->hide_colorbar);
    read_bool(object, "hide_crop", &view->hide_crop);
    read_bool(object, "picture_data_range", &view->picture_data_range);
    read_real(object, "opacity", 0, 1, &view->opacity);
    read_real(object, "divider", 0, 1, &view->divider);
    view->scale = (LimnScaleChoice) read_name(
        object, "scale", scale_names, G_N_ELEMENTS(scale_names), LIMN_SCALE_SHARED);
    read_reals(object, "range", (double *[]){&view->range[0], &view->range[1]}, 2);
    read_reals(object, "camera", (double *[]){&view->zoom, &view->cx, &view->cy}, 3);
    view->zoom = CLAMP(view->zoom, 0, 1e6);
}

static LimnSessionStudy *
read_study(const json_t *object)
{
    LimnSessionStudy *study = limn_session_study_new(NULL);

    read_text(object, "id", &study->id);
    read_text(object, "folder", &study->folder);
    read_data(json_object_get(object, "data"), &study->data);
    read_view(json_object_get(object, "view"), &study->view);
    study->view.active = MIN(study->view.active, study->data.n_panes - 1);
    study->status = (LimnStudyStatus) read_name(object, "status", status_names,
                                                G_N_ELEMENTS(status_names), 0);
    if (study->status == LIMN_STUDY_RUNNING)
        study->status = LIMN_STUDY_INTERRUPTED;
    return study;
}

static LimnSession *
read_session(const json_t *root)
{
    LimnSession *session = limn_session_new();
    const json_t *size = json_object_get(root, "size");
    const json_t *studies = json_object_get(root, "studies");

    session->width = (int) CLAMP(json_integer_value(json_array_get(size, 0)), 0, 32767);
    session->height = (int) CLAMP(json_integer_value(json_array_get(size, 1)), 0, 32767);
    read_bool(root, "maximized", &session->maximized);
    read_bool(root, "library_hidden", &session->library_hidden);
    read_bool(root, "panel_hidden", &session->panel_hidden);
    read_small(root, "library_width", 0, 32767, &session->library_width);
    read_small(root, "panel_width", 0, 32767, &session->panel_width);
    read_text(root, "page", &session->page);
    read_text(root, "current", &session->current);
    read_texts(root, "recent", session->recent);
    read_texts(root, "models", session->models);
    for (gsize i = 0; i < MIN(json_array_size(studies), MAX_STUDIES); i++) {
        LimnSessionStudy *study = read_study(json_array_get(studies, i));

        if (study->data.operation)
            g_ptr_array_add(session->studies, study);
        else
            limn_session_study_free(study);
    }
    return session;
}

LimnSession *
limn_session_from_json(const char *json, gsize size, const char *name, GError **error)
{
    json_error_t json_error;
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &json_error);
    LimnSession *session = NULL;

    if (!root)
        limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                            "the session is no JSON (line %d: %s)", json_error.line,
                            json_error.text);
    else if (json_integer_value(json_object_get(root, "limn_session")) != VERSION)
        limn_error_set_file(
            error, LIMN_ERROR_FORMAT, name,
            "the session has another version (found %" G_GINT64_FORMAT ", expected %d)",
            (gint64) json_integer_value(json_object_get(root, "limn_session")), VERSION);
    else
        session = read_session(root);
    json_decref(root);
    return session;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/state.h"

#include <string.h>

LimnPair *
limn_pair_new(const char *key, const char *value)
{
    LimnPair *pair = g_new0(LimnPair, 1);

    pair->key = g_strdup(key);
    pair->value = g_strdup(value);
    return pair;
}

void
limn_pair_free(LimnPair *pair)
{
    if (!pair)
        return;
    g_free(pair->key);
    g_free(pair->value);
    g_free(pair);
}

const char *
limn_pairs_get(const GPtrArray *pairs, const char *key)
{
    for (guint i = 0; i < pairs->len; i++) {
        const LimnPair *pair = pairs->pdata[i];

        if (g_str_equal(pair->key, key))
            return pair->value;
    }
    return NULL;
}

void
limn_pairs_set(GPtrArray *pairs, const char *key, const char *value)
{
    g_autofree char *copy = g_strdup(value); // may belong to the pair removed below
    gboolean placed = FALSE;

    for (guint i = 0; i < pairs->len;) {
        LimnPair *pair = pairs->pdata[i];

        if (!g_str_equal(pair->key, key)) {
            i++;
        } else if (copy && !placed) {
            g_free(pair->value);
            pair->value = g_strdup(copy);
            placed = TRUE;
            i++;
        } else {
            g_ptr_array_remove_index(pairs, i);
        }
    }
    if (copy && !placed)
        g_ptr_array_add(pairs, limn_pair_new(key, copy));
}

GPtrArray *
limn_pairs_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify) limn_pair_free);
}

GPtrArray *
limn_strings_new(void)
{
    return g_ptr_array_new_with_free_func(g_free);
}

static GPtrArray *
strings_dup(const GPtrArray *strings)
{
    GPtrArray *copy = limn_strings_new();

    for (guint i = 0; i < strings->len; i++)
        g_ptr_array_add(copy, g_strdup(strings->pdata[i]));
    return copy;
}

static GPtrArray *
pairs_dup(const GPtrArray *pairs)
{
    GPtrArray *copy = limn_pairs_new();

    for (guint i = 0; i < pairs->len; i++) {
        const LimnPair *pair = pairs->pdata[i];

        g_ptr_array_add(copy, limn_pair_new(pair->key, pair->value));
    }
    return copy;
}

static gboolean
strings_equal(const GPtrArray *a, const GPtrArray *b)
{
    if (a->len != b->len)
        return FALSE;
    for (guint i = 0; i < a->len; i++)
        if (!g_str_equal(a->pdata[i], b->pdata[i]))
            return FALSE;
    return TRUE;
}

static gboolean
pairs_equal(const GPtrArray *a, const GPtrArray *b)
{
    if (a->len != b->len)
        return FALSE;
    for (guint i = 0; i < a->len; i++) {
        const LimnPair *p = a->pdata[i], *q = b->pdata[i];

        if (!g_str_equal(p->key, q->key) || g_strcmp0(p->value, q->value) != 0)
            return FALSE;
    }
    return TRUE;
}

static void
pane_state_clear(LimnPaneState *pane)
{
    g_free(pane->method);
    g_free(pane->artifact);
    g_free(pane->other_method);
    memset(pane, 0, sizeof *pane);
}

void
limn_pane_state_copy(LimnPaneState *to, const LimnPaneState *from)
{
    LimnPaneState copy = *from;

    copy.method = g_strdup(from->method);
    copy.artifact = g_strdup(from->artifact);
    copy.other_method = g_strdup(from->other_method);
    pane_state_clear(to);
    *to = copy;
}

static gboolean
pane_state_equal(const LimnPaneState *a, const LimnPaneState *b)
{
    return g_strcmp0(a->method, b->method) == 0 && a->prompt == b->prompt &&
           g_strcmp0(a->artifact, b->artifact) == 0 && a->item == b->item &&
           a->compare == b->compare && g_strcmp0(a->other_method, b->other_method) == 0 &&
           a->other_prompt == b->other_prompt;
}

void
limn_study_data_init(LimnStudyData *data)
{
    memset(data, 0, sizeof *data);
    data->inputs = limn_pairs_new();
    data->parameters = limn_pairs_new();
    data->prompts = limn_strings_new();
    data->grid_methods = limn_strings_new();
    data->n_panes = 1;
}

void
limn_study_data_clear(LimnStudyData *data)
{
    g_free(data->title);
    g_free(data->operation);
    g_free(data->mask);
    g_clear_pointer(&data->inputs, g_ptr_array_unref);
    g_clear_pointer(&data->parameters, g_ptr_array_unref);
    g_clear_pointer(&data->prompts, g_ptr_array_unref);
    g_clear_pointer(&data->grid_methods, g_ptr_array_unref);
    for (guint i = 0; i < LIMN_MAX_PANES; i++)
        pane_state_clear(&data->panes[i]);
    memset(data, 0, sizeof *data);
}

void
limn_study_data_copy(LimnStudyData *to, const LimnStudyData *from)
{
    LimnStudyData copy = *from;

    copy.title = g_strdup(from->title);
    copy.operation = g_strdup(from->operation);
    copy.mask = g_strdup(from->mask);
    copy.inputs = pairs_dup(from->inputs);
    copy.parameters = pairs_dup(from->parameters);
    copy.prompts = strings_dup(from->prompts);
    copy.grid_methods = strings_dup(from->grid_methods);
    memset(copy.panes, 0, sizeof copy.panes);
    for (guint i = 0; i < LIMN_MAX_PANES; i++)
        limn_pane_state_copy(&copy.panes[i], &from->panes[i]);
    limn_study_data_clear(to);
    *to = copy;
}

gboolean
limn_study_data_equal(const LimnStudyData *a, const LimnStudyData *b)
{
    if (g_strcmp0(a->title, b->title) != 0 ||
        g_strcmp0(a->operation, b->operation) != 0 || g_strcmp0(a->mask, b->mask) != 0 ||
        a->seed != b->seed || a->n_panes != b->n_panes || a->has_box != b->has_box)
        return FALSE;
    if (a->has_box && (a->box.x != b->box.x || a->box.y != b->box.y ||
                       a->box.width != b->box.width || a->box.height != b->box.height))
        return FALSE;
    for (guint i = 0; i < LIMN_MAX_PANES; i++)
        if (!pane_state_equal(&a->panes[i], &b->panes[i]))
            return FALSE;
    return pairs_equal(a->inputs, b->inputs) &&
           pairs_equal(a->parameters, b->parameters) &&
           strings_equal(a->prompts, b->prompts) &&
           strings_equal(a->grid_methods, b->grid_methods);
}

static gsize
text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

gsize
limn_study_data_size(const LimnStudyData *data)
{
    gsize size = sizeof *data + text_size(data->title) + text_size(data->operation) +
                 text_size(data->mask);

    for (guint i = 0; i < data->prompts->len; i++)
        size += sizeof(gpointer) + text_size(data->prompts->pdata[i]);
    for (guint i = 0; i < data->inputs->len; i++)
        size += 64 + text_size(((LimnPair *) data->inputs->pdata[i])->value);
    for (guint i = 0; i < data->parameters->len; i++)
        size += 64 + text_size(((LimnPair *) data->parameters->pdata[i])->value);
    return size;
}

void
limn_study_view_init(LimnStudyView *view)
{
    memset(view, 0, sizeof *view);
    view->live = TRUE;
    view->opacity = 0.6;
    view->scale = LIMN_SCALE_SHARED;
    view->range[1] = 1;
    view->divider = 0.5;
}

void
limn_study_view_copy(LimnStudyView *to, const LimnStudyView *from)
{
    LimnStudyView copy = *from;

    copy.item = g_strdup(from->item);
    copy.colormap = g_strdup(from->colormap);
    limn_study_view_clear(to);
    *to = copy;
}

void
limn_study_view_clear(LimnStudyView *view)
{
    g_free(view->item);
    g_free(view->colormap);
    memset(view, 0, sizeof *view);
}

LimnSessionStudy *
limn_session_study_new(const char *operation)
{
    LimnSessionStudy *study = g_new0(LimnSessionStudy, 1);

    study->id = g_uuid_string_random();
    limn_study_data_init(&study->data);
    limn_study_view_init(&study->view);
    study->data.operation = g_strdup(operation);
    return study;
}

LimnSessionStudy *
limn_session_study_duplicate(const LimnSessionStudy *study)
{
    LimnSessionStudy *copy = g_new0(LimnSessionStudy, 1);

    copy->id = g_uuid_string_random();
    limn_study_data_copy(&copy->data, &study->data);
    limn_study_view_copy(&copy->view, &study->view);
    return copy;
}

void
limn_session_study_free(LimnSessionStudy *study)
{
    if (!study)
        return;
    g_free(study->id);
    g_free(study->folder);
    limn_study_data_clear(&study->data);
    limn_study_view_clear(&study->view);
    g_free(study);
}

LimnSession *
limn_session_new(void)
{
    LimnSession *session = g_new0(LimnSession, 1);

    session->studies =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_session_study_free);
    session->recent = limn_strings_new();
    session->models = limn_strings_new();
    return session;
}

void
limn_session_free(LimnSession *session)
{
    if (!session)
        return;
    g_free(session->page);
    g_free(session->current);
    g_ptr_array_unref(session->studies);
    g_ptr_array_unref(session->recent);
    g_ptr_array_unref(session->models);
    g_free(session);
}

// SPDX-License-Identifier: GPL-3.0-or-later

// From the state of the current study to requests of the live explainer, and from its
// results back. Whatever changes only schedules; one request is made per turn of the main
// loop, and it asks only for what is not on screen yet.

#include "limn-config.h"

#include "ui/model/workspace-private.h"

#include "engine/base/error.h"
#include "ui/model/live-options.h"
#include "ui/model/method-list.h"
#include "ui/model/settings.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define SLOW_DELAY_MS 600 // methods of several seconds wait until typing pauses

static gboolean
is_blank(const char *text)
{
    for (; *text; text = g_utf8_next_char(text))
        if (!g_unichar_isspace(g_utf8_get_char(text)))
            return FALSE;
    return TRUE;
}

static void
append_options(GString *string, const LimnExplainOptions *o)
{
    g_string_append_printf(
        string, "%d %d %d %d %d %d %d %d %d %.17g %d %d %.17g %" G_GUINT64_FORMAT "|",
        o->method, o->mode, o->similarity, o->layers, o->text_layers, o->padding,
        o->surgery_depth, o->surgery_token_norm, o->rise_masks, o->rise_keep,
        o->m2ib_layer, o->m2ib_steps, o->m2ib_beta, o->seed);
}

// Everything that the map of an item depends on, apart from the picture. CLIP Surgery
// depends on all sentences.
static char *
item_identity(const LimnLiveRequest *request, const LimnLiveItem *item)
{
    GString *string = g_string_new(NULL);

    g_string_append_printf(string, "%s|%d %d|%d|", request->model, request->mode,
                           request->keep_limit, item->side);
    append_options(string, &item->options);
    g_string_append(string, item->text);
    g_string_append_printf(string, "|%d %d|", item->query_row, item->query_col);
    if (item->has_other) {
        append_options(string, &item->other_options);
        g_string_append_printf(string, "%d|%s", item->difference, item->other_text);
    }
    if (item->options.method == LIMN_EXPLAIN_CLIP_SURGERY ||
        item->other_options.method == LIMN_EXPLAIN_CLIP_SURGERY)
        for (guint i = 0; i < request->prompts->len; i++)
            g_string_append_printf(string, "\n%s", (char *) request->prompts->pdata[i]);
    return g_string_free(string, FALSE);
}

static void
add_comparison(LimnDocument *doc, const LimnPaneState *pane, LimnLiveItem *item)
{
    const char *text = limn_document_get_prompt(doc, pane->other_prompt);

    if (pane->compare == LIMN_COMPARE_NONE || is_blank(text))
        return;
    item->has_other = TRUE;
    item->difference = pane->compare == LIMN_COMPARE_DIFFERENCE;
    item->other_text = g_strdup(text);
    if (pane->other_method)
        item->other_options.method = limn_method_from_id(pane->other_method);
}

static void
add_pane(LimnDocument *doc, LimnLiveRequest *request, const LimnLiveSettings *settings,
         guint pane)
{
    const LimnStudyData *data = limn_document_get_data(doc);
    const LimnLiveResult *have = limn_document_get_result(doc, pane);
    const char *text = limn_document_get_pane_text(doc, pane);
    LimnExplainOptions options = settings->options;
    LimnLiveItem *item;

    if (is_blank(text))
        return;
    options.method = limn_document_get_pane_method(doc, pane);
    item = limn_live_request_add(request, pane, &options, settings->side, text);
    if (!limn_explain_method_has_words(options.method) || item->side == LIMN_SIDE_TEXT)
        item->side = LIMN_SIDE_BOTH;
    add_comparison(doc, &data->panes[pane], item);
    limn_document_get_query(doc, pane, &item->query_row, &item->query_col);
    item->identity = item_identity(request, item);
    if (have && g_strcmp0(have->identity, item->identity) == 0)
        g_ptr_array_remove(request->items, item); // it is on screen
}

static LimnLiveRequest *
make_request(LimnDocument *doc, const LimnLiveSettings *settings)
{
    const LimnStudyData *data = limn_document_get_data(doc);
    g_autofree char *model = limn_document_dup_model(doc);
    LimnLiveRequest *request = limn_live_request_new(
        model, limn_document_get_picture(doc), settings->mode, settings->keep_limit);

    request->tag = doc;
    request->threads = limn_settings_get_job_threads();
    for (guint i = 0; i < data->prompts->len; i++) {
        double cosine, logit;

        if (!is_blank(data->prompts->pdata[i]))
            limn_live_request_add_prompt(
                request, data->prompts->pdata[i],
                !limn_document_get_score(doc, i, &cosine, &logit));
    }
    return request;
}

static LimnLiveRequest *
make_live_request(LimnDocument *doc)
{
    guint active = limn_document_get_view(doc)->active;
    LimnLiveSettings settings;
    LimnLiveRequest *request;

    limn_live_settings_read(doc, &settings);
    request = make_request(doc, &settings);
    add_pane(doc, request, &settings, active);
    for (guint i = 0; i < limn_document_get_data(doc)->n_panes; i++)
        if (i != active)
            add_pane(doc, request, &settings, i);
    return request;
}

static gboolean
slow_timeout(gpointer user_data)
{
    LimnWorkspace *self = user_data;

    self->slow_timeout = 0;
    limn_workspace_schedule_live(self);
    return G_SOURCE_REMOVE;
}

// Leaves out what takes seconds while somebody types; comes back when it pauses.
static void
postpone_slow(LimnWorkspace *self, LimnLiveRequest *request)
{
    gint64 rest = SLOW_DELAY_MS - (g_get_monotonic_time() - self->last_edit) / 1000;

    if (rest <= 0)
        return;
    for (guint i = request->items->len; i-- > 0;) {
        const LimnLiveItem *item = request->items->pdata[i];

        if (!limn_explain_method_is_slow(item->options.method) &&
            !(item->has_other && limn_explain_method_is_slow(item->other_options.method)))
            continue;
        g_ptr_array_remove_index(request->items, i);
        if (!self->slow_timeout)
            self->slow_timeout = g_timeout_add((guint) rest + 1, slow_timeout, self);
    }
}

static void
set_busy(LimnWorkspace *self, gboolean busy)
{
    self->live_busy = busy;
    self->live_fraction = 0;
    g_clear_pointer(&self->live_message, g_free);
    limn_workspace_emit(self, LIMN_WORKSPACE_LIVE_CHANGED);
}

static void
submit(LimnWorkspace *self)
{
    LimnDocument *doc = self->current;
    LimnLiveRequest *request;

    if (!doc || !limn_document_get_picture(doc) ||
        !(limn_document_is_live(doc) ||
          (self->explain_once && limn_document_is_live_capable(doc))))
        return;
    self->explain_once = FALSE;
    request = make_live_request(doc);
    postpone_slow(self, request);
    if (request->items->len == 0 && request->scored->len == 0) {
        limn_live_request_unref(request);
        limn_document_set_live_error(doc, NULL); // what is wanted is on screen
        return;
    }
    self->live_serial = limn_live_submit(self->live, request);
    set_busy(self, TRUE);
}

static gboolean
live_idle(gpointer user_data)
{
    LimnWorkspace *self = user_data;

    self->live_idle = 0;
    submit(self);
    return G_SOURCE_REMOVE;
}

void
limn_workspace_schedule_live(LimnWorkspace *self)
{
    if (!self->live_idle && !self->stopped)
        self->live_idle = g_idle_add_full(G_PRIORITY_HIGH_IDLE, live_idle, self, NULL);
}

void
limn_workspace_explain_now(LimnWorkspace *self)
{
    self->explain_once = TRUE;
    self->last_edit = 0;
    limn_workspace_schedule_live(self);
}

gboolean
limn_workspace_get_live_progress(LimnWorkspace *self, double *fraction,
                                 const char **message)
{
    *fraction = self->live_fraction;
    *message = self->live_message;
    return self->live_busy;
}

// ---- news

static gboolean
is_open(LimnWorkspace *self, gpointer tag)
{
    guint position;

    return tag && g_list_store_find(self->documents, tag, &position);
}

static void
live_result(LimnLive *live, LimnLiveResult *result, LimnWorkspace *self)
{
    if (!is_open(self, result->tag))
        return;
    if (result->key >= LIMN_GRID_KEY && result->key < LIMN_LIVE_SCORE_KEY) {
        limn_workspace_emit_grid_result(self, result);
        return;
    }
    limn_document_set_live_error(result->tag, NULL);
    limn_document_take_result(result->tag, result);
}

static void
live_progress(LimnLive *live, double fraction, const char *message, LimnWorkspace *self)
{
    self->live_fraction = fraction;
    g_free(self->live_message);
    self->live_message = g_strdup(message);
    limn_workspace_emit(self, LIMN_WORKSPACE_LIVE_CHANGED);
}

static void
live_finished(LimnLive *live, guint serial, const GError *error, LimnWorkspace *self)
{
    if (serial != self->live_serial)
        return; // a newer one is on its way
    if (self->current)
        limn_document_set_live_error(
            self->current,
            error && !g_error_matches(error, LIMN_ERROR, LIMN_ERROR_CANCELLED)
                ? error->message
                : NULL);
    set_busy(self, FALSE);
}

static void
fill_finished(LimnLive *live, guint serial, LimnWorkspace *self)
{
    self->grid_document = NULL;
    limn_workspace_emit(self, LIMN_WORKSPACE_GRID_FINISHED);
}

void
limn_workspace_live_init(LimnWorkspace *self)
{
    self->live = limn_live_new(self->models);
    g_signal_connect(self->live, "result", G_CALLBACK(live_result), self);
    g_signal_connect(self->live, "progress", G_CALLBACK(live_progress), self);
    g_signal_connect(self->live, "finished", G_CALLBACK(live_finished), self);
    g_signal_connect(self->live, "fill-finished", G_CALLBACK(fill_finished), self);
}

void
limn_workspace_live_stop(LimnWorkspace *self)
{
    g_clear_handle_id(&self->live_idle, g_source_remove);
    g_clear_handle_id(&self->slow_timeout, g_source_remove);
    g_signal_handlers_disconnect_by_data(self->live, self);
    limn_live_stop(self->live);
}

// ---- the method grid

gboolean
limn_workspace_fill_grid(LimnWorkspace *self, LimnDocument *doc, guint n_rows,
                         const LimnExplainMethod *methods, guint n_methods)
{
    const LimnStudyData *data = limn_document_get_data(doc);
    LimnLiveSettings settings;
    LimnLiveRequest *request;

    if (!limn_document_get_picture(doc))
        return FALSE;
    limn_live_settings_read(doc, &settings);
    request = make_request(doc, &settings);
    for (guint row = 0; row < MIN(n_rows, data->prompts->len); row++) {
        for (guint column = 0; column < n_methods; column++) {
            LimnExplainOptions options = settings.options;

            if (is_blank(data->prompts->pdata[row]))
                continue;
            options.method = methods[column];
            limn_live_request_add(request, LIMN_GRID_KEY + row * n_methods + column,
                                  &options, LIMN_SIDE_IMAGE, data->prompts->pdata[row]);
        }
    }
    if (request->items->len == 0) {
        limn_live_request_unref(request);
        return FALSE;
    }
    self->grid_document = doc;
    limn_live_fill(self->live, request);
    return TRUE;
}

void
limn_workspace_cancel_grid(LimnWorkspace *self)
{
    limn_live_cancel_fill(self->live);
    self->grid_document = NULL;
    limn_workspace_emit(self, LIMN_WORKSPACE_GRID_FINISHED);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/model/live.h"

#include "engine/base/error.h"
#include "engine/session/maps.h"
#include "ui/model/worker.h"

#include <glib/gi18n-lib.h>

#define N_EXPLAINERS 3 // pictures that stay encoded
#define MAX_SCORES 4096

typedef enum { STAGE_LOAD, STAGE_ENCODE, STAGE_EXPLAIN } Stage;

typedef struct {
    double cosine, logit;
} Score;

// Belongs to the engine's thread.
typedef struct {
    char *model;
    LimnImage *image;
    LimnExplainer *explainer;
    GHashTable *scores; // text -> Score
} Entry;

struct _LimnLive {
    GObject parent_instance;
    LimnModelStore *store;
    LimnEngineThread *thread;
    GQueue entries;       // Entry, last used first; engine's thread
    guint encodings_gone; // of explainers that were dropped; engine's thread

    GMutex mutex; // all of the below
    GCond idle;
    guint serial;
    LimnLiveRequest *pending, *running;
    LimnJob *job; // of the running request
    Stage stage;
    LimnLiveRequest *fill;
    LimnJob *fill_job;
    guint fill_left;
    guint n_encodings;
    gboolean stopped;
};

enum { RESULT, PROGRESS, FINISHED, FILL_FINISHED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(LimnLive, limn_live, G_TYPE_OBJECT)

static void
entry_free(gpointer data)
{
    Entry *entry = data;

    g_free(entry->model);
    limn_image_unref(entry->image);
    limn_explainer_free(entry->explainer);
    g_hash_table_unref(entry->scores);
    g_free(entry);
}

static void
limn_live_finalize(GObject *object)
{
    LimnLive *self = LIMN_LIVE(object);

    g_warn_if_fail(self->thread == NULL); // limn_live_stop was not called
    g_queue_clear_full(&self->entries, entry_free);
    g_mutex_clear(&self->mutex);
    g_cond_clear(&self->idle);
    G_OBJECT_CLASS(limn_live_parent_class)->finalize(object);
}

static void
limn_live_class_init(LimnLiveClass *class)
{
    GType type = G_TYPE_FROM_CLASS(class);

    G_OBJECT_CLASS(class)->finalize = limn_live_finalize;
    signals[RESULT] = g_signal_new("result", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, G_TYPE_POINTER);
    signals[PROGRESS] = g_signal_new("progress", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                     NULL, G_TYPE_NONE, 2, G_TYPE_DOUBLE, G_TYPE_STRING);
    signals[FINISHED] = g_signal_new("finished", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                     NULL, G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_POINTER);
    signals[FILL_FINISHED] = g_signal_new("fill-finished", type, G_SIGNAL_RUN_LAST, 0,
                                          NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
limn_live_init(LimnLive *self)
{
    g_queue_init(&self->entries);
    g_mutex_init(&self->mutex);
    g_cond_init(&self->idle);
}

// ---- news for the main loop

typedef struct {
    LimnLive *live;
    int signal;
    LimnLiveResult *result;
    double fraction;
    char *message;
    guint serial;
    GError *error;
} News;

static void
news_free(gpointer data)
{
    News *news = data;

    g_object_unref(news->live);
    limn_live_result_unref(news->result);
    g_free(news->message);
    g_clear_error(&news->error);
    g_free(news);
}

static gboolean
news_arrived(gpointer data)
{
    News *news = data;

    switch (news->signal) {
    case RESULT:
        g_signal_emit(news->live, signals[RESULT], 0, news->result);
        break;
    case PROGRESS:
        g_signal_emit(news->live, signals[PROGRESS], 0, news->fraction, news->message);
        break;
    case FINISHED:
        g_signal_emit(news->live, signals[FINISHED], 0, news->serial, news->error);
        break;
    default:
        g_signal_emit(news->live, signals[FILL_FINISHED], 0, news->serial);
    }
    return G_SOURCE_REMOVE;
}

static News *
news_new(LimnLive *self, int signal)
{
    News *news = g_new0(News, 1);

    news->live = g_object_ref(self);
    news->signal = signal;
    return news;
}

static void
tell_result(LimnLive *self, LimnLiveResult *result) // (transfer full)
{
    News *news = news_new(self, RESULT);

    news->result = result;
    limn_main_invoke(news_arrived, news, news_free);
}

static void
tell_finished(LimnLive *self, int signal, guint serial, const GError *error)
{
    News *news = news_new(self, signal);

    news->serial = serial;
    news->error = error ? g_error_copy(error) : NULL;
    limn_main_invoke(news_arrived, news, news_free);
}

static void
job_progress(LimnJob *job, const LimnProgress *progress, gpointer user_data)
{
    LimnLive *self = user_data;
    News *news = news_new(self, PROGRESS);

    news->fraction = progress->fraction;
    news->message = g_strdup(*progress->message ? progress->message : progress->stage);
    limn_main_invoke(news_arrived, news, news_free);
}

// ---- on the engine's thread

static void
set_stage(LimnLive *self, Stage stage)
{
    g_mutex_lock(&self->mutex);
    self->stage = stage;
    g_mutex_unlock(&self->mutex);
}

static void
count_encodings(LimnLive *self)
{
    guint n = self->encodings_gone;

    for (GList *link = self->entries.head; link; link = link->next)
        n += limn_explainer_get_n_encodings(((Entry *) link->data)->explainer);
    g_mutex_lock(&self->mutex);
    self->n_encodings = n;
    g_mutex_unlock(&self->mutex);
}

static void
drop_entry(LimnLive *self, Entry *entry)
{
    self->encodings_gone += limn_explainer_get_n_encodings(entry->explainer);
    entry_free(entry);
}

static Entry *
find_entry(LimnLive *self, const LimnLiveRequest *request)
{
    for (GList *link = self->entries.head; link; link = link->next) {
        Entry *entry = link->data;

        if (entry->image == request->image && g_str_equal(entry->model, request->model)) {
            g_queue_unlink(&self->entries, link);
            g_queue_push_head_link(&self->entries, link);
            return entry;
        }
    }
    return NULL;
}

// The explainer with the request's picture set; encodes it when it is new.
static Entry *
prepare(LimnLive *self, const LimnLiveRequest *request, LimnJob *job, GError **error)
{
    Entry *entry = find_entry(self, request);
    gboolean ok;

    if (!entry) {
        g_autoptr(LimnClip) clip = NULL;

        set_stage(self, STAGE_LOAD);
        clip = limn_model_store_open(self->store, request->model, job, error);
        if (!clip)
            return NULL;
        entry = g_new0(Entry, 1);
        entry->model = g_strdup(request->model);
        entry->image = limn_image_ref(request->image);
        entry->explainer = limn_explainer_new(clip);
        entry->scores = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_queue_push_head(&self->entries, entry);
        while (self->entries.length > N_EXPLAINERS)
            drop_entry(self, g_queue_pop_tail(&self->entries));
    }
    set_stage(self, STAGE_ENCODE);
    ok = limn_explainer_set_image(entry->explainer, request->image, request->mode,
                                  request->keep_limit, job, error);
    count_encodings(self);
    set_stage(self, STAGE_EXPLAIN);
    return ok ? entry : NULL;
}

// CLIP Surgery compares a sentence with all others, so that it gets the whole list.
static LimnExplanation *
explain_among(Entry *entry, const LimnLiveRequest *request,
              const LimnExplainOptions *options, LimnSide side, const char *text,
              LimnJob *job, GError **error)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    g_autoptr(GPtrArray) all = NULL;
    LimnExplanation *explanation;
    guint index = G_MAXUINT;

    for (guint i = 0; i < request->prompts->len; i++) {
        if (index == G_MAXUINT && g_str_equal(request->prompts->pdata[i], text))
            index = texts->len;
        g_ptr_array_add(texts, request->prompts->pdata[i]);
    }
    if (index == G_MAXUINT) {
        index = texts->len;
        g_ptr_array_add(texts, (gpointer) text);
    }
    g_ptr_array_add(texts, NULL);
    all = limn_explainer_explain_all(entry->explainer, options, side,
                                     (const char *const *) texts->pdata, job, error);
    if (!all)
        return NULL;
    g_ptr_array_set_free_func(all, NULL);
    explanation = all->pdata[index];
    for (guint i = 0; i < all->len; i++)
        if (i != index)
            limn_explanation_free(all->pdata[i]);
    return explanation;
}

static LimnExplanation *
explain(Entry *entry, const LimnLiveRequest *request, const LimnExplainOptions *options,
        LimnSide side, const char *text, LimnJob *job, GError **error)
{
    if (options->method == LIMN_EXPLAIN_CLIP_SURGERY)
        return explain_among(entry, request, options, side, text, job, error);
    return limn_explainer_explain(entry->explainer, options, side, text, job, error);
}

static void
remember_score(Entry *entry, const char *text, double cosine, double logit)
{
    Score *score = g_new0(Score, 1);

    if (g_hash_table_size(entry->scores) >= MAX_SCORES)
        g_hash_table_remove_all(entry->scores);
    score->cosine = cosine;
    score->logit = logit;
    g_hash_table_replace(entry->scores, g_strdup(text), score);
}

static void
describe_patch(Entry *entry, const LimnLiveItem *item, LimnLiveResult *result)
{
    if (item->query_row < 0 || item->query_col < 0 || item->query_row >= result->gh ||
        item->query_col >= result->gw)
        return;
    result->patch_row = item->query_row;
    result->patch_col = item->query_col;
    result->has_patch = limn_explainer_query_patch(entry->explainer, &item->options,
                                                   item->text, item->query_row,
                                                   item->query_col, &result->patch, NULL);
}

static gboolean
explain_item(LimnLive *self, Entry *entry, const LimnLiveRequest *request,
             const LimnLiveItem *item, LimnLiveResult *result, LimnJob *job,
             GError **error)
{
    LimnExplanation *explanation =
        explain(entry, request, &item->options, item->side, item->text, job, error);

    if (!explanation)
        return FALSE;
    result->explanation = explanation;
    result->cosine = explanation->cosine;
    result->logit = explanation->logit;
    remember_score(entry, item->text, explanation->cosine, explanation->logit);
    limn_explainer_get_grid(entry->explainer, &result->gh, &result->gw, &result->rect);
    result->words = limn_text_item_from_explanation(
        explanation, item->text,
        limn_clip_get_tokenizer(limn_explainer_get_clip(entry->explainer)));
    describe_patch(entry, item, result);
    if (!item->has_other)
        return TRUE;
    result->other = explain(entry, request, &item->other_options, LIMN_SIDE_IMAGE,
                            item->other_text, job, error);
    if (!result->other)
        return FALSE;
    if (!item->difference)
        return TRUE;
    result->difference = limn_map_difference(explanation->map, result->other->map, error);
    return result->difference != NULL;
}

// FALSE when it was cancelled; an item that fails is a result with an error.
static gboolean
run_item(LimnLive *self, Entry *entry, const LimnLiveRequest *request,
         const LimnLiveItem *item, LimnJob *job)
{
    LimnLiveResult *result = limn_live_result_new(request, item);
    gint64 begin = g_get_monotonic_time();

    if (!explain_item(self, entry, request, item, result, job, &result->error) &&
        g_error_matches(result->error, LIMN_ERROR, LIMN_ERROR_CANCELLED)) {
        limn_live_result_unref(result);
        return FALSE;
    }
    result->seconds = (g_get_monotonic_time() - begin) / 1e6;
    g_mutex_lock(&self->mutex);
    result->n_encodings = self->n_encodings;
    g_mutex_unlock(&self->mutex);
    tell_result(self, result);
    return TRUE;
}

static gboolean
run_score(LimnLive *self, Entry *entry, const LimnLiveRequest *request, guint index,
          LimnJob *job)
{
    const char *text = request->scored->pdata[index];
    const Score *score = g_hash_table_lookup(entry->scores, text);
    LimnLiveResult *result;

    if (!score) {
        g_autoptr(LimnExplanation) explanation = NULL;
        g_autoptr(GError) error = NULL;
        LimnExplainOptions options;

        limn_explain_options_init(&options);
        explanation = limn_explainer_explain(entry->explainer, &options, LIMN_SIDE_IMAGE,
                                             text, job, &error);
        if (!explanation) // the item of that sentence says why
            return !g_error_matches(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
        remember_score(entry, text, explanation->cosine, explanation->logit);
        score = g_hash_table_lookup(entry->scores, text);
    }
    result = limn_live_result_new(request, NULL);
    result->key = LIMN_LIVE_SCORE_KEY;
    result->text = g_strdup(text);
    result->cosine = score->cosine;
    result->logit = score->logit;
    tell_result(self, result);
    return TRUE;
}

static gboolean
run_request(LimnLive *self, const LimnLiveRequest *request, LimnJob *job, GError **error)
{
    Entry *entry = prepare(self, request, job, error);

    if (!entry)
        return FALSE;
    // quick ones first, then the scores, then what takes seconds
    for (int slow = 0; slow < 2; slow++) {
        for (guint i = 0; i < request->items->len; i++) {
            const LimnLiveItem *item = request->items->pdata[i];

            if (limn_explain_method_is_slow(item->options.method) != slow)
                continue;
            if (!limn_job_check(job, error) || !run_item(self, entry, request, item, job))
                return FALSE;
        }
        for (guint i = 0; !slow && i < request->scored->len; i++)
            if (!limn_job_check(job, error) || !run_score(self, entry, request, i, job))
                return FALSE;
    }
    return TRUE;
}

static LimnJob *
make_job(LimnLive *self, const LimnLiveRequest *request)
{
    LimnJob *job = limn_job_new();

    limn_job_set_threads(job, request->threads);
    limn_job_set_progress(job, job_progress, self, NULL);
    return job;
}

static void
run_pending(gpointer data)
{
    LimnLive *self = data;
    g_autoptr(LimnLiveRequest) request = NULL;
    g_autoptr(LimnJob) job = NULL;
    g_autoptr(GError) error = NULL;

    g_mutex_lock(&self->mutex);
    request = g_steal_pointer(&self->pending);
    if (request) {
        job = make_job(self, request);
        self->running = request;
        self->job = job;
        self->stage = STAGE_LOAD;
    }
    g_mutex_unlock(&self->mutex);
    if (!request)
        return;
    run_request(self, request, job, &error);
    g_mutex_lock(&self->mutex);
    self->running = NULL;
    self->job = NULL;
    if (!self->pending)
        g_cond_broadcast(&self->idle);
    g_mutex_unlock(&self->mutex);
    tell_finished(self, FINISHED, request->serial, error);
}

// ---- submitting, main thread

LimnLive *
limn_live_new(LimnModelStore *store)
{
    LimnLive *self = g_object_new(LIMN_TYPE_LIVE, NULL);

    self->store = store;
    self->thread = limn_engine_thread_new("limn-live");
    return self;
}

static gboolean
same_picture(const LimnLiveRequest *a, const LimnLiveRequest *b)
{
    return a->image == b->image && g_str_equal(a->model, b->model);
}

// TRUE when what is running is of no use to the newer request.
static gboolean
is_superseded(LimnLive *self, const LimnLiveRequest *newer)
{
    const LimnLiveRequest *running = self->running;

    switch (self->stage) {
    case STAGE_LOAD:
        return !g_str_equal(running->model, newer->model);
    case STAGE_ENCODE:
        return !same_picture(running, newer) || running->mode != newer->mode ||
               running->keep_limit != newer->keep_limit;
    default:
        return TRUE;
    }
}

guint
limn_live_submit(LimnLive *self, LimnLiveRequest *request)
{
    guint serial;

    g_mutex_lock(&self->mutex);
    serial = request->serial = ++self->serial;
    g_clear_pointer(&self->pending, limn_live_request_unref);
    self->pending = request;
    if (self->running && is_superseded(self, request))
        limn_job_cancel(self->job);
    if (self->fill_job)
        limn_job_cancel(self->fill_job); // its item is run again later
    g_mutex_unlock(&self->mutex);
    limn_engine_thread_push(self->thread, LIMN_PRIORITY_LIVE, run_pending, self, NULL);
    return serial;
}

void
limn_live_cancel(LimnLive *self)
{
    g_mutex_lock(&self->mutex);
    g_clear_pointer(&self->pending, limn_live_request_unref);
    if (self->job)
        limn_job_cancel(self->job);
    g_mutex_unlock(&self->mutex);
}

gboolean
limn_live_is_busy(LimnLive *self)
{
    gboolean busy;

    g_mutex_lock(&self->mutex);
    busy = self->pending || self->running;
    g_mutex_unlock(&self->mutex);
    return busy;
}

void
limn_live_wait_idle(LimnLive *self, guint milliseconds)
{
    gint64 end = g_get_monotonic_time() + milliseconds * G_TIME_SPAN_MILLISECOND;

    g_mutex_lock(&self->mutex);
    while ((self->pending || self->running) && !self->stopped)
        if (!g_cond_wait_until(&self->idle, &self->mutex, end))
            break;
    g_mutex_unlock(&self->mutex);
}

// ---- filling

typedef struct {
    LimnLive *live;
    LimnLiveRequest *request;
    guint index;
} FillWork;

static void
fill_work_free(gpointer data)
{
    FillWork *work = data;

    limn_live_request_unref(work->request);
    g_free(work);
}

static void run_fill(gpointer data);

static void
push_fill(LimnLive *self, LimnLiveRequest *request, guint index)
{
    FillWork *work = g_new0(FillWork, 1);

    work->live = self;
    work->request = limn_live_request_ref(request);
    work->index = index;
    limn_engine_thread_push(self->thread, LIMN_PRIORITY_BACKGROUND, run_fill, work,
                            fill_work_free);
}

static void
run_fill(gpointer data)
{
    FillWork *work = data;
    LimnLive *self = work->live;
    LimnLiveRequest *request = work->request;
    const LimnLiveItem *item = request->items->pdata[work->index];
    g_autoptr(LimnJob) job = NULL;
    g_autoptr(GError) error = NULL;
    Entry *entry;
    gboolean done = TRUE, current, last = FALSE;

    g_mutex_lock(&self->mutex);
    if (self->fill == request)
        job = self->fill_job = make_job(self, request);
    g_mutex_unlock(&self->mutex);
    if (!job)
        return;
    entry = prepare(self, request, job, &error);
    if (entry) {
        done = run_item(self, entry, request, item, job);
    } else if (g_error_matches(error, LIMN_ERROR, LIMN_ERROR_CANCELLED)) {
        done = FALSE;
    } else {
        LimnLiveResult *result = limn_live_result_new(request, item);

        result->error = g_steal_pointer(&error);
        tell_result(self, result);
    }
    g_mutex_lock(&self->mutex);
    self->fill_job = NULL;
    current = self->fill == request && !self->stopped;
    if (current && done && --self->fill_left == 0) {
        g_clear_pointer(&self->fill, limn_live_request_unref);
        last = TRUE;
    }
    g_mutex_unlock(&self->mutex);
    if (current && !done)
        push_fill(self, request, work->index);
    if (last)
        tell_finished(self, FILL_FINISHED, request->serial, NULL);
}

guint
limn_live_fill(LimnLive *self, LimnLiveRequest *request)
{
    guint serial;

    limn_live_cancel_fill(self);
    g_mutex_lock(&self->mutex);
    serial = request->serial = ++self->serial;
    self->fill = request;
    self->fill_left = request->items->len;
    limn_live_request_ref(request); // the thread may be done with it before we are
    g_mutex_unlock(&self->mutex);
    for (guint i = 0; i < request->items->len; i++)
        push_fill(self, request, i);
    limn_live_request_unref(request);
    return serial;
}

void
limn_live_cancel_fill(LimnLive *self)
{
    g_mutex_lock(&self->mutex);
    g_clear_pointer(&self->fill, limn_live_request_unref);
    if (self->fill_job)
        limn_job_cancel(self->fill_job);
    g_mutex_unlock(&self->mutex);
}

// ---- models and the end

typedef struct {
    LimnLive *live;
    char *path;
} Forget;

static void
forget_free(gpointer data)
{
    Forget *forget = data;

    g_free(forget->path);
    g_free(forget);
}

static void
run_forget(gpointer data)
{
    Forget *forget = data;
    LimnLive *self = forget->live;

    for (GList *link = self->entries.head; link;) {
        GList *next = link->next;
        Entry *entry = link->data;

        if (g_str_equal(entry->model, forget->path)) {
            g_queue_delete_link(&self->entries, link);
            drop_entry(self, entry);
        }
        link = next;
    }
}

void
limn_live_forget_model(LimnLive *self, const char *path)
{
    Forget *forget = g_new0(Forget, 1);

    forget->live = self;
    forget->path = g_strdup(path);
    limn_engine_thread_push(self->thread, LIMN_PRIORITY_NORMAL, run_forget, forget,
                            forget_free);
}

guint
limn_live_get_n_encodings(LimnLive *self)
{
    guint n;

    g_mutex_lock(&self->mutex);
    n = self->n_encodings;
    g_mutex_unlock(&self->mutex);
    return n;
}

void
limn_live_stop(LimnLive *self)
{
    g_mutex_lock(&self->mutex);
    self->stopped = TRUE;
    g_cond_broadcast(&self->idle);
    g_mutex_unlock(&self->mutex);
    limn_live_cancel(self);
    limn_live_cancel_fill(self);
    g_clear_pointer(&self->thread, limn_engine_thread_free);
}

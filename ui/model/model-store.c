// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/model/model-store.h"

#include "engine/base/error.h"
#include "ui/model/worker.h"

#include <glib/gi18n-lib.h>

struct _LimnModel {
    GObject parent_instance;
    char *path;
    LimnModelState state;
    LimnClip *clip;
    char *message;
};

enum { PROP_0, PROP_STATE, N_PROPS };
static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE(LimnModel, limn_model, G_TYPE_OBJECT)

static void
limn_model_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
    g_value_set_int(value, LIMN_MODEL(object)->state);
}

static void
limn_model_finalize(GObject *object)
{
    LimnModel *self = LIMN_MODEL(object);

    g_free(self->path);
    g_free(self->message);
    g_clear_pointer(&self->clip, limn_clip_unref);
    G_OBJECT_CLASS(limn_model_parent_class)->finalize(object);
}

static void
limn_model_class_init(LimnModelClass *class)
{
    GObjectClass *object_class = G_OBJECT_CLASS(class);

    object_class->get_property = limn_model_get_property;
    object_class->finalize = limn_model_finalize;
    props[PROP_STATE] = g_param_spec_int("state", NULL, NULL, 0, LIMN_MODEL_FAILED, 0,
                                         G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
    g_object_class_install_properties(object_class, N_PROPS, props);
}

static void
limn_model_init(LimnModel *self)
{
}

const char *
limn_model_get_path(LimnModel *self)
{
    return self->path;
}

char *
limn_model_dup_title(LimnModel *self)
{
    if (!*self->path)
        return g_strdup(_("Built-in model"));
    return g_filename_display_basename(self->path);
}

LimnModelState
limn_model_get_state(LimnModel *self)
{
    return self->state;
}

LimnClip *
limn_model_get_clip(LimnModel *self)
{
    return self->clip;
}

const char *
limn_model_get_message(LimnModel *self)
{
    return self->message;
}

static void
model_set(LimnModel *self, LimnModelState state, LimnClip *clip, const char *message)
{
    if (clip)
        limn_clip_ref(clip);
    g_clear_pointer(&self->clip, limn_clip_unref);
    self->clip = clip;
    g_free(self->message);
    self->message = g_strdup(message);
    self->state = state;
    g_object_notify_by_pspec(G_OBJECT(self), props[PROP_STATE]);
}

// ---- the store

struct LimnModelStore {
    gatomicrefcount refs; // news on their way to the main loop keep it alive
    GMutex mutex;
    GHashTable *clips; // path -> LimnClip, under the mutex
    GListStore *list;  // main thread
};

LimnModelStore *
limn_model_store_new(void)
{
    LimnModelStore *self = g_new0(LimnModelStore, 1);

    g_atomic_ref_count_init(&self->refs);
    g_mutex_init(&self->mutex);
    self->clips = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                        (GDestroyNotify) limn_clip_unref);
    self->list = g_list_store_new(LIMN_TYPE_MODEL);
    limn_model_store_add(self, "");
    return self;
}

void
limn_model_store_free(LimnModelStore *self)
{
    if (!self || !g_atomic_ref_count_dec(&self->refs))
        return;
    g_hash_table_unref(self->clips);
    g_object_unref(self->list);
    g_mutex_clear(&self->mutex);
    g_free(self);
}

GListModel *
limn_model_store_get_list(LimnModelStore *self)
{
    return G_LIST_MODEL(self->list);
}

LimnModel *
limn_model_store_find(LimnModelStore *self, const char *path)
{
    GListModel *list = G_LIST_MODEL(self->list);

    for (guint i = 0; i < g_list_model_get_n_items(list); i++) {
        g_autoptr(LimnModel) model = g_list_model_get_item(list, i);

        if (g_str_equal(model->path, path))
            return model; // the list keeps it alive
    }
    return NULL;
}

LimnModel *
limn_model_store_add(LimnModelStore *self, const char *path)
{
    LimnModel *model = limn_model_store_find(self, path);

    if (model)
        return model;
    model = g_object_new(LIMN_TYPE_MODEL, NULL);
    model->path = g_strdup(path);
    g_list_store_append(self->list, model);
    g_object_unref(model);
    return model;
}

void
limn_model_store_unload(LimnModelStore *self, const char *path)
{
    LimnModel *model = limn_model_store_find(self, path);

    g_mutex_lock(&self->mutex);
    g_hash_table_remove(self->clips, path);
    g_mutex_unlock(&self->mutex);
    if (model)
        model_set(model, LIMN_MODEL_KNOWN, NULL, NULL);
}

void
limn_model_store_remove(LimnModelStore *self, const char *path)
{
    LimnModel *model = limn_model_store_find(self, path);
    guint position;

    if (!model || !*path)
        return;
    limn_model_store_unload(self, path);
    if (g_list_store_find(self->list, model, &position))
        g_list_store_remove(self->list, position);
}

// ---- opening

typedef struct {
    LimnModelStore *store;
    char *path;
    LimnModelState state;
    LimnClip *clip;
    char *message;
} News;

static void
news_free(gpointer data)
{
    News *news = data;

    limn_model_store_free(news->store);
    g_free(news->path);
    g_free(news->message);
    g_clear_pointer(&news->clip, limn_clip_unref);
    g_free(news);
}

static gboolean
news_arrived(gpointer data)
{
    News *news = data;
    LimnModel *model = limn_model_store_add(news->store, news->path);

    model_set(model, news->state, news->clip, news->message);
    return G_SOURCE_REMOVE;
}

static void
tell(LimnModelStore *self, const char *path, LimnModelState state, LimnClip *clip,
     const char *message)
{
    News *news = g_new0(News, 1);

    g_atomic_ref_count_inc(&self->refs);
    news->store = self;
    news->path = g_strdup(path);
    news->state = state;
    news->clip = clip ? limn_clip_ref(clip) : NULL;
    news->message = g_strdup(message);
    limn_main_invoke(news_arrived, news, news_free);
}

LimnClip *
limn_model_store_open(LimnModelStore *self, const char *path, LimnJob *job,
                      GError **error)
{
    LimnClip *clip;
    GError *local = NULL;

    g_mutex_lock(&self->mutex);
    clip = g_hash_table_lookup(self->clips, path);
    if (clip)
        limn_clip_ref(clip);
    g_mutex_unlock(&self->mutex);
    if (clip)
        return clip;
    tell(self, path, LIMN_MODEL_LOADING, NULL, NULL);
    clip = limn_clip_open(*path ? path : NULL, 0, job, &local);
    if (clip) {
        g_mutex_lock(&self->mutex);
        g_hash_table_replace(self->clips, g_strdup(path), limn_clip_ref(clip));
        g_mutex_unlock(&self->mutex);
        tell(self, path, LIMN_MODEL_LOADED, clip, NULL);
    } else {
        gboolean cancelled = g_error_matches(local, LIMN_ERROR, LIMN_ERROR_CANCELLED);

        tell(self, path, cancelled ? LIMN_MODEL_KNOWN : LIMN_MODEL_FAILED, NULL,
             cancelled ? NULL : local->message);
        g_propagate_error(error, local);
    }
    return clip;
}

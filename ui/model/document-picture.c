// SPDX-License-Identifier: GPL-3.0-or-later

// The picture, the mask and the folder of a study, loaded on a worker.

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/image/image-mask.h"
#include "engine/io/picture.h"
#include "ui/model/document-private.h"
#include "ui/model/folder-item.h"
#include "ui/model/worker.h"

#include <glib/gi18n-lib.h>

char *
limn_document_dup_picture_path(LimnDocument *self)
{
    const char *image = limn_pairs_get(self->study->data.inputs, "image");
    const char *item = self->study->view.item;
    GListModel *items = G_LIST_MODEL(self->items);
    g_autoptr(LimnFolderItem) first = NULL;

    if (!image || !self->folder_path || !g_str_equal(image, self->folder_path))
        return g_strdup(image);
    if (item)
        return g_build_filename(image, item, NULL);
    if (items)
        first = g_list_model_get_item(items, 0);
    return first ? g_strdup(limn_folder_item_get_path(first)) : NULL;
}

LimnImage *
limn_document_get_picture(LimnDocument *self)
{
    return self->picture;
}

const char *
limn_document_get_picture_error(LimnDocument *self)
{
    return self->picture_error;
}

gboolean
limn_document_is_loading(LimnDocument *self)
{
    return self->picture_load || self->folder_load;
}

LimnImage *
limn_document_get_mask(LimnDocument *self)
{
    return self->mask;
}

const char *
limn_document_get_mask_error(LimnDocument *self)
{
    return self->mask_error;
}

GListModel *
limn_document_get_items(LimnDocument *self)
{
    return G_LIST_MODEL(self->items);
}

int
limn_document_get_item_index(LimnDocument *self)
{
    g_autofree char *path = limn_document_dup_picture_path(self);
    GListModel *items = G_LIST_MODEL(self->items);

    for (guint i = 0; path && items && i < g_list_model_get_n_items(items); i++) {
        g_autoptr(LimnFolderItem) item = g_list_model_get_item(items, i);

        if (g_str_equal(limn_folder_item_get_path(item), path))
            return (int) i;
    }
    return -1;
}

void
limn_document_show_item(LimnDocument *self, int index)
{
    GListModel *items = G_LIST_MODEL(self->items);
    g_autoptr(LimnFolderItem) item = NULL;
    g_autofree char *name = NULL;

    if (!items || index < 0)
        return;
    item = g_list_model_get_item(items, (guint) index);
    if (!item)
        return;
    name = g_path_get_basename(limn_folder_item_get_path(item));
    if (g_strcmp0(name, self->study->view.item) == 0)
        return;
    g_free(self->study->view.item);
    self->study->view.item = g_steal_pointer(&name);
    limn_document_view_changed(self);
}

// ---- loading

static void
load_picture(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    GError *error = NULL;
    LimnImage *image = limn_picture_load(data, NULL, &error);

    if (image)
        g_task_return_pointer(task, image, (GDestroyNotify) limn_image_unref);
    else
        g_task_return_error(task, error);
}

static GCancellable *
start(LimnDocument *self, const char *path, GTaskThreadFunc func,
      GAsyncReadyCallback callback)
{
    GCancellable *cancellable = g_cancellable_new();
    g_autoptr(GTask) task = g_task_new(self, cancellable, callback, NULL);

    g_task_set_task_data(task, g_strdup(path), g_free);
    limn_worker_run(LIMN_WORKER_FILES, task, func);
    return cancellable;
}

static void
cancel(GCancellable **cancellable)
{
    if (*cancellable)
        g_cancellable_cancel(*cancellable);
    g_clear_object(cancellable);
}

void
limn_document_cancel_loads(LimnDocument *self)
{
    cancel(&self->picture_load);
    cancel(&self->mask_load);
    cancel(&self->folder_load);
}

// TRUE when the result is of the load that is still wanted.
static gboolean
is_current(GAsyncResult *result, GCancellable **cancellable)
{
    if (g_task_get_cancellable(G_TASK(result)) != *cancellable)
        return FALSE;
    g_clear_object(cancellable);
    return TRUE;
}

static void
note_item_error(LimnDocument *self, const char *path, const char *message)
{
    GListModel *items = G_LIST_MODEL(self->items);

    for (guint i = 0; items && i < g_list_model_get_n_items(items); i++) {
        g_autoptr(LimnFolderItem) item = g_list_model_get_item(items, i);

        if (g_str_equal(limn_folder_item_get_path(item), path))
            limn_folder_item_set_error(item, message);
    }
}

// The first picture keeps the zoom of the session, later ones of another size are fitted.
static void
set_scene(LimnDocument *self, LimnImage *image)
{
    const LimnStudyView *view = &self->study->view;

    limn_camera_set_scene(self->camera, image->width, image->height);
    if (!self->had_picture && view->zoom > 0)
        limn_camera_set_state(self->camera, view->zoom, view->cx, view->cy);
    self->had_picture = TRUE;
}

static void
picture_loaded(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnDocument *self = LIMN_DOCUMENT(source);
    g_autoptr(GError) error = NULL;
    LimnImage *image = g_task_propagate_pointer(G_TASK(result), &error);

    if (!is_current(result, &self->picture_load)) {
        g_clear_pointer(&image, limn_image_unref);
        return;
    }
    self->picture = image;
    if (image)
        set_scene(self, image);
    else
        self->picture_error = g_strdup(error->message);
    if (error)
        note_item_error(self, self->picture_path, error->message);
    limn_document_emit(self, LIMN_DOCUMENT_PICTURE_CHANGED);
}

static void
load_mask(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const char *path = data;
    GError *error = NULL;
    g_autoptr(LimnImage) image = limn_picture_load(path, NULL, &error);
    LimnMaskReport report;

    if (image && limn_image_looks_like_lossy_mask(image, &report)) {
        g_autofree char *found = limn_mask_report_describe(&report);

        limn_error_set_file(&error, LIMN_ERROR_FORMAT, path,
                            "a mask that went through a lossy format cannot be used (%s)",
                            found);
        g_clear_pointer(&image, limn_image_unref);
    }
    if (image)
        g_task_return_pointer(task, g_steal_pointer(&image),
                              (GDestroyNotify) limn_image_unref);
    else
        g_task_return_error(task, error);
}

static void
mask_loaded(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnDocument *self = LIMN_DOCUMENT(source);
    g_autoptr(GError) error = NULL;
    LimnImage *image = g_task_propagate_pointer(G_TASK(result), &error);

    if (!is_current(result, &self->mask_load)) {
        g_clear_pointer(&image, limn_image_unref);
        return;
    }
    self->mask = image;
    if (error)
        self->mask_error = g_strdup(error->message);
    limn_document_emit(self, LIMN_DOCUMENT_PICTURE_CHANGED);
}

// ---- folders

static void
list_folder(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    GError *error = NULL;
    GStrv paths = limn_picture_list_folder(data, &error);

    if (paths)
        g_task_return_pointer(task, paths, (GDestroyNotify) g_strfreev);
    else
        g_task_return_error(task, error);
}

typedef struct {
    LimnFolderItem *item;
    char *path, *message;
} Probe;

static void
probe_free(gpointer data)
{
    Probe *probe = data;

    g_object_unref(probe->item);
    g_free(probe->path);
    g_free(probe->message);
    g_free(probe);
}

static gboolean
probe_failed(gpointer data)
{
    Probe *probe = data;

    limn_folder_item_set_error(probe->item, probe->message);
    return G_SOURCE_REMOVE;
}

// Reads the heads of all files, so that broken ones are marked before they are reached.
static void
probe_all(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    GPtrArray *probes = data;

    for (guint i = 0; i < probes->len && !g_cancellable_is_cancelled(cancellable); i++) {
        Probe *probe = probes->pdata[i];
        g_autoptr(GError) error = NULL;
        LimnPictureInfo info;

        if (limn_picture_probe(probe->path, &info, &error))
            continue;
        probe->message = g_strdup(error->message);
        probes->pdata[i] = NULL; // handed over
        limn_main_invoke(probe_failed, probe, probe_free);
    }
    g_task_return_boolean(task, TRUE);
}

static void
probe_list_free(gpointer data)
{
    GPtrArray *probes = data;

    for (guint i = 0; i < probes->len; i++)
        if (probes->pdata[i])
            probe_free(probes->pdata[i]);
    g_ptr_array_unref(probes);
}

static void
start_probing(LimnDocument *self, GListModel *items)
{
    g_autoptr(GTask) task = g_task_new(NULL, NULL, NULL, NULL);
    GPtrArray *probes = g_ptr_array_new();

    for (guint i = 0; i < g_list_model_get_n_items(items); i++) {
        Probe *probe = g_new0(Probe, 1);

        probe->item = g_list_model_get_item(items, i);
        probe->path = g_strdup(limn_folder_item_get_path(probe->item));
        g_ptr_array_add(probes, probe);
    }
    g_task_set_task_data(task, probes, probe_list_free);
    limn_worker_run(LIMN_WORKER_THUMBNAILS, task, probe_all);
}

static void
folder_listed(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnDocument *self = LIMN_DOCUMENT(source);
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) paths = g_task_propagate_pointer(G_TASK(result), &error);

    if (!is_current(result, &self->folder_load))
        return;
    if (error) {
        self->picture_error = g_strdup(error->message);
        limn_document_emit(self, LIMN_DOCUMENT_PICTURE_CHANGED);
        return;
    }
    for (char **path = paths; *path; path++) {
        g_autoptr(LimnFolderItem) item = limn_folder_item_new(*path);

        g_list_store_append(self->items, item);
    }
    if (!*paths)
        self->picture_error = g_strdup(
            _("There are no pictures in this folder. Drop another one, or put PNG, "
              "JPEG, TIFF or WebP files into it."));
    start_probing(self, G_LIST_MODEL(self->items));
    limn_document_sync_picture(self);
    limn_document_emit(self, LIMN_DOCUMENT_PICTURE_CHANGED);
}

// ---- what is to be there

static void
sync_folder(LimnDocument *self)
{
    const char *image = limn_pairs_get(self->study->data.inputs, "image");
    const char *folder = image && g_file_test(image, G_FILE_TEST_IS_DIR) ? image : NULL;

    if (g_strcmp0(folder, self->folder_path) == 0)
        return;
    cancel(&self->folder_load);
    g_clear_object(&self->items);
    g_free(self->folder_path);
    self->folder_path = g_strdup(folder);
    if (!folder)
        return;
    self->items = g_list_store_new(LIMN_TYPE_FOLDER_ITEM);
    self->folder_load = start(self, folder, list_folder, folder_listed);
}

static void
sync_mask(LimnDocument *self)
{
    const char *mask = self->study->data.mask;

    if (g_strcmp0(mask, self->mask_path) == 0)
        return;
    cancel(&self->mask_load);
    g_clear_pointer(&self->mask, limn_image_unref);
    g_clear_pointer(&self->mask_error, g_free);
    g_free(self->mask_path);
    self->mask_path = g_strdup(mask);
    if (mask)
        self->mask_load = start(self, mask, load_mask, mask_loaded);
    limn_document_emit(self, LIMN_DOCUMENT_PICTURE_CHANGED);
}

static void
forget_picture(LimnDocument *self)
{
    cancel(&self->picture_load);
    g_clear_pointer(&self->picture, limn_image_unref);
    g_clear_pointer(&self->picture_error, g_free);
    limn_document_clear_results(self);
}

void
limn_document_sync_picture(LimnDocument *self)
{
    g_autofree char *path = NULL;

    if (!self->awake)
        return;
    sync_folder(self);
    sync_mask(self);
    path = limn_document_dup_picture_path(self);
    if (g_strcmp0(path, self->picture_path) == 0)
        return;
    forget_picture(self);
    g_free(self->picture_path);
    self->picture_path = g_steal_pointer(&path);
    if (self->picture_path)
        self->picture_load =
            start(self, self->picture_path, load_picture, picture_loaded);
    limn_document_emit(self, LIMN_DOCUMENT_PICTURE_CHANGED);
}

void
limn_document_set_awake(LimnDocument *self, gboolean awake)
{
    if (self->awake == awake)
        return;
    if (!awake) {
        limn_document_freeze(self);
        limn_document_cancel_loads(self);
        g_clear_pointer(&self->mask, limn_image_unref);
        g_clear_pointer(&self->mask_error, g_free);
        g_clear_pointer(&self->mask_path, g_free);
        g_clear_pointer(&self->picture_path, g_free);
        g_clear_pointer(&self->folder_path, g_free);
        g_clear_object(&self->items);
        forget_picture(self);
        self->had_picture = FALSE; // the view waits in the study again
    }
    self->awake = awake;
    limn_document_sync_picture(self);
}

gboolean
limn_document_is_awake(LimnDocument *self)
{
    return self->awake;
}

void
limn_document_set_pasted(LimnDocument *self, LimnImage *picture, const char *path)
{
    forget_picture(self);
    limn_pairs_set(self->study->data.inputs, "image", path);
    g_free(self->picture_path);
    self->picture_path = g_strdup(path);
    self->picture = limn_image_ref(picture);
    set_scene(self, picture);
    limn_document_emit(self, LIMN_DOCUMENT_DATA_CHANGED);
    limn_document_emit(self, LIMN_DOCUMENT_PICTURE_CHANGED);
}

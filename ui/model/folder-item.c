// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/folder-item.h"

#include "ui/model/texture.h"

#define THUMBNAIL_SIZE 160

struct _LimnFolderItem {
    GObject parent_instance;
    char *path, *name, *error;
    GdkTexture *texture;
    gboolean wanted;
};

static guint changed_signal;

G_DEFINE_FINAL_TYPE(LimnFolderItem, limn_folder_item, G_TYPE_OBJECT)

static void
limn_folder_item_finalize(GObject *object)
{
    LimnFolderItem *self = LIMN_FOLDER_ITEM(object);

    g_free(self->path);
    g_free(self->name);
    g_free(self->error);
    g_clear_object(&self->texture);
    G_OBJECT_CLASS(limn_folder_item_parent_class)->finalize(object);
}

static void
limn_folder_item_class_init(LimnFolderItemClass *class)
{
    G_OBJECT_CLASS(class)->finalize = limn_folder_item_finalize;
    changed_signal = g_signal_new("changed", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST,
                                  0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
limn_folder_item_init(LimnFolderItem *self)
{
}

LimnFolderItem *
limn_folder_item_new(const char *path)
{
    LimnFolderItem *self = g_object_new(LIMN_TYPE_FOLDER_ITEM, NULL);

    self->path = g_strdup(path);
    self->name = g_filename_display_basename(path);
    return self;
}

const char *
limn_folder_item_get_path(LimnFolderItem *self)
{
    return self->path;
}

const char *
limn_folder_item_get_name(LimnFolderItem *self)
{
    return self->name;
}

const char *
limn_folder_item_get_error(LimnFolderItem *self)
{
    return self->error;
}

void
limn_folder_item_set_error(LimnFolderItem *self, const char *message)
{
    if (g_strcmp0(self->error, message) == 0)
        return;
    g_free(self->error);
    self->error = g_strdup(message);
    g_signal_emit(self, changed_signal, 0);
}

static void
texture_loaded(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(LimnFolderItem) self = user_data;
    g_autoptr(GError) error = NULL;

    self->texture = limn_thumbnail_load_finish(result, &error);
    if (self->texture)
        g_signal_emit(self, changed_signal, 0);
    else
        limn_folder_item_set_error(self, error->message);
}

void
limn_folder_item_want_texture(LimnFolderItem *self)
{
    if (self->wanted || self->error)
        return;
    self->wanted = TRUE;
    limn_thumbnail_load_async(self->path, THUMBNAIL_SIZE, NULL, texture_loaded,
                              g_object_ref(self));
}

GdkTexture *
limn_folder_item_get_texture(LimnFolderItem *self)
{
    return self->texture;
}

// SPDX-License-Identifier: GPL-3.0-or-later

// Opening several things at once: everything is sorted on a worker first, then each
// goes to its place in an order that makes them fit: checkpoints, pictures and folders,
// masks, studies, sentences. What was not understood is listed in one message.

#include "limn-config.h"

#include "ui/model/workspace-private.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/picture.h"
#include "engine/session/samples.h"
#include "engine/study/study.h"
#include "ui/model/document-edit.h"
#include "ui/model/drop-sorter.h"
#include "ui/model/worker.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_REASONS 8

typedef struct {
    LimnWorkspace *ws;
    GStrv paths;
} Opening;

static void
opening_free(gpointer data)
{
    Opening *opening = data;

    g_object_unref(opening->ws);
    g_strfreev(opening->paths);
    g_free(opening);
}

static void
sort_all(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Opening *opening = data;
    GPtrArray *drops = g_ptr_array_new_with_free_func((GDestroyNotify) limn_drop_free);

    for (char **path = opening->paths; *path; path++)
        g_ptr_array_add(drops, limn_drop_sort(*path));
    g_task_return_pointer(task, drops, (GDestroyNotify) g_ptr_array_unref);
}

// ---- masks

static gboolean
same_stem(const char *mask, const char *picture)
{
    g_autofree char *a = limn_drop_stem(mask);
    g_autofree char *b = limn_drop_stem(picture);

    return g_str_equal(a, b);
}

static gboolean
fits_picture(const LimnDrop *mask, const LimnDrop *picture)
{
    return picture->kind == LIMN_DROP_PICTURE &&
           (same_stem(mask->path, picture->path) ||
            (mask->width == picture->width && mask->height == picture->height));
}

static gboolean
fits_document(const LimnDrop *mask, LimnDocument *doc)
{
    LimnImage *picture = doc ? limn_document_get_picture(doc) : NULL;

    return picture && picture->width == mask->width && picture->height == mask->height;
}

// A label map dropped alone is a picture like any other unless its name says what it is
// or a picture of its size is open. Among pictures it belongs to one of them.
static void
decide_masks(LimnWorkspace *self, GPtrArray *drops)
{
    for (guint i = 0; i < drops->len; i++) {
        LimnDrop *drop = drops->pdata[i];
        gboolean fits = fits_document(drop, self->current) || drop->named_like_mask;

        if (drop->kind != LIMN_DROP_MASK)
            continue;
        for (guint j = 0; j < drops->len && !fits; j++)
            fits = fits_picture(drop, drops->pdata[j]);
        if (!fits)
            drop->kind = LIMN_DROP_PICTURE;
    }
}

// The study that a mask belongs to: one whose picture has the same stem, else the shown
// one when the sizes agree. NULL: none yet.
static LimnDocument *
document_for_mask(LimnWorkspace *self, const char *mask, int width, int height)
{
    GListModel *list = G_LIST_MODEL(self->documents);
    LimnDrop size = {.width = width, .height = height};

    for (guint i = g_list_model_get_n_items(list); i-- > 0;) {
        g_autoptr(LimnDocument) doc = g_list_model_get_item(list, i);
        g_autofree char *picture = limn_document_dup_picture_path(doc);

        if (picture && same_stem(mask, picture))
            return doc; // the list keeps it alive
    }
    return fits_document(&size, self->current) ? self->current : NULL;
}

static void
place_mask(LimnWorkspace *self, const LimnDrop *drop, LimnDocument *only)
{
    LimnDocument *doc = document_for_mask(self, drop->path, drop->width, drop->height);
    g_autofree char *name = g_filename_display_basename(drop->path);
    g_autofree char *text = NULL;

    if (!doc)
        doc = only;
    if (doc) {
        limn_document_set_mask(doc, drop->path);
        return;
    }
    g_ptr_array_add(self->waiting_masks, g_strdup(drop->path));
    text = g_strdup_printf(_("The mask %s is kept for its picture: open a picture of the "
                             "same name or size."),
                           name);
    limn_workspace_message(self, LIMN_MESSAGE_INFO, text);
}

void
limn_workspace_picture_arrived(LimnWorkspace *self, LimnDocument *doc)
{
    g_autofree char *picture = limn_document_dup_picture_path(doc);
    LimnImage *image = limn_document_get_picture(doc);

    if (limn_document_get_data(doc)->mask || !picture)
        return;
    for (guint i = 0; i < self->waiting_masks->len; i++) {
        const char *mask = self->waiting_masks->pdata[i];
        LimnPictureInfo info = {0};

        if (!same_stem(mask, picture) &&
            !(limn_picture_probe(mask, &info, NULL) && info.width == image->width &&
              info.height == image->height))
            continue;
        limn_document_set_mask(doc, mask);
        g_ptr_array_remove_index(self->waiting_masks, i);
        return;
    }
}

// ---- the rest

static void
open_recipe(LimnWorkspace *self, const LimnDrop *drop)
{
    g_autofree char *path = g_build_filename(drop->path, "study.json", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnStudy) recipe = limn_study_load(path, FALSE, NULL, &error);
    LimnSessionStudy *study;

    if (!recipe) {
        limn_workspace_message(self, LIMN_MESSAGE_ERROR, error->message);
        return;
    }
    study = limn_session_study_new(recipe->operation->id);
    study->data.title = g_filename_display_basename(drop->path);
    study->data.seed = recipe->seed;
    for (guint i = 0; i < recipe->inputs->len; i++) {
        const LimnStudyInput *input = recipe->inputs->pdata[i];

        if (g_str_equal(input->name, "text"))
            g_ptr_array_add(study->data.prompts, g_strdup(input->value));
        else
            g_ptr_array_add(study->data.inputs, limn_pair_new(input->name, input->value));
    }
    limn_workspace_add(self, study);
}

static void
use_prompts(LimnWorkspace *self, LimnDrop *drop)
{
    g_autofree char *name = g_filename_display_basename(drop->path);
    g_autofree char *text = NULL;

    if (!self->current) {
        text =
            g_strdup_printf(_("%s is a list of sentences: open a picture first."), name);
        limn_workspace_message(self, LIMN_MESSAGE_WARNING, text);
        return;
    }
    g_ptr_array_add(drop->prompts, NULL);
    limn_document_set_prompts(self->current, (const char *const *) drop->prompts->pdata);
}

// A picture that has a description beside it, as the samples have, opens with the
// sentences of its objects.
static LimnDocument *
open_picture(LimnWorkspace *self, const char *path)
{
    g_autoptr(LimnSample) sample = limn_sample_of_picture(path);

    if (!sample)
        return limn_workspace_open_picture(self, path, NULL);
    limn_workspace_add_recent(self, path);
    return limn_workspace_open_sample(self, path, sample->title,
                                      (const char *const *) sample->prompts, 0);
}

static LimnDocument *
open_pictures(LimnWorkspace *self, GPtrArray *drops, guint *n)
{
    LimnDocument *first = NULL;

    for (guint i = 0; i < drops->len; i++) {
        const LimnDrop *drop = drops->pdata[i];
        LimnDocument *doc;

        if (drop->kind != LIMN_DROP_PICTURE && drop->kind != LIMN_DROP_FOLDER)
            continue;
        doc = open_picture(self, drop->path);
        (*n)++;
        if (!first)
            first = doc;
    }
    if (first)
        limn_workspace_set_current(self, first);
    return first;
}

static void
report(LimnWorkspace *self, GPtrArray *drops)
{
    g_autoptr(GString) text = g_string_new(NULL);
    guint n = 0;

    for (guint i = 0; i < drops->len; i++) {
        const LimnDrop *drop = drops->pdata[i];

        if (drop->kind != LIMN_DROP_UNKNOWN)
            continue;
        if (++n <= MAX_REASONS)
            g_string_append_printf(text, "%s%s", n > 1 ? "\n" : "", drop->reason);
    }
    if (n == 0)
        return;
    if (n > MAX_REASONS)
        g_string_append_printf(
            text, ngettext("\nand %u more", "\nand %u more", n - MAX_REASONS),
            n - MAX_REASONS);
    if (drops->len > 1) {
        g_autofree char *head =
            g_strdup_printf(ngettext("%u of %u things was not understood:\n",
                                     "%u of %u things were not understood:\n", n),
                            n, drops->len);

        g_string_prepend(text, head);
    }
    limn_workspace_message(
        self, n == drops->len ? LIMN_MESSAGE_ERROR : LIMN_MESSAGE_WARNING, text->str);
}

static void
all_sorted(GObject *source, GAsyncResult *result, gpointer user_data)
{
    const Opening *opening = g_task_get_task_data(G_TASK(result));
    LimnWorkspace *self = opening->ws;
    g_autoptr(GPtrArray) drops = g_task_propagate_pointer(G_TASK(result), NULL);
    LimnDocument *first;
    guint n_pictures = 0;

    if (!drops || self->stopped)
        return;
    decide_masks(self, drops);
    first = open_pictures(self, drops, &n_pictures);
    for (guint i = 0; i < drops->len; i++) {
        LimnDrop *drop = drops->pdata[i];

        if (drop->kind == LIMN_DROP_MODEL)
            limn_workspace_use_model(self, drop->path);
        else if (drop->kind == LIMN_DROP_MASK)
            place_mask(self, drop, n_pictures == 1 ? first : NULL);
        else if (drop->kind == LIMN_DROP_STUDY)
            limn_workspace_open_study_folder(self, drop->path);
        else if (drop->kind == LIMN_DROP_RECIPE)
            open_recipe(self, drop);
        else if (drop->kind == LIMN_DROP_PROMPTS)
            use_prompts(self, drop);
        if (drop->kind == LIMN_DROP_MODEL)
            limn_workspace_add_recent(self, drop->path);
    }
    report(self, drops);
}

void
limn_workspace_open_paths(LimnWorkspace *self, const char *const *paths)
{
    g_autoptr(GTask) task = g_task_new(NULL, NULL, all_sorted, NULL);
    Opening *opening = g_new0(Opening, 1);

    opening->ws = g_object_ref(self);
    opening->paths = g_strdupv((char **) paths);
    g_task_set_task_data(task, opening, opening_free);
    limn_worker_run(LIMN_WORKER_FILES, task, sort_all);
}

// ---- pasted pictures

typedef struct {
    LimnWorkspace *ws;
    LimnImage *image;
    char *path;
} Pasted;

static void
pasted_free(gpointer data)
{
    Pasted *pasted = data;

    g_object_unref(pasted->ws);
    limn_image_unref(pasted->image);
    g_free(pasted->path);
    g_free(pasted);
}

static void
save_pasted(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Pasted *pasted = data;
    g_autofree char *folder = g_path_get_dirname(pasted->path);
    GError *error = NULL;

    if (limn_make_directory(folder, &error) &&
        limn_png_save(pasted->image, pasted->path, &error))
        g_task_return_boolean(task, TRUE);
    else
        g_task_return_error(task, error);
}

static void
pasted_saved(GObject *source, GAsyncResult *result, gpointer user_data)
{
    const Pasted *pasted = g_task_get_task_data(G_TASK(result));
    g_autoptr(GError) error = NULL;

    if (!g_task_propagate_boolean(G_TASK(result), &error) && !pasted->ws->stopped)
        limn_workspace_message(pasted->ws, LIMN_MESSAGE_WARNING, error->message);
}

void
limn_workspace_open_pasted(LimnWorkspace *self, LimnImage *image)
{
    g_autoptr(GTask) task = g_task_new(NULL, NULL, pasted_saved, NULL);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *data = limn_workspace_data_directory();
    g_autofree char *name = g_date_time_format(now, "%Y-%m-%d %H.%M.%S");
    g_autofree char *unique =
        g_strdup_printf("%s-%04x.png", name, g_random_int() & 0xffff);
    LimnSessionStudy *study = limn_session_study_new("grad-eclip");
    Pasted *pasted = g_new0(Pasted, 1);
    LimnDocument *doc;

    pasted->ws = g_object_ref(self);
    pasted->image = limn_image_ref(image);
    pasted->path = g_build_filename(data, "pasted", unique, NULL);
    study->data.title = g_strdup_printf(_("Pasted %s"), name);
    doc = limn_workspace_add(self, study);
    limn_document_set_pasted(doc, image, pasted->path);
    g_task_set_task_data(task, pasted, pasted_free);
    limn_worker_run(LIMN_WORKER_FILES, task, save_pasted);
}

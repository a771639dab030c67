// SPDX-License-Identifier: GPL-3.0-or-later

// Opening: several things at once, odd names, folders with broken files, moved files,
// checkpoints, pasted pictures, study folders.

#include "tests/ui/window/fixture.h"

#include "engine/base/file.h"
#include "engine/io/picture.h"
#include "engine/io/study-folder.h"
#include "ui/model/document-edit.h"
#include "ui/model/folder-item.h"
#include "ui/window/picture-paste.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *
in_home(const char *name)
{
    return g_build_filename(fixture_home(), name, NULL);
}

static void
copy_file(const char *from, const char *to)
{
    g_autofree char *contents = NULL;
    gsize length;

    g_assert_true(g_file_get_contents(from, &contents, &length, NULL));
    // straight into the file: names of 255 bytes leave no room for a temporary one
    g_assert_true(g_file_set_contents_full(to, contents, (gssize) length,
                                           G_FILE_SET_CONTENTS_NONE, 0644, NULL));
}

static char *
copy_sample(const char *sample, const char *name)
{
    g_autofree char *from = fixture_sample(sample);
    char *to = in_home(name);
    g_autofree char *folder = g_path_get_dirname(to);

    g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
    copy_file(from, to);
    return to;
}

static char *
write_text(const char *name, const char *text)
{
    char *path = in_home(name);
    g_autofree char *folder = g_path_get_dirname(path);

    g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static void
start_afresh(void)
{
    g_autofree char *state = in_home("state");

    limn_remove_tree(state, NULL);
}

// A study folder as limn-cli writes it.
static char *
write_study(const char *name)
{
    g_autofree char *picture = fixture_sample("night.png");
    g_autoptr(LimnStudy) study = limn_study_new(limn_registry_find("grad-eclip"));
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnRun) run = NULL;
    g_autoptr(GError) error = NULL;
    char *folder = in_home(name);

    g_assert_true(limn_study_set(study, "image", picture, &error));
    g_assert_true(limn_study_set(study, "text", "an owl", &error));
    g_assert_true(limn_study_set(study, "text", "a full moon", &error));
    run = limn_run_new(study, job);
    g_assert_true(limn_run_execute(run, &error));
    g_assert_true(limn_study_folder_write(run, folder, TRUE, &error));
    g_assert_no_error(error);
    return folder;
}

static guint
count_documents(Fixture *fixture)
{
    return g_list_model_get_n_items(limn_workspace_get_documents(fixture->ws));
}

typedef struct {
    Fixture *fixture;
    guint n;
} Count;

static gboolean
has_documents(gpointer data)
{
    Count *count = data;

    return count_documents(count->fixture) >= count->n;
}

static LimnDocument *
find_document(Fixture *fixture, const char *title)
{
    GListModel *list = limn_workspace_get_documents(fixture->ws);

    for (guint i = 0; i < g_list_model_get_n_items(list); i++) {
        g_autoptr(LimnDocument) doc = g_list_model_get_item(list, i);

        if (g_str_equal(limn_document_get_title(doc), title))
            return doc;
    }
    return NULL;
}

static void
drop(Fixture *fixture, const char *const *paths)
{
    GSList *files = NULL;

    for (; *paths; paths++)
        files = g_slist_append(files, g_file_new_for_path(*paths));
    limn_window_drop_files(fixture->window, files);
    g_slist_free_full(files, g_object_unref);
}

// Hard case B79: everything at once, the label map before its picture, and things that
// are not understood.
static void
test_drop_several(void)
{
    g_autofree char *labels =
        copy_sample("harbour_labels.png", "drop/harbour_labels.png");
    g_autofree char *harbour = copy_sample("harbour.png", "drop/harbour.png");
    g_autofree char *desk = copy_sample("desk.png", "drop/desk.png");
    g_autofree char *music = copy_sample("music.png", "drop/music.png");
    g_autofree char *in_folder = copy_sample("night.png", "drop/album/night.png");
    g_autofree char *folder = g_path_get_dirname(in_folder);
    g_autofree char *model = limn_data_path("models/emoji-clip", NULL);
    g_autofree char *study = write_study("drop-study");
    g_autofree char *pickle = write_text("drop/weights.pt", "PK\003\004 not weights");
    g_autofree char *other = write_text("drop/notes.xyz", "nothing\n");
    const char *paths[] = {labels, harbour, desk,   music, folder,
                           model,  study,   pickle, other, NULL};
    Fixture fixture;
    Count count = {&fixture, 5};
    LimnDocument *doc;
    const char *message;

    fixture_start(&fixture);
    drop(&fixture, paths);
    fixture_wait(has_documents, &count, "five studies");
    fixture_settle(&fixture);
    g_assert_nonnull(find_document(&fixture, "desk"));
    g_assert_nonnull(find_document(&fixture, "music"));
    doc = find_document(&fixture, "harbour");
    g_assert_nonnull(doc);
    g_assert_cmpstr(limn_document_get_data(doc)->mask, ==, labels);
    doc = find_document(&fixture, "album");
    g_assert_nonnull(doc);
    g_assert_cmpuint(g_list_model_get_n_items(limn_document_get_items(doc)), ==, 1);
    doc = find_document(&fixture, "drop-study");
    g_assert_nonnull(doc);
    g_assert_nonnull(limn_document_find_artifact(doc, "map"));
    g_assert_nonnull(limn_model_store_find(limn_workspace_get_models(fixture.ws), model));
    message = fixture_message(&fixture);
    g_assert_nonnull(message);
    g_assert_nonnull(strstr(message, "2 of 9"));
    g_assert_nonnull(strstr(message, "weights.pt"));
    g_assert_nonnull(strstr(message, "notes.xyz"));
    fixture_stop(&fixture);
}

// The label map alone, then its picture.
static void
test_mask_first(void)
{
    g_autofree char *labels = copy_sample("desk_labels.png", "first/desk_labels.png");
    g_autofree char *desk = copy_sample("desk.png", "first/desk.png");
    const char *paths[] = {labels, NULL};
    Fixture fixture;
    LimnDocument *doc;

    start_afresh();
    fixture_start(&fixture);
    drop(&fixture, paths);
    for (int i = 0; i < 500 && !fixture_message(&fixture); i++)
        fixture_idle(10);
    g_assert_nonnull(strstr(fixture_message(&fixture), "desk_labels.png"));
    g_assert_cmpuint(count_documents(&fixture), ==, 0);
    doc = fixture_open(&fixture, desk);
    fixture_settle(&fixture);
    g_assert_cmpstr(limn_document_get_data(doc)->mask, ==, labels);
    fixture_stop(&fixture);
}

// Hard case B22.
static void
test_odd_paths(void)
{
    g_autofree char *long_name = g_strnfill(251, 'n');
    g_autofree char *long_file = g_strconcat("odd/", long_name, ".png", NULL);
    const char *names[] = {"odd/\xc3\x9cn\xc3\xaf"
                           "code/\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88/\xc3\xa9 1.png",
                           "odd/line\nbreak.png", long_file, "odd/bad\xff\xfe.png",
                           "odd/100%_%s.png"};
    Fixture fixture;

    start_afresh();
    fixture_start(&fixture);
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = copy_sample("desk.png", names[i]);
        LimnDocument *doc = fixture_open(&fixture, path);
        g_autofree char *shown = limn_document_dup_picture_path(doc);

        g_assert_cmpstr(shown, ==, path);
        g_assert_true(g_utf8_validate(limn_document_get_title(doc), -1, NULL));
    }
    // they come back from the session as they were, bytes that are no UTF-8 included
    fixture_settle(&fixture);
    fixture_restart(&fixture);
    fixture_settle(&fixture);
    g_assert_cmpuint(count_documents(&fixture), ==, G_N_ELEMENTS(names));
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(LimnDocument) doc =
            g_list_model_get_item(limn_workspace_get_documents(fixture.ws), i);
        g_autofree char *shown = limn_document_dup_picture_path(doc);
        g_autofree char *path = in_home(names[i]);

        g_assert_cmpstr(shown, ==, path);
    }
    fixture_stop(&fixture);
}

// Hard case B26.
static void
test_folders(void)
{
    G_GNUC_UNUSED g_autofree char *good = copy_sample("desk.png", "album/a.png");
    G_GNUC_UNUSED g_autofree char *zero = write_text("album/b.png", "");
    G_GNUC_UNUSED g_autofree char *text = write_text("album/c.png", "this is text\n");
    g_autofree char *cut = copy_sample("night.png", "album/d.png");
    g_autofree char *dangling = in_home("album/e.jpg");
    G_GNUC_UNUSED g_autofree char *last = copy_sample("music.png", "album/f.png");
    g_autofree char *folder = in_home("album");
    g_autofree char *empty = in_home("empty");
    const char *paths[] = {empty, NULL};
    GListModel *items;
    Fixture fixture;
    LimnDocument *doc;

    g_assert_cmpint(truncate(cut, 3000), ==, 0);
    g_assert_cmpint(symlink("/nowhere/at/all.jpg", dangling), ==, 0);
    g_assert_cmpint(g_mkdir(empty, 0755), ==, 0);
    start_afresh();
    fixture_start(&fixture);
    doc = fixture_open(&fixture, folder);
    items = limn_document_get_items(doc);
    g_assert_cmpuint(g_list_model_get_n_items(items), ==, 6);
    fixture_type(&fixture, "a book");
    // broken ones are listed with their reason before they are reached
    for (guint i = 1; i < 5; i++) {
        g_autoptr(LimnFolderItem) item = g_list_model_get_item(items, i);

        for (int k = 0; k < 500 && !limn_folder_item_get_error(item); k++)
            fixture_idle(10);
        g_assert_nonnull(limn_folder_item_get_error(item));
    }
    fixture_action(&fixture, "next-item", NULL);
    fixture_settle(&fixture);
    g_assert_cmpint(limn_document_get_item_index(doc), ==, 1);
    g_assert_nonnull(limn_document_get_picture_error(doc));
    g_assert_null(fixture_map(&fixture, 0));
    // the rest works: the sentence is explained on the next good one
    limn_document_show_item(doc, 5);
    fixture_settle(&fixture);
    g_assert_nonnull(fixture_map(&fixture, 0));
    g_assert_cmpstr(limn_document_get_prompt(doc, 0), ==, "a book");
    // an empty folder has a hint and no error
    drop(&fixture, paths);
    for (int i = 0; i < 500 && count_documents(&fixture) < 2; i++)
        fixture_idle(10);
    fixture_settle(&fixture);
    g_assert_nonnull(strstr(limn_document_get_picture_error(fixture_document(&fixture)),
                            "no pictures"));
    fixture_stop(&fixture);
}

// Hard case B20: pictures were moved while the program was closed.
static void
test_moved(void)
{
    g_autofree char *picture = copy_sample("desk.png", "old/desk.png");
    g_autofree char *labels = copy_sample("desk_labels.png", "old/desk_labels.png");
    g_autofree char *second = copy_sample("night.png", "old/night.png");
    g_autofree char *old = in_home("old");
    g_autofree char *new = in_home("new");
    g_autofree char *moved = in_home("new/desk.png");
    g_autofree char *moved_labels = in_home("new/desk_labels.png");
    g_autofree char *moved_second = in_home("new/night.png");
    g_autofree char *found = NULL;
    Fixture fixture;
    LimnDocument *doc;

    start_afresh();
    fixture_start(&fixture);
    fixture_open(&fixture, second);
    doc = fixture_open(&fixture, picture);
    fixture_type(&fixture, "a laptop");
    limn_document_set_mask(doc, labels);
    fixture_settle(&fixture);
    fixture_stop(&fixture);
    g_assert_cmpint(g_rename(old, new), ==, 0);
    fixture_start(&fixture);
    fixture_settle(&fixture);
    doc = fixture_document(&fixture);
    g_assert_nonnull(limn_document_get_picture_error(doc));
    g_assert_cmpstr(limn_document_get_prompt(doc, 0), ==, "a laptop");
    g_assert_true(
        g_action_group_get_action_enabled(G_ACTION_GROUP(fixture.window), "locate"));
    // locating one file finds the others beside it
    g_assert_cmpuint(limn_workspace_relocate(fixture.ws, doc, moved), ==, 3);
    fixture_settle(&fixture);
    g_assert_nonnull(limn_document_get_picture(doc));
    g_assert_cmpstr(limn_document_get_data(doc)->mask, ==, moved_labels);
    g_assert_nonnull(fixture_map(&fixture, 0));
    found = limn_document_dup_picture_path(find_document(&fixture, "night"));
    g_assert_cmpstr(found, ==, moved_second);
    fixture_stop(&fixture);
}

static void
test_bad_files(void)
{
    g_autofree char *zero = write_text("bad/zero.png", "");
    g_autofree char *lies = write_text("bad/lies.safetensors", "\x80\x02}q\x01.");
    g_autofree char *missing = in_home("bad/missing.png");
    g_autofree char *bad_study = write_text("bad/study/study.json", "{\"operation\": 3}");
    g_autofree char *study_folder = g_path_get_dirname(bad_study);
    const char *bad[] = {zero, lies, missing, study_folder};
    Fixture fixture;

    start_afresh();
    fixture_start(&fixture);
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        const char *paths[] = {bad[i], NULL};
        g_autofree char *name = g_path_get_basename(bad[i]);
        g_autofree char *previous = g_strdup(fixture_message(&fixture));

        drop(&fixture, paths);
        for (int k = 0; k < 500 && (!fixture_message(&fixture) ||
                                    g_strcmp0(fixture_message(&fixture), previous) == 0);
             k++)
            fixture_idle(10);
        g_assert_nonnull(fixture_message(&fixture));
        g_assert_nonnull(strstr(fixture_message(&fixture), name));
        g_assert_cmpuint(count_documents(&fixture), ==, 0);
    }
    fixture_stop(&fixture);
}

static void
test_models(void)
{
    g_autofree char *picture = fixture_sample("dog-and-car.png");
    g_autofree char *builtin = limn_data_path("models/emoji-clip", NULL);
    g_autofree char *broken = write_text("broken-model/model.safetensors", "12345678abc");
    g_autofree char *broken_folder = g_path_get_dirname(broken);
    LimnModelStore *store;
    LimnModel *model;
    Fixture fixture;
    LimnDocument *doc;

    start_afresh();
    fixture_start(&fixture);
    store = limn_workspace_get_models(fixture.ws);
    model = limn_model_store_find(store, "");
    g_assert_cmpint(limn_model_get_state(model), ==, LIMN_MODEL_KNOWN);
    doc = fixture_open(&fixture, picture);
    // the picture is there before any model is
    g_assert_cmpint(limn_model_get_state(model), ==, LIMN_MODEL_KNOWN);
    fixture_type(&fixture, "dog");
    g_assert_cmpint(limn_model_get_state(model), ==, LIMN_MODEL_LOADED);
    g_assert_nonnull(limn_model_get_clip(model));
    limn_workspace_unload_model(fixture.ws, "");
    g_assert_cmpint(limn_model_get_state(model), ==, LIMN_MODEL_KNOWN);
    // another folder, the same weights: the same map
    limn_workspace_use_model(fixture.ws, builtin);
    fixture_settle(&fixture);
    g_assert_cmpint(limn_model_get_state(limn_model_store_find(store, builtin)), ==,
                    LIMN_MODEL_LOADED);
    g_assert_nonnull(fixture_map(&fixture, 0));
    // one that cannot be used says why, in the pane and in the list
    limn_workspace_use_model(fixture.ws, broken_folder);
    fixture_settle(&fixture);
    g_assert_cmpint(limn_model_get_state(limn_model_store_find(store, broken_folder)), ==,
                    LIMN_MODEL_FAILED);
    g_assert_nonnull(limn_document_get_live_error(doc));
    g_assert_nonnull(limn_pane_get_note(limn_canvas_get_pane(fixture.canvas, 0)));
    fixture_action(&fixture, "undo", NULL);
    fixture_settle(&fixture);
    g_assert_null(limn_document_get_live_error(doc));
    limn_window_show_page(fixture.window, "models");
    fixture_idle(100);
    fixture_stop(&fixture);
}

static void
test_paste(void)
{
    static const guint32 pixels[4] = {0xffff0000, 0xff00ff00, 0xff0000ff, 0x80402010};
    g_autoptr(GBytes) bytes = g_bytes_new_static(pixels, sizeof pixels);
    g_autoptr(GdkTexture) texture =
        gdk_memory_texture_new(2, 2, GDK_MEMORY_DEFAULT, bytes, 8);
    g_autofree char *path = NULL;
    LimnImage *image;
    Fixture fixture;

    start_afresh();
    fixture_start(&fixture);
    limn_paste_texture(fixture.ws, texture);
    g_assert_cmpuint(count_documents(&fixture), ==, 1);
    image = limn_document_get_picture(fixture_document(&fixture)); // at once
    g_assert_nonnull(image);
    g_assert_cmpmem(image->data, 12, "\xff\0\0\xff\0\xff\0\xff\0\0\xff\xff", 12);
    path = limn_document_dup_picture_path(fixture_document(&fixture));
    for (int i = 0; i < 500 && !g_file_test(path, G_FILE_TEST_EXISTS); i++)
        fixture_idle(10);
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
    // it is still there at the next start
    fixture_restart(&fixture);
    fixture_settle(&fixture);
    g_assert_nonnull(limn_document_get_picture(fixture_document(&fixture)));
    fixture_stop(&fixture);
}

static void
test_study_folder(void)
{
    g_autofree char *folder = write_study("cli-study");
    const char *paths[] = {folder, NULL};
    Fixture fixture;
    LimnDocument *doc;
    Count count = {&fixture, 1};

    start_afresh();
    fixture_start(&fixture);
    drop(&fixture, paths);
    fixture_wait(has_documents, &count, "the study");
    fixture_idle(100);
    doc = fixture_document(&fixture);
    g_assert_false(limn_document_is_live_capable(doc));
    g_assert_cmpstr(limn_document_get_data(doc)->operation, ==, "grad-eclip");
    g_assert_nonnull(fixture_map(&fixture, 0));
    limn_document_set_pane_artifact(doc, 0, "words", 1);
    limn_document_set_n_panes(doc, 2);
    fixture_idle(100);
    // comes back with its results
    fixture_restart(&fixture);
    for (int i = 0; i < 500 && !fixture_map(&fixture, 1); i++)
        fixture_idle(10);
    doc = fixture_document(&fixture);
    g_assert_cmpstr(limn_document_get_data(doc)->panes[0].artifact, ==, "words");
    g_assert_nonnull(limn_document_find_artifact(doc, "words"));
    // as a live study
    fixture_action(&fixture, "duplicate-study", NULL);
    fixture_settle(&fixture);
    g_assert_true(limn_document_is_live(fixture_document(&fixture)));
    g_assert_nonnull(fixture_map(&fixture, 0));
    fixture_stop(&fixture);
}

static void
test_run(void)
{
    g_autofree char *picture = fixture_sample("dog-and-car.png");
    Fixture fixture;
    LimnDocument *doc;
    const char *folder;

    start_afresh();
    fixture_start(&fixture);
    fixture_open(&fixture, picture);
    fixture_type(&fixture, "a dog");
    // a live study is run and saved as the command line does it, and stays live
    fixture_action(&fixture, "run", NULL);
    fixture_settle(&fixture);
    doc = fixture_document(&fixture);
    folder = limn_document_get_study(doc)->folder;
    g_assert_nonnull(folder);
    g_assert_true(limn_study_folder_is(folder));
    g_assert_true(limn_document_is_live(doc));
    // another operation on the same picture
    doc = limn_workspace_new_study(fixture.ws, "clip-classify");
    g_assert_cmpstr(limn_pairs_get(limn_document_get_data(doc)->inputs, "image"), ==,
                    picture);
    limn_document_set_prompts(doc, (const char *[]){"a dog", "a cat face", NULL});
    fixture_action(&fixture, "run", NULL);
    fixture_settle(&fixture);
    g_assert_nonnull(limn_document_find_artifact(doc, "scores"));
    g_assert_cmpint(limn_document_get_study(doc)->status, ==, LIMN_STUDY_DONE);
    // missing inputs are a message
    doc = limn_workspace_new_study(fixture.ws, "clip-classify");
    limn_document_set_input(doc, "image", NULL);
    g_assert_false(limn_workspace_run(fixture.ws, doc));
    g_assert_nonnull(strstr(fixture_message(&fixture), "image"));
    fixture_stop(&fixture);
}

int
main(int argc, char **argv)
{
    int status;

    if (!fixture_main_init(&argc, &argv))
        return 0;
    g_test_add_func("/hard/B79-several-things", test_drop_several);
    g_test_add_func("/hard/B79-mask-first", test_mask_first);
    g_test_add_func("/hard/B22-odd-paths", test_odd_paths);
    g_test_add_func("/hard/B26-folders", test_folders);
    g_test_add_func("/hard/B20-moved", test_moved);
    g_test_add_func("/window/files/bad", test_bad_files);
    g_test_add_func("/window/files/models", test_models);
    g_test_add_func("/window/files/paste", test_paste);
    g_test_add_func("/window/files/study-folder", test_study_folder);
    g_test_add_func("/window/files/run", test_run);
    status = g_test_run();
    fixture_main_end();
    return status;
}

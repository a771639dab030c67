// SPDX-License-Identifier: GPL-3.0-or-later

// Figures from the window, the clipboard, and fetching a checkpoint from a server that
// the test starts.

#include "tests/ui/window/fixture.h"

#include "engine/base/file.h"
#include "ui/model/document-edit.h"
#include "ui/window/export-dialog.h"
#include "ui/window/fetch-dialog.h"
#include "ui/window/grid-page.h"

#include <libsoup/soup.h>
#include <string.h>

static char *
in_home(const char *name)
{
    return g_build_filename(fixture_home(), name, NULL);
}

static void
start_with_map(Fixture *fixture)
{
    g_autofree char *state = in_home("state");
    g_autofree char *path = fixture_sample("dog-and-car.png");

    limn_remove_tree(state, NULL);
    fixture_start(fixture);
    fixture_open(fixture, path);
    fixture_type(fixture, "a dog");
}

static gboolean
file_is_there(gpointer path)
{
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static char *
read_file(const char *path, gsize *length)
{
    char *contents;

    g_assert_true(g_file_get_contents(path, &contents, length, NULL));
    return contents;
}

static gboolean
has_bytes(const char *contents, gsize length, const char *bytes)
{
    return g_strstr_len(contents, (gssize) length, bytes) ||
           memmem(contents, length, bytes, strlen(bytes));
}

static gboolean
has_preview(gpointer dialog)
{
    return limn_export_dialog_has_preview(dialog);
}

static void
export_to(Fixture *fixture, const char *name)
{
    g_autofree char *path = in_home(name);
    LimnExportDialog *dialog = limn_export_dialog_open(fixture->window);

    g_assert_nonnull(dialog);
    fixture_wait(has_preview, dialog, "the preview");
    limn_export_dialog_export_to(dialog, path);
    fixture_wait(file_is_there, path, "the figure");
    fixture_idle(50);
}

static void
test_formats(void)
{
    static const char *const names[] = {"f.pdf", "f.svg", "f.png"};
    static const char *const magic[] = {"%PDF-", "<svg", "\x89PNG"};
    Fixture fixture;

    start_with_map(&fixture);
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = in_home(names[i]);
        g_autofree char *contents = NULL;
        gsize length;

        export_to(&fixture, names[i]);
        contents = read_file(path, &length);
        g_assert_cmpuint(length, >, 1000);
        g_assert_true(has_bytes(contents, MIN(length, 400), magic[i]));
    }
    {
        g_autofree char *path = in_home("f.svg");
        gsize length;
        g_autofree char *svg = read_file(path, &length);

        g_assert_nonnull(strstr(svg, "a dog")); // text stays text
    }
    fixture_stop(&fixture);
}

static void
test_panes_and_grid(void)
{
    LimnGridPage *page;
    Fixture fixture;

    start_with_map(&fixture);
    limn_document_add_prompt(fixture_document(&fixture), "an automobile");
    fixture_action(&fixture, "panes", g_variant_new_string("4"));
    fixture_settle(&fixture);
    fixture_idle(200);
    export_to(&fixture, "panes.pdf");
    fixture_action(&fixture, "grid", NULL);
    fixture_action(&fixture, "fill-grid", NULL);
    page = LIMN_GRID_PAGE(limn_canvas_get_grid(fixture.canvas));
    for (int i = 0;
         i < 2000 && limn_grid_page_get_n_done(page) < limn_grid_page_get_n_cells(page);
         i++)
        fixture_idle(10);
    export_to(&fixture, "grid.svg");
    {
        g_autofree char *path = in_home("grid.svg");
        gsize length;
        g_autofree char *svg = read_file(path, &length);

        g_assert_nonnull(strstr(svg, "Grad-ECLIP"));
        g_assert_nonnull(strstr(svg, "automobile"));
    }
    fixture_stop(&fixture);
}

static void
test_not_writable(void)
{
    LimnExportDialog *dialog;
    Fixture fixture;

    start_with_map(&fixture);
    dialog = limn_export_dialog_open(fixture.window);
    limn_export_dialog_export_to(dialog, "/does/not/exist/figure.pdf");
    for (int i = 0; i < 500 && !fixture_message(&fixture); i++)
        fixture_idle(10);
    g_assert_nonnull(strstr(fixture_message(&fixture), "/does/not/exist"));
    fixture_stop(&fixture);
}

static gboolean
has_formats(gpointer data)
{
    GdkContentFormats *formats = gdk_clipboard_get_formats(data);

    return gdk_content_formats_contain_mime_type(formats, "image/svg+xml") &&
           gdk_content_formats_contain_mime_type(formats, "image/png");
}

static void
test_copy(void)
{
    GdkClipboard *clipboard;
    Fixture fixture;

    start_with_map(&fixture);
    fixture_action(&fixture, "copy", NULL);
    clipboard = gtk_widget_get_clipboard(GTK_WIDGET(fixture.window));
    fixture_wait(has_formats, clipboard, "the figure in the clipboard");
    fixture_idle(50);
    g_assert_nonnull(strstr(fixture_message(&fixture), "copied"));
    fixture_stop(&fixture);
}

// ---- a hub on loopback

static void
serve(SoupServer *server, SoupServerMessage *message, const char *path, GHashTable *query,
      gpointer folder)
{
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *file = g_build_filename(folder, name, NULL);
    g_autofree char *contents = NULL;
    gsize length;

    if (!g_str_has_prefix(path, "/limn/small/resolve/main/") ||
        !g_file_get_contents(file, &contents, &length, NULL)) {
        soup_server_message_set_status(message, 404, NULL);
        return;
    }
    soup_server_message_set_status(message, 200, NULL);
    if (g_str_equal(soup_server_message_get_method(message), "HEAD"))
        soup_message_headers_set_content_length(
            soup_server_message_get_response_headers(message), (goffset) length);
    else
        soup_server_message_set_response(message, "application/octet-stream",
                                         SOUP_MEMORY_COPY, contents, length);
}

static gboolean
has_ended(gpointer data)
{
    return !limn_fetch_dialog_is_running(data);
}

static void
test_fetch(void)
{
    g_autofree char *folder = limn_data_path("models/emoji-clip", NULL);
    g_autofree char *to = in_home("fetched");
    g_autofree char *weights = g_build_filename(to, "model.safetensors", NULL);
    g_autoptr(SoupServer) server = soup_server_new(NULL, NULL);
    g_autofree char *base = NULL;
    g_autoptr(GError) error = NULL;
    GSList *uris;
    LimnFetchDialog *dialog;
    Fixture fixture;

    soup_server_add_handler(server, NULL, serve, folder, NULL);
    g_assert_true(
        soup_server_listen_local(server, 0, SOUP_SERVER_LISTEN_IPV4_ONLY, &error));
    uris = soup_server_get_uris(server);
    base = g_strdup_printf("http://127.0.0.1:%d", g_uri_get_port(uris->data));
    g_slist_free_full(uris, (GDestroyNotify) g_uri_unref);
    start_with_map(&fixture);
    dialog = limn_fetch_dialog_open(fixture.window);
    // a name that the hub does not have
    limn_fetch_dialog_start(dialog, "limn/other", base, to);
    fixture_wait(has_ended, dialog, "the failed download");
    g_assert_nonnull(strstr(limn_fetch_dialog_get_status(dialog), "404"));
    // no name at all
    limn_fetch_dialog_start(dialog, "../x", base, "");
    fixture_wait(has_ended, dialog, "the refusal");
    g_assert_true(*limn_fetch_dialog_get_status(dialog));
    limn_fetch_dialog_start(dialog, "limn/small", base, to);
    fixture_wait(has_ended, dialog, "the download");
    g_assert_nonnull(strstr(limn_fetch_dialog_get_status(dialog), "Done"));
    g_assert_true(g_file_test(weights, G_FILE_TEST_EXISTS));
    // it is listed and used by the study
    fixture_settle(&fixture);
    g_assert_cmpint(limn_model_get_state(
                        limn_model_store_find(limn_workspace_get_models(fixture.ws), to)),
                    ==, LIMN_MODEL_LOADED);
    g_assert_nonnull(fixture_map(&fixture, 0));
    gtk_window_destroy(GTK_WINDOW(dialog));
    fixture_stop(&fixture);
}

int
main(int argc, char **argv)
{
    int status;

    if (!fixture_main_init(&argc, &argv))
        return 0;
    g_test_add_func("/window/export/formats", test_formats);
    g_test_add_func("/window/export/panes-and-grid", test_panes_and_grid);
    g_test_add_func("/window/export/not-writable", test_not_writable);
    g_test_add_func("/window/export/copy", test_copy);
    g_test_add_func("/window/fetch", test_fetch);
    status = g_test_run();
    fixture_main_end();
    return status;
}

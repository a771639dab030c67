// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/copy-view.h"

#include "ui/model/worker.h"
#include "ui/window/figure-source.h"

#include <glib/gi18n-lib.h>

#define DPI 150
#define N_FORMATS 3

typedef struct {
    LimnFigureSource *source;
    LimnFigureOptions options;
    char *colormap;
} Copy;

static void
copy_free(gpointer data)
{
    Copy *copy = data;

    limn_figure_source_unref(copy->source);
    g_free(copy->colormap);
    g_free(copy);
}

static void
encode(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    static const LimnFigureFormat formats[N_FORMATS] = {LIMN_FIGURE_SVG, LIMN_FIGURE_PDF,
                                                        LIMN_FIGURE_PNG};
    const Copy *copy = data;
    GError *error = NULL;
    g_autoptr(LimnFigure) figure =
        limn_figure_source_make(copy->source, &copy->options, &error);
    GPtrArray *encoded = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);

    for (guint i = 0; figure && i < N_FORMATS; i++) {
        GBytes *bytes = limn_figure_encode(figure, formats[i], &error);

        if (!bytes)
            break;
        g_ptr_array_add(encoded, bytes);
    }
    if (!error) {
        g_task_return_pointer(task, encoded, (GDestroyNotify) g_ptr_array_unref);
        return;
    }
    g_ptr_array_unref(encoded);
    g_task_return_error(task, error);
}

static void
encoded(GObject *object, GAsyncResult *result, gpointer user_data)
{
    static const char *const types[N_FORMATS] = {"image/svg+xml", "application/pdf",
                                                 "image/png"};
    LimnWindow *window = LIMN_WINDOW(object);
    LimnWorkspace *ws = limn_window_get_workspace(window);
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) bytes = g_task_propagate_pointer(G_TASK(result), &error);
    GdkContentProvider *providers[N_FORMATS];
    GdkContentProvider *all;

    if (!ws)
        return; // the window was closed meanwhile
    if (!bytes) {
        limn_workspace_message(ws, LIMN_MESSAGE_ERROR, error->message);
        return;
    }
    for (guint i = 0; i < N_FORMATS; i++)
        providers[i] = gdk_content_provider_new_for_bytes(types[i], bytes->pdata[i]);
    all = gdk_content_provider_new_union(providers, N_FORMATS);
    gdk_clipboard_set_content(gtk_widget_get_clipboard(GTK_WIDGET(window)), all);
    g_object_unref(all);
    limn_workspace_message(ws, LIMN_MESSAGE_INFO,
                           _("The view was copied as SVG, PDF and PNG."));
}

void
limn_copy_view(LimnWindow *window)
{
    LimnDocument *doc = limn_window_get_document(window);
    static const LimnSourceKind pane_order[] = {LIMN_SOURCE_PANES, LIMN_SOURCE_PANE,
                                                LIMN_SOURCE_RESULT, LIMN_SOURCE_WORDS};
    g_autoptr(GTask) task = NULL;
    Copy *copy = g_new0(Copy, 1);
    LimnSourceKind kind = LIMN_SOURCE_GRID;

    if (doc && limn_document_get_view(doc)->grid)
        copy->source = limn_figure_source_new(window, kind);
    for (gsize i = 0; !copy->source && i < G_N_ELEMENTS(pane_order); i++) {
        kind = pane_order[i];
        copy->source = limn_figure_source_new(window, kind);
    }
    if (!copy->source) {
        copy_free(copy);
        limn_workspace_message(limn_window_get_workspace(window), LIMN_MESSAGE_INFO,
                               _("There is nothing to copy yet."));
        return;
    }
    limn_figure_source_init_options(window, kind, &copy->options);
    copy->options.dpi = DPI;
    copy->colormap = g_strdup(copy->options.colormap);
    copy->options.colormap = copy->colormap;
    task = g_task_new(window, NULL, encoded, NULL);
    g_task_set_task_data(task, copy, copy_free);
    limn_worker_run(LIMN_WORKER_FILES, task, encode);
}

// SPDX-License-Identifier: GPL-3.0-or-later

// The one unit that may use interfaces of newer versions and deprecated ones.
#undef GDK_VERSION_MAX_ALLOWED
#define GDK_DISABLE_DEPRECATION_WARNINGS

#include "limn-config.h"

#include "ui/compat/dialogs.h"

#include <glib/gi18n-lib.h>

static void
add_patterns(GtkFileFilter *filter, const char *const *suffixes)
{
    for (; *suffixes; suffixes++)
        gtk_file_filter_add_suffix(filter, *suffixes);
}

// Returns: (transfer full) filters of a kind, "All files" last; NULL for none.
static GListStore *
make_filters(LimnFileFilter kind)
{
    static const char *const known[] = {"png",  "jpg",  "jpeg", "tif",
                                        "tiff", "webp", "svg",  "safetensors",
                                        "json", "txt",  NULL};
    static const char *const pictures[] = {"png",  "jpg",  "jpeg", "tif",
                                           "tiff", "webp", "svg",  NULL};
    static const char *const models[] = {"safetensors", "json", NULL};
    static const char *const texts[] = {"txt", "csv", NULL};
    static const char *const figures[] = {"pdf", "svg", "png", NULL};
    const char *const *suffixes[] = {NULL, known, pictures, models, texts, figures};
    const char *names[] = {NULL,          _("All that Limn opens"),
                           _("Pictures"), _("Checkpoints"),
                           _("Texts"),    _("Figures")};
    g_autoptr(GtkFileFilter) filter = NULL;
    g_autoptr(GtkFileFilter) all = NULL;
    GListStore *filters;

    if (kind == LIMN_FILTER_NONE)
        return NULL;
    filters = g_list_store_new(GTK_TYPE_FILE_FILTER);
    filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, names[kind]);
    add_patterns(filter, suffixes[kind]);
    g_list_store_append(filters, filter);
    all = gtk_file_filter_new();
    gtk_file_filter_set_name(all, _("All files"));
    gtk_file_filter_add_pattern(all, "*");
    g_list_store_append(filters, all);
    return filters;
}

static GPtrArray *
files_from_model(GListModel *model)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_object_unref);

    for (guint i = 0; model && i < g_list_model_get_n_items(model); i++)
        g_ptr_array_add(files, g_list_model_get_item(model, i));
    return files;
}

#if GTK_CHECK_VERSION(4, 10, 0)

static void
dialog_done(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GTask) task = user_data;
    GtkFileDialog *dialog = GTK_FILE_DIALOG(source);
    LimnChooseKind kind = GPOINTER_TO_INT(g_task_get_task_data(task));
    g_autoptr(GListModel) many = NULL;
    g_autoptr(GFile) one = NULL;
    GPtrArray *files;

    if (kind == LIMN_CHOOSE_OPEN_MANY)
        many = gtk_file_dialog_open_multiple_finish(dialog, result, NULL);
    else if (kind == LIMN_CHOOSE_FOLDER)
        one = gtk_file_dialog_select_folder_finish(dialog, result, NULL);
    else if (kind == LIMN_CHOOSE_SAVE)
        one = gtk_file_dialog_save_finish(dialog, result, NULL);
    else
        one = gtk_file_dialog_open_finish(dialog, result, NULL);
    files = files_from_model(many);
    if (one)
        g_ptr_array_add(files, g_steal_pointer(&one));
    g_task_return_pointer(task, files, (GDestroyNotify) g_ptr_array_unref);
}

void
limn_choose_files_async(GtkWindow *parent, LimnChooseKind kind, LimnFileFilter filter,
                        const char *title, const char *name, const char *folder,
                        GAsyncReadyCallback callback, gpointer user_data)
{
    GTask *task = g_task_new(parent, NULL, callback, user_data);
    g_autoptr(GtkFileDialog) dialog = gtk_file_dialog_new();
    g_autoptr(GListStore) filters = make_filters(filter);

    g_task_set_task_data(task, GINT_TO_POINTER(kind), NULL);
    gtk_file_dialog_set_title(dialog, title);
    if (filters)
        gtk_file_dialog_set_filters(dialog, G_LIST_MODEL(filters));
    if (name)
        gtk_file_dialog_set_initial_name(dialog, name);
    if (folder) {
        g_autoptr(GFile) file = g_file_new_for_path(folder);

        gtk_file_dialog_set_initial_folder(dialog, file);
    }
    if (kind == LIMN_CHOOSE_OPEN_MANY)
        gtk_file_dialog_open_multiple(dialog, parent, NULL, dialog_done, task);
    else if (kind == LIMN_CHOOSE_FOLDER)
        gtk_file_dialog_select_folder(dialog, parent, NULL, dialog_done, task);
    else if (kind == LIMN_CHOOSE_SAVE)
        gtk_file_dialog_save(dialog, parent, NULL, dialog_done, task);
    else
        gtk_file_dialog_open(dialog, parent, NULL, dialog_done, task);
}

#else

static void
native_response(GtkNativeDialog *dialog, int response, gpointer user_data)
{
    g_autoptr(GTask) task = user_data;
    g_autoptr(GListModel) model = NULL;

    if (response == GTK_RESPONSE_ACCEPT)
        model = gtk_file_chooser_get_files(GTK_FILE_CHOOSER(dialog));
    gtk_native_dialog_destroy(dialog);
    g_task_return_pointer(task, files_from_model(model),
                          (GDestroyNotify) g_ptr_array_unref);
    g_object_unref(dialog);
}

void
limn_choose_files_async(GtkWindow *parent, LimnChooseKind kind, LimnFileFilter filter,
                        const char *title, const char *name, const char *folder,
                        GAsyncReadyCallback callback, gpointer user_data)
{
    static const GtkFileChooserAction actions[] = {
        GTK_FILE_CHOOSER_ACTION_OPEN, GTK_FILE_CHOOSER_ACTION_OPEN,
        GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, GTK_FILE_CHOOSER_ACTION_SAVE};
    const char *accept = kind == LIMN_CHOOSE_SAVE ? _("_Save") : _("_Open");
    GTask *task = g_task_new(parent, NULL, callback, user_data);
    GtkFileChooserNative *dialog =
        gtk_file_chooser_native_new(title, parent, actions[kind], accept, _("_Cancel"));
    GtkFileChooser *chooser = GTK_FILE_CHOOSER(dialog);
    g_autoptr(GListStore) filters = make_filters(filter);

    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    gtk_file_chooser_set_select_multiple(chooser, kind == LIMN_CHOOSE_OPEN_MANY);
    for (guint i = 0; filters && i < g_list_model_get_n_items(G_LIST_MODEL(filters));
         i++) {
        g_autoptr(GtkFileFilter) item = g_list_model_get_item(G_LIST_MODEL(filters), i);

        gtk_file_chooser_add_filter(chooser, item);
    }
    if (name)
        gtk_file_chooser_set_current_name(chooser, name);
    if (folder) {
        g_autoptr(GFile) file = g_file_new_for_path(folder);

        gtk_file_chooser_set_current_folder(chooser, file, NULL);
    }
    g_signal_connect(dialog, "response", G_CALLBACK(native_response), task);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

#endif

GPtrArray *
limn_choose_files_finish(GAsyncResult *result)
{
    return g_task_propagate_pointer(G_TASK(result), NULL);
}

// ---- questions: a small modal window of our own, the same in every version

static void
ask_answer(GtkWindow *window, int answer)
{
    GTask *task = g_object_steal_data(G_OBJECT(window), "limn-task");

    if (!task)
        return;
    g_task_return_int(task, answer);
    g_object_unref(task);
    gtk_window_destroy(window);
}

static void
ask_clicked(GtkButton *button, gpointer user_data)
{
    ask_answer(user_data,
               GPOINTER_TO_INT(g_object_get_data(G_OBJECT(button), "limn-answer")));
}

static gboolean
ask_closed(GtkWindow *window, gpointer user_data)
{
    ask_answer(window, -1);
    return TRUE;
}

static void
ask_destroyed(GtkWidget *window, gpointer user_data)
{
    GTask *task = g_object_steal_data(G_OBJECT(window), "limn-task");

    if (!task)
        return;
    g_task_return_int(task, -1);
    g_object_unref(task);
}

static GtkWidget *
ask_label(const char *text, const char *class)
{
    GtkWidget *label = gtk_label_new(text);

    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 50);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_add_css_class(label, class);
    return label;
}

void
limn_ask_async(GtkWindow *parent, const char *title, const char *detail,
               const char *const *buttons, GAsyncReadyCallback callback,
               gpointer user_data)
{
    GTask *task = g_task_new(parent, NULL, callback, user_data);
    GtkWidget *window = gtk_window_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);

    gtk_window_set_title(GTK_WINDOW(window), title);
    gtk_window_set_modal(GTK_WINDOW(window), TRUE);
    gtk_window_set_resizable(GTK_WINDOW(window), FALSE);
    if (parent)
        gtk_window_set_transient_for(GTK_WINDOW(window), parent);
    gtk_widget_add_css_class(box, "limn-dialog");
    gtk_box_append(GTK_BOX(box), ask_label(title, "heading"));
    gtk_box_append(GTK_BOX(box), ask_label(detail, "body"));
    gtk_widget_set_halign(row, GTK_ALIGN_END);
    gtk_box_set_homogeneous(GTK_BOX(row), TRUE);
    for (int i = 0; buttons[i]; i++) {
        GtkWidget *button = gtk_button_new_with_mnemonic(buttons[i]);

        g_object_set_data(G_OBJECT(button), "limn-answer", GINT_TO_POINTER(i));
        g_signal_connect(button, "clicked", G_CALLBACK(ask_clicked), window);
        gtk_box_append(GTK_BOX(row), button);
        if (!buttons[i + 1]) {
            gtk_widget_add_css_class(button, "suggested-action");
            gtk_window_set_default_widget(GTK_WINDOW(window), button);
        }
    }
    gtk_box_append(GTK_BOX(box), row);
    gtk_window_set_child(GTK_WINDOW(window), box);
    g_object_set_data(G_OBJECT(window), "limn-task", task);
    g_signal_connect(window, "close-request", G_CALLBACK(ask_closed), NULL);
    g_signal_connect(window, "destroy", G_CALLBACK(ask_destroyed), NULL);
    gtk_window_present(GTK_WINDOW(window));
}

int
limn_ask_finish(GAsyncResult *result)
{
    return (int) g_task_propagate_int(G_TASK(result), NULL);
}

// ---- the desktop

void
limn_open_uri(GtkWindow *parent, const char *uri)
{
#if GTK_CHECK_VERSION(4, 10, 0)
    g_autoptr(GtkUriLauncher) launcher = gtk_uri_launcher_new(uri);

    gtk_uri_launcher_launch(launcher, parent, NULL, NULL, NULL);
#else
    gtk_show_uri(parent, uri, GDK_CURRENT_TIME);
#endif
}

void
limn_show_in_folder(GtkWindow *parent, const char *path)
{
    g_autofree char *folder =
        g_file_test(path, G_FILE_TEST_IS_DIR) ? g_strdup(path) : g_path_get_dirname(path);
    g_autofree char *uri = g_filename_to_uri(folder, NULL, NULL);

    if (uri)
        limn_open_uri(parent, uri);
}

void
limn_list_view_scroll_to(GtkListView *list, guint position)
{
#if GTK_CHECK_VERSION(4, 12, 0)
    gtk_list_view_scroll_to(list, position, GTK_LIST_SCROLL_NONE, NULL);
#else
    gtk_widget_activate_action(GTK_WIDGET(list), "list.scroll-to-item", "u", position);
#endif
}

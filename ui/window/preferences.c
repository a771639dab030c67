// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/preferences.h"

#include "engine/base/parallel.h"
#include "ui/compat/dialogs.h"
#include "ui/model/settings.h"
#include "ui/widget/helpers.h"
#include "ui/widget/view-popover.h"

#include <glib/gi18n-lib.h>

static const char *const themes[] = {"system", "light", "dark"};

static void
attach(GtkWidget *grid, int row, const char *label, GtkWidget *widget, const char *help)
{
    GtkWidget *text = limn_label_for(label, widget);

    gtk_widget_set_hexpand(text, TRUE);
    gtk_widget_set_tooltip_text(text, help);
    gtk_widget_set_tooltip_text(widget, help);
    gtk_widget_set_halign(widget, GTK_ALIGN_END);
    gtk_grid_attach(GTK_GRID(grid), text, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static GtkWidget *
make_grid(void)
{
    GtkWidget *grid = gtk_grid_new();

    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 18);
    return grid;
}

// ---- appearance

static void
theme_selected(GtkDropDown *drop_down)
{
    guint index = gtk_drop_down_get_selected(drop_down);

    if (index < G_N_ELEMENTS(themes))
        limn_settings_set_string("theme", themes[index]);
}

static void
colormap_selected(GtkDropDown *drop_down)
{
    const char *name =
        limn_colormap_name_at(gtk_drop_down_get_selected(drop_down), FALSE);

    if (name)
        limn_settings_set_string("colormap", name);
}

static void
opacity_changed(GtkRange *range)
{
    limn_settings_set_double("opacity", gtk_range_get_value(range) / 100);
}

static gboolean
switched(GtkSwitch *widget, gboolean state, gpointer key)
{
    limn_settings_set_boolean(key, state);
    return FALSE;
}

static GtkWidget *
make_switch(const char *key)
{
    GtkWidget *widget = gtk_switch_new();

    gtk_switch_set_active(GTK_SWITCH(widget), limn_settings_get_boolean(key));
    g_signal_connect(widget, "state-set", G_CALLBACK(switched), (gpointer) key);
    return widget;
}

static GtkWidget *
make_appearance(void)
{
    const char *names[] = {_("As the desktop"), _("Light"), _("Dark"), NULL};
    g_auto(GStrv) colormaps = limn_colormap_titles(FALSE);
    g_autofree char *theme = limn_settings_get_string("theme");
    g_autofree char *colormap = limn_settings_get_string("colormap");
    GtkWidget *section = limn_section_new(_("Appearance"));
    GtkWidget *grid = make_grid();
    GtkWidget *theme_choice = limn_drop_down_new(NULL, names);
    GtkWidget *colormap_choice =
        limn_drop_down_new(NULL, (const char *const *) colormaps);
    GtkWidget *opacity = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 100, 5);

    for (guint i = 0; i < G_N_ELEMENTS(themes); i++)
        if (g_str_equal(themes[i], theme))
            gtk_drop_down_set_selected(GTK_DROP_DOWN(theme_choice), i);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(colormap_choice),
                               limn_colormap_index_of(colormap, FALSE));
    gtk_range_set_value(GTK_RANGE(opacity), limn_settings_get_double("opacity") * 100);
    gtk_scale_set_draw_value(GTK_SCALE(opacity), TRUE);
    gtk_scale_set_value_pos(GTK_SCALE(opacity), GTK_POS_LEFT);
    gtk_widget_set_size_request(opacity, 180, -1);
    g_signal_connect(theme_choice, "notify::selected", G_CALLBACK(theme_selected), NULL);
    g_signal_connect(colormap_choice, "notify::selected", G_CALLBACK(colormap_selected),
                     NULL);
    g_signal_connect(opacity, "value-changed", G_CALLBACK(opacity_changed), NULL);
    attach(grid, 0, _("_Theme"), theme_choice, NULL);
    attach(grid, 1, _("Colour _map of new studies"), colormap_choice,
           _("For maps without a sign; signed maps use a diverging one"));
    attach(grid, 2, _("_Opacity of new studies (%)"), opacity, NULL);
    attach(grid, 3, _("Draw maps _smoothly in new studies"), make_switch("interpolate"),
           _("Otherwise every patch of the model is one cell"));
    attach(grid, 4, _("Maps of new studies follow the t_yping"), make_switch("live"),
           NULL);
    gtk_box_append(GTK_BOX(section), grid);
    return section;
}

// ---- computing

static void
integer_changed(GtkSpinButton *spin, gpointer key)
{
    limn_settings_set_int(key, gtk_spin_button_get_value_as_int(spin));
}

static GtkWidget *
make_integer(const char *key, int min, int max, int step)
{
    GtkWidget *spin = gtk_spin_button_new_with_range(min, max, step);

    gtk_spin_button_set_value(GTK_SPIN_BUTTON(spin), limn_settings_get_int(key));
    g_signal_connect(spin, "value-changed", G_CALLBACK(integer_changed), (gpointer) key);
    return spin;
}

static void
show_model(GtkWidget *button)
{
    g_autofree char *path = limn_settings_get_string("model");
    g_autofree char *shown =
        *path ? g_filename_display_basename(path) : g_strdup(_("Built-in model"));
    g_autofree char *name = g_strdup_printf(_("Model of new studies: %s"), shown);

    gtk_button_set_label(GTK_BUTTON(button), shown);
    limn_set_name(button, name, FALSE);
}

static void
model_chosen(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GtkWidget) button = user_data;
    g_autoptr(GPtrArray) files = limn_choose_files_finish(result);
    g_autofree char *path =
        files && files->len > 0 ? g_file_get_path(files->pdata[0]) : NULL;

    if (!path)
        return;
    limn_settings_set_string("model", path);
    show_model(button);
}

static void
model_clicked(GtkButton *button)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(button));

    limn_choose_files_async(GTK_WINDOW(root), LIMN_CHOOSE_FOLDER, LIMN_FILTER_NONE,
                            _("Folder of the Checkpoint"), NULL, NULL, model_chosen,
                            g_object_ref(button));
}

static void
builtin_clicked(GtkButton *reset, GtkWidget *button)
{
    limn_settings_set_string("model", "");
    show_model(button);
}

static GtkWidget *
make_computing(void)
{
    GtkWidget *section = limn_section_new(_("Computing"));
    GtkWidget *grid = make_grid();
    GtkWidget *model = gtk_button_new();
    GtkWidget *models = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *builtin =
        limn_icon_button_new("edit-clear-symbolic", _("Use the built-in model"), NULL);
    g_autofree char *threads_help = g_strdup_printf(
        ngettext("0: one processor is left to the window (this computer has %d)",
                 "0: one processor is left to the window (this computer has %d)",
                 limn_parallel_n_processors()),
        limn_parallel_n_processors());

    show_model(model);
    g_signal_connect(model, "clicked", G_CALLBACK(model_clicked), NULL);
    g_signal_connect(builtin, "clicked", G_CALLBACK(builtin_clicked), model);
    gtk_box_append(GTK_BOX(models), model);
    gtk_box_append(GTK_BOX(models), builtin);
    attach(grid, 0, _("_Threads"), make_integer("threads", 0, 1024, 1), threads_help);
    attach(grid, 1, _("_Largest decoded picture (MiB)"),
           make_integer("memory-budget", 64, 1048576, 64),
           _("Larger pictures are refused before anything is allocated"));
    gtk_grid_attach(GTK_GRID(grid),
                    limn_label_new(_("Model of new studies"), NULL, FALSE), 0, 2, 1, 1);
    gtk_widget_set_halign(models, GTK_ALIGN_END);
    gtk_grid_attach(GTK_GRID(grid), models, 1, 2, 1, 1);
    gtk_box_append(GTK_BOX(section), grid);
    return section;
}

GtkWindow *
limn_preferences_open(LimnWindow *window)
{
    GtkWidget *dialog = gtk_window_new();
    GtkWidget *header = gtk_header_bar_new();
    GtkWidget *content = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    GtkEventController *keys = gtk_shortcut_controller_new();

    gtk_widget_add_css_class(header, "limn-header");
    gtk_window_set_titlebar(GTK_WINDOW(dialog), header);
    gtk_window_set_title(GTK_WINDOW(dialog), _("Preferences"));
    gtk_window_set_resizable(GTK_WINDOW(dialog), FALSE);
    gtk_window_set_transient_for(GTK_WINDOW(dialog), GTK_WINDOW(window));
    gtk_window_set_modal(GTK_WINDOW(dialog), TRUE);
    gtk_widget_add_css_class(content, "limn-dialog");
    gtk_box_append(GTK_BOX(content), make_appearance());
    gtk_box_append(GTK_BOX(content), make_computing());
    gtk_window_set_child(GTK_WINDOW(dialog), content);
    gtk_shortcut_controller_add_shortcut(
        GTK_SHORTCUT_CONTROLLER(keys),
        gtk_shortcut_new(gtk_shortcut_trigger_parse_string("Escape"),
                         gtk_named_action_new("window.close")));
    gtk_widget_add_controller(dialog, keys);
    gtk_window_present(GTK_WINDOW(dialog));
    return GTK_WINDOW(dialog);
}

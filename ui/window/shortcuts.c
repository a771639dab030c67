// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/shortcuts.h"

#include "ui/action/actions.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

static char *
describe_key(const char *accelerator)
{
    GdkModifierType modifiers;
    guint key;

    if (!gtk_accelerator_parse(accelerator, &key, &modifiers))
        return g_strdup(accelerator);
    return gtk_accelerator_get_label(key, modifiers);
}

static GtkWidget *
make_group(LimnAccelGroup group)
{
    const char *titles[] = {_("Files"), _("Editing"), _("View"), _("Comparing")};
    GtkWidget *section = limn_section_new(titles[group]);
    GtkWidget *grid = gtk_grid_new();
    gsize n;
    const LimnAccel *accels = limn_actions_get_accels(&n);
    int row = 0;

    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 18);
    for (gsize i = 0; i < n; i++) {
        g_autofree char *key = NULL;
        GtkWidget *label;

        if (accels[i].group != group)
            continue;
        key = describe_key(accels[i].keys[0]);
        label = limn_label_new(key, "limn-key", FALSE);
        gtk_widget_set_halign(label, GTK_ALIGN_END);
        gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
        gtk_grid_attach(GTK_GRID(grid), limn_label_new(_(accels[i].title), NULL, FALSE),
                        1, row++, 1, 1);
    }
    gtk_box_append(GTK_BOX(section), grid);
    return section;
}

GtkWindow *
limn_shortcuts_open(LimnWindow *window)
{
    GtkWidget *dialog = gtk_window_new();
    GtkWidget *header = gtk_header_bar_new();
    GtkWidget *scroller = gtk_scrolled_window_new();
    GtkWidget *columns = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 36);
    GtkEventController *keys = gtk_shortcut_controller_new();

    gtk_widget_add_css_class(header, "limn-header");
    gtk_window_set_titlebar(GTK_WINDOW(dialog), header);
    gtk_window_set_title(GTK_WINDOW(dialog), _("Keyboard Shortcuts"));
    gtk_window_set_transient_for(GTK_WINDOW(dialog), GTK_WINDOW(window));
    gtk_window_set_default_size(GTK_WINDOW(dialog), 680, 560);
    gtk_widget_add_css_class(columns, "limn-dialog");
    for (int group = 0; group < LIMN_ACCEL_N_GROUPS; group += 2) {
        GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);

        gtk_box_append(GTK_BOX(column), make_group((LimnAccelGroup) group));
        gtk_box_append(GTK_BOX(column), make_group((LimnAccelGroup) (group + 1)));
        gtk_box_append(GTK_BOX(columns), column);
    }
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), columns);
    gtk_window_set_child(GTK_WINDOW(dialog), scroller);
    gtk_shortcut_controller_add_shortcut(
        GTK_SHORTCUT_CONTROLLER(keys),
        gtk_shortcut_new(gtk_shortcut_trigger_parse_string("Escape"),
                         gtk_named_action_new("window.close")));
    gtk_widget_add_controller(dialog, keys);
    gtk_window_present(GTK_WINDOW(dialog));
    return GTK_WINDOW(dialog);
}

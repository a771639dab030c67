// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/helpers.h"

#include "engine/base/number.h"

void
limn_set_name(GtkWidget *widget, const char *name, gboolean tooltip)
{
    if (tooltip)
        gtk_widget_set_tooltip_text(widget, name);
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   name, -1);
}

GtkWidget *
limn_icon_button_new(const char *icon, const char *name, const char *action)
{
    GtkWidget *button = gtk_button_new_from_icon_name(icon);

    gtk_widget_add_css_class(button, "flat");
    limn_set_name(button, name, TRUE);
    if (action)
        gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(button), action);
    return button;
}

GtkWidget *
limn_icon_toggle_new(const char *icon, const char *name, const char *action)
{
    GtkWidget *button = gtk_toggle_button_new();

    gtk_button_set_icon_name(GTK_BUTTON(button), icon);
    gtk_widget_add_css_class(button, "flat");
    limn_set_name(button, name, TRUE);
    if (action)
        gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(button), action);
    return button;
}

GtkWidget *
limn_icon_menu_button_new(const char *icon, const char *name)
{
    GtkWidget *button = gtk_menu_button_new();
    GtkWidget *toggle = gtk_widget_get_first_child(button);

    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), icon);
    gtk_menu_button_set_has_frame(GTK_MENU_BUTTON(button), FALSE);
    limn_set_name(button, name, TRUE);
    if (toggle) // it is the toggle inside that gets the focus
        limn_set_name(toggle, name, FALSE);
    return button;
}

GtkWidget *
limn_label_new(const char *text, const char *class, gboolean wrap)
{
    GtkWidget *label = gtk_label_new(text);

    gtk_label_set_xalign(GTK_LABEL(label), 0);
    if (class)
        gtk_widget_add_css_class(label, class);
    if (wrap) {
        gtk_label_set_wrap(GTK_LABEL(label), TRUE);
        gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    } else {
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    }
    return label;
}

GtkWidget *
limn_label_for(const char *text, GtkWidget *widget)
{
    GtkWidget *label = gtk_label_new_with_mnemonic(text);

    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), widget);
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget),
                                   GTK_ACCESSIBLE_RELATION_LABELLED_BY, label, NULL, -1);
    return label;
}

// ---- drop-downs

static void
setup_row(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer user_data)
{
    GtkWidget *label = limn_label_new(NULL, NULL, FALSE);

    gtk_label_set_width_chars(GTK_LABEL(label), 4);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 40);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_list_item_set_child(item, label);
}

static void
bind_row(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer user_data)
{
    GtkStringObject *string = gtk_list_item_get_item(item);
    GtkWidget *label = gtk_list_item_get_child(item);

    gtk_label_set_text(GTK_LABEL(label), gtk_string_object_get_string(string));
}

GtkWidget *
limn_drop_down_new(const char *name, const char *const *strings)
{
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    GtkStringList *list = gtk_string_list_new(strings);
    GtkWidget *drop_down = gtk_drop_down_new(G_LIST_MODEL(list), NULL);
    GtkWidget *button = gtk_widget_get_first_child(drop_down);

    g_signal_connect(factory, "setup", G_CALLBACK(setup_row), NULL);
    g_signal_connect(factory, "bind", G_CALLBACK(bind_row), NULL);
    gtk_drop_down_set_factory(GTK_DROP_DOWN(drop_down), factory);
    g_object_unref(factory);
    if (name) {
        limn_set_name(drop_down, name, FALSE);
        if (button) // the button inside gets the focus
            limn_set_name(button, name, FALSE);
    }
    return drop_down;
}

// Only what differs is replaced: at a keystroke that is one string.
void
limn_drop_down_set_strings(GtkDropDown *drop_down, const char *const *strings)
{
    GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(drop_down));
    guint old = g_list_model_get_n_items(G_LIST_MODEL(list)), same = 0, tail = 0, new = 0;

    while (strings[new])
        new ++;
    while (same < MIN(old, new) &&
           g_str_equal(gtk_string_list_get_string(list, same), strings[same]))
        same++;
    while (tail < MIN(old, new) - same &&
           g_str_equal(gtk_string_list_get_string(list, old - 1 - tail),
                       strings[new - 1 - tail]))
        tail++;
    if (same < old || same < new) {
        g_autofree const char **middle = g_new0(const char *, new - same - tail + 1);

        for (guint i = 0; i < new - same - tail; i++)
            middle[i] = strings[same + i];
        gtk_string_list_splice(list, same, old - same - tail, middle);
    }
}

void
limn_drop_down_select_quietly(GtkDropDown *drop_down, guint index, gpointer data)
{
    if (gtk_drop_down_get_selected(drop_down) == index)
        return;
    g_signal_handlers_block_matched(drop_down, G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL,
                                    data);
    gtk_drop_down_set_selected(drop_down, index);
    g_signal_handlers_unblock_matched(drop_down, G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL,
                                      data);
}

char *
limn_title_from_key(const char *key)
{
    char *title = g_strdup(key);

    g_strdelimit(title, "-_", ' ');
    title[0] = g_ascii_toupper(title[0]);
    return title;
}

char *
limn_format_fixed(double value, int digits)
{
    char buffer[LIMN_NUMBER_BUFFER];

    return g_strdup(limn_number_format_fixed(buffer, value, digits));
}

// ---- states and sections

GtkWidget *
limn_status_page_new(const char *icon, const char *title, const char *hint)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    GtkWidget *image = gtk_image_new_from_icon_name(icon);
    GtkWidget *heading = gtk_label_new(title);

    gtk_widget_add_css_class(box, "limn-status");
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_hexpand(box, TRUE);
    gtk_widget_set_vexpand(box, TRUE);
    gtk_image_set_pixel_size(GTK_IMAGE(image), 64);
    gtk_widget_add_css_class(image, "dim-label");
    gtk_widget_add_css_class(heading, "title-2");
    gtk_label_set_wrap(GTK_LABEL(heading), TRUE);
    gtk_label_set_justify(GTK_LABEL(heading), GTK_JUSTIFY_CENTER);
    gtk_box_append(GTK_BOX(box), image);
    gtk_box_append(GTK_BOX(box), heading);
    if (hint) {
        GtkWidget *label = gtk_label_new(hint);

        gtk_label_set_wrap(GTK_LABEL(label), TRUE);
        gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
        gtk_label_set_max_width_chars(GTK_LABEL(label), 50);
        gtk_widget_add_css_class(label, "dim-label");
        gtk_box_append(GTK_BOX(box), label);
    }
    return box;
}

GtkWidget *
limn_section_new(const char *title)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

    gtk_widget_add_css_class(box, "limn-section");
    gtk_box_append(GTK_BOX(box), limn_label_new(title, "heading", FALSE));
    return box;
}

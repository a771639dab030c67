// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/word-button.h"

#include "engine/figure/palette.h"
#include "ui/view/view-theme.h"

#include <glib/gi18n-lib.h>
#include <math.h>

struct _LimnWordButton {
    GtkButton parent_instance;
    GtkWidget *label;
    GtkWidget *menu; // made when asked for
    double strength;
    gboolean with_shift; // of the press that is under way
};

enum { PRESSED_WORD, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(LimnWordButton, limn_word_button, GTK_TYPE_BUTTON)

static GdkRGBA
to_rgba(LimnColor color)
{
    return (GdkRGBA){color.red, color.green, color.blue, color.alpha};
}

static LimnColor
word_color(double strength, gboolean dark)
{
    const LimnTheme *theme = limn_theme_get(dark);
    LimnColor full = strength < 0 ? theme->against : theme->word;

    return limn_color_mix(theme->page, full, MIN(fabs(strength), 1));
}

void
limn_word_color(double strength, gboolean dark, GdkRGBA *color)
{
    *color = to_rgba(word_color(strength, dark));
}

// ---- look

static void
update_ink(LimnWordButton *button)
{
    gboolean dark = limn_view_is_dark(GTK_WIDGET(button));
    LimnColor ink = limn_color_readable_on(word_color(button->strength, dark));
    g_autoptr(PangoAttrList) attributes = pango_attr_list_new();

    pango_attr_list_insert(
        attributes,
        pango_attr_foreground_new(65535 * ink.red, 65535 * ink.green, 65535 * ink.blue));
    gtk_label_set_attributes(GTK_LABEL(button->label), attributes);
}

static void
theme_changed(GtkSettings *settings, GParamSpec *spec, LimnWordButton *button)
{
    update_ink(button);
    gtk_widget_queue_draw(GTK_WIDGET(button));
}

static void
snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LimnWordButton *button = LIMN_WORD_BUTTON(widget);
    graphene_rect_t bounds; // with the padding
    gboolean dark = limn_view_is_dark(widget);
    GtkStateFlags state = gtk_widget_get_state_flags(widget);
    GskRoundedRect outline;
    GdkRGBA color, edge = dark ? (GdkRGBA){1, 1, 1, 0.14} : (GdkRGBA){0, 0, 0, 0.14};
    const float width = 1;

    if (state & (GTK_STATE_FLAG_PRELIGHT | GTK_STATE_FLAG_ACTIVE))
        edge.alpha = 0.6;
    limn_word_color(button->strength, dark, &color);
    if (!gtk_widget_compute_bounds(widget, widget, &bounds))
        return;
    gsk_rounded_rect_init_from_rect(&outline, &bounds, 4);
    gtk_snapshot_push_rounded_clip(snapshot, &outline);
    gtk_snapshot_append_color(snapshot, &color, &bounds);
    gtk_snapshot_pop(snapshot);
    gtk_snapshot_append_border(snapshot, &outline, (float[4]){width, width, width, width},
                               (GdkRGBA[4]){edge, edge, edge, edge});
    GTK_WIDGET_CLASS(limn_word_button_parent_class)->snapshot(widget, snapshot);
}

// The theme's flat button with less room around the text.
static void
add_style(GdkDisplay *display)
{
    static const char *key = "limn-word-style";
    g_autoptr(GtkCssProvider) provider = NULL;

    if (g_object_get_data(G_OBJECT(display), key) != NULL)
        return;
    provider = gtk_css_provider_new();
    gtk_css_provider_load_from_data(provider,
                                    "button.limn-word { padding: 2px 6px; min-height: 0; "
                                    "min-width: 0; border: none; box-shadow: none; "
                                    "background: none; font-weight: normal; }",
                                    -1);
    gtk_style_context_add_provider_for_display(display, GTK_STYLE_PROVIDER(provider),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_set_data(G_OBJECT(display), key, GINT_TO_POINTER(TRUE));
}

// ---- pressing

static void
emit_pressed(LimnWordButton *button, gboolean without)
{
    g_signal_emit(button, signals[PRESSED_WORD], 0, without);
}

static void
clicked(GtkButton *base)
{
    LimnWordButton *button = LIMN_WORD_BUTTON(base);
    gboolean without = button->with_shift;

    button->with_shift = FALSE;
    emit_pressed(button, without);
}

static void
press_begins(GtkGestureClick *gesture, int n_press, double x, double y,
             LimnWordButton *button)
{
    GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(gesture));

    button->with_shift = (state & GDK_SHIFT_MASK) != 0;
}

static gboolean
shift_key(GtkWidget *widget, GVariant *arguments, gpointer unused)
{
    emit_pressed(LIMN_WORD_BUTTON(widget), TRUE);
    return TRUE;
}

static void
press_action(GtkWidget *widget, const char *name, GVariant *parameter)
{
    emit_pressed(LIMN_WORD_BUTTON(widget), g_str_equal(name, "word.without"));
}

static void
show_menu(LimnWordButton *button)
{
    if (button->menu == NULL) {
        g_autoptr(GMenu) model = g_menu_new();

        g_menu_append(model, _("Map of this word alone"), "word.alone");
        g_menu_append(model, _("Map of the sentence without it"), "word.without");
        button->menu = gtk_popover_menu_new_from_model(G_MENU_MODEL(model));
        gtk_widget_set_parent(button->menu, GTK_WIDGET(button));
    }
    gtk_popover_popup(GTK_POPOVER(button->menu));
}

static void
menu_action(GtkWidget *widget, const char *name, GVariant *parameter)
{
    show_menu(LIMN_WORD_BUTTON(widget));
}

static void
menu_press(GtkGestureClick *gesture, int n_press, double x, double y,
           LimnWordButton *button)
{
    show_menu(button);
}

static void
size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
    LimnWordButton *button = LIMN_WORD_BUTTON(widget);

    GTK_WIDGET_CLASS(limn_word_button_parent_class)
        ->size_allocate(widget, width, height, baseline);
    if (button->menu != NULL)
        gtk_popover_present(GTK_POPOVER(button->menu));
}

// ---- class

static void
dispose(GObject *object)
{
    g_clear_pointer(&LIMN_WORD_BUTTON(object)->menu, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_word_button_parent_class)->dispose(object);
}

static void
limn_word_button_class_init(LimnWordButtonClass *class)
{
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
    static const guint keys[] = {GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_ISO_Enter,
                                 GDK_KEY_space, GDK_KEY_KP_Space};

    G_OBJECT_CLASS(class)->dispose = dispose;
    widget_class->snapshot = snapshot;
    widget_class->size_allocate = size_allocate;
    GTK_BUTTON_CLASS(class)->clicked = clicked;
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
        gtk_widget_class_add_binding(widget_class, keys[i], GDK_SHIFT_MASK, shift_key,
                                     NULL);
    gtk_widget_class_install_action(widget_class, "word.alone", NULL, press_action);
    gtk_widget_class_install_action(widget_class, "word.without", NULL, press_action);
    gtk_widget_class_install_action(widget_class, "word.menu", NULL, menu_action);
    gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Menu, 0, "word.menu", NULL);
    gtk_widget_class_add_binding_action(widget_class, GDK_KEY_F10, GDK_SHIFT_MASK,
                                        "word.menu", NULL);
    signals[PRESSED_WORD] =
        g_signal_new("pressed-word", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL,
                     NULL, NULL, G_TYPE_NONE, 1, G_TYPE_BOOLEAN);
}

static void
limn_word_button_init(LimnWordButton *button)
{
    GtkWidget *widget = GTK_WIDGET(button);
    GtkSettings *settings = gtk_widget_get_settings(widget);
    GtkGesture *press = gtk_gesture_click_new(), *menu = gtk_gesture_click_new();

    add_style(gtk_widget_get_display(widget));
    gtk_widget_add_css_class(widget, "flat");
    gtk_widget_add_css_class(widget, "limn-word");
    button->label = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(button->label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(button->label), PANGO_WRAP_CHAR);
    gtk_button_set_child(GTK_BUTTON(button), button->label);
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(press), GDK_BUTTON_PRIMARY);
    gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(press),
                                               GTK_PHASE_CAPTURE);
    g_signal_connect(press, "pressed", G_CALLBACK(press_begins), button);
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(menu), GDK_BUTTON_SECONDARY);
    g_signal_connect(menu, "pressed", G_CALLBACK(menu_press), button);
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(press));
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(menu));
    g_signal_connect_object(settings, "notify::gtk-application-prefer-dark-theme",
                            G_CALLBACK(theme_changed), button, 0);
    g_signal_connect_object(settings, "notify::gtk-theme-name", G_CALLBACK(theme_changed),
                            button, 0);
}

GtkWidget *
limn_word_button_new(void)
{
    return g_object_new(LIMN_TYPE_WORD_BUTTON, NULL);
}

void
limn_word_button_set_word(LimnWordButton *button, const char *text, double strength)
{
    g_return_if_fail(LIMN_IS_WORD_BUTTON(button));

    button->strength = isfinite(strength) ? CLAMP(strength, -1, 1) : 0;
    gtk_label_set_text(GTK_LABEL(button->label), text);
    update_ink(button);
    gtk_widget_queue_draw(GTK_WIDGET(button));
}

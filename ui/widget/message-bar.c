// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/message-bar.h"

#include <glib/gi18n-lib.h>

#define INFO_SECONDS 8
#define MAX_WAITING 20
#define MAX_LINES 12

typedef struct {
    LimnMessageKind kind;
    char *text, *label, *action;
} Message;

struct _LimnMessageBar {
    GtkWidget parent_instance;
    GtkWidget *revealer, *box, *icon, *label, *button, *count;
    GQueue waiting; // newest first; the head is on screen
    guint timeout;
};

G_DEFINE_FINAL_TYPE(LimnMessageBar, limn_message_bar, GTK_TYPE_WIDGET)

static void update(LimnMessageBar *self);

static void
message_free(gpointer data)
{
    Message *message = data;

    g_free(message->text);
    g_free(message->label);
    g_free(message->action);
    g_free(message);
}

static void
limn_message_bar_dispose(GObject *object)
{
    LimnMessageBar *self = LIMN_MESSAGE_BAR(object);

    g_clear_handle_id(&self->timeout, g_source_remove);
    g_queue_clear_full(&self->waiting, message_free);
    g_clear_pointer(&self->revealer, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_message_bar_parent_class)->dispose(object);
}

static void
limn_message_bar_class_init(LimnMessageBarClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_message_bar_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class),
                                         GTK_ACCESSIBLE_ROLE_ALERT);
}

static gboolean
timed_out(gpointer user_data)
{
    LimnMessageBar *self = user_data;

    self->timeout = 0;
    limn_message_bar_close(self);
    return G_SOURCE_REMOVE;
}

static void
close_clicked(GtkButton *button, LimnMessageBar *self)
{
    limn_message_bar_close(self);
}

static void
limn_message_bar_init(LimnMessageBar *self)
{
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");

    g_queue_init(&self->waiting);
    self->revealer = gtk_revealer_new();
    self->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    self->icon = gtk_image_new();
    self->label = gtk_label_new(NULL);
    self->count = gtk_label_new(NULL);
    self->button = gtk_button_new();
    gtk_widget_add_css_class(self->box, "limn-message");
    gtk_label_set_wrap(GTK_LABEL(self->label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(self->label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_natural_wrap_mode(GTK_LABEL(self->label), GTK_NATURAL_WRAP_NONE);
    gtk_label_set_xalign(GTK_LABEL(self->label), 0);
    gtk_label_set_selectable(GTK_LABEL(self->label), TRUE);
    gtk_widget_set_focusable(self->label, FALSE);
    gtk_label_set_lines(GTK_LABEL(self->label), MAX_LINES);
    gtk_label_set_ellipsize(GTK_LABEL(self->label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(self->label, TRUE);
    gtk_widget_add_css_class(self->count, "dim-label");
    gtk_widget_set_valign(self->button, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(close, GTK_ALIGN_CENTER);
    gtk_button_set_has_frame(GTK_BUTTON(close), FALSE);
    gtk_widget_set_tooltip_text(close, _("Close the message"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Close the message"), -1);
    g_signal_connect(close, "clicked", G_CALLBACK(close_clicked), self);
    gtk_box_append(GTK_BOX(self->box), self->icon);
    gtk_box_append(GTK_BOX(self->box), self->label);
    gtk_box_append(GTK_BOX(self->box), self->count);
    gtk_box_append(GTK_BOX(self->box), self->button);
    gtk_box_append(GTK_BOX(self->box), close);
    gtk_revealer_set_child(GTK_REVEALER(self->revealer), self->box);
    gtk_widget_set_parent(self->revealer, GTK_WIDGET(self));
    update(self);
}

GtkWidget *
limn_message_bar_new(void)
{
    return g_object_new(LIMN_TYPE_MESSAGE_BAR, NULL);
}

// The target before the name: name and target must fit together at every moment.
static void
set_action(GtkActionable *button, const char *detailed)
{
    g_autoptr(GVariant) target = NULL;
    g_autofree char *name = NULL;

    gtk_actionable_set_action_name(button, NULL);
    if (!g_action_parse_detailed_name(detailed, &name, &target, NULL))
        return;
    gtk_actionable_set_action_target_value(button, target);
    gtk_actionable_set_action_name(button, name);
}

static void
update(LimnMessageBar *self)
{
    static const char *const icons[] = {"dialog-information-symbolic",
                                        "dialog-warning-symbolic",
                                        "dialog-error-symbolic"};
    static const char *const classes[] = {"info", "warning", "error"};
    const Message *message = g_queue_peek_head(&self->waiting);
    gboolean has_button = message && message->action && *message->action;
    g_autofree char *more = NULL;

    g_clear_handle_id(&self->timeout, g_source_remove);
    gtk_widget_set_visible(GTK_WIDGET(self), message != NULL);
    gtk_revealer_set_reveal_child(GTK_REVEALER(self->revealer), message != NULL);
    if (!message)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(classes); i++)
        gtk_widget_remove_css_class(self->box, classes[i]);
    gtk_widget_add_css_class(self->box, classes[message->kind]);
    gtk_image_set_from_icon_name(GTK_IMAGE(self->icon), icons[message->kind]);
    gtk_label_set_text(GTK_LABEL(self->label), message->text);
    gtk_widget_set_tooltip_text(self->label, message->text);
    gtk_widget_set_visible(self->button, has_button);
    if (has_button) {
        gtk_button_set_label(GTK_BUTTON(self->button), message->label);
        set_action(GTK_ACTIONABLE(self->button), message->action);
    }
    if (self->waiting.length > 1)
        more = g_strdup_printf(_("%u more"), self->waiting.length - 1);
    gtk_label_set_text(GTK_LABEL(self->count), more ? more : "");
    gtk_widget_set_visible(self->count, more != NULL);
    if (message->kind == LIMN_MESSAGE_INFO)
        self->timeout = g_timeout_add_seconds(INFO_SECONDS, timed_out, self);
}

void
limn_message_bar_show(LimnMessageBar *self, LimnMessageKind kind, const char *text,
                      const char *label, const char *action)
{
    const Message *shown = g_queue_peek_head(&self->waiting);
    Message *message;

    if (shown && g_str_equal(shown->text, text))
        return; // the same again
    // an information that is on screen has been seen: it makes room
    if (shown && shown->kind == LIMN_MESSAGE_INFO)
        message_free(g_queue_pop_head(&self->waiting));
    message = g_new0(Message, 1);
    message->kind = kind;
    message->text = g_utf8_make_valid(text, -1);
    message->label = g_strdup(label);
    message->action = g_strdup(action);
    g_queue_push_head(&self->waiting, message);
    while (self->waiting.length > MAX_WAITING)
        message_free(g_queue_pop_tail(&self->waiting));
    update(self);
}

void
limn_message_bar_close(LimnMessageBar *self)
{
    Message *message = g_queue_pop_head(&self->waiting);

    if (message)
        message_free(message);
    update(self);
}

const char *
limn_message_bar_get_text(LimnMessageBar *self)
{
    const Message *message = g_queue_peek_head(&self->waiting);

    return message ? message->text : NULL;
}

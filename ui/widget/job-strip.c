// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/job-strip.h"

#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

#define LIVE_DELAY_MS 400

struct _LimnJobStrip {
    GtkWidget parent_instance;
    LimnWorkspace *ws;
    GtkWidget *box, *label, *bar, *cancel;
    guint delay;
    gboolean live_shown; // live work has lasted longer than the delay
};

G_DEFINE_FINAL_TYPE(LimnJobStrip, limn_job_strip, GTK_TYPE_WIDGET)

static void
limn_job_strip_dispose(GObject *object)
{
    LimnJobStrip *self = LIMN_JOB_STRIP(object);

    g_clear_handle_id(&self->delay, g_source_remove);
    if (self->ws)
        g_signal_handlers_disconnect_by_data(self->ws, self);
    g_clear_object(&self->ws);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_job_strip_parent_class)->dispose(object);
}

static void
limn_job_strip_class_init(LimnJobStripClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_job_strip_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static void
cancel_clicked(GtkButton *button, LimnJobStrip *self)
{
    if (limn_workspace_get_job(self->ws))
        limn_workspace_cancel_job(self->ws);
    else
        limn_live_cancel(limn_workspace_get_live(self->ws));
}

static void
limn_job_strip_init(LimnJobStrip *self)
{
    self->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    gtk_widget_add_css_class(self->box, "limn-strip");
    self->label = limn_label_new(NULL, NULL, FALSE);
    gtk_widget_set_hexpand(self->label, TRUE);
    self->bar = gtk_progress_bar_new();
    gtk_widget_set_valign(self->bar, GTK_ALIGN_CENTER);
    gtk_widget_set_size_request(self->bar, 200, -1);
    limn_set_name(self->bar, _("Progress"), FALSE);
    self->cancel = gtk_button_new_with_mnemonic(_("_Cancel"));
    gtk_widget_add_css_class(self->cancel, "limn-small");
    g_signal_connect(self->cancel, "clicked", G_CALLBACK(cancel_clicked), self);
    gtk_box_append(GTK_BOX(self->box), self->label);
    gtk_box_append(GTK_BOX(self->box), self->bar);
    gtk_box_append(GTK_BOX(self->box), self->cancel);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
}

static void
show(LimnJobStrip *self, const char *text, double fraction)
{
    gtk_label_set_text(GTK_LABEL(self->label), text);
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(self->bar), CLAMP(fraction, 0, 1));
    gtk_widget_set_visible(GTK_WIDGET(self), TRUE);
}

static void
show_job(LimnJobStrip *self, LimnStudyJob *job)
{
    guint waiting = limn_workspace_get_n_jobs(self->ws) - 1;
    const char *message = limn_study_job_get_message(job);
    g_autoptr(GString) text = g_string_new(limn_study_job_get_title(job));

    if (*message)
        g_string_append_printf(text, ": %s", message);
    if (waiting > 0)
        g_string_append_printf(
            text, ngettext(" (%u more waits)", " (%u more wait)", waiting), waiting);
    show(self, text->str, limn_study_job_get_fraction(job));
}

static void update(LimnJobStrip *self);

static gboolean
delay_over(gpointer user_data)
{
    LimnJobStrip *self = user_data;

    self->delay = 0;
    self->live_shown = TRUE;
    update(self);
    return G_SOURCE_REMOVE;
}

static void
update(LimnJobStrip *self)
{
    LimnStudyJob *job = limn_workspace_get_job(self->ws);
    const char *message;
    double fraction;
    gboolean live = limn_workspace_get_live_progress(self->ws, &fraction, &message);

    if (!live) {
        g_clear_handle_id(&self->delay, g_source_remove);
        self->live_shown = FALSE;
    } else if (!self->delay && !self->live_shown) {
        self->delay = g_timeout_add(LIVE_DELAY_MS, delay_over, self);
    }
    if (job)
        show_job(self, job);
    else if (self->live_shown)
        show(self, message ? message : _("Computing the map…"), fraction);
    else
        gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
}

GtkWidget *
limn_job_strip_new(LimnWorkspace *ws)
{
    LimnJobStrip *self = g_object_new(LIMN_TYPE_JOB_STRIP, NULL);

    self->ws = g_object_ref(ws);
    g_signal_connect_swapped(ws, "jobs-changed", G_CALLBACK(update), self);
    g_signal_connect_swapped(ws, "live-changed", G_CALLBACK(update), self);
    return GTK_WIDGET(self);
}

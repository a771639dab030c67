// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/welcome-page.h"

#include "engine/base/file.h"
#include "engine/session/samples.h"
#include "ui/model/document-edit.h"
#include "ui/widget/helpers.h"
#include "ui/widget/thumbnail.h"

#include <glib/gi18n-lib.h>

#define THUMBNAIL 168
#define MAX_RECENT_SHOWN 6

struct _LimnWelcomePage {
    GtkWidget parent_instance;
    LimnWorkspace *ws;
    GtkWidget *scroller, *open, *cards, *recent, *recent_box, *families;
    GPtrArray *samples; // LimnSample
};

G_DEFINE_FINAL_TYPE(LimnWelcomePage, limn_welcome_page, GTK_TYPE_WIDGET)

static void
limn_welcome_page_dispose(GObject *object)
{
    LimnWelcomePage *self = LIMN_WELCOME_PAGE(object);

    if (self->ws)
        g_signal_handlers_disconnect_by_data(self->ws, self);
    g_clear_object(&self->ws);
    g_clear_pointer(&self->scroller, gtk_widget_unparent);
    g_clear_pointer(&self->samples, g_ptr_array_unref);
    G_OBJECT_CLASS(limn_welcome_page_parent_class)->dispose(object);
}

static void
limn_welcome_page_class_init(LimnWelcomePageClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_welcome_page_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

// ---- samples

gboolean
limn_welcome_page_open_sample(LimnWelcomePage *self, guint index, guint sentence)
{
    const LimnSample *sample;

    if (index >= self->samples->len)
        return FALSE;
    sample = self->samples->pdata[index];
    limn_workspace_open_sample(self->ws, sample->picture, sample->title,
                               (const char *const *) sample->prompts, sentence);
    return TRUE;
}

void
limn_welcome_page_focus(LimnWelcomePage *self)
{
    gtk_widget_grab_focus(self->open);
}

guint
limn_welcome_page_get_n_samples(LimnWelcomePage *self)
{
    return self->samples->len;
}

static void
card_clicked(GtkButton *button, LimnWelcomePage *self)
{
    guint index = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(button), "limn-sample"));
    guint sentence =
        GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(button), "limn-sentence"));

    limn_welcome_page_open_sample(self, index, sentence);
}

static GtkWidget *
sample_button(LimnWelcomePage *self, guint index, guint sentence, const char *name)
{
    GtkWidget *button = gtk_button_new();

    g_object_set_data(G_OBJECT(button), "limn-sample", GUINT_TO_POINTER(index));
    g_object_set_data(G_OBJECT(button), "limn-sentence", GUINT_TO_POINTER(sentence));
    limn_set_name(button, name, FALSE);
    g_signal_connect(button, "clicked", G_CALLBACK(card_clicked), self);
    return button;
}

static GtkWidget *
make_chips(LimnWelcomePage *self, guint index, const LimnSample *sample)
{
    GtkWidget *chips = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);

    for (guint i = 0; sample->prompts[i] && i < 4; i++) {
        g_autofree char *name =
            g_strdup_printf(_("%s: %s"), sample->title, sample->prompts[i]);
        GtkWidget *chip = sample_button(self, index, i, name);
        GtkWidget *label = limn_label_new(sample->prompts[i], NULL, FALSE);

        gtk_button_set_child(GTK_BUTTON(chip), label);
        gtk_widget_add_css_class(chip, "limn-chip");
        gtk_widget_set_halign(chip, GTK_ALIGN_START);
        gtk_box_append(GTK_BOX(chips), chip);
    }
    return chips;
}

static GtkWidget *
make_card(LimnWelcomePage *self, guint index)
{
    const LimnSample *sample = self->samples->pdata[index];
    g_autofree char *name = g_strdup_printf(_("Open the sample %s"), sample->title);
    GtkWidget *card = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *button = sample_button(self, index, 0, name);
    GtkWidget *face = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

    gtk_widget_add_css_class(card, "limn-card");
    gtk_widget_set_halign(card, GTK_ALIGN_START);
    gtk_widget_add_css_class(button, "limn-card-face");
    gtk_box_append(GTK_BOX(face),
                   limn_thumbnail_new(sample->picture, THUMBNAIL, sample->title));
    gtk_box_append(GTK_BOX(face), limn_label_new(sample->title, "heading", FALSE));
    gtk_button_set_child(GTK_BUTTON(button), face);
    gtk_box_append(GTK_BOX(card), button);
    gtk_box_append(GTK_BOX(card), make_chips(self, index, sample));
    return card;
}

static void
fill_samples(LimnWelcomePage *self)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = limn_data_path("samples", &error);

    if (folder)
        self->samples = limn_samples_list(folder);
    else
        self->samples = g_ptr_array_new();
    for (guint i = 0; i < self->samples->len; i++) {
        gtk_flow_box_insert(GTK_FLOW_BOX(self->cards), make_card(self, i), -1);
        gtk_widget_set_focusable(GTK_WIDGET(gtk_flow_box_get_child_at_index(
                                     GTK_FLOW_BOX(self->cards), (int) i)),
                                 FALSE); // the buttons inside take the focus
    }
    if (self->samples->len == 0)
        gtk_flow_box_insert(
            GTK_FLOW_BOX(self->cards),
            limn_label_new(error ? error->message : _("There are no samples."),
                           "dim-label", TRUE),
            -1);
}

// ---- recent files

static void
recent_clicked(GtkButton *button, LimnWelcomePage *self)
{
    const char *paths[] = {g_object_get_data(G_OBJECT(button), "limn-path"), NULL};

    limn_workspace_open_paths(self->ws, paths);
}

static GtkWidget *
recent_button(LimnWelcomePage *self, const char *path)
{
    GtkWidget *button = gtk_button_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    g_autofree char *name = g_filename_display_basename(path);
    g_autofree char *parent = g_path_get_dirname(path);
    g_autofree char *shown_parent = g_filename_display_name(parent);
    g_autofree char *accessible = g_strdup_printf(_("Open %s"), name);
    gboolean folder = g_file_test(path, G_FILE_TEST_IS_DIR);
    GtkWidget *detail = limn_label_new(shown_parent, "caption", FALSE);

    gtk_label_set_ellipsize(GTK_LABEL(detail), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_add_css_class(detail, "dim-label");
    gtk_box_append(GTK_BOX(texts), limn_label_new(name, NULL, FALSE));
    gtk_box_append(GTK_BOX(texts), detail);
    gtk_box_append(GTK_BOX(box),
                   gtk_image_new_from_icon_name(folder ? "folder-symbolic"
                                                       : "limn-picture-symbolic"));
    gtk_box_append(GTK_BOX(box), texts);
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "flat");
    limn_set_name(button, accessible, FALSE);
    g_object_set_data_full(G_OBJECT(button), "limn-path", g_strdup(path), g_free);
    g_signal_connect(button, "clicked", G_CALLBACK(recent_clicked), self);
    return button;
}

static void
update_recent(LimnWelcomePage *self)
{
    GPtrArray *recent = limn_workspace_get_session(self->ws)->recent;
    GtkWidget *child;

    while ((child = gtk_widget_get_first_child(self->recent)))
        gtk_box_remove(GTK_BOX(self->recent), child);
    for (guint i = 0; i < MIN(recent->len, MAX_RECENT_SHOWN); i++)
        gtk_box_append(GTK_BOX(self->recent), recent_button(self, recent->pdata[i]));
    gtk_widget_set_visible(self->recent_box, recent->len > 0);
}

// ---- families

static void
operation_clicked(GtkButton *button, LimnWelcomePage *self)
{
    limn_workspace_new_study(self->ws,
                             g_object_get_data(G_OBJECT(button), "limn-operation"));
}

static GtkWidget *
operation_button(LimnWelcomePage *self, const LimnOperation *operation)
{
    GtkWidget *button = gtk_button_new();
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *summary = limn_label_new(_(operation->summary), "caption", TRUE);

    gtk_widget_add_css_class(summary, "dim-label");
    gtk_label_set_max_width_chars(GTK_LABEL(summary), 60);
    gtk_box_append(GTK_BOX(texts), limn_label_new(_(operation->title), NULL, FALSE));
    gtk_box_append(GTK_BOX(texts), summary);
    gtk_button_set_child(GTK_BUTTON(button), texts);
    gtk_widget_add_css_class(button, "flat");
    limn_set_name(button, _(operation->title), FALSE);
    g_object_set_data(G_OBJECT(button), "limn-operation", (gpointer) operation->id);
    g_signal_connect(button, "clicked", G_CALLBACK(operation_clicked), self);
    return button;
}

static void
fill_families(LimnWelcomePage *self)
{
    const LimnOperation *const *operations = limn_registry_get();

    for (int family = LIMN_FAMILY_EXPLAIN; family <= LIMN_FAMILY_LANGUAGE; family++) {
        GtkWidget *section = NULL;

        for (gsize i = 0; operations && operations[i]; i++) {
            if (operations[i]->family != (LimnFamily) family)
                continue;
            if (!section)
                section = limn_section_new(limn_family_title((LimnFamily) family));
            gtk_box_append(GTK_BOX(section), operation_button(self, operations[i]));
        }
        if (section)
            gtk_box_append(GTK_BOX(self->families), section);
    }
}

// ---- construction

static GtkWidget *
make_intro(LimnWelcomePage *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *open = gtk_button_new_with_mnemonic(_("_Open a Picture…"));
    GtkWidget *folder = gtk_button_new_with_mnemonic(_("Open a _Folder…"));

    gtk_box_append(GTK_BOX(box), limn_label_new(_("See why a model answered as it did"),
                                                "title-1", TRUE));
    gtk_box_append(
        GTK_BOX(box),
        limn_label_new(
            _("Open a picture, type a sentence, and watch which parts of the picture "
              "and which words make the model say that they match. Pictures, masks, "
              "checkpoints and study folders can be dropped anywhere."),
            "dim-label", TRUE));
    self->open = open;
    gtk_widget_add_css_class(open, "suggested-action");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(open), "win.open");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(folder), "win.open-folder");
    gtk_box_append(GTK_BOX(buttons), open);
    gtk_box_append(GTK_BOX(buttons), folder);
    gtk_widget_add_css_class(buttons, "limn-intro-buttons");
    gtk_box_append(GTK_BOX(box), buttons);
    return box;
}

static void
build(LimnWelcomePage *self)
{
    GtkWidget *content = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    GtkWidget *samples = limn_section_new(_("Try a sample"));

    self->scroller = gtk_scrolled_window_new();
    gtk_widget_add_css_class(content, "limn-page");
    self->cards = gtk_flow_box_new();
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(self->cards), GTK_SELECTION_NONE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(self->cards), 8);
    gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(self->cards), 12);
    gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(self->cards), 12);
    gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(self->cards), TRUE);
    gtk_widget_set_focusable(self->cards, FALSE);
    gtk_box_append(GTK_BOX(samples), self->cards);
    self->recent_box = limn_section_new(_("Recent"));
    self->recent = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(self->recent_box), self->recent);
    self->families = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    gtk_box_append(GTK_BOX(content), make_intro(self));
    gtk_box_append(GTK_BOX(content), samples);
    gtk_box_append(GTK_BOX(content), self->recent_box);
    gtk_box_append(GTK_BOX(content), self->families);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroller), content);
    gtk_widget_set_parent(self->scroller, GTK_WIDGET(self));
}

static void
limn_welcome_page_init(LimnWelcomePage *self)
{
    build(self);
    fill_samples(self);
}

GtkWidget *
limn_welcome_page_new(LimnWorkspace *ws)
{
    LimnWelcomePage *self = g_object_new(LIMN_TYPE_WELCOME_PAGE, NULL);

    self->ws = g_object_ref(ws);
    fill_families(self);
    g_signal_connect_swapped(ws, "recent-changed", G_CALLBACK(update_recent), self);
    update_recent(self);
    return GTK_WIDGET(self);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/panel/parameter-row.h"

#include "engine/base/number.h"
#include "ui/model/document-edit.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define CONTROL_WIDTH 108

struct _LimnParameterRow {
    GtkWidget parent_instance;
    LimnDocument *doc;
    const LimnParameter *parameter;
    GtkWidget *box, *control, *reset;
    gboolean syncing;
};

G_DEFINE_FINAL_TYPE(LimnParameterRow, limn_parameter_row, GTK_TYPE_WIDGET)

static void
limn_parameter_row_dispose(GObject *object)
{
    LimnParameterRow *self = LIMN_PARAMETER_ROW(object);

    g_clear_object(&self->doc);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_parameter_row_parent_class)->dispose(object);
}

static void
limn_parameter_row_class_init(LimnParameterRowClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_parameter_row_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static void
limn_parameter_row_init(LimnParameterRow *self)
{
}

static char *
dup_default(LimnParameterRow *self)
{
    g_autoptr(LimnStudy) study = limn_study_new(limn_document_get_operation(self->doc));
    char *value = limn_study_dup_parameter(study, self->parameter->name);

    return value ? value : g_strdup("");
}

// The value that would be stored; the default is stored as "not set".
static void
store(LimnParameterRow *self, const char *value)
{
    g_autofree char *fallback = dup_default(self);

    if (self->syncing)
        return;
    limn_document_set_parameter(self->doc, self->parameter->name,
                                g_str_equal(value, fallback) ? NULL : value);
}

// ---- controls by type

static void
spin_changed(GtkSpinButton *spin, LimnParameterRow *self)
{
    g_autofree char *value = g_strdup_printf(
        "%" G_GINT64_FORMAT, (gint64) llround(gtk_spin_button_get_value(spin)));

    store(self, value);
}

static GtkWidget *
make_integer(LimnParameterRow *self)
{
    const LimnParameter *parameter = self->parameter;
    GtkWidget *spin = gtk_spin_button_new_with_range(parameter->min, parameter->max, 1);

    gtk_spin_button_set_numeric(GTK_SPIN_BUTTON(spin), TRUE);
    gtk_editable_set_width_chars(GTK_EDITABLE(spin), 5);
    g_signal_connect(spin, "value-changed", G_CALLBACK(spin_changed), self);
    return spin;
}

static gboolean
is_allowed(const LimnParameter *parameter, const char *text)
{
    double number;

    return limn_number_parse(text, &number) && number >= parameter->min &&
           number <= parameter->max;
}

static void
number_changed(GtkEditable *editable, LimnParameterRow *self)
{
    const char *text = gtk_editable_get_text(editable);
    gboolean ok = is_allowed(self->parameter, text);

    if (self->syncing)
        return;
    if (ok)
        gtk_widget_remove_css_class(self->control, "error");
    else
        gtk_widget_add_css_class(self->control, "error");
    gtk_accessible_update_state(
        GTK_ACCESSIBLE(self->control), GTK_ACCESSIBLE_STATE_INVALID,
        ok ? GTK_ACCESSIBLE_INVALID_FALSE : GTK_ACCESSIBLE_INVALID_TRUE, -1);
    if (ok)
        store(self, text);
}

static void
text_changed(GtkEditable *editable, LimnParameterRow *self)
{
    store(self, gtk_editable_get_text(editable));
}

static GtkWidget *
make_entry(LimnParameterRow *self, gboolean number)
{
    GtkWidget *entry = gtk_entry_new();

    gtk_editable_set_width_chars(GTK_EDITABLE(entry), number ? 8 : 12);
    gtk_editable_set_max_width_chars(GTK_EDITABLE(entry), number ? 8 : 12);
    g_signal_connect(entry, "changed",
                     number ? G_CALLBACK(number_changed) : G_CALLBACK(text_changed),
                     self);
    return entry;
}

static const char *const *
choices_of(const LimnParameter *parameter)
{
    static const char *const booleans[] = {"no", "yes", NULL};

    return parameter->choices ? parameter->choices : booleans;
}

static void
choice_selected(GtkDropDown *drop_down, GParamSpec *pspec, LimnParameterRow *self)
{
    guint index = gtk_drop_down_get_selected(drop_down);
    const LimnParameter *parameter = self->parameter;

    if (index == GTK_INVALID_LIST_POSITION)
        return;
    if (parameter->choice_summaries)
        gtk_widget_set_tooltip_text(self->control, _(parameter->choice_summaries[index]));
    store(self, choices_of(parameter)[index]);
}

static gboolean
switch_set(GtkSwitch *widget, gboolean state, LimnParameterRow *self)
{
    store(self, state ? "yes" : "no");
    return FALSE;
}

static GtkWidget *
make_control(LimnParameterRow *self)
{
    GtkWidget *control;

    switch (self->parameter->type) {
    case LIMN_PARAMETER_INT:
        return make_integer(self);
    case LIMN_PARAMETER_FLOAT:
        return make_entry(self, TRUE);
    case LIMN_PARAMETER_TEXT:
        return make_entry(self, FALSE);
    case LIMN_PARAMETER_BOOL:
        control = gtk_switch_new();
        gtk_widget_set_halign(control, GTK_ALIGN_START);
        g_signal_connect(control, "state-set", G_CALLBACK(switch_set), self);
        return control;
    default:
        control = limn_drop_down_new(NULL, choices_of(self->parameter));
        g_signal_connect(control, "notify::selected", G_CALLBACK(choice_selected), self);
        return control;
    }
}

// ---- state

static guint
index_of(const char *const *choices, const char *value)
{
    for (guint i = 0; choices[i]; i++)
        if (g_str_equal(choices[i], value))
            return i;
    return 0;
}

static void
show_number(LimnParameterRow *self, const char *value)
{
    double shown, wanted;

    // a text that reads as the same number stays as it was typed
    if (limn_number_parse(gtk_editable_get_text(GTK_EDITABLE(self->control)), &shown) &&
        limn_number_parse(value, &wanted) && shown == wanted)
        return;
    gtk_editable_set_text(GTK_EDITABLE(self->control), value);
    gtk_widget_remove_css_class(self->control, "error");
}

void
limn_parameter_row_sync(LimnParameterRow *self)
{
    const LimnStudyData *data = limn_document_get_data(self->doc);
    const char *set = limn_pairs_get(data->parameters, self->parameter->name);
    g_autofree char *value = set ? g_strdup(set) : dup_default(self);
    double number;

    self->syncing = TRUE;
    switch (self->parameter->type) {
    case LIMN_PARAMETER_INT:
        if (limn_number_parse(value, &number))
            gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->control), number);
        break;
    case LIMN_PARAMETER_FLOAT:
        show_number(self, value);
        break;
    case LIMN_PARAMETER_TEXT:
        if (!g_str_equal(gtk_editable_get_text(GTK_EDITABLE(self->control)), value))
            gtk_editable_set_text(GTK_EDITABLE(self->control), value);
        break;
    case LIMN_PARAMETER_BOOL:
        gtk_switch_set_active(GTK_SWITCH(self->control), g_str_equal(value, "yes"));
        break;
    default:
        gtk_drop_down_set_selected(GTK_DROP_DOWN(self->control),
                                   index_of(choices_of(self->parameter), value));
    }
    // keeps its place, so that the controls stay aligned
    gtk_widget_set_opacity(self->reset, set ? 1 : 0);
    gtk_widget_set_sensitive(self->reset, set != NULL);
    self->syncing = FALSE;
}

static void
reset_clicked(GtkButton *button, LimnParameterRow *self)
{
    limn_document_set_parameter(self->doc, self->parameter->name, NULL);
}

static char *
describe(const LimnParameter *parameter)
{
    g_autoptr(GString) text = g_string_new(_(parameter->summary));

    if (parameter->type == LIMN_PARAMETER_INT ||
        parameter->type == LIMN_PARAMETER_FLOAT) {
        char min[LIMN_NUMBER_BUFFER], max[LIMN_NUMBER_BUFFER];

        g_string_append_c(text, '\n');
        g_string_append_printf(text, _("From %s to %s."),
                               limn_number_format(min, parameter->min),
                               limn_number_format(max, parameter->max));
    }
    for (guint i = 0; parameter->choice_summaries && choices_of(parameter)[i]; i++)
        g_string_append_printf(text, "\n• %s: %s", choices_of(parameter)[i],
                               _(parameter->choice_summaries[i]));
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
name_control(LimnParameterRow *self, const char *name)
{
    GtkWidget *button = gtk_widget_get_first_child(self->control);

    limn_set_name(self->control, name, FALSE);
    if (GTK_IS_DROP_DOWN(self->control) && button) // it takes the focus
        limn_set_name(button, name, FALSE);
}

static void
build_row(LimnParameterRow *self, const char *title, const char *reset_name)
{
    GtkWidget *label = limn_label_new(title, NULL, FALSE);
    GtkWidget *space = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);

    self->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    self->reset = limn_icon_button_new("edit-clear-symbolic", reset_name, NULL);
    gtk_widget_add_css_class(self->reset, "limn-small");
    g_signal_connect(self->reset, "clicked", G_CALLBACK(reset_clicked), self);
    gtk_box_append(GTK_BOX(self->box), label);
    if (self->parameter->unit) {
        GtkWidget *unit = limn_label_new(_(self->parameter->unit), "caption", FALSE);

        gtk_widget_add_css_class(unit, "dim-label");
        gtk_box_append(GTK_BOX(self->box), unit);
    }
    gtk_widget_set_hexpand(space, TRUE);
    gtk_widget_set_valign(self->control, GTK_ALIGN_CENTER);
    if (self->parameter->type != LIMN_PARAMETER_BOOL)
        gtk_widget_set_size_request(self->control, CONTROL_WIDTH, -1);
    gtk_box_append(GTK_BOX(self->box), space);
    gtk_box_append(GTK_BOX(self->box), self->control);
    gtk_box_append(GTK_BOX(self->box), self->reset);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
}

GtkWidget *
limn_parameter_row_new(LimnDocument *doc, const LimnParameter *parameter)
{
    LimnParameterRow *self = g_object_new(LIMN_TYPE_PARAMETER_ROW, NULL);
    g_autofree char *title = limn_title_from_key(parameter->name);
    g_autofree char *full = parameter->unit
                                ? g_strdup_printf("%s (%s)", title, _(parameter->unit))
                                : g_strdup(title);
    g_autofree char *help = describe(parameter);
    g_autofree char *reset_name = g_strdup_printf(_("Default of %s"), title);

    self->doc = g_object_ref(doc);
    self->parameter = parameter;
    self->syncing = TRUE;
    self->control = make_control(self);
    name_control(self, full);
    build_row(self, title, reset_name);
    gtk_widget_set_tooltip_text(self->box, help);
    limn_parameter_row_sync(self);
    return GTK_WIDGET(self);
}

GtkWidget *
limn_parameter_row_get_control(LimnParameterRow *self)
{
    return self->control;
}

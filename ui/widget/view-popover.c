// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/view-popover.h"

#include "engine/base/number.h"
#include "engine/figure/colormap.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <math.h>

typedef struct {
    const char *label;
    gsize offset; // of a gboolean in LimnStudyView
    gboolean inverted;
} Flag;

static const Flag flags[] = {
    {N_("S_mooth"), G_STRUCT_OFFSET(LimnStudyView, interpolate), FALSE},
    {N_("_Contour lines"), G_STRUCT_OFFSET(LimnStudyView, contours), FALSE},
    {N_("S_igned values"), G_STRUCT_OFFSET(LimnStudyView, signed_values), FALSE},
    {N_("_Leave out extremes (2–98 %)"), G_STRUCT_OFFSET(LimnStudyView, percentile),
     FALSE},
    {N_("Colour _bar"), G_STRUCT_OFFSET(LimnStudyView, hide_colorbar), TRUE},
    {N_("Part that the model _sees"), G_STRUCT_OFFSET(LimnStudyView, hide_crop), TRUE},
    {N_("Stretch dark _pictures"), G_STRUCT_OFFSET(LimnStudyView, picture_data_range),
     FALSE},
};
static const char *const flag_help[] = {
    N_("Bilinear between the patches; otherwise every patch is one cell"),
    N_("Lines of equal value"),
    N_("Negative values as well, where the method has them"),
    N_("The ends that are cut off are marked on the colour bar; used when every pane has "
       "its "
       "own scale"),
    N_("Numbers of the colours"),
    N_("The rectangle of the picture that the map covers"),
    N_("Samples from the smallest to the largest one of the picture; otherwise the range "
       "of "
       "the stored type. Concerns pictures of more than 8 bits."),
};

struct _LimnViewPopover {
    GtkPopover parent_instance;
    LimnDocument *doc;
    gboolean syncing;
    GtkWidget *colormap, *opacity, *scale, *min, *max;
    GtkWidget *checks[G_N_ELEMENTS(flags)];
};

G_DEFINE_FINAL_TYPE(LimnViewPopover, limn_view_popover, GTK_TYPE_POPOVER)

static void
limn_view_popover_dispose(GObject *object)
{
    LimnViewPopover *self = LIMN_VIEW_POPOVER(object);

    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_clear_object(&self->doc);
    G_OBJECT_CLASS(limn_view_popover_parent_class)->dispose(object);
}

static void
limn_view_popover_class_init(LimnViewPopoverClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_view_popover_dispose;
}

// ---- colour maps

GStrv
limn_colormap_titles(gboolean with_default)
{
    gsize n;
    const LimnColormapInfo *list = limn_colormap_list(&n);
    g_autoptr(GStrvBuilder) titles = g_strv_builder_new();

    if (with_default)
        g_strv_builder_add(titles, _("Default"));
    for (gsize i = 0; i < n; i++) {
        g_autofree char *title =
            list[i].class == LIMN_COLORMAP_RAINBOW
                ? g_strdup_printf(_("%s (only to reproduce)"), _(list[i].title))
                : g_strdup(_(list[i].title));

        g_strv_builder_add(titles, title);
    }
    return g_strv_builder_end(titles);
}

guint
limn_colormap_index_of(const char *name, gboolean with_default)
{
    gsize n;
    const LimnColormapInfo *list = limn_colormap_list(&n);

    for (gsize i = 0; name && i < n; i++)
        if (g_str_equal(list[i].name, name))
            return (guint) i + (with_default ? 1 : 0);
    return 0;
}

const char *
limn_colormap_name_at(guint index, gboolean with_default)
{
    gsize n;
    const LimnColormapInfo *list = limn_colormap_list(&n);

    if (with_default && index == 0)
        return NULL;
    index -= with_default ? 1 : 0;
    return index < n ? list[index].name : NULL;
}

// ---- changes

static void
colormap_selected(LimnViewPopover *self)
{
    LimnStudyView *view;

    if (self->syncing || !self->doc)
        return;
    view = limn_document_edit_view(self->doc);
    g_free(view->colormap);
    view->colormap = g_strdup(limn_colormap_name_at(
        gtk_drop_down_get_selected(GTK_DROP_DOWN(self->colormap)), TRUE));
    limn_document_view_changed(self->doc);
}

static void
opacity_changed(LimnViewPopover *self)
{
    if (self->syncing || !self->doc)
        return;
    limn_document_edit_view(self->doc)->opacity =
        gtk_range_get_value(GTK_RANGE(self->opacity)) / 100;
    limn_document_view_changed(self->doc);
}

static void
scale_selected(LimnViewPopover *self)
{
    if (self->syncing || !self->doc)
        return;
    limn_document_edit_view(self->doc)->scale =
        (LimnScaleChoice) gtk_drop_down_get_selected(GTK_DROP_DOWN(self->scale));
    limn_document_view_changed(self->doc);
}

static void
mark_entry(GtkWidget *entry, gboolean valid)
{
    if (valid)
        gtk_widget_remove_css_class(entry, "error");
    else
        gtk_widget_add_css_class(entry, "error");
    gtk_accessible_update_state(
        GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_STATE_INVALID,
        valid ? GTK_ACCESSIBLE_INVALID_FALSE : GTK_ACCESSIBLE_INVALID_TRUE, -1);
}

static void
range_changed(LimnViewPopover *self)
{
    LimnStudyView *view;
    double min, max;
    gboolean min_ok, max_ok;

    if (self->syncing || !self->doc)
        return;
    min_ok = limn_number_parse(gtk_editable_get_text(GTK_EDITABLE(self->min)), &min) &&
             isfinite(min);
    max_ok = limn_number_parse(gtk_editable_get_text(GTK_EDITABLE(self->max)), &max) &&
             isfinite(max) && (!min_ok || max > min);
    mark_entry(self->min, min_ok);
    mark_entry(self->max, max_ok);
    if (!min_ok || !max_ok)
        return;
    view = limn_document_edit_view(self->doc);
    view->range[0] = min;
    view->range[1] = max;
    view->scale = LIMN_SCALE_FIXED;
    limn_document_view_changed(self->doc);
}

static void
flag_toggled(GtkCheckButton *check, LimnViewPopover *self)
{
    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++) {
        gboolean *flag;

        if (self->checks[i] != GTK_WIDGET(check) || self->syncing || !self->doc)
            continue;
        flag = G_STRUCT_MEMBER_P(limn_document_edit_view(self->doc), flags[i].offset);
        *flag = gtk_check_button_get_active(check) != flags[i].inverted;
        limn_document_view_changed(self->doc);
    }
}

// ---- state

static void
set_number(GtkWidget *entry, double value)
{
    char buffer[LIMN_NUMBER_BUFFER];
    double shown;

    if (limn_number_parse(gtk_editable_get_text(GTK_EDITABLE(entry)), &shown) &&
        shown == value)
        return; // "0.10" stays as it was typed
    gtk_editable_set_text(GTK_EDITABLE(entry), limn_number_format(buffer, value));
    mark_entry(entry, TRUE);
}

static void
update_state(LimnViewPopover *self)
{
    const LimnStudyView *view;

    if (!self->doc || self->syncing)
        return;
    self->syncing = TRUE;
    view = limn_document_get_view(self->doc);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->colormap),
                               limn_colormap_index_of(view->colormap, TRUE));
    gtk_range_set_value(GTK_RANGE(self->opacity), view->opacity * 100);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->scale), view->scale);
    set_number(self->min, view->range[0]);
    set_number(self->max, view->range[1]);
    gtk_widget_set_sensitive(self->min, view->scale == LIMN_SCALE_FIXED);
    gtk_widget_set_sensitive(self->max, view->scale == LIMN_SCALE_FIXED);
    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++) {
        const gboolean *flag = G_STRUCT_MEMBER_P(view, flags[i].offset);

        gtk_check_button_set_active(GTK_CHECK_BUTTON(self->checks[i]),
                                    *flag != flags[i].inverted);
    }
    self->syncing = FALSE;
}

// ---- construction

static void
attach(GtkWidget *grid, int row, const char *label, GtkWidget *widget)
{
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_grid_attach(GTK_GRID(grid), limn_label_for(label, widget), 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static GtkWidget *
make_number(LimnViewPopover *self, const char *name)
{
    GtkWidget *entry = gtk_entry_new();

    gtk_editable_set_width_chars(GTK_EDITABLE(entry), 8);
    gtk_editable_set_max_width_chars(GTK_EDITABLE(entry), 8);
    limn_set_name(entry, name, FALSE);
    g_signal_connect_swapped(entry, "changed", G_CALLBACK(range_changed), self);
    return entry;
}

static GtkWidget *
make_grid(LimnViewPopover *self)
{
    const char *scales[] = {_("Every pane its own"), _("One for all panes"),
                            _("As typed"), NULL};
    g_auto(GStrv) colormaps = limn_colormap_titles(TRUE);
    GtkWidget *grid = gtk_grid_new();
    GtkWidget *range = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);

    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    self->colormap = limn_drop_down_new(NULL, (const char *const *) colormaps);
    self->opacity = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 100, 5);
    gtk_scale_set_draw_value(GTK_SCALE(self->opacity), TRUE);
    gtk_scale_set_value_pos(GTK_SCALE(self->opacity), GTK_POS_RIGHT);
    gtk_widget_set_size_request(self->opacity, 180, -1);
    self->scale = limn_drop_down_new(NULL, scales);
    self->min = make_number(self, _("Smallest value"));
    self->max = make_number(self, _("Largest value"));
    gtk_box_append(GTK_BOX(range), self->min);
    gtk_box_append(GTK_BOX(range), gtk_label_new("–"));
    gtk_box_append(GTK_BOX(range), self->max);
    attach(grid, 0, _("Colour _map"), self->colormap);
    attach(grid, 1, _("_Opacity (%)"), self->opacity);
    attach(grid, 2, _("Sc_ale"), self->scale);
    gtk_grid_attach(GTK_GRID(grid), range, 1, 3, 1, 1);
    return grid;
}

static void
limn_view_popover_init(LimnViewPopover *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

    self->syncing = TRUE;
    gtk_box_append(GTK_BOX(box), make_grid(self));
    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++) {
        self->checks[i] = gtk_check_button_new_with_mnemonic(_(flags[i].label));
        gtk_widget_set_tooltip_text(self->checks[i], _(flag_help[i]));
        g_signal_connect(self->checks[i], "toggled", G_CALLBACK(flag_toggled), self);
        gtk_box_append(GTK_BOX(box), self->checks[i]);
    }
    gtk_popover_set_child(GTK_POPOVER(self), box);
    g_signal_connect_swapped(self->colormap, "notify::selected",
                             G_CALLBACK(colormap_selected), self);
    g_signal_connect_swapped(self->opacity, "value-changed", G_CALLBACK(opacity_changed),
                             self);
    g_signal_connect_swapped(self->scale, "notify::selected", G_CALLBACK(scale_selected),
                             self);
    self->syncing = FALSE;
}

GtkWidget *
limn_view_popover_new(void)
{
    return g_object_new(LIMN_TYPE_VIEW_POPOVER, NULL);
}

void
limn_view_popover_set_document(LimnViewPopover *self, LimnDocument *doc)
{
    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_set_object(&self->doc, doc);
    if (doc)
        g_signal_connect_swapped(doc, "view-changed", G_CALLBACK(update_state), self);
    update_state(self);
}

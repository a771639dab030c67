// SPDX-License-Identifier: GPL-3.0-or-later

// What the heat-map view of a pane gets: picture, map, second map, region, settings.

#include "limn-config.h"

#include "engine/base/number.h"
#include "engine/figure/scale.h"
#include "engine/image/image-mask.h"
#include "ui/model/document-edit.h"
#include "ui/widget/pane-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

typedef struct {
    LimnImage *picture;
    LimnArray *map; // owned
    LimnRect rect;
    gboolean is_signed;
    LimnArray *second; // owned
    char *second_title;
} Content;

static void
content_clear(Content *content)
{
    g_clear_pointer(&content->map, limn_array_unref);
    g_clear_pointer(&content->second, limn_array_unref);
    g_clear_pointer(&content->second_title, g_free);
}

static LimnArray *
choose_map(const LimnExplanation *explanation, gboolean want_signed, gboolean *is_signed)
{
    *is_signed = want_signed && explanation->signed_map;
    return *is_signed ? explanation->signed_map : explanation->map;
}

static void
live_content(LimnPane *self, Content *content)
{
    const LimnStudyData *data = limn_document_get_data(self->doc);
    const LimnStudyView *view = limn_document_get_view(self->doc);
    const LimnPaneState *pane = &data->panes[self->index];
    const LimnLiveResult *result = limn_document_get_result(self->doc, self->index);
    const char *text = limn_document_get_pane_text(self->doc, self->index);
    gboolean other_signed;

    content->picture = limn_document_get_picture(self->doc);
    if (!content->picture || !result || result->error || !*text)
        return;
    content->rect = result->rect;
    if (pane->compare == LIMN_COMPARE_DIFFERENCE && result->difference) {
        content->map = limn_array_ref(result->difference);
        content->is_signed = TRUE;
        return;
    }
    content->map = limn_array_ref(
        choose_map(result->explanation, view->signed_values, &content->is_signed));
    if ((pane->compare == LIMN_COMPARE_DIVIDER || pane->compare == LIMN_COMPARE_BLINK) &&
        result->other) {
        content->second =
            limn_array_ref(choose_map(result->other, view->signed_values, &other_signed));
        content->second_title =
            g_strdup_printf("%s · %s", limn_explain_method_title(result->other_method),
                            result->other_text);
    }
}

static LimnArray *
map_of_artifact(LimnArtifact *artifact, gint64 item)
{
    const float *values = limn_artifact_get_map(artifact, item);
    int height, width;
    LimnArray *map;

    limn_artifact_map_size(artifact, &height, &width);
    map = limn_array_new_f32_2d(height, width, NULL);
    if (map)
        memcpy(limn_array_f32(map), values,
               (gsize) height * (gsize) width * sizeof(float));
    return map;
}

static void
heatmap_content(LimnPane *self, LimnArtifact *artifact, gint64 item, Content *content)
{
    gint64 n = limn_artifact_n_maps(artifact);

    item = CLAMP(item, 0, n - 1);
    if (n <= 0)
        return;
    content->picture = artifact->picture;
    content->rect = artifact->rect;
    content->is_signed = artifact->is_signed;
    if (self->map_artifact != artifact || self->map_item != item || !self->map) {
        content->map = map_of_artifact(artifact, item);
        if (self->map_artifact != artifact) {
            g_clear_pointer(&self->map_artifact, limn_artifact_unref);
            self->map_artifact = limn_artifact_ref(artifact);
        }
        self->map_item = item;
    } else {
        content->map = limn_array_ref(self->map); // copied before
    }
    if (artifact->pictures && artifact->pictures->len > 0) { // several maps per picture
        gint64 per_picture = MAX(n / artifact->pictures->len, 1);
        guint index = (guint) MIN(item / per_picture, artifact->pictures->len - 1);

        content->picture = artifact->pictures->pdata[index];
        if (artifact->rects && index < artifact->rects->len)
            content->rect = g_array_index(artifact->rects, LimnRect, index);
    }
}

static void
artifact_content(LimnPane *self, Content *content)
{
    LimnArtifact *artifact = limn_pane_get_artifact(self);
    gint64 item = limn_document_get_data(self->doc)->panes[self->index].item;

    if (!artifact) {
        content->picture = limn_document_get_picture(self->doc);
    } else if (artifact->kind == LIMN_ARTIFACT_HEATMAP) {
        heatmap_content(self, artifact, item, content);
    } else if (artifact->pictures && artifact->pictures->len > 0) {
        content->picture =
            artifact->pictures->pdata[CLAMP(item, 0, artifact->pictures->len - 1)];
    } else {
        content->picture = artifact->picture;
    }
}

// ---- region

static void
sync_region(LimnPane *self, const Content *content)
{
    const LimnStudyData *data = limn_document_get_data(self->doc);
    LimnImage *mask = limn_document_get_mask(self->doc);
    LimnRect box;
    gboolean has = limn_heatmap_view_get_box(self->view, &box);

    if (data->has_box && (!has || memcmp(&box, &data->box, sizeof box) != 0))
        limn_heatmap_view_set_box(self->view, &data->box);
    else if (!data->has_box && has)
        limn_heatmap_view_set_box(self->view, NULL);
    // a mask of another size is not stretched: the panel says so
    if (mask && content->picture &&
        (mask->width != content->picture->width ||
         mask->height != content->picture->height))
        mask = NULL;
    if (mask == self->mask)
        return;
    g_clear_pointer(&self->mask, limn_image_unref);
    self->mask = mask ? limn_image_ref(mask) : NULL;
    limn_heatmap_view_set_mask(self->view, mask);
}

static void
sync_settings(LimnPane *self, gboolean second)
{
    const LimnStudyData *data = limn_document_get_data(self->doc);
    const LimnStudyView *view = limn_document_get_view(self->doc);
    LimnCompare compare = data->panes[self->index].compare;

    limn_heatmap_view_set_colormap(self->view, view->colormap);
    limn_heatmap_view_set_opacity(self->view, view->opacity);
    limn_heatmap_view_set_interpolate(self->view, view->interpolate);
    limn_heatmap_view_set_contours(self->view, view->contours);
    limn_heatmap_view_set_percentile(self->view, view->percentile);
    limn_heatmap_view_set_show_colorbar(self->view, !view->hide_colorbar);
    limn_heatmap_view_set_show_crop(self->view, !view->hide_crop);
    limn_heatmap_view_set_picture_range(
        self->view, view->picture_data_range ? LIMN_RANGE_DATA : LIMN_RANGE_TYPE);
    limn_heatmap_view_set_divider(
        self->view, second && compare == LIMN_COMPARE_DIVIDER ? view->divider : -1);
    limn_heatmap_view_set_blink(self->view, second && compare == LIMN_COMPARE_BLINK);
}

static void
sync_second(LimnPane *self, const Content *content)
{
    if (content->second == self->second)
        return;
    g_clear_pointer(&self->second, limn_array_unref);
    self->second = content->second ? limn_array_ref(content->second) : NULL;
    limn_heatmap_view_set_second_map(self->view, content->second, &content->rect,
                                     content->is_signed, content->second_title);
}

void
limn_pane_sync_map(LimnPane *self)
{
    Content content = {0};
    g_autofree char *title = limn_pane_dup_title(self);

    if (limn_document_get_artifacts(self->doc))
        artifact_content(self, &content);
    else
        live_content(self, &content);
    if (content.picture != self->picture) {
        g_clear_pointer(&self->picture, limn_image_unref);
        self->picture = content.picture ? limn_image_ref(content.picture) : NULL;
        limn_heatmap_view_set_picture(self->view, content.picture);
    }
    if (limn_document_get_artifacts(self->doc) == NULL)
        g_clear_pointer(&self->map_artifact, limn_artifact_unref);
    if (content.map != self->map || content.is_signed != self->is_signed) {
        g_clear_pointer(&self->map, limn_array_unref);
        self->map = content.map ? limn_array_ref(content.map) : NULL;
        self->is_signed = content.is_signed;
        limn_heatmap_view_set_map(self->view, content.map, &content.rect,
                                  content.is_signed);
    }
    sync_second(self, &content);
    // the head says it already, unless two maps share the pane
    limn_heatmap_view_set_title(self->view, content.second ? title : NULL);
    sync_region(self, &content);
    sync_settings(self, content.second != NULL);
    content_clear(&content);
}

// ---- what the user does in the view

static void
view_activated(LimnHeatmapView *view, LimnPane *self)
{
    g_signal_emit_by_name(self, "activated");
}

static void
view_probed(LimnHeatmapView *view, gboolean inside, double x, double y, int row, int col,
            double value, LimnPane *self)
{
    LimnImage *picture = limn_heatmap_view_get_picture(view);
    g_autoptr(GString) text = g_string_new(NULL);

    if (inside && picture) {
        int px = CLAMP((int) floor(x), 0, picture->width - 1);
        int py = CLAMP((int) floor(y), 0, picture->height - 1);
        int channels = limn_pixels_channels(picture->pixels);

        g_string_append_printf(text, _("x %d, y %d"), px, py);
        g_string_append(text, " · ");
        for (int c = 0; c < channels; c++) {
            char buffer[LIMN_NUMBER_BUFFER];
            double sample = limn_image_get_sample(picture, px, py, c);

            g_string_append_printf(text, c ? ", %s" : "%s",
                                   limn_number_format_float(buffer, (float) sample));
        }
        if (row >= 0)
            g_string_append_printf(text, _(" · patch (%d, %d)"), row, col);
    }
    g_signal_emit_by_name(self, "probed", row, col, text->str);
}

static void
cell_clicked(LimnHeatmapView *view, int row, int col, LimnPane *self)
{
    if (self->doc && limn_document_is_live_capable(self->doc))
        limn_document_set_query(self->doc, self->index, row, col);
}

static void
box_changed(LimnHeatmapView *view, LimnPane *self)
{
    LimnRect box;

    if (!self->doc || self->syncing)
        return;
    limn_document_set_box(self->doc, limn_heatmap_view_get_box(view, &box) ? &box : NULL);
}

static void
divider_changed(LimnHeatmapView *view, LimnPane *self)
{
    double divider = limn_heatmap_view_get_divider(view);

    if (!self->doc || self->syncing || divider < 0)
        return;
    limn_document_edit_view(self->doc)->divider = divider;
}

void
limn_pane_connect_view(LimnPane *self)
{
    g_signal_connect(self->view, "activated", G_CALLBACK(view_activated), self);
    g_signal_connect(self->view, "probe", G_CALLBACK(view_probed), self);
    g_signal_connect(self->view, "cell-clicked", G_CALLBACK(cell_clicked), self);
    g_signal_connect(self->view, "box-changed", G_CALLBACK(box_changed), self);
    g_signal_connect(self->view, "divider-changed", G_CALLBACK(divider_changed), self);
}

LimnArtifact *
limn_pane_make_artifact(LimnPane *self, GError **error)
{
    g_autoptr(GPtrArray) maps = g_ptr_array_new();
    g_autofree char *title = limn_pane_dup_title(self);
    const LimnLiveResult *result =
        self->doc ? limn_document_get_result(self->doc, self->index) : NULL;
    const char *labels[] = {title, NULL};
    LimnArtifact *artifact;
    LimnRect rect = {0};

    if (!self->map)
        return NULL;
    if (result)
        rect = result->rect;
    else if (limn_pane_get_artifact(self))
        rect = limn_pane_get_artifact(self)->rect;
    g_ptr_array_add(maps, self->map);
    artifact = limn_artifact_from_maps("map", maps, labels, self->picture, &rect,
                                       self->is_signed, error);
    if (artifact && self->mask)
        artifact->mask = limn_image_ref(self->mask);
    return artifact;
}

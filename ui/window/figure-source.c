// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/figure-source.h"

#include "ui/window/canvas.h"
#include "ui/window/grid-page.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct LimnFigureSource {
    gatomicrefcount refs;
    LimnSourceKind kind;
    LimnArtifact *single;
    GPtrArray *artifacts; // LimnArtifact or NULL
    GStrv rows, columns;
    gboolean shared;
};

const char *
limn_source_title(LimnSourceKind kind)
{
    const char *titles[] = {_("The active pane"), _("All panes"),
                            _("Words of the sentence"), _("Method grid"),
                            _("The whole result")};

    return titles[kind];
}

static void
artifact_unref_or_null(gpointer artifact)
{
    if (artifact)
        limn_artifact_unref(artifact);
}

static LimnArtifact *
words_artifact(LimnDocument *doc)
{
    guint active = limn_document_get_view(doc)->active;
    const LimnLiveResult *result = limn_document_get_result(doc, active);
    LimnArtifact *artifact;
    LimnTextItem *item;

    if (!result || !result->words)
        return NULL;
    // a copy: the source lives longer than the result
    item = limn_text_item_new(result->words->text);
    item->score = result->words->score;
    item->truncated = result->words->truncated;
    item->used_bytes = result->words->used_bytes;
    for (guint i = 0; i < result->words->tokens->len; i++) {
        LimnTextToken token = g_array_index(result->words->tokens, LimnTextToken, i);

        token.piece = g_strdup(token.piece);
        g_array_append_val(item->tokens, token);
    }
    g_array_append_vals(item->words, result->words->words->data,
                        result->words->words->len);
    artifact = limn_artifact_new_text("words");
    g_ptr_array_add(artifact->texts, item);
    return artifact;
}

static GPtrArray *
panes_artifacts(LimnCanvas *canvas)
{
    GPtrArray *artifacts = g_ptr_array_new_with_free_func(artifact_unref_or_null);

    for (guint i = 0; i < limn_canvas_get_n_panes(canvas); i++) {
        LimnPane *pane = limn_canvas_get_pane(canvas, i);
        LimnArtifact *artifact = limn_pane_make_artifact(pane, NULL);

        if (artifact)
            g_ptr_array_add(artifacts, artifact);
    }
    if (artifacts->len < 2)
        g_clear_pointer(&artifacts, g_ptr_array_unref);
    return artifacts;
}

static LimnArtifact *
whole_result(LimnDocument *doc)
{
    const LimnStudyData *data = limn_document_get_data(doc);
    guint active = limn_document_get_view(doc)->active;
    LimnArtifact *artifact =
        limn_document_find_artifact(doc, data->panes[active].artifact);

    return artifact ? limn_artifact_ref(artifact) : NULL;
}

static gboolean
fill(LimnFigureSource *self, LimnWindow *window, LimnDocument *doc)
{
    LimnCanvas *canvas = LIMN_CANVAS(limn_window_get_canvas(window));

    switch (self->kind) {
    case LIMN_SOURCE_PANE:
        if (limn_pane_shows_map(limn_canvas_get_active_pane(canvas)))
            self->single =
                limn_pane_make_artifact(limn_canvas_get_active_pane(canvas), NULL);
        break;
    case LIMN_SOURCE_PANES:
        self->artifacts = panes_artifacts(canvas);
        self->shared = limn_document_get_view(doc)->scale == LIMN_SCALE_SHARED;
        break;
    case LIMN_SOURCE_WORDS:
        self->single = words_artifact(doc);
        break;
    case LIMN_SOURCE_GRID:
        self->artifacts =
            limn_grid_page_make_artifacts(LIMN_GRID_PAGE(limn_canvas_get_grid(canvas)),
                                          &self->rows, &self->columns, &self->shared);
        break;
    default:
        self->single = whole_result(doc);
    }
    return self->single || self->artifacts;
}

LimnFigureSource *
limn_figure_source_new(LimnWindow *window, LimnSourceKind kind)
{
    LimnDocument *doc = limn_window_get_document(window);
    LimnFigureSource *self;

    if (!doc)
        return NULL;
    self = g_new0(LimnFigureSource, 1);
    g_atomic_ref_count_init(&self->refs);
    self->kind = kind;
    if (!fill(self, window, doc))
        g_clear_pointer(&self, limn_figure_source_unref);
    return self;
}

LimnFigureSource *
limn_figure_source_ref(LimnFigureSource *self)
{
    g_atomic_ref_count_inc(&self->refs);
    return self;
}

void
limn_figure_source_unref(LimnFigureSource *self)
{
    if (!self || !g_atomic_ref_count_dec(&self->refs))
        return;
    g_clear_pointer(&self->single, limn_artifact_unref);
    g_clear_pointer(&self->artifacts, g_ptr_array_unref);
    g_strfreev(self->rows);
    g_strfreev(self->columns);
    g_free(self);
}

void
limn_figure_source_init_options(LimnWindow *window, LimnSourceKind kind,
                                LimnFigureOptions *options)
{
    LimnDocument *doc = limn_window_get_document(window);
    LimnCanvas *canvas = LIMN_CANVAS(limn_window_get_canvas(window));
    const LimnStudyView *view = doc ? limn_document_get_view(doc) : NULL;
    guint n = limn_canvas_get_n_panes(canvas);

    limn_figure_options_init(options);
    options->show_caption = TRUE;
    options->show_colorbar = TRUE;
    if (kind == LIMN_SOURCE_PANES || kind == LIMN_SOURCE_GRID)
        options->width_mm = 174;
    if (!view)
        return;
    options->colormap = view->colormap;
    options->opacity = view->opacity;
    options->interpolate = view->interpolate;
    options->contours = view->contours;
    options->percentile = view->percentile && view->scale == LIMN_SCALE_AUTO;
    options->show_mask = limn_document_get_mask(doc) != NULL;
    // the range on screen, where it is not simply the map's own
    if (view->scale == LIMN_SCALE_FIXED ||
        (view->scale == LIMN_SCALE_SHARED && n > 1 && kind == LIMN_SOURCE_PANE)) {
        options->has_range = TRUE;
        limn_heatmap_view_get_shown_range(
            limn_pane_get_view(limn_canvas_get_active_pane(canvas)), &options->range[0],
            &options->range[1]);
    }
}

LimnFigure *
limn_figure_source_make(LimnFigureSource *self, const LimnFigureOptions *options,
                        GError **error)
{
    LimnFigureOptions copy = *options;

    if (self->artifacts) {
        copy.item = 0;
        return limn_figure_new_grid(self->artifacts, (const char *const *) self->rows,
                                    (const char *const *) self->columns, self->shared,
                                    &copy, error);
    }
    copy.item = self->kind == LIMN_SOURCE_RESULT ? -1 : 0;
    return limn_figure_new(self->single, &copy, error);
}

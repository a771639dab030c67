// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/study-scenes.h"

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/base/rng.h"

#include <math.h>
#include <string.h>

#define STREAM_ORDER ((guint64) 0x0d << 40)

int
limn_study_read_numbers(LimnRun *run, const char *parameter, double *out, int max,
                        GError **error)
{
    const char *text = limn_run_get_text(run, parameter);
    g_auto(GStrv) parts = g_strsplit(text ? text : "", ",", -1);
    int n = (int) g_strv_length(parts);
    for (int i = 0; i < n; i++) {
        if (i >= max || !limn_number_parse(parts[i], &out[i]) || !isfinite(out[i])) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                        "%s=%s: not a list of numbers (expected at most %d, separated by "
                        "commas)",
                        parameter, text, max);
            return -1;
        }
    }
    return n;
}

static gboolean
read_chances(LimnRun *run, LimnSceneOptions *options, GError **error)
{
    double chance[LIMN_SCENE_MAX_OBJECTS] = {0};
    int n =
        limn_study_read_numbers(run, "objects", chance, LIMN_SCENE_MAX_OBJECTS, error);
    if (n < 0) {
        return FALSE;
    }
    double total = 0;
    for (int i = 0; i < n; i++) {
        total += chance[i] < 0 ? -INFINITY : chance[i];
    }
    if (n > 0 && !(total > 0)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "objects=%s: chances are not negative and not all zero",
                    limn_run_get_text(run, "objects"));
        return FALSE;
    }
    for (int i = 0; n > 0 && i < LIMN_SCENE_MAX_OBJECTS; i++) {
        options->chance[i] = chance[i];
    }
    return TRUE;
}

// "28,84,26,60": smallest and largest side for one object, for two objects, ...
static gboolean
read_sizes(LimnRun *run, LimnSceneOptions *options, GError **error)
{
    double sides[2 * LIMN_SCENE_MAX_OBJECTS];
    int n =
        limn_study_read_numbers(run, "sizes", sides, 2 * LIMN_SCENE_MAX_OBJECTS, error);
    if (n < 0) {
        return FALSE;
    }
    for (int i = 0; i < n; i += 2) {
        if (n % 2 != 0 || sides[i] < 1 || sides[i + 1] < sides[i] ||
            sides[i + 1] > options->size) {
            g_set_error(
                error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "sizes=%s: not pairs of a smallest and a largest side (expected 1 "
                "to %d pixels)",
                limn_run_get_text(run, "sizes"), options->size);
            return FALSE;
        }
        options->min_size[i / 2] = (int) sides[i];
        options->max_size[i / 2] = (int) sides[i + 1];
    }
    return TRUE;
}

// Bits of the styles named, separated by commas; `all` for an empty list.
static gboolean
read_styles(LimnRun *run, const char *parameter, LimnDrawings *drawings, guint64 all,
            guint64 *out, GError **error)
{
    const char *text = limn_run_get_text(run, parameter);
    *out = text && *text ? 0 : all;
    g_auto(GStrv) parts = g_strsplit(text ? text : "", ",", -1);
    for (guint i = 0; parts[i] != NULL && text && *text; i++) {
        g_strstrip(parts[i]);
        gboolean found = FALSE;
        g_autoptr(GString) known = g_string_new(NULL);
        for (guint s = 0; s < limn_drawings_n_styles(drawings); s++) {
            const char *style = limn_drawings_get_style(drawings, s);
            g_string_append_printf(known, "%s%s", s ? ", " : "", style);
            if (strcmp(style, parts[i]) == 0) {
                *out |= (guint64) 1 << s;
                found = TRUE;
            }
        }
        if (!found) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                        "%s=%s: there is no style '%s' (there are: %s)", parameter, text,
                        parts[i], known->str);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_held_names(LimnRun *run, LimnStudyScenes *scenes, gboolean *held, GError **error)
{
    const char *text = limn_run_get_text(run, "held-out-names");
    g_auto(GStrv) parts = g_strsplit(text ? text : "", ",", -1);
    for (guint i = 0; parts[i] != NULL && text && *text; i++) {
        g_strstrip(parts[i]);
        int name = limn_drawings_find(scenes->drawings, parts[i]);
        if (name < 0) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                        "held-out-names: there is no drawing of '%s'", parts[i]);
            return FALSE;
        }
        held[name] = TRUE;
    }
    return TRUE;
}

static gboolean
is_drawn(LimnDrawings *drawings, guint name, guint64 styles)
{
    for (guint s = 0; s < limn_drawings_n_styles(drawings); s++) {
        if ((styles >> s & 1) && limn_drawings_has(drawings, name, s)) {
            return TRUE;
        }
    }
    return FALSE;
}

// In an order drawn from the seed, common names first: the order in which a growing pool
// takes them up.
static gboolean
choose_names(LimnRun *run, LimnStudyScenes *scenes, GError **error)
{
    guint n = limn_drawings_n_names(scenes->drawings);
    g_autofree gboolean *held = g_new0(gboolean, n);
    if (!read_held_names(run, scenes, held, error)) {
        return FALSE;
    }
    gboolean common_only = limn_run_get_choice(run, "names") == 1;
    g_autofree guint32 *order = g_new(guint32, n);
    LimnRng rng = limn_rng_make(limn_run_get_seed(run), STREAM_ORDER);
    limn_rng_permutation(&rng, n, order);
    scenes->names = g_new(guint32, n);
    scenes->held_names = g_new(guint32, n);
    for (int rare = 0; rare < 2; rare++) {
        for (guint i = 0; i < n; i++) {
            guint name = order[i];
            if (limn_drawings_is_common(scenes->drawings, name) == (rare == 1) ||
                (rare == 1 && common_only) ||
                !is_drawn(scenes->drawings, name, scenes->styles)) {
                continue;
            }
            if (held[name]) {
                scenes->held_names[scenes->n_held_names++] = name;
            } else {
                scenes->names[scenes->n_names++] = name;
            }
        }
        if (rare == 0) {
            scenes->n_common = scenes->n_names;
        }
    }
    if (scenes->n_names == 0) {
        g_set_error(
            error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
            "no name is left: the chosen styles have no drawing of any that is not "
            "held out");
        return FALSE;
    }
    scenes->options.names = scenes->names;
    scenes->options.n_names = scenes->n_names;
    return TRUE;
}

static LimnDrawings *
load_drawings(LimnRun *run, GError **error)
{
    const char *const *icons = limn_run_get_input_list(run, "icons");
    if (icons == NULL || icons[0] == NULL) {
        if (limn_run_get_input(run, "concepts") != NULL) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                        "concepts=: names the drawings of icon sets, and there are none "
                        "(expected icons= as well)");
            return NULL;
        }
        return limn_drawings_new_shapes(error);
    }
    return limn_drawings_load_icons(icons, limn_run_get_input(run, "concepts"),
                                    limn_run_get_job(run), error);
}

gboolean
limn_study_scenes_read(LimnRun *run, LimnStudyScenes *scenes, GError **error)
{
    *scenes = (LimnStudyScenes){0};
    scenes->drawings = load_drawings(run, error);
    if (scenes->drawings == NULL) {
        return FALSE;
    }
    LimnSceneOptions *options = &scenes->options;
    limn_scene_options_init(options, (int) limn_run_get_int(run, "size"));
    options->background = (LimnBackground) limn_run_get_choice(run, "background");
    options->augment = limn_run_get_float(run, "augment");
    guint n_styles = limn_drawings_n_styles(scenes->drawings);
    guint64 all = n_styles >= 64 ? G_MAXUINT64 : ((guint64) 1 << n_styles) - 1;
    if (!read_chances(run, options, error) || !read_sizes(run, options, error) ||
        !read_styles(run, "styles", scenes->drawings, all, &scenes->styles, error) ||
        !read_styles(run, "held-out-styles", scenes->drawings, 0, &scenes->held_styles,
                     error)) {
        return FALSE;
    }
    scenes->styles &= ~scenes->held_styles;
    if (scenes->styles == 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "held-out-styles=%s: no style is left to draw",
                    limn_run_get_text(run, "held-out-styles"));
        return FALSE;
    }
    options->styles = scenes->styles;
    return choose_names(run, scenes, error) &&
           limn_drawings_render(scenes->drawings, scenes->styles | scenes->held_styles,
                                limn_run_get_job(run), error);
}

void
limn_study_scenes_clear(LimnStudyScenes *scenes)
{
    g_clear_pointer(&scenes->drawings, limn_drawings_unref);
    g_clear_pointer(&scenes->names, g_free);
    g_clear_pointer(&scenes->held_names, g_free);
}

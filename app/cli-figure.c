// SPDX-License-Identifier: GPL-3.0-or-later

// limn-cli figure.

#include "limn-config.h"

#include "app/cli.h"
#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/figure/colormap.h"
#include "engine/figure/figure.h"
#include "engine/io/study-folder.h"
#include "engine/study/caption.h"
#include "engine/study/suggest.h"

#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>

// ---- options

static gboolean
parse_range(const LimnCliArguments *arguments, LimnFigureOptions *options, GError **error)
{
    const char *text = limn_cli_get(arguments, "range");
    if (text == NULL) {
        return TRUE;
    }
    const char *comma = strchr(text, ',');
    g_autofree char *first =
        comma != NULL ? g_strndup(text, (gsize) (comma - text)) : NULL;
    double *range = options->range;
    if (first == NULL || !limn_number_parse(first, &range[0]) ||
        !limn_number_parse(comma + 1, &range[1]) || !(range[0] < range[1])) {
        g_autofree char *shown = limn_display_path(text);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "--range %s: not a usable value (expected MIN,MAX with MIN < MAX, "
                    "for example 0,1)",
                    shown);
        return FALSE;
    }
    options->has_range = TRUE;
    return TRUE;
}

static gboolean
parse_colormap(const LimnCliArguments *arguments, LimnFigureOptions *options,
               GError **error)
{
    const char *name = limn_cli_get(arguments, "colormap");
    if (name == NULL) {
        return TRUE;
    }
    if (limn_colormap_find(name) != NULL) {
        options->colormap = name;
        return TRUE;
    }
    gsize n = 0;
    const LimnColormapInfo *list = limn_colormap_list(&n);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (gsize i = 0; i < n; i++) {
        g_strv_builder_add(builder, list[i].name);
    }
    g_auto(GStrv) names = g_strv_builder_end(builder);
    g_autofree char *allowed = limn_describe_allowed(name, (const char *const *) names);
    g_autofree char *shown = limn_display_path(name);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "--colormap %s: there is no such colour map (%s)", shown, allowed);
    return FALSE;
}

static gboolean
parse_options(const LimnCliArguments *arguments, LimnFigureOptions *options,
              GError **error)
{
    gint64 item = options->item;
    if (!limn_cli_get_int(arguments, "item", 0, G_MAXINT32, &item, error) ||
        !limn_cli_get_double(arguments, "width-mm", 10, 2000, &options->width_mm,
                             error) ||
        !limn_cli_get_double(arguments, "dpi", 10, 4800, &options->dpi, error) ||
        !parse_colormap(arguments, options, error) ||
        !parse_range(arguments, options, error)) {
        return FALSE;
    }
    options->item = (int) item;
    options->text_as_outlines = limn_cli_has(arguments, "outlines");
    return TRUE;
}

static gboolean
check_extension(const char *out, GError **error)
{
    static const char *const known[] = {".pdf", ".svg", ".png"};
    for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
        gsize length = strlen(out);
        if (length > 4 && g_ascii_strcasecmp(out + length - 4, known[i]) == 0) {
            return TRUE;
        }
    }
    return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, out,
                               "the format of the figure is not known (expected a name "
                               "that ends in .pdf, .svg or .png)");
}

static gboolean
is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

// A figure replaces an older one, but no file of a study and none that it was made from.
static gboolean
check_target(const LimnStudy *study, const char *path, GError **error)
{
    if (limn_study_folder_owns(path)) {
        return limn_error_set_file(
            error, LIMN_ERROR_ARGUMENT, path,
            "is a file of the study there (expected another name)");
    }
    for (guint i = 0; i < study->inputs->len; i++) {
        const LimnStudyInput *input = g_ptr_array_index(study->inputs, i);
        if (limn_input_is_path(
                limn_operation_find_input(study->operation, input->name)) &&
            is_same_file(input->value, path)) {
            return limn_error_set_file(
                error, LIMN_ERROR_ARGUMENT, path,
                "is the input '%s' of the study (expected another name)", input->name);
        }
    }
    return TRUE;
}

// The numbers beside the figure have its name and another extension.
static gboolean
check_targets(const LimnStudy *study, const char *out, gboolean data, GError **error)
{
    static const char *const extensions[] = {".npy", ".csv"};
    if (!check_target(study, out, error)) {
        return FALSE;
    }
    for (guint i = 0; data && i < G_N_ELEMENTS(extensions); i++) {
        const char *dot = strrchr(out, '.');
        g_autofree char *stem = g_strndup(out, (gsize) (dot - out));
        g_autofree char *path = g_strconcat(stem, extensions[i], NULL);
        if (!check_target(study, path, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

// ---- which artifact, and how

static LimnFigureLayout
parse_layout(const char *name)
{
    static const struct {
        const char *name;
        LimnFigureLayout layout;
    } layouts[] = {
        {"overlay", LIMN_LAYOUT_OVERLAY}, {"map", LIMN_LAYOUT_MAP},
        {"words", LIMN_LAYOUT_WORDS},     {"stack", LIMN_LAYOUT_STACK},
        {"grid", LIMN_LAYOUT_GRID},       {"bars", LIMN_LAYOUT_BARS},
        {"curve", LIMN_LAYOUT_CURVE},     {"table", LIMN_LAYOUT_TABLE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(layouts); i++) {
        if (g_strcmp0(layouts[i].name, name) == 0) {
            return layouts[i].layout;
        }
    }
    return LIMN_LAYOUT_AUTO;
}

static LimnArtifact *
find_artifact(const LimnStudyFolder *folder, const char *name)
{
    for (guint i = 0; i < folder->artifacts->len; i++) {
        LimnArtifact *artifact = g_ptr_array_index(folder->artifacts, i);
        if (strcmp(artifact->name, name) == 0) {
            return artifact;
        }
    }
    return NULL;
}

static LimnArtifact *
choose_named(const LimnStudyFolder *folder, const char *name, GError **error)
{
    LimnArtifact *artifact = find_artifact(folder, name);
    if (artifact != NULL) {
        return artifact;
    }
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (guint i = 0; i < folder->artifacts->len; i++) {
        const LimnArtifact *other = g_ptr_array_index(folder->artifacts, i);
        g_strv_builder_add(builder, other->name);
    }
    g_auto(GStrv) names = g_strv_builder_end(builder);
    g_autofree char *allowed = limn_describe_allowed(name, (const char *const *) names);
    g_autofree char *shown = limn_display_path(name);
    limn_error_set_file(error, LIMN_ERROR_ARGUMENT, folder->path,
                        "the study has no artifact '%s' (%s)", shown, allowed);
    return NULL;
}

// The one asked for; else the one of the operation's default figure, with its layout;
// else the first.
static LimnArtifact *
choose_artifact(const LimnStudyFolder *folder, const char *name,
                LimnFigureOptions *options, GError **error)
{
    const LimnFigureDefault *figure = folder->study->operation->figure;
    if (folder->artifacts->len == 0) {
        limn_error_set_file(error, LIMN_ERROR_MISMATCH, folder->path,
                            "the study has no artifacts to draw");
        return NULL;
    }
    if (name != NULL) {
        LimnArtifact *artifact = choose_named(folder, name, error);
        if (artifact != NULL && figure != NULL && strcmp(figure->artifact, name) == 0) {
            options->layout = parse_layout(figure->layout);
        }
        return artifact;
    }
    LimnArtifact *artifact =
        figure != NULL ? find_artifact(folder, figure->artifact) : NULL;
    if (artifact == NULL) {
        return g_ptr_array_index(folder->artifacts, 0);
    }
    options->layout = parse_layout(figure->layout);
    return artifact;
}

static gboolean
draw(const LimnCliArguments *arguments, const char *directory, const char *out,
     LimnJob *job, GError **error)
{
    LimnFigureOptions options;
    limn_figure_options_init(&options);
    if (!check_extension(out, error) || !parse_options(arguments, &options, error)) {
        return FALSE;
    }
    g_autoptr(LimnStudyFolder) folder = limn_study_folder_load(directory, job, error);
    if (folder == NULL) {
        return FALSE;
    }
    gboolean data = limn_cli_has(arguments, "data");
    if (!check_targets(folder->study, out, data, error)) {
        return FALSE;
    }
    LimnArtifact *artifact =
        choose_artifact(folder, limn_cli_get(arguments, "artifact"), &options, error);
    if (artifact == NULL) {
        return FALSE;
    }
    const LimnFigureDefault *figure = folder->study->operation->figure;
    g_autofree char *caption = NULL;
    if (figure != NULL && figure->caption != NULL) {
        caption =
            limn_study_expand_caption(folder->study, folder->scalars, figure->caption);
        options.caption = caption;
    }
    g_autoptr(LimnFigure) drawn = limn_figure_new(artifact, &options, error);
    return drawn != NULL && limn_job_check(job, error) &&
           limn_figure_save(drawn, out, error) &&
           (!data || limn_figure_save_data(drawn, out, error));
}

static int
run_figure(const LimnCliArguments *arguments)
{
    g_autoptr(GError) error = NULL;
    const char *out = limn_cli_get(arguments, "out");
    if (arguments->positionals->len != 1) {
        return limn_cli_usage_error(_("figure: expected the folder of one study"));
    }
    if (out == NULL || out[0] == '\0') {
        return limn_cli_usage_error(_("figure: the output file is missing (expected "
                                      "--out FILE.pdf, .svg or .png)"));
    }
    LimnJob *job = limn_cli_job_begin_silent();
    gboolean good =
        draw(arguments, g_ptr_array_index(arguments->positionals, 0), out, job, &error);
    limn_cli_job_end();
    limn_job_unref(job);
    return good ? 0 : limn_cli_fail(error);
}

static const LimnCliOption figure_options[] = {
    {"out", "FILE", N_("figure to write: .pdf, .svg or .png")},
    {"artifact", "NAME", N_("what to draw (default: the main result)")},
    {"item", "I", N_("which map, picture or text, from 0 (default: all)")},
    {"width-mm", "MM", N_("width in millimetres (default 84)")},
    {"dpi", "N", N_("dots per inch of a PNG (default 300)")},
    {"colormap", "NAME", N_("colour map (default: by kind)")},
    {"range", "MIN,MAX", N_("range of the colours (default: of the data)")},
    {"outlines", NULL, N_("text as outlines instead of fonts")},
    {"data", NULL, N_("the numbers beside it, as .csv or .npy")},
    {NULL, NULL, NULL},
};

const LimnCliVerb limn_cli_figure = {
    .name = "figure",
    .usage = "DIR --out FILE.{pdf,svg,png}",
    .summary = N_("Draw a result of a study as a figure for publication."),
    .options = figure_options,
    .run = run_figure,
};

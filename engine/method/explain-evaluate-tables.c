// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/method/explain-evaluate.h"

#include <math.h>
#include <string.h>

void
limn_evaluate_scores_init(LimnEvaluateScores *scores)
{
    LimnTable *table = limn_table_new();
    scores->table = table;
    scores->picture = limn_table_add_column(table, "picture", FALSE);
    scores->target = limn_table_add_column(table, "target", FALSE);
    scores->value = limn_table_add_column(table, "value", TRUE);
    scores->cosine = limn_table_add_column(table, "cosine", TRUE);
    scores->object = limn_table_add_column(table, "object_share", TRUE);
    scores->pointing = limn_table_add_column(table, "pointing", TRUE);
    scores->energy = limn_table_add_column(table, "energy", TRUE);
    scores->iou = limn_table_add_column(table, "iou", TRUE);
    scores->iou_mean = limn_table_add_column(table, "iou_mean", TRUE);
    scores->accuracy = limn_table_add_column(table, "pixel_accuracy", TRUE);
    scores->precision = limn_table_add_column(table, "average_precision", TRUE);
    scores->deletion = limn_table_add_column(table, "deletion_area", TRUE);
    scores->insertion = limn_table_add_column(table, "insertion_area", TRUE);
}

void
limn_evaluate_curves_init(LimnEvaluateCurves *curves)
{
    LimnTable *table = limn_table_new();
    curves->table = table;
    curves->picture = limn_table_add_column(table, "picture", FALSE);
    curves->target = limn_table_add_column(table, "target", FALSE);
    curves->curve = limn_table_add_column(table, "curve", FALSE);
    curves->point = limn_table_add_column(table, "point", TRUE);
    curves->fraction = limn_table_add_column(table, "fraction", TRUE);
    curves->cosine = limn_table_add_column(table, "cosine", TRUE);
    curves->probability = limn_table_add_column(table, "probability", TRUE);
    curves->top1 = limn_table_add_column(table, "top1", TRUE);
    curves->top5 = limn_table_add_column(table, "top5", TRUE);
    curves->top10 = limn_table_add_column(table, "top10", TRUE);
}

void
limn_evaluate_scores_add(LimnEvaluateScores *scores, const char *picture,
                         const char *target, gint64 value, double cosine,
                         const LimnMapScores *map, double deletion, double insertion)
{
    gboolean object = map != NULL && map->n_object > 0;
    limn_column_add_string(scores->picture, picture);
    limn_column_add_string(scores->target, target);
    limn_column_add_number(scores->value, value >= 0 ? (double) value : NAN);
    limn_column_add_number(scores->cosine, cosine);
    limn_column_add_number(scores->object,
                           map != NULL && map->n_counted > 0
                               ? (double) map->n_object / (double) map->n_counted
                               : NAN);
    limn_column_add_number(scores->pointing, object ? map->pointing_hit : NAN);
    limn_column_add_number(scores->energy, map != NULL ? map->energy : NAN);
    limn_column_add_number(scores->iou, object ? map->iou_threshold : NAN);
    limn_column_add_number(scores->iou_mean, object ? map->iou_mean : NAN);
    limn_column_add_number(scores->accuracy, map != NULL ? map->pixel_accuracy : NAN);
    limn_column_add_number(scores->precision, map != NULL ? map->average_precision : NAN);
    limn_column_add_number(scores->deletion, deletion);
    limn_column_add_number(scores->insertion, insertion);
}

void
limn_evaluate_curves_add(LimnEvaluateCurves *curves, const char *picture,
                         const char *target, const char *curve,
                         const LimnCurvePoint *points, int n)
{
    for (int i = 0; i < n; i++) {
        limn_column_add_string(curves->picture, picture);
        limn_column_add_string(curves->target, target);
        limn_column_add_string(curves->curve, curve);
        limn_column_add_number(curves->point, i);
        limn_column_add_number(curves->fraction, points[i].fraction);
        limn_column_add_number(curves->cosine, points[i].cosine);
        limn_column_add_number(curves->probability, points[i].probability);
        limn_column_add_number(curves->top1, points[i].rank < 1);
        limn_column_add_number(curves->top5, points[i].rank < 5);
        limn_column_add_number(curves->top10, points[i].rank < 10);
    }
}

// ---- summary

static const LimnColumn *
find_column(const LimnTable *table, const char *name)
{
    for (guint i = 0; i < table->columns->len; i++) {
        const LimnColumn *column = g_ptr_array_index(table->columns, i);
        if (strcmp(column->name, name) == 0) {
            return column;
        }
    }
    return NULL;
}

static double
number(const LimnColumn *column, guint row)
{
    return g_array_index(column->numbers, double, row);
}

// Mean of what is defined; NaN when nothing is.
static double
column_mean(const LimnColumn *column)
{
    double sum = 0;
    guint n = 0;
    for (guint row = 0; row < column->numbers->len; row++) {
        double value = number(column, row);
        if (!isnan(value)) {
            sum += value;
            n++;
        }
    }
    return n > 0 ? sum / n : NAN;
}

static void
summarise_scores(LimnRun *run, const LimnTable *table)
{
    static const char *const names[] = {
        "cosine", "object_share", "pointing",       "energy",
        "iou",    "iou_mean",     "pixel_accuracy", "average_precision"};
    limn_run_add_scalar(run, "targets", limn_table_n_rows(table));
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        const LimnColumn *column = find_column(table, names[i]);
        double mean = column != NULL ? column_mean(column) : NAN;
        if (!isnan(mean)) {
            limn_run_add_scalar(run, names[i], mean);
        }
    }
}

static const char *const measures[] = {"cosine", "probability", "top1", "top5", "top10"};

// Mean of column `name` over the rows of one curve, point by point.
static void
mean_curve(const LimnTable *table, const char *curve, const char *name, double *out,
           guint n_points)
{
    const LimnColumn *kinds = find_column(table, "curve");
    const LimnColumn *points = find_column(table, "point");
    const LimnColumn *values = find_column(table, name);
    g_autofree guint *counts = g_new0(guint, MAX(n_points, 1));
    memset(out, 0, n_points * sizeof *out);
    for (guint row = 0; row < limn_table_n_rows(table); row++) {
        guint point = (guint) number(points, row);
        if (point < n_points &&
            g_strcmp0(g_ptr_array_index(kinds->strings, row), curve) == 0) {
            out[point] += number(values, row);
            counts[point]++;
        }
    }
    for (guint i = 0; i < n_points; i++) {
        out[i] = counts[i] > 0 ? out[i] / counts[i] : NAN;
    }
}

static guint
count_points(const LimnTable *table)
{
    const LimnColumn *points = find_column(table, "point");
    guint n = 0;
    for (guint row = 0; row < limn_table_n_rows(table); row++) {
        n = MAX(n, (guint) number(points, row) + 1);
    }
    return n;
}

static void
summarise_curve(LimnRun *run, const LimnTable *table, const char *curve,
                const char *title)
{
    guint n = count_points(table);
    LimnTable *means = limn_table_new();
    g_autofree double *values = g_new(double, MAX(n, 1));
    LimnColumn *fraction = limn_table_add_column(means, "fraction", TRUE);
    mean_curve(table, curve, "fraction", values, n);
    for (guint i = 0; i < n; i++) {
        limn_column_add_number(fraction, values[i]);
    }
    for (guint m = 0; m < G_N_ELEMENTS(measures); m++) {
        LimnColumn *column = limn_table_add_column(means, measures[m], TRUE);
        mean_curve(table, curve, measures[m], values, n);
        for (guint i = 0; i < n; i++) {
            limn_column_add_number(column, values[i]);
        }
        g_autofree char *name = g_strdup_printf("%s_area_%s", curve, measures[m]);
        limn_run_add_scalar(run, name, limn_curve_area(values, n));
    }
    LimnArtifact *artifact = limn_artifact_new_series(curve, means);
    artifact->title = g_strdup(title);
    limn_run_add_artifact(run, artifact);
}

gboolean
limn_evaluate_summarise(LimnRun *run, GError **error)
{
    const LimnArtifact *scores = limn_run_find_artifact(run, "scores");
    const LimnArtifact *curves = limn_run_find_artifact(run, "curves");
    if (scores != NULL) {
        summarise_scores(run, scores->table);
    }
    if (curves != NULL && limn_table_n_rows(curves->table) > 0) {
        summarise_curve(run, curves->table, "deletion", "Deletion");
        summarise_curve(run, curves->table, "insertion", "Insertion");
    }
    return TRUE;
}

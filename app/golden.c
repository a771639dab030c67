// SPDX-License-Identifier: GPL-3.0-or-later

#include "golden.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/file.h"

struct LimnGolden {
    LimnJob *job;
    char *name; // of the case
    guint passed, failed, skipped;
};

LimnGolden *
limn_golden_new(void)
{
    LimnGolden *golden = g_new0(LimnGolden, 1);
    golden->job = limn_job_new();
    limn_job_set_threads(golden->job, 0);
    return golden;
}

void
limn_golden_free(LimnGolden *golden)
{
    if (golden != NULL) {
        limn_job_unref(golden->job);
        g_free(golden->name);
        g_free(golden);
    }
}

LimnJob *
limn_golden_get_job(LimnGolden *golden)
{
    return golden->job;
}

int
limn_golden_finish(LimnGolden *golden)
{
    printf("%u passed, %u failed\n", golden->passed, golden->failed);
    return golden->passed > 0 && golden->failed == 0 && golden->skipped == 0 ? 0 : 1;
}

void
limn_golden_begin(LimnGolden *golden, const char *name)
{
    g_free(golden->name);
    golden->name = g_strdup(name);
}

static void
print_name(const LimnGolden *golden, const char *name)
{
    if (golden->name != NULL) {
        printf("%s/", golden->name);
    }
    fputs(name, stdout);
}

static void
describe_tolerance(LimnTolerance t, char *text, gsize size)
{
    if (t.kind == LIMN_TOLERANCE_EXACT) {
        g_strlcpy(text, "exact", size);
    } else if (t.kind == LIMN_TOLERANCE_MAX) {
        g_snprintf(text, size, "max %g", t.r);
    } else if (t.a == 0) {
        g_snprintf(text, size, "rel %g", t.r);
    } else if (t.r == 0) {
        g_snprintf(text, size, "abs %g", t.a);
    } else {
        g_snprintf(text, size, "abs %g rel %g", t.a, t.r);
    }
}

static gboolean
report(LimnGolden *golden, const char *name, double absolute, double relative,
       LimnTolerance tolerance, gboolean right)
{
    char text[64];
    describe_tolerance(tolerance, text, sizeof text);
    print_name(golden, name);
    printf("  abs %.3g  rel %.3g  tol %s  %s\n", absolute, relative, text,
           right ? "ok" : "FAIL");
    golden->passed += right;
    golden->failed += !right;
    return right;
}

void
limn_golden_fail(LimnGolden *golden, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    print_name(golden, name);
    printf("  %s  FAIL\n", message);
    golden->failed++;
}

void
limn_golden_fail_error(LimnGolden *golden, const char *name, GError **error)
{
    limn_golden_fail(golden, name, "%s",
                     *error != NULL ? (*error)->message : "no result");
    g_clear_error(error);
}

void
limn_golden_skip(LimnGolden *golden, const char *path)
{
    print_name(golden, path);
    printf("  skipped\n");
    golden->skipped++;
}

void
limn_golden_target(LimnGolden *golden, const char *name)
{
    printf("target ");
    print_name(golden, name);
    printf("\n");
}

// What a comparison of many numbers has found so far.
typedef struct {
    double absolute, relative; // largest differences
    double largest;            // |e|
    gboolean right;            // element by element, as far as that decides
} Differences;

static void
add_difference(Differences *d, double e, double x, LimnTolerance t)
{
    if (isnan(e) || isnan(x)) {
        gboolean same = isnan(e) && isnan(x);
        d->right = d->right && same;
        d->absolute = same ? d->absolute : INFINITY;
        return;
    }
    double difference = e == x ? 0 : fabs(x - e); // equal infinities do not differ
    d->absolute = MAX(d->absolute, difference);
    d->largest = MAX(d->largest, fabs(e));
    if (difference > 0) {
        d->relative = MAX(d->relative, difference / fabs(e));
    }
    if (t.kind == LIMN_TOLERANCE_EXACT) {
        d->right = d->right && e == x;
    } else if (t.kind == LIMN_TOLERANCE_ABS_REL) {
        d->right = d->right && difference <= t.a + (isfinite(e) ? t.r * fabs(e) : 0);
    }
}

static gboolean
conclude(LimnGolden *golden, const char *name, Differences *d, LimnTolerance t)
{
    if (t.kind == LIMN_TOLERANCE_MAX) {
        d->relative = d->largest > 0    ? d->absolute / d->largest
                      : d->absolute > 0 ? INFINITY
                                        : 0;
        d->right = d->right && d->absolute <= t.r * d->largest;
    }
    return report(golden, name, d->absolute, d->relative, t, d->right);
}

gboolean
limn_golden_compare(LimnGolden *golden, const char *name, const LimnArray *expected,
                    const LimnArray *x, LimnTolerance tolerance)
{
    if (expected == NULL || x == NULL) {
        limn_golden_fail(golden, name, expected == NULL ? "missing key" : "no result");
        return FALSE;
    }
    if (!limn_array_has_shape(x, expected->rank, expected->shape)) {
        g_autofree char *found = limn_array_describe_shape(expected);
        g_autofree char *wanted = limn_array_describe_shape(x);
        limn_golden_fail(golden, name, "wrong size (found %s, expected %s)", found,
                         wanted);
        return FALSE;
    }
    Differences d = {.right = TRUE};
    for (gint64 i = 0; i < x->length; i++) {
        add_difference(&d, limn_array_get_double(expected, i),
                       limn_array_get_double(x, i), tolerance);
    }
    return conclude(golden, name, &d, tolerance);
}

gboolean
limn_golden_compare_floats(LimnGolden *golden, const char *name,
                           const LimnArray *expected, const float *x, int rank,
                           const gint64 *shape, LimnTolerance tolerance)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) array = limn_array_new(LIMN_DTYPE_F32, rank, shape, &error);
    if (array == NULL) {
        limn_golden_fail_error(golden, name, &error);
        return FALSE;
    }
    memcpy(array->data, x, (gsize) array->length * sizeof *x);
    return limn_golden_compare(golden, name, expected, array, tolerance);
}

gboolean
limn_golden_compare_number(LimnGolden *golden, const char *name, double expected,
                           double x, LimnTolerance tolerance)
{
    Differences d = {.right = TRUE};
    add_difference(&d, expected, x, tolerance);
    return conclude(golden, name, &d, tolerance);
}

gboolean
limn_golden_compare_text(LimnGolden *golden, const char *name, const char *expected,
                         const char *x)
{
    return limn_golden_check(golden, name, g_strcmp0(expected, x) == 0);
}

gboolean
limn_golden_check(LimnGolden *golden, const char *name, gboolean right)
{
    return report(golden, name, right ? 0 : 1, right ? 0 : 1, LIMN_EXACT, right);
}

static gint
compare_strings(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

GStrv
limn_golden_list(const char *folder)
{
    GPtrArray *names = g_ptr_array_new();
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
        g_ptr_array_add(names, g_strdup(name));
    }
    g_clear_pointer(&dir, g_dir_close);
    g_ptr_array_sort(names, compare_strings);
    g_ptr_array_add(names, NULL);
    return (GStrv) g_ptr_array_free(names, FALSE);
}

gboolean
limn_golden_is_note(const char *name)
{
    return g_str_has_suffix(name, ".md");
}

// below: path below the case's folder, "" at its top.
static void
skip_in(LimnGolden *golden, const char *folder, const char *shown, const char *below,
        int depth, LimnGoldenKnownFunc known, gpointer data)
{
    g_auto(GStrv) names = limn_golden_list(folder);
    for (gsize i = 0; names[i] != NULL; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        g_autofree char *inner = below[0] != '\0'
                                     ? g_strconcat(below, "/", names[i], NULL)
                                     : g_strdup(names[i]);
        if (g_file_test(path, G_FILE_TEST_IS_DIR) && depth < 8) {
            skip_in(golden, path, shown, inner, depth + 1, known, data);
        } else if (!limn_golden_is_note(names[i]) && !known(inner, data)) {
            g_autofree char *full = g_strconcat(shown, "/", inner, NULL);
            limn_golden_skip(golden, full);
        }
    }
}

void
limn_golden_skip_unknown(LimnGolden *golden, const char *folder, const char *shown,
                         LimnGoldenKnownFunc known, gpointer data)
{
    limn_golden_begin(golden, NULL);
    skip_in(golden, folder, shown, "", 0, known, data);
}

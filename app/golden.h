// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the METHODs of limn-golden share: discovery, comparing, counting and printing
// (architecture, section 9; golden layout, common rules). A method is one function; it
// gets the folder, runs every case that it finds, and reports through the functions
// below. To add one: write golden-METHOD.c and add a line to the table in limn-golden.c.
//
//     begin a case    limn_golden_begin(golden, "case_a")
//     compare         limn_golden_compare(golden, "cosine", expected, x, 2, shape, max
//     1e-5) or give up      limn_golden_fail(golden, "cosine", "missing key")
//
// Lines on stdout:  NAME  abs DIFFERENCE  rel DIFFERENCE  tol TOLERANCE  ok | FAIL

#include <jansson.h>

#include "engine/base/array.h"
#include "engine/base/job.h"

typedef struct LimnGolden LimnGolden;

typedef enum {
    LIMN_TOLERANCE_EXACT,
    LIMN_TOLERANCE_ABS_REL, // |x - e| <= a + r |e|
    LIMN_TOLERANCE_MAX,     // largest |x - e| <= r times the largest |e|
} LimnToleranceKind;

typedef struct {
    LimnToleranceKind kind;
    double a, r;
} LimnTolerance;

#define LIMN_EXACT ((LimnTolerance){LIMN_TOLERANCE_EXACT, 0, 0})
#define LIMN_ABS(t) ((LimnTolerance){LIMN_TOLERANCE_ABS_REL, (t), 0})
#define LIMN_REL(t) ((LimnTolerance){LIMN_TOLERANCE_ABS_REL, 0, (t)})
#define LIMN_ABS_REL(a, r) ((LimnTolerance){LIMN_TOLERANCE_ABS_REL, (a), (r)})
#define LIMN_MAX(t) ((LimnTolerance){LIMN_TOLERANCE_MAX, 0, (t)})

LimnGolden *limn_golden_new(void);
void limn_golden_free(LimnGolden *golden);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnGolden, limn_golden_free)
LimnJob *limn_golden_get_job(LimnGolden *golden);
// Prints "N passed, N failed" and gives the exit status: 0 when something was found,
// nothing failed and nothing was skipped.
int limn_golden_finish(LimnGolden *golden);

// Names of what follows begin with "CASE/". NULL: no case.
void limn_golden_begin(LimnGolden *golden, const char *name);

// Largest differences of x (any element type) of that shape from `expected`. A NULL
// expected, another shape or a type that is no number is FAIL. NaN must meet NaN.
gboolean limn_golden_compare(LimnGolden *golden, const char *name,
                             const LimnArray *expected, const LimnArray *x,
                             LimnTolerance tolerance);
gboolean limn_golden_compare_floats(LimnGolden *golden, const char *name,
                                    const LimnArray *expected, const float *x, int rank,
                                    const gint64 *shape, LimnTolerance tolerance);
gboolean limn_golden_compare_number(LimnGolden *golden, const char *name, double expected,
                                    double x, LimnTolerance tolerance);
gboolean limn_golden_compare_text(LimnGolden *golden, const char *name,
                                  const char *expected, const char *x);
// A decision: ok when `right`.
gboolean limn_golden_check(LimnGolden *golden, const char *name, gboolean right);

void limn_golden_fail(LimnGolden *golden, const char *name, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
// FAIL with the error's message; the error is freed and set to NULL.
void limn_golden_fail_error(LimnGolden *golden, const char *name, GError **error);
// A file that fits no pattern.
void limn_golden_skip(LimnGolden *golden, const char *path);
// A statistic of trainings: printed, not counted.
void limn_golden_target(LimnGolden *golden, const char *name);

// Names in a folder, sorted, without "." and ".."; empty when it cannot be read.
GStrv limn_golden_list(const char *folder);
// TRUE for *.md.
gboolean limn_golden_is_note(const char *name);
// Every file below `folder` for which `known` does not hold is skipped; `known` is given
// the path below the folder ("hf/config.json").
typedef gboolean (*LimnGoldenKnownFunc)(const char *path, gpointer data);
void limn_golden_skip_unknown(LimnGolden *golden, const char *folder, const char *shown,
                              LimnGoldenKnownFunc known, gpointer data);

// The methods.
void limn_golden_autodiff(LimnGolden *golden, const char *folder);
void limn_golden_grad_eclip(LimnGolden *golden, const char *folder);
void limn_golden_neuron_explanations(LimnGolden *golden, const char *folder);

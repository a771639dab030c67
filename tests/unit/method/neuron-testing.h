// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs of the neuron operations without a program around them, and small inputs of which
// the answer is known.

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/io/npy.h"
#include "engine/io/study-folder.h"
#include "engine/study/run.h"
#include "tests/unit/loader-test.h"

enum { N = 200, M = 6, K = 12, D = 8 };

// key, value, ..., NULL. run_now executes, or aborts the test.
LimnRun *new_run_list(const char *id, int threads, const char *key, va_list args);
LimnRun *new_run(const char *id, const char *key, ...);
void execute(LimnRun *run);
LimnRun *run_now(const char *id, const char *key, ...);
// The run fails with that code and both texts in its message; it is freed.
void expect_failure(LimnRun *run, LimnErrorCode code, const char *one, const char *two);
void write_study(LimnRun *run, const char *path);

// Cells of the artifacts of a run.
LimnTable *table_of(LimnRun *run, const char *name);
double number(LimnRun *run, const char *table, const char *column, guint row);
const char *word(LimnRun *run, const char *table, const char *column, guint row);
double scalar(LimnRun *run, const char *name);
gboolean is_said(LimnRun *run, const char *part);

// Neuron m of M follows concepts 2 m (twice) and 2 m + 1 of K, on N pictures.
typedef struct {
    char *folder;
    char *activations, *matrix, *names, *images, *texts, *labels, *cosines;
    char *weight, *bias, *right;
} Data;
Data make_data(void);
void data_clear(Data *d);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Data, data_clear)
// Into the folder of the data. Returns: (transfer full) path
char *save(const Data *d, const char *name, const LimnArray *array);
// columns 0: a list
LimnArray *new_array(LimnDType dtype, gint64 rows, gint64 columns);

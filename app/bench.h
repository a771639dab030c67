// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Benchmarks. Each measures one thing beside what it is compared with in the same run:
// both are timed alternately, several times, after a warm-up; reported are the medians,
// the quartiles, and the median of the ratios of neighbours (a neighbour on the machine
// that slows both down changes it least). Milliseconds describe the machine, the ratio is
// what counts; a goal that is missed is said, but is no failure of the program.

#include "engine/base/job.h"

typedef struct {
    double median, low, high; // low and high: quartiles
    int n;
} LimnBenchStat;

// Of at least one sample; `samples` is sorted.
LimnBenchStat limn_bench_stat(double *samples, int n);

typedef enum {
    LIMN_BENCH_NO_GOAL,
    LIMN_BENCH_AT_LEAST,
    LIMN_BENCH_AT_MOST,
} LimnBenchGoal;

typedef struct {
    char *name; // "ViT-B/32"
    const char *unit;
    LimnBenchStat stat;
    char *compared_with;    // NULL: with nothing
    LimnBenchStat compared; // in the same unit
    const char *ratio_name; // "rate of sgemm", "times faster"
    double ratio;
    LimnBenchGoal goal;
    double goal_value;
    char *note; // may be NULL
} LimnBenchResult;

typedef struct {
    LimnJob *job;       // cancelled by signals; its threads are those to be used
    int repeats;        // samples per measure
    GPtrArray *results; // LimnBenchResult
    gpointer data;      // of the caller of limn_bench_main_with
} LimnBenchRun;

typedef struct {
    const char *id; // "clip-image"
    const char *title;
    gboolean (*run)(LimnBenchRun *run, GError **error);
} LimnBenchmark;

// A result, owned by the run; name and compared_with are copied.
LimnBenchResult *limn_bench_add(LimnBenchRun *run, const char *name, const char *unit,
                                const char *compared_with);

// Times both functions alternately (each once before, unmeasured) and fills stat,
// compared (milliseconds) and ratio = second / first. FALSE when cancelled or failed.
typedef gboolean (*LimnBenchFunc)(gpointer data, GError **error);
gboolean limn_bench_compare(LimnBenchRun *run, LimnBenchResult *result,
                            LimnBenchFunc first, LimnBenchFunc second, gpointer data,
                            GError **error);

// The command line "bench [NAME] [--json] [--threads N]" over a list that ends with NULL.
// argv[0] is the verb. Returns the exit status. `program` begins messages.
int limn_bench_main_with(const char *program, const LimnBenchmark *const *benchmarks,
                         LimnJob *job, gpointer data, int argc, char **argv);

// The benchmarks that need no window.
extern const LimnBenchmark limn_bench_clip_image;
extern const LimnBenchmark limn_bench_explain_text;
extern const LimnBenchmark limn_bench_open_model;
extern const LimnBenchmark limn_bench_gemm_small;
extern const LimnBenchmark limn_bench_elastic_net;

// limn-cli bench, with a job of its own that signals cancel.
int limn_bench_main(int argc, char **argv);

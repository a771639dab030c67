// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/base/parallel.h"
#include "engine/study/json-writer.h"
#include "limn-config.h"

#define DEFAULT_REPEATS 15

static void
result_free(gpointer data)
{
    LimnBenchResult *result = data;
    g_free(result->name);
    g_free(result->compared_with);
    g_free(result->note);
    g_free(result);
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

// Linear interpolation between the neighbours of rank q (n - 1).
static double
quantile(const double *sorted, int n, double q)
{
    double rank = q * (n - 1);
    int below = (int) rank;
    double part = rank - below;
    return below + 1 < n ? sorted[below] * (1 - part) + sorted[below + 1] * part
                         : sorted[below];
}

LimnBenchStat
limn_bench_stat(double *samples, int n)
{
    qsort(samples, (gsize) n, sizeof *samples, compare_doubles);
    return (LimnBenchStat){
        .median = quantile(samples, n, 0.5),
        .low = quantile(samples, n, 0.25),
        .high = quantile(samples, n, 0.75),
        .n = n,
    };
}

LimnBenchResult *
limn_bench_add(LimnBenchRun *run, const char *name, const char *unit,
               const char *compared_with)
{
    LimnBenchResult *result = g_new0(LimnBenchResult, 1);
    result->name = g_strdup(name);
    result->unit = unit;
    result->compared_with = g_strdup(compared_with);
    g_ptr_array_add(run->results, result);
    return result;
}

static gboolean
time_once(LimnBenchFunc func, gpointer data, double *milliseconds, GError **error)
{
    gint64 begin = g_get_monotonic_time();
    if (!func(data, error)) {
        return FALSE;
    }
    *milliseconds = (double) (g_get_monotonic_time() - begin) / 1000;
    return TRUE;
}

gboolean
limn_bench_compare(LimnBenchRun *run, LimnBenchResult *result, LimnBenchFunc first,
                   LimnBenchFunc second, gpointer data, GError **error)
{
    int n = run->repeats;
    g_autofree double *a = g_new0(double, n), *b = g_new0(double, n);
    g_autofree double *ratios = g_new0(double, n);
    for (int i = -1; i < n; i++) {
        double t = 0, u = 0;
        if (!limn_job_check(run->job, error) || !time_once(first, data, &t, error) ||
            !limn_job_check(run->job, error) || !time_once(second, data, &u, error)) {
            return FALSE;
        }
        if (i >= 0) {
            a[i] = t;
            b[i] = u;
            ratios[i] = u / t;
        }
    }
    result->stat = limn_bench_stat(a, n);
    result->compared = limn_bench_stat(b, n);
    result->ratio = limn_bench_stat(ratios, n).median;
    return TRUE;
}

// ---- output

static gboolean
goal_met(const LimnBenchResult *result)
{
    return result->goal == LIMN_BENCH_AT_LEAST ? result->ratio >= result->goal_value
                                               : result->ratio <= result->goal_value;
}

static char *
describe_stat(const LimnBenchStat *stat, const char *unit)
{
    char median[LIMN_NUMBER_BUFFER], low[LIMN_NUMBER_BUFFER], high[LIMN_NUMBER_BUFFER];
    int digits = fabs(stat->median) < 10 ? 3 : fabs(stat->median) < 1000 ? 1 : 0;
    limn_number_format_fixed(median, stat->median, digits);
    limn_number_format_fixed(low, stat->low, digits);
    limn_number_format_fixed(high, stat->high, digits);
    return g_strdup_printf("%s %s (%s to %s)", median, unit, low, high);
}

static void
print_result(const LimnBenchResult *result)
{
    char ratio[LIMN_NUMBER_BUFFER], goal[LIMN_NUMBER_BUFFER];
    g_autofree char *stat = describe_stat(&result->stat, result->unit);
    printf("  %s\n      %s\n", result->name, stat);
    if (result->compared_with != NULL) {
        g_autofree char *compared = describe_stat(&result->compared, result->unit);
        printf("      %s: %s\n", result->compared_with, compared);
        printf("      %s: %s", result->ratio_name,
               limn_number_format_fixed(ratio, result->ratio, 2));
        if (result->goal != LIMN_BENCH_NO_GOAL) {
            printf(" (goal: %s %s, %s)",
                   result->goal == LIMN_BENCH_AT_LEAST ? "at least" : "at most",
                   limn_number_format(goal, result->goal_value),
                   goal_met(result) ? "met" : "missed");
        }
        printf("\n");
    }
    if (result->note != NULL) {
        printf("      %s\n", result->note);
    }
}

static void
write_stat(LimnJsonWriter *writer, const LimnBenchStat *stat)
{
    limn_json_writer_double(writer, "median", stat->median);
    limn_json_writer_double(writer, "low", stat->low);
    limn_json_writer_double(writer, "high", stat->high);
    limn_json_writer_int(writer, "samples", stat->n);
}

static void
write_result(LimnJsonWriter *writer, const LimnBenchResult *result)
{
    limn_json_writer_begin_object(writer, NULL);
    limn_json_writer_string(writer, "name", result->name);
    limn_json_writer_string(writer, "unit", result->unit);
    write_stat(writer, &result->stat);
    if (result->compared_with != NULL) {
        limn_json_writer_inline(writer);
        limn_json_writer_begin_object(writer, "compared");
        limn_json_writer_string(writer, "name", result->compared_with);
        write_stat(writer, &result->compared);
        limn_json_writer_end_object(writer);
        limn_json_writer_string(writer, "ratio_name", result->ratio_name);
        limn_json_writer_double(writer, "ratio", result->ratio);
    }
    if (result->goal != LIMN_BENCH_NO_GOAL) {
        gboolean least = result->goal == LIMN_BENCH_AT_LEAST;
        limn_json_writer_inline(writer);
        limn_json_writer_begin_object(writer, "goal");
        limn_json_writer_double(writer, least ? "at_least" : "at_most",
                                result->goal_value);
        limn_json_writer_bool(writer, "met", goal_met(result));
        limn_json_writer_end_object(writer);
    }
    if (result->note != NULL) {
        limn_json_writer_string(writer, "note", result->note);
    }
    limn_json_writer_end_object(writer);
}

static void
write_benchmark(LimnJsonWriter *writer, const LimnBenchmark *benchmark,
                GPtrArray *results)
{
    limn_json_writer_begin_object(writer, NULL);
    limn_json_writer_string(writer, "id", benchmark->id);
    limn_json_writer_string(writer, "title", benchmark->title);
    limn_json_writer_begin_array(writer, "results");
    for (guint i = 0; i < results->len; i++) {
        write_result(writer, g_ptr_array_index(results, i));
    }
    limn_json_writer_end_array(writer);
    limn_json_writer_end_object(writer);
}

static char *
processor_name(void)
{
    g_autofree char *text = NULL;
    if (g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL)) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (guint i = 0; lines[i] != NULL; i++) {
            const char *colon = strchr(lines[i], ':');
            if (g_str_has_prefix(lines[i], "model name") && colon != NULL) {
                return g_strstrip(g_strdup(colon + 1));
            }
        }
    }
    return g_strdup("unknown processor");
}

// ---- command line

typedef struct {
    const char *program;
    const char *name; // NULL: all
    gboolean json, help;
    gint64 threads;
} Options;

static int
fail(const Options *options, int status, const char *message)
{
    fprintf(stderr, "%s: %s\n", options->program, message);
    return status;
}

static gboolean
parse(Options *options, int argc, char **argv, char **problem)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        const char *value = NULL;
        if (strcmp(word, "--json") == 0) {
            options->json = TRUE;
        } else if (strcmp(word, "--help") == 0) {
            options->help = TRUE;
        } else if (strcmp(word, "--threads") == 0 ||
                   g_str_has_prefix(word, "--threads=")) {
            value = word[9] == '=' ? word + 10 : i + 1 < argc ? argv[++i] : "";
            if (!limn_integer_parse(value, &options->threads) || options->threads < 1 ||
                options->threads > 256) {
                *problem = g_strdup_printf(
                    "--threads: \"%s\" is not a number from 1 to 256", value);
                return FALSE;
            }
        } else if (word[0] == '-' || options->name != NULL) {
            *problem = g_strdup_printf("bench: \"%s\" is not understood (usage: bench "
                                       "[NAME] [--json] [--threads N])",
                                       word);
            return FALSE;
        } else {
            options->name = word;
        }
    }
    return TRUE;
}

static void
print_list(const LimnBenchmark *const *benchmarks)
{
    printf("usage: bench [NAME] [--json] [--threads N]\n\n");
    for (guint i = 0; benchmarks[i] != NULL; i++) {
        printf("  %-14s %s\n", benchmarks[i]->id, benchmarks[i]->title);
    }
}

static gboolean
name_is_known(const Options *options, const LimnBenchmark *const *benchmarks,
              char **problem)
{
    g_autoptr(GString) known = g_string_new(NULL);
    for (guint i = 0; benchmarks[i] != NULL; i++) {
        if (options->name == NULL || strcmp(options->name, benchmarks[i]->id) == 0) {
            return TRUE;
        }
        g_string_append_printf(known, "%s%s", i > 0 ? ", " : "", benchmarks[i]->id);
    }
    g_autofree char *shown = limn_display_path(options->name);
    *problem = g_strdup_printf("bench: there is no benchmark \"%s\" (expected %s)", shown,
                               known->str);
    return FALSE;
}

static void
print_head(LimnJob *job)
{
    g_autofree char *processor = processor_name();
    printf("%s, %d processors, %d threads; medians (quartiles)\n", processor,
           limn_parallel_n_processors(), limn_job_get_threads(job));
}

static void
write_head(LimnJsonWriter *writer, LimnJob *job)
{
    g_autofree char *processor = processor_name();
    limn_json_writer_begin_object(writer, NULL);
    limn_json_writer_string(writer, "version", LIMN_VERSION);
    limn_json_writer_begin_object(writer, "machine");
    limn_json_writer_string(writer, "processor", processor);
    limn_json_writer_int(writer, "processors", limn_parallel_n_processors());
    limn_json_writer_int(writer, "threads", limn_job_get_threads(job));
    limn_json_writer_end_object(writer);
    limn_json_writer_begin_array(writer, "benchmarks");
}

static gboolean
run_benchmark(LimnJsonWriter *writer, const LimnBenchmark *benchmark, LimnJob *job,
              gpointer data, GError **error)
{
    LimnBenchRun run = {.job = job, .repeats = DEFAULT_REPEATS, .data = data};
    run.results = g_ptr_array_new_with_free_func(result_free);
    gboolean ok = benchmark->run(&run, error);
    if (ok && writer != NULL) {
        write_benchmark(writer, benchmark, run.results);
    } else if (ok) {
        printf("\n%s: %s\n", benchmark->id, benchmark->title);
        for (guint i = 0; i < run.results->len; i++) {
            print_result(g_ptr_array_index(run.results, i));
        }
        fflush(stdout);
    }
    g_ptr_array_unref(run.results);
    return ok;
}

static void
run_all(const Options *options, const LimnBenchmark *const *benchmarks, LimnJob *job,
        gpointer data, GError **error)
{
    g_autoptr(LimnJsonWriter) writer = options->json ? limn_json_writer_new() : NULL;
    gboolean ok = TRUE;
    if (writer != NULL) {
        write_head(writer, job);
    } else {
        print_head(job);
    }
    for (guint i = 0; benchmarks[i] != NULL && ok; i++) {
        if (options->name == NULL || strcmp(options->name, benchmarks[i]->id) == 0) {
            ok = run_benchmark(writer, benchmarks[i], job, data, error);
        }
    }
    if (writer != NULL) {
        limn_json_writer_end_array(writer);
        limn_json_writer_end_object(writer);
        g_autofree char *text = limn_json_writer_finish(writer);
        fputs(text, stdout);
    }
}

int
limn_bench_main_with(const char *program, const LimnBenchmark *const *benchmarks,
                     LimnJob *job, gpointer data, int argc, char **argv)
{
    Options options = {.program = program, .threads = 0};
    g_autofree char *problem = NULL;
    g_autoptr(GError) error = NULL;
    if (!parse(&options, argc, argv, &problem) ||
        !name_is_known(&options, benchmarks, &problem)) {
        return fail(&options, 2, problem);
    }
    if (options.help) {
        print_list(benchmarks);
        return 0;
    }
    limn_job_set_threads(job, (int) options.threads);
    run_all(&options, benchmarks, job, data, &error);
    if (fflush(stdout) != 0) {
        return fail(&options, 1, "standard output: cannot write");
    }
    return error == NULL ? 0
                         : fail(&options, limn_error_exit_status(error), error->message);
}

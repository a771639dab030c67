// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/view/bench-window.h"

#include "engine/base/number.h"
#include "engine/base/parallel.h"
#include "engine/math/gemm.h"
#include "engine/study/json-writer.h"
#include "ui/view/heatmap-view.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PICTURE_SIZE 4096
#define MAP_SIZE 1024
#define WINDOW_WIDTH 1280
#define WINDOW_HEIGHT 800
#define WARM_UP 20 // frames
#define FRAMES 300
#define PHASE_SECONDS 120 // a machine that is slower than this allows gives what it has
#define JOB_SIZE 1024
#define JOB_NICE 10

typedef struct {
    int n;
    double samples[FRAMES];
} Series;

typedef struct {
    Series interval, processor; // milliseconds per frame
} Phase;

typedef struct {
    pthread_t thread;
    int stop; // atomic
} Job;

typedef struct {
    GMainLoop *loop;
    GtkWidget *window;
    LimnHeatmapView *view;
    double first_frame, complete; // milliseconds
    Phase alone, with_job;
    // the phase that is running
    Phase *phase;
    Job *job;
    int frames;
    double last_time, last_processor;
    gint64 end;
} Bench;

// ---- clocks

static double
read_clock(clockid_t clock)
{
    struct timespec time;

    return clock_gettime(clock, &time) == 0 ? time.tv_sec * 1e3 + time.tv_nsec / 1e6 : 0;
}

// Milliseconds since this process began (to a hundredth of a second).
static double
since_start(void)
{
    g_autofree char *text = NULL;
    const char *at;
    unsigned long long ticks = 0;

    if (!g_file_get_contents("/proc/self/stat", &text, NULL, NULL))
        return NAN;
    at = strrchr(text, ')'); // the name may hold anything; field 22 is the 20th after it
    for (int i = 0; at != NULL && i < 20; i++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return NAN;
    ticks = g_ascii_strtoull(at + 1, NULL, 10);
    return read_clock(CLOCK_BOOTTIME) - ticks * 1e3 / sysconf(_SC_CLK_TCK);
}

// Of all threads but the job's.
static double
read_processor(const Bench *bench)
{
    double sum = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    clockid_t clock;

    if (bench->job != NULL && pthread_getcpuclockid(bench->job->thread, &clock) == 0)
        sum -= read_clock(clock);
    return sum;
}

// ---- data

static LimnImage *
make_picture(void)
{
    LimnImage *picture =
        limn_image_new(PICTURE_SIZE, PICTURE_SIZE, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, NULL);

    if (picture == NULL)
        return NULL;
    picture->bits = 8;
    for (int y = 0; y < PICTURE_SIZE; y++) {
        guint8 *row = (guint8 *) picture->data + (gsize) y * PICTURE_SIZE * 3;

        for (int x = 0; x < PICTURE_SIZE; x++) {
            row[3 * x] = x / 16 + ((x ^ y) & 15);
            row[3 * x + 1] = y / 16 + ((x * y) & 7);
            row[3 * x + 2] = (x + y) / 32;
        }
    }
    return picture;
}

static LimnArray *
make_map(void)
{
    LimnArray *map = limn_array_new_f32_2d(MAP_SIZE, MAP_SIZE, NULL);

    for (gint64 i = 0; map != NULL && i < map->length; i++) {
        double x = i % MAP_SIZE / (double) MAP_SIZE, y = i / MAP_SIZE / (double) MAP_SIZE;

        limn_array_f32(map)[i] =
            (float) exp(-8 * ((x - 0.4) * (x - 0.4) + (y - 0.6) * (y - 0.6)));
    }
    return map;
}

// ---- job

static void *
run_job(void *data)
{
    Job *job = data;
    g_autofree float *matrices = g_new0(float, 3 * JOB_SIZE * JOB_SIZE);
    gsize n = (gsize) JOB_SIZE * JOB_SIZE;

    (void) setpriority(PRIO_PROCESS, (id_t) gettid(), JOB_NICE);
    while (!g_atomic_int_get(&job->stop))
        limn_gemm(NULL, FALSE, FALSE, JOB_SIZE, JOB_SIZE, JOB_SIZE, 1, matrices, JOB_SIZE,
                  matrices + n, JOB_SIZE, 0, matrices + 2 * n, JOB_SIZE);
    return NULL;
}

static Job *
job_start(void)
{
    Job *job = g_new0(Job, 1);

    if (pthread_create(&job->thread, NULL, run_job, job) != 0)
        g_clear_pointer(&job, g_free);
    return job;
}

static void
job_stop(Job *job)
{
    if (job == NULL)
        return;
    g_atomic_int_set(&job->stop, TRUE);
    pthread_join(job->thread, NULL);
    g_free(job);
}

// ---- frames

static void
add_sample(Series *series, double sample)
{
    if (series->n < FRAMES)
        series->samples[series->n++] = sample;
}

// In, along, out, back: the way of somebody who looks around.
static void
move(Bench *bench, int frame)
{
    LimnCamera *camera = limn_heatmap_view_get_camera(bench->view);
    int step = frame % 100;

    if (step < 25)
        limn_camera_zoom_at(camera, 1.1, 500, 350, WINDOW_WIDTH, WINDOW_HEIGHT);
    else if (step < 50)
        limn_camera_pan(camera, -17, -9);
    else if (step < 75)
        limn_camera_pan(camera, 17, 9);
    else
        limn_camera_zoom_at(camera, 1 / 1.1, 500, 350, WINDOW_WIDTH, WINDOW_HEIGHT);
}

static gboolean
on_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    Bench *bench = data;

    if (bench->phase != NULL)
        move(bench, bench->frames);
    return G_SOURCE_CONTINUE;
}

static void
after_paint(GdkFrameClock *clock, Bench *bench)
{
    double now = read_clock(CLOCK_MONOTONIC), processor = read_processor(bench);

    if (isnan(bench->first_frame))
        bench->first_frame = since_start();
    if (bench->phase == NULL) {
        g_main_loop_quit(bench->loop);
        return;
    }
    if (bench->frames >= WARM_UP) {
        add_sample(&bench->phase->interval, now - bench->last_time);
        add_sample(&bench->phase->processor, processor - bench->last_processor);
    }
    bench->frames++;
    bench->last_time = now;
    bench->last_processor = processor;
    if (bench->phase->interval.n == FRAMES || g_get_monotonic_time() > bench->end)
        g_main_loop_quit(bench->loop);
}

static void
run_phase(Bench *bench, Phase *phase, gboolean with_job)
{
    bench->phase = phase;
    bench->job = with_job ? job_start() : NULL;
    bench->frames = 0;
    bench->end = g_get_monotonic_time() + PHASE_SECONDS * G_USEC_PER_SEC;
    limn_camera_fit(limn_heatmap_view_get_camera(bench->view));
    g_main_loop_run(bench->loop);
    bench->phase = NULL;
    job_stop(bench->job);
    bench->job = NULL;
}

// From handing over the picture until every tile of it is on screen.
static gboolean
show_picture(Bench *bench)
{
    g_autoptr(LimnImage) picture = make_picture();
    g_autoptr(LimnArray) map = make_map();
    double begin = read_clock(CLOCK_MONOTONIC);
    double end = begin + PHASE_SECONDS * 1e3;
    guint frames = limn_heatmap_view_get_n_frames(bench->view);

    if (picture == NULL || map == NULL)
        return FALSE;
    limn_heatmap_view_set_picture(bench->view, picture);
    limn_heatmap_view_set_map(bench->view, map, NULL, FALSE);
    while ((limn_heatmap_view_get_n_frames(bench->view) == frames ||
            !limn_heatmap_view_is_complete(bench->view)) &&
           read_clock(CLOCK_MONOTONIC) < end)
        g_main_context_iteration(NULL, TRUE);
    bench->complete = read_clock(CLOCK_MONOTONIC) - begin;
    return TRUE;
}

// ---- numbers

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

// Linear between the neighbours of rank q (n - 1); the samples are sorted.
static double
quantile(const Series *series, double q)
{
    double rank = q * (series->n - 1);
    int below = (int) rank;
    double part = rank - below;

    if (series->n == 0)
        return NAN;
    if (below + 1 >= series->n)
        return series->samples[below];
    return series->samples[below] * (1 - part) + series->samples[below + 1] * part;
}

static void
sort(Series *series)
{
    qsort(series->samples, series->n, sizeof(double), compare_doubles);
}

static void
print_number(const char *before, double value)
{
    char text[LIMN_NUMBER_BUFFER];

    printf("%s%s", before, limn_number_format_fixed(text, value, 1));
}

static void
print_series(const char *name, const Series *series)
{
    print_number(name, quantile(series, 0.5));
    print_number(" ms (", quantile(series, 0.25));
    print_number(" to ", quantile(series, 0.75));
    print_number("), 99th percentile ", quantile(series, 0.99));
    printf(" ms, %d frames\n", series->n);
}

static void
print_pair(const char *name, const Series *alone, const Series *with_job)
{
    char ratio[LIMN_NUMBER_BUFFER];

    printf("  %s\n", name);
    print_series("      ", alone);
    print_series("      while a job runs: ", with_job);
    printf("      slower by: %s\n",
           limn_number_format_fixed(ratio, quantile(with_job, 0.5) / quantile(alone, 0.5),
                                    2));
}

static void
print_table(const Bench *bench)
{
    const char *gl = limn_heatmap_view_get_gl_description(bench->view);

    printf(
        "window: pan and zoom of a %d x %d picture with a map, %d x %d pixels; medians "
        "(quartiles)\n  %s\n",
        PICTURE_SIZE, PICTURE_SIZE, gtk_widget_get_width(GTK_WIDGET(bench->view)),
        gtk_widget_get_height(GTK_WIDGET(bench->view)),
        gl != NULL ? gl : "without OpenGL");
    print_number("  start to first frame\n      ", bench->first_frame);
    print_number(" ms\n  picture complete\n      ", bench->complete);
    printf(" ms\n");
    print_pair("frame interval", &bench->alone.interval, &bench->with_job.interval);
    print_pair("processor time per frame", &bench->alone.processor,
               &bench->with_job.processor);
}

static void
write_series(LimnJsonWriter *writer, const Series *series)
{
    limn_json_writer_double(writer, "median", quantile(series, 0.5));
    limn_json_writer_double(writer, "low", quantile(series, 0.25));
    limn_json_writer_double(writer, "high", quantile(series, 0.75));
    limn_json_writer_double(writer, "p99", quantile(series, 0.99));
    limn_json_writer_int(writer, "samples", series->n);
}

static void
write_single(LimnJsonWriter *writer, const char *name, double value)
{
    limn_json_writer_begin_object(writer, NULL);
    limn_json_writer_string(writer, "name", name);
    limn_json_writer_string(writer, "unit", "ms");
    limn_json_writer_double(writer, "median", value);
    limn_json_writer_int(writer, "samples", 1);
    limn_json_writer_end_object(writer);
}

static void
write_pair(LimnJsonWriter *writer, const char *name, const Series *alone,
           const Series *with_job)
{
    limn_json_writer_begin_object(writer, NULL);
    limn_json_writer_string(writer, "name", name);
    limn_json_writer_string(writer, "unit", "ms");
    write_series(writer, alone);
    limn_json_writer_begin_object(writer, "compared");
    limn_json_writer_string(writer, "name", "while a job runs");
    write_series(writer, with_job);
    limn_json_writer_end_object(writer);
    limn_json_writer_string(writer, "ratio_name", "slower by");
    limn_json_writer_double(writer, "ratio",
                            quantile(with_job, 0.5) / quantile(alone, 0.5));
    limn_json_writer_end_object(writer);
}

static void
print_json(const Bench *bench)
{
    g_autoptr(LimnJsonWriter) writer = limn_json_writer_new();
    const char *gl = limn_heatmap_view_get_gl_description(bench->view);
    g_autofree char *text = NULL;

    limn_json_writer_begin_object(writer, NULL);
    limn_json_writer_string(writer, "version", LIMN_VERSION);
    limn_json_writer_begin_object(writer, "machine");
    limn_json_writer_int(writer, "processors", limn_parallel_n_processors());
    limn_json_writer_string(writer, "drawing", gl != NULL ? gl : "without OpenGL");
    limn_json_writer_end_object(writer);
    limn_json_writer_begin_array(writer, "benchmarks");
    limn_json_writer_begin_object(writer, NULL);
    limn_json_writer_string(writer, "id", "window");
    limn_json_writer_string(writer, "title",
                            "pan and zoom of a 4096 x 4096 picture with a map");
    limn_json_writer_begin_array(writer, "results");
    write_single(writer, "start to first frame", bench->first_frame);
    write_single(writer, "picture complete", bench->complete);
    write_pair(writer, "frame interval", &bench->alone.interval,
               &bench->with_job.interval);
    write_pair(writer, "processor time per frame", &bench->alone.processor,
               &bench->with_job.processor);
    limn_json_writer_end_array(writer);
    limn_json_writer_end_object(writer);
    limn_json_writer_end_array(writer);
    limn_json_writer_end_object(writer);
    text = limn_json_writer_finish(writer);
    fputs(text, stdout);
}

// ---- all of it

static void
open_window(Bench *bench, GtkApplication *application)
{
    bench->view = LIMN_HEATMAP_VIEW(limn_heatmap_view_new());
    bench->window = gtk_window_new();
    gtk_window_set_application(GTK_WINDOW(bench->window), application);
    gtk_window_set_decorated(GTK_WINDOW(bench->window), FALSE);
    gtk_window_set_default_size(GTK_WINDOW(bench->window), WINDOW_WIDTH, WINDOW_HEIGHT);
    gtk_window_set_child(GTK_WINDOW(bench->window), GTK_WIDGET(bench->view));
    gtk_window_present(GTK_WINDOW(bench->window));
    g_signal_connect(gtk_widget_get_frame_clock(GTK_WIDGET(bench->view)), "after-paint",
                     G_CALLBACK(after_paint), bench);
    gtk_widget_add_tick_callback(GTK_WIDGET(bench->view), on_tick, bench, NULL);
    g_main_loop_run(bench->loop); // until the first frame
}

static void
close_window(Bench *bench)
{
    g_signal_handlers_disconnect_by_data(
        gtk_widget_get_frame_clock(GTK_WIDGET(bench->view)), bench);
    gtk_window_destroy(GTK_WINDOW(bench->window));
    g_main_loop_unref(bench->loop);
}

int
limn_bench_window(GtkApplication *application, gboolean json)
{
    g_autofree Bench *bench = g_new0(Bench, 1);
    gboolean ok;

    bench->loop = g_main_loop_new(NULL, FALSE);
    bench->first_frame = NAN;
    open_window(bench, application);
    ok = show_picture(bench);
    if (ok) {
        run_phase(bench, &bench->alone, FALSE);
        run_phase(bench, &bench->with_job, TRUE);
        sort(&bench->alone.interval);
        sort(&bench->alone.processor);
        sort(&bench->with_job.interval);
        sort(&bench->with_job.processor);
        if (json)
            print_json(bench);
        else
            print_table(bench);
    } else {
        fprintf(stderr, "limn: bench: no memory for a picture of %d x %d pixels\n",
                PICTURE_SIZE, PICTURE_SIZE);
    }
    close_window(bench);
    return ok && fflush(stdout) == 0 ? 0 : 1;
}

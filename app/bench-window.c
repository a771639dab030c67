// SPDX-License-Identifier: GPL-3.0-or-later

// What the window costs: from making it to its first frame (beside a bare window of the
// toolkit), and a frame while a picture of 4096 x 4096 with a map is moved and zoomed in
// a window of 1280 x 800 (beside a picture of 448 x 448, and while a job computes).

#include "limn-config.h"

#include "app/bench-window.h"

#include "app/bench.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/picture.h"
#include "engine/method/operations.h"
#include "ui/model/document-edit.h"
#include "ui/window/application.h"
#include "ui/window/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define LARGE 4096
#define SMALL 448
#define WIDTH 1280
#define HEIGHT 800
#define FRAMES 90
#define STARTS 5
#define DEADLINE (120 * G_TIME_SPAN_SECOND)

typedef struct {
    LimnApplication *app;
    LimnWindow *window;
    LimnWorkspace *ws;
    char *folder;
} Bench;

static double
cpu_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static double
wall_milliseconds(void)
{
    return (double) g_get_monotonic_time() / 1e3;
}

// ---- frames

typedef struct {
    guint n; // frames painted since
} Painted;

static void
after_paint(GdkFrameClock *clock, Painted *painted)
{
    painted->n++;
}

static gboolean
wake(gpointer data)
{
    return G_SOURCE_CONTINUE;
}

// Runs the main loop until the window has painted that many frames; FALSE after a while.
static gboolean
wait_frames(GtkWidget *window, Painted *painted, guint n)
{
    gint64 end = g_get_monotonic_time() + DEADLINE;
    guint source = g_timeout_add(100, wake, NULL);

    while (painted->n < n && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(source);
    return painted->n >= n;
}

static double
time_to_first_frame(GtkWidget *window, double begin)
{
    Painted painted = {0};
    GdkFrameClock *clock;
    double time;

    gtk_window_present(GTK_WINDOW(window));
    clock = gtk_widget_get_frame_clock(window);
    g_signal_connect(clock, "after-paint", G_CALLBACK(after_paint), &painted);
    wait_frames(window, &painted, 1);
    time = wall_milliseconds() - begin;
    g_signal_handlers_disconnect_by_data(clock, &painted);
    return time;
}

static void
drain(void)
{
    for (int i = 0; i < 200; i++)
        g_main_context_iteration(NULL, FALSE);
}

static double
start_bare(void)
{
    double begin = wall_milliseconds(), time;
    GtkWidget *window = gtk_window_new();

    gtk_window_set_default_size(GTK_WINDOW(window), WIDTH, HEIGHT);
    time = time_to_first_frame(window, begin);
    gtk_window_destroy(GTK_WINDOW(window));
    drain();
    return time;
}

static double
start_limn(Bench *bench)
{
    double begin = wall_milliseconds(), time;
    LimnWorkspace *ws = limn_workspace_new();
    LimnWindow *window = limn_window_new(GTK_APPLICATION(bench->app), ws);

    time = time_to_first_frame(GTK_WIDGET(window), begin);
    gtk_window_close(GTK_WINDOW(window));
    drain();
    g_object_unref(ws);
    return time;
}

static void
measure_start(Bench *bench, LimnBenchRun *run)
{
    LimnBenchResult *result =
        limn_bench_add(run, "window: from nothing to the first frame", "ms",
                       "a bare window of the toolkit");
    double ours[STARTS], bare[STARTS], ratios[STARTS];

    start_bare();
    start_limn(bench);
    for (int i = 0; i < STARTS; i++) {
        ours[i] = start_limn(bench);
        bare[i] = start_bare();
        ratios[i] = ours[i] / bare[i];
    }
    result->stat = limn_bench_stat(ours, STARTS);
    result->compared = limn_bench_stat(bare, STARTS);
    result->ratio_name = "times as long";
    result->ratio = limn_bench_stat(ratios, STARTS).median;
}

// ---- moving and zooming

// A picture with structure at all scales, so that nothing is cheaper than in use.
static gboolean
write_picture(const char *path, int size, GError **error)
{
    g_autoptr(LimnImage) image =
        limn_image_new(size, size, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, error);
    guint8 *data;

    if (!image)
        return FALSE;
    data = image->data;
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++, data += 3) {
            data[0] = (guint8) (x * 255 / size);
            data[1] = (guint8) (y * 255 / size);
            data[2] = (guint8) ((x ^ y) & 0xff);
        }
    return limn_png_save(image, path, error);
}

static gboolean
is_settled(Bench *bench)
{
    LimnDocument *doc = limn_workspace_get_current(bench->ws);
    double fraction;
    const char *message;

    return doc && !limn_document_is_loading(doc) && limn_document_get_result(doc, 0) &&
           !limn_workspace_get_live_progress(bench->ws, &fraction, &message);
}

static gboolean
open_picture(Bench *bench, int size, GError **error)
{
    g_autofree char *name = g_strdup_printf("%d.png", size);
    g_autofree char *path = g_build_filename(bench->folder, name, NULL);
    gint64 end = g_get_monotonic_time() + DEADLINE;
    guint source;

    if (!write_picture(path, size, error))
        return FALSE;
    limn_workspace_open_picture(bench->ws, path, (const char *[]){"a dog", NULL});
    source = g_timeout_add(100, wake, NULL);
    while (!is_settled(bench) && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    for (int i = 0; i < 20; i++) // uploads go in strips
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(source);
    if (is_settled(bench))
        return TRUE;
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED,
                "the map of a picture of %d x %d pixels did not come", size, size);
    return FALSE;
}

static void
move_camera(LimnCamera *camera, guint frame)
{
    double factor = frame % 30 < 15 ? 1.08 : 1 / 1.08;

    limn_camera_zoom_at(camera, factor, WIDTH / 3.0, HEIGHT / 3.0, WIDTH / 2, HEIGHT / 2);
    limn_camera_pan(camera, frame % 20 < 10 ? 9 : -9, 4 * sin(frame));
}

typedef struct {
    double cpu[FRAMES], interval[FRAMES];
} Frames;

static gboolean
measure_frames(Bench *bench, Frames *frames)
{
    LimnCamera *camera = limn_document_get_camera(limn_workspace_get_current(bench->ws));
    GdkFrameClock *clock = gtk_widget_get_frame_clock(GTK_WIDGET(bench->window));
    Painted painted = {0};
    gboolean ok = TRUE;

    g_signal_connect(clock, "after-paint", G_CALLBACK(after_paint), &painted);
    for (guint i = 0; i < FRAMES + 10 && ok; i++) { // the first ten are not counted
        double cpu = cpu_milliseconds(), wall = wall_milliseconds();

        move_camera(camera, i);
        ok = wait_frames(GTK_WIDGET(bench->window), &painted, painted.n + 1);
        if (i >= 10) {
            frames->cpu[i - 10] = cpu_milliseconds() - cpu;
            frames->interval[i - 10] = wall_milliseconds() - wall;
        }
    }
    g_signal_handlers_disconnect_by_data(clock, &painted);
    limn_camera_fit(camera);
    return ok;
}

static void
add_frames(LimnBenchRun *run, const char *name, const char *other, Frames *first,
           Frames *second, gboolean cpu)
{
    LimnBenchResult *result = limn_bench_add(run, name, "ms", other);

    result->stat = limn_bench_stat(cpu ? first->cpu : first->interval, FRAMES);
    result->compared = limn_bench_stat(cpu ? second->cpu : second->interval, FRAMES);
    result->ratio_name = "times as long";
    result->ratio = result->stat.median / result->compared.median;
    if (!cpu) // sorted by limn_bench_stat
        result->note = g_strdup_printf("99th percentile %d ms, beside it %d ms",
                                       (int) lrint(first->interval[FRAMES * 99 / 100]),
                                       (int) lrint(second->interval[FRAMES * 99 / 100]));
}

// A job that computes for as long as it is not cancelled.
static gboolean
start_job(Bench *bench, GError **error)
{
    LimnDocument *shown = limn_workspace_get_current(bench->ws);
    LimnDocument *doc = limn_workspace_new_study(bench->ws, "attention-maps");

    limn_document_edit_view(doc)->live = FALSE;
    limn_document_set_parameter(doc, "method", "rise");
    limn_document_set_parameter(doc, "rise-masks", "1000000");
    limn_workspace_set_current(bench->ws, shown);
    if (limn_workspace_run(bench->ws, doc))
        return TRUE;
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED, "the job could not be started");
    return FALSE;
}

static gboolean
run_window(LimnBenchRun *run, GError **error)
{
    Bench *bench = run->data;
    Frames small, large, busy;

    measure_start(bench, run);
    bench->ws = limn_workspace_new();
    bench->window = limn_window_new(GTK_APPLICATION(bench->app), bench->ws);
    gtk_window_set_default_size(GTK_WINDOW(bench->window), WIDTH, HEIGHT);
    gtk_window_present(GTK_WINDOW(bench->window));
    drain();
    if (!open_picture(bench, SMALL, error) || !measure_frames(bench, &small) ||
        !open_picture(bench, LARGE, error) || !measure_frames(bench, &large) ||
        !start_job(bench, error) || !measure_frames(bench, &busy)) {
        if (error && !*error)
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED, "the window drew no frame");
        return FALSE;
    }
    limn_workspace_cancel_job(bench->ws);
    add_frames(run, "move and zoom 4096 x 4096: processor time of a frame", "448 x 448",
               &large, &small, TRUE);
    add_frames(run, "move and zoom 4096 x 4096: time from frame to frame", "448 x 448",
               &large, &small, FALSE);
    add_frames(run, "the same while a job computes", "idle", &busy, &large, FALSE);
    gtk_window_close(GTK_WINDOW(bench->window));
    drain();
    g_clear_object(&bench->ws);
    return TRUE;
}

static const LimnBenchmark limn_bench_window = {
    "window", "first frame of the window; moving and zooming a large picture",
    run_window};

// State, data and settings of the user are left alone.
static char *
private_folders(void)
{
    static const char *const variables[] = {"XDG_STATE_HOME", "XDG_DATA_HOME",
                                            "XDG_CONFIG_HOME", "XDG_CACHE_HOME"};
    char *folder = g_dir_make_tmp("limn-bench-XXXXXX", NULL);

    for (gsize i = 0; folder && i < G_N_ELEMENTS(variables); i++)
        g_setenv(variables[i], folder, TRUE);
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
    return folder;
}

int
limn_bench_window_main(int argc, char **argv)
{
    static const LimnBenchmark *const benchmarks[] = {&limn_bench_window, NULL};
    Bench bench = {.folder = private_folders()};
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(GError) error = NULL;
    int status;

    if (!bench.folder || !gtk_init_check()) {
        g_printerr("limn: bench: there is no display\n");
        return 1;
    }
    limn_registry_set(limn_operations);
    bench.app =
        limn_application_new(G_APPLICATION_NON_UNIQUE | G_APPLICATION_HANDLES_OPEN);
    if (!g_application_register(G_APPLICATION(bench.app), NULL, &error)) {
        g_printerr("limn: bench: %s\n", error->message);
        return 1;
    }
    status = limn_bench_main_with("limn", benchmarks, job, &bench, argc, argv);
    limn_remove_tree(bench.folder, NULL);
    g_free(bench.folder);
    return status;
}

// SPDX-License-Identifier: GPL-3.0-or-later

// From a cold program to the first embedding: the benchmark starts this program again as
// its own child, which opens the checkpoint, encodes a picture and ends. The file lies in
// the page cache. Compared is the encoding of the same picture in a warm program.

#include "app/bench-open-model.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/bench-checkpoint.h"
#include "app/bench.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/model/clip.h"

#define CHILD_VARIABLE "LIMN_BENCH_OPEN_MODEL"

typedef struct {
    LimnJob *job;
    const char *folder;
    LimnClip *clip;
    LimnImage *image;
    glong peak; // KiB, largest of the children
} Bench;

static void
bench_clear(Bench *bench)
{
    g_clear_pointer(&bench->clip, limn_clip_unref);
    g_clear_pointer(&bench->image, limn_image_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Bench, bench_clear)

static gboolean
encode_picture(LimnClip *clip, LimnImage *image, LimnJob *job, GError **error)
{
    g_autoptr(LimnArray) f = limn_clip_encode_image(clip, image, job, error);
    return f != NULL;
}

gboolean
limn_bench_open_model_child(int *status)
{
    const char *request = g_getenv(CHILD_VARIABLE);
    const char *colon = request != NULL ? strchr(request, ':') : NULL;
    if (colon == NULL) {
        return FALSE;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_threads(job, (int) g_ascii_strtoll(request, NULL, 10));
    g_autoptr(LimnClip) clip = limn_clip_open(colon + 1, 0, job, &error);
    g_autoptr(LimnImage) image =
        clip != NULL ? limn_bench_make_picture(640, 480, &error) : NULL;
    gboolean ok = image != NULL && encode_picture(clip, image, job, &error);
    if (!ok) {
        g_printerr("bench open-model: %s\n", error->message);
    }
    *status = ok ? 0 : limn_error_exit_status(error);
    return TRUE;
}

static gboolean
start_child(Bench *bench, GPid *pid, GError **error)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", error);
    if (program == NULL) {
        return FALSE;
    }
    g_autofree char *request =
        g_strdup_printf("%d:%s", limn_job_get_threads(bench->job), bench->folder);
    g_auto(GStrv) environment = g_get_environ();
    environment = g_environ_setenv(environment, CHILD_VARIABLE, request, TRUE);
    char verb[] = "bench";
    char *argv[] = {program, verb, NULL};
    return g_spawn_async(NULL, argv, environment, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                         pid, error);
}

static gboolean
open_cold(gpointer data, GError **error)
{
    Bench *bench = data;
    GPid pid;
    int status = 0;
    struct rusage usage = {0};
    if (!start_child(bench, &pid, error)) {
        return FALSE;
    }
    while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    bench->peak = MAX(bench->peak, usage.ru_maxrss);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED,
                    "bench open-model: the program started for it failed");
        return FALSE;
    }
    return TRUE;
}

static gboolean
encode_warm(gpointer data, GError **error)
{
    Bench *bench = data;
    return encode_picture(bench->clip, bench->image, bench->job, error);
}

static gboolean
mapped_size(const char *folder, double *mebibytes, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "model.safetensors", NULL);
    g_autoptr(GBytes) bytes = limn_file_map(path, 0, error);
    *mebibytes = bytes != NULL ? (double) g_bytes_get_size(bytes) / (1 << 20) : 0;
    return bytes != NULL;
}

static gboolean
measure(LimnBenchRun *run, const LimnBenchModel *model, const char *folder,
        GError **error)
{
    g_auto(Bench) bench = {.job = run->job, .folder = folder};
    double size = 0;
    bench.clip = limn_clip_open(folder, 0, run->job, error);
    bench.image = bench.clip != NULL ? limn_bench_make_picture(640, 480, error) : NULL;
    if (bench.image == NULL || !mapped_size(folder, &size, error)) {
        return FALSE;
    }
    g_autofree char *name = g_strdup_printf(
        "%s, %.0f MiB of float32, program start to first embedding", model->name, size);
    LimnBenchResult *result = limn_bench_add(run, name, "ms", "encoding alone, warm");
    if (!limn_bench_compare(run, result, open_cold, encode_warm, &bench, error)) {
        return FALSE;
    }
    result->ratio = 1 / result->ratio;
    result->ratio_name = "times the encoding";
    result->goal = LIMN_BENCH_AT_MOST;
    result->goal_value = 1.3;
    LimnBenchResult *memory =
        limn_bench_add(run, "peak memory of the program", "MiB", "size of the file");
    double peak = (double) bench.peak / 1024;
    memory->stat = (LimnBenchStat){peak, peak, peak, result->stat.n};
    memory->compared = (LimnBenchStat){size, size, size, 1};
    memory->ratio_name = "of the file's size";
    memory->ratio = peak / size;
    memory->goal = LIMN_BENCH_AT_MOST;
    memory->goal_value = 1.25;
    return TRUE;
}

static gboolean
run_open_model(LimnBenchRun *run, GError **error)
{
    const LimnBenchModel *model = &limn_bench_models[LIMN_BENCH_B16];
    g_autofree char *folder = limn_bench_write_checkpoint(model, run->job, error);
    if (folder == NULL) {
        return FALSE;
    }
    gboolean ok = measure(run, model, folder, error);
    limn_remove_tree(folder, NULL);
    return ok;
}

const LimnBenchmark limn_bench_open_model = {
    .id = "open-model",
    .title = "from program start to the first embedding",
    .run = run_open_model,
};

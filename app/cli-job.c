// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "app/cli.h"
#include "engine/base/error.h"
#include "engine/study/json-writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 24
#define MESSAGE_WIDTH 40
#define MAX_JOBS 4

typedef enum { PROGRESS_NONE, PROGRESS_BAR, PROGRESS_JSON } ProgressKind;

static GMutex lock;
static LimnJob *jobs[MAX_JOBS]; // cancelled by signals
static ProgressKind progress_kind;
static gboolean bar_shown;

// ---- signals

static gboolean
cancel_jobs(void)
{
    gboolean any = FALSE;
    g_mutex_lock(&lock);
    for (int i = 0; i < MAX_JOBS; i++) {
        if (jobs[i] != NULL) {
            limn_job_cancel(jobs[i]);
            any = TRUE;
        }
    }
    g_mutex_unlock(&lock);
    return any;
}

// Not all threads are ours (OpenBLAS starts some before main), so that signals cannot be
// blocked everywhere: a handler passes them through a pipe to the thread that acts.
static int signal_pipe[2] = {-1, -1};

static void
on_signal(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char) number;
    (void) !write(signal_pipe[1], &byte, 1);
    errno = saved;
}

static gpointer
wait_for_signals(gpointer data)
{
    for (;;) {
        unsigned char number;
        ssize_t n = read(signal_pipe[0], &number, 1);
        if (n == 1 && !cancel_jobs()) {
            _exit(130); // nothing to cancel, and nothing half-written
        }
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return NULL;
        }
    }
}

void
limn_cli_signals_start(void)
{
    // A closed pipe and a file size limit are errors of the write, which is checked.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (pipe2(signal_pipe, O_CLOEXEC) != 0) {
        return;
    }
    g_thread_unref(g_thread_new("signals", wait_for_signals, NULL));
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    // A shell starts its background jobs with SIGINT ignored; whoever sends it to this
    // process means it. What nohup ignores stays ignored.
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &action, NULL);
    }
}

// ---- progress

static void
clear_bar(void)
{
    if (bar_shown) {
        fputs("\r\033[K", stderr);
        bar_shown = FALSE;
    }
}

static void
show_bar(const LimnProgress *progress)
{
    char bar[BAR_WIDTH + 1];
    int filled = (int) (progress->fraction * BAR_WIDTH + 0.5);
    for (int i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i < filled ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    g_autofree char *shown = limn_display_path(progress->message);
    if (g_utf8_strlen(shown, -1) > MESSAGE_WIDTH) {
        *g_utf8_offset_to_pointer(shown, MESSAGE_WIDTH) = '\0';
    }
    fprintf(stderr, "\r[%s] %3d %% %s%s%s\033[K", bar,
            (int) (progress->fraction * 100 + 0.5), progress->stage,
            shown[0] != '\0' ? ": " : "", shown);
    fflush(stderr);
    bar_shown = TRUE;
}

static void
show_json(const LimnProgress *progress)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_inline(json);
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "stage", progress->stage);
    limn_json_writer_double(json, "fraction", progress->fraction);
    limn_json_writer_string(json, "message", progress->message);
    limn_json_writer_end_object(json);
    g_autofree char *line = limn_json_writer_finish(json);
    fputs(line, stderr);
}

static void
on_progress(LimnJob *job, const LimnProgress *progress, gpointer user_data)
{
    g_mutex_lock(&lock);
    if (progress_kind == PROGRESS_BAR) {
        show_bar(progress);
    } else if (progress_kind == PROGRESS_JSON) {
        show_json(progress);
    }
    g_mutex_unlock(&lock);
}

static gboolean
parse_progress(const char *text, ProgressKind *kind, GError **error)
{
    gboolean terminal = isatty(STDERR_FILENO);
    if (text == NULL || strcmp(text, "bar") == 0) {
        // A bar that nobody sees move would only fill a log.
        *kind = terminal ? PROGRESS_BAR : PROGRESS_NONE;
    } else if (strcmp(text, "json") == 0) {
        *kind = PROGRESS_JSON;
    } else if (strcmp(text, "none") == 0) {
        *kind = PROGRESS_NONE;
    } else {
        g_autofree char *shown = limn_display_path(text);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "--progress %s: not a usable value (allowed: bar, json, none)",
                    shown);
        return FALSE;
    }
    return TRUE;
}

// ---- jobs

static void
register_job(LimnJob *job)
{
    g_mutex_lock(&lock);
    for (int i = 0; i < MAX_JOBS; i++) {
        if (jobs[i] == NULL) {
            jobs[i] = limn_job_ref(job);
            break;
        }
    }
    g_mutex_unlock(&lock);
}

LimnJob *
limn_cli_job_begin(const LimnCliArguments *arguments, GError **error)
{
    gint64 threads = 0; // all processors
    if (!limn_cli_get_int(arguments, "threads", 0, 4096, &threads, error) ||
        !parse_progress(limn_cli_get(arguments, "progress"), &progress_kind, error)) {
        return NULL;
    }
    LimnJob *job = limn_job_new();
    limn_job_set_threads(job, (int) threads);
    if (progress_kind != PROGRESS_NONE) {
        limn_job_set_progress(job, on_progress, NULL, NULL);
    }
    register_job(job);
    return job;
}

LimnJob *
limn_cli_job_begin_silent(void)
{
    LimnJob *job = limn_job_new();
    register_job(job);
    return job;
}

void
limn_cli_job_end(void)
{
    g_mutex_lock(&lock);
    clear_bar();
    for (int i = 0; i < MAX_JOBS; i++) {
        g_clear_pointer(&jobs[i], limn_job_unref);
    }
    g_mutex_unlock(&lock);
}

void
limn_cli_print_diagnostics(LimnJob *job)
{
    g_autoptr(GPtrArray) diagnostics = limn_job_dup_diagnostics(job);
    g_autoptr(GHashTable) said =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < diagnostics->len; i++) {
        const LimnDiagnostic *diagnostic = g_ptr_array_index(diagnostics, i);
        if (diagnostic->severity != LIMN_DIAGNOSTIC_WARNING) {
            continue;
        }
        g_autofree char *shown =
            diagnostic->item != NULL ? limn_display_path(diagnostic->item) : NULL;
        char *text = shown != NULL
                         ? g_strdup_printf("warning: %s: %s", shown, diagnostic->message)
                         : g_strdup_printf("warning: %s", diagnostic->message);
        if (g_hash_table_add(said, text)) {
            limn_cli_message("%s", text);
        }
    }
}

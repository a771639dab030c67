// SPDX-License-Identifier: GPL-3.0-or-later

// limn-cli run and limn-cli merge.

#include "limn-config.h"

#include "app/cli.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/io/study-folder.h"
#include "engine/study/suggest.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

// ---- the study that was asked for

static gboolean
is_study_file(const char *word)
{
    return g_str_has_suffix(word, ".json") || strchr(word, '/') != NULL ||
           g_file_test(word, G_FILE_TEST_EXISTS);
}

// A study.json, or the folder that holds one.
static LimnStudy *
load_study(const LimnCliArguments *arguments, LimnJob *job, GError **error)
{
    const char *word = g_ptr_array_index(arguments->positionals, 0);
    if (arguments->positionals->len > 1 || limn_cli_has(arguments, "seed")) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    _("run: a study is repeated as it is (no key=value and no --seed "
                      "may follow it)"));
        return NULL;
    }
    g_autofree char *inside = NULL;
    if (g_file_test(word, G_FILE_TEST_IS_DIR)) {
        inside = g_build_filename(word, "study.json", NULL);
        word = inside;
    }
    return limn_study_load(word, TRUE, job, error);
}

static gboolean
set_unknown_operation(const char *word, GError **error)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (const LimnOperation *const *at = limn_registry_get(); *at != NULL; at++) {
        g_strv_builder_add(builder, (*at)->id);
    }
    g_auto(GStrv) ids = g_strv_builder_end(builder);
    g_autofree char *allowed = limn_describe_allowed(word, (const char *const *) ids);
    g_autofree char *shown = limn_display_path(word);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                _("run: there is no operation '%s' (%s)"), shown, allowed);
    return FALSE;
}

static gboolean
set_pair(LimnStudy *study, const char *word, GError **error)
{
    const char *equals = strchr(word, '=');
    if (equals == NULL || equals == word) {
        g_autofree char *shown = limn_display_path(word);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    _("run: '%s' is not understood (expected key=value)"), shown);
        return FALSE;
    }
    g_autofree char *key = g_strndup(word, (gsize) (equals - word));
    return limn_study_set(study, key, equals + 1, error);
}

static LimnStudy *
make_study(const LimnCliArguments *arguments, LimnJob *job, GError **error)
{
    if (arguments->positionals->len == 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    _("run: the operation is missing (see: limn-cli list)"));
        return NULL;
    }
    const char *word = g_ptr_array_index(arguments->positionals, 0);
    const LimnOperation *operation = limn_registry_find(word);
    if (operation == NULL && is_study_file(word)) {
        return load_study(arguments, job, error);
    }
    if (operation == NULL) {
        set_unknown_operation(word, error);
        return NULL;
    }
    g_autoptr(LimnStudy) study = limn_study_new(operation);
    for (guint i = 1; i < arguments->positionals->len; i++) {
        if (!set_pair(study, g_ptr_array_index(arguments->positionals, i), error)) {
            return NULL;
        }
    }
    gint64 seed = 0;
    if (!limn_cli_get_int(arguments, "seed", 0, G_MAXINT64, &seed, error) ||
        !limn_study_validate(study, error)) {
        return NULL;
    }
    study->seed = (guint64) seed;
    return g_steal_pointer(&study);
}

// --shard I/N: I counts from 0 or from 1 (N of N is then the same as 0).
static gboolean
parse_shard(const LimnCliArguments *arguments, LimnRun *run, GError **error)
{
    const char *text = limn_cli_get(arguments, "shard");
    if (text == NULL) {
        return TRUE;
    }
    gint64 index = -1, count = 0;
    const char *slash = strchr(text, '/');
    g_autofree char *first =
        slash != NULL ? g_strndup(text, (gsize) (slash - text)) : NULL;
    if (first == NULL || !limn_integer_parse(first, &index) ||
        !limn_integer_parse(slash + 1, &count) || count < 1 || count > 1000000 ||
        index < 0 || index > count) {
        g_autofree char *shown = limn_display_path(text);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "--shard %s: not a usable value (expected I/N with 0 <= I <= N, "
                    "for example 1/4)",
                    shown);
        return FALSE;
    }
    const LimnOperation *operation = limn_run_get_study(run)->operation;
    if (!operation->shardable && count > 1) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "--shard %s: %s does not work over many items", text, operation->id);
        return FALSE;
    }
    limn_run_set_shard(run, (guint) (index % count), (guint) count);
    return TRUE;
}

// Checkpoints are kept beside the folder that will be written, until it is.
static char *
work_directory(const char *out)
{
    g_autofree char *absolute = limn_absolute_path(out);
    g_autofree char *parent = g_path_get_dirname(absolute);
    g_autofree char *base = g_path_get_basename(absolute);
    g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, base, -1);
    g_autofree char *name = g_strdup_printf(".limn-work-%.12s", digest);
    return g_build_filename(parent, name, NULL);
}

static gboolean
parse_resume(const LimnCliArguments *arguments, LimnRun *run, const char *out,
             GError **error)
{
    const LimnOperation *operation = limn_run_get_study(run)->operation;
    gboolean resume = limn_cli_has(arguments, "resume");
    if (!operation->resumable) {
        if (resume) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                        "--resume: %s keeps nothing that it could resume from",
                        operation->id);
        }
        return !resume;
    }
    g_autofree char *directory = work_directory(out);
    limn_run_set_work_directory(run, directory, resume);
    return TRUE;
}

// The place for checkpoints while a run uses it.
typedef struct {
    char *path; // NULL: the operation keeps none
    char *stop; // what was there before
    int fd;     // holds a lock
} WorkPlace;

static gboolean
work_place_take(WorkPlace *place, LimnRun *run, const char *out, GError **error)
{
    const char *path = limn_run_get_work_directory(run);
    if (path == NULL) {
        return TRUE;
    }
    g_autofree char *stop = g_path_get_dirname(path);
    while (!g_file_test(stop, G_FILE_TEST_EXISTS)) {
        char *parent = g_path_get_dirname(stop);
        g_free(stop);
        stop = parent;
    }
    if (!limn_make_directory(path, error)) {
        return FALSE;
    }
    place->path = g_strdup(path);
    place->stop = g_steal_pointer(&stop);
    place->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place->fd >= 0 && flock(place->fd, LOCK_EX | LOCK_NB) != 0 &&
        errno == EWOULDBLOCK) {
        limn_run_set_work_directory(run, NULL, FALSE); // the other one's
        return limn_error_set_file(error, LIMN_ERROR_OUTPUT, out,
                                   "is being written by another run (expected to be the "
                                   "only one)");
    }
    return TRUE;
}

// Removes it, or where the run failed only what is empty: a checkpoint stays.
static gboolean
work_place_leave(WorkPlace *place, gboolean done, GError **error)
{
    gboolean good = !done || place->path == NULL || limn_remove_tree(place->path, error);
    g_autofree char *at = g_strdup(place->path);
    while (!done && at != NULL && strcmp(at, place->stop) != 0 && rmdir(at) == 0) {
        char *parent = g_path_get_dirname(at);
        g_free(at);
        at = parent;
    }
    if (place->fd >= 0) {
        close(place->fd);
    }
    g_free(place->path);
    g_free(place->stop);
    return good;
}

// ---- hashing beside the run

typedef struct {
    LimnStudy *study;
    LimnJob *job;
    GError *error;
} Hashing;

static gpointer
hash_thread(gpointer data)
{
    Hashing *hashing = data;
    // The computing goes first.
    (void) setpriority(PRIO_PROCESS, (id_t) gettid(), 10);
    (void) limn_study_hash_inputs(hashing->study, hashing->job, &hashing->error);
    return NULL;
}

// Runs the operation while the inputs are hashed, of a copy: the operation uses the
// study.
static gboolean
execute(LimnRun *run, GError **error)
{
    g_autoptr(LimnStudy) copy = limn_study_dup(limn_run_get_study(run));
    Hashing hashing = {.study = copy, .job = limn_cli_job_begin_silent()};
    GThread *thread = g_thread_new("hash", hash_thread, &hashing);
    gboolean good = limn_run_execute(run, error);
    if (!good) {
        limn_job_cancel(hashing.job);
    }
    g_thread_join(thread);
    limn_job_unref(hashing.job);
    if (good && hashing.error != NULL) {
        g_propagate_error(error, g_steal_pointer(&hashing.error));
        good = FALSE;
    }
    if (good) {
        limn_study_take_hashes(limn_run_get_study(run), copy);
    }
    g_clear_error(&hashing.error);
    return good;
}

// ---- results on stdout

// One line per scalar: name, item, value, with tabs between them.
static void
print_scalars(GPtrArray *scalars)
{
    char buffer[LIMN_NUMBER_BUFFER];
    for (guint i = 0; i < scalars->len; i++) {
        const LimnScalar *scalar = g_ptr_array_index(scalars, i);
        g_autofree char *item =
            scalar->item != NULL ? limn_display_path(scalar->item) : g_strdup("");
        printf("%s\t%s\t%s\n", scalar->name, item,
               limn_number_format(buffer, scalar->value));
    }
}

static int
report_skipped(GPtrArray *skipped, const char *out)
{
    for (guint i = 0; i < skipped->len; i++) {
        const LimnSkipped *entry = g_ptr_array_index(skipped, i);
        limn_cli_message(_("skipped: %s"), entry->reason);
    }
    if (skipped->len == 0) {
        return 0;
    }
    g_autofree char *shown = limn_display_path(out);
    limn_cli_message(
        g_dngettext(GETTEXT_PACKAGE, "%u item was skipped (listed in %s/result.json)",
                    "%u items were skipped (listed in %s/result.json)", skipped->len),
        skipped->len, shown);
    return 5;
}

static gboolean
run_study(const LimnCliArguments *arguments, LimnJob *job, const char *out,
          gboolean force, LimnRun **run, GError **error)
{
    g_autoptr(LimnStudy) study = make_study(arguments, job, error);
    if (study == NULL) {
        return FALSE;
    }
    *run = limn_run_new(study, job);
    if (!parse_shard(arguments, *run, error) ||
        !parse_resume(arguments, *run, out, error) ||
        !limn_study_folder_check(out, force, error) ||
        !limn_study_folder_check_inputs(study, out, error)) {
        return FALSE;
    }
    WorkPlace place = {.fd = -1};
    gboolean good = work_place_take(&place, *run, out, error) && execute(*run, error) &&
                    limn_study_folder_write(*run, out, force, error);
    return work_place_leave(&place, good, good ? error : NULL) && good;
}

// After a run that broke off; one that was refused (or its checkpoint) kept nothing.
static void
tell_what_is_kept(LimnRun *run)
{
    const char *work = run != NULL ? limn_run_get_work_directory(run) : NULL;
    if (work != NULL && g_file_test(work, G_FILE_TEST_IS_DIR)) {
        limn_cli_message(_("what is finished is kept (--resume goes on from there)"));
    }
}

static int
run_run(const LimnCliArguments *arguments)
{
    g_autoptr(GError) error = NULL;
    const char *out = limn_cli_get(arguments, "out");
    gboolean force = limn_cli_has(arguments, "force");
    if (out == NULL || out[0] == '\0') {
        return limn_cli_usage_error(_("run: the output folder is missing (expected "
                                      "--out DIR)"));
    }
    g_autoptr(LimnJob) job = limn_cli_job_begin(arguments, &error);
    if (job == NULL) {
        return limn_cli_fail(error);
    }
    g_autoptr(LimnRun) run = NULL;
    gboolean good = run_study(arguments, job, out, force, &run, &error);
    limn_cli_job_end();
    limn_cli_print_diagnostics(job);
    if (!good) {
        int status = limn_cli_fail(error);
        if (status == 1 || status == 130) {
            tell_what_is_kept(run);
        }
        return status;
    }
    print_scalars(limn_run_get_scalars(run));
    return report_skipped(limn_run_get_skipped(run), out);
}

static const LimnCliOption run_options[] = {
    {"out", "DIR", N_("the folder to write, new or empty")},
    {"seed", "N", N_("seed of everything random (default 0)")},
    {"threads", "N", N_("threads, 0: all processors (default)")},
    {"force", NULL, N_("replace the study that is in DIR")},
    {"resume", NULL, N_("go on where an interrupted run stopped")},
    {"shard", "I/N", N_("do part I of N of the items")},
    {"progress", "KIND", N_("bar (default on a terminal), json or none")},
    {NULL, NULL, NULL},
};

const LimnCliVerb limn_cli_run = {
    .name = "run",
    .usage =
        "OPERATION key=value ... --out DIR\n       limn-cli run STUDY.json --out DIR",
    .summary = N_("Run an operation, or repeat a study exactly."),
    .details = N_("Inputs and parameters are both given as key=value; the keys are shown "
                  "by limn-cli help OPERATION. DIR gets study.json, result.json, "
                  "timing.json and the artifacts. Scalars are printed one per line: "
                  "name, item, value, with tabs between them."),
    .options = run_options,
    .run = run_run,
};

// ---- merge

static gboolean
merge(const LimnCliArguments *arguments, LimnJob *job, const char *out, GError **error)
{
    g_autoptr(GPtrArray) folders = g_ptr_array_new();
    g_ptr_array_extend(folders, arguments->positionals, NULL, NULL);
    g_ptr_array_add(folders, NULL);
    return limn_study_folder_merge((const char *const *) folders->pdata, out,
                                   limn_cli_has(arguments, "force"), job, error);
}

static int
run_merge(const LimnCliArguments *arguments)
{
    g_autoptr(GError) error = NULL;
    const char *out = limn_cli_get(arguments, "out");
    if (out == NULL || out[0] == '\0') {
        return limn_cli_usage_error(_("merge: the output folder is missing (expected "
                                      "--out DIR)"));
    }
    if (arguments->positionals->len == 0) {
        return limn_cli_usage_error(
            _("merge: the folders of the shards are missing (expected DIR ...)"));
    }
    g_autoptr(LimnJob) job = limn_cli_job_begin(arguments, &error);
    gboolean good = job != NULL && merge(arguments, job, out, &error);
    limn_cli_job_end();
    if (!good) {
        return limn_cli_fail(error);
    }
    g_autoptr(LimnStudyFolder) folder = limn_study_folder_load(out, NULL, &error);
    if (folder == NULL) {
        return limn_cli_fail(error);
    }
    print_scalars(folder->scalars);
    return report_skipped(folder->skipped, out);
}

static const LimnCliOption merge_options[] = {
    {"out", "DIR", N_("the folder to write, new or empty")},
    {"force", NULL, N_("replace the study that is in DIR")},
    {"threads", "N", N_("threads, 0: all processors (default)")},
    {"progress", "KIND", N_("bar (default on a terminal), json or none")},
    {NULL, NULL, NULL},
};

const LimnCliVerb limn_cli_merge = {
    .name = "merge",
    .usage = "DIR ... --out DIR",
    .summary = N_("Join the folders that shards of one study wrote."),
    .options = merge_options,
    .run = run_merge,
};

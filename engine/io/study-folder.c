// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/study-folder.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/study-result.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// study.json, result.json and timing.json, which every list of a study's files begins
// with.
#define N_FIXED_FILES 3

// ---- looking at the target

static gboolean
is_directory(const char *path)
{
    return g_file_test(path, G_FILE_TEST_IS_DIR);
}

static gboolean
directory_is_empty(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    return dir != NULL && g_dir_read_name(dir) == NULL;
}

static gboolean
file_exists_in(const char *directory, const char *name)
{
    g_autofree char *path = g_build_filename(directory, name, NULL);
    struct stat info;
    return lstat(path, &info) == 0;
}

gboolean
limn_study_folder_is(const char *path)
{
    g_autofree char *study = g_build_filename(path, LIMN_STUDY_FILE, NULL);
    g_autofree char *result = g_build_filename(path, LIMN_RESULT_FILE, NULL);
    return g_file_test(study, G_FILE_TEST_IS_REGULAR) &&
           g_file_test(result, G_FILE_TEST_IS_REGULAR);
}

// The nearest folder at or above `place` that exists must take new files.
static gboolean
check_writable(const char *place, const char *path, GError **error)
{
    g_autofree char *at = g_strdup(place);
    struct stat info;
    while (stat(at, &info) != 0) {
        int errnum = errno;
        char *parent = g_path_get_dirname(at);
        if ((errnum != ENOENT && errnum != ENOTDIR) || strcmp(parent, at) == 0) {
            g_free(parent);
            return limn_error_set_errno(error, LIMN_ERROR_OUTPUT, path,
                                        "cannot be written", errnum);
        }
        g_free(at);
        at = parent;
    }
    if (!S_ISDIR(info.st_mode)) {
        g_autofree char *shown = limn_display_path(at);
        return limn_error_set_file(error, LIMN_ERROR_OUTPUT, path,
                                   "cannot be written (%s is not a folder)", shown);
    }
    if (access(at, W_OK | X_OK) != 0) {
        return limn_error_set_errno(error, LIMN_ERROR_OUTPUT, path, "cannot be written",
                                    errno);
    }
    return TRUE;
}

gboolean
limn_study_folder_check(const char *path, gboolean force, GError **error)
{
    g_autofree char *absolute = limn_absolute_path(path);
    struct stat info;
    gboolean exists = lstat(absolute, &info) == 0;
    gboolean folder = is_directory(absolute);
    if (exists && !folder && force) {
        return limn_error_set_file(
            error, LIMN_ERROR_OUTPUT, path,
            "cannot be written (found a file, expected the name of a folder)");
    }
    if (exists && !force && (!folder || !directory_is_empty(absolute))) {
        return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, path,
                                   "exists already (expected a new or empty folder, or "
                                   "--force to replace the study in it)");
    }
    // A folder is replaced beside itself, so that its parent matters.
    g_autofree char *parent = g_path_get_dirname(absolute);
    return check_writable(folder ? absolute : parent, path, error);
}

// The path without links, as far as it exists.
static char *
resolve(const char *path)
{
    g_autofree char *absolute = limn_absolute_path(path);
    char *real = realpath(absolute, NULL);
    if (real == NULL) {
        return g_steal_pointer(&absolute);
    }
    char *copy = g_strdup(real);
    free(real);
    return copy;
}

// Both resolved. A folder that holds files of the study counts as well.
static gboolean
study_owns(const char *directory, const char *path)
{
    g_autofree char *relative = limn_relative_path(path, directory);
    if (g_path_is_absolute(relative) || !file_exists_in(directory, LIMN_STUDY_FILE)) {
        return FALSE;
    }
    gsize length = strlen(relative);
    g_auto(GStrv) names = limn_study_result_list_files(directory);
    for (guint i = 0; names[i] != NULL; i++) {
        if (strncmp(names[i], relative, length) == 0 &&
            (names[i][length] == '\0' || names[i][length] == '/')) {
            return TRUE;
        }
    }
    return FALSE;
}

gboolean
limn_study_folder_owns(const char *path)
{
    g_autofree char *real = resolve(path);
    g_autofree char *directory = g_path_get_dirname(real);
    return study_owns(directory, real);
}

gboolean
limn_study_folder_check_inputs(const LimnStudy *study, const char *path, GError **error)
{
    g_autofree char *target = resolve(path);
    for (guint i = 0; i < study->inputs->len; i++) {
        const LimnStudyInput *input = g_ptr_array_index(study->inputs, i);
        if (!limn_input_is_path(
                limn_operation_find_input(study->operation, input->name))) {
            continue;
        }
        g_autofree char *real = resolve(input->value);
        if (strcmp(real, target) == 0 || study_owns(target, real)) {
            g_autofree char *shown = limn_display_path(input->value);
            return limn_error_set_file(
                error, LIMN_ERROR_ARGUMENT, path,
                "the input '%s' (%s) would be replaced (expected another folder)",
                input->name, shown);
        }
    }
    return TRUE;
}

// ---- writing

// The folder that is written to before it gets its name. A lock on it, held while it is
// in use, tells other processes that it is not left over.
typedef struct {
    char *path;
    int fd;
    gboolean inside; // in the target, not beside it
} Temporary;

static gboolean
temporary_make(Temporary *temporary, const char *parent, const char *shown,
               GError **error)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        g_autofree char *name = g_strdup_printf(
            ".limn-study.%d-%06x.limn-part", (int) getpid(), g_random_int() & 0xffffff);
        g_autofree char *path = g_build_filename(parent, name, NULL);
        if (mkdir(path, 0777) == 0) {
            temporary->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (temporary->fd >= 0) {
                flock(temporary->fd, LOCK_EX | LOCK_NB);
            }
            temporary->path = g_steal_pointer(&path);
            return TRUE;
        }
        if (errno != EEXIST) {
            return limn_error_set_errno(error, LIMN_ERROR_OUTPUT, shown,
                                        "cannot be written", errno);
        }
    }
    return limn_error_set_file(error, LIMN_ERROR_OUTPUT, shown,
                               "cannot be written (no free name for a temporary folder)");
}

static void
temporary_clear(Temporary *temporary)
{
    if (temporary->path != NULL && g_file_test(temporary->path, G_FILE_TEST_EXISTS)) {
        (void) limn_remove_tree(temporary->path, NULL);
    }
    if (temporary->fd >= 0) {
        close(temporary->fd);
    }
    g_free(temporary->path);
}

// Removes what processes that died left behind.
static void
remove_stale_folders(const char *parent)
{
    g_autoptr(GDir) dir = g_dir_open(parent, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        int pid = 0, length = 0;
        unsigned int tail = 0;
        if (sscanf(name, ".limn-study.%d-%6x.limn-part%n", &pid, &tail, &length) != 2 ||
            name[length] != '\0' || length == 0 || pid <= 0) {
            continue;
        }
        if (kill(pid, 0) == 0 || errno != ESRCH) {
            continue;
        }
        g_autofree char *path = g_build_filename(parent, name, NULL);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0) {
            if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
                (void) limn_remove_tree(path, NULL);
            }
            close(fd);
        }
    }
}

static gboolean
put_text(LimnArtifactWriter *writer, const char *name, const char *text, GError **error)
{
    return limn_artifact_writer_put(writer, name, text, strlen(text), error);
}

static gboolean
needs_hashes(const LimnStudy *study)
{
    for (guint i = 0; i < study->inputs->len; i++) {
        const LimnStudyInput *input = g_ptr_array_index(study->inputs, i);
        if (input->sha256 == NULL) {
            return TRUE;
        }
    }
    for (const LimnInput *input = study->operation->inputs; input->name != NULL;
         input++) {
        if (input->builtin != NULL && study->builtins->len == 0 &&
            limn_study_get_input(study, input->name) == NULL) {
            return TRUE;
        }
    }
    return FALSE;
}

// Everything into the temporary folder.
static gboolean
write_files(LimnRun *run, const char *temporary, const char *target, GError **error)
{
    LimnStudy *study = limn_run_get_study(run);
    LimnJob *job = limn_run_get_job(run);
    g_autoptr(LimnArtifactWriter) writer =
        limn_artifact_writer_new(temporary, target, job);
    if (!limn_study_result_write(run, writer, error)) {
        return FALSE;
    }
    g_autofree char *study_text = limn_study_to_json(study, target);
    g_autofree char *timing_text = limn_study_timing_to_json(job);
    return put_text(writer, LIMN_STUDY_FILE, study_text, error) &&
           put_text(writer, LIMN_TIMING_FILE, timing_text, error);
}

static gboolean
strv_has(GStrv names, const char *name)
{
    return g_strv_contains((const char *const *) names, name);
}

// TRUE for a file of the study, or a folder that holds files of it.
static gboolean
belongs(GStrv names, const char *name)
{
    for (guint i = 0; names[i] != NULL; i++) {
        const char *slash = strchr(names[i], '/');
        gsize length = slash != NULL ? (gsize) (slash - names[i]) : strlen(names[i]);
        if (strlen(name) == length && strncmp(names[i], name, length) == 0) {
            return TRUE;
        }
    }
    return FALSE;
}

// TRUE when everything in the folder belongs to the study there.
static gboolean
holds_only(const char *directory, GStrv names)
{
    g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        if (!belongs(names, name)) {
            return FALSE;
        }
        g_autofree char *path = g_build_filename(directory, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            return FALSE; // may hold other files as well: file by file then
        }
    }
    return dir != NULL;
}

// New names must not hit files that are not a study's. Where the writing of a study broke
// off, nothing tells which files are its own: then all are taken to be.
static gboolean
check_conflicts(const char *target, GStrv old, GStrv new, GError **error)
{
    gboolean known = g_strv_length(old) > N_FIXED_FILES;
    if (!known && (file_exists_in(target, LIMN_STUDY_FILE) ||
                   file_exists_in(target, LIMN_RESULT_FILE))) {
        return TRUE;
    }
    for (guint i = 0; new[i] != NULL; i++) {
        if (!strv_has(old, new[i]) && file_exists_in(target, new[i])) {
            g_autofree char *path = g_build_filename(target, new[i], NULL);
            return limn_error_set_file(
                error, LIMN_ERROR_OUTPUT, path,
                "exists and belongs to no study (expected another folder)");
        }
    }
    return TRUE;
}

static gboolean
remove_in(const char *directory, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(directory, name, NULL);
    return unlink(path) == 0 || errno == ENOENT ||
           limn_error_set_errno(error, LIMN_ERROR_OUTPUT, path, "cannot remove", errno);
}

static gboolean
move_file(const char *from, const char *to, const char *name, GError **error)
{
    g_autofree char *source = g_build_filename(from, name, NULL);
    g_autofree char *target = g_build_filename(to, name, NULL);
    g_autofree char *folder = g_path_get_dirname(target);
    if (!limn_make_directory(folder, error)) {
        return FALSE;
    }
    return rename(source, target) == 0 ||
           limn_error_set_errno(error, LIMN_ERROR_OUTPUT, target,
                                "cannot rename to this name", errno);
}

// File by file into a folder that keeps its other files.
static gboolean
replace_files(const char *temporary, const char *target, GStrv old, GStrv new,
              GError **error)
{
    if (!check_conflicts(target, old, new, error) ||
        !remove_in(target, LIMN_RESULT_FILE, error)) {
        return FALSE;
    }
    for (guint i = 0; old[i] != NULL; i++) {
        if (!strv_has(new, old[i]) && !remove_in(target, old[i], error)) {
            return FALSE;
        }
    }
    for (guint i = 0; new[i] != NULL; i++) {
        if (strcmp(new[i], LIMN_RESULT_FILE) != 0 &&
            !move_file(temporary, target, new[i], error)) {
            return FALSE;
        }
    }
    return move_file(temporary, target, LIMN_RESULT_FILE, error);
}

// The temporary folder takes the place of a folder that holds nothing but a study; the
// old one is left under the temporary name.
static gboolean
exchange(const char *temporary, const char *target)
{
    return renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_EXCHANGE) == 0;
}

// What takes the place of a folder gets its permissions.
static void
copy_mode(const char *target, const char *temporary)
{
    struct stat info;
    if (stat(target, &info) == 0) {
        (void) !chmod(temporary, info.st_mode & 07777);
    }
}

static gboolean
install(const Temporary *temporary, const char *target, gboolean force, GError **error)
{
    if (!temporary->inside) {
        copy_mode(target, temporary->path);
        if (rename(temporary->path, target) == 0) {
            return TRUE;
        }
        if (errno != ENOTEMPTY && errno != EEXIST) {
            return limn_error_set_errno(error, LIMN_ERROR_OUTPUT, target,
                                        "cannot be written", errno);
        }
        if (!force) {
            return limn_error_set_file(error, LIMN_ERROR_OUTPUT, target,
                                       "was made by another program meanwhile");
        }
    }
    g_auto(GStrv) old = limn_study_result_list_files(target);
    g_auto(GStrv) new = limn_study_result_list_files(temporary->path);
    if (!temporary->inside && holds_only(target, old) &&
        exchange(temporary->path, target)) {
        return TRUE;
    }
    return replace_files(temporary->path, target, old, new, error);
}

// A folder whose parent takes no new folders, or that is another file system, gets the
// temporary one inside.
static gboolean
must_write_inside(const char *target, const char *parent)
{
    struct stat here, above;
    return stat(target, &here) == 0 && S_ISDIR(here.st_mode) &&
           (access(parent, W_OK | X_OK) != 0 || stat(parent, &above) != 0 ||
            here.st_dev != above.st_dev);
}

static void
sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

gboolean
limn_study_folder_write(LimnRun *run, const char *path, gboolean force, GError **error)
{
    LimnStudy *study = limn_run_get_study(run);
    LimnJob *job = limn_run_get_job(run);
    if (needs_hashes(study) && !limn_study_hash_inputs(study, job, error)) {
        return FALSE;
    }
    g_autofree char *target = resolve(path); // the folder itself behind a link
    g_autofree char *parent = g_path_get_dirname(target);
    Temporary temporary = {.fd = -1, .inside = must_write_inside(target, parent)};
    const char *place = temporary.inside ? target : parent;
    if (!limn_study_folder_check(path, force, error) ||
        !limn_study_folder_check_inputs(study, path, error) ||
        !limn_make_directory(place, error)) {
        return FALSE;
    }
    limn_file_remove_stale(place);
    remove_stale_folders(place);
    gboolean good = temporary_make(&temporary, place, target, error) &&
                    write_files(run, temporary.path, target, error) &&
                    limn_job_check(job, error) &&
                    install(&temporary, target, force, error);
    temporary_clear(&temporary);
    sync_directory(parent);
    return good;
}

// ---- reading

static void
scalar_free(LimnScalar *scalar)
{
    g_free(scalar->name);
    g_free(scalar->item);
    g_free(scalar);
}

static void
skipped_free(LimnSkipped *skipped)
{
    g_free(skipped->item);
    g_free(skipped->reason);
    g_free(skipped);
}

static void
diagnostic_free(LimnDiagnostic *diagnostic)
{
    g_free(diagnostic->item);
    g_free(diagnostic->message);
    g_free(diagnostic);
}

static void
item_free(LimnRunItem *item)
{
    g_free(item->name);
    g_free(item);
}

LimnStudyFolder *
limn_study_folder_load(const char *path, LimnJob *job, GError **error)
{
    g_autoptr(LimnStudyFolder) folder = g_new0(LimnStudyFolder, 1);
    folder->path = limn_absolute_path(path);
    folder->artifacts =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_artifact_unref);
    folder->scalars = g_ptr_array_new_with_free_func((GDestroyNotify) scalar_free);
    folder->skipped = g_ptr_array_new_with_free_func((GDestroyNotify) skipped_free);
    folder->diagnostics =
        g_ptr_array_new_with_free_func((GDestroyNotify) diagnostic_free);
    folder->diagnostic_items = g_array_new(FALSE, FALSE, sizeof(gint64));
    folder->items = g_ptr_array_new_with_free_func((GDestroyNotify) item_free);
    if (!is_directory(folder->path)) {
        limn_error_set_file(error, LIMN_ERROR_IO, path,
                            "is no folder (expected the folder of a study)");
        return NULL;
    }
    if (!limn_study_folder_is(folder->path)) {
        gboolean half = file_exists_in(folder->path, LIMN_STUDY_FILE);
        limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                            "is not the folder of a finished study (found no %s)",
                            half ? LIMN_RESULT_FILE : LIMN_STUDY_FILE);
        return NULL;
    }
    g_autofree char *study = g_build_filename(folder->path, LIMN_STUDY_FILE, NULL);
    folder->study = limn_study_load(study, FALSE, job, error);
    if (folder->study == NULL || !limn_study_result_read(folder, job, error)) {
        return NULL;
    }
    return g_steal_pointer(&folder);
}

void
limn_study_folder_free(LimnStudyFolder *folder)
{
    if (folder == NULL) {
        return;
    }
    g_clear_pointer(&folder->study, limn_study_unref);
    g_ptr_array_unref(folder->artifacts);
    g_ptr_array_unref(folder->scalars);
    g_ptr_array_unref(folder->skipped);
    g_ptr_array_unref(folder->diagnostics);
    g_ptr_array_unref(folder->items);
    g_array_unref(folder->diagnostic_items);
    g_free(folder->path);
    g_free(folder);
}

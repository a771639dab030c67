// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Files that are never half written. A writer writes beside the target under a
// temporary name (".NAME.PID-XXXXXX.limn-part"), syncs and renames; a process that dies
// leaves the old file. limn_file_remove_stale deletes parts left behind by dead
// processes. Reading maps the file. Paths are in the file system's encoding.

#include "engine/base/types.h"

// Maps a regular file read-only. Errors name the path: a directory, a missing or
// unreadable file, a file larger than max_size (0: no bound).
GBytes *limn_file_map(const char *path, guint64 max_size, GError **error);
// As above, but reads into memory (for files that somebody may truncate meanwhile).
GBytes *limn_file_read(const char *path, guint64 max_size, GError **error);

typedef struct LimnFileWriter LimnFileWriter;

// A link at `path` is replaced, not followed; a file that is replaced keeps its mode.
LimnFileWriter *limn_file_writer_new(const char *path, GError **error);
gboolean limn_file_writer_write(LimnFileWriter *writer, const void *data, gsize size,
                                GError **error);
gboolean limn_file_writer_printf(LimnFileWriter *writer, GError **error,
                                 const char *format, ...) G_GNUC_PRINTF(3, 4);
// fsync, rename, fsync of the directory. The writer may only be freed afterwards.
gboolean limn_file_writer_commit(LimnFileWriter *writer, GError **error);
// Without a commit the temporary file is removed.
void limn_file_writer_free(LimnFileWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnFileWriter, limn_file_writer_free)

gboolean limn_file_write(const char *path, const void *data, gsize size, GError **error);

// Standard input, output and error that are closed become /dev/null, so that no file or
// pipe gets their numbers and is written to by a printf. The first thing in a main.
void limn_standard_streams_open(void);

// TRUE also for a link that leads nowhere or round: who looks for an optional file finds
// it then, and opening it says what is wrong.
gboolean limn_file_is_there(const char *path);

// mkdir -p; LIMN_ERROR_OUTPUT naming the path.
gboolean limn_make_directory(const char *path, GError **error);
void limn_file_remove_stale(const char *directory);

// Removes a directory tree that Limn made (never follows links out of it).
gboolean limn_remove_tree(const char *path, GError **error);

// Absolute, normalised path of `path` (relative to the working directory).
char *limn_absolute_path(const char *path);
// `path` relative to `directory` when it lies below it, else absolute. Both absolute.
char *limn_relative_path(const char *path, const char *directory);

// Data that come with the program ("samples/desk.png", "models/emoji-clip"): looked up
// in $LIMN_DATA_DIR, beside the program (../share/limn), in the source tree when the
// program runs uninstalled, and in the installed data directory.
// Returns: (transfer full) path, or NULL with LIMN_ERROR_IO that names what is missing.
char *limn_data_path(const char *relative, GError **error);

// An append-only journal of lines, each written with fsync. A torn last line (no
// newline) is dropped with a notice when reading.
typedef struct LimnJournal LimnJournal;
LimnJournal *limn_journal_open(const char *path, GError **error);
gboolean limn_journal_append(LimnJournal *journal, const char *line, GError **error);
void limn_journal_free(LimnJournal *journal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnJournal, limn_journal_free)
// Returns: (transfer full) complete lines; *torn says whether a partial one was dropped.
GStrv limn_journal_read(const char *path, gboolean *torn, GError **error);

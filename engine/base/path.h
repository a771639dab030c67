// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// For code that keeps file descriptors of its own; everybody else uses file.h.

#include <glib.h>
#include <sys/stat.h>

// Opens a regular file for reading without ever waiting (a pipe, a socket, a device or a
// directory is refused). Returns the descriptor, or -1 with LIMN_ERROR_IO.
int limn_file_open_regular(const char *path, struct stat *info, GError **error);

// LIMN_ERROR_OUTPUT naming path and reason, for a full disk also the directory. FALSE.
gboolean limn_file_set_output_error(GError **error, const char *path, const char *what,
                                    int errnum);

// Returns 0 or an errno.
int limn_file_write_all(int fd, const void *data, gsize size);

// Makes a rename or a new file in it last; failures are ignored.
void limn_file_sync_directory(const char *directory);

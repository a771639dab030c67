// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Errors. Everything that can fail at run time takes a GError ** last and returns
// NULL or FALSE. Whoever detects an error describes it: the message names the file,
// the item, what was found and what was expected; whoever passes it on adds nothing.
// The code decides the exit status of limn-cli (see limn_error_exit_status).

#include <glib.h>

#define LIMN_ERROR limn_error_quark()

typedef enum {
    LIMN_ERROR_FAILED,      // did not succeed: diverged, server said no         exit 1
    LIMN_ERROR_OUTPUT,      // output not writable, disk full                    exit 1
    LIMN_ERROR_MEMORY,      // a checked memory bound or allocation failed       exit 1
    LIMN_ERROR_ARGUMENT,    // unknown operation, key or value out of range      exit 2
    LIMN_ERROR_IO,          // an input is missing or cannot be read             exit 3
    LIMN_ERROR_FORMAT,      // an input is malformed                             exit 3
    LIMN_ERROR_UNSUPPORTED, // an input is of a kind that is not supported       exit 3
    LIMN_ERROR_MISMATCH,    // inputs do not fit together, or changed            exit 4
    LIMN_ERROR_CANCELLED,   // the user cancelled                                exit 130
} LimnErrorCode;

GQuark limn_error_quark(void);

// Exit status of the command line for an error; 0 for NULL, 1 for foreign domains
// other than G_IO_ERROR_CANCELLED (130).
int limn_error_exit_status(const GError *error);

// Set "PATH: WHAT: strerror(errnum)" with the code given; PATH is shown by
// limn_display_path(). Returns FALSE, so that callers can return the call.
gboolean limn_error_set_errno(GError **error, LimnErrorCode code, const char *path,
                              const char *what, int errnum);

// Set "PATH: message" with a formatted message. Returns FALSE.
gboolean limn_error_set_file(GError **error, LimnErrorCode code, const char *path,
                             const char *format, ...) G_GNUC_PRINTF(4, 5);

// A path as it may be shown: UTF-8, control characters escaped, never NULL.
// Returns: (transfer full)
char *limn_display_path(const char *path);

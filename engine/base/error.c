// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/error.h"

#include <gio/gio.h>
#include <string.h>

G_DEFINE_QUARK(limn - error - quark, limn_error)

int
limn_error_exit_status(const GError *error)
{
    if (error == NULL) {
        return 0;
    }
    if (error->domain == G_IO_ERROR && error->code == G_IO_ERROR_CANCELLED) {
        return 130;
    }
    if (error->domain != LIMN_ERROR) {
        return 1;
    }
    switch ((LimnErrorCode) error->code) {
    case LIMN_ERROR_FAILED:
    case LIMN_ERROR_OUTPUT:
    case LIMN_ERROR_MEMORY:
        return 1;
    case LIMN_ERROR_ARGUMENT:
        return 2;
    case LIMN_ERROR_IO:
    case LIMN_ERROR_FORMAT:
    case LIMN_ERROR_UNSUPPORTED:
        return 3;
    case LIMN_ERROR_MISMATCH:
        return 4;
    case LIMN_ERROR_CANCELLED:
        return 130;
    }
    return 1;
}

gboolean
limn_error_set_errno(GError **error, LimnErrorCode code, const char *path,
                     const char *what, int errnum)
{
    g_autofree char *shown = limn_display_path(path);
    g_set_error(error, LIMN_ERROR, code, "%s: %s: %s", shown, what, g_strerror(errnum));
    return FALSE;
}

gboolean
limn_error_set_file(GError **error, LimnErrorCode code, const char *path,
                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *shown = limn_display_path(path);
    g_set_error(error, LIMN_ERROR, code, "%s: %s", shown, message);
    return FALSE;
}

// Characters that would change how the rest of a message is read: controls, line and
// paragraph separators, marks that reverse the writing direction.
static gboolean
must_escape(gunichar c)
{
    return g_unichar_iscntrl(c) || c == 0x2028 || c == 0x2029 || c == 0x200e ||
           c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
           c == 0xfeff;
}

static void
append_escaped(GString *out, gunichar c)
{
    if (c == '\n') {
        g_string_append(out, "\\n");
    } else if (c == '\t') {
        g_string_append(out, "\\t");
    } else if (c == '\r') {
        g_string_append(out, "\\r");
    } else if (c < 0x80) {
        g_string_append_printf(out, "\\x%02x", c);
    } else {
        g_string_append_printf(out, "\\u%04x", c);
    }
}

char *
limn_display_path(const char *path)
{
    if (path == NULL) {
        return g_strdup("(no file)");
    }
    GString *out = g_string_sized_new(strlen(path) + 16);
    const char *at = path;
    while (*at != '\0') {
        gunichar c = g_utf8_get_char_validated(at, -1);
        if (c == (gunichar) -1 || c == (gunichar) -2) {
            g_string_append_printf(out, "\\x%02x", (guint8) *at++);
            continue;
        }
        if (must_escape(c)) {
            append_escaped(out, c);
        } else {
            g_string_append_unichar(out, c);
        }
        at += g_utf8_skip[(guint8) *at];
    }
    return g_string_free(out, FALSE);
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/json-writer.h"

#include "engine/base/number.h"

#include <math.h>

struct LimnJsonWriter {
    GString *text;
    int depth;
    int inline_depth; // depth at which one-line writing began, 0: not in it
    gboolean inline_next;
    gboolean empty; // nothing written yet in what is open
};

LimnJsonWriter *
limn_json_writer_new(void)
{
    LimnJsonWriter *writer = g_new0(LimnJsonWriter, 1);
    writer->text = g_string_new(NULL);
    writer->empty = TRUE;
    return writer;
}

void
limn_json_writer_free(LimnJsonWriter *writer)
{
    if (writer == NULL) {
        return;
    }
    g_string_free(writer->text, TRUE);
    g_free(writer);
}

static void
append_string(GString *text, const char *value)
{
    g_autofree char *valid = g_utf8_make_valid(value, -1);
    g_string_append_c(text, '"');
    for (const char *at = valid; *at != '\0'; at++) {
        unsigned char c = (unsigned char) *at;
        if (c == '"' || c == '\\') {
            g_string_append_c(text, '\\');
            g_string_append_c(text, *at);
        } else if (c == '\n') {
            g_string_append(text, "\\n");
        } else if (c == '\t') {
            g_string_append(text, "\\t");
        } else if (c == '\r') {
            g_string_append(text, "\\r");
        } else if (c < 0x20 || c == 0x7f) {
            g_string_append_printf(text, "\\u%04x", c);
        } else {
            g_string_append_c(text, *at);
        }
    }
    g_string_append_c(text, '"');
}

static void
append_line_end(LimnJsonWriter *writer)
{
    if (writer->inline_depth > 0) {
        return;
    }
    g_string_append_c(writer->text, '\n');
    for (int i = 0; i < writer->depth; i++) {
        g_string_append_c(writer->text, ' ');
    }
}

// Everything that comes before a value: comma, line, indentation and key.
static void
begin_value(LimnJsonWriter *writer, const char *key)
{
    if (!writer->empty) {
        g_string_append(writer->text, writer->inline_depth > 0 ? ", " : ",");
    }
    if (writer->depth > 0) {
        append_line_end(writer);
    }
    writer->empty = FALSE;
    if (key != NULL) {
        append_string(writer->text, key);
        g_string_append(writer->text, ": ");
    }
}

static void
open_container(LimnJsonWriter *writer, const char *key, char mark)
{
    begin_value(writer, key);
    g_string_append_c(writer->text, mark);
    writer->depth++;
    writer->empty = TRUE;
    if (writer->inline_next && writer->inline_depth == 0) {
        writer->inline_depth = writer->depth;
    }
    writer->inline_next = FALSE;
}

static void
close_container(LimnJsonWriter *writer, char mark)
{
    g_return_if_fail(writer->depth > 0);
    gboolean was_inline = writer->inline_depth > 0;
    writer->depth--;
    if (!was_inline && !writer->empty) {
        append_line_end(writer);
    }
    if (writer->depth < writer->inline_depth) {
        writer->inline_depth = 0;
    }
    g_string_append_c(writer->text, mark);
    writer->empty = FALSE;
}

void
limn_json_writer_begin_object(LimnJsonWriter *writer, const char *key)
{
    open_container(writer, key, '{');
}

void
limn_json_writer_end_object(LimnJsonWriter *writer)
{
    close_container(writer, '}');
}

void
limn_json_writer_begin_array(LimnJsonWriter *writer, const char *key)
{
    open_container(writer, key, '[');
}

void
limn_json_writer_end_array(LimnJsonWriter *writer)
{
    close_container(writer, ']');
}

void
limn_json_writer_inline(LimnJsonWriter *writer)
{
    writer->inline_next = TRUE;
}

void
limn_json_writer_string(LimnJsonWriter *writer, const char *key, const char *value)
{
    if (value == NULL) {
        limn_json_writer_null(writer, key);
        return;
    }
    begin_value(writer, key);
    append_string(writer->text, value);
}

void
limn_json_writer_double(LimnJsonWriter *writer, const char *key, double value)
{
    if (!isfinite(value)) {
        limn_json_writer_null(writer, key);
        return;
    }
    char buffer[LIMN_NUMBER_BUFFER];
    begin_value(writer, key);
    g_string_append(writer->text, limn_number_format(buffer, value));
}

void
limn_json_writer_int(LimnJsonWriter *writer, const char *key, gint64 value)
{
    begin_value(writer, key);
    g_string_append_printf(writer->text, "%" G_GINT64_FORMAT, value);
}

void
limn_json_writer_uint(LimnJsonWriter *writer, const char *key, guint64 value)
{
    begin_value(writer, key);
    g_string_append_printf(writer->text, "%" G_GUINT64_FORMAT, value);
}

void
limn_json_writer_bool(LimnJsonWriter *writer, const char *key, gboolean value)
{
    begin_value(writer, key);
    g_string_append(writer->text, value ? "true" : "false");
}

void
limn_json_writer_null(LimnJsonWriter *writer, const char *key)
{
    begin_value(writer, key);
    g_string_append(writer->text, "null");
}

char *
limn_json_writer_finish(LimnJsonWriter *writer)
{
    g_return_val_if_fail(writer->depth == 0, NULL);
    g_string_append_c(writer->text, '\n');
    char *text = g_strndup(writer->text->str, writer->text->len);
    g_string_truncate(writer->text, 0);
    writer->empty = TRUE;
    return text;
}

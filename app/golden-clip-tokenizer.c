// SPDX-License-Identifier: GPL-3.0-or-later

// tokenizer*/: sentences and their tokens with the built-in vocabulary.

#include <string.h>

#include "engine/base/file.h"
#include "engine/io/json.h"
#include "engine/text/tokenizer.h"
#include "golden-grad-eclip.h"

#define CONTEXT 77

static gboolean
same_ids(const LimnTokens *tokens, json_t *expected)
{
    if (!json_is_array(expected) || json_array_size(expected) != tokens->tokens->len) {
        return FALSE;
    }
    for (guint i = 0; i < tokens->tokens->len; i++) {
        json_t *id = json_array_get(expected, i);
        if (!json_is_integer(id) ||
            json_integer_value(id) != g_array_index(tokens->tokens, LimnToken, i).id) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
same_pieces(LimnTokenizer *tokenizer, const LimnTokens *tokens, json_t *expected)
{
    if (!json_is_array(expected) || json_array_size(expected) != tokens->tokens->len) {
        return FALSE;
    }
    for (guint i = 0; i < tokens->tokens->len; i++) {
        gint32 id = g_array_index(tokens->tokens, LimnToken, i).id;
        if (g_strcmp0(limn_tokenizer_get_piece(tokenizer, id),
                      json_string_value(json_array_get(expected, i))) != 0) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
check(LimnGolden *golden, gsize number, const char *what, json_t *value, gboolean right)
{
    g_autofree char *name = g_strdup_printf("%" G_GSIZE_FORMAT ".%s", number, what);
    if (value == NULL) {
        limn_golden_fail(golden, name, "missing key");
    } else {
        limn_golden_check(golden, name, right);
    }
}

static void
run_case(LimnGolden *golden, LimnTokenizer *tokenizer, gsize number, json_t *value)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *shown = g_strdup_printf("%" G_GSIZE_FORMAT ".text", number);
    json_t *text = json_object_get(value, "text");
    if (!json_is_string(text)) {
        limn_golden_fail(golden, shown, "missing key or wrong type (expected a string)");
        return;
    }
    const char *sentence = json_string_value(text);
    gsize size = json_string_length(text); // it may contain NUL
    g_autoptr(LimnTokens) full =
        limn_tokenizer_encode_bytes(tokenizer, sentence, size, 0, &error);
    g_autoptr(LimnTokens) cut =
        full != NULL
            ? limn_tokenizer_encode_bytes(tokenizer, sentence, size, CONTEXT, &error)
            : NULL;
    if (cut == NULL) {
        limn_golden_fail_error(golden, shown, &error);
        return;
    }
    json_t *cleaned = json_object_get(value, "cleaned");
    json_t *pieces = json_object_get(value, "pieces");
    json_t *ids = json_object_get(value, "ids_full");
    json_t *short_ids = json_object_get(value, "ids_77");
    json_t *too_long = json_object_get(value, "too_long");
    check(golden, number, "cleaned", cleaned,
          g_strcmp0(full->cleaned, json_string_value(cleaned)) == 0);
    check(golden, number, "pieces", pieces, same_pieces(tokenizer, full, pieces));
    check(golden, number, "ids_full", ids, same_ids(full, ids));
    check(golden, number, "ids_77", short_ids, same_ids(cut, short_ids));
    check(golden, number, "too_long", too_long,
          json_is_boolean(too_long) && json_is_true(too_long) == cut->truncated);
}

static gboolean
is_known_file(const char *path, gpointer data)
{
    return strcmp(path, "cases.json") == 0;
}

void
limn_golden_clip_tokenizer(LimnGolden *golden, const char *folder, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(folder, "cases.json", NULL);
    limn_golden_skip_unknown(golden, folder, name, is_known_file, NULL);
    limn_golden_begin(golden, name);
    g_autoptr(LimnTokenizer) tokenizer = limn_tokenizer_new_clip(&error);
    if (tokenizer == NULL) {
        limn_golden_fail_error(golden, "cases.json", &error);
        return;
    }
    json_error_t problem;
    g_autoptr(GBytes) bytes = limn_file_read(path, 0, &error);
    if (bytes == NULL) {
        limn_golden_fail_error(golden, "cases.json", &error);
        return;
    }
    g_autoptr(json_t) cases =
        json_loadb(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes),
                   JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &problem);
    if (cases == NULL) {
        limn_golden_fail(golden, "cases.json", "%s (line %d)", problem.text,
                         problem.line);
        return;
    }
    if (!json_is_array(cases)) {
        limn_golden_fail(golden, "cases.json", "wrong type (expected a list)");
    }
    gsize i;
    json_t *value;
    json_array_foreach(cases, i, value)
    {
        run_case(golden, tokenizer, i, value);
    }
}

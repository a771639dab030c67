// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/npy-header.h"

#include <string.h>

#include "engine/base/error.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
#define MAX_HEADER (1024 * 1024)
#define ALIGNMENT 64

// A cursor over the dict literal.
typedef struct {
    const char *at, *end;
    const char *name; // of the file
    LimnNpyHeader *header;
} Scanner;

static const struct {
    const char *code; // without byte order
    LimnDType dtype;
} TYPES[] = {
    {"f2", LIMN_DTYPE_F16},  {"f4", LIMN_DTYPE_F32}, {"f8", LIMN_DTYPE_F64},
    {"b1", LIMN_DTYPE_BOOL}, {"i1", LIMN_DTYPE_I8},  {"u1", LIMN_DTYPE_U8},
    {"i2", LIMN_DTYPE_I16},  {"u2", LIMN_DTYPE_U16}, {"i4", LIMN_DTYPE_I32},
    {"u4", LIMN_DTYPE_U32},  {"i8", LIMN_DTYPE_I64}, {"u8", LIMN_DTYPE_U64},
};

static gboolean
fail(const Scanner *scanner, GError **error, const char *expected)
{
    g_autofree char *found = NULL;
    if (scanner->at == scanner->end)
        found = g_strdup("the end of the header");
    else
        found = g_strdup_printf("\"%.*s\"", (int) MIN(scanner->end - scanner->at, 12),
                                scanner->at);
    g_autofree char *shown = g_utf8_make_valid(found, -1);
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, scanner->name,
                               "malformed .npy header (found %s, expected %s)", shown,
                               expected);
}

static void
skip_blanks(Scanner *scanner)
{
    while (scanner->at < scanner->end && (*scanner->at == ' ' || *scanner->at == '\n' ||
                                          *scanner->at == '\t' || *scanner->at == '\r'))
        scanner->at++;
}

// Consumes c after blanks.
static gboolean
accept(Scanner *scanner, char c)
{
    skip_blanks(scanner);
    if (scanner->at == scanner->end || *scanner->at != c)
        return FALSE;
    scanner->at++;
    return TRUE;
}

static gboolean
accept_word(Scanner *scanner, const char *word)
{
    skip_blanks(scanner);
    gsize length = strlen(word);
    if ((gsize) (scanner->end - scanner->at) < length ||
        memcmp(scanner->at, word, length) != 0)
        return FALSE;
    scanner->at += length;
    return TRUE;
}

// A quoted string without escapes, of fewer than 32 bytes.
static gboolean
scan_string(Scanner *scanner, char text[32], GError **error)
{
    skip_blanks(scanner);
    if (scanner->at == scanner->end || (*scanner->at != '\'' && *scanner->at != '"'))
        return fail(scanner, error, "a quoted string");
    const char *begin = scanner->at + 1;
    const char *close = memchr(begin, *scanner->at, scanner->end - begin);
    if (close == NULL || close - begin > 31 || memchr(begin, '\\', close - begin) != NULL)
        return fail(scanner, error, "a short quoted string");
    memcpy(text, begin, close - begin);
    text[close - begin] = '\0';
    scanner->at = close + 1;
    return TRUE;
}

// What an element type that is not supported is called; NULL when it is nonsense.
static const char *
describe_code(char kind)
{
    switch (kind) {
    case 'O':
        return "Python objects (a pickle, which is never loaded)";
    case 'S':
    case 'a':
        return "byte strings";
    case 'U':
        return "strings";
    case 'V':
        return "raw records";
    case 'M':
        return "dates";
    case 'm':
        return "time spans";
    case 'c':
        return "complex numbers";
    case 'f':
        return "floats of unusual size";
    default:
        return NULL;
    }
}

static gboolean
parse_descr(Scanner *scanner, const char *descr, GError **error)
{
    char order = '=';
    const char *code = descr;
    if (code[0] != '\0' && strchr("<>=|", code[0]) != NULL)
        order = *code++;
    for (gsize i = 0; i < G_N_ELEMENTS(TYPES); i++) {
        if (strcmp(code, TYPES[i].code) != 0)
            continue;
        scanner->header->dtype = TYPES[i].dtype;
        scanner->header->swapped = limn_dtype_size(TYPES[i].dtype) > 1 &&
                                   order == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? '>' : '<');
        return TRUE;
    }
    g_autofree char *shown = g_utf8_make_valid(descr, -1);
    const char *kind = describe_code(code[0]);
    if (kind != NULL)
        return limn_error_set_file(
            error, LIMN_ERROR_UNSUPPORTED, scanner->name,
            "the array holds %s (found descr '%s', expected f2, f4, f8, integers of 1 to "
            "8 bytes or bool; convert it with astype() before saving)",
            kind, shown);
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, scanner->name,
                               "unknown element type in the .npy header (found descr "
                               "'%s', expected for example '<f4')",
                               shown);
}

static gboolean
scan_descr(Scanner *scanner, GError **error)
{
    char descr[32];
    skip_blanks(scanner);
    if (scanner->at < scanner->end && (*scanner->at == '[' || *scanner->at == '('))
        return limn_error_set_file(
            error, LIMN_ERROR_UNSUPPORTED, scanner->name,
            "the array is structured: its elements are records with named fields "
            "(expected plain numbers; save each field as an array of its own)");
    return scan_string(scanner, descr, error) && parse_descr(scanner, descr, error);
}

static gboolean
scan_fortran(Scanner *scanner, GError **error)
{
    if (accept_word(scanner, "True"))
        scanner->header->fortran = TRUE;
    else if (accept_word(scanner, "False"))
        scanner->header->fortran = FALSE;
    else
        return fail(scanner, error, "True or False");
    return TRUE;
}

static gboolean
scan_size(Scanner *scanner, gint64 *size, GError **error)
{
    skip_blanks(scanner);
    const char *begin = scanner->at;
    gint64 value = 0;
    while (scanner->at < scanner->end && g_ascii_isdigit(*scanner->at)) {
        int digit = *scanner->at - '0';
        if (value > (G_MAXINT64 - digit) / 10) {
            scanner->at = begin;
            return fail(scanner, error, "a size below 2^63");
        }
        value = value * 10 + digit;
        scanner->at++;
    }
    if (scanner->at == begin)
        return fail(scanner, error, "a size of at least 0");
    if (scanner->at < scanner->end && *scanner->at == 'L') // written by Python 2
        scanner->at++;
    *size = value;
    return TRUE;
}

// "()", "(3,)", "(2, 3)", "(2, 3,)"; "(3)" is a number to Python and no shape.
static gboolean
scan_shape(Scanner *scanner, GError **error)
{
    LimnNpyHeader *header = scanner->header;
    gboolean comma = TRUE;
    header->rank = 0;
    if (!accept(scanner, '('))
        return fail(scanner, error, "a shape in parentheses");
    while (!accept(scanner, ')')) {
        gint64 size = 0;
        if (!comma)
            return fail(scanner, error, "a comma or a parenthesis");
        if (!scan_size(scanner, &size, error))
            return FALSE;
        if (header->rank == LIMN_ARRAY_MAX_RANK)
            return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, scanner->name,
                                       "the array has more than %d dimensions",
                                       LIMN_ARRAY_MAX_RANK);
        header->shape[header->rank++] = size;
        comma = accept(scanner, ',');
        if (!comma && header->rank == 1)
            return fail(scanner, error, "a comma after the only size");
    }
    return TRUE;
}

static gboolean
scan_dict(Scanner *scanner, GError **error)
{
    static const char *const KEYS[] = {"descr", "fortran_order", "shape"};
    gboolean seen[3] = {FALSE, FALSE, FALSE};
    gboolean comma = TRUE;
    if (!accept(scanner, '{'))
        return fail(scanner, error, "{");
    while (!accept(scanner, '}')) {
        char key[32];
        guint k = 0;
        if (!comma)
            return fail(scanner, error, "a comma or }");
        if (!scan_string(scanner, key, error))
            return FALSE;
        while (k < 3 && strcmp(key, KEYS[k]) != 0)
            k++;
        if (k == 3 || seen[k])
            return fail(scanner, error, "the keys descr, fortran_order and shape, once");
        seen[k] = TRUE;
        if (!accept(scanner, ':'))
            return fail(scanner, error, "a colon");
        if (!(k == 0   ? scan_descr(scanner, error)
              : k == 1 ? scan_fortran(scanner, error)
                       : scan_shape(scanner, error)))
            return FALSE;
        comma = accept(scanner, ',');
    }
    if (!seen[0] || !seen[1] || !seen[2])
        return fail(scanner, error, "the keys descr, fortran_order and shape");
    skip_blanks(scanner);
    return scanner->at == scanner->end || fail(scanner, error, "nothing after the dict");
}

// Magic, version and length; the dict literal is data[*begin, *end).
static gboolean
parse_frame(const guint8 *data, gsize size, const char *name, gsize *begin, gsize *end,
            GError **error)
{
    if (size < MAGIC_SIZE + 4 || memcmp(data, MAGIC, MAGIC_SIZE) != 0)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name, "not a .npy file (%s)",
                                   size < MAGIC_SIZE + 4 ? "too short for its header"
                                                         : "its first bytes are others");
    int major = data[6], minor = data[7];
    if (major < 1 || major > 3 || minor != 0)
        return limn_error_set_file(
            error, LIMN_ERROR_UNSUPPORTED, name,
            ".npy version %d.%d is not known (expected 1.0, 2.0 or 3.0)", major, minor);
    guint64 length = data[8] | data[9] << 8;
    *begin = 10;
    if (major > 1) {
        if (size < 12)
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                       "not a .npy file (too short for its header)");
        length |= (guint64) data[10] << 16 | (guint64) data[11] << 24;
        *begin = 12;
    }
    if (length > size - *begin)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                   "cut inside the .npy header (it has %" G_GUINT64_FORMAT
                                   " bytes, the file %" G_GSIZE_FORMAT " more)",
                                   length, size - *begin);
    if (length > MAX_HEADER)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                   "the .npy header has %" G_GUINT64_FORMAT
                                   " bytes (expected at most %d)",
                                   length, MAX_HEADER);
    *end = *begin + length;
    return TRUE;
}

gboolean
limn_npy_header_parse(const guint8 *data, gsize size, const char *name,
                      LimnNpyHeader *header, GError **error)
{
    gsize begin = 0, end = 0;
    if (!parse_frame(data, size, name, &begin, &end, error))
        return FALSE;
    *header = (LimnNpyHeader){.offset = end};
    Scanner scanner = {(const char *) data + begin, (const char *) data + end, name,
                       header};
    if (!scan_dict(&scanner, error))
        return FALSE;
    gsize element = limn_dtype_size(header->dtype);
    if (!limn_shape_length(header->rank, header->shape, element, &header->length)) {
        g_autofree char *shape = limn_shape_describe(header->rank, header->shape);
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                   "an array of shape %s is larger than any memory",
                                   shape);
    }
    header->data_size = (gsize) header->length * element;
    return TRUE;
}

GString *
limn_npy_header_format(const LimnArray *array, GError **error)
{
    const char *code = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(TYPES); i++)
        if (TYPES[i].dtype == array->dtype)
            code = TYPES[i].code;
    if (code == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    ".npy cannot hold elements of type %s",
                    limn_dtype_name(array->dtype));
        return NULL;
    }
    char order = limn_dtype_size(array->dtype) == 1 ? '|'
                 : G_BYTE_ORDER == G_LITTLE_ENDIAN  ? '<'
                                                    : '>';
    GString *header = g_string_new_len(MAGIC "\x01\x00\x00\x00", MAGIC_SIZE + 4);
    g_string_append_printf(header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                           order, code);
    for (int i = 0; i < array->rank; i++)
        g_string_append_printf(header, "%s%" G_GINT64_FORMAT "%s", i > 0 ? " " : "",
                               array->shape[i],
                               i + 1 < array->rank || array->rank == 1 ? "," : "");
    g_string_append(header, "), }");
    while ((header->len + 1) % ALIGNMENT != 0)
        g_string_append_c(header, ' ');
    g_string_append_c(header, '\n');
    gsize length = header->len - MAGIC_SIZE - 4;
    header->str[8] = (char) (length & 0xff);
    header->str[9] = (char) (length >> 8);
    return header;
}

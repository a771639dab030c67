// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// A decimal number as digits d.ddd x 10^exponent. The digits come from printf's "%e"
// with everything that is not a digit left out, so that the locale has no say.
typedef struct {
    char digits[40];
    int n;
    int exponent;
} Decimal;

static Decimal
decimal_make(double magnitude, int n_digits)
{
    char text[64];
    Decimal decimal = {.n = 0};
    snprintf(text, sizeof text, "%.*e", n_digits - 1, magnitude);
    const char *at = text;
    for (; *at != 'e' && *at != '\0'; at++) {
        if (g_ascii_isdigit(*at)) {
            decimal.digits[decimal.n++] = *at;
        }
    }
    decimal.digits[decimal.n] = '\0';
    decimal.exponent = *at == 'e' ? (int) g_ascii_strtoll(at + 1, NULL, 10) : 0;
    return decimal;
}

static double
decimal_value(const Decimal *decimal)
{
    char text[64];
    snprintf(text, sizeof text, "%se%d", decimal->digits,
             decimal->exponent - (decimal->n - 1));
    return g_ascii_strtod(text, NULL);
}

static gboolean
decimal_is(const Decimal *decimal, double magnitude, gboolean is_float)
{
    double value = decimal_value(decimal);
    return is_float ? (float) value == (float) magnitude : value == magnitude;
}

// One unit more in the last place.
static void
decimal_increment(Decimal *decimal)
{
    int i = decimal->n - 1;
    while (i >= 0 && decimal->digits[i] == '9') {
        decimal->digits[i--] = '0';
    }
    if (i >= 0) {
        decimal->digits[i]++;
        return;
    }
    decimal->digits[0] = '1';
    decimal->exponent++;
}

// The shortest decimal that reads back. Up to `sure` digits (15 or 6) any decimal
// survives the way through the binary number, so that one attempt finds all shorter ones
// as well; subnormal numbers have fewer digits and are tried from one digit upwards.
// Below a power of two the numbers lie closer together than above it: there the nearest
// decimal may not read back while its upper neighbour does.
static Decimal
decimal_shortest(double magnitude, gboolean is_float)
{
    double smallest_normal = is_float ? 0x1p-126 : 0x1p-1022;
    int most = is_float ? 9 : 17;
    int sure = is_float ? 6 : 15;
    for (int n = magnitude < smallest_normal ? 1 : sure; n < most; n++) {
        Decimal decimal = decimal_make(magnitude, n);
        if (decimal_is(&decimal, magnitude, is_float)) {
            return decimal;
        }
        decimal_increment(&decimal);
        if (decimal_is(&decimal, magnitude, is_float)) {
            return decimal;
        }
    }
    return decimal_make(magnitude, most);
}

// Plain notation for exponents -4 ... 15, else "1e-09".
static void
decimal_print(char buffer[LIMN_NUMBER_BUFFER], gboolean negative, Decimal *decimal)
{
    int n = decimal->n;
    int exponent = decimal->exponent;
    const char *digits = decimal->digits;
    const char *sign = negative ? "-" : "";
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    if (exponent < -4 || exponent > 15) {
        g_snprintf(buffer, LIMN_NUMBER_BUFFER, "%s%c%s%.*se%c%02d", sign, digits[0],
                   n > 1 ? "." : "", n - 1, digits + 1, exponent < 0 ? '-' : '+',
                   ABS(exponent));
    } else if (exponent < 0) {
        g_snprintf(buffer, LIMN_NUMBER_BUFFER, "%s0.%.*s%.*s", sign, -exponent - 1,
                   "0000", n, digits);
    } else if (n <= exponent + 1) {
        g_snprintf(buffer, LIMN_NUMBER_BUFFER, "%s%.*s%.*s", sign, n, digits,
                   exponent + 1 - n, "000000000000000");
    } else {
        g_snprintf(buffer, LIMN_NUMBER_BUFFER, "%s%.*s.%.*s", sign, exponent + 1, digits,
                   n - exponent - 1, digits + exponent + 1);
    }
}

static char *
format_shortest(char buffer[LIMN_NUMBER_BUFFER], double value, gboolean is_float)
{
    if (isnan(value)) {
        strcpy(buffer, "nan");
    } else if (isinf(value)) {
        strcpy(buffer, value < 0 ? "-inf" : "inf");
    } else if (value == 0) {
        strcpy(buffer, signbit(value) ? "-0" : "0");
    } else {
        Decimal decimal = decimal_shortest(fabs(value), is_float);
        decimal_print(buffer, value < 0, &decimal);
    }
    return buffer;
}

char *
limn_number_format(char buffer[LIMN_NUMBER_BUFFER], double value)
{
    return format_shortest(buffer, value, FALSE);
}

char *
limn_number_format_float(char buffer[LIMN_NUMBER_BUFFER], float value)
{
    return format_shortest(buffer, value, TRUE);
}

char *
limn_number_format_fixed(char buffer[LIMN_NUMBER_BUFFER], double value, int digits)
{
    char format[16];
    digits = CLAMP(digits, 0, 20);
    // Beyond this the digits would not fit; they would be meaningless as well.
    if (!isfinite(value) || fabs(value) >= (digits > 12 ? 1e8 : 1e15)) {
        return limn_number_format(buffer, value);
    }
    g_snprintf(format, sizeof format, "%%.%df", digits);
    return g_ascii_formatd(buffer, LIMN_NUMBER_BUFFER, format, value);
}

// inf, infinity and nan with an optional sign, any case.
static gboolean
parse_special(const char *text, gsize length, double *value)
{
    gboolean negative = length > 0 && text[0] == '-';
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    if (length == 3 && g_ascii_strncasecmp(text, "nan", 3) == 0) {
        *value = NAN;
        return TRUE;
    }
    if ((length == 3 && g_ascii_strncasecmp(text, "inf", 3) == 0) ||
        (length == 8 && g_ascii_strncasecmp(text, "infinity", 8) == 0)) {
        *value = negative ? -INFINITY : INFINITY;
        return TRUE;
    }
    return FALSE;
}

static gsize
trim_blanks(const char **text)
{
    while (g_ascii_isspace(**text)) {
        (*text)++;
    }
    gsize length = strlen(*text);
    while (length > 0 && g_ascii_isspace((*text)[length - 1])) {
        length--;
    }
    return length;
}

gboolean
limn_number_parse(const char *text, double *value)
{
    if (text == NULL) {
        return FALSE;
    }
    gsize length = trim_blanks(&text);
    if (parse_special(text, length, value)) {
        return TRUE;
    }
    // strtod would also take hexadecimal numbers and "nan(...)".
    if (length == 0 || strspn(text, "0123456789+-.eE") < length) {
        return FALSE;
    }
    char *end = NULL;
    errno = 0;
    double parsed = g_ascii_strtod(text, &end);
    if (end != text + length || !isfinite(parsed)) {
        return FALSE;
    }
    *value = parsed;
    return TRUE;
}

gboolean
limn_integer_parse(const char *text, gint64 *value)
{
    if (text == NULL) {
        return FALSE;
    }
    gsize length = trim_blanks(&text);
    if (length == 0) {
        return FALSE;
    }
    char *end = NULL;
    errno = 0;
    gint64 parsed = g_ascii_strtoll(text, &end, 10);
    if (errno != 0 || end != text + length) {
        return FALSE;
    }
    *value = parsed;
    return TRUE;
}

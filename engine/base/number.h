// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers as text, independent of the locale: the decimal mark is always a dot.

#include <glib.h>

#define LIMN_NUMBER_BUFFER 32

// Whole-string parse (leading/trailing blanks allowed). Accepts inf, -inf, nan.
gboolean limn_number_parse(const char *text, double *value);
gboolean limn_integer_parse(const char *text, gint64 *value);
// Shortest text that reads back to the same double ("0.1", "1e-09", "nan", "inf").
char *limn_number_format(char buffer[LIMN_NUMBER_BUFFER], double value);
// Shortest text that reads back to the same float.
char *limn_number_format_float(char buffer[LIMN_NUMBER_BUFFER], float value);
// With a fixed number of digits after the point ("%.*f" in the C locale). Numbers too
// long for the buffer (1e15 and above) are written as by limn_number_format.
char *limn_number_format_fixed(char buffer[LIMN_NUMBER_BUFFER], double value, int digits);

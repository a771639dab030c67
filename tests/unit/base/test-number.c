// SPDX-License-Identifier: GPL-3.0-or-later

#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/base/rng.h"

static double
double_from_bits(guint64 bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float
float_from_bits(guint32 bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void
test_format(void)
{
    const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {100, "100"},
        {1e-9, "1e-09"},
        {1.5e-300, "1.5e-300"},
        {0.0001, "0.0001"},
        {0.00001234, "1.234e-05"},
        {1e15, "1000000000000000"},
        {1e16, "1e+16"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {9007199254740992.0, "9007199254740992"},
        {1.0 / 3, "0.3333333333333333"},
        {0x1p-1074, "5e-324"},
        {0x1p-44, "5.684341886080802e-14"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {NAN, "nan"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };
    char buffer[LIMN_NUMBER_BUFFER];
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpstr(limn_number_format(buffer, cases[i].value), ==, cases[i].text);
    }
}

static void
test_format_float(void)
{
    const struct {
        float value;
        const char *text;
    } cases[] = {
        {0.1f, "0.1"},
        {16777216.0f, "16777216"},
        {1.0f / 3, "0.33333334"},
        {0x1p-149f, "1e-45"},
        {3.4028235e38f, "3.4028235e+38"},
        {-0.7f, "-0.7"},
        {0x1p-24f, "5.9604645e-08"},
        {NAN, "nan"},
    };
    char buffer[LIMN_NUMBER_BUFFER];
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpstr(limn_number_format_float(buffer, cases[i].value), ==,
                        cases[i].text);
    }
}

static void
check_round_trip(double value)
{
    char buffer[LIMN_NUMBER_BUFFER];
    double back = 0;
    g_assert_true(limn_number_parse(limn_number_format(buffer, value), &back));
    g_assert_true(memcmp(&back, &value, sizeof back) == 0);
}

static void
check_round_trip_float(float value)
{
    char buffer[LIMN_NUMBER_BUFFER];
    double back = 0;
    g_assert_true(limn_number_parse(limn_number_format_float(buffer, value), &back));
    float narrow = (float) back;
    g_assert_true(memcmp(&narrow, &value, sizeof narrow) == 0);
}

static void
test_round_trip(void)
{
    LimnRng rng = limn_rng_make(1, 2);
    for (int i = 0; i < 20000; i++) {
        guint64 high = limn_rng_uint32(&rng);
        double value = double_from_bits(high << 32 | limn_rng_uint32(&rng));
        if (isfinite(value)) {
            check_round_trip(value);
        }
        float single = float_from_bits(limn_rng_uint32(&rng));
        if (isfinite(single)) {
            check_round_trip_float(single);
        }
    }
    for (int e = -1074; e < 1024; e++) {
        check_round_trip(ldexp(1, e));
        check_round_trip(nextafter(ldexp(1, e), 0));
    }
    for (int e = -149; e < 128; e++) {
        check_round_trip_float(ldexpf(1, e));
    }
}

// No text with fewer digits reads back.
static void
test_shortest(void)
{
    LimnRng rng = limn_rng_make(3, 4);
    for (int i = 0; i < 2000; i++) {
        double value =
            limn_rng_uniform(&rng) * pow(10, (int) limn_rng_below(&rng, 40) - 20);
        char buffer[LIMN_NUMBER_BUFFER], shorter[64];
        limn_number_format(buffer, value);
        int digits = 0, zeros = 0; // significant ones; zeros at the end
        for (const char *at = buffer; *at != '\0' && *at != 'e'; at++) {
            if (g_ascii_isdigit(*at) && (digits > 0 || *at != '0')) {
                zeros = *at == '0' ? zeros + 1 : 0;
                digits++;
            }
        }
        digits -= zeros;
        if (digits > 1) {
            g_snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
            g_assert_true(strtod(shorter, NULL) != value);
        }
    }
}

static void
test_fixed(void)
{
    char buffer[LIMN_NUMBER_BUFFER];
    g_assert_cmpstr(limn_number_format_fixed(buffer, 3.14159, 2), ==, "3.14");
    g_assert_cmpstr(limn_number_format_fixed(buffer, -1, 3), ==, "-1.000");
    g_assert_cmpstr(limn_number_format_fixed(buffer, 2.5, 0), ==, "2");
    g_assert_cmpstr(limn_number_format_fixed(buffer, 999999999999999.0, 6), ==,
                    "999999999999999.000000");
    g_assert_cmpstr(limn_number_format_fixed(buffer, 1e300, 2), ==, "1e+300");
    g_assert_cmpstr(limn_number_format_fixed(buffer, NAN, 2), ==, "nan");
    g_assert_cmpstr(limn_number_format_fixed(buffer, 0.5, 99), ==,
                    "0.50000000000000000000");
    g_assert_cmpstr(limn_number_format_fixed(buffer, -99999999.5, 99), ==,
                    "-99999999.50000000000000000000");
}

static void
test_parse(void)
{
    const struct {
        const char *text;
        double value;
    } good[] = {
        {"1", 1},
        {" 2.5 ", 2.5},
        {"-1e-3\n", -1e-3},
        {"+4", 4},
        {".5", 0.5},
        {"5.", 5},
        {"1E5", 1e5},
        {"inf", INFINITY},
        {"-Inf", -INFINITY},
        {"+infinity", INFINITY},
        {"1e-400", 0},
    };
    double value;
    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        value = 77;
        g_assert_true(limn_number_parse(good[i].text, &value));
        g_assert_true(value == good[i].value);
    }
    g_assert_true(limn_number_parse("NaN", &value));
    g_assert_true(isnan(value));
    const char *const bad[] = {"",    " ",     "x",      "1x",  "1 2",  "0x10",
                               "1,5", "1e999", "nan(1)", "--1", "e5",   "1e",
                               ".",   "+",     "inf ty", "１",  "1.2.3"};
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        value = 77;
        g_assert_false(limn_number_parse(bad[i], &value));
        g_assert_true(value == 77);
    }
    g_assert_false(limn_number_parse(NULL, &value));
}

static void
test_parse_integer(void)
{
    gint64 value = 0;
    g_assert_true(limn_integer_parse(" -12 ", &value));
    g_assert_cmpint(value, ==, -12);
    g_assert_true(limn_integer_parse("9223372036854775807", &value));
    g_assert_cmpint(value, ==, G_MAXINT64);
    const char *const bad[] = {"",   "9223372036854775808", "1.0", "0x1", "1 1", "a", "+",
                               "1e3"};
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(limn_integer_parse(bad[i], &value));
    }
    g_assert_false(limn_integer_parse(NULL, &value));
}

// Makes a locale with a decimal comma in a temporary folder when none is installed.
static gboolean
enter_comma_locale(const char *folder)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") != NULL) {
        return TRUE;
    }
    g_autofree char *target = g_build_filename(folder, "de_DE.UTF-8", NULL);
    g_autofree char *command = g_strconcat("localedef -i de_DE -f UTF-8 ", target, NULL);
    if (!g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL)) {
        return FALSE;
    }
    g_setenv("LOCPATH", folder, TRUE);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void
test_locale(void)
{
    g_autofree char *folder = g_dir_make_tmp("limn-locale-XXXXXX", NULL);
    if (enter_comma_locale(folder)) {
        char c_text[16];
        g_snprintf(c_text, sizeof c_text, "%.1f", 1.5);
        g_assert_cmpstr(c_text, ==, "1,5"); // the locale is at work
        test_format();
        test_format_float();
        test_fixed();
        test_parse();
        test_round_trip();
    } else {
        g_test_skip("no locale with a decimal comma can be had");
    }
    setlocale(LC_ALL, "C");
    g_assert_true(limn_remove_tree(folder, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/number/format", test_format);
    g_test_add_func("/number/format-float", test_format_float);
    g_test_add_func("/number/round-trip", test_round_trip);
    g_test_add_func("/number/shortest", test_shortest);
    g_test_add_func("/number/fixed", test_fixed);
    g_test_add_func("/number/parse", test_parse);
    g_test_add_func("/number/parse-integer", test_parse_integer);
    g_test_add_func("/hard/B65-locale", test_locale);
    return g_test_run();
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/caption.h"

#include "engine/base/error.h"
#include "engine/base/number.h"

#include <math.h>
#include <string.h>

static void
append_input(GString *out, const LimnStudy *study, const LimnInput *input)
{
    gboolean any = FALSE;
    for (guint i = 0; i < study->inputs->len; i++) {
        const LimnStudyInput *given = g_ptr_array_index(study->inputs, i);
        if (strcmp(given->name, input->name) != 0) {
            continue;
        }
        g_string_append(out, any ? ", " : "");
        if (limn_input_is_path(input)) {
            g_autofree char *base = g_path_get_basename(given->value);
            g_autofree char *shown = limn_display_path(base);
            g_string_append(out, shown);
        } else {
            g_string_append(out, given->value);
        }
        any = TRUE;
    }
}

// Four digits that count: a caption is read, not computed with.
static void
append_scalar(GString *out, GPtrArray *scalars, const char *name)
{
    for (guint i = 0; scalars != NULL && i < scalars->len; i++) {
        const LimnScalar *scalar = g_ptr_array_index(scalars, i);
        if (strcmp(scalar->name, name) != 0 || !isfinite(scalar->value)) {
            continue;
        }
        char buffer[LIMN_NUMBER_BUFFER];
        double size = fabs(scalar->value);
        int digits = size > 0 ? 3 - (int) floor(log10(size)) : 0;
        g_string_append(
            out, limn_number_format_fixed(buffer, scalar->value, CLAMP(digits, 0, 9)));
        return;
    }
}

char *
limn_study_expand_caption(const LimnStudy *study, GPtrArray *scalars,
                          const char *template)
{
    GString *out = g_string_new(NULL);
    const char *at = template;
    while (*at != '\0') {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (end == NULL) {
            g_string_append_c(out, *at++);
            continue;
        }
        g_autofree char *name = g_strndup(at + 1, (gsize) (end - at - 1));
        const LimnInput *input = limn_operation_find_input(study->operation, name);
        if (input != NULL) {
            append_input(out, study, input);
        } else if (limn_operation_find_parameter(study->operation, name) != NULL) {
            g_autofree char *value = limn_study_dup_parameter(study, name);
            g_string_append(out, value);
        } else {
            append_scalar(out, scalars, name);
        }
        at = end + 1;
    }
    return g_string_free(out, FALSE);
}

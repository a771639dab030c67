// SPDX-License-Identifier: GPL-3.0-or-later

// The declarations of all operations: what panel, command line, provenance and manual are
// derived from must be whole and free of contradictions.

#include "engine/method/operations.h"
#include "engine/model/explainer.h"
#include "engine/study/artifact.h"
#include "engine/study/study.h"

#include <math.h>
#include <string.h>

static gboolean
is_key(const char *name)
{
    if (name[0] == '\0' || name[0] == '-') {
        return FALSE;
    }
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static gboolean
is_said(const char *text)
{
    return text != NULL && text[0] != '\0' && g_utf8_validate(text, -1, NULL);
}

static void
check_inputs(const LimnOperation *operation)
{
    for (const LimnInput *input = operation->inputs; input->name != NULL; input++) {
        g_test_message("%s %s", operation->id, input->name);
        g_assert_true(is_key(input->name));
        g_assert_true(is_said(input->summary));
        g_assert_true(limn_operation_find_input(operation, input->name) == input);
        g_assert_null(limn_operation_find_parameter(operation, input->name));
        g_assert_cmpstr(input->name, !=, "seed");
        // A group decides what is needed.
        g_assert_false(input->one_of != NULL && input->required);
        g_assert_false(input->optional_group && input->one_of == NULL);
        g_assert_false(input->builtin != NULL && input->required);
        for (const LimnInput *other = operation->inputs; other->name != NULL; other++) {
            if (input->one_of != NULL && g_strcmp0(input->one_of, other->one_of) == 0) {
                g_assert_cmpint(input->optional_group, ==, other->optional_group);
            }
        }
    }
}

static void
check_choices(const LimnParameter *parameter)
{
    const char *const *choices = limn_parameter_get_choices(parameter);
    g_assert_nonnull(choices);
    g_assert_nonnull(choices[0]);
    for (guint i = 0; choices[i] != NULL; i++) {
        g_assert_true(is_key(choices[i]));
        for (guint k = 0; k < i; k++) {
            g_assert_cmpstr(choices[i], !=, choices[k]);
        }
        // As many summaries as choices; one too few would be read beyond the end.
        if (parameter->choice_summaries != NULL) {
            g_assert_true(is_said(parameter->choice_summaries[i]));
        }
    }
}

static void
check_parameters(const LimnOperation *operation)
{
    for (const LimnParameter *parameter = operation->parameters; parameter->name != NULL;
         parameter++) {
        g_test_message("%s %s", operation->id, parameter->name);
        g_assert_true(is_key(parameter->name));
        g_assert_true(is_said(parameter->summary));
        g_assert_true(limn_operation_find_parameter(operation, parameter->name) ==
                      parameter);
        g_assert_cmpstr(parameter->name, !=, "seed");
        if (parameter->type == LIMN_PARAMETER_CHOICE ||
            parameter->type == LIMN_PARAMETER_BOOL) {
            check_choices(parameter);
        }
        if (parameter->type == LIMN_PARAMETER_INT ||
            parameter->type == LIMN_PARAMETER_FLOAT) {
            double value = parameter->type == LIMN_PARAMETER_INT
                               ? (double) parameter->int_default
                               : parameter->float_default;
            g_assert_true(isfinite(parameter->min) && isfinite(parameter->max));
            g_assert_cmpfloat(parameter->min, <, parameter->max);
            g_assert_true(value >= parameter->min && value <= parameter->max);
        }
        // The default can be set, and setting it changes nothing.
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnStudy) study = limn_study_new(operation);
        g_autofree char *standard = limn_parameter_dup_default(parameter);
        if (parameter->type != LIMN_PARAMETER_TEXT) {
            g_assert_true(limn_study_set(study, parameter->name, standard, &error));
            g_autofree char *back = limn_study_dup_parameter(study, parameter->name);
            g_assert_cmpstr(back, ==, standard);
        }
    }
}

static void
check_outputs(const LimnOperation *operation)
{
    gboolean figure_found = operation->figure == NULL;
    g_assert_nonnull(operation->outputs[0].name);
    for (const LimnOutput *output = operation->outputs; output->name != NULL; output++) {
        LimnArtifactKind kind;
        g_assert_true(limn_artifact_kind_parse(output->kind, &kind));
        g_assert_true(is_said(output->summary));
        figure_found =
            figure_found || g_strcmp0(output->name, operation->figure->artifact) == 0;
    }
    g_assert_true(figure_found);
}

static void
test_declarations(void)
{
    for (guint i = 0; limn_operations[i] != NULL; i++) {
        const LimnOperation *operation = limn_operations[i];
        g_test_message("%s", operation->id);
        g_assert_true(is_key(operation->id));
        g_assert_true(is_said(operation->title));
        g_assert_true(is_said(operation->summary));
        g_assert_nonnull(operation->run);
        g_assert_nonnull(limn_family_title(operation->family));
        for (guint k = 0; k < i; k++) {
            g_assert_cmpstr(operation->id, !=, limn_operations[k]->id);
        }
        check_inputs(operation);
        check_parameters(operation);
        check_outputs(operation);
    }
    limn_registry_set(limn_operations);
    g_assert_true(limn_registry_find("grad-eclip") == limn_operations[0]);
    g_assert_null(limn_registry_find("grad-cat"));
}

// Choices of methods, modes and the like are turned into enumerations by their index.
static void
test_method_order(void)
{
    static const struct {
        const char *operation;
        int first;
    } cases[] = {{"attention-maps", LIMN_EXPLAIN_SELF_ATTENTION},
                 {"explain-evaluate", LIMN_EXPLAIN_GRAD_ECLIP}};
    limn_registry_set(limn_operations);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const LimnParameter *method = limn_operation_find_parameter(
            limn_registry_find(cases[i].operation), "method");
        int k = 0;
        for (; method->choices[k] != NULL; k++) {
            g_assert_cmpstr(
                method->choices[k], ==,
                limn_explain_method_id((LimnExplainMethod) (cases[i].first + k)));
        }
        g_assert_cmpint(cases[i].first + k, ==, LIMN_EXPLAIN_N_METHODS);
    }
    const LimnOperation *operation = limn_registry_find("grad-eclip");
    static const struct {
        const char *name, *value;
        int index;
    } choices[] = {
        {"mode", "authors", LIMN_MODE_AUTHORS},
        {"similarity", "out", LIMN_SIMILARITY_OUT},
        {"similarity", "none", LIMN_SIMILARITY_NONE},
        {"padding", "zero", LIMN_PADDING_ZERO},
        {"padding", "end", LIMN_PADDING_END},
        {"side", "image", LIMN_SIDE_IMAGE},
        {"side", "text", LIMN_SIDE_TEXT},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(choices); i++) {
        const LimnParameter *parameter =
            limn_operation_find_parameter(operation, choices[i].name);
        g_assert_cmpstr(parameter->choices[choices[i].index], ==, choices[i].value);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/operations/declarations", test_declarations);
    g_test_add_func("/operations/method-order", test_method_order);
    return g_test_run();
}

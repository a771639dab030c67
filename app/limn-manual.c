// SPDX-License-Identifier: GPL-3.0-or-later

// limn-manual GUIDANCE OUT: writes the manual's page of every operation, OUT/ID.md, from
// its declaration and, where it exists, the written guidance GUIDANCE/ID.md. A test
// compares the result with resources/manual/operations.

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/method/operations.h"
#include "engine/study/operation.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

// Table cells must not break the table.
static void
append_cell(GString *out, const char *text)
{
    for (const char *at = text ? text : ""; *at; at++) {
        if (*at == '|') {
            g_string_append_c(out, '\\');
        }
        g_string_append_c(out, *at == '\n' ? ' ' : *at);
    }
}

static const char *
input_type(LimnInputType type)
{
    switch (type) {
    case LIMN_INPUT_FILE:
        return "file";
    case LIMN_INPUT_IMAGE:
        return "picture";
    case LIMN_INPUT_FOLDER:
        return "folder";
    case LIMN_INPUT_PATH:
        return "file or folder";
    case LIMN_INPUT_TEXT:
        return "text";
    }
    return "";
}

// "one of image, pixels" for a member of a group.
static char *
input_need(const LimnOperation *operation, const LimnInput *input)
{
    if (input->one_of == NULL) {
        return g_strdup(input->required  ? "yes"
                        : input->builtin ? "no (built in)"
                                         : "no");
    }
    GString *text = g_string_new(input->optional_group ? "at most one of" : "one of");
    gboolean first = TRUE;
    for (const LimnInput *at = operation->inputs; at->name != NULL; at++) {
        if (g_strcmp0(at->one_of, input->one_of) == 0) {
            g_string_append_printf(text, "%s `%s`", first ? "" : ",", at->name);
            first = FALSE;
        }
    }
    return g_string_free(text, FALSE);
}

static void
append_inputs(GString *out, const LimnOperation *operation)
{
    g_string_append(out,
                    "## Inputs\n\n| key | kind | needed | what |\n|---|---|---|---|\n");
    for (const LimnInput *input = operation->inputs; input->name != NULL; input++) {
        g_autofree char *need = input_need(operation, input);
        g_string_append_printf(out, "| `%s`%s | %s | %s | ", input->name,
                               input->list ? " (may be repeated)" : "",
                               input_type(input->type), need);
        append_cell(out, input->summary);
        if (input->accepts != NULL) {
            g_string_append(out, ": ");
            append_cell(out, input->accepts);
        }
        g_string_append(out, " |\n");
    }
    g_string_append_c(out, '\n');
}

static char *
parameter_default(const LimnParameter *p)
{
    char buffer[LIMN_NUMBER_BUFFER];
    switch (p->type) {
    case LIMN_PARAMETER_INT:
        return g_strdup_printf("%" G_GINT64_FORMAT, p->int_default);
    case LIMN_PARAMETER_FLOAT:
        return g_strdup(limn_number_format(buffer, p->float_default));
    case LIMN_PARAMETER_BOOL:
        return g_strdup(p->choices ? p->choices[0] : "no");
    case LIMN_PARAMETER_CHOICE:
        return g_strdup(p->choices[0]);
    case LIMN_PARAMETER_TEXT:
        return g_strdup(p->text_default ? p->text_default : "unset");
    }
    return g_strdup("");
}

static char *
parameter_range(const LimnParameter *p)
{
    char low[LIMN_NUMBER_BUFFER], high[LIMN_NUMBER_BUFFER];
    if (p->type == LIMN_PARAMETER_INT || p->type == LIMN_PARAMETER_FLOAT) {
        return g_strdup_printf("%s to %s%s%s", limn_number_format(low, p->min),
                               limn_number_format(high, p->max), p->unit ? " " : "",
                               p->unit ? p->unit : "");
    }
    if (p->type == LIMN_PARAMETER_BOOL && p->choices == NULL) {
        return g_strdup("no, yes");
    }
    return p->choices ? g_strjoinv(", ", (char **) (gsize) p->choices) : g_strdup("text");
}

static void
append_choices(GString *out, const LimnParameter *p)
{
    if (p->type != LIMN_PARAMETER_CHOICE || p->choice_summaries == NULL) {
        return;
    }
    for (guint i = 0; p->choices[i] != NULL; i++) {
        g_string_append_printf(out, "%s `%s` ", i ? ";" : ".", p->choices[i]);
        append_cell(out, p->choice_summaries[i]);
    }
}

static void
append_parameters(GString *out, const LimnOperation *operation)
{
    if (operation->parameters == NULL || operation->parameters[0].name == NULL) {
        return;
    }
    g_string_append(
        out, "## Parameters\n\n| key | default | allowed | what |\n|---|---|---|---|\n");
    for (const LimnParameter *p = operation->parameters; p->name != NULL; p++) {
        g_autofree char *value = parameter_default(p);
        g_autofree char *range = parameter_range(p);
        g_string_append_printf(out, "| `%s` | %s | ", p->name, value);
        append_cell(out, range);
        g_string_append(out, " | ");
        append_cell(out, p->summary);
        append_choices(out, p);
        g_string_append(out, " |\n");
    }
    g_string_append_c(out, '\n');
}

static void
append_outputs(GString *out, const LimnOperation *operation)
{
    g_string_append(
        out, "## Results\n\n| artifact | kind | shape | what |\n|---|---|---|---|\n");
    for (const LimnOutput *o = operation->outputs; o->name != NULL; o++) {
        g_string_append_printf(out, "| `%s` | %s | %s | ", o->name, o->kind,
                               o->shape ? o->shape : "");
        append_cell(out, o->summary);
        g_string_append(out, " |\n");
    }
    g_string_append_c(out, '\n');
}

static char *
make_page(const LimnOperation *operation, const char *guidance)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "# %s (`%s`)\n\n%s\n\n%s\n\n", operation->title,
                           operation->id, operation->summary, operation->description);
    if (operation->paper.title != NULL) {
        g_string_append_printf(out, "After: %s, *%s*, %s.\n\n", operation->paper.authors,
                               operation->paper.title, operation->paper.venue);
    }
    g_string_append_printf(out, "    limn-cli run %s key=value ... --out DIR%s%s\n\n",
                           operation->id, operation->shardable ? " [--shard I/N]" : "",
                           operation->resumable ? " [--resume]" : "");
    append_inputs(out, operation);
    append_parameters(out, operation);
    append_outputs(out, operation);
    if (guidance != NULL) {
        g_string_append(out, guidance);
    }
    return g_string_free(out, FALSE);
}

static gboolean
write_page(const LimnOperation *operation, const char *guidance_folder,
           const char *folder, GError **error)
{
    g_autofree char *file = g_strconcat(operation->id, ".md", NULL);
    g_autofree char *source = g_build_filename(guidance_folder, file, NULL);
    g_autofree char *target = g_build_filename(folder, file, NULL);
    g_autofree char *guidance = NULL;
    if (g_file_test(source, G_FILE_TEST_EXISTS) &&
        !g_file_get_contents(source, &guidance, NULL, error)) {
        return FALSE;
    }
    g_autofree char *page = make_page(operation, guidance);
    return limn_file_write(target, page, strlen(page), error);
}

int
main(int argc, char **argv)
{
    setlocale(LC_ALL, "C.UTF-8");
    if (argc != 3) {
        fprintf(stderr, "usage: limn-manual GUIDANCE OUT\n");
        return 2;
    }
    g_autoptr(GError) error = NULL;
    if (!limn_make_directory(argv[2], &error)) {
        fprintf(stderr, "limn-manual: %s\n", error->message);
        return limn_error_exit_status(error);
    }
    for (const LimnOperation *const *at = limn_operations; *at != NULL; at++) {
        if (!write_page(*at, argv[1], argv[2], &error)) {
            fprintf(stderr, "limn-manual: %s\n", error->message);
            return limn_error_exit_status(error);
        }
    }
    return 0;
}

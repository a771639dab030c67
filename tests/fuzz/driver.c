// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a fuzz target without libFuzzer: over files, and over seeded mutations of them.
//
//   fuzz-NAME [--mutations N] [--seed N] [--save FILE] [FOLDER or FILE ...]
//
// Mutation m of example e depends on nothing but the seed, e (in byte order of the names)
// and m. On a crash the line printed last says which one it was; --save keeps the input
// that is about to run. Memory is bounded, where no sanitizer needs more.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/base/rng.h"
#include "tests/fuzz/fuzz.h"

#define MAX_INPUT_SIZE (4 * 1024 * 1024)
#define MAX_STEPS 6

static int mutations = 3000;
static int seed = 1;
static char *save;

static const GOptionEntry OPTIONS[] = {
    {"mutations", 0, 0, G_OPTION_ARG_INT, &mutations, "of every example", "N"},
    {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "of the mutations", "N"},
    {"save", 0, 0, G_OPTION_ARG_FILENAME, &save, "keep the last input", "FILE"},
    {NULL},
};

// --- Mutations
// --------------------------------------------------------------------------

static void
set_byte(GByteArray *input, LimnRng *rng)
{
    static const guint8 VALUES[] = {0,    1,   0x7f, 0x80, 0xff, ' ', '"',
                                    '\\', '{', '}',  '[',  ']',  ',', '-',
                                    '9',  '0', '/',  '<',  '&',  '\n'};
    guint at = limn_rng_below(rng, input->len);
    guint k = limn_rng_below(rng, G_N_ELEMENTS(VALUES) + 10);
    if (k < G_N_ELEMENTS(VALUES))
        input->data[at] = VALUES[k];
    else if (k % 2 == 0)
        input->data[at] ^= (guint8) (1u << limn_rng_below(rng, 8));
    else
        input->data[at] = (guint8) limn_rng_uint32(rng);
}

// A number of 2, 4 or 8 bytes that loaders trip over, in either byte order.
static void
set_number(GByteArray *input, LimnRng *rng)
{
    static const guint64 VALUES[] = {
        0,
        1,
        16,
        255,
        256,
        0x7fff,
        0x8000,
        0xffff,
        0x7ffffff,
        0x8000000,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        G_MAXINT64,
        G_MAXUINT64,
        G_GUINT64_CONSTANT(1) << 63,
        G_GUINT64_CONSTANT(1) << 32,
    };
    guint bytes = 2u << limn_rng_below(rng, 3);
    guint64 value = VALUES[limn_rng_below(rng, G_N_ELEMENTS(VALUES))];
    gboolean big = limn_rng_below(rng, 2);
    if (input->len < bytes)
        return;
    guint at = limn_rng_below(rng, input->len - bytes + 1);
    for (guint i = 0; i < bytes; i++)
        input->data[at + i] = (guint8) (value >> (8 * (big ? bytes - 1 - i : i)) & 0xff);
}

static void
remove_block(GByteArray *input, LimnRng *rng)
{
    guint at = limn_rng_below(rng, input->len);
    guint n = 1 + limn_rng_below(rng, MIN(input->len - at, 64));
    g_byte_array_remove_range(input, at, n);
}

// Puts bytes of `source` into the input.
static void
insert_block(GByteArray *input, const guint8 *source, gsize size, LimnRng *rng)
{
    if (size == 0 || input->len > MAX_INPUT_SIZE)
        return;
    guint from = limn_rng_below(rng, (guint32) size);
    guint n = 1 + limn_rng_below(rng, (guint32) MIN(size - from, 128));
    guint at = limn_rng_below(rng, input->len + 1);
    g_autofree guint8 *block = g_memdup2(source + from, n);
    guint old = input->len;
    g_byte_array_set_size(input, old + n);
    memmove(input->data + at + n, input->data + at, old - at);
    memcpy(input->data + at, block, n);
}

static void
mutate(GByteArray *input, GBytes *other, LimnRng *rng)
{
    guint steps = 1 + limn_rng_below(rng, MAX_STEPS);
    gsize other_size;
    const guint8 *other_data = g_bytes_get_data(other, &other_size);
    for (guint i = 0; i < steps; i++) {
        guint kind = limn_rng_below(rng, 10);
        if (input->len == 0 || kind == 0)
            insert_block(input, other_data, other_size, rng);
        else if (kind == 1)
            insert_block(input, input->data, input->len, rng);
        else if (kind == 2)
            remove_block(input, rng);
        else if (kind == 3 && i == 0)
            g_byte_array_set_size(input, limn_rng_below(rng, input->len));
        else if (kind <= 5)
            set_number(input, rng);
        else
            set_byte(input, rng);
    }
}

// --- Running
// ----------------------------------------------------------------------------

static void
run_input(const guint8 *data, gsize size)
{
    if (save != NULL)
        g_file_set_contents(save, (const char *) data, (gssize) size, NULL);
    // A copy of its exact size, so that a sanitizer sees reads beyond it.
    guint8 *copy = malloc(MAX(size, 1));
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void
run_mutations(GPtrArray *examples, guint e)
{
    GBytes *example = g_ptr_array_index(examples, e);
    gsize size;
    const guint8 *data = g_bytes_get_data(example, &size);
    for (int m = 0; m < mutations; m++) {
        LimnRng rng = limn_rng_make((guint64) seed, (guint64) e << 32 | (guint) m);
        GByteArray *input = g_byte_array_new();
        g_byte_array_append(input, data, (guint) size);
        mutate(input, g_ptr_array_index(examples, limn_rng_below(&rng, examples->len)),
               &rng);
        if (m % 100 == 0)
            fprintf(stderr, "example %u, mutations %d...\n", e, m);
        run_input(input->data != NULL ? input->data : (const guint8 *) "", input->len);
        g_byte_array_unref(input);
    }
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static gboolean
add_file(GPtrArray *examples, const char *path)
{
    char *text;
    gsize size;
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(path, &text, &size, &error)) {
        fprintf(stderr, "%s\n", error->message);
        return FALSE;
    }
    g_ptr_array_add(examples, g_bytes_new_take(text, size));
    return TRUE;
}

static gboolean
add_path(GPtrArray *examples, const char *path)
{
    if (!g_file_test(path, G_FILE_TEST_IS_DIR))
        return add_file(examples, path);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    gboolean good = dir != NULL;
    while (good && (name = g_dir_read_name(dir)) != NULL)
        g_ptr_array_add(names, g_build_filename(path, name, NULL));
    g_ptr_array_sort(names, compare_names);
    for (guint i = 0; good && i < names->len; i++)
        good = add_file(examples, names->pdata[i]);
    return good;
}

static void
bound_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    struct rlimit limit = {G_GUINT64_CONSTANT(3) << 30, G_GUINT64_CONSTANT(3) << 30};
    setrlimit(RLIMIT_AS, &limit);
#endif
}

int
main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new("[FOLDER or FILE ...]");
    g_autoptr(GPtrArray) examples =
        g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, OPTIONS, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fprintf(stderr, "%s\n", error->message);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        if (!add_path(examples, argv[i]))
            return 1;
    if (examples->len == 0) {
        fprintf(stderr, "there is no example to begin with\n");
        return 1;
    }
    LLVMFuzzerInitialize(&argc, &argv);
    bound_memory();
    run_input((const guint8 *) "", 0);
    for (guint e = 0; e < examples->len; e++) {
        GBytes *example = g_ptr_array_index(examples, e);
        run_input(g_bytes_get_data(example, NULL), g_bytes_get_size(example));
    }
    for (guint e = 0; e < examples->len; e++)
        run_mutations(examples, e);
    fprintf(stderr, "%u examples, %u mutations\n", examples->len,
            examples->len * (guint) mutations);
    return 0;
}

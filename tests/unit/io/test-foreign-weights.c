// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/io/foreign-weights.h"
#include "engine/io/safetensors.h"
#include "tests/unit/loader-test.h"

#define ZIP(name)                                                                        \
    "PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" \
    "\x00\x00\x00\x00" name
#define BYTES_CASE(literal) literal, sizeof(literal) - 1

static void
test_refused(void)
{
    static const struct {
        const char *data;
        gsize size;
        LimnErrorCode code;
        const char *text, *advice;
    } CASES[] = {
        {BYTES_CASE(ZIP("\x10\x00\x00\x00"
                        "archive/data.pkl")),
         LIMN_ERROR_UNSUPPORTED, "PyTorch checkpoint", "convert it to safetensors"},
        {BYTES_CASE(ZIP("\x05\x00\x00\x00"
                        "a.npy")),
         LIMN_ERROR_UNSUPPORTED, "NumPy archive", "as safetensors"},
        {BYTES_CASE(ZIP("\x05\x00\x00\x00"
                        "a.txt")),
         LIMN_ERROR_UNSUPPORTED, "zip archive", "convert it to safetensors"},
        {BYTES_CASE(ZIP("\xff\xff\xff\xff"
                        "x")),
         LIMN_ERROR_UNSUPPORTED, "zip archive", "convert it to safetensors"},
        {BYTES_CASE("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19."),
         LIMN_ERROR_UNSUPPORTED, "pickle", "convert it to safetensors"},
        {BYTES_CASE("\x80\x04\x95\x10\x00\x00"), LIMN_ERROR_UNSUPPORTED, "pickle",
         "run code"},
        {BYTES_CASE("GGUF\x03\x00\x00\x00"), LIMN_ERROR_UNSUPPORTED, "GGUF",
         "safetensors"},
        {BYTES_CASE("\x89HDF\r\n\x1a\n\x00"), LIMN_ERROR_UNSUPPORTED, "HDF5",
         "safetensors"},
        {BYTES_CASE("\x1c\x00\x00\x00TFL3"), LIMN_ERROR_UNSUPPORTED, "TensorFlow Lite",
         "safetensors"},
        {BYTES_CASE("\x08\x08\x12\x07pytorch\x1a\x05"), LIMN_ERROR_UNSUPPORTED, "ONNX",
         "safetensors"},
        {BYTES_CASE("<!DOCTYPE html><html>"), LIMN_ERROR_FORMAT, "web page", "download"},
        {BYTES_CASE("version https://git-lfs.example/spec/v1\noid sha256:00\nsize 99\n"),
         LIMN_ERROR_FORMAT, "Git LFS pointer", "expected 99"},
        {BYTES_CASE("version https://git-lfs"), LIMN_ERROR_FORMAT, "Git LFS pointer",
         "git lfs pull"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GBytes) bytes = g_bytes_new(CASES[i].data, CASES[i].size);
        g_assert_false(
            limn_weights_refuse_foreign("dir/pytorch_model.bin", bytes, &error));
        assert_refused(&error, CASES[i].code, "dir/pytorch_model.bin: ", CASES[i].text,
                       CASES[i].advice, NULL);
        // The loader of safetensors says the same.
        g_assert_null(limn_safetensors_open_bytes(bytes, "x.safetensors", &error));
        assert_refused(&error, CASES[i].code, CASES[i].text, NULL);
        // No prefix is read beyond its end.
        for (gsize cut = 0; cut < CASES[i].size; cut++) {
            g_autoptr(GBytes) part = g_bytes_new(CASES[i].data, cut);
            if (!limn_weights_refuse_foreign("x", part, &error))
                g_clear_error(&error);
        }
    }
}

static void
test_accepted(void)
{
    // Lengths whose bytes look like the beginnings above.
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) pickle = NULL;
    GString *file = g_string_new(NULL);
    g_string_append_len(file, "\x80\x02\x00\x00\x00\x00\x00\x00{}", 10);
    while (file->len < 8 + 0x280)
        g_string_append_c(file, ' ');
    pickle = g_string_free_to_bytes(file);
    g_assert_true(limn_weights_refuse_foreign("x", pickle, &error));
    g_autoptr(LimnSafetensors) st = limn_safetensors_open_bytes(pickle, "x", &error);
    g_assert_nonnull(st);
    g_autoptr(GBytes) small = BYTES("\x08\x00\x00\x00\x00\x00\x00\x00{}      ");
    g_assert_true(limn_weights_refuse_foreign("model.onnx", small, &error));
    g_assert_no_error(error);
}

static void
test_mapped(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = make_folder();
    g_autofree char *onnx = write_file(folder, "model.onnx", "\x08\x07:\x10rest", 8);
    g_assert_false(limn_weights_refuse_foreign(onnx, NULL, &error));
    assert_refused(&error, LIMN_ERROR_UNSUPPORTED, "model.onnx", "ONNX", NULL);
    g_assert_false(limn_weights_refuse_foreign(folder, NULL, &error));
    assert_refused(&error, LIMN_ERROR_IO, "directory", NULL);
    remove_folder(folder);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/foreign-weights/refused", test_refused);
    g_test_add_func("/foreign-weights/accepted", test_accepted);
    g_test_add_func("/foreign-weights/mapped", test_mapped);
    return g_test_run();
}

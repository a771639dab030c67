// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/foreign-weights.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"

#define CONVERT                                                                          \
    "convert it to safetensors where you trust it, for example in Python: "              \
    "safetensors.torch.save_file(torch.load(FILE, weights_only=True), "                  \
    "\"model.safetensors\")"
#define EXPORT "export the checkpoint that it was made from as safetensors"

static const struct {
    gsize offset;
    const char *magic;
    gsize size;
    const char *what;
} FORMATS[] = {
    {0, "GGUF", 4, "a GGUF file"},
    {0, "lmgg", 4, "a GGML file"},
    {0, "tjgg", 4, "a GGML file"},
    {0, "fmgg", 4, "a GGML file"},
    {0, "\x89HDF\r\n\x1a\n", 8, "an HDF5 file (Keras or older TensorFlow)"},
    {4, "TFL3", 4, "a TensorFlow Lite model"},
};

// A length that the file can hold and a brace behind it: its own parser judges it.
static gboolean
is_safetensors(const guint8 *data, gsize size)
{
    guint64 length = 0;
    if (size < 9 || data[8] != '{')
        return FALSE;
    for (int i = 7; i >= 0; i--)
        length = length << 8 | data[i];
    return length <= size - 8;
}

static gboolean
begins(const guint8 *data, gsize size, const char *text)
{
    gsize length = strlen(text);
    return size >= length && g_ascii_strncasecmp((const char *) data, text, length) == 0;
}

// "version https://git-lfs...\noid sha256:...\nsize N\n"
static gboolean
refuse_pointer(const char *path, const guint8 *data, gsize size, GError **error)
{
    if (!begins(data, size, "version https://git-lfs"))
        return TRUE;
    g_autofree char *text = g_strndup((const char *) data, MIN(size, 1024));
    const char *line = strstr(text, "\nsize ");
    gsize digits = line != NULL ? strspn(line + 6, "0123456789") : 0;
    if (digits == 0 || digits > 19)
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, path,
            "this is a Git LFS pointer, not weights (fetch the file "
            "itself with \"git lfs pull\")");
    return limn_error_set_file(
        error, LIMN_ERROR_FORMAT, path,
        "this is a Git LFS pointer, not weights (found %" G_GSIZE_FORMAT
        " bytes, expected %.*s; fetch the file itself with \"git "
        "lfs pull\")",
        size, (int) digits, line + 6);
}

// A zip: what it holds is told from the name of its first member.
static gboolean
refuse_zip(const char *path, const guint8 *data, gsize size, GError **error)
{
    if (size < 30 || memcmp(data, "PK\x03\x04", 4) != 0)
        return TRUE;
    gsize length = MIN((gsize) (data[26] | data[27] << 8), size - 30);
    const char *member = (const char *) data + 30;
    if (length >= 4 && memcmp(member + length - 4, ".npy", 4) == 0)
        return limn_error_set_file(
            error, LIMN_ERROR_UNSUPPORTED, path,
            "this is a NumPy archive (.npz), not weights; save its "
            "arrays as safetensors");
    if (g_strstr_len(member, (gssize) length, ".pkl") != NULL ||
        g_strstr_len(member, (gssize) length, "constants") != NULL)
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, path,
                                   "this is a PyTorch checkpoint, a pickle that can run "
                                   "code when it is loaded; " CONVERT);
    return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, path,
                               "this is a zip archive (expected safetensors); if it is a "
                               "PyTorch checkpoint, " CONVERT);
}

static gboolean
refuse_pickle(const char *path, const guint8 *data, gsize size, GError **error)
{
    if (size < 3 || data[0] != 0x80 || data[1] < 2 || data[1] > 5 || data[2] == 0)
        return TRUE;
    return limn_error_set_file(
        error, LIMN_ERROR_UNSUPPORTED, path,
        "this is a pickle, which can run code when it is loaded; " CONVERT);
}

// ONNX has no magic number: field 1 (ir_version) and then the producer's name, or a file
// of that name that begins with field 1.
static gboolean
refuse_onnx(const char *path, const guint8 *data, gsize size, GError **error)
{
    if (size < 4 || data[0] != 0x08 || data[1] < 1 || data[1] > 32)
        return TRUE;
    gboolean producer = data[2] == 0x12 && data[3] > 0 && data[3] < 64 &&
                        size >= 4u + data[3] && g_ascii_isalpha(data[4]);
    if (!producer && !g_str_has_suffix(path, ".onnx"))
        return TRUE;
    return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, path,
                               "this is an ONNX model; " EXPORT);
}

static gboolean
refuse_page(const char *path, const guint8 *data, gsize size, GError **error)
{
    if (!begins(data, size, "<!doctype") && !begins(data, size, "<html") &&
        !begins(data, size, "<?xml"))
        return TRUE;
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                               "this is a web page, not weights (a download that went "
                               "wrong?)");
}

gboolean
limn_weights_refuse_foreign(const char *path, GBytes *bytes, GError **error)
{
    g_autoptr(GBytes) mapped = NULL;
    if (bytes == NULL) {
        bytes = mapped = limn_file_map(path, 0, error);
        if (bytes == NULL)
            return FALSE;
    }
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    if (is_safetensors(data, size))
        return TRUE;
    for (gsize i = 0; i < G_N_ELEMENTS(FORMATS); i++)
        if (size >= FORMATS[i].offset + FORMATS[i].size &&
            memcmp(data + FORMATS[i].offset, FORMATS[i].magic, FORMATS[i].size) == 0)
            return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, path,
                                       "this is %s; " EXPORT, FORMATS[i].what);
    return refuse_pointer(path, data, size, error) &&
           refuse_zip(path, data, size, error) &&
           refuse_pickle(path, data, size, error) &&
           refuse_onnx(path, data, size, error) && refuse_page(path, data, size, error);
}

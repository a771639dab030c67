// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/figure-data.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/figure/paint.h"

#include <math.h>
#include <string.h>

// ---- .npy

// "\x93NUMPY", version 1.0, length of the header (little endian), a Python dictionary
// padded with blanks so that the data begin at a multiple of 64.
static void
put_npy_header(GByteArray *out, const char *type, int rank, const gint64 *shape)
{
    g_autoptr(GString) header = g_string_new(NULL);
    g_string_printf(header, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
                    G_BYTE_ORDER == G_LITTLE_ENDIAN ? "<" : ">", type);
    for (int i = 0; i < rank; i++)
        g_string_append_printf(header, "%s%" G_GINT64_FORMAT, i ? ", " : "", shape[i]);
    g_string_append(header, rank == 1 ? ",), }" : "), }");
    while ((10 + header->len + 1) % 64 != 0)
        g_string_append_c(header, ' ');
    g_string_append_c(header, '\n');
    guint16 length = GUINT16_TO_LE((guint16) header->len);
    g_byte_array_append(out, (const guint8 *) "\x93NUMPY\x01\x00", 8);
    g_byte_array_append(out, (const guint8 *) &length, 2);
    g_byte_array_append(out, (const guint8 *) header->str, (guint) header->len);
}

static gboolean
write_npy(const char *stem, const char *type, int rank, const gint64 *shape,
          const void *data, gsize size, GError **error)
{
    g_autofree char *path = g_strconcat(stem, ".npy", NULL);
    g_autoptr(GByteArray) header = g_byte_array_new();
    put_npy_header(header, type, rank, shape);
    g_autoptr(LimnFileWriter) writer = limn_file_writer_new(path, error);
    return writer && limn_file_writer_write(writer, header->data, header->len, error) &&
           limn_file_writer_write(writer, data, size, error) &&
           limn_file_writer_commit(writer, error);
}

static gboolean
write_field(const LimnArtifact *artifact, gint64 item, const char *stem, GError **error)
{
    const LimnArray *field = artifact->field;
    const float *data = limn_array_f32(field);
    if (item < 0)
        return write_npy(stem, "f4", field->rank, field->shape, data,
                         (gsize) field->length * sizeof(float), error);
    int height, width;
    limn_artifact_map_size(artifact, &height, &width);
    gint64 shape[2] = {height, width};
    return write_npy(stem, "f4", 2, shape, limn_artifact_get_map(artifact, item),
                     (gsize) height * width * sizeof(float), error);
}

static gboolean
write_labels(LimnImage *image, const char *stem, GError **error)
{
    gint64 shape[2] = {image->height, image->width};
    g_autoptr(LimnArray) values = limn_array_new(LIMN_DTYPE_U32, 2, shape, error);
    if (!values)
        return FALSE;
    guint32 *out = values->data;
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++) {
            double value = limn_image_get_sample(image, x, y, 0);
            out[(gsize) y * image->width + x] =
                value > 0 && value < 4294967296.0 ? (guint32) value : 0;
        }
    }
    return write_npy(stem, "u4", 2, shape, out, (gsize) values->length * 4, error);
}

// [H,W,3], or [N,H,W,3] for several pictures of one size.
static gboolean
write_pictures(const LimnArtifact *artifact, gint64 item, const char *stem,
               GError **error)
{
    gint64 n = item < 0 ? limn_panel_count(artifact) : 1;
    g_autoptr(GByteArray) pixels = g_byte_array_new();
    gint64 shape[4] = {n, 0, 0, 3};
    for (gint64 i = 0; i < n; i++) {
        LimnRect rect;
        LimnImage *image = limn_panel_picture(artifact, item < 0 ? i : item, &rect);
        g_autoptr(LimnImage) rgb = limn_image_to_rgb8(image, LIMN_RANGE_TYPE, error);
        if (!rgb)
            return FALSE;
        if (i > 0 && (rgb->height != shape[1] || rgb->width != shape[2])) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                        "%s: pictures of different sizes do not make one array (found "
                        "%d x %d and %d x %d)",
                        artifact->name, (int) shape[2], (int) shape[1], rgb->width,
                        rgb->height);
            return FALSE;
        }
        shape[1] = rgb->height;
        shape[2] = rgb->width;
        gsize size = limn_image_stride(rgb) * rgb->height;
        if (size > G_MAXUINT - pixels->len) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                        "%s: the pictures are too large for one array", artifact->name);
            return FALSE;
        }
        g_byte_array_append(pixels, rgb->data, (guint) size);
    }
    int skip = n == 1 ? 1 : 0;
    return write_npy(stem, "u1", 4 - skip, shape + skip, pixels->data, pixels->len,
                     error);
}

// ---- CSV

static void
put_field(GString *out, const char *text)
{
    if (!text)
        return;
    if (text[0] && !strpbrk(text, ",\"\r\n")) {
        g_string_append(out, text);
        return;
    }
    g_string_append_c(out, '"');
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *p);
    }
    g_string_append_c(out, '"');
}

static void
put_number(GString *out, double value)
{
    char buffer[LIMN_NUMBER_BUFFER];
    if (!isnan(value))
        g_string_append(out, limn_number_format(buffer, value));
}

static void
put_cell(GString *out, const LimnColumn *column, guint row)
{
    if (column->numeric && row < column->numbers->len)
        put_number(out, g_array_index(column->numbers, double, row));
    else if (!column->numeric && row < column->strings->len)
        put_field(out, column->strings->pdata[row]);
}

static void
put_table(GString *out, const LimnTable *table)
{
    guint n = limn_table_n_rows(table);
    for (guint c = 0; c < table->columns->len; c++) {
        const LimnColumn *column = table->columns->pdata[c];
        if (c > 0)
            g_string_append_c(out, ',');
        put_field(out, column->name);
    }
    g_string_append_c(out, '\n');
    for (guint row = 0; row < n; row++) {
        for (guint c = 0; c < table->columns->len; c++) {
            if (c > 0)
                g_string_append_c(out, ',');
            put_cell(out, table->columns->pdata[c], row);
        }
        g_string_append_c(out, '\n');
    }
}

static void
put_words(GString *out, const LimnTextItem *item, guint index)
{
    gsize length = strlen(item->text);
    for (guint i = 0; i < item->words->len; i++) {
        const LimnTextWord *word = &g_array_index(item->words, LimnTextWord, i);
        gsize begin = MIN(word->begin, length), end = CLAMP(word->end, begin, length);
        g_autofree char *text = g_strndup(item->text + begin, end - begin);
        g_string_append_printf(out, "%u,", index);
        put_field(out, text);
        g_string_append_printf(out, ",%" G_GSIZE_FORMAT ",%" G_GSIZE_FORMAT ",", begin,
                               end);
        put_number(out, word->weight);
        g_string_append_c(out, '\n');
    }
}

static gboolean
write_csv(const LimnArtifact *artifact, gint64 item, const char *stem, GError **error)
{
    g_autofree char *path = g_strconcat(stem, ".csv", NULL);
    g_autoptr(GString) out = g_string_new(NULL);
    if (artifact->kind == LIMN_ARTIFACT_TEXT) {
        g_string_append(out, "text,word,begin,end,weight\n");
        for (guint i = 0; i < artifact->texts->len; i++) {
            if (item < 0 || item == (gint64) i)
                put_words(out, artifact->texts->pdata[i], i);
        }
    } else {
        put_table(out, artifact->table);
    }
    return limn_file_write(path, out->str, out->len, error);
}

gboolean
limn_figure_data_write(const LimnArtifact *artifact, gint64 item, const char *stem,
                       GError **error)
{
    switch (artifact->kind) {
    case LIMN_ARTIFACT_HEATMAP:
        return write_field(artifact, item, stem, error);
    case LIMN_ARTIFACT_LABELMAP: {
        GPtrArray *pictures = artifact->pictures;
        LimnImage *image = artifact->mask;
        if (pictures && pictures->len > 0)
            image = pictures->pdata[CLAMP(item, 0, (gint64) pictures->len - 1)];
        return write_labels(image ? image : artifact->picture, stem, error);
    }
    case LIMN_ARTIFACT_PICTURES:
        return write_pictures(artifact, item, stem, error);
    default:
        return write_csv(artifact, item, stem, error);
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/picture-paste.h"

#include <glib/gi18n-lib.h>
#include <string.h>

// GTK gives premultiplied BGRA in the machine's order; pictures are plain RGB(A). The
// loop only moves bytes of what is shown.
static void
unpack_row(const guint32 *in, guint8 *out, int width)
{
    for (int x = 0; x < width; x++, out += 4) {
        guint32 pixel = in[x], alpha = pixel >> 24;

        for (int c = 0; c < 3; c++) {
            guint32 value = (pixel >> (16 - 8 * c)) & 0xff;

            out[c] = alpha ? (guint8) MIN(255, (value * 255 + alpha / 2) / alpha) : 0;
        }
        out[3] = (guint8) alpha;
    }
}

void
limn_paste_texture(LimnWorkspace *ws, GdkTexture *texture)
{
    int width = gdk_texture_get_width(texture), height = gdk_texture_get_height(texture);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image =
        limn_image_new(width, height, LIMN_PIXELS_RGBA, LIMN_DEPTH_U8, &error);
    g_autofree guint32 *pixels = NULL;

    if (!image) {
        limn_workspace_message(ws, LIMN_MESSAGE_ERROR, error->message);
        return;
    }
    pixels = g_try_new(guint32, (gsize) width * (gsize) height);
    if (!pixels) {
        limn_workspace_message(ws, LIMN_MESSAGE_ERROR,
                               _("There is not enough memory for the pasted picture."));
        return;
    }
    gdk_texture_download(texture, (guchar *) pixels, (gsize) width * 4);
    for (int y = 0; y < height; y++)
        unpack_row(pixels + (gsize) y * (gsize) width,
                   (guint8 *) image->data + (gsize) y * limn_image_stride(image), width);
    limn_workspace_open_pasted(ws, image);
}

static void
texture_read(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(LimnWorkspace) ws = user_data;
    g_autoptr(GdkTexture) texture =
        gdk_clipboard_read_texture_finish(GDK_CLIPBOARD(source), result, NULL);

    if (texture)
        limn_paste_texture(ws, texture);
    else
        limn_workspace_message(ws, LIMN_MESSAGE_INFO,
                               _("There is no picture in the clipboard."));
}

static void
files_read(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(LimnWorkspace) ws = user_data;
    const GValue *value =
        gdk_clipboard_read_value_finish(GDK_CLIPBOARD(source), result, NULL);
    g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
    g_auto(GStrv) list = NULL;
    GSList *files = value ? gdk_file_list_get_files(g_value_get_boxed(value)) : NULL;

    for (GSList *link = files; link; link = link->next) {
        g_autofree char *path = g_file_get_path(link->data);

        if (path)
            g_strv_builder_add(paths, path);
    }
    g_slist_free(files);
    list = g_strv_builder_end(paths);
    if (*list)
        limn_workspace_open_paths(ws, (const char *const *) list);
}

void
limn_paste_from_clipboard(LimnWorkspace *ws, GdkClipboard *clipboard)
{
    GdkContentFormats *formats = gdk_clipboard_get_formats(clipboard);

    if (gdk_content_formats_contain_gtype(formats, GDK_TYPE_FILE_LIST))
        gdk_clipboard_read_value_async(clipboard, GDK_TYPE_FILE_LIST, G_PRIORITY_DEFAULT,
                                       NULL, files_read, g_object_ref(ws));
    else
        gdk_clipboard_read_texture_async(clipboard, NULL, texture_read, g_object_ref(ws));
}

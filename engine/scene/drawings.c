// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/scene/drawings.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "engine/io/picture.h"
#include "engine/scene/shapes.h"
#include "engine/text/json.h"

#include <string.h>

#define SIZE LIMN_DRAWING_SIZE
#define MAX_ICON_FILE ((guint64) 512 << 20)
#define MAX_ALIASES 8   // an alias of an alias of ...
#define MAX_NAMES 65534 // label maps hold 16 bits, 0 is the background

typedef struct {
    char *name, *key, *group;
    gboolean common;
} Name;

typedef struct {
    char *title;
    GPtrArray *svg;   // char *, one per name, NULL: the style lacks it
    guint32 **pixels; // one per name
} Style;

struct LimnDrawings {
    gatomicrefcount refs;
    GArray *names;     // Name
    GPtrArray *styles; // Style
    GHashTable *index; // name -> id + 1
};

static void
clear_name(gpointer data)
{
    Name *name = data;
    g_free(name->name);
    g_free(name->key);
    g_free(name->group);
}

static LimnDrawings *
new_drawings(void)
{
    LimnDrawings *d = g_new0(LimnDrawings, 1);
    g_atomic_ref_count_init(&d->refs);
    d->names = g_array_new(FALSE, TRUE, sizeof(Name));
    g_array_set_clear_func(d->names, clear_name);
    d->styles = g_ptr_array_new();
    d->index = g_hash_table_new(g_str_hash, g_str_equal);
    return d;
}

LimnDrawings *
limn_drawings_ref(LimnDrawings *drawings)
{
    g_atomic_ref_count_inc(&drawings->refs);
    return drawings;
}

static void
free_style(Style *style, guint n_names)
{
    for (guint i = 0; style->pixels && i < n_names; i++)
        g_free(style->pixels[i]);
    g_free(style->pixels);
    g_clear_pointer(&style->svg, g_ptr_array_unref);
    g_free(style->title);
    g_free(style);
}

void
limn_drawings_unref(LimnDrawings *drawings)
{
    if (!drawings || !g_atomic_ref_count_dec(&drawings->refs))
        return;
    for (guint i = 0; i < drawings->styles->len; i++)
        free_style(drawings->styles->pdata[i], drawings->names->len);
    g_ptr_array_unref(drawings->styles);
    g_hash_table_unref(drawings->index);
    g_array_unref(drawings->names);
    g_free(drawings);
}

static Name *
name_at(LimnDrawings *drawings, guint i)
{
    return &g_array_index(drawings->names, Name, i);
}

static void
add_name(LimnDrawings *d, const char *name, const char *key, const char *group,
         gboolean common)
{
    Name entry = {g_strdup(name), g_strdup(key), g_strdup(group), common};
    g_array_append_val(d->names, entry);
}

static void
index_names(LimnDrawings *d)
{
    for (guint i = 0; i < d->names->len; i++)
        g_hash_table_insert(d->index, name_at(d, i)->name, GUINT_TO_POINTER(i + 1));
}

// ---- shapes

LimnDrawings *
limn_drawings_new_shapes(GError **error)
{
    LimnDrawings *d = new_drawings();
    Style *style = g_new0(Style, 1);
    style->title = g_strdup("shapes");
    g_ptr_array_add(d->styles, style);
    guint n = limn_shapes_get_n();
    style->pixels = g_new0(guint32 *, n);
    for (guint i = 0; i < n; i++) {
        g_autofree char *name = limn_shapes_dup_name(i);
        add_name(d, name, name, "shapes", TRUE);
        style->pixels[i] = limn_shapes_draw(i, SIZE);
    }
    index_names(d);
    return d;
}

// ---- icon sets

static gboolean
read_concepts(LimnDrawings *d, const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_map(path, (guint64) 16 << 20, error);
    if (!bytes)
        return FALSE;
    gsize size;
    const char *text = g_bytes_get_data(bytes, &size);
    g_autofree char *copy = g_strndup(text ? text : "", size);
    g_auto(GStrv) lines = g_strsplit(copy, "\n", -1);
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 1; lines[0] && lines[i]; i++) {
        g_strchomp(lines[i]);
        if (!*lines[i])
            continue;
        g_auto(GStrv) cells = g_strsplit(lines[i], "\t", -1);
        guint n = g_strv_length(cells);
        if (n < 2 || !g_utf8_validate(lines[i], -1, NULL) || !*cells[0] || !*cells[1])
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                       "line %u holds no name and key (found %u columns, "
                                       "expected name, key, group, ...)",
                                       i + 1, n);
        if (d->names->len == MAX_NAMES)
            return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, path,
                                       "holds more than %d names", MAX_NAMES);
        if (!g_hash_table_add(seen, g_strdup(cells[0])))
            return limn_error_set_file(
                error, LIMN_ERROR_FORMAT, path,
                "line %u gives the name '%s' again (expected every "
                "name once)",
                i + 1, cells[0]);
        add_name(d, cells[0], cells[1], n > 2 ? cells[2] : "", n > 5 && *cells[5] == '1');
    }
    return TRUE;
}

// The icon's entry, aliases followed; NULL when there is none.
static json_t *
find_icon(json_t *root, const char *key)
{
    json_t *icons = json_object_get(root, "icons"),
           *aliases = json_object_get(root, "aliases");
    for (int depth = 0; key && depth < MAX_ALIASES; depth++) {
        json_t *icon = json_object_get(icons, key);
        if (icon)
            return icon;
        key = json_string_value(json_object_get(json_object_get(aliases, key), "parent"));
    }
    return NULL;
}

static double
icon_number(json_t *icon, json_t *root, const char *key, double fallback)
{
    json_t *value = json_object_get(icon, key);
    if (!json_is_number(value))
        value = json_object_get(root, key);
    double number = json_is_number(value) ? json_number_value(value) : fallback;
    return number;
}

// The body within an <svg> of its view box, at the size of a drawing.
static char *
wrap_icon(json_t *icon, json_t *root)
{
    const char *body = json_string_value(json_object_get(icon, "body"));
    double width = icon_number(icon, root, "width", 16);
    double height = icon_number(icon, root, "height", 16);
    double left = icon_number(icon, root, "left", 0),
           top = icon_number(icon, root, "top", 0);
    if (!body || !(width > 0 && width < 1e6 && height > 0 && height < 1e6))
        return NULL;
    char box[4][G_ASCII_DTOSTR_BUF_SIZE];
    const double numbers[] = {left, top, width, height};
    for (int i = 0; i < 4; i++)
        g_ascii_dtostr(box[i], sizeof box[i], numbers[i]);
    return g_strdup_printf("<svg xmlns=\"http://www.w3.org/2000/svg\" "
                           "xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%d\" "
                           "height=\"%d\" viewBox=\"%s %s %s %s\">%s</svg>",
                           SIZE, SIZE, box[0], box[1], box[2], box[3], body);
}

static gboolean
read_icon_set(LimnDrawings *d, const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_map(path, MAX_ICON_FILE, error);
    if (!bytes)
        return FALSE;
    g_autofree char *shown = limn_display_path(path);
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    g_autoptr(json_t) root = limn_json_parse(data, size, shown, error);
    if (!root)
        return FALSE;
    if (!json_is_object(json_object_get(root, "icons")))
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                   "this is no icon set (no object 'icons' was found)");
    Style *style = g_new0(Style, 1);
    const char *prefix = json_string_value(json_object_get(root, "prefix"));
    g_autofree char *base = g_path_get_basename(path);
    style->title = prefix ? g_strdup(prefix) : limn_display_path(base);
    style->svg = g_ptr_array_new_with_free_func(g_free);
    style->pixels = g_new0(guint32 *, MAX(d->names->len, 1));
    g_ptr_array_add(d->styles, style);
    for (guint i = 0; i < d->names->len; i++) {
        json_t *icon = find_icon(root, name_at(d, i)->key);
        char *svg = icon ? wrap_icon(icon, root) : NULL;
        if (icon && !svg)
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                       "icon '%s' has no body or no size",
                                       name_at(d, i)->key);
        g_ptr_array_add(style->svg, svg);
    }
    return TRUE;
}

// Names that no style has are left out.
static gboolean
drop_missing(LimnDrawings *d, LimnJob *job, GError **error)
{
    guint kept = 0, n = d->names->len;
    for (guint i = 0; i < n; i++) {
        gboolean drawn = FALSE;
        for (guint s = 0; s < d->styles->len; s++)
            drawn = drawn || ((Style *) d->styles->pdata[s])->svg->pdata[i];
        if (!drawn) {
            limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, name_at(d, i)->name,
                              "no icon set has a drawing of that name");
            continue;
        }
        Name swap = *name_at(d, kept);
        *name_at(d, kept) = *name_at(d, i);
        *name_at(d, i) = swap;
        for (guint s = 0; s < d->styles->len; s++) {
            gpointer *svg = ((Style *) d->styles->pdata[s])->svg->pdata;
            gpointer drawing = svg[kept];
            svg[kept] = svg[i];
            svg[i] = drawing;
        }
        kept++;
    }
    // Pixels are not rendered yet: shortening the list of names frees nothing of them.
    g_array_set_size(d->names, kept);
    if (kept > 0)
        return TRUE;
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                "the icon sets have none of the %u names asked for", n);
    return FALSE;
}

LimnDrawings *
limn_drawings_load_icons(const char *const *files, const char *concepts, LimnJob *job,
                         GError **error)
{
    g_autofree char *builtin =
        concepts ? NULL : limn_data_path("text/concepts.tsv", error);
    if (!concepts && !builtin)
        return NULL;
    g_autoptr(LimnDrawings) d = new_drawings();
    if (!read_concepts(d, concepts ? concepts : builtin, error))
        return NULL;
    for (guint i = 0; files[i]; i++) {
        limn_job_report(job, "icons", 0, "reading %s", files[i]);
        if (!limn_job_check(job, error) || !read_icon_set(d, files[i], error))
            return NULL;
    }
    if (d->styles->len == 0 || d->styles->len > 64) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%u icon sets were given, expected 1 to 64", d->styles->len);
        return NULL;
    }
    if (!drop_missing(d, job, error))
        return NULL;
    index_names(d);
    return g_steal_pointer(&d);
}

// ---- access

guint
limn_drawings_n_names(LimnDrawings *drawings)
{
    return drawings->names->len;
}

const char *
limn_drawings_get_name(LimnDrawings *drawings, guint name)
{
    return name_at(drawings, name)->name;
}

const char *
limn_drawings_get_group(LimnDrawings *drawings, guint name)
{
    return name_at(drawings, name)->group;
}

gboolean
limn_drawings_is_common(LimnDrawings *drawings, guint name)
{
    return name_at(drawings, name)->common;
}

int
limn_drawings_find(LimnDrawings *drawings, const char *name)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(drawings->index, name)) - 1;
}

guint
limn_drawings_n_styles(LimnDrawings *drawings)
{
    return drawings->styles->len;
}

const char *
limn_drawings_get_style(LimnDrawings *drawings, guint style)
{
    return ((Style *) drawings->styles->pdata[style])->title;
}

gboolean
limn_drawings_has(LimnDrawings *drawings, guint name, guint style)
{
    const Style *s = drawings->styles->pdata[style];
    return s->pixels[name] != NULL || (s->svg && s->svg->pdata[name]);
}

const guint32 *
limn_drawings_get_pixels(LimnDrawings *drawings, guint name, guint style)
{
    return ((Style *) drawings->styles->pdata[style])->pixels[name];
}

// ---- rendering

static guint8
premultiply(guint8 value, guint8 alpha)
{
    return (guint8) ((value * alpha + 127) / 255);
}

static guint32 *
render_svg(const char *svg, const char *name, GError **error)
{
    g_autoptr(GBytes) bytes = g_bytes_new_static(svg, strlen(svg));
    g_autoptr(LimnImage) image = limn_picture_load_bytes(bytes, name, NULL, error);
    g_autoptr(LimnImage) rgba =
        image ? limn_image_to_rgba8(image, LIMN_RANGE_TYPE, error) : NULL;
    if (!rgba)
        return NULL;
    if (rgba->width != SIZE || rgba->height != SIZE) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "%s: the drawing came out %d x %d (expected %d x %d)", name,
                    rgba->width, rgba->height, SIZE, SIZE);
        return NULL;
    }
    guint32 *pixels = g_new(guint32, SIZE * SIZE);
    const guint8 *in = rgba->data;
    for (int i = 0; i < SIZE * SIZE; i++, in += 4)
        pixels[i] = (guint32) in[3] << 24 | (guint32) premultiply(in[0], in[3]) << 16 |
                    (guint32) premultiply(in[1], in[3]) << 8 | premultiply(in[2], in[3]);
    return pixels;
}

typedef struct {
    LimnDrawings *drawings;
    LimnJob *job;
    guint64 styles;
    gint done; // atomic
} Rendering;

static gboolean
render_name(gsize chunk, gpointer data, GError **error)
{
    Rendering *r = data;
    guint n = r->drawings->names->len;
    for (guint s = 0; s < r->drawings->styles->len; s++) {
        Style *style = r->drawings->styles->pdata[s];
        const char *svg = style->svg ? style->svg->pdata[chunk] : NULL;
        if (!(r->styles >> s & 1) || style->pixels[chunk] || !svg)
            continue;
        g_autofree char *name = g_strdup_printf("%s: %s", style->title,
                                                name_at(r->drawings, (guint) chunk)->key);
        style->pixels[chunk] = render_svg(svg, name, error);
        if (!style->pixels[chunk])
            return FALSE;
    }
    gint done = g_atomic_int_add(&r->done, 1) + 1;
    limn_job_report(r->job, "drawings", (double) done / n, "%d of %u names", done, n);
    return TRUE;
}

gboolean
limn_drawings_render(LimnDrawings *drawings, guint64 styles, LimnJob *job, GError **error)
{
    Rendering r = {
        .drawings = drawings, .job = job, .styles = styles ? styles : G_MAXUINT64};
    return limn_parallel_try(job, drawings->names->len, render_name, &r, error);
}

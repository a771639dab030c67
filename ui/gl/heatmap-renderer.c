// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/heatmap-renderer.h"

#include "ui/gl/gl-objects.h"

#include <math.h>
#include <string.h>

// Variants of the shader.
enum {
    HAS_PICTURE = 1 << 0,
    HAS_MAP = 1 << 1,
    HAS_MASK = 1 << 2,
    LINEAR = 1 << 3,
    CONTOURS = 1 << 4,
    DIM = 1 << 5,
    HAS_ALPHA = 1 << 6,
    ALL_FINITE = 1 << 7,
    N_VARIANTS = 1 << 8,
};

// Texture units.
enum { PICTURE_UNIT, MAP_UNIT, MASK_UNIT, COLOURS_UNIT };

typedef struct {
    GLuint program;
    GLint bounds, picture_place, sharpness, map_place, mask_place, opacity;
    guint frame; // in which the uniforms of the whole frame were set
} Program;

typedef struct {
    guint64 store;
    int level, column, row;
} Key;

typedef struct {
    Key key;
    GLuint id;
    gint64 bytes;
    gboolean preview;
    gboolean plain; // colours: opaque; floats: all finite
    guint frame;    // last use
} Texture;

struct LimnHeatmapRenderer {
    Program programs[N_VARIANTS];
    GLuint vertex_array;
    GLuint colours;
    guint8 table[256][3]; // what `colours` holds
    GHashTable *textures; // Key (inside) -> Texture
    gint64 bytes;
    guint frame;
    gint64 uploaded; // in this frame
    gboolean more;
};

static guint
key_hash(gconstpointer data)
{
    const Key *key = data;

    return (guint) key->store * 31 + key->level * 7919 + key->column * 104729 + key->row;
}

static gboolean
key_equal(gconstpointer a, gconstpointer b)
{
    const Key *x = a, *y = b;

    return x->store == y->store && x->level == y->level && x->column == y->column &&
           x->row == y->row;
}

LimnHeatmapRenderer *
limn_heatmap_renderer_new(void)
{
    LimnHeatmapRenderer *renderer = g_new0(LimnHeatmapRenderer, 1);

    renderer->textures = g_hash_table_new_full(key_hash, key_equal, NULL, g_free);
    return renderer;
}

gint64
limn_heatmap_renderer_get_bytes(const LimnHeatmapRenderer *renderer)
{
    return renderer->bytes;
}

void
limn_heatmap_renderer_free(LimnHeatmapRenderer *renderer, gboolean has_context)
{
    GHashTableIter iter;
    gpointer texture;

    if (renderer == NULL)
        return;
    g_hash_table_iter_init(&iter, renderer->textures);
    while (has_context && g_hash_table_iter_next(&iter, NULL, &texture))
        limn_gl_texture_delete(((Texture *) texture)->id);
    if (has_context) {
        for (int i = 0; i < N_VARIANTS; i++)
            limn_gl_program_delete(renderer->programs[i].program);
        limn_gl_texture_delete(renderer->colours);
        limn_gl_vertex_array_delete(renderer->vertex_array);
    }
    g_hash_table_unref(renderer->textures);
    g_free(renderer);
}

// ---- textures

static void
remove_texture(LimnHeatmapRenderer *renderer, Texture *texture)
{
    renderer->bytes -= texture->bytes;
    limn_gl_texture_delete(texture->id);
    g_hash_table_remove(renderer->textures, &texture->key);
}

static gboolean
is_of_scene(const LimnHeatmapScene *scene, guint64 store)
{
    LimnTileStore *stores[] = {scene->picture, scene->maps[0], scene->maps[1],
                               scene->mask};

    for (gsize i = 0; i < G_N_ELEMENTS(stores); i++)
        if (stores[i] != NULL && limn_tile_store_get_id(stores[i]) == store)
            return TRUE;
    return FALSE;
}

// Deletes the tiles of pictures and maps that are no longer shown.
static void
remove_foreign_textures(LimnHeatmapRenderer *renderer, const LimnHeatmapScene *scene)
{
    g_autoptr(GList) textures = g_hash_table_get_values(renderer->textures);

    for (GList *l = textures; l != NULL; l = l->next)
        if (!is_of_scene(scene, ((Texture *) l->data)->key.store))
            remove_texture(renderer, l->data);
}

static void
remove_old_textures(LimnHeatmapRenderer *renderer)
{
    while (renderer->bytes > LIMN_HEATMAP_TEXTURE_BUDGET) {
        GHashTableIter iter;
        gpointer value;
        Texture *oldest = NULL;

        g_hash_table_iter_init(&iter, renderer->textures);
        while (g_hash_table_iter_next(&iter, NULL, &value))
            if (oldest == NULL || ((Texture *) value)->frame < oldest->frame)
                oldest = value;
        if (oldest == NULL || oldest->frame == renderer->frame)
            return;
        remove_texture(renderer, oldest);
    }
}

// The common cases need less work per pixel.
static gboolean
is_plain(LimnPyramid *pyramid, const LimnTile *tile)
{
    const float *values = (const float *) tile->texels;
    gsize n = (gsize) tile->width * tile->height;

    if (!limn_pyramid_is_float(pyramid))
        return limn_pyramid_is_opaque(pyramid);
    for (gsize i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return FALSE;
    return TRUE;
}

// Fills a texture, a new one or one that held the preview: those keep their place in
// memory, because rectangles of this frame may point to it.
static Texture *
upload(LimnHeatmapRenderer *renderer, Texture *texture, const Key *key,
       LimnTileStore *store, const LimnTile *tile)
{
    LimnPyramid *pyramid = limn_tile_store_get_pyramid(store);
    gboolean is_float = limn_pyramid_is_float(pyramid);

    if (texture == NULL) {
        texture = g_new0(Texture, 1);
        texture->key = *key;
        g_hash_table_insert(renderer->textures, &texture->key, texture);
    }
    limn_gl_texture_delete(texture->id);
    renderer->bytes -= texture->bytes;
    texture->bytes = (gint64) tile->width * tile->height * 4;
    texture->preview = tile->preview;
    texture->plain = is_plain(pyramid, tile);
    texture->id = limn_gl_texture_new(is_float, tile->width, tile->height, tile->texels);
    texture->frame = renderer->frame;
    renderer->bytes += texture->bytes;
    renderer->uploaded += texture->bytes;
    if (!tile->preview)
        limn_tile_store_release(store, tile);
    return texture;
}

static gconstpointer
resolve(LimnTileStore *store, int level, int column, int row, gboolean wanted,
        gpointer data)
{
    LimnHeatmapRenderer *renderer = data;
    Key key = {limn_tile_store_get_id(store), level, column, row};
    Texture *texture = g_hash_table_lookup(renderer->textures, &key);
    gboolean coarsest =
        level == limn_pyramid_n_levels(limn_tile_store_get_pyramid(store)) - 1;
    const LimnTile *tile;

    if (texture != NULL)
        texture->frame = renderer->frame;
    if (texture != NULL && !(texture->preview && wanted))
        return texture;
    if (renderer->uploaded >= LIMN_HEATMAP_UPLOAD_BYTES && !coarsest) {
        renderer->more |= wanted;
        return texture;
    }
    tile = wanted ? limn_tile_store_get(store, level, column, row)
                  : limn_tile_store_peek(store, level, column, row);
    if (tile == NULL || (texture != NULL && tile->preview))
        return texture;
    return upload(renderer, texture, &key, store, tile);
}

static void
update_colours(LimnHeatmapRenderer *renderer, const LimnHeatmapStyle *style)
{
    guint8 texels[256][4];

    if (renderer->colours != 0 &&
        memcmp(renderer->table, style->table, sizeof(style->table)) == 0)
        return;
    for (int i = 0; i < 256; i++) {
        memcpy(texels[i], style->table[i], 3);
        texels[i][3] = 255;
    }
    limn_gl_texture_delete(renderer->colours);
    renderer->colours = limn_gl_texture_new(FALSE, 256, 1, texels);
    memcpy(renderer->table, style->table, sizeof(style->table));
}

// ---- programs

static void
set_samplers(GLuint program)
{
    glUseProgram(program);
    glUniform1i(glGetUniformLocation(program, "picture"), PICTURE_UNIT);
    glUniform1i(glGetUniformLocation(program, "map"), MAP_UNIT);
    glUniform1i(glGetUniformLocation(program, "mask"), MASK_UNIT);
    glUniform1i(glGetUniformLocation(program, "colours"), COLOURS_UNIT);
}

static Program *
get_program(LimnHeatmapRenderer *renderer, int variant, GError **error)
{
    Program *program = &renderer->programs[variant];
    g_autoptr(GString) defines = NULL;

    if (program->program != 0)
        return program;
    defines = g_string_new(NULL);
    if (variant & HAS_PICTURE)
        g_string_append(defines, "#define HAS_PICTURE\n");
    if (variant & HAS_ALPHA)
        g_string_append(defines, "#define HAS_ALPHA\n");
    if (variant & ALL_FINITE)
        g_string_append(defines, "#define ALL_FINITE\n");
    if (variant & HAS_MAP)
        g_string_append(defines, "#define HAS_MAP\n");
    if (variant & HAS_MASK)
        g_string_append(defines, "#define HAS_MASK\n");
    if (variant & LINEAR)
        g_string_append(defines, "#define LINEAR\n");
    if (variant & CONTOURS)
        g_string_append(defines, "#define CONTOURS\n");
    if (variant & DIM)
        g_string_append_printf(defines, "#define DIM 0.%02d\n",
                               (int) (100 * LIMN_HEATMAP_DIM + 0.5f));
    program->program =
        limn_gl_program_new("heatmap.vert", "heatmap.frag", defines->str, error);
    if (program->program == 0)
        return NULL;
    set_samplers(program->program);
    program->bounds = glGetUniformLocation(program->program, "bounds");
    program->picture_place = glGetUniformLocation(program->program, "picture_place");
    program->sharpness = glGetUniformLocation(program->program, "sharpness");
    program->map_place = glGetUniformLocation(program->program, "map_place");
    program->mask_place = glGetUniformLocation(program->program, "mask_place");
    program->opacity = glGetUniformLocation(program->program, "opacity");
    return program;
}

static void
set_colour(GLuint program, const char *name, const guint8 rgb[3])
{
    glUniform3f(glGetUniformLocation(program, name), rgb[0] / 255.0f, rgb[1] / 255.0f,
                rgb[2] / 255.0f);
}

// What is the same for all rectangles of a frame.
static void
begin_program(LimnHeatmapRenderer *renderer, Program *program,
              const LimnHeatmapStyle *style, int width, int height)
{
    GLuint id = program->program;
    float contours[LIMN_HEATMAP_MAX_CONTOURS];

    glUseProgram(id);
    if (program->frame == renderer->frame)
        return;
    program->frame = renderer->frame;
    for (int i = 0; i < style->n_contours; i++)
        contours[i] = style->contours[i];
    glUniform2f(glGetUniformLocation(id, "viewport"), width, height);
    glUniform1f(glGetUniformLocation(id, "pixel_scale"), style->scale);
    glUniform2f(glGetUniformLocation(id, "range"), style->min, style->max);
    glUniform1i(glGetUniformLocation(id, "n_contours"), style->n_contours);
    if (style->n_contours > 0)
        glUniform1fv(glGetUniformLocation(id, "contours"), style->n_contours, contours);
    set_colour(id, "background", style->background);
    set_colour(id, "nan_colour", style->nan);
}

// ---- drawing

static int
cell_variant(const LimnHeatmapCell *cell, const LimnHeatmapStyle *style)
{
    const Texture *picture = cell->layers[LIMN_LAYER_PICTURE].handle;
    const Texture *map = cell->layers[LIMN_LAYER_MAP].handle;
    int variant = 0;

    if (picture != NULL)
        variant |= HAS_PICTURE | (picture->plain ? 0 : HAS_ALPHA);
    if (cell->layers[LIMN_LAYER_MASK].handle != NULL)
        variant |= HAS_MASK;
    if (map != NULL)
        variant |= HAS_MAP | (map->plain ? ALL_FINITE : 0) |
                   (style->bilinear ? LINEAR : 0) |
                   (style->n_contours > 0 ? CONTOURS : 0);
    else if (style->dim_outside)
        variant |= DIM;
    return variant;
}

static void
bind_layer(const LimnLayerUse *use, int unit, GLint place)
{
    if (use->handle == NULL)
        return;
    glActiveTexture(GL_TEXTURE0 + unit);
    glBindTexture(GL_TEXTURE_2D, ((const Texture *) use->handle)->id);
    glUniform4f(place, use->scale_x, use->scale_y, use->offset_x, use->offset_y);
}

static gboolean
draw_cell(LimnHeatmapRenderer *renderer, const LimnHeatmapCell *cell,
          const LimnHeatmapStyle *style, int width, int height, GError **error)
{
    Program *program = get_program(renderer, cell_variant(cell, style), error);
    const LimnLayerUse *picture = &cell->layers[LIMN_LAYER_PICTURE];

    if (program == NULL)
        return FALSE;
    begin_program(renderer, program, style, width, height);
    bind_layer(picture, PICTURE_UNIT, program->picture_place);
    bind_layer(&cell->layers[LIMN_LAYER_MAP], MAP_UNIT, program->map_place);
    bind_layer(&cell->layers[LIMN_LAYER_MASK], MASK_UNIT, program->mask_place);
    glUniform4f(program->bounds, cell->x0, cell->y0, cell->x1, cell->y1);
    if (picture->handle != NULL)
        glUniform1f(program->sharpness,
                    picture->coarse ? 1 : MAX(1 / picture->scale_x - 1, 1));
    glUniform1f(program->opacity, picture->handle != NULL ? style->opacity : 1);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    return TRUE;
}

static void
begin_frame(LimnHeatmapRenderer *renderer, const LimnHeatmapScene *scene, int width,
            int height)
{
    const guint8 *background = scene->style.background;

    renderer->frame++;
    renderer->uploaded = 0;
    renderer->more = FALSE;
    glViewport(0, 0, width, height);
    glDisable(GL_BLEND);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_STENCIL_TEST);
    glDisable(GL_CULL_FACE);
    glDisable(GL_DITHER);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glClearColor(background[0] / 255.0f, background[1] / 255.0f, background[2] / 255.0f,
                 1);
    glClear(GL_COLOR_BUFFER_BIT);
    if (renderer->vertex_array == 0)
        renderer->vertex_array = limn_gl_vertex_array_new();
    remove_foreign_textures(renderer, scene);
    limn_heatmap_scene_begin_frame(scene);
}

static void
end_frame(LimnHeatmapRenderer *renderer)
{
    for (int unit = PICTURE_UNIT; unit <= COLOURS_UNIT; unit++) {
        glActiveTexture(GL_TEXTURE0 + unit);
        glBindTexture(GL_TEXTURE_2D, 0);
    }
    glActiveTexture(GL_TEXTURE0);
    glBindVertexArray(0);
    glUseProgram(0);
    remove_old_textures(renderer);
}

gboolean
limn_heatmap_renderer_draw(LimnHeatmapRenderer *renderer, const LimnHeatmapScene *scene,
                           const LimnViewTransform *transform, int width, int height,
                           gboolean *more, GError **error)
{
    g_autoptr(GArray) cells = NULL;
    gboolean ok = TRUE;

    *more = FALSE;
    if (width <= 0 || height <= 0)
        return TRUE;
    begin_frame(renderer, scene, width, height);
    cells = limn_heatmap_scene_cut(scene, transform, width, height, resolve, renderer);
    update_colours(renderer, &scene->style);
    glActiveTexture(GL_TEXTURE0 + COLOURS_UNIT);
    glBindTexture(GL_TEXTURE_2D, renderer->colours);
    glBindVertexArray(renderer->vertex_array);
    for (guint i = 0; ok && i < cells->len; i++)
        ok = draw_cell(renderer, &g_array_index(cells, LimnHeatmapCell, i), &scene->style,
                       width, height, error);
    end_frame(renderer);
    *more = renderer->more;
    return ok;
}

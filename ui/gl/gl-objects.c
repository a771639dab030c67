// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/gl-objects.h"

#include "engine/base/error.h"
#include "limn-shaders.h"

#include <gio/gio.h>
#include <string.h>

#define SHADER_PATH "/io/github/limn_studio/Limn/shaders/"
#define MESSAGE_LENGTH 1024

static LimnGLCounts counts;

LimnGLCounts
limn_gl_get_counts(void)
{
    return counts;
}

// ---- textures and vertex arrays

GLuint
limn_gl_texture_new(gboolean is_float, int width, int height, const void *texels)
{
    GLuint texture = 0;

    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    if (is_float)
        glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, width, height, 0, GL_RED, GL_FLOAT,
                     texels);
    else
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, texels);
    glBindTexture(GL_TEXTURE_2D, 0);
    counts.textures++;
    return texture;
}

void
limn_gl_texture_delete(GLuint texture)
{
    if (texture == 0)
        return;
    glDeleteTextures(1, &texture);
    counts.textures--;
}

GLuint
limn_gl_vertex_array_new(void)
{
    GLuint vertex_array = 0;

    glGenVertexArrays(1, &vertex_array);
    counts.vertex_arrays++;
    return vertex_array;
}

void
limn_gl_vertex_array_delete(GLuint vertex_array)
{
    if (vertex_array == 0)
        return;
    glDeleteVertexArrays(1, &vertex_array);
    counts.vertex_arrays--;
}

// ---- programs

static const char *
dialect_prefix(void)
{
    if (epoxy_is_desktop_gl())
        return "#version 330 core\n";
    return "#version 300 es\n"
           "precision highp float;\nprecision highp int;\nprecision highp sampler2D;\n";
}

static GLuint
compile(GLenum type, const char *name, const char *defines, GError **error)
{
    g_autofree char *path = g_strconcat(SHADER_PATH, name, NULL);
    g_autoptr(GBytes) source = NULL;
    const char *parts[4];
    GLint lengths[4] = {-1, -1, -1, 0};
    GLint ok = GL_FALSE;
    GLuint shader;
    gsize size;

    // Asking for the resource by its function keeps the linker from dropping it.
    (void) limn_shaders_get_resource();
    source = g_resources_lookup_data(path, 0, error);
    if (source == NULL)
        return 0;
    parts[0] = dialect_prefix();
    parts[1] = defines;
    parts[2] = "#line 1\n";
    parts[3] = g_bytes_get_data(source, &size);
    lengths[3] = size;
    shader = glCreateShader(type);
    glShaderSource(shader, G_N_ELEMENTS(parts), parts, lengths);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (!ok) {
        char message[MESSAGE_LENGTH] = "";

        glGetShaderInfoLog(shader, sizeof(message), NULL, message);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED,
                    "%s: shader does not compile: %s", name, g_strchomp(message));
        glDeleteShader(shader);
        return 0;
    }
    return shader;
}

static GLuint
link_program(GLuint vertex, GLuint fragment, const char *name, GError **error)
{
    GLuint program = glCreateProgram();
    GLint ok = GL_FALSE;

    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    glDetachShader(program, vertex);
    glDetachShader(program, fragment);
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    if (!ok) {
        char message[MESSAGE_LENGTH] = "";

        glGetProgramInfoLog(program, sizeof(message), NULL, message);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED, "%s: shader does not link: %s",
                    name, g_strchomp(message));
        glDeleteProgram(program);
        return 0;
    }
    counts.programs++;
    return program;
}

GLuint
limn_gl_program_new(const char *vertex, const char *fragment, const char *defines,
                    GError **error)
{
    GLuint vertex_shader = compile(GL_VERTEX_SHADER, vertex, defines, error);
    GLuint fragment_shader, program = 0;

    if (vertex_shader == 0)
        return 0;
    fragment_shader = compile(GL_FRAGMENT_SHADER, fragment, defines, error);
    if (fragment_shader != 0)
        program = link_program(vertex_shader, fragment_shader, fragment, error);
    glDeleteShader(vertex_shader);
    if (fragment_shader != 0)
        glDeleteShader(fragment_shader);
    return program;
}

void
limn_gl_program_delete(GLuint program)
{
    if (program == 0)
        return;
    glDeleteProgram(program);
    counts.programs--;
}

// ---- targets

gboolean
limn_gl_target_init(LimnGLTarget *target, int width, int height, GError **error)
{
    GLint limit = 0;

    memset(target, 0, sizeof(*target));
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &limit);
    if (width < 1 || height < 1 || width > limit || height > limit) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "a drawing of %d x %d pixels is not possible (1 to %d per side)",
                    width, height, limit);
        return FALSE;
    }
    target->width = width;
    target->height = height;
    glGenFramebuffers(1, &target->framebuffer);
    glGenRenderbuffers(1, &target->renderbuffer);
    counts.framebuffers++;
    counts.renderbuffers++;
    glBindRenderbuffer(GL_RENDERBUFFER, target->renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              target->renderbuffer);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED,
                    "the driver has no drawing target of %d x %d pixels", width, height);
        limn_gl_target_clear(target);
        return FALSE;
    }
    return TRUE;
}

void
limn_gl_target_bind(const LimnGLTarget *target)
{
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
}

void
limn_gl_target_read(const LimnGLTarget *target, guint8 *rgba)
{
    gsize stride = (gsize) target->width * 4;
    g_autofree guint8 *row = g_malloc(stride);

    limn_gl_target_bind(target);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glReadPixels(0, 0, target->width, target->height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
    for (int y = 0; y < target->height / 2; y++) {
        guint8 *upper = rgba + y * stride,
               *lower = rgba + (target->height - 1 - y) * stride;

        memcpy(row, upper, stride);
        memcpy(upper, lower, stride);
        memcpy(lower, row, stride);
    }
}

void
limn_gl_target_clear(LimnGLTarget *target)
{
    if (target->framebuffer == 0)
        return;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &target->framebuffer);
    glDeleteRenderbuffers(1, &target->renderbuffer);
    counts.framebuffers--;
    counts.renderbuffers--;
    memset(target, 0, sizeof(*target));
}

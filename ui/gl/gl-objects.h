// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Making and deleting GL objects, counted, so that tests can see that all are given back.
// Everything needs a current context (GL 3.3 core or GLES 3.0).

#include <epoxy/gl.h>
#include <glib.h>

typedef struct {
    int textures, programs, vertex_arrays, framebuffers, renderbuffers;
} LimnGLCounts;

// Objects alive in this process.
LimnGLCounts limn_gl_get_counts(void);

// A texture without mipmaps, nearest filter, clamped; RGBA8 from bytes or R32F from
// floats.
GLuint limn_gl_texture_new(gboolean is_float, int width, int height, const void *texels);
void limn_gl_texture_delete(GLuint texture);
GLuint limn_gl_vertex_array_new(void);
void limn_gl_vertex_array_delete(GLuint vertex_array);

// Compiles and links two shaders of the program's resources ("heatmap.vert"). They have
// no #version line: the one of the current context's dialect, default precisions and
// `defines` (whole lines) are put before them. 0 with LIMN_ERROR_FAILED and the driver's
// message.
GLuint limn_gl_program_new(const char *vertex, const char *fragment, const char *defines,
                           GError **error);
void limn_gl_program_delete(GLuint program);

// An RGBA8 target of its own, for drawing without a window.
typedef struct {
    GLuint framebuffer, renderbuffer;
    int width, height;
} LimnGLTarget;
gboolean limn_gl_target_init(LimnGLTarget *target, int width, int height, GError **error);
void limn_gl_target_bind(const LimnGLTarget *target);
// RGBA bytes, top row first; width * height * 4.
void limn_gl_target_read(const LimnGLTarget *target, guint8 *rgba);
void limn_gl_target_clear(LimnGLTarget *target);

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/offscreen.h"

#include <epoxy/egl.h>

struct Offscreen {
    EGLDisplay display;
    EGLContext context;
};

static EGLContext
make_context(EGLDisplay display, gboolean gles)
{
    const EGLint config_wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE,
                                    gles ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_BIT, EGL_NONE};
    const EGLint core[] = {EGL_CONTEXT_MAJOR_VERSION,
                           3,
                           EGL_CONTEXT_MINOR_VERSION,
                           3,
                           EGL_CONTEXT_OPENGL_PROFILE_MASK,
                           EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                           EGL_NONE};
    const EGLint es[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0,
                         EGL_NONE};
    EGLConfig config;
    EGLint n = 0;

    if (!eglBindAPI(gles ? EGL_OPENGL_ES_API : EGL_OPENGL_API) ||
        !eglChooseConfig(display, config_wanted, &config, 1, &n) || n < 1)
        return EGL_NO_CONTEXT;
    return eglCreateContext(display, config, EGL_NO_CONTEXT, gles ? es : core);
}

Offscreen *
offscreen_new(gboolean gles)
{
    Offscreen *offscreen;
    EGLDisplay display;
    EGLContext context;

    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
        return NULL;
    display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY,
                                       NULL);
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
        return NULL;
    context = make_context(display, gles);
    if (context == EGL_NO_CONTEXT ||
        !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        eglTerminate(display);
        return NULL;
    }
    offscreen = g_new0(Offscreen, 1);
    offscreen->display = display;
    offscreen->context = context;
    return offscreen;
}

void
offscreen_free(Offscreen *offscreen)
{
    if (offscreen == NULL)
        return;
    eglMakeCurrent(offscreen->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(offscreen->display, offscreen->context);
    eglTerminate(offscreen->display);
    g_free(offscreen);
}

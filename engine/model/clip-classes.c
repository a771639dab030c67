// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>

#include "engine/base/error.h"
#include "engine/model/clip-private.h"

static char *
fill_template(const char *template, const char *name)
{
    g_auto(GStrv) parts = g_strsplit(template, "{}", -1);
    return g_strjoinv(name, parts);
}

// Unit vector in place; FALSE when it is zero.
static gboolean
normalise(float *f, gsize n)
{
    double length = sqrt(limn_kernel_dot(f, f, n));
    for (gsize i = 0; i < n && length > 0; i++) {
        f[i] = (float) ((double) f[i] / length);
    }
    return length > 0;
}

static GStrv
fill_templates(const char *const *templates, const char *name)
{
    GPtrArray *texts = g_ptr_array_new();
    for (gsize i = 0; templates != NULL && templates[i] != NULL; i++) {
        g_ptr_array_add(texts, fill_template(templates[i], name));
    }
    if (texts->len == 0) {
        g_ptr_array_add(texts, g_strdup(name));
    }
    g_ptr_array_add(texts, NULL);
    return (GStrv) g_ptr_array_free(texts, FALSE);
}

static gboolean
encode_class(LimnClip *clip, const char *name, const char *const *templates, float *out,
             LimnJob *job, GError **error)
{
    gsize p = (gsize) clip->config.projection;
    g_auto(GStrv) texts = fill_templates(templates, name);
    g_autoptr(LimnArray) f =
        limn_clip_encode_texts(clip, (const char *const *) texts, job, error);
    if (f == NULL) {
        return FALSE;
    }
    for (gint64 i = 0; i < f->shape[0]; i++) {
        float *row = limn_array_f32(f) + (gsize) i * p;
        normalise(row, p);
        limn_kernel_add(NULL, p, row, out);
    }
    if (!normalise(out, p)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FAILED,
                    "the sentences of class \"%s\" cancel each other out", name);
        return FALSE;
    }
    return TRUE;
}

LimnArray *
limn_clip_encode_classes(LimnClip *clip, const char *const *names,
                         const char *const *templates, LimnJob *job, GError **error)
{
    gsize n = limn_clip_count_texts(names), p = (gsize) clip->config.projection;
    g_autoptr(LimnArray) f =
        limn_array_new_f32_2d((gint64) n, clip->config.projection, error);
    for (gsize i = 0; f != NULL && i < n; i++) {
        limn_job_report(job, "classes", (double) i / (double) n, "%s", names[i]);
        if (!encode_class(clip, names[i], templates, limn_array_f32(f) + i * p, job,
                          error)) {
            return NULL;
        }
    }
    return g_steal_pointer(&f);
}

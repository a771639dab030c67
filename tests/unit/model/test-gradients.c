// SPDX-License-Identifier: GPL-3.0-or-later

// Gradients of the score against central differences of the same tower in double
// (specification: Grad-ECLIP, section 13), for both towers, modes and activations, and
// for any number of blocks; the pooled last block against the whole one.

#include <math.h>
#include <string.h>

#include "clip-testing.h"
#include "engine/model/clip-private.h"
#include "engine/model/pass.h"
#include "reference.h"
#include "tests/unit/loader-test.h"

#define STEP 1e-3

typedef struct {
    LimnClip *clip;
    LimnPass *pass;
    float target[16];
    double wide_target[16];
} Fixture;

static void
set_target(Fixture *f)
{
    float raw[16];
    for (int i = 0; i < 16; i++) {
        raw[i] = sinf((float) (i * i) + 0.5f);
    }
    limn_unit_vector(raw, 16, f->target);
    for (int i = 0; i < 16; i++) {
        f->wide_target[i] = (double) f->target[i];
    }
}

static LimnPass *
make_pass(LimnClip *clip, gboolean text)
{
    g_autoptr(GError) error = NULL;
    LimnPass *pass;
    if (text) {
        static const gint32 ids[] = {38, 3, 17, 5, 29, 39, 0, 0, 7};
        float *x = limn_floats_new(9, 24, &error);
        limn_clip_embed_ids(clip, ids, 9, x);
        pass = limn_pass_new(NULL, &clip->text, 9, 5, TRUE, x, &error);
    } else {
        g_autoptr(LimnArray) pixels = test_pixels(1, 12, 16, 4);
        float *x = limn_floats_new(13, 32, &error);
        g_assert_true(limn_clip_embed_pixels(clip, limn_array_f32(pixels), 12, 16, FALSE,
                                             x, NULL, &error));
        pass = limn_pass_new(NULL, &clip->vision, 13, 0, FALSE, x, &error);
    }
    g_assert_no_error(error);
    return pass;
}

static void
fixture_init(Fixture *f, gboolean text, gboolean gelu, TestLayout layout)
{
    TestClipSizes sizes = TEST_CLIP_SIZES;
    sizes.gelu = gelu;
    g_autofree char *folder = test_make_model(&sizes, layout);
    f->clip = test_open(folder);
    f->pass = make_pass(f->clip, text);
    set_target(f);
    remove_folder(folder);
}

static void
fixture_clear(Fixture *f)
{
    limn_pass_free(f->pass);
    limn_clip_unref(f->clip);
}

static double *
widen(const float *x, gsize n)
{
    double *out = g_new(double, n);
    for (gsize i = 0; i < n; i++) {
        out[i] = (double) x[i];
    }
    return out;
}

// One row of go per block of the chain, [layers][C].
typedef struct {
    float rows[3][32];
} Collected;

static gboolean
collect(LimnJob *job, const LimnBackStep *step, gpointer data, GError **error)
{
    Collected *c = data;
    memcpy(c->rows[step->layer], step->go + step->row * step->shape.width,
           step->shape.width * sizeof(float));
    return TRUE;
}

static void
assert_gradient(const double *expected, const float *x, gsize n)
{
    double largest = 1e-12, worst = 0;
    for (gsize i = 0; i < n; i++) {
        largest = MAX(largest, fabs(expected[i]));
        worst = MAX(worst, fabs(expected[i] - (double) x[i]));
    }
    if (worst > 2e-5 * largest) {
        g_test_message("gradient off by %g of %g", worst, largest);
    }
    g_assert_cmpfloat(worst, <=, 2e-5 * largest);
}

static void
check_chain(Fixture *f, gboolean authors, int n)
{
    g_autoptr(GError) error = NULL;
    const LimnTower *tower = f->pass->tower;
    gsize width = (gsize) tower->config.width, rows = f->pass->rows;
    LimnChain *chain = limn_pass_get_chain(NULL, f->pass, authors, n, &error);
    g_assert_no_error(error);
    Reference r = {tower,
                   rows,
                   f->pass->pool,
                   f->pass->causal,
                   authors,
                   chain->first,
                   f->wide_target,
                   -1,
                   0,
                   0};
    float gf[16];
    g_autofree double *x = widen(chain->x[0], rows * width);
    g_assert_cmpfloat(
        fabs(limn_cosine_gradient(chain->f, f->target, 16, gf) - reference_score(&r, x)),
        <=, 1e-6);
    Collected c;
    g_autoptr(LimnFloats) gx = limn_floats_new(rows, width, &error);
    g_assert_true(limn_chain_backward(NULL, chain, gf, collect, &c, gx, &error));
    g_autofree double *expected = g_new(double, rows *width);
    for (int layer = chain->first; layer < tower->config.layers; layer++) {
        r.layer = layer;
        for (r.channel = 0; r.channel < width; r.channel++) {
            r.step = STEP;
            double up = reference_score(&r, x);
            r.step = -STEP;
            expected[r.channel] = (up - reference_score(&r, x)) / (2 * STEP);
        }
        assert_gradient(expected, c.rows[layer], width);
    }
    r.layer = -1;
    for (gsize i = 0; i < rows * width; i++) {
        double kept = x[i];
        x[i] = kept + STEP;
        double up = reference_score(&r, x);
        x[i] = kept - STEP;
        expected[i] = (up - reference_score(&r, x)) / (2 * STEP);
        x[i] = kept;
    }
    assert_gradient(expected, gx, rows * width);
}

static void
check_tower(gboolean text)
{
    for (int variant = 0; variant < 2; variant++) {
        Fixture f;
        fixture_init(&f, text, variant == 1,
                     variant == 1 ? TEST_LAYOUT_OPEN_CLIP : TEST_LAYOUT_HF);
        for (int n = 1; n <= f.pass->tower->config.layers; n++) {
            check_chain(&f, FALSE, n);
            check_chain(&f, TRUE, n);
        }
        fixture_clear(&f);
    }
}

static void
test_vision(void)
{
    check_tower(FALSE);
}

static void
test_text(void)
{
    check_tower(TRUE);
}

static void
assert_same(const float *a, const float *b, gsize n, double tolerance)
{
    for (gsize i = 0; i < n; i++) {
        g_assert_cmpfloat(fabs((double) a[i] - (double) b[i]), <=,
                          tolerance * MAX(1, fabs((double) b[i])));
    }
}

// The last block at one row equals that row of the whole block, forward and backward.
static void
test_pooled(void)
{
    g_autoptr(GError) error = NULL;
    Fixture f;
    fixture_init(&f, FALSE, FALSE, TEST_LAYOUT_HF);
    LimnPass *pass = f.pass;
    const LimnTower *tower = pass->tower;
    gsize width = 32, rows = pass->rows, n = rows * width;
    LimnChain *chain = limn_pass_get_chain(NULL, pass, FALSE, 1, &error);
    LimnAttention all = limn_pass_get_shape(pass, FALSE, FALSE);
    LimnAttention one = limn_pass_get_shape(pass, FALSE, TRUE);
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_assert_true(limn_block_scratch_init(&scratch, tower, &all, &error));
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &all, &error);
    g_autoptr(LimnFloats) y = limn_floats_new(n, 1, &error);
    limn_block_forward(NULL, tower, 2, &all, chain->x[0], trace, &scratch, y);
    assert_same(chain->y, y, width, 2e-6);
    // Gradient that is zero but for the pool row.
    g_autoptr(LimnFloats) gy = limn_floats_new(n, 1, &error);
    memset(gy, 0, n * sizeof *gy);
    for (gsize c = 0; c < width; c++) {
        gy[c] = cosf((float) c);
    }
    g_autoptr(LimnFloats) gu = limn_floats_new(n, 1, &error);
    g_autoptr(LimnFloats) go = limn_floats_new(n, 1, &error);
    g_autoptr(LimnFloats) gx = limn_floats_new(n, 1, &error);
    g_autoptr(LimnFloats) pooled = limn_floats_new(n, 1, &error);
    float gu1[32], go1[32];
    limn_block_back_mlp(NULL, tower, 2, trace, &scratch, gy, gu, go);
    limn_block_back_mlp(NULL, tower, 2, chain->traces[0], &scratch, gy, gu1, go1);
    assert_same(go1, go, width, 2e-6);
    g_assert_true(limn_block_back_attention(NULL, tower, 2, &all, trace, &scratch, gu, go,
                                            gx, &error));
    g_assert_true(limn_block_back_attention(NULL, tower, 2, &one, chain->traces[0],
                                            &scratch, gu1, go1, pooled, &error));
    assert_same(pooled, gx, n, 5e-6);
    fixture_clear(&f);
}

// A chain of one block, a longer chain and one built on the same input agree.
static void
test_chains(void)
{
    g_autoptr(GError) error = NULL;
    Fixture f;
    fixture_init(&f, FALSE, TRUE, TEST_LAYOUT_HF);
    LimnPass *pass = f.pass;
    gsize n = pass->rows * 32;
    for (int i = 3; i >= 1; i--) {
        LimnChain *chain = limn_pass_get_chain(NULL, pass, FALSE, i, &error);
        assert_same(chain->f, limn_pass_get_embedding(pass), 16, 0);
        float *x = limn_floats_new(n, 1, &error);
        memcpy(x, chain->x[0], n * sizeof *x);
        g_autoptr(LimnChain) copy = limn_chain_new_on(NULL, pass, i, x, &error);
        g_assert_no_error(error);
        assert_same(copy->f, chain->f, 16, 0);
        LimnQueries queries;
        g_assert_true(limn_chain_get_queries(NULL, copy, 0, &queries, &error));
        g_autoptr(LimnBlockTrace) temporary = NULL;
        const LimnBlockTrace *trace =
            limn_chain_get_trace(NULL, copy, 0, &temporary, &error);
        assert_same(queries.k, trace->k, n, 1e-6);
        free(queries.memory);
    }
    fixture_clear(&f);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/gradients/vision", test_vision);
    g_test_add_func("/model/gradients/text", test_text);
    g_test_add_func("/model/gradients/pooled", test_pooled);
    g_test_add_func("/model/gradients/chains", test_chains);
    return g_test_run();
}

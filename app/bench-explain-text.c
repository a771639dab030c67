// SPDX-License-Identifier: GPL-3.0-or-later

// What a keystroke costs: a new sentence on a picture that is encoded already, beside
// encoding and explaining from scratch.

#include "app/bench-checkpoint.h"
#include "app/bench.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/model/explainer.h"

#define N_TYPED 5

typedef struct {
    LimnJob *job;
    LimnClip *clip;
    LimnImage *image;
    LimnExplainer *explainer; // has the picture
    LimnExplainOptions options;
    LimnSide side;
    int n_sentences; // explained so far
    int n_tokens;    // of the last one
} Bench;

static void
bench_clear(Bench *bench)
{
    g_clear_pointer(&bench->explainer, limn_explainer_free);
    g_clear_pointer(&bench->clip, limn_clip_unref);
    g_clear_pointer(&bench->image, limn_image_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Bench, bench_clear)

// Another sentence of six words of one token each (eight with start and end) every time,
// so that nothing can be answered
// from memory.
static char *
next_sentence(Bench *bench)
{
    static const char *const words[] = {"dog",  "cat", "car",  "tree",  "house",
                                        "boat", "man", "bird", "table", "road"};
    const int n = G_N_ELEMENTS(words);
    int i = bench->n_sentences++;
    return g_strdup_printf("a %s and a %s %s", words[i % n], words[i / n % n],
                           words[i / n / n % n]);
}

static gboolean
explain_with(Bench *bench, LimnExplainer *explainer, GError **error)
{
    g_autofree char *sentence = next_sentence(bench);
    g_autoptr(LimnExplanation) explanation = limn_explainer_explain(
        explainer, &bench->options, bench->side, sentence, bench->job, error);
    if (explanation == NULL) {
        return FALSE;
    }
    return TRUE;
}

// Some sentences in a row, as they are typed.
static gboolean
explain_again(gpointer data, GError **error)
{
    Bench *bench = data;
    gboolean ok = TRUE;
    for (int i = 0; i < N_TYPED && ok; i++) {
        ok = explain_with(bench, bench->explainer, error);
    }
    return ok;
}

static gboolean
explain_from_scratch(gpointer data, GError **error)
{
    Bench *bench = data;
    g_autoptr(LimnExplainer) explainer = limn_explainer_new(bench->clip);
    return limn_explainer_set_image(explainer, bench->image, LIMN_PREPROCESS_CLIP, 0,
                                    bench->job, error) &&
           explain_with(bench, explainer, error);
}

static gboolean
prepare(Bench *bench, const char *folder, GError **error)
{
    limn_explain_options_init(&bench->options);
    bench->clip = limn_clip_open(folder, 0, bench->job, error);
    bench->image = bench->clip != NULL ? limn_bench_make_picture(640, 480, error) : NULL;
    if (bench->image == NULL) {
        return FALSE;
    }
    bench->explainer = limn_explainer_new(bench->clip);
    if (!limn_explainer_set_image(bench->explainer, bench->image, LIMN_PREPROCESS_CLIP, 0,
                                  bench->job, error)) {
        return FALSE;
    }
    g_autofree char *sentence = next_sentence(bench);
    LimnTokenizer *tokenizer = limn_clip_need_tokenizer(bench->clip, error);
    g_autoptr(LimnTokens) tokens =
        tokenizer != NULL ? limn_tokenizer_encode(tokenizer, sentence, 0, error) : NULL;
    if (tokens == NULL) {
        return FALSE;
    }
    bench->n_tokens = (int) tokens->tokens->len; // start and end included
    return TRUE;
}

static gboolean
compare(LimnBenchRun *run, Bench *bench, LimnSide side, const char *title, double goal,
        GError **error)
{
    bench->side = side;
    LimnBenchResult *result =
        limn_bench_add(run, title, "ms", "encoding and explaining from scratch");
    result->ratio_name = "times faster";
    if (goal > 0) {
        result->goal = LIMN_BENCH_AT_LEAST;
        result->goal_value = goal;
    }
    if (!limn_bench_compare(run, result, explain_again, explain_from_scratch, bench,
                            error)) {
        return FALSE;
    }
    result->stat.median /= N_TYPED;
    result->stat.low /= N_TYPED;
    result->stat.high /= N_TYPED;
    result->ratio *= N_TYPED;
    result->note =
        g_strdup_printf("%d tokens; a frame at 60 Hz lasts 16.7 ms: %s", bench->n_tokens,
                        result->stat.median <= 1000.0 / 60 ? "fits" : "does not fit");
    return TRUE;
}

static gboolean
measure(LimnBenchRun *run, const char *folder, GError **error)
{
    g_auto(Bench) bench = {.job = run->job};
    return prepare(&bench, folder, error) &&
           compare(run, &bench, LIMN_SIDE_IMAGE,
                   "ViT-B/16, new sentence on an encoded picture to the finished map", 20,
                   error) &&
           compare(run, &bench, LIMN_SIDE_BOTH, "the same to map and words", 0, error);
}

static gboolean
run_explain_text(LimnBenchRun *run, GError **error)
{
    g_autofree char *folder =
        limn_bench_write_checkpoint(&limn_bench_models[LIMN_BENCH_B16], run->job, error);
    if (folder == NULL) {
        return FALSE;
    }
    gboolean ok = measure(run, folder, error);
    limn_remove_tree(folder, NULL);
    return ok;
}

const LimnBenchmark limn_bench_explain_text = {
    .id = "explain-text",
    .title = "a new sentence while typing",
    .run = run_explain_text,
};

// SPDX-License-Identifier: GPL-3.0-or-later

// Grad-ECLIP: which patches of a picture and which words of a sentence raise the score of
// a CLIP model. The computing is in engine/model (explainer.h, study-explain.h).

#include "limn-config.h"

#include "engine/model/study-explain.h"

#include <glib/gi18n-lib.h>

static const LimnInput inputs[] = {
    {.name = "model",
     .type = LIMN_INPUT_PATH,
     .accepts = N_("model folder or .safetensors file"),
     .summary = N_("CLIP checkpoint in the layout of Hugging Face, OpenCLIP or OpenAI"),
     .builtin = "models/emoji-clip"},
    {.name = "image",
     .type = LIMN_INPUT_PATH,
     .one_of = "picture",
     .accepts = N_("PNG, JPEG, TIFF, WebP, or a folder of them"),
     .summary = N_("Picture to explain")},
    {.name = "pixels",
     .type = LIMN_INPUT_FILE,
     .one_of = "picture",
     .accepts = N_(".npy [3,h,w] or [B,3,h,w]"),
     .summary = N_("Pixels that are normalised already, instead of a picture")},
    {.name = "text",
     .type = LIMN_INPUT_TEXT,
     .list = TRUE,
     .one_of = "sentence",
     .accepts = N_("a sentence"),
     .summary = N_("Sentence whose score is explained")},
    {.name = "texts",
     .type = LIMN_INPUT_FILE,
     .one_of = "sentence",
     .accepts = N_("text file"),
     .summary = N_("Sentences, one per line")},
    {.name = "tokens",
     .type = LIMN_INPUT_FILE,
     .one_of = "sentence",
     .accepts = N_(".npy ids [T,tokens]"),
     .summary = N_("Sentences as token ids, padding included")},
    {.name = NULL},
};

static const char *const modes[] = {"faithful", "authors", NULL};
static const char *const mode_summaries[] = {
    N_("the model as it is, all heads"),
    N_("one head of full width in the explained blocks, as in the published figures"),
};
static const char *const similarities[] = {"raw", "out", "none", NULL};
static const char *const similarity_summaries[] = {
    N_("cosine of query and key as they are"),
    N_("both through the output projection first"),
    N_("all patches weigh the same (ablation)"),
};
static const char *const preprocessing[] = {"clip", "keep", NULL};
static const char *const preprocessing_summaries[] = {
    N_("the model's own: short side to its size, centre crop"),
    N_("keep the size, rounded to whole patches, no crop"),
};
static const char *const paddings[] = {"valid", "zero", "end", NULL};
static const char *const padding_summaries[] = {
    N_("only the tokens of the sentence"),
    N_("padded with zeros, as the original code does"),
    N_("padded with end tokens"),
};
static const char *const sides[] = {"both", "image", "text", NULL};
static const char *const side_summaries[] = {
    N_("map and word weights"),
    N_("the map only"),
    N_("the word weights only"),
};

static const LimnParameter parameters[] = {
    {.name = "mode",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = modes,
     .choice_summaries = mode_summaries,
     .summary = N_("Which forward pass is explained"),
     .live = TRUE},
    {.name = "similarity",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = similarities,
     .choice_summaries = similarity_summaries,
     .summary = N_("Loosened weight of a patch or token"),
     .live = TRUE},
    {.name = "layers",
     .type = LIMN_PARAMETER_INT,
     .int_default = 1,
     .min = 1,
     .max = 1000,
     .unit = N_("blocks"),
     .summary = N_("Last blocks of the picture's tower to explain"),
     .live = TRUE},
    {.name = "text-layers",
     .type = LIMN_PARAMETER_INT,
     .int_default = 1,
     .min = 1,
     .max = 1000,
     .unit = N_("blocks"),
     .summary = N_("Last blocks of the text's tower to explain"),
     .live = TRUE},
    {.name = "preprocess",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = preprocessing,
     .choice_summaries = preprocessing_summaries,
     .summary = N_("How the picture is brought to the model")},
    {.name = "keep-limit",
     .type = LIMN_PARAMETER_INT,
     .int_default = 640,
     .min = 0,
     .max = 100000,
     .unit = N_("pixels"),
     .summary = N_("preprocess=keep: pictures whose short side is larger are shrunk to "
                   "it first (0: never)"),
     .advanced = TRUE},
    {.name = "padding",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = paddings,
     .choice_summaries = padding_summaries,
     .summary = N_("Positions behind the sentence's end in the word weights"),
     .advanced = TRUE,
     .live = TRUE},
    {.name = "side",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = sides,
     .choice_summaries = side_summaries,
     .summary = N_("What is explained"),
     .live = TRUE},
    {.name = "heads",
     .type = LIMN_PARAMETER_INT,
     .int_default = 0,
     .min = 0,
     .max = 1024,
     .summary = N_("Attention heads, where the checkpoint does not tell (0: it does)"),
     .advanced = TRUE},
    {.name = "display",
     .type = LIMN_PARAMETER_BOOL,
     .summary = N_("Add the maps enlarged to the size of the picture")},
    {.name = NULL},
};

static const LimnOutput outputs[] = {
    {"map", "heatmap", "[T,gh,gw]",
     N_("what each patch adds to the score of each sentence, negative parts cut off; "
        "[B,T,gh,gw] for several pictures")},
    {"signed", "heatmap", "[T,gh,gw]", N_("the same with the negative parts")},
    {"display", "heatmap", "[T,H,W]",
     N_("the map at the size of the picture in [0,1], NaN outside the crop "
        "(display=yes)")},
    {"words", "text", "T texts", N_("what each token and word adds to the score")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "map",
    .layout = "overlay",
    .caption = N_("Grad-ECLIP ({mode}, {similarity})"),
};

static gboolean
run_grad_eclip(LimnRun *run, GError **error)
{
    LimnExplainOptions options;
    limn_explain_options_init(&options);
    options.method = LIMN_EXPLAIN_GRAD_ECLIP;
    limn_study_read_explain_options(run, &options);
    return limn_study_explain(run, &options, error);
}

const LimnOperation limn_operation_grad_eclip = {
    .id = "grad-eclip",
    .title = N_("Grad-ECLIP"),
    .family = LIMN_FAMILY_EXPLAIN,
    .summary = N_("Show which parts of a picture and which words make a CLIP model say "
                  "that they match."),
    .description =
        N_("CLIP gives a picture and a sentence one number, the cosine of two "
           "embeddings. Grad-ECLIP weighs the values of every patch (or token) with the "
           "gradient of that number and with a loosened similarity to the class (or "
           "end) token. One forward pass and a backward pass through the last block are "
           "enough, so that a new sentence on a known picture takes a moment. Cosine, "
           "logit and probability over the sentences always come from the model's own "
           "preprocessing and true forward pass."),
    .paper = {.title = "Gradient-based Visual Explanation for Transformer-based CLIP",
              .authors = "Zhao, Wang, Zeng, Zhao, Chan",
              .venue = "ICML 2024"},
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .shardable = TRUE,
    .run = run_grad_eclip,
};

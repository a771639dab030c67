// SPDX-License-Identifier: GPL-3.0-or-later

// The methods that Grad-ECLIP is compared with, on the same inputs. The computing is in
// engine/model (explainer.h, study-explain.h).

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
     .optional_group = TRUE,
     .accepts = N_("a sentence"),
     .summary = N_("Sentence whose score is explained; self-attention and rollout do "
                   "without")},
    {.name = "texts",
     .type = LIMN_INPUT_FILE,
     .one_of = "sentence",
     .optional_group = TRUE,
     .accepts = N_("text file"),
     .summary = N_("Sentences, one per line")},
    {.name = "tokens",
     .type = LIMN_INPUT_FILE,
     .one_of = "sentence",
     .optional_group = TRUE,
     .accepts = N_(".npy ids [T,tokens]"),
     .summary = N_("Sentences as token ids, padding included")},
    {.name = NULL},
};

// In the order of LimnExplainMethod, without its first, Grad-ECLIP.
static const char *const methods[] = {
    "self-attention", "rollout",      "game",         "grad-cam",
    "maskclip",       "patch-cosine", "clip-surgery", "attention-gradient",
    "rise",           "m2ib",         NULL,
};
static const char *const method_summaries[] = {
    N_("attention of the class token in the last block; the same for every sentence"),
    N_("product of the attention of the blocks; the same for every sentence"),
    N_("attention weighted by its gradient, block by block (Chefer et al. 2021)"),
    N_("input of the last block weighted by its mean gradient"),
    N_("values of the last block against the sentence"),
    N_("every patch's embedding against the sentence"),
    N_("value-value attention without redundant features (Li et al. 2023)"),
    N_("attention times its gradient in the last block"),
    N_("random masks; slow"),
    N_("information bottleneck (Wang et al. 2023); slow"),
};
static const char *const modes[] = {"faithful", "authors", NULL};
static const char *const mode_summaries[] = {
    N_("the model as it is, all heads"),
    N_("one head of full width in the explained block, as in the published figures"),
};
static const char *const preprocessing[] = {"clip", "keep", NULL};
static const char *const preprocessing_summaries[] = {
    N_("the model's own: short side to its size, centre crop"),
    N_("keep the size, rounded to whole patches, no crop"),
};
static const char *const sides[] = {"both", "image", "text", NULL};
static const char *const side_summaries[] = {
    N_("map, and word weights where the method has them"),
    N_("the map only"),
    N_("the word weights only"),
};
static const char *const norms[] = {"token", "channel", NULL};
static const char *const norm_summaries[] = {
    N_("along the tokens, as the official code does"),
    N_("every token to unit length"),
};

static const LimnParameter parameters[] = {
    {.name = "method",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = methods,
     .choice_summaries = method_summaries,
     .summary = N_("Method"),
     .live = TRUE},
    {.name = "mode",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = modes,
     .choice_summaries = mode_summaries,
     .summary = N_("Which forward pass is explained"),
     .live = TRUE},
    {.name = "layers",
     .type = LIMN_PARAMETER_INT,
     .int_default = 1,
     .min = 0,
     .max = 1000,
     .unit = N_("blocks"),
     .summary = N_("rollout, game: last blocks of the picture's tower (0: all)"),
     .live = TRUE},
    {.name = "text-layers",
     .type = LIMN_PARAMETER_INT,
     .int_default = 1,
     .min = 0,
     .max = 1000,
     .unit = N_("blocks"),
     .summary = N_("game: last blocks of the text's tower (0: all)"),
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
    {.name = "side",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = sides,
     .choice_summaries = side_summaries,
     .summary = N_("What is explained"),
     .live = TRUE},
    {.name = "surgery-depth",
     .type = LIMN_PARAMETER_INT,
     .int_default = 6,
     .min = 1,
     .max = 1000,
     .unit = N_("blocks"),
     .summary =
         N_("clip-surgery: last blocks that are rebuilt (fewer in smaller models)"),
     .advanced = TRUE},
    {.name = "surgery-norm",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = norms,
     .choice_summaries = norm_summaries,
     .summary = N_("clip-surgery: normalisation of the features"),
     .advanced = TRUE},
    {.name = "rise-masks",
     .type = LIMN_PARAMETER_INT,
     .int_default = 2000,
     .min = 1,
     .max = 1000000,
     .unit = N_("masks"),
     .summary = N_("rise: number of random masks"),
     .advanced = TRUE},
    {.name = "rise-keep",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 0.5,
     .min = 0.01,
     .max = 0.99,
     .summary = N_("rise: share of the cells that a mask keeps"),
     .advanced = TRUE},
    {.name = "m2ib-layer",
     .type = LIMN_PARAMETER_INT,
     .int_default = -1,
     .min = -1,
     .max = 1000,
     .summary = N_("m2ib: block behind which noise is added (-1: three quarters up)"),
     .advanced = TRUE},
    {.name = "m2ib-steps",
     .type = LIMN_PARAMETER_INT,
     .int_default = 10,
     .min = 1,
     .max = 10000,
     .unit = N_("steps"),
     .summary = N_("m2ib: steps of the optimiser"),
     .advanced = TRUE},
    {.name = "m2ib-beta",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 0.1,
     .min = 0,
     .max = 1000,
     .summary = N_("m2ib: weight of the compression"),
     .advanced = TRUE},
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
     N_("the method's map for each sentence, with the rectangle of the picture that it "
        "covers; [B,T,gh,gw] for several pictures")},
    {"signed", "heatmap", "[T,gh,gw]",
     N_("the map before negative parts are cut off, where the method has one")},
    {"display", "heatmap", "[T,H,W]",
     N_("the map at the size of the picture in [0,1], NaN outside the crop "
        "(display=yes)")},
    {"words", "text", "T texts",
     N_("weights of tokens and words, where the method has them")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "map",
    .layout = "overlay",
    .caption = N_("{method} ({mode})"),
};

static gboolean
run_attention_maps(LimnRun *run, GError **error)
{
    LimnExplainOptions options;
    limn_explain_options_init(&options);
    options.method = (LimnExplainMethod) (LIMN_EXPLAIN_SELF_ATTENTION +
                                          limn_run_get_choice(run, "method"));
    limn_study_read_explain_options(run, &options);
    return limn_study_explain(run, &options, error);
}

const LimnOperation limn_operation_attention_maps = {
    .id = "attention-maps",
    .title = N_("Attention and other maps"),
    .family = LIMN_FAMILY_EXPLAIN,
    .summary = N_("Explain a CLIP score with the methods that Grad-ECLIP is compared "
                  "with."),
    .description =
        N_("Raw self-attention, rollout, GAME, Grad-CAM, MaskCLIP, patch cosine, CLIP "
           "Surgery, attention times gradient, RISE and M2IB, with the inputs of "
           "grad-eclip. Every map keeps the rectangle of the picture that the model "
           "saw, so that maps of different preprocessing lie where they belong."),
    .paper = {.title = "Gradient-based Visual Explanation for Transformer-based CLIP",
              .authors = "Zhao, Wang, Zeng, Zhao, Chan",
              .venue = "ICML 2024"},
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .shardable = TRUE,
    .run = run_attention_maps,
};

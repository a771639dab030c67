// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the window asks of the live explainer, and what it gets. Both are immutable once
// they were handed over and are reference counted.

#include "engine/model/explainer.h"
#include "engine/study/artifact.h"

// One map. `key` is the caller's number (pane, grid cell).
typedef struct {
    guint key;
    LimnExplainOptions options;
    LimnSide side;
    char *text;
    gboolean has_other; // a second map to compare with
    LimnExplainOptions other_options;
    char *other_text;
    gboolean difference;      // also wants map - other map
    int query_row, query_col; // patch to describe, -1: none
    char *identity;           // the caller's, handed back with the result; may be NULL
} LimnLiveItem;

typedef struct {
    gatomicrefcount refs;
    guint serial;     // set by limn_live_submit
    gpointer tag;     // the caller's, handed back with the results; never followed
    char *model;      // path, "" built-in
    LimnImage *image; // upright picture
    LimnPreprocessMode mode;
    int keep_limit;
    int threads;
    GPtrArray *items;   // LimnLiveItem, most urgent first
    GPtrArray *prompts; // char *, all sentences: CLIP Surgery compares among them
    GPtrArray *scored;  // char *: those whose score is wanted
} LimnLiveRequest;

LimnLiveRequest *limn_live_request_new(const char *model, LimnImage *image,
                                       LimnPreprocessMode mode, int keep_limit);
LimnLiveRequest *limn_live_request_ref(LimnLiveRequest *request);
void limn_live_request_unref(LimnLiveRequest *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnLiveRequest, limn_live_request_unref)
// Returns: (transfer none) the item, to be filled in further before handing over.
LimnLiveItem *limn_live_request_add(LimnLiveRequest *request, guint key,
                                    const LimnExplainOptions *options, LimnSide side,
                                    const char *text);
void limn_live_request_add_prompt(LimnLiveRequest *request, const char *text,
                                  gboolean score);

// Key of results that carry the score of their text only.
#define LIMN_LIVE_SCORE_KEY 0x40000000u

typedef struct {
    gatomicrefcount refs;
    guint serial, key;
    gpointer tag;
    char *identity;
    char *text;
    LimnExplainMethod method;
    GError *error;                // or what follows
    LimnExplanation *explanation; // NULL on an error
    LimnExplanation *other;       // NULL without comparison
    char *other_text;
    LimnExplainMethod other_method;
    LimnArray *difference; // signed, NULL unless asked for
    LimnTextItem *words;   // NULL when the method has no text side
    double cosine, logit;  // true score of the text
    LimnRect rect;         // part of the picture that the map covers
    int gh, gw;
    gboolean has_patch;
    LimnPatchInfo patch;
    int patch_row, patch_col;
    double seconds;
    guint n_encodings;
} LimnLiveResult;

LimnLiveResult *limn_live_result_new(const LimnLiveRequest *request,
                                     const LimnLiveItem *item);
LimnLiveResult *limn_live_result_ref(LimnLiveResult *result);
void limn_live_result_unref(LimnLiveResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnLiveResult, limn_live_result_unref)

// The words of an explanation with their weights, for views and figures.
LimnTextItem *limn_text_item_from_explanation(const LimnExplanation *explanation,
                                              const char *text, LimnTokenizer *tokenizer);
// Several explanations ([gh,gw] each, one shape) as one artifact with a label each.
LimnArtifact *limn_artifact_from_maps(const char *name, GPtrArray *maps,
                                      const char *const *labels, LimnImage *picture,
                                      const LimnRect *rect, gboolean is_signed,
                                      GError **error);

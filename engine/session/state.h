// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a window remembers: the open studies with their sentences, panes, regions and
// views. The part that undo restores (LimnStudyData) is kept apart from how it is looked
// at (LimnStudyView), so that undoing never moves the camera. Pixels, maps and results
// are not here: they come back from the files and the study folders.

#include "engine/base/types.h"
#include "engine/image/resample.h"

#define LIMN_MAX_PANES 4

typedef struct {
    char *key, *value;
} LimnPair;

typedef enum {
    LIMN_COMPARE_NONE,
    LIMN_COMPARE_DIFFERENCE, // map minus the other map, signed
    LIMN_COMPARE_DIVIDER,
    LIMN_COMPARE_BLINK,
} LimnCompare;

typedef struct {
    char *method;   // limn_explain_method_id; live studies
    guint prompt;   // index into the sentences; live studies
    char *artifact; // name of the artifact; studies with results
    gint64 item;    // map or picture of the artifact
    LimnCompare compare;
    char *other_method; // what it is compared with
    guint other_prompt;
} LimnPaneState;

typedef struct {
    char *title;
    char *operation;
    GPtrArray *inputs;     // LimnPair; lists repeat the key
    GPtrArray *parameters; // LimnPair; only those that were changed
    guint64 seed;
    GPtrArray *prompts; // char *, never empty in a live study
    LimnPaneState panes[LIMN_MAX_PANES];
    guint n_panes; // 1..4
    gboolean has_box;
    LimnRect box;
    char *mask;              // path of a label map, NULL: none
    GPtrArray *grid_methods; // char *, columns of the method grid
} LimnStudyData;

typedef enum { LIMN_SCALE_AUTO, LIMN_SCALE_SHARED, LIMN_SCALE_FIXED } LimnScaleChoice;

typedef struct {
    guint active; // pane
    char *item;   // file name shown of a folder, NULL: the first
    gboolean live;
    gboolean grid;  // the method grid is shown in place of the panes
    char *colormap; // NULL: default
    double opacity;
    LimnScaleChoice scale;
    double range[2]; // LIMN_SCALE_FIXED
    gboolean interpolate, contours, percentile, signed_values;
    gboolean hide_colorbar, hide_crop;
    gboolean picture_data_range;
    double zoom, cx, cy; // zoom 0: fit
    double divider;      // fraction of the pane's width
} LimnStudyView;

typedef enum {
    LIMN_STUDY_NEW,         // not run yet, or live
    LIMN_STUDY_RUNNING,     // comes back as interrupted
    LIMN_STUDY_INTERRUPTED, // ran when the program ended
    LIMN_STUDY_DONE,        // results lie in the folder
    LIMN_STUDY_FAILED,
} LimnStudyStatus;

typedef struct {
    char *id; // unique
    LimnStudyData data;
    LimnStudyView view;
    char *folder; // study folder with the results, NULL: none yet
    LimnStudyStatus status;
} LimnSessionStudy;

typedef struct {
    int width, height;
    gboolean maximized, library_hidden, panel_hidden;
    int library_width, panel_width; // 0: default
    char *page;                     // "welcome", "study", "models"
    char *current;                  // id of the study shown
    GPtrArray *studies;             // LimnSessionStudy
    GPtrArray *recent;              // char *, paths, newest first
    GPtrArray *models;              // char *, checkpoint paths of the models page
} LimnSession;

LimnPair *limn_pair_new(const char *key, const char *value);
void limn_pair_free(LimnPair *pair);
// First value of a key in an array of pairs, NULL when it is not there. Borrowed.
const char *limn_pairs_get(const GPtrArray *pairs, const char *key);
// Replaces every value of the key; NULL removes it.
void limn_pairs_set(GPtrArray *pairs, const char *key, const char *value);
GPtrArray *limn_pairs_new(void);
GPtrArray *limn_strings_new(void);

void limn_study_data_init(LimnStudyData *data);
void limn_study_data_clear(LimnStudyData *data);
// `to` is initialised or zeroed; its old content is freed.
void limn_study_data_copy(LimnStudyData *to, const LimnStudyData *from);
gboolean limn_study_data_equal(const LimnStudyData *a, const LimnStudyData *b);
gsize limn_study_data_size(const LimnStudyData *data); // bytes, roughly
void limn_pane_state_copy(LimnPaneState *to, const LimnPaneState *from);

void limn_study_view_init(LimnStudyView *view);
void limn_study_view_copy(LimnStudyView *to, const LimnStudyView *from);
void limn_study_view_clear(LimnStudyView *view);

LimnSessionStudy *limn_session_study_new(const char *operation);
// With a new id and no folder.
LimnSessionStudy *limn_session_study_duplicate(const LimnSessionStudy *study);
void limn_session_study_free(LimnSessionStudy *study);

LimnSession *limn_session_new(void);
void limn_session_free(LimnSession *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnSession, limn_session_free)

// The session file: JSON, version 1. Reading accepts missing members (defaults) and
// ignores unknown ones; numbers out of range are clamped; LIMN_ERROR_FORMAT names `name`
// when it is no JSON object of that version. Running studies come back as interrupted.
char *limn_session_to_json(const LimnSession *session);
LimnSession *limn_session_from_json(const char *json, gsize size, const char *name,
                                    GError **error);

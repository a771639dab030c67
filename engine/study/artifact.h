// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What running a study yields: one of nine kinds. One view and one figure painter exist
// per kind. Reference counted; immutable once added to a run.

#include "engine/base/array.h"
#include "engine/image/image.h"
#include "engine/image/resample.h"

typedef enum {
    LIMN_ARTIFACT_HEATMAP,  // [H,W], [T,H,W] or [B,T,H,W] float field, label per map
    LIMN_ARTIFACT_LABELMAP, // class per pixel with a class table
    LIMN_ARTIFACT_PICTURES, // one or many pictures, optionally along a trajectory
    LIMN_ARTIFACT_GRAPH,    // nodes, edges, hyperedges (a later issue fills it)
    LIMN_ARTIFACT_SERIES,   // curves
    LIMN_ARTIFACT_TABLE,
    LIMN_ARTIFACT_TEXT, // spans with a value per token and word
    LIMN_ARTIFACT_ARRAY,
    LIMN_ARTIFACT_MODEL,
} LimnArtifactKind;

// ---- text
typedef struct {
    gint32 id;
    gsize begin, end; // bytes of the text as given; begin == end for special tokens
    char *piece;      // "dog</w>"
    double weight;
} LimnTextToken;
typedef struct {
    gsize begin, end;
    double weight;
} LimnTextWord;
typedef struct {
    char *text;     // UTF-8 as given
    double score;   // true cosine
    GArray *tokens; // LimnTextToken (with clear function)
    GArray *words;  // LimnTextWord
    gboolean truncated;
    gsize used_bytes; // text[0, used_bytes) reached the model (== length when not
                      // truncated)
} LimnTextItem;
LimnTextItem *limn_text_item_new(const char *text);
void limn_text_item_free(LimnTextItem *item);

// ---- table: columns of text or numbers
typedef struct {
    char *name;
    gboolean numeric;
    GArray *numbers;    // double, NaN = missing
    GPtrArray *strings; // char *, may hold NULL
    char *unit;         // may be NULL
} LimnColumn;
typedef struct {
    GPtrArray *columns; // LimnColumn
} LimnTable;
LimnTable *limn_table_new(void);
void limn_table_free(LimnTable *table);
LimnColumn *limn_table_add_column(LimnTable *table, const char *name, gboolean numeric);
void limn_column_add_number(LimnColumn *column, double value);
void limn_column_add_string(LimnColumn *column, const char *value);
guint limn_table_n_rows(const LimnTable *table);

// ---- class table of a label map
typedef struct {
    guint32 value;
    char *name;
    guint8 rgb[3];
    gboolean hidden;
} LimnClass;
typedef struct {
    GPtrArray *classes;  // LimnClass, rising value
    gint64 ignore_value; // -1: none
} LimnClassTable;
LimnClassTable *limn_class_table_new(void);
void limn_class_table_free(LimnClassTable *table);
void limn_class_table_add(LimnClassTable *table, guint32 value, const char *name,
                          const guint8 rgb[3]);

// Artifacts of work over many items (pictures of a folder) say which entries belong to
// which item, so that the results of shards can be joined in item order: entries are
// rows of a table, slices of the leading dimension of a field or array, pictures, texts.
typedef struct {
    guint64 item;  // index among all items of the study
    guint64 count; // entries that follow each other
} LimnItemSpan;

// A further file that belongs to an artifact and is written as it is: a model's
// configuration, annotations in a format of others.
typedef struct {
    char *file; // relative to the study folder; may name folders below it
    GBytes *bytes;
} LimnCompanion;

struct LimnArtifact {
    gatomicrefcount refs;
    LimnArtifactKind kind;
    char *name;         // file stem: "map", "signed", "words"
    char *title;        // for people, may be NULL
    char *unit;         // of the values, may be NULL
    GPtrArray *labels;  // char *, one per map, picture or curve; may be empty
    gboolean has_range; // a range that belongs to the values (e.g. [0,1]), else from data
    double range[2];
    // heatmap
    LimnArray *field;   // f32; NaN allowed
    gboolean is_signed; // diverging colours, centred at zero
    LimnImage *picture; // upright input picture, may be NULL
    LimnRect rect;   // part of the picture that the field covers (pixels); width 0 = all
    LimnImage *mask; // label map of the picture, may be NULL (outlines in figures)
    // heatmaps of several pictures ([B,T,..] or a folder): one picture and rect per item
    GPtrArray *pictures; // LimnImage; also PICTURES and LABELMAP
    GArray *rects;       // LimnRect
    // labelmap
    LimnClassTable *classes;
    // array, model, series
    LimnArray *array;      // ARRAY: the data; SERIES: unused
    LimnTable *table;      // TABLE; SERIES: first column x, the others curves
    GPtrArray *texts;      // TEXT: LimnTextItem
    char *path;            // MODEL: file that was written
    GArray *items;         // LimnItemSpan; NULL: does not consist of items
    GPtrArray *companions; // LimnCompanion; NULL: none
};

LimnArtifact *limn_artifact_new(LimnArtifactKind kind, const char *name);
LimnArtifact *limn_artifact_new_heatmap(const char *name, LimnArray *field /* refs */);
LimnArtifact *limn_artifact_new_text(const char *name);
LimnArtifact *limn_artifact_new_table(const char *name, LimnTable *table /* takes */);
LimnArtifact *limn_artifact_new_series(const char *name, LimnTable *table /* takes */);
LimnArtifact *limn_artifact_new_array(const char *name, LimnArray *array /* refs */);
LimnArtifact *limn_artifact_ref(LimnArtifact *artifact);
void limn_artifact_unref(LimnArtifact *artifact);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnArtifact, limn_artifact_unref)
void limn_artifact_add_label(LimnArtifact *artifact, const char *label);
void limn_artifact_set_picture(LimnArtifact *artifact, LimnImage *picture,
                               const LimnRect *rect);
// One picture more of a heatmap over several pictures, or of PICTURES and LABELMAP.
void limn_artifact_add_picture(LimnArtifact *artifact, LimnImage *picture /* refs */,
                               const LimnRect *rect /* may be NULL */);
// `file` is a relative path of plain names ("config.json", "ImageSets/train.txt").
void limn_artifact_add_companion(LimnArtifact *artifact, const char *file, GBytes *bytes);
// TRUE for a path that stays inside the folder it is resolved in.
gboolean limn_companion_name_is_safe(const char *file);
// The next `count` entries belong to item `item`; called in item order.
void limn_artifact_tag_item(LimnArtifact *artifact, guint64 item, guint64 count);

const char *limn_artifact_kind_name(LimnArtifactKind kind); // "heatmap"
gboolean limn_artifact_kind_parse(const char *name, LimnArtifactKind *kind);
// Heatmaps: number of maps (product of the leading dimensions), their size, map i.
gint64 limn_artifact_n_maps(const LimnArtifact *artifact);
void limn_artifact_map_size(const LimnArtifact *artifact, int *height, int *width);
const float *limn_artifact_get_map(const LimnArtifact *artifact, gint64 i);
// Range of the finite values of all maps (or of map i when i >= 0); FALSE when none is
// finite. *n_nan counts non-finite values, may be NULL.
gboolean limn_artifact_data_range(const LimnArtifact *artifact, gint64 i, double *min,
                                  double *max, gint64 *n_nan);

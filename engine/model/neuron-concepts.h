// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The concept matrix of linear explanations (specification: neuron explanations, section
// 3): how strongly each of K named concepts is present in each of n pictures.
//
//   from labels      0 or 1 per class, one further column per superclass (1 where the
//                    picture has any of its classes)
//   from similarity  sigmoid(a (cosine + b)) of picture and name, see
//   neuron-calibration.h given            any matrix

#include "engine/base/array.h"
#include "engine/base/job.h"

typedef struct {
    LimnArray *values; // f32 [n,K]
    GPtrArray *names;  // char *, K of them, unique
    guint8 *wide;      // [K] not to be used for calibration (superclass of many), or NULL
} LimnConcepts;

// Takes `names` (element-type char *, with free function), refs `values`. Names that
// occur again are made unique by " (2)", with a diagnostic. LIMN_ERROR_MISMATCH when the
// numbers differ.
LimnConcepts *limn_concepts_new(LimnArray *values, GPtrArray *names, const char *path,
                                LimnJob *job, GError **error);
void limn_concepts_free(LimnConcepts *concepts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnConcepts, limn_concepts_free)

// ---- labels

typedef struct {
    char *name;
    GArray *members; // guint32, numbers of classes, each once
} LimnSuperclass;

// JSON {"superclass": [class, ...]}, a class being its number or its name; underscores
// become spaces. Superclasses
// of a single class, and those with the same members as one before, are left out with a
// note. Returns: (transfer full) (element-type LimnSuperclass)
GPtrArray *limn_superclasses_load(const char *path, const char *const *classes,
                                  LimnJob *job, GError **error);
GPtrArray *limn_superclasses_new(void);
LimnSuperclass *limn_superclasses_add(GPtrArray *superclasses, const char *name);
// Leaves out those of fewer than two classes and those with the classes (in rising order)
// of one before, with a note that names `path` (NULL: silently).
void limn_superclasses_drop_redundant(GPtrArray *superclasses, const char *path,
                                      LimnJob *job);

// presence u8 [n,C], 0 or 1. superclasses may be NULL. Those with more than
// `most_members` classes are marked as wide (0: none).
LimnConcepts *limn_concepts_from_labels(const LimnArray *presence,
                                        const char *const *classes,
                                        GPtrArray *superclasses, guint most_members,
                                        const char *path, LimnJob *job, GError **error);
// Presence u8 [n,C] from class numbers [n] (-1: none), or from a 0/1 matrix [n,C] of any
// type. LIMN_ERROR_FORMAT naming the row.
LimnArray *limn_presence_from_array(LimnArray *labels, gsize n_classes, const char *path,
                                    GError **error);
// From JSON: one entry per picture, a class or a list of classes (numbers or names).
LimnArray *limn_presence_load_json(const char *path, const char *const *classes,
                                   GError **error);

// ---- similarity

// cosines f32 [n,K] -> sigmoid(a (cosine + b)) f32 [n,K].
LimnArray *limn_concepts_sigmoid(const LimnArray *cosines, double a, double b,
                                 LimnJob *job, GError **error);
// Unit cosines f32 [n,K] of embeddings [n,d] and [K,d].
LimnArray *limn_concepts_cosines(const LimnArray *images, const LimnArray *texts,
                                 LimnJob *job, GError **error);

// ---- filter (section 3.3)

typedef struct {
    int top;     // 5
    double mean; // of the `top` largest values, at least 0.5
    double std;  // at least 1e-5
} LimnConceptFilter;
void limn_concept_filter_init(LimnConceptFilter *filter);

typedef struct {
    guint32 *kept; // [n_kept] columns, rising
    gsize n_kept;
    double *top_mean; // [K]
    double *std;      // [K], divided by n - 1
    guint8 *mask;     // [K]
} LimnConceptChoice;
LimnConceptChoice *limn_concepts_filter(const LimnArray *values,
                                        const LimnConceptFilter *filter, LimnJob *job);
void limn_concept_choice_free(LimnConceptChoice *choice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnConceptChoice, limn_concept_choice_free)

// FALSE with LIMN_ERROR_FORMAT naming file, row and concept of the first value that is
// not finite. names may be NULL.
gboolean limn_concepts_check_finite(const LimnArray *values, GPtrArray *names,
                                    const char *path, GError **error);

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A study: one operation with its inputs and parameters. Running it yields artifacts.

#include "engine/study/operation.h"

typedef struct {
    char *name;   // input key
    char *value;  // path as given (absolute) or text
    char *sha256; // files and folders, after limn_study_hash_inputs; else NULL
    guint64 size;
} LimnStudyInput;

struct LimnStudy {
    gatomicrefcount refs;
    const LimnOperation *operation;
    GPtrArray *inputs;      // LimnStudyInput, in order given
    GHashTable *parameters; // name -> value as text, only those that differ from unset
    guint64 seed;
    GPtrArray *builtins; // LimnStudyInput: the program's own data used for inputs that
                         // were not given; filled by limn_study_hash_inputs
};

LimnStudy *limn_study_new(const LimnOperation *operation);
LimnStudy *limn_study_ref(LimnStudy *study);
void limn_study_unref(LimnStudy *study);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnStudy, limn_study_unref)
LimnStudy *limn_study_dup(const LimnStudy *study);

// One key=value; inputs and parameters alike. LIMN_ERROR_ARGUMENT naming the key, the
// value and what is allowed. A repeated key is an error unless the input is a list.
gboolean limn_study_set(LimnStudy *study, const char *key, const char *value,
                        GError **error);
// Replace (or with value NULL remove) an input or parameter.
gboolean limn_study_replace(LimnStudy *study, const char *key, const char *value,
                            GError **error);
// Missing inputs, groups, ... LIMN_ERROR_ARGUMENT.
gboolean limn_study_validate(const LimnStudy *study, GError **error);
// First value of an input, or NULL.
const char *limn_study_get_input(const LimnStudy *study, const char *name);
// Value of a parameter as text: as set, or the default. Static or owned by the study.
// Returns: (transfer full)
char *limn_study_dup_parameter(const LimnStudy *study, const char *name);

// Fill in sizes and SHA-256 of the inputs that are files or folders, and of the
// program's own data that stand in for inputs not given. Not while another thread uses
// the study: hash a copy, then take its hashes.
gboolean limn_study_hash_inputs(LimnStudy *study, LimnJob *job, GError **error);
void limn_study_take_hashes(LimnStudy *study, const LimnStudy *copy);
// SHA-256 of operation, parameters, seed, and what the inputs hold now: what must be the
// same for a run to go on with what an earlier one left.
// Returns: (transfer full), or NULL when an input cannot be read.
char *limn_study_identity(const LimnStudy *study, LimnJob *job, GError **error);

// TRUE when both are the same operation with equal parameters, seed and inputs; inputs
// are compared by hash where both have one, else by value. Says what differs.
gboolean limn_study_equal(const LimnStudy *a, const LimnStudy *b, GError **error);

// study.json. Paths are written relative to `directory` where they lie below it.
char *limn_study_to_json(const LimnStudy *study, const char *directory);
// Reads a study.json; LIMN_ERROR_MISMATCH when an input changed (verify TRUE).
LimnStudy *limn_study_load(const char *path, gboolean verify, LimnJob *job,
                           GError **error);

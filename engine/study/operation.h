// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An operation is declared once, as a constant table in its own file, followed by one
// run function. The window's panel, the command line and its help, provenance and the
// manual are derived from the declaration. Adding an operation touches its own file and
// the list engine/method/operations.c, nothing else.
//
// Worked example:
//
//     static const LimnParameter parameters[] = {
//         {.name = "layers", .type = LIMN_PARAMETER_INT, .int_default = 1, .min = 1,
//          .max = 1000, .unit = "blocks", .summary = N_("Last blocks to explain"), ...},
//         {.name = NULL},
//     };
//     const LimnOperation limn_operation_grad_eclip = {.id = "grad-eclip", ...};

#include "engine/base/types.h"

typedef enum {
    LIMN_FAMILY_EXPLAIN,
    LIMN_FAMILY_CORRECT,
    LIMN_FAMILY_GRAPHS,
    LIMN_FAMILY_DIFFUSION,
    LIMN_FAMILY_LEARNING,
    LIMN_FAMILY_LANGUAGE,
} LimnFamily;

typedef enum {
    LIMN_INPUT_FILE,   // any file
    LIMN_INPUT_IMAGE,  // a picture file
    LIMN_INPUT_FOLDER, // a folder
    LIMN_INPUT_PATH,   // file or folder (a model, or a picture or a folder of them)
    LIMN_INPUT_TEXT,   // the value itself is the text
} LimnInputType;

typedef struct {
    const char *name; // key on the command line
    LimnInputType type;
    gboolean required; // alternatives: name the group with `one_of`
    gboolean list;     // the key may be repeated
    const char
        *one_of; // inputs with the same non-NULL group exclude each other, one is needed
    gboolean optional_group; // the one_of group may stay empty
    const char
        *accepts; // informal: "PNG, JPEG, TIFF, WebP"; shown in help and by drop targets
    const char *summary; // one line, translatable
    const char *builtin; // data of the program (limn_data_path) that stands in when the
                         // input is not given: its hash is part of the provenance
} LimnInput;

typedef enum {
    LIMN_PARAMETER_INT,
    LIMN_PARAMETER_FLOAT,
    LIMN_PARAMETER_BOOL, // choices no, yes (the first listed is the default)
    LIMN_PARAMETER_CHOICE,
    LIMN_PARAMETER_TEXT,
} LimnParameterType;

typedef struct {
    const char *name;
    LimnParameterType type;
    gint64 int_default;
    double float_default;
    const char *text_default;   // TEXT only; NULL = unset
    double min, max;            // INT and FLOAT, inclusive
    const char *const *choices; // CHOICE: NULL-terminated; BOOL: NULL means {"no","yes"};
                                // the first is the default
    const char *const *choice_summaries; // one line each, may be NULL
    const char *unit;                    // may be NULL
    const char *summary;                 // one line, translatable
    gboolean advanced;                   // folded away in the panel
    gboolean live; // may be changed in live mode without encoding the picture again
} LimnParameter;

typedef struct {
    const char *name;  // artifact name
    const char *kind;  // "heatmap", "text", ...
    const char *shape; // "[T,gh,gw]"
    const char *summary;
} LimnOutput;

typedef struct {
    const char *title;
    const char *authors;
    const char *venue; // "ICML 2024"
} LimnPaper;

typedef struct {
    const char *artifact; // which artifact the default figure shows
    const char *layout;   // "overlay", "words", "grid", "bars", "curve", "stack"
    const char *caption;  // may contain {parameter} and {scalar}
} LimnFigureDefault;

struct LimnOperation {
    const char *id;
    const char *title;
    LimnFamily family;
    const char *summary;     // one line
    const char *description; // a few sentences for help and manual
    LimnPaper paper;
    const LimnInput *inputs;         // ends with a NULL name
    const LimnParameter *parameters; // ends with a NULL name
    const LimnOutput *outputs;       // ends with a NULL name
    const LimnFigureDefault *figure; // may be NULL
    gboolean shardable;              // work over many items: --shard makes sense
    gboolean resumable;              // --resume makes sense
    // Runs on an engine thread. Reads inputs and parameters from `run`, adds artifacts,
    // scalars, skipped items and diagnostics to it.
    gboolean (*run)(LimnRun *run, GError **error);
    // Optional. Adds what summarises all items (means) from the artifacts that `run`
    // made of each; not called for a shard, called again when shards are merged.
    gboolean (*finish)(LimnRun *run, GError **error);
};

const char *limn_family_id(LimnFamily family);    // "explain"
const char *limn_family_title(LimnFamily family); // "Explain" (translated)

// Text of a parameter's default: "1", "0.5", "faithful"; "" when unset.
// Returns: (transfer full)
char *limn_parameter_dup_default(const LimnParameter *parameter);
// The choices of a CHOICE or BOOL parameter, NULL-terminated; NULL for other types.
const char *const *limn_parameter_get_choices(const LimnParameter *parameter);
const char *limn_parameter_type_name(LimnParameterType type); // "integer", "choice"
const char *limn_input_type_name(LimnInputType type);         // "picture", "text"
// Inputs given by path (everything but TEXT).
gboolean limn_input_is_path(const LimnInput *input);

const LimnInput *limn_operation_find_input(const LimnOperation *operation,
                                           const char *name);
const LimnParameter *limn_operation_find_parameter(const LimnOperation *operation,
                                                   const char *name);

// All keys of an operation, inputs first.
// Returns: (transfer full)
GStrv limn_operation_list_keys(const LimnOperation *operation);

// The registry. The program hands over the list once at start-up (NULL-terminated,
// static); limn_operations.c in engine/method holds it.
void limn_registry_set(const LimnOperation *const *operations);
const LimnOperation *const *limn_registry_get(void);
const LimnOperation *limn_registry_find(const char *id);

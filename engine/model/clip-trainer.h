// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Training of a CLIP on scenes composed on the fly (specification: small worlds, section
// 3). Each step: a batch of scenes; texts = sampled names plus the captions with several
// objects; a text is a positive for every picture that shows all its objects, targets are
// spread evenly over the positives. The pool of names starts small and grows
// geometrically. Everything follows from the options, the drawings and the step number,
// so that a resumed run repeats an uninterrupted one.

#include "engine/model/clip-network.h"
#include "engine/nn/checkpoint.h"
#include "engine/scene/scene.h"
#include "engine/text/tokenizer.h"

typedef struct {
    int batch;
    gint64 steps, warmup;
    double rate;
    double weight_decay;
    int sampled_names;   // texts of single names per step
    int pool_start;      // names at the beginning
    double pool_grow;    // fraction of the steps after which all names are in the pool
    double single_share; // fraction of the steps at the beginning with one object only
    double scale_frozen; // fraction of the steps with a fixed temperature
    LimnSceneOptions scenes; // styles: those trained on
    guint64 seed;
    float mean[3], std[3];
} LimnClipTrainerOptions;
void limn_clip_trainer_options_init(LimnClipTrainerOptions *options, int image_size);

// Where pictures come from: scenes composed from drawings, or a folder of captioned
// pictures (captioned.h), whose distinct captions take the part of names.
typedef struct {
    gpointer data;
    guint n_names, n_frames; // a name in each of n_frames sentences
    // Returns: (transfer full) the sentence
    char *(*caption)(gpointer data, guint32 name, guint frame);
    // Thread-safe; only names of options->names. Objects and caption as in scene.h.
    LimnScene *(*compose)(gpointer data, const LimnSceneOptions *options, guint64 seed,
                          guint64 number, GError **error);
} LimnClipSource;
// Borrows the drawings.
LimnClipSource limn_clip_source_of_drawings(LimnDrawings *drawings);

typedef struct LimnClipTrainer LimnClipTrainer;

// All arguments are borrowed and must outlive the trainer; `source` and `names` (ids of
// the source, in the order in which they enter the pool) are copied.
LimnClipTrainer *limn_clip_trainer_new(LimnClipNetwork *network, LimnTokenizer *tokenizer,
                                       const LimnClipSource *source, const guint32 *names,
                                       guint n_names,
                                       const LimnClipTrainerOptions *options,
                                       LimnJob *job, GError **error);
void limn_clip_trainer_free(LimnClipTrainer *trainer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnClipTrainer, limn_clip_trainer_free)

typedef struct {
    gint64 step; // the one just done, from 0
    double loss, rate, norm, scale;
    guint pool; // names in the pool
    gboolean skipped;
} LimnClipTrainerStep;
// One step. LIMN_ERROR_FAILED when the loss is not finite three times in a row.
gboolean limn_clip_trainer_step(LimnClipTrainer *trainer, LimnClipTrainerStep *info,
                                GError **error);
gint64 limn_clip_trainer_get_step(LimnClipTrainer *trainer);
LimnOptimizer *limn_clip_trainer_get_optimizer(LimnClipTrainer *trainer);
// Floating-point operations of the last step's products (multiply and add counted as
// two).
double limn_clip_trainer_get_flops(LimnClipTrainer *trainer);

// Zero-shot accuracy on `n` fresh scenes of one object in the styles given: the right
// name first, and among the first five, of all names ("a photo of a NAME").
typedef struct {
    double top1, top5;
    int n;
} LimnClipAccuracy;
gboolean limn_clip_trainer_evaluate(LimnClipTrainer *trainer, const guint32 *names,
                                    guint n_names, guint64 styles, int n, guint64 seed,
                                    LimnClipAccuracy *accuracy, GError **error);

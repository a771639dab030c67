// SPDX-License-Identifier: GPL-3.0-or-later

// The classifier behind a layer, from the inputs of a study.

#include "engine/base/error.h"
#include "engine/io/npy.h"
#include "engine/model/study-neurons.h"
#include "engine/model/study-parts.h"

gboolean
limn_study_load_head(LimnRun *run, const LimnNeuronInputs *inputs, LimnNeuronHead **head,
                     GError **error)
{
    const char *weight_path = limn_run_get_input(run, "head-weight");
    const char *bias_path = limn_run_get_input(run, "head-bias");
    const char *labels_path = limn_run_get_input(run, "head-labels");
    LimnJob *job = limn_run_get_job(run);
    if (weight_path == NULL && bias_path == NULL && labels_path == NULL) {
        return TRUE;
    }
    if (weight_path == NULL || bias_path == NULL || labels_path == NULL) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                            "a classifier is incomplete (expected head-weight=, "
                            "head-bias= and head-labels=)");
        return FALSE;
    }
    g_autoptr(LimnArray) weight =
        limn_study_load_floats(weight_path, 2, -1, "weights of the classifier", error);
    g_autoptr(LimnArray) bias =
        weight != NULL ? limn_study_load_floats(bias_path, 1, weight->shape[0],
                                                "offsets of the classifier", error)
                       : NULL;
    g_autoptr(LimnArray) raw = bias != NULL ? limn_npy_load(labels_path, error) : NULL;
    g_autoptr(LimnArray) labels = raw != NULL ? limn_array_to_i64(raw, error) : NULL;
    if (labels == NULL || !limn_study_check_activations(inputs, error)) {
        return FALSE;
    }
    limn_job_report(job, "classifier", 0, "logits");
    *head = limn_neuron_head_new(inputs->activations, weight, bias, labels,
                                 limn_run_get_float(run, "temperature"), job, error);
    return *head != NULL;
}

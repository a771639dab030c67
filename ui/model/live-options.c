// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/live-options.h"

#include "engine/model/study-explain.h"

#define DEFAULT_KEEP_LIMIT 640

static LimnStudy *
study_of_parameters(LimnDocument *doc, const LimnOperation *operation)
{
    const LimnStudyData *data = limn_document_get_data(doc);
    LimnStudy *study = limn_study_new(operation);

    study->seed = data->seed;
    for (guint i = 0; i < data->parameters->len; i++) {
        const LimnPair *pair = data->parameters->pdata[i];

        if (limn_operation_find_parameter(operation, pair->key))
            limn_study_set(study, pair->key, pair->value, NULL);
    }
    return study;
}

void
limn_live_settings_read(LimnDocument *doc, LimnLiveSettings *settings)
{
    const LimnOperation *operation = limn_document_get_operation(doc);
    g_autoptr(LimnStudy) study = NULL;
    g_autoptr(LimnRun) run = NULL;

    limn_explain_options_init(&settings->options);
    settings->options.seed = limn_document_get_data(doc)->seed;
    settings->side = LIMN_SIDE_BOTH;
    settings->mode = LIMN_PREPROCESS_CLIP;
    settings->keep_limit = DEFAULT_KEEP_LIMIT;
    if (!operation)
        return;
    study = study_of_parameters(doc, operation);
    run = limn_run_new(study, NULL);
    limn_study_read_explain_options(run, &settings->options);
    if (limn_operation_find_parameter(operation, "side"))
        settings->side = (LimnSide) limn_run_get_choice(run, "side");
    if (limn_operation_find_parameter(operation, "preprocess"))
        settings->mode = (LimnPreprocessMode) limn_run_get_choice(run, "preprocess");
    if (limn_operation_find_parameter(operation, "keep-limit"))
        settings->keep_limit = (int) limn_run_get_int(run, "keep-limit");
}

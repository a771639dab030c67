// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the configuration files of a CLIP checkpoint say: config.json and
// preprocessor_config.json of Hugging Face, open_clip_config.json of OpenCLIP. Values
// that a file leaves out are 0 here ("not said") where the tensors tell them, else the
// default of the library that wrote the file.

#include "engine/image/resample.h"
#include "engine/model/tower.h"

typedef struct {
    gint64 width, layers, mlp; // 0: not said
    gint64 heads;              // Hugging Face; 0: not said
    gint64 head_width;         // OpenCLIP vision tower; 0: not said
    LimnActivation activation;
    double eps;
} LimnTowerSettings;

typedef struct {
    char *file; // NULL: there is no configuration
    LimnTowerSettings vision, text;
    gint64 image_size, patch;
    gint64 vocab, context;
    gint64 projection;
    gboolean heads_said; // the vision tower's heads are in the file, no default
    gint64 end;          // id of the end token that pools; -1: row of the highest id
    // preprocessing
    char *preprocess_file; // NULL: defaults
    gint64 size;           // 0: not said
    gboolean bilinear, squash;
    double mean[3], std[3];
} LimnClipSettings;

// Without a configuration: OpenAI's rules (quick GELU, eps 1e-5, CLIP's mean and std).
void limn_clip_settings_init(LimnClipSettings *settings);
void limn_clip_settings_clear(LimnClipSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimnClipSettings, limn_clip_settings_clear)

// config.json. A file that is no model configuration at all leaves settings->file NULL.
// LIMN_ERROR_UNSUPPORTED names architectures other than CLIP.
gboolean limn_clip_settings_read_hf(LimnClipSettings *settings, const char *path,
                                    GError **error);
gboolean limn_clip_settings_read_preprocessor(LimnClipSettings *settings,
                                              const char *path, GError **error);
gboolean limn_clip_settings_read_open_clip(LimnClipSettings *settings, const char *path,
                                           GError **error);

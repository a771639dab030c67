// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The strip at the bottom: what is being computed, how far it is, and a button to stop
// it. Hidden when nothing runs. Live work shows only when it takes longer than a moment
// (loading a checkpoint, encoding, slow methods).

#include "ui/model/workspace.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_JOB_STRIP (limn_job_strip_get_type())
G_DECLARE_FINAL_TYPE(LimnJobStrip, limn_job_strip, LIMN, JOB_STRIP, GtkWidget)

GtkWidget *limn_job_strip_new(LimnWorkspace *ws);

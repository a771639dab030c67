// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A table artifact as rows and columns; rows are made only when they are seen.

#include "engine/study/artifact.h"

#include <gtk/gtk.h>

// `artifact`: TABLE or SERIES; kept.
GtkWidget *limn_table_view_new(LimnArtifact *artifact);

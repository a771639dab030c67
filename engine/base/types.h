// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Forward declarations of the types that cross the borders of layers, so that a
// header needs to include only what it dereferences.

#include <glib.h>

typedef struct LimnArray LimnArray;
typedef struct LimnJob LimnJob;
typedef struct LimnImage LimnImage;
typedef struct LimnArtifact LimnArtifact;
typedef struct LimnOperation LimnOperation;
typedef struct LimnStudy LimnStudy;
typedef struct LimnRun LimnRun;

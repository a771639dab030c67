// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// PDF by cairo: text stays text with TrueType or CFF subsets embedded, crisp pictures are
// enlarged by a whole factor and marked as not to be interpolated. The date inside is
// that of SOURCE_DATE_EPOCH, or the start of 2000, so that bytes are repeatable.

#include "engine/figure/display-list.h"

// `title` goes into the document's information (may be NULL; valid UTF-8).
GBytes *limn_write_pdf(const LimnDisplayList *list, double width, double height,
                       const char *title, gboolean text_as_outlines, GError **error);

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pictures of a folder in a row below the canvas: previews made by workers for what
// is in sight, broken ones with a sign and the reason, a count. Hidden without a folder.

#include "ui/model/document.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_FILMSTRIP (limn_filmstrip_get_type())
G_DECLARE_FINAL_TYPE(LimnFilmstrip, limn_filmstrip, LIMN, FILMSTRIP, GtkWidget)

GtkWidget *limn_filmstrip_new(void);
void limn_filmstrip_set_document(LimnFilmstrip *strip, LimnDocument *doc);
void limn_filmstrip_sync(LimnFilmstrip *strip); // selection and visibility

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Work over many items that can be resumed: what every finished item added to the
// operation's tables is appended to a journal in the run's work directory. A run with
// --resume takes the rows of finished items from there and gives the bytes that an
// uninterrupted run gives. A journal of another study is put aside with a warning.

#include "engine/study/run.h"

typedef struct LimnItemJournal LimnItemJournal;

// `tables` [n] stay the caller's; rows are added to them in item order. Without a work
// directory the journal keeps nothing and knows no item.
LimnItemJournal *limn_item_journal_open(LimnRun *run, LimnTable *const *tables, guint n,
                                        GError **error);
void limn_item_journal_free(LimnItemJournal *journal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnItemJournal, limn_item_journal_free)

// TRUE when the item was finished by an earlier run: its rows and diagnostics are added;
// counts [n] are the rows added to each table.
gboolean limn_item_journal_restore(LimnItemJournal *journal, guint64 item, guint *counts);
// Keeps the last counts[i] rows of every table as those of `item`, with the diagnostics
// since the item began.
gboolean limn_item_journal_add(LimnItemJournal *journal, guint64 item,
                               const guint *counts, GError **error);

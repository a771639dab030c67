// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A stack of commands that were done and can be undone and redone. One action of the
// user is one command; commands of one stroke or one burst of typing merge into one.
// The stack is bounded in bytes: the oldest commands are forgotten first (never the
// newest one, however large). Saving does not touch the stack. Not thread-safe: it
// belongs to the main thread.

#include "engine/base/types.h"

typedef struct LimnUndo LimnUndo;

// What a command can do. `data` is the command's own.
typedef struct {
    void (*undo)(gpointer data);
    void (*redo)(gpointer data);
    // Takes over what `newer` did, so that one step undoes both; FALSE when the two are
    // separate actions. May be NULL. `newer` is freed by the stack.
    gboolean (*merge)(gpointer data, gpointer newer);
    gsize (*size)(gpointer data); // bytes that it keeps; NULL: 0
    void (*free)(gpointer data);
} LimnCommandClass;

LimnUndo *limn_undo_new(gsize max_bytes);
void limn_undo_free(LimnUndo *undo);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnUndo, limn_undo_free)

// Called after every change of what can be undone or redone.
void limn_undo_set_changed(LimnUndo *undo, void (*changed)(gpointer user_data),
                           gpointer user_data);

// Adds a command that has been done already; what had been undone can no longer be
// redone. The stack takes `data`. `title` says what it did ("Add a sentence").
void limn_undo_push(LimnUndo *undo, const LimnCommandClass *class, gpointer data,
                    const char *title);
// The next command starts a step of its own even when it could merge.
void limn_undo_break(LimnUndo *undo);

gboolean limn_undo_undo(LimnUndo *undo); // FALSE: nothing to undo
gboolean limn_undo_redo(LimnUndo *undo);
// Title of the step that undo (redo) would take, NULL when there is none. Borrowed.
const char *limn_undo_get_undo_title(const LimnUndo *undo);
const char *limn_undo_get_redo_title(const LimnUndo *undo);
gsize limn_undo_get_bytes(const LimnUndo *undo);
guint limn_undo_get_depth(const LimnUndo *undo); // steps that can be undone
void limn_undo_clear(LimnUndo *undo);

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/undo.h"

typedef struct {
    const LimnCommandClass *class;
    gpointer data;
    char *title;
    gsize bytes;
} Command;

struct LimnUndo {
    GQueue done;   // newest at the tail
    GQueue undone; // next to redo at the tail
    gsize bytes, max_bytes;
    gboolean broken; // the next command must not merge
    gboolean running;
    void (*changed)(gpointer user_data);
    gpointer user_data;
};

static void
command_free(Command *command)
{
    if (command->class->free)
        command->class->free(command->data);
    g_free(command->title);
    g_free(command);
}

static gsize
command_size(const Command *command)
{
    return command->class->size ? command->class->size(command->data) : 0;
}

static void
notify(LimnUndo *undo)
{
    if (undo->changed)
        undo->changed(undo->user_data);
}

static void
drop_all(LimnUndo *undo, GQueue *queue)
{
    Command *command;

    while ((command = g_queue_pop_tail(queue))) {
        undo->bytes -= command->bytes;
        command_free(command);
    }
}

LimnUndo *
limn_undo_new(gsize max_bytes)
{
    LimnUndo *undo = g_new0(LimnUndo, 1);

    g_queue_init(&undo->done);
    g_queue_init(&undo->undone);
    undo->max_bytes = max_bytes;
    return undo;
}

void
limn_undo_free(LimnUndo *undo)
{
    if (!undo)
        return;
    drop_all(undo, &undo->done);
    drop_all(undo, &undo->undone);
    g_free(undo);
}

void
limn_undo_set_changed(LimnUndo *undo, void (*changed)(gpointer user_data),
                      gpointer user_data)
{
    undo->changed = changed;
    undo->user_data = user_data;
}

// Forgets the oldest steps above the bound, but never the newest one.
static void
trim(LimnUndo *undo)
{
    while (undo->bytes > undo->max_bytes && undo->done.length > 1) {
        Command *oldest = g_queue_pop_head(&undo->done);

        undo->bytes -= oldest->bytes;
        command_free(oldest);
    }
}

static gboolean
try_merge(LimnUndo *undo, Command *command)
{
    Command *last = g_queue_peek_tail(&undo->done);

    if (!last || undo->broken || last->class != command->class || !last->class->merge ||
        !last->class->merge(last->data, command->data))
        return FALSE;
    undo->bytes -= last->bytes;
    last->bytes = command_size(last);
    undo->bytes += last->bytes;
    return TRUE;
}

void
limn_undo_push(LimnUndo *undo, const LimnCommandClass *class, gpointer data,
               const char *title)
{
    Command *command = g_new0(Command, 1);

    // a command that pushes commands while it is undone would saw off its own branch
    g_return_if_fail(!undo->running);
    command->class = class;
    command->data = data;
    command->title = g_strdup(title);
    drop_all(undo, &undo->undone);
    if (try_merge(undo, command)) {
        command_free(command);
    } else {
        command->bytes = command_size(command);
        undo->bytes += command->bytes;
        g_queue_push_tail(&undo->done, command);
    }
    undo->broken = FALSE;
    trim(undo);
    notify(undo);
}

void
limn_undo_break(LimnUndo *undo)
{
    undo->broken = TRUE;
}

static gboolean
step(LimnUndo *undo, GQueue *from, GQueue *to, gboolean forward)
{
    Command *command = undo->running ? NULL : g_queue_pop_tail(from);

    if (!command)
        return FALSE;
    undo->running = TRUE;
    if (forward)
        command->class->redo(command->data);
    else
        command->class->undo(command->data);
    undo->running = FALSE;
    undo->broken = TRUE;
    g_queue_push_tail(to, command);
    notify(undo);
    return TRUE;
}

gboolean
limn_undo_undo(LimnUndo *undo)
{
    return step(undo, &undo->done, &undo->undone, FALSE);
}

gboolean
limn_undo_redo(LimnUndo *undo)
{
    return step(undo, &undo->undone, &undo->done, TRUE);
}

static const char *
top_title(const GQueue *queue)
{
    const Command *command = queue->tail ? queue->tail->data : NULL;

    return command ? command->title : NULL;
}

const char *
limn_undo_get_undo_title(const LimnUndo *undo)
{
    return top_title(&undo->done);
}

const char *
limn_undo_get_redo_title(const LimnUndo *undo)
{
    return top_title(&undo->undone);
}

gsize
limn_undo_get_bytes(const LimnUndo *undo)
{
    return undo->bytes;
}

guint
limn_undo_get_depth(const LimnUndo *undo)
{
    return undo->done.length;
}

void
limn_undo_clear(LimnUndo *undo)
{
    drop_all(undo, &undo->done);
    drop_all(undo, &undo->undone);
    undo->broken = FALSE;
    notify(undo);
}

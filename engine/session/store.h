// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where sessions lie: DIRECTORY/session.json, and session-2.json ... for further
// programs that run at the same time. Each is held by an advisory lock for as long as
// the store is open, so that two programs never write one session; the system releases
// the lock of a program that died, and the next start takes the session over. Files are
// replaced atomically: after a crash the old or the new one is there, never neither.

#include "engine/session/state.h"

typedef struct LimnSessionStore LimnSessionStore;

// Makes the directory when needed and takes the first session that no other program
// holds. LIMN_ERROR_OUTPUT when the directory cannot be made or written.
LimnSessionStore *limn_session_store_open(const char *directory, GError **error);
void limn_session_store_free(LimnSessionStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnSessionStore, limn_session_store_free)

// 1 for the main session, 2 ... when another program holds that one.
int limn_session_store_get_number(LimnSessionStore *store);
const char *limn_session_store_get_path(LimnSessionStore *store);

// The session as saved; an empty one when there is none yet. A damaged file is kept
// beside it (".damaged") and reported: NULL with LIMN_ERROR_FORMAT.
LimnSession *limn_session_store_load(LimnSessionStore *store, GError **error);
// From any thread, one call at a time.
gboolean limn_session_store_save(LimnSessionStore *store, const char *json,
                                 GError **error);

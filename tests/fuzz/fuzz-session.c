// SPDX-License-Identifier: GPL-3.0-or-later
// The session file: what was read is within its bounds and reads back equal.
#include "engine/session/state.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void
check_study(const LimnSessionStudy *study)
{
    fuzz_check(study->id != NULL && study->data.operation != NULL);
    fuzz_check(study->data.n_panes >= 1 && study->data.n_panes <= LIMN_MAX_PANES);
    fuzz_check(study->view.active < study->data.n_panes);
    fuzz_check(study->view.opacity >= 0 && study->view.opacity <= 1);
    fuzz_check(study->view.zoom >= 0);
    fuzz_check(study->status != LIMN_STUDY_RUNNING);
    fuzz_check(!study->data.has_box ||
               (study->data.box.width > 0 && study->data.box.height > 0));
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnSession) session =
        limn_session_from_json((const char *) data, size, "session.json", &error);
    g_autoptr(LimnSession) again = NULL;
    g_autofree char *json = NULL;
    g_autofree char *same = NULL;

    if (!session) {
        fuzz_check_error(&error);
        return 0;
    }
    for (guint i = 0; i < session->studies->len; i++)
        check_study(session->studies->pdata[i]);
    json = limn_session_to_json(session);
    again = limn_session_from_json(json, strlen(json), "session.json", &error);
    fuzz_check(again != NULL);
    same = limn_session_to_json(again);
    fuzz_check(g_str_equal(json, same));
    return 0;
}

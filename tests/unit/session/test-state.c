// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/session/state.h"

#include <math.h>
#include <string.h>

static LimnSessionStudy *
make_study(void)
{
    LimnSessionStudy *study = limn_session_study_new("grad-eclip");

    study->data.title = g_strdup("Title “with” é");
    study->data.seed = G_MAXUINT64;
    study->data.mask = g_strdup("/tmp/bad\xff name");
    limn_pairs_set(study->data.inputs, "image", "/tmp/a\nb.png");
    g_ptr_array_add(study->data.inputs, limn_pair_new("class", "x"));
    g_ptr_array_add(study->data.inputs, limn_pair_new("class", "y"));
    limn_pairs_set(study->data.parameters, "layers", "3");
    g_ptr_array_add(study->data.prompts, g_strdup(""));
    g_ptr_array_add(study->data.prompts, g_strdup("a dog"));
    g_ptr_array_add(study->data.grid_methods, g_strdup("game"));
    study->data.n_panes = 3;
    study->data.panes[2].method = g_strdup("rollout");
    study->data.panes[2].prompt = 1;
    study->data.panes[1].artifact = g_strdup("map");
    study->data.panes[1].item = 77;
    study->data.panes[1].compare = LIMN_COMPARE_BLINK;
    study->data.has_box = TRUE;
    study->data.box = (LimnRect){1.5, 2, 3, 4};
    study->view.active = 2;
    study->view.item = g_strdup("p.png");
    study->view.colormap = g_strdup("cividis");
    study->view.opacity = 0.3;
    study->view.scale = LIMN_SCALE_FIXED;
    study->view.range[0] = -1;
    study->view.zoom = 3;
    study->view.hide_crop = TRUE;
    study->folder = g_strdup("/tmp/studies/x");
    study->status = LIMN_STUDY_RUNNING;
    return study;
}

static void
test_round_trip(void)
{
    g_autoptr(LimnSession) session = limn_session_new();
    g_autoptr(LimnSession) back = NULL;
    g_autofree char *json = NULL;
    g_autofree char *again = NULL;
    LimnSessionStudy *study = make_study();
    LimnSessionStudy *read;
    g_autoptr(GError) error = NULL;

    session->width = 1280;
    session->height = 800;
    session->panel_hidden = TRUE;
    session->page = g_strdup("study");
    session->current = g_strdup(study->id);
    g_ptr_array_add(session->recent, g_strdup("/tmp/\xfe\xff"));
    g_ptr_array_add(session->models, g_strdup("/models/x"));
    g_ptr_array_add(session->studies, study);
    json = limn_session_to_json(session);
    g_assert_true(g_utf8_validate(json, -1, NULL));
    back = limn_session_from_json(json, strlen(json), "session.json", &error);
    g_assert_no_error(error);
    g_assert_cmpint(back->width, ==, 1280);
    g_assert_true(back->panel_hidden);
    g_assert_cmpstr(back->current, ==, study->id);
    g_assert_cmpstr(back->recent->pdata[0], ==, "/tmp/\xfe\xff");
    g_assert_cmpuint(back->studies->len, ==, 1);
    read = back->studies->pdata[0];
    g_assert_true(limn_study_data_equal(&study->data, &read->data));
    g_assert_cmpstr(read->view.colormap, ==, "cividis");
    g_assert_cmpfloat(read->view.range[0], ==, -1);
    g_assert_cmpfloat(read->view.zoom, ==, 3);
    g_assert_true(read->view.hide_crop);
    g_assert_cmpint(read->status, ==, LIMN_STUDY_INTERRUPTED); // it ran
    read->status = LIMN_STUDY_RUNNING;
    again = limn_session_to_json(back);
    g_assert_cmpstr(json, ==, again);
}

static LimnSession *
parse(const char *json)
{
    g_autoptr(GError) error = NULL;
    LimnSession *session = limn_session_from_json(json, strlen(json), "s.json", &error);

    g_assert_no_error(error);
    return session;
}

// Whatever is missing, of another type or out of range has a harmless value.
static void
test_tolerant(void)
{
    static const char *const documents[] = {
        "{\"limn_session\": 1}",
        "{\"limn_session\": 1, \"size\": [1e9, \"x\"], \"studies\": 3, \"recent\": {}}",
        "{\"limn_session\": 1, \"unknown\": [1], \"studies\": [null, 3, {}, []]}",
        "{\"limn_session\": 1, \"studies\": [{\"data\": {\"operation\": \"x\", "
        "\"panes\": "
        "[{\"prompt\": -5, \"compare\": \"what\"}, 3, 4, 5, 6, 7], \"box\": [0, 0, -1, "
        "1], "
        "\"inputs\": [[\"a\"], [\"a\", 3], 7, [\"k\", \"v\"]]}, \"view\": {\"opacity\": "
        "7, "
        "\"active\": 99, \"camera\": [-1, 0, 0]}}]}",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(documents); i++) {
        g_autoptr(LimnSession) session = parse(documents[i]);

        g_assert_nonnull(session->recent);
        for (guint k = 0; k < session->studies->len; k++) {
            const LimnSessionStudy *study = session->studies->pdata[k];

            g_assert_cmpuint(study->data.n_panes, <=, LIMN_MAX_PANES);
            g_assert_cmpuint(study->view.active, <, study->data.n_panes);
            g_assert_cmpfloat(study->view.opacity, <=, 1);
            g_assert_cmpfloat(study->view.zoom, >=, 0);
            g_assert_false(study->data.has_box);
            g_assert_cmpuint(study->data.inputs->len, ==, 1);
        }
    }
}

static void
test_malformed(void)
{
    static const char *const documents[] = {"",
                                            "{",
                                            "[]",
                                            "null",
                                            "{\"limn_session\": 2}",
                                            "{\"a\": 1}",
                                            "{\"limn_session\": 1, \"limn_session\": 1}"};

    for (gsize i = 0; i < G_N_ELEMENTS(documents); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(
            limn_session_from_json(documents[i], strlen(documents[i]), "s.json", &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
        g_assert_nonnull(strstr(error->message, "s.json"));
    }
}

static void
test_pairs(void)
{
    g_autoptr(GPtrArray) pairs = limn_pairs_new();

    limn_pairs_set(pairs, "a", "1");
    limn_pairs_set(pairs, "b", "2");
    g_ptr_array_add(pairs, limn_pair_new("a", "3"));
    g_assert_cmpstr(limn_pairs_get(pairs, "a"), ==, "1");
    limn_pairs_set(pairs, "a", limn_pairs_get(pairs, "a")); // its own value
    g_assert_cmpuint(pairs->len, ==, 2);
    g_assert_cmpstr(limn_pairs_get(pairs, "a"), ==, "1");
    limn_pairs_set(pairs, "a", NULL);
    g_assert_null(limn_pairs_get(pairs, "a"));
    g_assert_cmpuint(pairs->len, ==, 1);
}

static void
test_copy(void)
{
    LimnSessionStudy *study = make_study();
    LimnSessionStudy *copy = limn_session_study_duplicate(study);

    g_assert_cmpstr(study->id, !=, copy->id);
    g_assert_null(copy->folder);
    g_assert_true(limn_study_data_equal(&study->data, &copy->data));
    copy->data.box.x += 1;
    g_assert_false(limn_study_data_equal(&study->data, &copy->data));
    limn_study_data_copy(&copy->data, &study->data);
    g_assert_true(limn_study_data_equal(&study->data, &copy->data));
    copy->data.panes[2].other_prompt = 4;
    g_assert_false(limn_study_data_equal(&study->data, &copy->data));
    g_assert_cmpuint(limn_study_data_size(&study->data), >, sizeof(LimnStudyData));
    limn_session_study_free(study);
    limn_session_study_free(copy);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/session/state/round-trip", test_round_trip);
    g_test_add_func("/session/state/tolerant", test_tolerant);
    g_test_add_func("/session/state/malformed", test_malformed);
    g_test_add_func("/session/state/pairs", test_pairs);
    g_test_add_func("/session/state/copy", test_copy);
    return g_test_run();
}

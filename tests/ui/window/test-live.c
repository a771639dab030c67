// SPDX-License-Identifier: GPL-3.0-or-later

// The live path: sample, sentence, map and words that follow the typing, comparison.

#include "tests/ui/window/fixture.h"

#include "ui/model/document-edit.h"
#include "ui/window/grid-page.h"
#include "ui/window/welcome-page.h"

#include <math.h>
#include <string.h>

static gboolean
maps_differ(const LimnArray *a, const LimnArray *b)
{
    return a->length != b->length ||
           memcmp(a->data, b->data, (gsize) a->length * sizeof(float)) != 0;
}

static void
test_sample(void)
{
    Fixture fixture;
    LimnWelcomePage *welcome;

    fixture_start(&fixture);
    g_assert_cmpstr(limn_window_get_page(fixture.window), ==, "welcome");
    welcome = LIMN_WELCOME_PAGE(limn_window_get_welcome(fixture.window));
    g_assert_cmpuint(limn_welcome_page_get_n_samples(welcome), ==, 8);
    g_assert_true(limn_welcome_page_open_sample(welcome, 3, 1));
    g_assert_false(limn_welcome_page_open_sample(welcome, 8, 0));
    g_assert_cmpstr(limn_window_get_page(fixture.window), ==, "study");
    fixture_settle(&fixture);
    g_assert_nonnull(fixture_map(&fixture, 0));
    g_assert_cmpstr(limn_document_get_pane_text(fixture_document(&fixture), 0), ==,
                    "an automobile");
    // the map says where: most of it lies on the right half, where the car is
    {
        const LimnArray *map = fixture_map(&fixture, 0);
        const float *values = limn_array_f32(map);
        double left = 0, right = 0;

        for (gint64 i = 0; i < map->length; i++)
            *(i % map->shape[1] < map->shape[1] / 2 ? &left : &right) += values[i];
        g_assert_cmpfloat(right, >, left);
    }
    fixture_stop(&fixture);
}

// A letter at a time: the map changes at each, the picture is encoded once.
static void
test_typing(void)
{
    static const char *const letters[] = {"d", "o", "g", " ", "c", "a", "t"};
    g_autofree char *path = fixture_sample("dog-and-car.png");
    g_autoptr(LimnArray) before = NULL;
    Fixture fixture;
    guint encodings, changes = 0;

    fixture_start(&fixture);
    fixture_open(&fixture, path);
    g_assert_null(fixture_map(&fixture, 0)); // no sentence, no map
    fixture_type(&fixture, "a ");
    encodings = limn_live_get_n_encodings(limn_workspace_get_live(fixture.ws));
    g_assert_cmpuint(encodings, >, 0);
    before = limn_array_ref(fixture_map(&fixture, 0));
    for (gsize i = 0; i < G_N_ELEMENTS(letters); i++) {
        fixture_type(&fixture, letters[i]);
        if (*letters[i] == ' ')
            continue; // blanks at the end say nothing
        g_assert_nonnull(fixture_map(&fixture, 0));
        if (maps_differ(fixture_map(&fixture, 0), before))
            changes++;
        limn_array_unref(before);
        before = limn_array_ref(fixture_map(&fixture, 0));
    }
    g_assert_cmpuint(changes, ==, 6);
    g_assert_cmpuint(limn_live_get_n_encodings(limn_workspace_get_live(fixture.ws)), ==,
                     encodings);
    {
        LimnLiveResult *result = limn_document_get_result(fixture_document(&fixture), 0);

        g_assert_nonnull(result->words);
        g_assert_cmpuint(result->words->words->len, ==, 3);
        g_assert_cmpstr(result->text, ==, "a dog cat");
    }
    fixture_stop(&fixture);
}

// All letters at once: the newest sentence wins.
static void
test_latest_wins(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    GtkEditable *entry;
    Fixture fixture;

    fixture_start(&fixture);
    fixture_open(&fixture, path);
    entry = GTK_EDITABLE(limn_canvas_get_entry(fixture.canvas));
    for (int i = 0; i < 40; i++) {
        g_autofree char *text = g_strdup_printf("a dog number %d", i);

        gtk_editable_set_text(entry, text);
        g_main_context_iteration(NULL, FALSE);
    }
    fixture_settle(&fixture);
    g_assert_cmpstr(limn_document_get_result(fixture_document(&fixture), 0)->text, ==,
                    "a dog number 39");
    fixture_stop(&fixture);
}

// Hard case B29: several maps share one scale, the colour bars say the same numbers.
static void
test_split(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    Fixture fixture;
    double min0, max0, low, high, largest = 0;

    fixture_start(&fixture);
    fixture_open(&fixture, path);
    fixture_type(&fixture, "a dog");
    fixture_action(&fixture, "panes", g_variant_new_string("4"));
    fixture_settle(&fixture);
    fixture_idle(300);
    g_assert_cmpuint(limn_canvas_get_n_panes(fixture.canvas), ==, 4);
    limn_heatmap_view_get_shown_range(
        limn_pane_get_view(limn_canvas_get_pane(fixture.canvas, 0)), &min0, &max0);
    for (guint i = 0; i < 4; i++) {
        LimnHeatmapView *view =
            limn_pane_get_view(limn_canvas_get_pane(fixture.canvas, i));
        double min, max;

        g_assert_nonnull(fixture_map(&fixture, i));
        limn_heatmap_view_get_shown_range(view, &min, &max);
        g_assert_cmpfloat(min, ==, min0);
        g_assert_cmpfloat(max, ==, max0);
        g_assert_true(limn_heatmap_view_get_data_range(view, &low, &high));
        largest = MAX(largest, high);
        for (guint k = 0; k < i; k++)
            g_assert_true(
                maps_differ(fixture_map(&fixture, i), fixture_map(&fixture, k)));
    }
    g_assert_cmpfloat(max0, ==, largest);
    // unlocked, every pane has its own
    fixture_action(&fixture, "shared-scale", NULL);
    fixture_idle(200);
    for (guint i = 0; i < 4; i++) {
        LimnHeatmapView *view =
            limn_pane_get_view(limn_canvas_get_pane(fixture.canvas, i));
        double min, max;

        limn_heatmap_view_get_shown_range(view, &min, &max);
        limn_heatmap_view_get_data_range(view, &low, &high);
        g_assert_cmpfloat(max, ==, high);
    }
    fixture_stop(&fixture);
}

static void
test_difference(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    LimnDocument *doc;
    Fixture fixture;
    LimnLiveResult *result;

    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    fixture_type(&fixture, "a dog");
    limn_document_add_prompt(doc, "an automobile");
    limn_document_set_pane_compare(doc, 0, LIMN_COMPARE_DIFFERENCE, "grad-eclip", 0);
    fixture_settle(&fixture);
    result = limn_document_get_result(doc, 0);
    g_assert_nonnull(result->difference);
    g_assert_true(fixture_map(&fixture, 0) == result->difference);
    g_assert_true(limn_pane_is_signed(limn_canvas_get_pane(fixture.canvas, 0)));
    for (gint64 i = 0; i < result->difference->length; i++)
        g_assert_cmpfloat(limn_array_f32(result->difference)[i], ==,
                          limn_array_f32(result->explanation->map)[i] -
                              limn_array_f32(result->other->map)[i]);
    limn_document_set_pane_compare(doc, 0, LIMN_COMPARE_DIVIDER, "game", 0);
    fixture_settle(&fixture);
    g_assert_cmpfloat(limn_heatmap_view_get_divider(
                          limn_pane_get_view(limn_canvas_get_pane(fixture.canvas, 0))),
                      ==, 0.5);
    limn_document_set_pane_compare(doc, 0, LIMN_COMPARE_NONE, NULL, 0);
    fixture_settle(&fixture);
    g_assert_false(limn_pane_is_signed(limn_canvas_get_pane(fixture.canvas, 0)));
    fixture_stop(&fixture);
}

static void
test_word(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    LimnDocument *doc;
    Fixture fixture;
    g_autofree char *without = limn_canvas_word_text("a red dog", 2, 5, TRUE);
    g_autofree char *alone = limn_canvas_word_text("a red dog", 2, 5, FALSE);

    g_assert_cmpstr(without, ==, "a dog");
    g_assert_cmpstr(alone, ==, "red");
    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    fixture_type(&fixture, "a dog and a car");
    g_signal_emit_by_name(limn_canvas_get_words(fixture.canvas), "word-activated", 2u, 5u,
                          FALSE);
    fixture_settle(&fixture);
    g_assert_cmpstr(limn_document_get_result(doc, 0)->text, ==, "dog");
    g_assert_nonnull(limn_pane_get_note(limn_canvas_get_pane(fixture.canvas, 0)));
    // the sentence itself is as it was
    g_assert_cmpstr(limn_document_get_prompt(doc, 0), ==, "a dog and a car");
    limn_document_set_override(doc, 0, NULL, NULL);
    fixture_settle(&fixture);
    g_assert_cmpstr(limn_document_get_result(doc, 0)->text, ==, "a dog and a car");
    g_assert_null(limn_pane_get_note(limn_canvas_get_pane(fixture.canvas, 0)));
    g_signal_emit_by_name(limn_canvas_get_words(fixture.canvas), "word-activated", 2u, 5u,
                          TRUE);
    fixture_settle(&fixture);
    g_assert_cmpstr(limn_document_get_result(doc, 0)->text, ==, "a and a car");
    fixture_stop(&fixture);
}

static gboolean
grid_is_done(gpointer data)
{
    LimnGridPage *page = data;

    return limn_grid_page_get_n_done(page) == limn_grid_page_get_n_cells(page);
}

static void
test_grid(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    LimnDocument *doc;
    LimnGridPage *page;
    Fixture fixture;
    guint encodings;

    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    fixture_type(&fixture, "a dog");
    limn_document_add_prompt(doc, "an automobile");
    fixture_settle(&fixture);
    encodings = limn_live_get_n_encodings(limn_workspace_get_live(fixture.ws));
    page = LIMN_GRID_PAGE(limn_canvas_get_grid(fixture.canvas));
    fixture_action(&fixture, "grid", NULL);
    g_assert_cmpuint(limn_grid_page_get_n_cells(page), ==, 2 * 9);
    g_assert_cmpuint(limn_grid_page_get_n_done(page), ==, 0);
    fixture_action(&fixture, "fill-grid", NULL);
    fixture_wait(grid_is_done, page, "the grid");
    g_assert_cmpuint(limn_live_get_n_encodings(limn_workspace_get_live(fixture.ws)), ==,
                     encodings);
    // the columns can be chosen; another choice is another grid
    limn_document_set_grid_methods(doc, (const char *[]){"grad-eclip", "game", NULL});
    g_assert_cmpuint(limn_grid_page_get_n_cells(page), ==, 4);
    fixture_action(&fixture, "fill-grid", NULL);
    limn_workspace_cancel_grid(fixture.ws);
    fixture_settle(&fixture);
    fixture_stop(&fixture);
}

// Hard case B46: too long, empty and blank sentences.
static void
test_long_text(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    g_autoptr(GString) text = g_string_new(NULL);
    GtkEditable *entry;
    Fixture fixture;
    LimnLiveResult *result;

    for (int i = 0; i < 44; i++)
        g_string_append_printf(text, "%d ", 100000 + i * 7919);
    fixture_start(&fixture);
    fixture_open(&fixture, path);
    entry = GTK_EDITABLE(limn_canvas_get_entry(fixture.canvas));
    gtk_editable_set_text(entry, text->str);
    fixture_settle(&fixture);
    result = limn_document_get_result(fixture_document(&fixture), 0);
    g_assert_no_error(result->error);
    g_assert_true(result->words->truncated);
    g_assert_cmpuint(result->words->used_bytes, <, strlen(text->str));
    g_assert_nonnull(strstr(limn_pane_get_note(limn_canvas_get_pane(fixture.canvas, 0)),
                            "longer than the model reads"));
    gtk_editable_set_text(entry, "");
    fixture_settle(&fixture);
    g_assert_null(fixture_map(&fixture, 0));
    gtk_editable_set_text(entry, "   ");
    fixture_settle(&fixture);
    gtk_editable_set_text(entry, "\xf0\x9f\x90\xb6 d\xc3\xb6g <b>&amp;");
    fixture_settle(&fixture);
    g_assert_nonnull(fixture_map(&fixture, 0));
    fixture_stop(&fixture);
}

// A list of a thousand sentences: typing in one of them costs one map, not a thousand.
static void
test_many_prompts(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    g_auto(GStrv) texts = g_new0(char *, 1001);
    LimnDocument *doc;
    Fixture fixture;
    double cosine, logit;

    for (int i = 0; i < 1000; i++)
        texts[i] = g_strdup_printf("a thing number %d", i);
    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    limn_document_set_prompts(doc, (const char *const *) texts);
    fixture_settle(&fixture);
    fixture_idle(100);
    for (guint i = 0; i < 1000; i++)
        g_assert_true(limn_document_get_score(doc, i, &cosine, &logit));
    limn_document_set_pane_prompt(doc, 0, 999);
    fixture_type(&fixture, "!");
    g_assert_cmpstr(limn_document_get_result(doc, 0)->text, ==, "a thing number 999!");
    fixture_action(&fixture, "grid", NULL);
    fixture_idle(50);
    g_assert_cmpuint(
        limn_grid_page_get_n_cells(LIMN_GRID_PAGE(limn_canvas_get_grid(fixture.canvas))),
        <=, 50 * 11);
    fixture_stop(&fixture);
}

static gboolean
has_text(gpointer data)
{
    LimnLiveResult *result = limn_document_get_result(data, 0);

    return result && g_str_equal(result->text, "a dog");
}

static gboolean
has_no_job(gpointer ws)
{
    return limn_workspace_get_n_jobs(ws) == 0;
}

// A job that computes does not keep a sentence waiting, and ends when it is cancelled.
static void
test_job_yields(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    LimnDocument *shown, *job;
    Fixture fixture;

    fixture_start(&fixture);
    shown = fixture_open(&fixture, path);
    job = limn_workspace_new_study(fixture.ws, "attention-maps");
    limn_document_add_prompt(job, "a dog");
    limn_document_set_parameter(job, "method", "rise");
    limn_document_set_parameter(job, "rise-masks", "1000000");
    limn_document_edit_view(job)->live = FALSE;
    g_assert_true(limn_workspace_run(fixture.ws, job));
    limn_workspace_set_current(fixture.ws, shown);
    fixture_idle(500);
    g_assert_cmpuint(limn_workspace_get_n_jobs(fixture.ws), ==, 1);
    gtk_editable_set_text(GTK_EDITABLE(limn_canvas_get_entry(fixture.canvas)), "a dog");
    fixture_wait(has_text, shown, "the map beside the job");
    g_assert_cmpuint(limn_workspace_get_n_jobs(fixture.ws), ==, 1);
    fixture_action(&fixture, "cancel", NULL);
    fixture_wait(has_no_job, fixture.ws, "the end of the job");
    g_assert_cmpint(limn_document_get_study(job)->status, ==, LIMN_STUDY_NEW);
    g_assert_null(limn_document_get_study(job)->folder);
    fixture_stop(&fixture);
}

// Studies that were not shown for a while give their pictures back, and get them again.
static void
test_sleep(void)
{
    static const char *const names[] = {"desk.png", "night.png", "music.png",
                                        "harbour.png", "breakfast.png"};
    LimnDocument *docs[G_N_ELEMENTS(names)];
    Fixture fixture;

    fixture_start(&fixture);
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = fixture_sample(names[i]);

        docs[i] = fixture_open(&fixture, path);
        fixture_type(&fixture, "a b");
    }
    limn_camera_set_state(limn_document_get_camera(docs[4]), 3, 100, 120);
    g_assert_null(limn_document_get_picture(docs[0]));
    g_assert_nonnull(limn_document_get_picture(docs[1]));
    limn_workspace_set_current(fixture.ws, docs[0]);
    fixture_settle(&fixture);
    g_assert_nonnull(limn_document_get_picture(docs[0]));
    g_assert_nonnull(fixture_map(&fixture, 0));
    g_assert_cmpstr(limn_document_get_prompt(docs[0], 0), ==, "a b");
    g_assert_null(limn_document_get_picture(docs[1]));
    for (int i = 1; i < 4; i++) {
        limn_workspace_set_current(fixture.ws, docs[i]);
        fixture_settle(&fixture);
    }
    g_assert_null(limn_document_get_picture(docs[4]));
    limn_workspace_set_current(fixture.ws, docs[4]);
    fixture_settle(&fixture);
    {
        double zoom, cx, cy;

        limn_camera_get_state(limn_document_get_camera(docs[4]), &zoom, &cx, &cy);
        g_assert_cmpfloat(zoom, ==, 3); // looked at as before
        g_assert_cmpfloat(cx, ==, 100);
    }
    fixture_stop(&fixture);
}

static void
test_region(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    g_autofree char *labels = fixture_sample("dog-and-car_labels.png");
    LimnRect box = {30, 190, 220, 220};
    LimnHeatmapView *view;
    LimnDocument *doc;
    Fixture fixture;
    double energy = 0, iou = 0;

    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    fixture_type(&fixture, "a dog");
    view = limn_pane_get_view(limn_canvas_get_pane(fixture.canvas, 0));
    limn_document_set_box(doc, &box);
    fixture_idle(300);
    g_assert_true(limn_heatmap_view_measure(view, &energy, &iou));
    g_assert_cmpfloat(energy, >, 0.5); // the dog is there
    g_assert_cmpfloat(energy, <=, 1);
    fixture_action(&fixture, "clear-region", NULL);
    g_assert_false(limn_document_get_data(doc)->has_box);
    limn_document_set_mask(doc, labels);
    for (int i = 0; i < 300 && !limn_document_get_mask(doc); i++)
        fixture_idle(20);
    g_assert_nonnull(limn_document_get_mask(doc));
    fixture_idle(300);
    g_assert_true(limn_heatmap_view_measure(view, &energy, &iou));
    // undo takes the mask away, then brings the box back, and nothing else changes
    fixture_action(&fixture, "undo", NULL);
    g_assert_null(limn_document_get_data(doc)->mask);
    fixture_action(&fixture, "undo", NULL);
    g_assert_true(limn_document_get_data(doc)->has_box);
    g_assert_cmpstr(limn_document_get_prompt(doc, 0), ==, "a dog");
    fixture_stop(&fixture);
}

int
main(int argc, char **argv)
{
    int status;

    if (!fixture_main_init(&argc, &argv))
        return 0;
    g_test_add_func("/window/live/sample", test_sample);
    g_test_add_func("/window/live/typing", test_typing);
    g_test_add_func("/window/live/latest-wins", test_latest_wins);
    g_test_add_func("/hard/B29-shared-scale", test_split);
    g_test_add_func("/window/live/difference", test_difference);
    g_test_add_func("/window/live/word", test_word);
    g_test_add_func("/window/live/grid", test_grid);
    g_test_add_func("/hard/B46-long-text", test_long_text);
    g_test_add_func("/window/live/many-prompts", test_many_prompts);
    g_test_add_func("/window/live/job-yields", test_job_yields);
    g_test_add_func("/window/live/sleep", test_sleep);
    g_test_add_func("/window/live/region", test_region);
    status = g_test_run();
    fixture_main_end();
    return status;
}

// SPDX-License-Identifier: GPL-3.0-or-later

// The views as a person sees them, light and dark; with LIMN_SNAPSHOT_DIR set every
// picture is kept for looking at.

#include "tests/ui/views/fixture.h"
#include "ui/view/text-view.h"

#include <math.h>

static void
snap(Fixture *fixture, LimnHeatmapView *view, const char *name)
{
    for (int dark = 0; dark < 2; dark++) {
        g_autofree char *full = g_strdup_printf("%s-%s", name, dark ? "dark" : "light");

        fixture_set_dark(dark);
        if (view != NULL)
            fixture_settle(view);
        else
            fixture_idle(200);
        cairo_surface_destroy(fixture_snapshot(fixture, full));
    }
    fixture_set_dark(FALSE);
}

static LimnHeatmapView *
new_view(const char *sample, LimnArray *map)
{
    g_autoptr(LimnImage) picture = fixture_load_sample(sample);
    LimnHeatmapView *view = LIMN_HEATMAP_VIEW(limn_heatmap_view_new());

    limn_heatmap_view_set_picture(view, picture);
    if (map != NULL)
        limn_heatmap_view_set_map(view, map, NULL, FALSE);
    return view;
}

static void
test_single(void)
{
    g_autoptr(LimnArray) map = fixture_load_map(0);
    LimnHeatmapView *view = new_view("dog-and-car.png", map);
    Fixture fixture;

    limn_heatmap_view_set_title(view, "a dog");
    fixture_init(&fixture, GTK_WIDGET(view), 1280, 800);
    snap(&fixture, view, "single");
    limn_heatmap_view_set_contours(view, TRUE);
    limn_heatmap_view_set_box(view, &(LimnRect){40, 200, 200, 200});
    limn_heatmap_view_set_tool(view, LIMN_TOOL_BOX);
    snap(&fixture, view, "box");
    gtk_window_set_default_size(GTK_WINDOW(fixture.window), 1024, 600);
    fixture_settle(view);
    limn_heatmap_view_set_interpolate(view, FALSE);
    limn_heatmap_view_set_contours(view, FALSE);
    snap(&fixture, view, "single-1024");
    fixture_clear(&fixture);
}

static void
test_crop(void)
{
    g_autoptr(LimnArray) map = fixture_load_map(1);
    g_autoptr(LimnImage) labels = fixture_load_labels("dog-and-car.png");
    LimnHeatmapView *view = new_view("dog-and-car.png", NULL);
    Fixture fixture;

    limn_heatmap_view_set_map(view, map, &(LimnRect){64, 30, 340, 380}, TRUE);
    limn_heatmap_view_set_title(view, "an automobile, signed, with a crop");
    limn_heatmap_view_set_mask(view, labels);
    fixture_init(&fixture, GTK_WIDGET(view), 1280, 800);
    snap(&fixture, view, "crop");
    fixture_clear(&fixture);
}

static void
test_divider(void)
{
    g_autoptr(LimnArray) dog = fixture_load_map(0);
    g_autoptr(LimnArray) car = fixture_load_map(1);
    LimnHeatmapView *view = new_view("dog-and-car.png", dog);
    Fixture fixture;

    limn_heatmap_view_set_title(view, "a dog");
    limn_heatmap_view_set_second_map(view, car, NULL, FALSE, "an automobile");
    limn_heatmap_view_set_divider(view, 0.48);
    limn_heatmap_view_set_percentile(view, TRUE);
    fixture_init(&fixture, GTK_WIDGET(view), 1024, 600);
    snap(&fixture, view, "divider");
    fixture_clear(&fixture);
}

static void
test_states(void)
{
    static const char *names[] = {"Some cells have no value", "Nothing has a value",
                                  "Constant", "A map alone"};
    GtkWidget *grid = gtk_grid_new();
    LimnHeatmapView *view = NULL;
    Fixture fixture;

    gtk_grid_set_row_homogeneous(GTK_GRID(grid), TRUE);
    gtk_grid_set_column_homogeneous(GTK_GRID(grid), TRUE);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 1);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 1);
    for (int i = 0; i < 4; i++) {
        g_autoptr(LimnArray) map = fixture_make_map(14, 14);

        for (int j = 0; j < 14 * 14; j++) {
            if (i == 1 || (i == 0 && j % 14 < 3))
                limn_array_f32(map)[j] = NAN;
            if (i == 2)
                limn_array_f32(map)[j] = 0.3f;
        }
        view = new_view("night.png", map);
        if (i == 3)
            limn_heatmap_view_set_picture(view, NULL);
        limn_heatmap_view_set_title(view, names[i]);
        gtk_grid_attach(GTK_GRID(grid), GTK_WIDGET(view), i % 2, i / 2, 1, 1);
    }
    fixture_init(&fixture, grid, 1280, 800);
    snap(&fixture, view, "states");
    fixture_clear(&fixture);
}

static void
test_panes(void)
{
    static const char *names[] = {"Grad-ECLIP", "Grad-CAM", "Raw attention",
                                  "CLIP Surgery"};
    g_autoptr(LimnCamera) camera = limn_camera_new();
    GtkWidget *grid = gtk_grid_new();
    LimnHeatmapView *view = NULL;
    Fixture fixture;

    gtk_grid_set_row_homogeneous(GTK_GRID(grid), TRUE);
    gtk_grid_set_column_homogeneous(GTK_GRID(grid), TRUE);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 1);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 1);
    for (int i = 0; i < 4; i++) {
        g_autoptr(LimnArray) map = fixture_load_map(i % 2);

        view = new_view("dog-and-car.png", map);
        limn_heatmap_view_set_camera(view, camera);
        limn_heatmap_view_set_range_mode(view, LIMN_RANGE_SHARED);
        limn_heatmap_view_set_range(view, 0, 0.02);
        limn_heatmap_view_set_title(view, names[i]);
        gtk_grid_attach(GTK_GRID(grid), GTK_WIDGET(view), i % 2, i / 2, 1, 1);
    }
    fixture_init(&fixture, grid, 700, 480);
    snap(&fixture, view, "panes");
    fixture_clear(&fixture);
}

// ---- text

static LimnTextItem *
make_item(const char *text, const char *const *words, const double *weights)
{
    LimnTextItem *item = limn_text_item_new(text);
    const char *at = text;

    for (int i = 0; words[i] != NULL; i++) {
        const char *found = strstr(at, words[i]);
        LimnTextWord word = {found - text, found - text + strlen(words[i]), weights[i]};
        LimnTextToken token = {100 + i, word.begin, word.end,
                               g_strconcat(words[i], "</w>", NULL), weights[i]};

        g_array_append_val(item->words, word);
        g_array_append_val(item->tokens, token);
        at = found + strlen(words[i]);
    }
    return item;
}

static void
append_text(GtkWidget *box, const char *text, const char *const *words,
            const double *weights, gsize used, const char *message)
{
    LimnTextItem *item = text != NULL ? make_item(text, words, weights) : NULL;
    GtkWidget *view = limn_text_view_new();

    if (used > 0) {
        item->truncated = TRUE;
        item->used_bytes = used;
    }
    limn_text_view_set_item(LIMN_TEXT_VIEW(view), item);
    limn_text_view_set_message(LIMN_TEXT_VIEW(view), message);
    gtk_box_append(GTK_BOX(box), view);
    if (item != NULL)
        limn_text_item_free(item);
}

static void
test_text(void)
{
    static const char *const plain[] = {"a",   "photo", "of",  "a", "dog",
                                        "and", "a",     "car", NULL};
    static const double plain_weights[] = {0.02, 0.11, 0.01, 0.02,
                                           0.52, 0.05, 0.03, 0.24};
    static const char *const rtl[] = {"كلب", "وسيارة", "حمراء", NULL};
    static const double rtl_weights[] = {0.5, -0.2, 0.3};
    static const char *const emoji[] = {"🐕", "&", "<b>dog</b>",
                                        "👩‍👩‍👧‍👦", NULL};
    static const double emoji_weights[] = {0.4, -0.35, 0.2, 0.05};
    static const char *const zero[] = {"nothing", "helps", NULL};
    static const double zeros[] = {0, 0};
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 28);
    Fixture fixture;

    gtk_widget_set_margin_top(box, 18);
    gtk_widget_set_margin_start(box, 18);
    gtk_widget_set_margin_end(box, 18);
    append_text(box, "a photo of a dog and a car", plain, plain_weights, 0, NULL);
    append_text(box, "كلب وسيارة حمراء", rtl, rtl_weights, 0, NULL);
    append_text(box, "🐕 & <b>dog</b> 👩‍👩‍👧‍👦", emoji, emoji_weights,
                0, NULL);
    append_text(box, "nothing helps, and the rest was too long for the model to read",
                zero, zeros, 13, "No word raises the score.");
    append_text(box, NULL, NULL, NULL, 0, NULL);
    fixture_init(&fixture, box, 620, 560);
    snap(&fixture, NULL, "text");
    fixture_clear(&fixture);
}

int
main(int argc, char **argv)
{
    gtk_test_init(&argc, &argv, NULL);
    g_test_add_func("/gallery/single", test_single);
    g_test_add_func("/gallery/crop", test_crop);
    g_test_add_func("/gallery/divider", test_divider);
    g_test_add_func("/gallery/states", test_states);
    g_test_add_func("/gallery/panes", test_panes);
    g_test_add_func("/gallery/text", test_text);
    return g_test_run();
}

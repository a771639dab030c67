// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/palette.h"
#include "tests/ui/views/fixture.h"
#include "ui/view/text-view.h"
#include "ui/widget/word-button.h"
#include "ui/widget/wrap-box.h"

#include <math.h>
#include <string.h>

typedef struct {
    Fixture fixture;
    LimnTextView *view;
    int n;
    guint begin, end;
    gboolean without;
} Pane;

static void
on_word(LimnTextView *view, guint begin, guint end, gboolean without, Pane *pane)
{
    pane->n++;
    pane->begin = begin;
    pane->end = end;
    pane->without = without;
}

static void
pane_init(Pane *pane)
{
    memset(pane, 0, sizeof(*pane));
    pane->view = LIMN_TEXT_VIEW(limn_text_view_new());
    g_signal_connect(pane->view, "word-activated", G_CALLBACK(on_word), pane);
    fixture_init(&pane->fixture, GTK_WIDGET(pane->view), 360, 300);
}

// Weights are given for the runs of letters between blanks.
static LimnTextItem *
make_item(const char *text, const double *weights, int n)
{
    LimnTextItem *item = limn_text_item_new(text);
    const char *at = text;

    for (int i = 0; i < n; i++) {
        gsize length = strcspn(at, " ");
        LimnTextWord word = {at - text, at - text + length, weights[i]};
        LimnTextToken token = {i + 1, word.begin, word.end, g_strndup(at, length),
                               weights[i]};

        g_array_append_val(item->words, word);
        g_array_append_val(item->tokens, token);
        at += length + strspn(at + length, " ");
    }
    return item;
}

static void
set_text(Pane *pane, const char *text, const double *weights, int n)
{
    LimnTextItem *item = make_item(text, weights, n);

    limn_text_view_set_item(pane->view, item);
    limn_text_item_free(item);
}

// Visible descendants of a type, in order.
static void
collect(GtkWidget *widget, GType type, GPtrArray *found)
{
    if (!gtk_widget_get_visible(widget))
        return;
    if (G_TYPE_CHECK_INSTANCE_TYPE(widget, type)) {
        g_ptr_array_add(found, widget);
        return;
    }
    for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL;
         child = gtk_widget_get_next_sibling(child))
        collect(child, type, found);
}

static GPtrArray *
find_all(Pane *pane, GType type)
{
    GPtrArray *found = g_ptr_array_new();

    collect(GTK_WIDGET(pane->view), type, found);
    return found;
}

static const char *
word_text(GtkWidget *button)
{
    return gtk_label_get_text(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(button))));
}

static void
test_words(void)
{
    static const double weights[] = {0.1, 0.6, 0.3};
    g_autoptr(GPtrArray) buttons = NULL;
    const char *tooltip;
    Pane pane;

    pane_init(&pane);
    set_text(&pane, "a dog runs", weights, 3);
    buttons = find_all(&pane, LIMN_TYPE_WORD_BUTTON);
    g_assert_cmpint(buttons->len, ==, 3);
    g_assert_cmpstr(word_text(buttons->pdata[1]), ==, "dog");
    gtk_test_accessible_assert_role(GTK_ACCESSIBLE(buttons->pdata[1]),
                                    GTK_ACCESSIBLE_ROLE_BUTTON);
    gtk_test_accessible_assert_property(GTK_ACCESSIBLE(buttons->pdata[1]),
                                        GTK_ACCESSIBLE_PROPERTY_LABEL, "dog, weight 0.6");
    tooltip = gtk_widget_get_tooltip_text(buttons->pdata[2]);
    g_assert_nonnull(strstr(tooltip, "Weight 0.3 (50 % of the largest)"));
    g_assert_nonnull(strstr(tooltip, "\nruns  0.3"));
    g_signal_emit_by_name(buttons->pdata[1], "clicked");
    g_assert_cmpint(pane.n, ==, 1);
    g_assert_cmpint(pane.begin, ==, 2);
    g_assert_cmpint(pane.end, ==, 5);
    g_assert_false(pane.without);
    g_assert_true(gtk_widget_activate_action(buttons->pdata[2], "word.without", NULL));
    g_assert_cmpint(pane.begin, ==, 6);
    g_assert_true(pane.without);
    g_assert_true(gtk_widget_activate_action(buttons->pdata[2], "word.alone", NULL));
    g_assert_false(pane.without);
    g_assert_true(gtk_widget_activate_action(buttons->pdata[0], "word.menu", NULL));
    fixture_idle(100);
    // the first entry has the focus
    if (fixture_input("key Return"))
        g_assert_cmpint(pane.begin, ==, 0);
    fixture_idle(200);
    fixture_clear(&pane.fixture);
}

// Keys and pointer as they come from the server.
static void
test_input(void)
{
    static const double weights[] = {0.1, 0.6, 0.3};
    g_autoptr(GPtrArray) buttons = NULL;
    graphene_rect_t bounds;
    g_autofree char *click = NULL;
    g_autofree char *with_shift = NULL;
    Pane pane;
    int x, y;

    pane_init(&pane);
    set_text(&pane, "a dog runs", weights, 3);
    fixture_idle(100);
    buttons = find_all(&pane, LIMN_TYPE_WORD_BUTTON);
    g_assert_true(
        gtk_widget_compute_bounds(buttons->pdata[1], pane.fixture.window, &bounds));
    x = bounds.origin.x + bounds.size.width / 2;
    y = bounds.origin.y + bounds.size.height / 2;
    click = g_strdup_printf("mousemove %d %d click 1", x, y);
    with_shift =
        g_strdup_printf("keydown shift mousemove %d %d click 1 keyup shift", x, y);
    if (fixture_input(click)) {
        g_assert_cmpint(pane.n, ==, 1);
        g_assert_cmpint(pane.begin, ==, 2);
        g_assert_false(pane.without);
        fixture_input(with_shift);
        g_assert_cmpint(pane.n, ==, 2);
        g_assert_true(pane.without);
        fixture_input("key Tab"); // to the next word
        fixture_input("key Return");
        g_assert_cmpint(pane.n, ==, 3);
        g_assert_cmpint(pane.begin, ==, 6);
        g_assert_false(pane.without);
        fixture_input("key shift+Return");
        g_assert_cmpint(pane.n, ==, 4);
        g_assert_true(pane.without);
        fixture_input("mousemove 5000 5000");
    }
    fixture_idle(200);
    fixture_clear(&pane.fixture);
}

// Buttons stay while the sentence grows, so that the focus does.
static void
test_typing(void)
{
    static const double weights[] = {0.1, 0.6, 0.3, 0.2};
    g_autoptr(GPtrArray) before = NULL;
    g_autoptr(GPtrArray) after = NULL;
    Pane pane;

    pane_init(&pane);
    set_text(&pane, "a dog", weights, 2);
    before = find_all(&pane, LIMN_TYPE_WORD_BUTTON);
    gtk_widget_grab_focus(before->pdata[1]);
    set_text(&pane, "a dog and more", weights, 4);
    after = find_all(&pane, LIMN_TYPE_WORD_BUTTON);
    g_assert_cmpint(after->len, ==, 4);
    g_assert_true(before->pdata[1] == after->pdata[1]);
    g_assert_true(gtk_widget_has_focus(after->pdata[1]));
    set_text(&pane, "a", weights, 1);
    g_ptr_array_set_size(after, 0);
    collect(GTK_WIDGET(pane.view), LIMN_TYPE_WORD_BUTTON, after);
    g_assert_cmpint(after->len, ==, 1);
    limn_text_view_set_item(pane.view, NULL);
    g_ptr_array_set_size(after, 0);
    collect(GTK_WIDGET(pane.view), LIMN_TYPE_WORD_BUTTON, after);
    g_assert_cmpint(after->len, ==, 0);
    fixture_clear(&pane.fixture);
}

static gboolean
shows_label(Pane *pane, const char *part)
{
    g_autoptr(GPtrArray) labels = find_all(pane, GTK_TYPE_LABEL);
    gboolean found = FALSE;

    for (guint i = 0; i < labels->len; i++)
        found |= strstr(gtk_label_get_text(labels->pdata[i]), part) != NULL;
    return found;
}

static void
test_truncated(void)
{
    static const double weights[] = {0.1, 0.6};
    LimnTextItem *item = make_item("a dog, too long for it", weights, 1);
    LimnTextWord word = {2, 5, 0.6};
    Pane pane;

    g_array_append_val(item->words, word);
    item->truncated = TRUE;
    item->used_bytes = 6;
    pane_init(&pane);
    limn_text_view_set_item(pane.view, item);
    g_assert_true(shows_label(&pane, "longer than the model reads"));
    g_assert_true(shows_label(&pane, ","));
    g_assert_true(shows_label(&pane, "long"));
    item->truncated = FALSE;
    limn_text_view_set_item(pane.view, item);
    g_assert_false(shows_label(&pane, "longer than the model reads"));
    limn_text_item_free(item);
    limn_text_view_set_message(pane.view, "No word raises the score.");
    g_assert_true(shows_label(&pane, "No word raises"));
    limn_text_view_set_message(pane.view, NULL);
    g_assert_false(shows_label(&pane, "No word raises"));
    limn_text_view_set_item(pane.view, NULL);
    g_assert_true(shows_label(&pane, "No sentence yet"));
    fixture_clear(&pane.fixture);
}

// Hard case B34: signs, markup, right to left, emoji, very long words, odd bytes.
static void
test_odd_texts(void)
{
    static const double weights[] = {-0.5, 0.2, 0.1};
    g_autofree char *endless = g_strnfill(900, 'x');
    g_autofree char *with_endless = g_strconcat("a ", endless, " b", NULL);
    static const double not_finite[] = {NAN, INFINITY};
    g_autoptr(GPtrArray) buttons = NULL;
    g_autoptr(GPtrArray) boxes = NULL;
    Pane pane;

    pane_init(&pane);
    set_text(&pane, "<b>&amp;</b> \"quoted\" 100%", weights, 3);
    buttons = find_all(&pane, LIMN_TYPE_WORD_BUTTON);
    g_assert_cmpstr(word_text(buttons->pdata[0]), ==, "<b>&amp;</b>");
    g_assert_true(shows_label(&pane, "purple against"));
    fixture_idle(60);
    set_text(&pane, "كلب وسيارة", weights, 2);
    boxes = find_all(&pane, LIMN_TYPE_WORD_BUTTON);
    g_assert_cmpint(gtk_widget_get_direction(gtk_widget_get_parent(boxes->pdata[0])), ==,
                    GTK_TEXT_DIR_RTL);
    fixture_idle(60);
    set_text(&pane, "🐕 👩‍👩‍👧‍👦", weights, 2);
    fixture_idle(60);
    set_text(&pane, with_endless, weights, 3);
    fixture_idle(60);
    g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(pane.view)), <=, 500);
    set_text(&pane, "bad \xff\xfe bytes", weights, 3);
    fixture_idle(60);
    set_text(&pane, "nan inf", not_finite, 2);
    fixture_idle(60);
    set_text(&pane, "   ", weights, 0);
    fixture_idle(60);
    fixture_clear(&pane.fixture);
}

// Words that do not lie in the text are left out instead of read beyond it.
static void
test_foreign_words(void)
{
    static const double weights[] = {0.1, 0.6};
    LimnTextItem *item = make_item("a dog", weights, 2);
    LimnTextWord beyond = {3, 500, 0.1}, reversed = {4, 2, 0.1}, before = {0, 1, 0.1};
    g_autoptr(GPtrArray) buttons = NULL;
    Pane pane;

    g_array_append_val(item->words, beyond);
    g_array_append_val(item->words, reversed);
    g_array_append_val(item->words, before);
    pane_init(&pane);
    limn_text_view_set_item(pane.view, item);
    buttons = find_all(&pane, LIMN_TYPE_WORD_BUTTON);
    g_assert_cmpint(buttons->len, ==, 2);
    limn_text_item_free(item);
    fixture_clear(&pane.fixture);
}

// Hard case B35: ink can be read on every background, in both themes.
static void
test_contrast(void)
{
    for (int dark = 0; dark < 2; dark++) {
        for (int i = -20; i <= 20; i++) {
            GdkRGBA color;
            LimnColor background, ink;

            limn_word_color(i / 20.0, dark, &color);
            background = (LimnColor){color.red, color.green, color.blue, 1};
            ink = limn_color_readable_on(background);
            g_assert_cmpfloat(limn_color_contrast(ink, background), >=, 4.5);
        }
    }
}

static void
test_wrap_box(void)
{
    GtkWidget *box = g_object_ref_sink(limn_wrap_box_new(4, 6));
    GtkWidget *children[3];
    int minimum, natural;

    for (int i = 0; i < 3; i++) {
        children[i] = gtk_drawing_area_new();
        gtk_widget_set_size_request(children[i], 50, 10 + i);
        gtk_widget_set_parent(children[i], box);
    }
    gtk_widget_measure(box, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &natural, NULL,
                       NULL);
    g_assert_cmpint(minimum, ==, 50);
    g_assert_cmpint(natural, ==, 158);
    gtk_widget_measure(box, GTK_ORIENTATION_VERTICAL, 158, &minimum, &natural, NULL,
                       NULL);
    g_assert_cmpint(minimum, ==, 12);
    gtk_widget_measure(box, GTK_ORIENTATION_VERTICAL, 157, &minimum, &natural, NULL,
                       NULL);
    g_assert_cmpint(minimum, ==, 11 + 6 + 12);
    gtk_widget_set_visible(children[1], FALSE);
    gtk_widget_measure(box, GTK_ORIENTATION_VERTICAL, 60, &minimum, &natural, NULL, NULL);
    g_assert_cmpint(minimum, ==, 10 + 6 + 12);
    g_object_unref(box);
}

int
main(int argc, char **argv)
{
    gtk_test_init(&argc, &argv, NULL);
    g_test_add_func("/text-view/words", test_words);
    g_test_add_func("/text-view/input", test_input);
    g_test_add_func("/text-view/typing", test_typing);
    g_test_add_func("/text-view/truncated", test_truncated);
    g_test_add_func("/text-view/hard/B34-odd-texts", test_odd_texts);
    g_test_add_func("/text-view/foreign-words", test_foreign_words);
    g_test_add_func("/text-view/hard/B35-contrast", test_contrast);
    g_test_add_func("/text-view/wrap-box", test_wrap_box);
    return g_test_run();
}

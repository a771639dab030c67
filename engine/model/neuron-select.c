// SPDX-License-Identifier: GPL-3.0-or-later

// Stage 2 of an explanation: which concepts of the ranking it holds.

#include <math.h>
#include <string.h>

#include "engine/model/neuron-fit.h"

#define MOST LIMN_NEURON_MAX_LENGTH

// One search.
typedef struct {
    const LimnNeuronProblem *problem;
    const LimnNeuronOptions *options;
    const LimnNeuronTarget *target;
    const guint32 *order;
} Search;

static void
take(LimnNeuronExplanation *e, const guint32 *set, gsize length, const double *weights,
     double bias, double rho)
{
    e->length = length;
    memcpy(e->concepts, set, length * sizeof *set);
    memcpy(e->weights, weights, length * sizeof *weights);
    e->bias = bias;
    e->val_correlation = rho;
}

// ---- greedy

// A position of the order that was a candidate; moments on val that it needed so far.
typedef struct {
    gboolean chosen, bad;
    double with_target;
    double with_chosen[MOST]; // by the order in which they were chosen
    gsize n_with_chosen;
} Slot;

typedef struct {
    Search search;
    GArray *slots;
    gsize chosen[MOST]; // positions
    gsize length;
    guint32 best_set[MOST];
} Greedy;

// The slot of a position, made when the position is first reached (in order).
static Slot *
get_slot(Greedy *g, gsize position)
{
    const Search *s = &g->search;
    while (g->slots->len <= position) {
        Slot slot = {.with_target = limn_neuron_val_target_moment(
                         s->problem, s->target, s->order[g->slots->len])};
        g_array_append_val(g->slots, slot);
    }
    return &g_array_index(g->slots, Slot, position);
}

static void
complete_slot(Greedy *g, gsize position, Slot *slot)
{
    const Search *s = &g->search;
    for (; slot->n_with_chosen < g->length; slot->n_with_chosen++) {
        gsize other = g->chosen[slot->n_with_chosen];
        slot->with_chosen[slot->n_with_chosen] =
            limn_neuron_val_moment(s->problem, s->order[position], s->order[other]);
    }
}

// Fit of what is chosen and the candidate; the correlation on val.
static double
try_candidate(Greedy *g, gsize position, double *weights, double *bias)
{
    const Search *s = &g->search;
    double moments[MOST * MOST], with_target[MOST];
    guint32 set[MOST];
    gsize n = g->length + 1;
    (void) get_slot(g, position); // may move the others
    for (gsize i = 0; i < n; i++) {
        gsize at = i < g->length ? g->chosen[i] : position;
        Slot *slot = &g_array_index(g->slots, Slot, at);
        complete_slot(g, at, slot);
        set[i] = s->order[at];
        with_target[i] = slot->with_target;
        for (gsize j = 0; j < i; j++) {
            moments[i * n + j] = moments[j * n + i] = slot->with_chosen[j];
        }
        moments[i * n + i] = limn_neuron_val_moment(s->problem, set[i], set[i]);
    }
    limn_neuron_fit(s->problem, s->options, s->target, set, n, weights, bias);
    return limn_neuron_correlation(weights, n, moments, with_target,
                                   s->target->val_square);
}

// One round: the best of the next candidates, or FALSE.
static gboolean
greedy_round(Greedy *g, LimnNeuronExplanation *e)
{
    const Search *s = &g->search;
    double start = e->val_correlation, best = start;
    gsize found = G_MAXSIZE;
    int seen = 0;
    double weights[MOST], bias, best_weights[MOST], best_bias = 0;
    gsize n_slots = g->slots->len;
    for (gsize p = 0; p < s->problem->k && seen < s->options->width; p++) {
        if (p < n_slots) {
            const Slot *known = &g_array_index(g->slots, Slot, p);
            if (known->chosen || known->bad) {
                continue;
            }
        }
        seen++;
        double rho = try_candidate(g, p, weights, &bias);
        if (g->length > 0 && rho - start < s->options->tolerance) {
            g_array_index(g->slots, Slot, p).bad = TRUE;
        } else if (rho > best) {
            best = rho;
            found = p;
            best_bias = bias;
            memcpy(best_weights, weights, (g->length + 1) * sizeof *weights);
        }
    }
    if (found == G_MAXSIZE) {
        return FALSE;
    }
    g_array_index(g->slots, Slot, found).chosen = TRUE;
    g->chosen[g->length] = found;
    g->best_set[g->length] = s->order[found];
    e->trace[g->length++] = best;
    take(e, g->best_set, g->length, best_weights, best_bias, best);
    return TRUE;
}

static void
select_greedy(const Search *search, LimnNeuronWork *work, LimnNeuronExplanation *e)
{
    if (work->slots == NULL) {
        work->slots = g_array_new(FALSE, TRUE, sizeof(Slot));
    }
    g_array_set_size(work->slots, 0);
    Greedy g = {.search = *search, .slots = work->slots};
    gsize most = (gsize) CLAMP(search->options->length, 1, MOST);
    while (g.length < most && greedy_round(&g, e)) {
    }
}

// ---- all subsets

typedef struct {
    Search search;
    gsize pool, length;
    const double *moments;     // [pool,pool]
    const double *with_target; // [pool]
    gsize chosen[MOST];
    double best, best_of_length;
    LimnNeuronExplanation *e;
} Subsets;

static void
try_subset(Subsets *s)
{
    double moments[MOST * MOST], with_target[MOST], weights[MOST], bias;
    guint32 set[MOST];
    gsize n = s->length;
    for (gsize i = 0; i < n; i++) {
        set[i] = s->search.order[s->chosen[i]];
        with_target[i] = s->with_target[s->chosen[i]];
        for (gsize j = 0; j < n; j++) {
            moments[i * n + j] = s->moments[s->chosen[i] * s->pool + s->chosen[j]];
        }
    }
    limn_neuron_fit(s->search.problem, s->search.options, s->search.target, set, n,
                    weights, &bias);
    double rho = limn_neuron_correlation(weights, n, moments, with_target,
                                         s->search.target->val_square);
    double value = rho - s->search.options->tolerance * (double) (n - 1);
    s->best_of_length = fmax(s->best_of_length, rho);
    if (rho > 0 && value > s->best) {
        s->best = value;
        take(s->e, set, n, weights, bias, rho);
    }
}

// All subsets of s->length in lexicographic order.
static void
try_subsets(Subsets *s)
{
    gsize n = s->length;
    for (gsize i = 0; i < n; i++) {
        s->chosen[i] = i;
    }
    for (;;) {
        try_subset(s);
        gsize i = n;
        while (i > 0 && s->chosen[i - 1] == s->pool - n + i - 1) {
            i--;
        }
        if (i == 0) {
            return;
        }
        s->chosen[i - 1]++;
        for (; i < n; i++) {
            s->chosen[i] = s->chosen[i - 1] + 1;
        }
    }
}

static void
select_exact(const Search *search, LimnNeuronExplanation *e)
{
    const LimnNeuronProblem *problem = search->problem;
    gsize pool = MIN((gsize) search->options->pool, problem->k), square = pool * pool;
    g_autofree double *moments = g_new(double, square + 1);
    g_autofree double *with_target = g_new(double, pool + 1);
    for (gsize i = 0; i < pool; i++) {
        guint32 a = search->order[i];
        with_target[i] = limn_neuron_val_target_moment(problem, search->target, a);
        for (gsize j = 0; j <= i; j++) {
            moments[i * pool + j] = moments[j * pool + i] =
                limn_neuron_val_moment(problem, a, search->order[j]);
        }
    }
    Subsets s = {.search = *search,
                 .pool = pool,
                 .moments = moments,
                 .with_target = with_target,
                 .best = -INFINITY,
                 .e = e};
    gsize most = MIN((gsize) CLAMP(search->options->short_length, 1, MOST), pool);
    for (s.length = 1; s.length <= most; s.length++) {
        s.best_of_length = -1;
        try_subsets(&s);
        e->trace[s.length - 1] = s.best_of_length;
    }
}

// ---- a given set, and the first of the order

static void
fit_set(const Search *search, const guint32 *set, gsize n, LimnNeuronExplanation *e)
{
    const LimnNeuronProblem *problem = search->problem;
    double moments[MOST * MOST], with_target[MOST], weights[MOST], bias;
    if (n == 0) {
        return;
    }
    for (gsize i = 0; i < n; i++) {
        with_target[i] = limn_neuron_val_target_moment(problem, search->target, set[i]);
        for (gsize j = 0; j <= i; j++) {
            moments[i * n + j] = moments[j * n + i] =
                limn_neuron_val_moment(problem, set[i], set[j]);
        }
    }
    limn_neuron_fit(problem, search->options, search->target, set, n, weights, &bias);
    double rho = limn_neuron_correlation(weights, n, moments, with_target,
                                         search->target->val_square);
    take(e, set, n, weights, bias, rho);
}

static void
begin(const LimnNeuronTarget *target, LimnNeuronExplanation *e)
{
    memset(e, 0, sizeof *e);
    e->activations = target->all;
    e->bias = target->all.mean;
}

static void
finish(LimnNeuronExplanation *e)
{
    e->status = e->length > 0 ? LIMN_NEURON_EXPLAINED : LIMN_NEURON_UNDEFINED;
    limn_neuron_sort(e);
}

void
limn_neuron_refit(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                  const LimnNeuronTarget *target, const guint32 *set, gsize length,
                  LimnNeuronExplanation *e)
{
    g_return_if_fail(length <= MOST);
    Search search = {problem, options, target, NULL};
    begin(target, e);
    fit_set(&search, set, length, e);
    finish(e);
}

void
limn_neuron_select(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                   const LimnNeuronTarget *target, LimnNeuronWork *work,
                   LimnNeuronExplanation *e)
{
    Search search = {problem, options, target, work->order};
    begin(target, e);
    switch (options->selection) {
    case LIMN_NEURON_GREEDY:
        select_greedy(&search, work, e);
        break;
    case LIMN_NEURON_EXACT:
        select_exact(&search, e);
        break;
    case LIMN_NEURON_TOP:
        fit_set(&search, work->order,
                MIN((gsize) CLAMP(options->short_length, 1, MOST), problem->k), e);
        break;
    }
    finish(e);
}

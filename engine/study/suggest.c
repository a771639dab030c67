// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/suggest.h"

#include <string.h>

#define LONGEST_WORD 64

// Optimal string alignment distance of two words of at most LONGEST_WORD bytes.
static int
distance(const char *a, const char *b)
{
    int n = (int) strlen(a), m = (int) strlen(b);
    int rows[3][LONGEST_WORD + 1];
    for (int j = 0; j <= m; j++) {
        rows[0][j] = j;
    }
    for (int i = 1; i <= n; i++) {
        int *above2 = rows[(i + 1) % 3], *above = rows[(i + 2) % 3], *row = rows[i % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = MIN(best, MIN(above[j] + 1, row[j - 1] + 1));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = MIN(best, above2[j - 2] + 1);
            }
            row[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *
limn_suggest(const char *word, const char *const *candidates)
{
    size_t length = strlen(word);
    if (length == 0 || length > LONGEST_WORD) {
        return NULL;
    }
    const char *nearest = NULL;
    int best = (int) length / 3 + 2;
    for (const char *const *at = candidates; *at != NULL; at++) {
        if (strlen(*at) > LONGEST_WORD) {
            continue;
        }
        int cost = distance(word, *at);
        if (cost < best) {
            best = cost;
            nearest = *at;
        }
    }
    return nearest;
}

char *
limn_join(const char *const *words, const char *separator)
{
    GString *text = g_string_new(NULL);
    for (const char *const *at = words; *at != NULL; at++) {
        if (at != words) {
            g_string_append(text, separator);
        }
        g_string_append(text, *at);
    }
    return g_string_free(text, FALSE);
}

char *
limn_describe_allowed(const char *word, const char *const *candidates)
{
    const char *nearest = limn_suggest(word, candidates);
    g_autofree char *list = limn_join(candidates, ", ");
    if (nearest == NULL) {
        return g_strdup_printf("allowed: %s", list);
    }
    return g_strdup_printf("did you mean '%s'? allowed: %s", nearest, list);
}

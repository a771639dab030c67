// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/bpe.h"

#include <string.h>

#include "engine/text/string-index.h"

#define NONE G_MAXUINT32
#define MAX_CACHED_PIECE 64
#define MAX_CACHED_PIECES 16384

// A merge, in an open-addressing table. rank NONE: empty.
typedef struct {
    guint32 left, right, rank, result;
} Merge;

struct LimnBpe {
    GString *blob;   // all strings, each with a NUL behind
    GArray *offsets; // guint32: where string number i begins in blob; NONE: none
    LimnStringIndex *index;
    Merge *merges;
    gsize mask; // slots - 1
    guint32 n_merges;
    gint32 unknown;
    gboolean symbols_known;
    gint32 symbols[2][256]; // of a byte: inside a word, at its end; -1: none
    GMutex lock;
    GHashTable *cache; // GBytes (piece) -> GBytes (LimnBpeToken)
};

// --- Byte symbols
// -----------------------------------------------------------------------

static gboolean
is_printable(guint8 byte)
{
    return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
}

gunichar
limn_bpe_byte_symbol(guint8 byte)
{
    if (is_printable(byte))
        return byte;
    guint rank = 0; // among the bytes that are not printable
    for (guint b = 0; b < byte; b++)
        rank += !is_printable((guint8) b);
    return 256 + rank;
}

gboolean
limn_bpe_symbol_byte(gunichar symbol, guint8 *byte)
{
    if (symbol < 256 && is_printable((guint8) symbol)) {
        *byte = (guint8) symbol;
        return TRUE;
    }
    guint rank = 256;
    for (guint b = 0; symbol >= 256 && b < 256; b++)
        if (!is_printable((guint8) b) && rank++ == symbol) {
            *byte = (guint8) b;
            return TRUE;
        }
    return FALSE;
}

// --- Vocabulary
// -------------------------------------------------------------------------

static const char *
text_at(guint32 id, gsize *length, gconstpointer data)
{
    const LimnBpe *bpe = data;
    const char *text = bpe->blob->str + g_array_index(bpe->offsets, guint32, id);
    *length = strlen(text);
    return text;
}

LimnBpe *
limn_bpe_new(void)
{
    LimnBpe *bpe = g_new0(LimnBpe, 1);
    bpe->blob = g_string_new(NULL);
    bpe->offsets = g_array_new(FALSE, FALSE, sizeof(guint32));
    bpe->index = limn_string_index_new(text_at, bpe, 1024);
    bpe->unknown = -1;
    g_mutex_init(&bpe->lock);
    bpe->cache =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref,
                              (GDestroyNotify) g_bytes_unref);
    return bpe;
}

void
limn_bpe_free(LimnBpe *bpe)
{
    if (bpe == NULL)
        return;
    g_string_free(bpe->blob, TRUE);
    g_array_unref(bpe->offsets);
    limn_string_index_free(bpe->index);
    g_free(bpe->merges);
    g_mutex_clear(&bpe->lock);
    g_hash_table_unref(bpe->cache);
    g_free(bpe);
}

gboolean
limn_bpe_add(LimnBpe *bpe, const char *text, gsize length, guint32 id, const char **other)
{
    const guint32 none = NONE;
    while (bpe->offsets->len <= id)
        g_array_append_val(bpe->offsets, none);
    guint32 *offset = &g_array_index(bpe->offsets, guint32, id);
    if (*offset != NONE) {
        *other = bpe->blob->str + *offset;
        return FALSE;
    }
    *offset = bpe->blob->len;
    g_string_append_len(bpe->blob, text, (gssize) length);
    g_string_append_c(bpe->blob, '\0');
    limn_string_index_set(bpe->index, text, length, id);
    return TRUE;
}

void
limn_bpe_add_bytes(LimnBpe *bpe)
{
    static const guint8 RANGES[][2] = {{0x21, 0x7e}, {0xa1, 0xac}, {0xae, 0xff}};
    const char *other;
    guint32 id = 0;
    for (int end = 0; end < 2; end++) {
        for (gsize r = 0; r <= G_N_ELEMENTS(RANGES); r++)
            for (guint b = 0; b < 256; b++) {
                char text[16];
                gboolean in = r == G_N_ELEMENTS(RANGES)
                                  ? !is_printable((guint8) b)
                                  : b >= RANGES[r][0] && b <= RANGES[r][1];
                if (!in)
                    continue;
                int n = g_unichar_to_utf8(limn_bpe_byte_symbol((guint8) b), text);
                strcpy(text + n, end ? LIMN_BPE_WORD_END : "");
                limn_bpe_add(bpe, text, strlen(text), id++, &other);
            }
    }
}

void
limn_bpe_set_unknown(LimnBpe *bpe, gint32 id)
{
    bpe->unknown = id;
}

guint32
limn_bpe_get_size(const LimnBpe *bpe)
{
    return bpe->offsets->len;
}

guint32
limn_bpe_n_merges(const LimnBpe *bpe)
{
    return bpe->n_merges;
}

gint32
limn_bpe_find(const LimnBpe *bpe, const char *text, gsize length)
{
    guint32 id = limn_string_index_find(bpe->index, text, length);
    return id == LIMN_STRING_NOT_FOUND ? -1 : (gint32) id;
}

const char *
limn_bpe_get_text(const LimnBpe *bpe, gint32 id)
{
    if (id < 0 || (guint32) id >= bpe->offsets->len)
        return NULL;
    guint32 offset = g_array_index(bpe->offsets, guint32, id);
    return offset != NONE ? bpe->blob->str + offset : NULL;
}

// --- Merges
// -----------------------------------------------------------------------------

static gsize
hash_pair(guint32 left, guint32 right)
{
    guint32 pair[2] = {left, right};
    return (gsize) limn_string_hash((const char *) pair, sizeof pair);
}

// The slot of a pair, or the empty one where it would go.
static Merge *
probe(const LimnBpe *bpe, guint32 left, guint32 right)
{
    gsize i = hash_pair(left, right) & bpe->mask;
    while (bpe->merges[i].rank != NONE &&
           (bpe->merges[i].left != left || bpe->merges[i].right != right))
        i = (i + 1) & bpe->mask;
    return &bpe->merges[i];
}

static void
grow_merges(LimnBpe *bpe)
{
    Merge *old = bpe->merges;
    gsize n_old = old != NULL ? bpe->mask + 1 : 0;
    gsize n = n_old > 0 ? n_old * 2 : 1024;
    bpe->merges = g_new(Merge, n);
    bpe->mask = n - 1;
    for (gsize i = 0; i < n; i++)
        bpe->merges[i].rank = NONE;
    for (gsize i = 0; i < n_old; i++)
        if (old[i].rank != NONE)
            *probe(bpe, old[i].left, old[i].right) = old[i];
    g_free(old);
}

char *
limn_bpe_add_merge(LimnBpe *bpe, const char *left, gsize left_length, const char *right,
                   gsize right_length)
{
    g_autofree char *text =
        g_strdup_printf("%.*s%.*s", (int) left_length, left, (int) right_length, right);
    gint32 l = limn_bpe_find(bpe, left, left_length);
    gint32 r = limn_bpe_find(bpe, right, right_length);
    gint32 result = limn_bpe_find(bpe, text, strlen(text));
    if (l < 0 || r < 0)
        return g_strdup_printf("\"%.*s\" is not in the vocabulary",
                               (int) (l < 0 ? left_length : right_length),
                               l < 0 ? left : right);
    if (result < 0)
        return g_strdup_printf("\"%s\" is not in the vocabulary", text);
    if (bpe->merges == NULL || (gsize) bpe->n_merges * 2 >= bpe->mask)
        grow_merges(bpe);
    *probe(bpe, l, r) = (Merge){l, r, bpe->n_merges++, result};
    return NULL;
}

// --- Encoding
// ---------------------------------------------------------------------------

// One symbol of the piece being encoded; merged ones are unlinked.
typedef struct {
    gint32 id; // -1: a byte without a symbol
    guint32 bytes;
    guint32 previous, next; // NONE at the ends
} Symbol;

// A pair that could be merged; stale when the symbols at `at` have changed since.
typedef struct {
    guint32 rank, at, right, result;
    gint32 left_id, right_id;
} Candidate;

// A binary heap by (rank, position).
static gboolean
comes_before(const Candidate *a, const Candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void
heap_push(GArray *heap, const Candidate *candidate)
{
    g_array_append_vals(heap, candidate, 1);
    Candidate *c = &g_array_index(heap, Candidate, 0);
    for (guint i = heap->len - 1; i > 0;) {
        guint parent = (i - 1) / 2;
        if (!comes_before(&c[i], &c[parent]))
            break;
        Candidate swap = c[i];
        c[i] = c[parent];
        c[parent] = swap;
        i = parent;
    }
}

static Candidate
heap_pop(GArray *heap)
{
    Candidate *c = &g_array_index(heap, Candidate, 0);
    Candidate top = c[0];
    guint n = heap->len - 1;
    c[0] = c[n];
    g_array_set_size(heap, n);
    for (guint i = 0;;) {
        guint least = i, left = 2 * i + 1;
        if (left < n && comes_before(&c[left], &c[least]))
            least = left;
        if (left + 1 < n && comes_before(&c[left + 1], &c[least]))
            least = left + 1;
        if (least == i)
            return top;
        Candidate swap = c[i];
        c[i] = c[least];
        c[least] = swap;
        i = least;
    }
}

static void
push_pair(const LimnBpe *bpe, GArray *heap, const Symbol *symbols, guint32 at)
{
    if (at == NONE || symbols[at].next == NONE || bpe->merges == NULL)
        return;
    gint32 left = symbols[at].id, right = symbols[symbols[at].next].id;
    if (left < 0 || right < 0)
        return;
    const Merge *merge = probe(bpe, left, right);
    if (merge->rank == NONE)
        return;
    Candidate candidate = {merge->rank, at, symbols[at].next, merge->result, left, right};
    heap_push(heap, &candidate);
}

// Merges the pair unless it is stale.
static gboolean
merge_pair(Symbol *symbols, const Candidate *pair)
{
    Symbol *left = &symbols[pair->at], *right = &symbols[pair->right];
    if (left->id != pair->left_id || left->next != pair->right ||
        right->id != pair->right_id)
        return FALSE;
    left->id = (gint32) pair->result;
    left->bytes += right->bytes;
    left->next = right->next;
    if (right->next != NONE)
        symbols[right->next].previous = pair->at;
    right->id = -1;
    right->previous = right->next = NONE;
    return TRUE;
}

// The reference merges every occurrence of the pair of lowest rank, from left to right,
// before it looks for the next pair; so pairs that arise meanwhile wait for the end of
// the round.
static void
merge_all(const LimnBpe *bpe, Symbol *symbols, guint32 n)
{
    g_autoptr(GArray) heap = g_array_new(FALSE, FALSE, sizeof(Candidate));
    g_autoptr(GArray) merged = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i + 1 < n; i++)
        push_pair(bpe, heap, symbols, i);
    while (heap->len > 0) {
        guint32 rank = g_array_index(heap, Candidate, 0).rank;
        g_array_set_size(merged, 0);
        while (heap->len > 0 && g_array_index(heap, Candidate, 0).rank == rank) {
            Candidate pair = heap_pop(heap);
            if (merge_pair(symbols, &pair))
                g_array_append_val(merged, pair.at);
        }
        for (guint i = 0; i < merged->len; i++) {
            guint32 at = g_array_index(merged, guint32, i);
            push_pair(bpe, heap, symbols, symbols[at].previous);
            push_pair(bpe, heap, symbols, at);
        }
    }
}

static void
find_symbols(LimnBpe *bpe)
{
    for (int end = 0; end < 2; end++)
        for (guint b = 0; b < 256; b++) {
            char text[16];
            int n = g_unichar_to_utf8(limn_bpe_byte_symbol((guint8) b), text);
            strcpy(text + n, end ? LIMN_BPE_WORD_END : "");
            bpe->symbols[end][b] = limn_bpe_find(bpe, text, strlen(text));
        }
    bpe->symbols_known = TRUE;
}

static void
encode_piece(const LimnBpe *bpe, const char *piece, guint32 size, GArray *tokens)
{
    Symbol *symbols = g_new(Symbol, size);
    for (guint32 i = 0; i < size; i++) {
        gboolean last = i + 1 == size;
        symbols[i] = (Symbol){
            .id = bpe->symbols[last][(guint8) piece[i]],
            .bytes = 1,
            .previous = i > 0 ? i - 1 : NONE,
            .next = last ? NONE : i + 1,
        };
    }
    merge_all(bpe, symbols, size);
    for (guint32 i = 0; i != NONE; i = symbols[i].next) {
        LimnBpeToken token = {symbols[i].id >= 0 ? symbols[i].id : bpe->unknown,
                              symbols[i].bytes};
        g_array_append_val(tokens, token);
    }
    g_free(symbols);
}

static gboolean
find_cached(LimnBpe *bpe, GBytes *key, GArray *tokens)
{
    g_mutex_lock(&bpe->lock);
    if (!bpe->symbols_known)
        find_symbols(bpe);
    GBytes *found = g_hash_table_lookup(bpe->cache, key);
    if (found != NULL)
        g_array_append_vals(tokens, g_bytes_get_data(found, NULL),
                            g_bytes_get_size(found) / sizeof(LimnBpeToken));
    g_mutex_unlock(&bpe->lock);
    return found != NULL;
}

static void
add_cached(LimnBpe *bpe, const char *piece, gsize size, const GArray *tokens, guint from)
{
    GBytes *key = g_bytes_new(piece, size);
    GBytes *value = g_bytes_new(&g_array_index(tokens, LimnBpeToken, from),
                                (tokens->len - from) * sizeof(LimnBpeToken));
    g_mutex_lock(&bpe->lock);
    if (g_hash_table_size(bpe->cache) >= MAX_CACHED_PIECES)
        g_hash_table_remove_all(bpe->cache);
    g_hash_table_replace(bpe->cache, key, value);
    g_mutex_unlock(&bpe->lock);
}

void
limn_bpe_encode(LimnBpe *bpe, const char *piece, gsize size, GArray *tokens)
{
    g_return_if_fail(size > 0 && size < NONE);
    g_autoptr(GBytes) key = g_bytes_new_static(piece, size);
    guint from = tokens->len;
    if (find_cached(bpe, key, tokens))
        return;
    encode_piece(bpe, piece, (guint32) size, tokens);
    if (size <= MAX_CACHED_PIECE)
        add_cached(bpe, piece, size, tokens, from);
}

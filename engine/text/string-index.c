// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/string-index.h"

#include <string.h>

typedef struct {
    guint32 hash;
    guint32 value; // LIMN_STRING_NOT_FOUND: empty
} Slot;

struct LimnStringIndex {
    LimnStringAt at;
    gconstpointer data;
    Slot *slots;
    gsize mask; // number of slots - 1, a power of two less one
    gsize used;
};

// A bijection of 64-bit words in which every input bit reaches every output bit.
static guint64
scramble(guint64 word)
{
    word ^= word >> 32;
    word *= G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    word ^= word >> 29;
    word *= G_GUINT64_CONSTANT(0xd1b54a32d192ed03);
    return word ^ word >> 32;
}

static guint64
process_key(void)
{
    static gsize drawn = 0;
    static guint64 key;
    if (g_once_init_enter(&drawn)) {
        key = (guint64) g_random_int() << 32 | g_random_int();
        g_once_init_leave(&drawn, 1);
    }
    return key;
}

guint64
limn_string_hash(const char *text, gsize length)
{
    const guint64 key = process_key();
    guint64 hash = scramble(key ^ length);
    guint64 word;
    for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = scramble(hash ^ word) + key;
    }
    word = 0;
    memcpy(&word, text, length);
    return scramble(hash ^ word);
}

static void
clear(Slot *slots, gsize n)
{
    for (gsize i = 0; i < n; i++)
        slots[i] = (Slot){0, LIMN_STRING_NOT_FOUND};
}

LimnStringIndex *
limn_string_index_new(LimnStringAt at, gconstpointer data, guint expected)
{
    LimnStringIndex *index = g_new0(LimnStringIndex, 1);
    gsize n = 16;
    while (n < (gsize) expected * 2)
        n *= 2;
    index->at = at;
    index->data = data;
    index->slots = g_new(Slot, n);
    index->mask = n - 1;
    clear(index->slots, n);
    return index;
}

void
limn_string_index_free(LimnStringIndex *index)
{
    if (index == NULL)
        return;
    g_free(index->slots);
    g_free(index);
}

static gboolean
matches(const LimnStringIndex *index, const Slot *slot, guint32 hash, const char *text,
        gsize length)
{
    gsize found;
    if (slot->hash != hash)
        return FALSE;
    const char *other = index->at(slot->value, &found, index->data);
    return found == length && memcmp(other, text, length) == 0;
}

// The slot that holds the text, or the empty one where it would go.
static Slot *
probe(const LimnStringIndex *index, guint32 hash, const char *text, gsize length)
{
    gsize i = hash & index->mask;
    while (index->slots[i].value != LIMN_STRING_NOT_FOUND &&
           !matches(index, &index->slots[i], hash, text, length))
        i = (i + 1) & index->mask;
    return &index->slots[i];
}

static void
grow(LimnStringIndex *index)
{
    gsize old = index->mask + 1;
    Slot *slots = g_new(Slot, old * 2);
    gsize mask = old * 2 - 1;
    clear(slots, old * 2);
    for (gsize i = 0; i < old; i++) {
        if (index->slots[i].value == LIMN_STRING_NOT_FOUND)
            continue;
        gsize k = index->slots[i].hash & mask;
        while (slots[k].value != LIMN_STRING_NOT_FOUND)
            k = (k + 1) & mask;
        slots[k] = index->slots[i];
    }
    g_free(index->slots);
    index->slots = slots;
    index->mask = mask;
}

guint32
limn_string_index_add(LimnStringIndex *index, const char *text, gsize length,
                      guint32 value)
{
    guint32 hash = (guint32) limn_string_hash(text, length);
    if (index->used * 4 >= (index->mask + 1) * 3)
        grow(index);
    Slot *slot = probe(index, hash, text, length);
    if (slot->value != LIMN_STRING_NOT_FOUND)
        return slot->value;
    *slot = (Slot){hash, value};
    index->used++;
    return LIMN_STRING_NOT_FOUND;
}

void
limn_string_index_set(LimnStringIndex *index, const char *text, gsize length,
                      guint32 value)
{
    if (limn_string_index_add(index, text, length, value) == LIMN_STRING_NOT_FOUND)
        return;
    probe(index, (guint32) limn_string_hash(text, length), text, length)->value = value;
}

guint32
limn_string_index_find(const LimnStringIndex *index, const char *text, gsize length)
{
    guint32 hash = (guint32) limn_string_hash(text, length);
    return probe(index, hash, text, length)->value;
}

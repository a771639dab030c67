// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small CLIP checkpoints with random weights, made by the tests themselves in any layout,
// to be spoilt one way or another.

#include "engine/model/clip.h"

typedef struct {
    int width, layers, heads, mlp, patch, grid;
    int text_width, text_layers, text_heads, text_mlp, vocab, context;
    int projection;
    gboolean gelu; // exact GELU instead of quick GELU
} TestClipSizes;

// Width 32, 3 layers, 4 heads, patch 4, grid 4; text width 24, 2 layers, 3 heads,
// vocabulary 40, context 12; projection 16.
extern const TestClipSizes TEST_CLIP_SIZES;

// The tensors of a checkpoint, by name.
typedef struct {
    TestClipSizes sizes;
    GPtrArray *names;  // char *
    GPtrArray *arrays; // LimnArray *
    GPtrArray *metadata;
} TestCheckpoint;

typedef enum { TEST_LAYOUT_HF, TEST_LAYOUT_OPEN_CLIP } TestLayout;

// The same weights in either layout.
TestCheckpoint *test_checkpoint_new(const TestClipSizes *sizes, TestLayout layout);
void test_checkpoint_free(TestCheckpoint *checkpoint);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestCheckpoint, test_checkpoint_free)

// The tensor of that name. Borrowed.
LimnArray *test_checkpoint_get(TestCheckpoint *checkpoint, const char *name);
void test_checkpoint_add(TestCheckpoint *checkpoint, const char *name, LimnDType dtype,
                         int rank, const gint64 *shape);
void test_checkpoint_drop(TestCheckpoint *checkpoint, const char *name);
// Drops all that begin with `prefix`.
void test_checkpoint_drop_all(TestCheckpoint *checkpoint, const char *prefix);
// New beginning instead of `from` for all names that begin with it ("" for all).
void test_checkpoint_rename(TestCheckpoint *checkpoint, const char *from, const char *to);
// All floating tensors to another type (F16, BF16, F64).
void test_checkpoint_convert(TestCheckpoint *checkpoint, LimnDType dtype);

void test_checkpoint_save(TestCheckpoint *checkpoint, const char *folder,
                          const char *name);
// Tensors [first, end) as one shard.
void test_checkpoint_save_part(TestCheckpoint *checkpoint, const char *folder,
                               const char *name, guint first, guint end);
// config.json or open_clip_config.json as the sizes say. Vocabulary files are not
// written.
void test_write_config(const TestClipSizes *sizes, TestLayout layout, const char *folder);
void test_write(const char *folder, const char *name, const char *text);
void test_write_bytes(const char *folder, const char *name, const void *data, gsize size);

// A folder with weights and configuration.
char *test_make_model(const TestClipSizes *sizes, TestLayout layout);
// Opens, or aborts the test.
LimnClip *test_open(const char *path);

// Pixels [n, 3, height, width] and ids [n, length] (start, words, end, zeros) at random.
LimnArray *test_pixels(int n, int height, int width, guint64 seed);
LimnArray *test_ids(const TestClipSizes *sizes, int n, guint64 seed);
// Largest difference by the largest of b.
double test_difference(const LimnArray *a, const LimnArray *b);

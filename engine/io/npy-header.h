// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The header of a .npy file:
//
//   offset  size  meaning                                  malformed when
//   0       6     "\x93NUMPY"                              anything else
//   6       1     major version                            not 1, 2 or 3
//   7       1     minor version                            not 0
//   8       2/4   n, header length, little-endian          beyond the file or 1 MiB
//   10/12   n     Python dict literal: 'descr',            not exactly these three keys,
//                 'fortran_order', 'shape'                 or anything after the dict
//
// The literal is read by a parser that knows strings, True/False and tuples of integers,
// and nothing else: nothing is ever evaluated.

#include "engine/base/array.h"

typedef struct {
    LimnDType dtype;
    gboolean swapped; // data are big-endian
    gboolean fortran; // the first index runs fastest
    int rank;
    gint64 shape[LIMN_ARRAY_MAX_RANK];
    gint64 length;   // elements
    gsize data_size; // bytes
    gsize offset;    // of the data
} LimnNpyHeader;

// Checks everything but the presence of the data (data_size may exceed what follows).
gboolean limn_npy_header_parse(const guint8 *data, gsize size, const char *name,
                               LimnNpyHeader *header, GError **error);

// Version 1 header, padded so that the data begin at a multiple of 64.
// LIMN_ERROR_UNSUPPORTED for an element type that .npy does not have (bf16).
GString *limn_npy_header_format(const LimnArray *array, GError **error);

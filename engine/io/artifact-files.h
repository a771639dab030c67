// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Artifacts as files of a study folder, and back. Every artifact has an entry in
// result.json (name, kind, file, labels, unit, range, what its kind needs) and one or
// more files in open formats:
//
// | kind              | files                                                           |
// |-------------------|-----------------------------------------------------------------|
// | heatmap           | NAME.npy float32; the upright picture and the mask as PNG       |
// | labelmap          | NAME.png indexed (16-bit grey above 255 ids), NAME.npy uint32   |
// |                   | above 65535; several pictures: NAME-0001.png, ...               |
// | pictures          | NAME.png, or NAME-0001.png, ...                                 |
// | series, table     | NAME.csv                                                        |
// | text              | NAME.json                                                       |
// | array             | NAME.npy (floats as float32, integers as they are)              |
// | model             | NAME.safetensors                                                |
//
// Pictures that several artifacts share are written once. An artifact's companions are
// written as they are and listed under "companions".

#include "engine/base/job.h"
#include "engine/study/artifact.h"
#include "engine/study/json-writer.h"
#include "engine/text/json.h"

typedef struct LimnArtifactWriter LimnArtifactWriter;

// Writes into `directory`; messages name `shown_directory`, where the files will end up.
LimnArtifactWriter *limn_artifact_writer_new(const char *directory,
                                             const char *shown_directory, LimnJob *job);
void limn_artifact_writer_free(LimnArtifactWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnArtifactWriter, limn_artifact_writer_free)
// Writes the files of one artifact and its entry into an open array of `json`.
gboolean limn_artifact_writer_add(LimnArtifactWriter *writer, LimnArtifact *artifact,
                                  LimnJsonWriter *json, GError **error);
// One further file, with the same care.
gboolean limn_artifact_writer_put(LimnArtifactWriter *writer, const char *file,
                                  const void *data, gsize size, GError **error);
// Names of all files written so far, in order. Borrowed.
GPtrArray *limn_artifact_writer_get_files(LimnArtifactWriter *writer);

typedef struct LimnArtifactReader LimnArtifactReader;
LimnArtifactReader *limn_artifact_reader_new(const char *directory, LimnJob *job);
void limn_artifact_reader_free(LimnArtifactReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnArtifactReader, limn_artifact_reader_free)
// One artifact from its entry. File names that leave the folder are refused.
LimnArtifact *limn_artifact_reader_get(LimnArtifactReader *reader, const LimnJson *entry,
                                       GError **error);

// ---- text and tables (artifact-text.c, artifact-csv.c)

// [{"text","score","tokens":[{"id","bytes":[begin,end],"piece","weight"}],
//   "words":[{"bytes":[begin,end],"weight"}],"truncated"}]; a truncated text has
// "used_bytes" as well. Returns: (transfer full)
char *limn_artifact_text_to_json(const LimnArtifact *artifact);
gboolean limn_artifact_text_from_json(LimnArtifact *artifact, const char *path,
                                      GError **error);

// RFC 4180 with LF, a header of column names, numbers with a dot; a missing value is an
// empty cell, an empty text is "". Returns: (transfer full)
char *limn_table_to_csv(const LimnTable *table);
// Names, types and units of the columns come from the table given, which has no rows.
gboolean limn_table_from_csv(LimnTable *table, const char *path, GError **error);
// The cells of any CSV file, row by row, the header first (a byte order mark is dropped);
// rows may differ in length. Returns: (transfer full) (element-type GPtrArray of char *)
GPtrArray *limn_csv_load(const char *path, GError **error);

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names of concepts from a file:
//
//   text            one name per line, underscores become spaces
//   table           columns separated by tabs (or a .csv), the first line names them:
//   name
//                   (or concept), group, subgroup; others are ignored. Every group and
//                   subgroup is a superclass of its names ("animal-mammal" becomes
//                   "animal mammal")
//
// A name that occurs again is dropped with a diagnostic.

#include "engine/base/job.h"

typedef struct {
    char *name;
    char *group, *subgroup; // "" when there is none
} LimnConceptName;

typedef struct {
    GPtrArray *names; // LimnConceptName
} LimnConceptList;

// path NULL: the built-in table (text/concepts.tsv).
LimnConceptList *limn_concept_list_load(const char *path, LimnJob *job, GError **error);
LimnConceptList *limn_concept_list_new(void);
void limn_concept_list_free(LimnConceptList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnConceptList, limn_concept_list_free)
void limn_concept_list_add(LimnConceptList *list, const char *name, const char *group,
                           const char *subgroup);
// The entry of that name, or NULL.
const LimnConceptName *limn_concept_list_find(const LimnConceptList *list,
                                              const char *name);

// Names only. Returns: (transfer full)
GStrv limn_concept_list_dup_names(const LimnConceptList *list);
// Names, then groups, then subgroups, each once.
GStrv limn_concept_list_dup_all(const LimnConceptList *list);
// Groups, then subgroups, as superclasses (neuron-concepts.h) of the names; those of one
// member and those with the members of one before are left out.
// Returns: (transfer full) (element-type LimnSuperclass)
GPtrArray *limn_concept_list_make_superclasses(const LimnConceptList *list);

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/method-list.h"

const char *const *
limn_method_titles(void)
{
    static const char *titles[LIMN_EXPLAIN_N_METHODS + 1];

    for (int i = 0; i < LIMN_EXPLAIN_N_METHODS; i++)
        titles[i] = limn_explain_method_title((LimnExplainMethod) i);
    return titles;
}

LimnExplainMethod
limn_method_from_id(const char *id)
{
    for (int i = 0; id && i < LIMN_EXPLAIN_N_METHODS; i++)
        if (g_str_equal(limn_explain_method_id((LimnExplainMethod) i), id))
            return (LimnExplainMethod) i;
    return LIMN_EXPLAIN_GRAD_ECLIP;
}

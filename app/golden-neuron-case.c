// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/golden-neuron-case.h"

#include "engine/base/error.h"

#define MAX_BINS 4096

const char *const limn_neuron_case_files[] = {
    "inputs.safetensors", "expected.safetensors", "expected.json", NULL};

void
limn_neuron_case_clear(LimnNeuronCase *c)
{
    g_clear_pointer(&c->inputs, limn_safetensors_unref);
    g_clear_pointer(&c->expected, limn_safetensors_unref);
    g_clear_pointer(&c->json, json_decref);
    LimnArray **arrays[] = {&c->p,         &c->a,     &c->weight,      &c->bias,
                            &c->objective, &c->order, &c->target_mean, &c->target_std};
    for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++) {
        g_clear_pointer(arrays[i], limn_array_unref);
    }
    limn_neuron_work_free(c->work);
    limn_neuron_problem_free(c->problem);
    limn_concept_choice_free(c->choice);
    limn_neuron_split_free(c->split);
    g_free(c->columns);
    g_free(c->q);
    g_free(c->greedy);
}

// ---- reading

static gboolean
read_int(const LimnJson *json, const char *key, gint64 min, gint64 max, int *value,
         GError **error)
{
    gint64 number = 0;
    if (!limn_json_need_int(json, key, min, max, &number, error)) {
        return FALSE;
    }
    *value = (int) number;
    return TRUE;
}

static gboolean
read_filter_and_search(LimnNeuronCase *c, GError **error)
{
    const LimnJson *o = &c->options;
    return limn_json_need_double(o, "l1", 0, 1e6, &c->fit.l1, error) &&
           limn_json_need_double(o, "l2", 0, 1e6, &c->fit.l2, error) &&
           read_int(o, "filter_top", 1, 1000000, &c->filter.top, error) &&
           limn_json_need_double(o, "filter_mean", -1e9, 1e9, &c->filter.mean, error) &&
           limn_json_need_double(o, "filter_std", 0, 1e9, &c->filter.std, error) &&
           read_int(o, "greedy_width", 1, 1000000, &c->fit.width, error) &&
           read_int(o, "greedy_max", 1, LIMN_NEURON_MAX_LENGTH, &c->fit.length, error) &&
           limn_json_need_double(o, "greedy_tolerance", -2, 2, &c->fit.tolerance, error);
}

static gboolean
read_optimisers(LimnNeuronCase *c, GError **error)
{
    LimnJson adam, ablation;
    LimnNeuronAdam *a = &c->fit.adam;
    return limn_json_need_object(&c->options, "adam_fit", &adam, error) &&
           limn_json_need_double(&adam, "lr", 0, 1e6, &a->rate, error) &&
           limn_json_need_double(&adam, "b1", 0, 1, &a->beta1, error) &&
           limn_json_need_double(&adam, "b2", 0, 1, &a->beta2, error) &&
           limn_json_need_double(&adam, "eps", 0, 1, &a->eps, error) &&
           read_int(&adam, "steps", 0, 1000000, &a->steps, error) &&
           limn_json_need_object(&c->options, "ablation", &ablation, error) &&
           limn_json_need_double(&ablation, "temperature", 1e-6, 1e6, &c->temperature,
                                 error) &&
           limn_json_need_double(&ablation, "lr", 0, 1e6, &c->ablation.rate, error) &&
           read_int(&ablation, "steps", 1, 1000000, &c->ablation.steps, error);
}

static gboolean
read_dissect(LimnNeuronCase *c, GError **error)
{
    LimnJson d;
    LimnDissectOptions *o = &c->dissect;
    return limn_json_need_object(&c->options, "dissect", &d, error) &&
           read_int(&d, "top", 1, 1000000, &o->top, error) &&
           limn_json_need_double(&d, "scale", -1e6, 1e6, &o->scale, error) &&
           limn_json_need_double(&d, "p_first", 0, 1, &o->p_first, error) &&
           limn_json_need_double(&d, "p_drop", 0, 1, &o->p_drop, error) &&
           limn_json_need_double(&d, "eps", 0, 1, &o->eps, error) &&
           limn_json_need_double(&d, "norm_floor", 0, 1e6, &o->smallest, error);
}

static gboolean
read_options(LimnNeuronCase *c, GError **error)
{
    gint64 last = (gint64) c->m - 1;
    return limn_json_root(c->json, "expected.json", &c->root, error) &&
           limn_json_need_object(&c->root, "options", &c->options, error) &&
           read_filter_and_search(c, error) && read_optimisers(c, error) &&
           read_dissect(c, error) &&
           limn_json_need_int(&c->options, "adam_check_neuron", 0, last, &c->adam_neuron,
                              error) &&
           limn_json_need_int(&c->options, "range_bins_neuron", 0, last, &c->bins_neuron,
                              error) &&
           limn_json_need_int(&c->options, "range_bins", 1, MAX_BINS, &c->n_bins, error);
}

LimnArray *
limn_neuron_case_read(LimnSafetensors *tensors, const char *file, const char *name,
                      LimnDType dtype, int rank, GError **error)
{
    g_autoptr(LimnArray) array = limn_safetensors_get(tensors, name, error);
    if (array != NULL && (array->dtype != dtype || array->rank != rank)) {
        g_autofree char *shape = limn_array_describe_shape(array);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "%s: %s is wrong (found %s %s, expected %s of %d sizes)", file, name,
                    limn_dtype_name(array->dtype), shape, limn_dtype_name(dtype), rank);
        return NULL;
    }
    return g_steal_pointer(&array);
}

LimnArray *
limn_neuron_case_read_input(LimnNeuronCase *c, const char *name, LimnDType dtype,
                            int rank, GError **error)
{
    return limn_neuron_case_read(c->inputs, "inputs.safetensors", name, dtype, rank,
                                 error);
}

static gboolean
read_split(LimnNeuronCase *c, GError **error)
{
    g_autoptr(LimnArray) train =
        limn_neuron_case_read_input(c, "train_ids", LIMN_DTYPE_I64, 1, error);
    g_autoptr(LimnArray) val =
        train ? limn_neuron_case_read_input(c, "val_ids", LIMN_DTYPE_I64, 1, error)
              : NULL;
    g_autoptr(LimnArray) test =
        val ? limn_neuron_case_read_input(c, "test_ids", LIMN_DTYPE_I64, 1, error) : NULL;
    c->split = test ? limn_neuron_split_from_lists(c->n, train, val, test, error) : NULL;
    return c->split != NULL;
}

static gboolean
read_inputs(LimnNeuronCase *c, GError **error)
{
    c->p = limn_neuron_case_read_input(c, "P", LIMN_DTYPE_F32, 2, error);
    c->a = c->p ? limn_neuron_case_read_input(c, "A", LIMN_DTYPE_F32, 2, error) : NULL;
    if (c->a == NULL) {
        return FALSE;
    }
    if (c->p->shape[0] != c->a->shape[0] || c->p->shape[0] > LIMN_NEURON_MOST ||
        c->p->shape[1] < 1 || c->p->shape[1] > LIMN_NEURON_MOST || c->a->shape[1] < 1) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                            "inputs.safetensors: P and A do not fit together");
        return FALSE;
    }
    c->n = (gsize) c->a->shape[0];
    c->m = (gsize) c->a->shape[1];
    return limn_concepts_check_finite(c->p, NULL, "inputs.safetensors: P", error) &&
           read_split(c, error);
}

gboolean
limn_neuron_case_open(LimnNeuronCase *c, const char *folder, GError **error)
{
    g_autofree char *inputs = g_build_filename(folder, limn_neuron_case_files[0], NULL);
    g_autofree char *expected = g_build_filename(folder, limn_neuron_case_files[1], NULL);
    g_autofree char *json = g_build_filename(folder, limn_neuron_case_files[2], NULL);
    limn_neuron_options_init(&c->fit);
    limn_concept_filter_init(&c->filter);
    limn_dissect_options_init(&c->dissect, LIMN_DISSECT_SOFT_WPMI);
    c->inputs = limn_safetensors_open(inputs, error);
    c->expected = c->inputs ? limn_safetensors_open(expected, error) : NULL;
    c->json = c->expected ? limn_json_load_object(json, error) : NULL;
    return c->json != NULL && read_inputs(c, error) && read_options(c, error);
}

// SPDX-License-Identifier: GPL-3.0-or-later

// What the configuration files may say, and what of it is refused by name.

#include <math.h>
#include <string.h>

#include "clip-testing.h"
#include "engine/model/clip-config.h"
#include "tests/unit/loader-test.h"

typedef gboolean (*Reader)(LimnClipSettings *, const char *, GError **);

// One text through one reader. A refusal contains the text, or `message` is NULL.
static gboolean
read_text(Reader reader, const char *text, LimnClipSettings *settings, LimnErrorCode code,
          const char *message)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = make_folder();
    g_autofree char *path = write_file(folder, "x.json", text, strlen(text));
    limn_clip_settings_init(settings);
    gboolean done = reader(settings, path, &error);
    remove_folder(folder);
    if (message == NULL) {
        g_assert_no_error(error);
        g_assert_true(done);
    } else {
        g_assert_false(done);
        assert_refused(&error, code, "x.json", message, NULL);
    }
    return done;
}

static void
test_sizes(void)
{
    static const struct {
        const char *text;
        int size;
        gboolean squash;
        const char *message;
    } cases[] = {
        {"{\"size\":224,\"crop_size\":224}", 224, FALSE, NULL},
        {"{\"size\":{\"shortest_edge\":336},\"crop_size\":{\"height\":336,\"width\":336}"
         "}",
         336, FALSE, NULL},
        {"{\"size\":{\"height\":240,\"width\":240}}", 240, TRUE, NULL},
        {"{\"crop_size\":112}", 112, FALSE, NULL},
        {"{}", 0, FALSE, NULL},
        {"{\"size\":null}", 0, FALSE, NULL},
        {"{\"size\":{\"height\":240,\"width\":240},\"do_center_crop\":false}", 240, TRUE,
         NULL},
        {"{\"size\":256,\"crop_size\":224}", 0, FALSE, "cropping to another size"},
        {"{\"size\":{\"height\":240,\"width\":200}}", 0, FALSE, "square"},
        {"{\"size\":224,\"do_center_crop\":false}", 0, FALSE, "not cropped"},
        {"{\"size\":224,\"do_resize\":false}", 0, FALSE, "not resized"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(LimnClipSettings) s;
        if (read_text(limn_clip_settings_read_preprocessor, cases[i].text, &s,
                      LIMN_ERROR_UNSUPPORTED, cases[i].message)) {
            g_assert_cmpint((int) s.size, ==, cases[i].size);
            g_assert_cmpint(s.squash, ==, cases[i].squash);
        }
    }
}

static void
test_preprocessor(void)
{
    g_auto(LimnClipSettings) s;
    read_text(limn_clip_settings_read_preprocessor,
              "{\"resample\":2,\"image_mean\":[0.5,0.4,0.3],\"image_std\":[0.2,0.3,1]}",
              &s, 0, NULL);
    g_assert_true(s.bilinear);
    g_assert_cmpfloat(s.mean[1], ==, 0.4);
    g_assert_cmpfloat(s.std[2], ==, 1);
    limn_clip_settings_clear(&s);
    read_text(limn_clip_settings_read_preprocessor, "{}", &s, 0, NULL);
    g_assert_false(s.bilinear);
    g_assert_cmpfloat(s.mean[0], ==, 0.48145466);
    static const struct {
        const char *text, *message;
        LimnErrorCode code;
    } bad[] = {
        {"{\"resample\":0}", "resampling filter 0", LIMN_ERROR_UNSUPPORTED},
        {"{\"resample\":1}", "resampling filter 1", LIMN_ERROR_UNSUPPORTED},
        {"{\"rescale_factor\":1}", "rescale_factor", LIMN_ERROR_UNSUPPORTED},
        {"{\"image_std\":[0.2,0,1]}", "image_std", LIMN_ERROR_FORMAT},
        {"{\"image_mean\":[0.2,0.1]}", "image_mean", LIMN_ERROR_FORMAT},
        {"{\"size\":-3}", "size", LIMN_ERROR_FORMAT},
        {"{\"size\":\"big\"}", "size", LIMN_ERROR_FORMAT},
        {"[1]", "object", LIMN_ERROR_FORMAT},
        {"{", "x.json", LIMN_ERROR_FORMAT},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_auto(LimnClipSettings) t;
        read_text(limn_clip_settings_read_preprocessor, bad[i].text, &t, bad[i].code,
                  bad[i].message);
    }
}

static void
test_hf(void)
{
    g_auto(LimnClipSettings) s;
    read_text(limn_clip_settings_read_hf, "{\"something\":1}", &s, 0, NULL);
    g_assert_null(s.file); // another program's config.json
    limn_clip_settings_clear(&s);
    read_text(limn_clip_settings_read_hf,
              "{\"model_type\":\"clip_vision_model\",\"hidden_size\":96,"
              "\"num_attention_heads\":6,\"patch_size\":14}",
              &s, 0, NULL);
    g_assert_cmpint((int) s.vision.width, ==, 96);
    g_assert_cmpint((int) s.vision.heads, ==, 6);
    g_assert_cmpint((int) s.patch, ==, 14);
    limn_clip_settings_clear(&s);
    read_text(limn_clip_settings_read_hf,
              "{\"model_type\":\"clip\",\"text_config\":{\"eos_token_id\":2}}", &s, 0,
              NULL);
    g_assert_cmpint((int) s.end, ==, -1);
    static const struct {
        const char *text, *message;
        LimnErrorCode code;
    } bad[] = {
        {"{\"model_type\":\"siglip\"}", "siglip", LIMN_ERROR_UNSUPPORTED},
        {"{\"model_type\":\"blip\"}", "blip", LIMN_ERROR_UNSUPPORTED},
        {"{\"model_type\":\"chinese_clip\"}", "chinese_clip", LIMN_ERROR_UNSUPPORTED},
        {"{\"vision_config\":{\"hidden_act\":\"gelu_new\"}}", "gelu_new",
         LIMN_ERROR_UNSUPPORTED},
        {"{\"vision_config\":{\"num_channels\":4}}", "4 channels",
         LIMN_ERROR_UNSUPPORTED},
        {"{\"vision_config\":{\"hidden_size\":\"768\"}}", "vision_config.hidden_size",
         LIMN_ERROR_FORMAT},
        {"{\"vision_config\":{\"num_attention_heads\":0}}", "num_attention_heads",
         LIMN_ERROR_FORMAT},
        {"{\"vision_config\":7}", "vision_config", LIMN_ERROR_FORMAT},
        {"{\"model_type\":\"clip\",\"model_type\":\"clip\"}", "model_type",
         LIMN_ERROR_FORMAT},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_auto(LimnClipSettings) t;
        read_text(limn_clip_settings_read_hf, bad[i].text, &t, bad[i].code,
                  bad[i].message);
    }
}

#define OPEN(vision, text, rest)                                                         \
    "{\"model_cfg\":{\"vision_cfg\":{" vision "},\"text_cfg\":{" text "}" rest "}}"

static void
test_open_clip(void)
{
    g_auto(LimnClipSettings) s;
    read_text(limn_clip_settings_read_open_clip,
              OPEN("\"head_width\":80,\"image_size\":[224,224],\"patch_size\":14,"
                   "\"norm_kwargs\":{\"eps\":1e-6},\"ls_init_value\":null",
                   "\"heads\":16,\"pool_type\":\"eos\",\"eos_id\":5",
                   ",\"embed_dim\":512"),
              &s, 0, NULL);
    g_assert_cmpint((int) s.vision.head_width, ==, 80);
    g_assert_cmpint((int) s.image_size, ==, 224);
    g_assert_cmpint((int) s.text.heads, ==, 16);
    g_assert_cmpint((int) s.end, ==, 5);
    g_assert_cmpfloat(s.vision.eps, ==, 1e-6);
    g_assert_cmpint(s.vision.activation, ==, LIMN_ACTIVATION_GELU);
    limn_clip_settings_clear(&s);
    read_text(limn_clip_settings_read_open_clip,
              "{\"model_cfg\":{\"quick_gelu\":true,\"vision_cfg\":{},\"text_cfg\":{}},"
              "\"preprocess_cfg\":{\"size\":[224,224],\"interpolation\":\"bilinear\","
              "\"resize_mode\":\"squash\",\"mean\":[0,0,0],\"std\":[1,1,1]}}",
              &s, 0, NULL);
    g_assert_cmpint((int) s.vision.head_width, ==, 64);
    g_assert_cmpint((int) s.text.heads, ==, 8);
    g_assert_cmpint(s.vision.activation, ==, LIMN_ACTIVATION_QUICK_GELU);
    g_assert_true(s.bilinear && s.squash);
    g_assert_cmpint((int) s.size, ==, 224);
    static const struct {
        const char *text, *message;
        LimnErrorCode code;
    } bad[] = {
        {OPEN("\"timm_model_name\":\"vit_base\"", "", ""), "timm",
         LIMN_ERROR_UNSUPPORTED},
        {OPEN("\"layers\":[3,4,6,3]", "", ""), "ResNet", LIMN_ERROR_UNSUPPORTED},
        {OPEN("", "", ",\"multimodal_cfg\":{}"), "CoCa", LIMN_ERROR_UNSUPPORTED},
        {OPEN("", "\"hf_model_name\":\"roberta-base\"", ""), "hf_model_name",
         LIMN_ERROR_UNSUPPORTED},
        {OPEN("\"ls_init_value\":1e-5", "", ""), "ls_init_value", LIMN_ERROR_UNSUPPORTED},
        {OPEN("\"pool_type\":\"avg\"", "", ""), "pool_type", LIMN_ERROR_UNSUPPORTED},
        {OPEN("\"no_ln_pre\":true", "", ""), "no_ln_pre", LIMN_ERROR_UNSUPPORTED},
        {OPEN("\"attentional_pool\":true", "", ""), "attentional_pool",
         LIMN_ERROR_UNSUPPORTED},
        {OPEN("", "\"no_causal_mask\":true", ""), "no_causal_mask",
         LIMN_ERROR_UNSUPPORTED},
        {OPEN("", "\"pool_type\":\"last\"", ""), "pool_type", LIMN_ERROR_UNSUPPORTED},
        {OPEN("\"image_size\":[224,336]", "", ""), "image_size", LIMN_ERROR_FORMAT},
        {OPEN("\"width\":0", "", ""), "width", LIMN_ERROR_FORMAT},
        {"{\"model_cfg\":{}}", "vision_cfg", LIMN_ERROR_FORMAT},
        {"{}", "model_cfg", LIMN_ERROR_FORMAT},
        {"{\"model_cfg\":{\"vision_cfg\":{},\"text_cfg\":{}},\"preprocess_cfg\":{"
         "\"resize_mode\":\"longest\"}}",
         "longest", LIMN_ERROR_UNSUPPORTED},
        {"{\"model_cfg\":{\"vision_cfg\":{},\"text_cfg\":{}},\"preprocess_cfg\":{"
         "\"interpolation\":\"lanczos\"}}",
         "lanczos", LIMN_ERROR_FORMAT},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_auto(LimnClipSettings) t;
        read_text(limn_clip_settings_read_open_clip, bad[i].text, &t, bad[i].code,
                  bad[i].message);
    }
}

// Preprocessing of an opened model: sizes, and positions for another size (B48).
static void
test_preprocess(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autoptr(LimnClip) plain = test_open(folder);
    g_assert_cmpint(limn_clip_get_preprocess(plain)->size, ==, 16);
    g_assert_cmpint(limn_clip_get_preprocess(plain)->patch, ==, 4);
    test_write(folder, "preprocessor_config.json", "{\"size\":24,\"crop_size\":24}");
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnClip) larger = limn_clip_open(folder, 0, job, &error);
    g_assert_no_error(error);
    g_assert_cmpint(limn_clip_get_preprocess(larger)->size, ==, 24);
    g_autoptr(GPtrArray) told = limn_job_dup_diagnostics(job);
    g_assert_cmpuint(told->len, ==, 1);
    g_assert_nonnull(strstr(((LimnDiagnostic *) told->pdata[0])->message, "resampled"));
    test_write(folder, "preprocessor_config.json", "{\"size\":25}");
    g_assert_null(limn_clip_open(folder, 0, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "preprocessor_config.json", "25",
                   "multiple of 4", NULL);
    remove_folder(folder);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/clip-config/sizes", test_sizes);
    g_test_add_func("/model/clip-config/preprocessor", test_preprocessor);
    g_test_add_func("/model/clip-config/hugging-face", test_hf);
    g_test_add_func("/model/clip-config/open-clip", test_open_clip);
    g_test_add_func("/hard/B48-other-resolution", test_preprocess);
    return g_test_run();
}

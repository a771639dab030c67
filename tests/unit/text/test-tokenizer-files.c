// SPDX-License-Identifier: GPL-3.0-or-later

#include <jansson.h>
#include <zlib.h>

#include "engine/text/bpe.h"
#include "engine/text/tokenizer.h"
#include "tests/unit/loader-test.h"

// A small vocabulary of CLIP's kind: byte symbols, d o, do g</w>, and the specials.
static json_t *
small_vocabulary(void)
{
    json_t *vocab = json_object();
    int id = 0;
    for (int end = 0; end < 2; end++)
        for (int b = 0; b < 256; b++) {
            char text[16] = {0};
            g_unichar_to_utf8(limn_bpe_byte_symbol((guint8) b), text);
            g_strlcat(text, end ? "</w>" : "", sizeof text);
            json_object_set_new(vocab, text, json_integer(id++));
        }
    json_object_set_new(vocab, "do", json_integer(id++));
    json_object_set_new(vocab, "dog</w>", json_integer(id++));
    json_object_set_new(vocab, "<|startoftext|>", json_integer(id++));
    json_object_set_new(vocab, "<|endoftext|>", json_integer(id++));
    return vocab;
}

static GBytes *
dump(json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    GBytes *bytes = g_bytes_new(text, strlen(text));
    free(text);
    return bytes;
}

static void
check_dog(LimnTokenizer *tokenizer)
{
    static const char *const PIECES[] = {"<|startoftext|>", "dog</w>", "do", "t</w>",
                                         "<|endoftext|>"};
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnTokens) tokens = limn_tokenizer_encode(tokenizer, "Dog DOT", 0, &error);
    g_assert_no_error(error);
    g_assert_cmpint(limn_tokenizer_get_size(tokenizer), ==, 516);
    g_assert_cmpint(limn_tokenizer_get_start(tokenizer), ==, 514);
    g_assert_cmpuint(tokens->tokens->len, ==, 5);
    for (int i = 0; i < 5; i++)
        g_assert_cmpstr(limn_tokenizer_get_piece(
                            tokenizer, g_array_index(tokens->tokens, LimnToken, i).id),
                        ==, PIECES[i]);
}

static LimnTokenizer *
from_vocab(json_t *vocab, const char *merges, GError **error)
{
    g_autoptr(GBytes) v = dump(vocab);
    g_autoptr(GBytes) m = g_bytes_new(merges, strlen(merges));
    return limn_tokenizer_new_from_vocab(v, "vocab.json", m, "merges.txt", error);
}

static void
test_vocab(void)
{
    static const char *const GOOD[] = {"#version: 0.2\nd o\ndo g</w>\n", "d o\ndo g</w>",
                                       "#version: 0.2\r\nd o\r\ndo g</w>\r\n\r\n"};
    json_t *vocab = small_vocabulary();
    for (gsize i = 0; i < G_N_ELEMENTS(GOOD); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnTokenizer) tokenizer = from_vocab(vocab, GOOD[i], &error);
        g_assert_no_error(error);
        check_dog(tokenizer);
    }
    static const struct {
        const char *merges, *text;
    } BAD[] = {
        {"d o\nx\n", "line 2: no merge"},
        {"d  o\n", "line 1: no merge"},
        {"d o \n", "line 1: no merge"},
        {" o\n", "line 1: no merge"},
        {"#version\nd o\nd x\n", "line 3: \"dx\" is not in the vocabulary"},
        {"d o\nzz o\n", "line 2: \"zz\" is not in the vocabulary"},
        {"d\xff o\n", "line 1: no merge"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(BAD); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(from_vocab(vocab, BAD[i].merges, &error));
        assert_refused(&error, LIMN_ERROR_FORMAT, "merges.txt: ", BAD[i].text, NULL);
    }
    json_decref(vocab);
}

static void
refuse_vocab(json_t *vocab, LimnErrorCode code, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(from_vocab(vocab, "d o\n", &error));
    assert_refused(&error, code, "vocab.json: ", text, NULL);
    json_decref(vocab);
}

static void
test_bad_vocab(void)
{
    json_t *vocab = small_vocabulary();
    json_object_set_new(vocab, "do", json_string("512"));
    refuse_vocab(vocab, LIMN_ERROR_FORMAT, "\"do\" has no usable number");
    vocab = small_vocabulary();
    json_object_set_new(vocab, "do", json_integer(-1));
    refuse_vocab(vocab, LIMN_ERROR_FORMAT, "\"do\" has no usable number");
    vocab = small_vocabulary();
    json_object_set_new(vocab, "do", json_integer(2000000000));
    refuse_vocab(vocab, LIMN_ERROR_FORMAT, "an integer from 0 to 66567");
    vocab = small_vocabulary();
    json_object_set_new(vocab, "do", json_integer(3));
    refuse_vocab(vocab, LIMN_ERROR_FORMAT, "the same number 3");
    vocab = small_vocabulary();
    json_object_del(vocab, "<|endoftext|>");
    refuse_vocab(vocab, LIMN_ERROR_UNSUPPORTED, "no <|endoftext|>");
    refuse_vocab(json_array(), LIMN_ERROR_FORMAT, "a JSON object");
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) twice = BYTES("{\"a\":1,\"a\":2}");
    g_autoptr(GBytes) none = BYTES("");
    g_assert_null(limn_tokenizer_new_from_vocab(twice, "vocab.json", none, "m", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "\"a\" is given twice", NULL);
}

// Without symbols for some bytes these are the unknown token, one per byte.
static void
test_unknown(void)
{
    g_autoptr(GError) error = NULL;
    json_t *vocab = small_vocabulary();
    json_object_del(vocab, "z");
    json_object_del(vocab, "z</w>");
    g_autoptr(LimnTokenizer) tokenizer = from_vocab(vocab, "d o\n", &error);
    g_assert_no_error(error);
    g_autoptr(LimnTokens) tokens = limn_tokenizer_encode(tokenizer, "zdoz", 0, &error);
    static const gint32 IDS[] = {514, 515, 512, 515, 515};
    g_assert_cmpuint(tokens->tokens->len, ==, 5);
    for (int i = 0; i < 5; i++)
        g_assert_cmpint(g_array_index(tokens->tokens, LimnToken, i).id, ==, IDS[i]);
    json_decref(vocab);
}

static json_t *
tokenizer_json(void)
{
    json_t *vocab = small_vocabulary();
    json_object_del(vocab, "<|endoftext|>");
    json_t *root = json_pack(
        "{s:s, s:[{s:i, s:s, s:b}], s:{s:s, s:[{s:s}, {s:s}]}, s:{s:s, s:s, s:s, s:s, "
        "s:o, "
        "s:[s, [s, s]]}}",
        "version", "1.0", "added_tokens", "id", 515, "content", "<|endoftext|>",
        "special", 1, "pre_tokenizer", "type", "Sequence", "pretokenizers", "type",
        "Split", "type", "ByteLevel", "model", "type", "BPE", "unk_token",
        "<|endoftext|>", "continuing_subword_prefix", "", "end_of_word_suffix", "</w>",
        "vocab", vocab, "merges", "d o", "do", "g</w>");
    g_assert_nonnull(root);
    return root;
}

static LimnTokenizer *
from_json(json_t *root, GError **error)
{
    g_autoptr(GBytes) bytes = dump(root);
    return limn_tokenizer_new_from_json(bytes, "tokenizer.json", error);
}

static void
refuse_json(json_t *root, LimnErrorCode code, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(from_json(root, &error));
    assert_refused(&error, code, "tokenizer.json: ", text, NULL);
    json_decref(root);
}

static json_t *
with_model(const char *key, json_t *value)
{
    json_t *root = tokenizer_json();
    json_object_set_new(json_object_get(root, "model"), key, value);
    return root;
}

static void
test_json(void)
{
    g_autoptr(GError) error = NULL;
    json_t *root = tokenizer_json();
    g_autoptr(LimnTokenizer) tokenizer = from_json(root, &error);
    g_assert_no_error(error);
    check_dog(tokenizer);
    json_decref(root);

    refuse_json(with_model("type", json_string("WordPiece")), LIMN_ERROR_UNSUPPORTED,
                "type WordPiece");
    refuse_json(with_model("end_of_word_suffix", json_null()), LIMN_ERROR_UNSUPPORTED,
                "GPT-2's kind");
    refuse_json(with_model("end_of_word_suffix", json_string("@@")),
                LIMN_ERROR_UNSUPPORTED, "\"@@\"");
    refuse_json(with_model("continuing_subword_prefix", json_string("##")),
                LIMN_ERROR_UNSUPPORTED, "this kind");
    root = tokenizer_json();
    json_object_del(root, "pre_tokenizer");
    refuse_json(root, LIMN_ERROR_UNSUPPORTED, "another pre-tokenizer");
    root = tokenizer_json();
    json_object_del(root, "model");
    refuse_json(root, LIMN_ERROR_FORMAT, "model is missing");
    refuse_json(with_model("vocab", json_array()), LIMN_ERROR_FORMAT, "model.vocab");
    refuse_json(with_model("merges", json_pack("[s]", "d")), LIMN_ERROR_FORMAT,
                "model.merges[0] is no merge");
    refuse_json(with_model("merges", json_pack("[s]", "d o g")), LIMN_ERROR_FORMAT,
                "model.merges[0] is no merge");
    refuse_json(with_model("merges", json_pack("[[s,s,s]]", "d", "o", "g")),
                LIMN_ERROR_FORMAT, "model.merges[0] is no merge");
    refuse_json(with_model("merges", json_pack("[s, s]", "d o", "q x")),
                LIMN_ERROR_FORMAT, "model.merges[1] \"qx\" is not in the vocabulary");
    root = tokenizer_json();
    json_object_set_new(root, "added_tokens", json_pack("[{s:i}]", "id", 515));
    refuse_json(root, LIMN_ERROR_FORMAT, "added_tokens[0].content is missing");
    root = tokenizer_json();
    json_object_set_new(root, "added_tokens", json_array());
    refuse_json(root, LIMN_ERROR_UNSUPPORTED, "no <|endoftext|>");
}

// gzip with a fixed header.
static GBytes *
compress_text(const char *text)
{
    guint8 out[65536];
    z_stream stream = {.next_in = (Bytef *) (guintptr) text,
                       .avail_in = (uInt) strlen(text),
                       .next_out = out,
                       .avail_out = sizeof out};
    g_assert_cmpint(
        deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), ==,
        Z_OK);
    g_assert_cmpint(deflate(&stream, Z_FINISH), ==, Z_STREAM_END);
    GBytes *bytes = g_bytes_new(out, stream.total_out);
    deflateEnd(&stream);
    return bytes;
}

static void
test_bpe_gz(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) good = compress_text("\"a comment\nd o\ndo g</w>\n");
    g_autoptr(LimnTokenizer) tokenizer =
        limn_tokenizer_new_from_bpe_gz(good, "bpe.gz", &error);
    g_assert_no_error(error);
    check_dog(tokenizer);
    g_autoptr(GBytes) bad = compress_text("comment\nd o\nq\n");
    g_assert_null(limn_tokenizer_new_from_bpe_gz(bad, "bpe.gz", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "bpe.gz: line 3", NULL);
    g_autoptr(GBytes) cut = g_bytes_new_from_bytes(good, 0, g_bytes_get_size(good) - 4);
    g_assert_null(limn_tokenizer_new_from_bpe_gz(cut, "bpe.gz", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "cut", NULL);
    g_autoptr(GBytes) plain = BYTES("d o\n");
    g_assert_null(limn_tokenizer_new_from_bpe_gz(plain, "bpe.gz", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "not a gzip file", NULL);
    // Two merges that make the same string: the later number counts, as in the reference.
    g_autoptr(GBytes) twice = compress_text("comment\nd o\no g\ndo g\nd og\n");
    g_autoptr(LimnTokenizer) again =
        limn_tokenizer_new_from_bpe_gz(twice, "bpe.gz", &error);
    g_assert_no_error(error);
    g_autoptr(LimnTokens) tokens = limn_tokenizer_encode(again, "doge", 0, &error);
    g_assert_cmpuint(tokens->tokens->len, ==, 4); // start, dog, e</w>, end
    g_assert_cmpint(g_array_index(tokens->tokens, LimnToken, 1).id, ==, 515);
}

static void
write_bytes(const char *folder, const char *name, GBytes *bytes)
{
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    g_autofree char *path = write_file(folder, name, data, size);
    g_assert_nonnull(path);
}

static void
test_folder(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = make_folder();
    gboolean builtin = FALSE;
    json_t *vocab = small_vocabulary(), *json = tokenizer_json();
    g_autoptr(GBytes) gz = compress_text("comment\nd o\ndo g</w>\n");
    g_autoptr(GBytes) vocab_bytes = dump(vocab), json_bytes = dump(json);
    g_autoptr(LimnTokenizer) none =
        limn_tokenizer_new_for_folder(folder, &builtin, &error);
    g_assert_no_error(error);
    g_assert_true(builtin);
    g_assert_cmpint(limn_tokenizer_get_size(none), ==, 49408);

    write_bytes(folder, "bpe_simple_vocab_16e6.txt.gz", gz);
    g_autoptr(LimnTokenizer) own =
        limn_tokenizer_new_for_folder(folder, &builtin, &error);
    g_assert_false(builtin);
    check_dog(own);
    // vocab.json goes before, and needs merges.txt.
    write_bytes(folder, "vocab.json", vocab_bytes);
    g_assert_null(limn_tokenizer_new_for_folder(folder, &builtin, &error));
    assert_refused(&error, LIMN_ERROR_IO, "merges.txt", NULL);
    g_autofree char *merges = write_file(folder, "merges.txt", "d o\ndo g</w>\n", 13);
    g_assert_nonnull(merges);
    g_autoptr(LimnTokenizer) pair =
        limn_tokenizer_new_for_folder(folder, &builtin, &error);
    g_assert_no_error(error);
    check_dog(pair);
    write_bytes(folder, "tokenizer.json", json_bytes);
    g_autoptr(LimnTokenizer) fast =
        limn_tokenizer_new_for_folder(folder, &builtin, &error);
    g_assert_no_error(error);
    check_dog(fast);
    remove_folder(folder);
    json_decref(vocab);
    json_decref(json);
}

static void
test_model_folder(void)
{
    static const gint32 IDS[] = {2513, 320, 553, 514,  320, 761,
                                 604,  517, 320, 2220, 2514};
    g_autoptr(GError) error = NULL;
    gboolean builtin = TRUE;
    g_autofree char *folder = limn_data_path("models/emoji-clip", &error);
    g_assert_no_error(error);
    g_autoptr(LimnTokenizer) tokenizer =
        limn_tokenizer_new_for_folder(folder, &builtin, &error);
    g_assert_no_error(error);
    g_assert_false(builtin);
    g_assert_cmpint(limn_tokenizer_get_size(tokenizer), ==, 2515);
    g_autoptr(LimnTokens) tokens = limn_tokenizer_encode(
        tokenizer, "a photo of a dog face and a giraffe", 32, &error);
    g_assert_cmpuint(tokens->tokens->len, ==, G_N_ELEMENTS(IDS));
    for (gsize i = 0; i < G_N_ELEMENTS(IDS); i++)
        g_assert_cmpint(g_array_index(tokens->tokens, LimnToken, i).id, ==, IDS[i]);
    g_assert_cmpuint(tokens->words->len, ==, 9);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tokenizer-files/vocab", test_vocab);
    g_test_add_func("/tokenizer-files/bad-vocab", test_bad_vocab);
    g_test_add_func("/tokenizer-files/unknown", test_unknown);
    g_test_add_func("/tokenizer-files/json", test_json);
    g_test_add_func("/tokenizer-files/bpe-gz", test_bpe_gz);
    g_test_add_func("/tokenizer-files/folder", test_folder);
    g_test_add_func("/tokenizer-files/model-folder", test_model_folder);
    return g_test_run();
}

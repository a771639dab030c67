// SPDX-License-Identifier: GPL-3.0-or-later

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/unit/base/fault.h"

typedef struct {
    char *folder, *path;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    fixture->folder = g_dir_make_tmp("limn-file-XXXXXX", NULL);
    fixture->path = g_build_filename(fixture->folder, "out.txt", NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    fault_countdown = -1;
    g_assert_true(limn_remove_tree(fixture->folder, NULL));
    g_free(fixture->folder);
    g_free(fixture->path);
}

static void
assert_content(const char *path, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = limn_file_read(path, 0, &error);
    g_assert_no_error(error);
    g_assert_cmpmem(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), expected,
                    strlen(expected));
}

static guint
count_entries(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    guint n = 0;
    while (g_dir_read_name(dir) != NULL) {
        n++;
    }
    return n;
}

static void
test_write(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_file_write(fixture->path, "one", 3, &error));
    assert_content(fixture->path, "one");
    g_assert_cmpint(g_chmod(fixture->path, 0640), ==, 0);
    g_assert_true(limn_file_write(fixture->path, "two", 3, &error));
    g_assert_no_error(error);
    assert_content(fixture->path, "two");
    struct stat info;
    g_assert_cmpint(stat(fixture->path, &info), ==, 0);
    g_assert_cmpint(info.st_mode & 0777, ==, 0640);
    g_assert_cmpuint(count_entries(fixture->folder), ==, 1);
}

static void
test_write_large(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    const gsize size = 1 << 20;
    g_autofree guint8 *block = g_malloc(size);
    for (gsize i = 0; i < size; i++) {
        block[i] = (guint8) (i * 31 >> 3);
    }
    g_autoptr(LimnFileWriter) writer = limn_file_writer_new(fixture->path, &error);
    gsize at = 0;
    for (gsize step = 1; at < size; step = step * 3 % 100003) {
        gsize n = MIN(step, size - at);
        g_assert_true(limn_file_writer_write(writer, block + at, n, &error));
        at += n;
    }
    g_assert_true(limn_file_writer_printf(writer, &error, "%s-%d", "end", 5));
    g_assert_false(g_file_test(fixture->path, G_FILE_TEST_EXISTS));
    g_assert_true(limn_file_writer_commit(writer, &error));
    g_assert_no_error(error);
    g_autoptr(GBytes) bytes = limn_file_map(fixture->path, 0, &error);
    g_assert_cmpuint(g_bytes_get_size(bytes), ==, size + 5);
    const guint8 *back = g_bytes_get_data(bytes, NULL);
    g_assert_cmpmem(back, size, block, size);
    g_assert_cmpmem(back + size, 5, "end-5", 5);
    // Nothing more may be written after the commit.
    g_assert_false(limn_file_writer_write(writer, "x", 1, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
}

static void
test_abandon(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_file_write(fixture->path, "old", 3, &error));
    LimnFileWriter *writer = limn_file_writer_new(fixture->path, &error);
    g_assert_true(limn_file_writer_write(writer, "new", 3, &error));
    g_assert_cmpuint(count_entries(fixture->folder), ==, 2);
    limn_file_remove_stale(fixture->folder); // ours is alive
    g_assert_cmpuint(count_entries(fixture->folder), ==, 2);
    limn_file_writer_free(writer);
    g_assert_cmpuint(count_entries(fixture->folder), ==, 1);
    assert_content(fixture->path, "old");
}

// Every failing call leaves the old file, no part, and an error that names the path.
static void
test_errors(Fixture *fixture, gconstpointer data)
{
    const struct {
        const char *call;
        int errnum;
        gsize partial;
    } cases[] = {
        {"write", ENOSPC, 0}, {"write", ENOSPC, 2}, {"write", EIO, 0},
        {"fsync", ENOSPC, 0}, {"fsync", EIO, 0},    {"rename", EACCES, 0},
    };
    g_assert_true(limn_file_write(fixture->path, "old", 3, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        fault_call = cases[i].call;
        fault_errno = cases[i].errnum;
        fault_partial = cases[i].partial;
        fault_countdown = 0;
        g_assert_false(limn_file_write(fixture->path, "newer", 5, &error));
        fault_countdown = -1;
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
        g_assert_true(g_str_has_prefix(error->message, fixture->path));
        g_assert_nonnull(strstr(error->message, g_strerror(cases[i].errnum)));
        if (cases[i].errnum == ENOSPC) { // says which directory is full
            g_autofree char *where =
                g_strconcat("in the directory ", fixture->folder, ")", NULL);
            g_assert_nonnull(strstr(error->message, where));
        }
        assert_content(fixture->path, "old");
        g_assert_cmpuint(count_entries(fixture->folder), ==, 1);
    }
}

static void
test_fails_for_good(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *block = g_malloc0(200000);
    g_autoptr(LimnFileWriter) writer = limn_file_writer_new(fixture->path, &error);
    fault_call = "write";
    fault_errno = ENOSPC;
    fault_countdown = 0;
    g_assert_false(limn_file_writer_write(writer, block, 200000, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_clear_error(&error);
    fault_countdown = -1;
    g_assert_false(limn_file_writer_commit(writer, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_assert_false(g_file_test(fixture->path, G_FILE_TEST_EXISTS));
}

// Ends a child process at every call that touches the disk: the old or the new content
// is there, never neither; the next start removes what was left behind.
static void
test_killed(Fixture *fixture, gconstpointer data)
{
    int steps = 0;
    gboolean seen_old = FALSE;
    for (;; steps++) {
        g_assert_true(limn_file_write(fixture->path, "old", 3, NULL));
        pid_t child = fork();
        if (child == 0) {
            fault_call = NULL;
            fault_errno = 0;
            fault_partial = 0;
            fault_countdown = steps;
            _exit(limn_file_write(fixture->path, "newer", 5, NULL) ? 0 : 1);
        }
        int status = 0;
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        g_autoptr(GBytes) bytes = limn_file_read(fixture->path, 0, NULL);
        gsize size = g_bytes_get_size(bytes);
        g_assert_true(size == 3 || size == 5);
        assert_content(fixture->path, size == 3 ? "old" : "newer");
        seen_old |= size == 3;
        limn_file_remove_stale(fixture->folder);
        g_assert_cmpuint(count_entries(fixture->folder), ==, 1);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            break;
        }
    }
    g_assert_true(seen_old);
    g_assert_cmpint(steps, >=, 4); // write, fsync, rename, fsync of the directory
}

static void
test_stale_names(Fixture *fixture, gconstpointer data)
{
    const struct {
        const char *name;
        gboolean removed;
    } cases[] = {
        {".out.txt.999999999-00beef.limn-part", TRUE},
        {".a.b.999999999-00beef.limn-part", TRUE},
        {".out.txt.1-00beef.limn-part", FALSE}, // process 1 lives
        {"out.txt.999999999-00beef.limn-part", FALSE},
        {".out.txt.999999999-00beeg.limn-part", FALSE},
        {".out.txt.-00beef.limn-part", FALSE},
        {".out.txt999999999-00beef.limn-part", FALSE},
        {".limn-part", FALSE},
        {".out.txt.99999999999999999999-00beef.limn-part", FALSE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_build_filename(fixture->folder, cases[i].name, NULL);
        g_assert_true(g_file_set_contents(path, "x", 1, NULL));
    }
    g_autofree char *folder =
        g_build_filename(fixture->folder, ".d.999999999-00beef.limn-part", NULL);
    g_assert_cmpint(g_mkdir(folder, 0777), ==, 0);
    limn_file_remove_stale(fixture->folder);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_build_filename(fixture->folder, cases[i].name, NULL);
        g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS) == !cases[i].removed);
    }
    g_assert_true(g_file_test(folder, G_FILE_TEST_IS_DIR));
    limn_file_remove_stale("/nonexistent/folder");
}

static void
expect_no_input(const char *path, LimnErrorCode code, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_file_map(path, 100, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
    g_assert_nonnull(strstr(error->message, part));
    g_clear_error(&error);
    g_assert_null(limn_file_read(path, 100, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
}

static void
test_not_a_file(Fixture *fixture, gconstpointer data)
{
    g_autofree char *pipe = g_build_filename(fixture->folder, "pipe", NULL);
    g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    g_snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", fixture->folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    g_assert_cmpint(bind(fd, (struct sockaddr *) &address, sizeof address), ==, 0);

    expect_no_input(fixture->folder, LIMN_ERROR_IO, "a directory");
    expect_no_input(pipe, LIMN_ERROR_IO, "a pipe");
    expect_no_input(address.sun_path, LIMN_ERROR_IO, "a socket");
    expect_no_input("/dev/zero", LIMN_ERROR_IO, "a device");
    expect_no_input(fixture->path, LIMN_ERROR_IO, "No such file");
    close(fd);

    g_autofree char *block = g_malloc0(101);
    g_assert_true(limn_file_write(fixture->path, block, 101, NULL));
    expect_no_input(fixture->path, LIMN_ERROR_UNSUPPORTED, "found 101");

    const char *const targets[] = {pipe, address.sun_path, "/dev/null", fixture->folder,
                                   "",   "/nonexistent/x"};
    for (guint i = 0; i < G_N_ELEMENTS(targets); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(limn_file_write(targets[i], "x", 1, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    }
    struct stat info;
    g_assert_cmpint(stat("/dev/null", &info), ==, 0);
    g_assert_true(S_ISCHR(info.st_mode));
}

static void
test_unreadable(Fixture *fixture, gconstpointer data)
{
    if (geteuid() == 0) {
        g_test_skip("root reads everything");
        return;
    }
    g_assert_true(limn_file_write(fixture->path, "x", 1, NULL));
    g_assert_cmpint(g_chmod(fixture->path, 0), ==, 0);
    expect_no_input(fixture->path, LIMN_ERROR_IO, "Permission denied");
}

static void
test_empty(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_file_write(fixture->path, NULL, 0, &error));
    g_autoptr(GBytes) mapped = limn_file_map(fixture->path, 0, &error);
    g_autoptr(GBytes) read = limn_file_read(fixture->path, 0, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(g_bytes_get_size(mapped), ==, 0);
    g_assert_cmpuint(g_bytes_get_size(read), ==, 0);
}

static void
test_link(Fixture *fixture, gconstpointer data)
{
    g_autofree char *link = g_build_filename(fixture->folder, "link", NULL);
    g_assert_true(limn_file_write(fixture->path, "kept", 4, NULL));
    g_assert_cmpint(symlink(fixture->path, link), ==, 0);
    assert_content(link, "kept");
    g_assert_true(limn_file_write(link, "new", 3, NULL));
    assert_content(fixture->path, "kept");
    assert_content(link, "new");
    g_assert_false(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
}

static void
test_odd_names(Fixture *fixture, gconstpointer data)
{
    g_autofree char *longest = g_strnfill(255, 'n');
    g_autofree char *wide = g_strdup("");
    for (int i = 0; i < 63; i++) {
        g_autofree char *old = wide;
        wide = g_strconcat(old, i % 2 ? "é" : "テ", NULL);
    }
    const char *const names[] = {"Ünïcode テスト é 1.png",
                                 "line\nbreak",
                                 "bad\xff\xc3",
                                 "-dash",
                                 longest,
                                 wide,
                                 "%s%n",
                                 " "};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = g_build_filename(fixture->folder, names[i], NULL);
        g_assert_true(limn_file_write(path, "x", 1, &error));
        g_assert_no_error(error);
        assert_content(path, "x");
    }
    g_assert_cmpuint(count_entries(fixture->folder), ==, G_N_ELEMENTS(names));
    g_autoptr(GError) error = NULL;
    g_autofree char *too_long = g_strnfill(5000, 'x');
    g_autofree char *path = g_build_filename(fixture->folder, too_long, NULL);
    g_assert_false(limn_file_write(path, "x", 1, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_clear_error(&error);
    g_assert_null(limn_file_map(path, 0, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    const struct {
        const char *name;
        void (*func)(Fixture *fixture, gconstpointer data);
    } tests[] = {
        {"/file/write", test_write},
        {"/file/write-large", test_write_large},
        {"/file/abandon", test_abandon},
        {"/file/errors", test_errors},
        {"/file/fails-for-good", test_fails_for_good},
        {"/hard/B55-killed", test_killed},
        {"/file/stale-names", test_stale_names},
        {"/file/not-a-file", test_not_a_file},
        {"/file/unreadable", test_unreadable},
        {"/file/empty", test_empty},
        {"/file/link", test_link},
        {"/hard/B22-odd-names", test_odd_names},
    };
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_test_add(tests[i].name, Fixture, NULL, set_up, tests[i].func, tear_down);
    }
    return g_test_run();
}

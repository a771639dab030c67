// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// System calls of the program under test that fail, or end the process, at a chosen
// moment (the linker puts these functions before the real ones: --wrap).

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static int fault_countdown = -1; // calls until it happens, -1: never
static int fault_errno;          // 0: the process ends
static size_t fault_partial;     // bytes that a failing write still writes
static const char *fault_call;   // only this call counts; NULL: all

ssize_t __real_write(int fd, const void *data, size_t size);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_rename(const char *from, const char *to);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_rename(const char *from, const char *to);

static int
fault_due(const char *call)
{
    if (fault_countdown < 0 || (fault_call != NULL && strcmp(call, fault_call) != 0)) {
        return 0;
    }
    if (fault_countdown-- > 0) {
        return 0;
    }
    if (fault_errno == 0 && fault_partial == 0) {
        _exit(9);
    }
    errno = fault_errno;
    return 1;
}

ssize_t
__wrap_write(int fd, const void *data, size_t size)
{
    if (!fault_due("write")) {
        return __real_write(fd, data, size);
    }
    if (fault_partial > 0 && fault_partial < size) {
        ssize_t written = __real_write(fd, data, fault_partial);
        if (fault_errno == 0) {
            _exit(9);
        }
        fault_countdown = 0; // the rest fails
        fault_partial = 0;
        return written;
    }
    errno = fault_errno;
    return -1;
}

int
__wrap_fsync(int fd)
{
    return fault_due("fsync") ? -1 : __real_fsync(fd);
}

int
__wrap_fdatasync(int fd)
{
    return fault_due("fdatasync") ? -1 : __real_fdatasync(fd);
}

int
__wrap_rename(const char *from, const char *to)
{
    return fault_due("rename") ? -1 : __real_rename(from, to);
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sw-stubs/transports/sysfs/linux_host.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

uint64_t trn_linux_now(void* context) {
    struct timespec time;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int trn_linux_wait(void* context, uint64_t nanoseconds) {
    struct timespec left = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    (void)context;
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    return 0;
}

static int is_possible(uint32_t offset, uint32_t width) {
    return (width == 1 || width == 2 || width == 4) && offset % width == 0 && offset < 4096;
}

int trn_linux_config_read(int file, uint32_t offset, uint32_t width, uint32_t* value) {
    *value = 0;
    if (!is_possible(offset, width)) return -EINVAL;
    return pread(file, value, width, (off_t)offset) == (ssize_t)width ? 0 : -EIO;
}

int trn_linux_config_write(int file, uint32_t offset, uint32_t width, uint32_t value) {
    if (!is_possible(offset, width)) return -EINVAL;
    return pwrite(file, &value, width, (off_t)offset) == (ssize_t)width ? 0 : -EIO;
}

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/waves/fst_io.h"

#include <errno.h>
#include <string.h>

static int failure;

static void check(int failed) {
    if (failed && failure == 0) failure = errno != 0 ? errno : EIO;
}

size_t trn_fst_fwrite(const void* data, size_t size, size_t count, FILE* file) {
    const size_t done = fwrite(data, size, count, file);
    check(done != count);
    return done;
}

int trn_fst_fflush(FILE* file) {
    const int result = fflush(file);
    check(result != 0 || ferror(file));
    return result;
}

int trn_fst_fclose(FILE* file) {
    const int failed = ferror(file);
    const int result = fclose(file);
    check(result != 0 || failed);
    return result;
}

int trn_fst_unlink(const char* path) {
    const char* const end = strrchr(path, '.');
    return end != NULL && strcmp(end, ".hier") == 0 ? unlink(path) : 0;
}

int trn_fst_failure(void) {
    return failure;
}

void trn_fst_clear_failure(void) {
    failure = 0;
}

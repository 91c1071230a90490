/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program of NeuronCores on a core of each device, with tensors from files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw-stubs/guest/program.h"
#include "trn_program.h"

enum { MAX_FILE = 64 << 20 };
#define LIMIT_NS UINT64_C(10000000000) /* of the guest's clock */

static void* read_file(const struct subject* subject, const char* name, uint64_t* size) {
    FILE* file = fopen(name, "rb");
    uint8_t* bytes = file ? malloc(MAX_FILE) : NULL;
    *size = bytes ? fread(bytes, 1, MAX_FILE, file) : 0;
    if (file) fclose(file);
    if (!bytes || *size == MAX_FILE) {
        wrong(subject, "program", "%s cannot be read, or has 64 MiB and more", name);
        free(bytes);
        return NULL;
    }
    return bytes;
}

/* Writes an input, or compares an output, with the file's bytes. `again`: the second file of the
 * tensor, which has the result of an inout tensor. */
static bool handle(const struct subject* subject, trn_program* program, uint32_t number, bool again,
                   bool after, const char* file) {
    trn_tensor t;
    trn_program_tensor(program, number, &t);
    if (again && t.role != TRN_TENSOR_INOUT)
        return wrong(subject, "program", "tensor %s is given twice", t.name);
    if (after != (again || t.role == TRN_TENSOR_OUT)) return true;
    uint64_t size = 0;
    uint8_t* bytes = read_file(subject, file, &size);
    if (!bytes) return false;
    bool ok =
        size == t.bytes || wrong(subject, "program", "%s has %llu bytes, tensor %s has %llu", file,
                                 (unsigned long long)size, t.name, (unsigned long long)t.bytes);
    if (ok && !after)
        ok = good(subject, "program", trn_program_write(program, number, 0, bytes, size));
    uint8_t* found = ok && after ? malloc(size) : NULL;
    if (ok && after && !found) ok = wrong(subject, "program", "no memory for tensor %s", t.name);
    if (found) {
        ok = good(subject, "program", trn_program_read(program, number, 0, found, size));
        for (uint64_t i = 0; ok && i < size; ++i)
            if (found[i] != bytes[i])
                ok = wrong(subject, "program", "byte %llu of tensor %s is 0x%02x instead of 0x%02x",
                           (unsigned long long)i, t.name, found[i], bytes[i]);
    }
    free(found);
    free(bytes);
    return ok;
}

/* The file of TENSOR=FILE, and the tensor's number; NULL: no tensor of the program. */
static const char* split(trn_program* program, const char* pair, uint32_t* number) {
    char name[64] = "";
    const char* sign = strchr(pair, '=');
    if (sign && (size_t)(sign - pair) < sizeof name) memcpy(name, pair, (size_t)(sign - pair));
    return sign && trn_program_find_tensor(program, name, number) ? sign + 1 : NULL;
}

static bool handle_all(const struct subject* subject, trn_program* program, bool after,
                       char** pairs, int count) {
    for (int i = 0; i < count; ++i) {
        uint32_t number = 0, other = 0;
        const char* file = split(program, pairs[i], &number);
        if (!file)
            return wrong(subject, "program",
                         "%s: expected TENSOR=FILE with a tensor of the program", pairs[i]);
        bool again = false;
        for (int earlier = 0; earlier < i; ++earlier)
            if (split(program, pairs[earlier], &other) && other == number) again = true;
        if (!handle(subject, program, number, again, after, file)) return false;
    }
    return true;
}

bool run_program(const struct subject* subject, uint32_t core, const char* set, char** pairs,
                 int count) {
    uint64_t size = 0;
    void* bytes = read_file(subject, set, &size);
    if (!bytes || !good(subject, "probe", trn_probe(subject->device)) ||
        !good(subject, "reset", trn_reset_device(subject->device))) {
        free(bytes);
        return false;
    }
    const trn_program_options options = {.core = core};
    trn_program* program = NULL;
    bool ok = good(subject, "program",
                   trn_program_load(subject->device, bytes, size, &options, &program));
    free(bytes);
    trn_program_result result;
    ok = ok && handle_all(subject, program, false, pairs, count) &&
         good(subject, "program", trn_program_start(program)) &&
         good(subject, "program", trn_program_wait(program, LIMIT_NS, &result)) &&
         handle_all(subject, program, true, pairs, count);
    if (ok)
        say(subject, "program", "%s on core %u: %d tensors written and compared", set, core, count);
    if (program && !good(subject, "program", trn_program_unload(program))) ok = false;
    return ok;
}

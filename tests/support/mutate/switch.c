/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into each program with mutated code. TRN_MUTATION: the number that is on.
 * TRN_MUTATION_PLACES: a file with a byte for each place, shared with forked processes and with the
 * tool. */
#include "switch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 4096 };

static unsigned char unrecorded[PLACES];
unsigned trn_mutation_on;
unsigned char* trn_mutation_places = unrecorded;

__attribute__((constructor(101))) static void read_environment(void) {
    const char* number = getenv("TRN_MUTATION");
    const char* path = getenv("TRN_MUTATION_PLACES");
    if (number) trn_mutation_on = (unsigned)atoi(number);
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void* mapped = mmap(NULL, PLACES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) trn_mutation_places = mapped;
    close(file);
}

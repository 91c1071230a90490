// SPDX-License-Identifier: Apache-2.0
// Follows pointers in a random cycle through 512 KiB.
#include "guest.h"

enum { nodes = 16384 };

struct node {
    struct node* next;
    uint64_t value, unused[2];
};

static struct node all[nodes];
static volatile uint64_t result;

int main(void) {
    static uint16_t order[nodes];
    uint32_t seed = 1;
    for (unsigned i = 0; i < nodes; ++i) order[i] = (uint16_t)i;
    for (unsigned i = nodes - 1; i > 0; --i) {
        seed = seed * 1664525 + 1013904223;
        const unsigned j = (seed >> 8) % (i + 1);
        const uint16_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (unsigned i = 0; i < nodes; ++i) {
        all[order[i]].next = &all[order[(i + 1) % nodes]];
        all[order[i]].value = i;
    }
    uint64_t sum = 0;
    const struct node* n = all;
    for (unsigned i = 0; i < ROUNDS * 1000u; ++i) {
        sum += n->value;
        n = n->next;
    }
    result = sum;
    return check((uint32_t)sum);
}

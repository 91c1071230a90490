// SPDX-License-Identifier: Apache-2.0
// Executes each litmus test of litmus.S on two harts, and prints how often which outcome occurred:
// "mp: 0 0 1 1, 1 1: 12" for the results of the first hart, of the second one, and x, y at the end.
#include "harts.h"

enum { ROUNDS = 400, MAX_OUTCOMES = 64 };

struct results {
    long first, second;
};
typedef struct results part(volatile long* x, volatile long* y);

#define TESTS(T) \
    T(mp)        \
    T(mp_fences) \
    T(sb) T(sb_fences) T(lb) T(corr) T(s) T(r) T(two_writes) T(equal_store) T(equal_amo)
#define DECLARE(name) part name##_0, name##_1;
TESTS(DECLARE)
#define LIST(name) {#name, {name##_0, name##_1}},
static const struct {
    const char* name;
    part* parts[2];
} tests[] = {TESTS(LIST)};

struct outcome {
    long values[6];
    unsigned count;
};

static void record(struct outcome* seen, const long* values) {
    for (unsigned i = 0; i < MAX_OUTCOMES; ++i) {
        unsigned same = 0;
        while (same < 6 && seen[i].values[same] == values[same]) ++same;
        if (seen[i].count != 0 && same < 6) continue;
        for (unsigned n = 0; n < 6; ++n) seen[i].values[n] = values[n];
        ++seen[i].count;
        return;
    }
}

static void show(const char* name, const struct outcome* seen) {
    for (; seen->count != 0; ++seen) {
        print(name);
        print(":");
        for (unsigned n = 0; n < 6; ++n) {
            print(n == 4 ? ", " : " ");
            print_number((uint64_t)seen->values[n]);
        }
        print(": ");
        print_number(seen->count);
        print("\n");
    }
}

int main(uint64_t hart) {
    // In lines of their own.
    static struct { long x __attribute__((aligned(64))), y __attribute__((aligned(64))); } shared;
    static volatile struct results all[2];
    for (unsigned test = 0; test < sizeof tests / sizeof tests[0]; ++test) {
        static struct outcome seen[MAX_OUTCOMES];
        for (unsigned i = 0; hart == 0 && i < MAX_OUTCOMES; ++i) seen[i].count = 0;
        for (unsigned round = 0; round < ROUNDS; ++round) {
            barrier(2);
            const struct results mine = tests[test].parts[hart](&shared.x, &shared.y);
            all[hart].first = mine.first;
            all[hart].second = mine.second;
            barrier(2);
            if (hart != 0) continue;
            const long values[6] = {all[0].first,  all[0].second, all[1].first,
                                    all[1].second, shared.x,      shared.y};
            record(seen, values);
            shared.x = shared.y = 0;
        }
        if (hart == 0) show(tests[test].name, seen);
    }
    return 0;
}

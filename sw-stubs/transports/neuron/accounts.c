/* SPDX-License-Identifier: Apache-2.0 */
#include "sw-stubs/transports/neuron/accounts.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "sw-stubs/transports/neuron/memory.h"
#include "sw-stubs/transports/neuron/requests.h"

/* Layout of the data store (contract 12.1), in words of 64 bits. */
enum {
    SIGNATURE = 0x0073646e, /* "nds" */
    RUNTIME_VERSION = 1,    /* of the device's counters */
    CORES = 32,             /* counters of cores 0 to 3 */
    OLD_COUNTERS = 31,      /* of such a core, here; the others follow at ADDED */
    OLD_CORES = 4,
    ADDED = 6992,
    ADDED_COUNTERS = 64,
    MORE_CORES = 7248, /* counters of cores 4 to 15 */
    MORE_COUNTERS = 96,
    MAX_CORES = 16,
    STORE_WORDS = MORE_CORES + (MAX_CORES - OLD_CORES) * MORE_COUNTERS
};

enum counter {
    TIME_IN_USE = 0, /* picoseconds */
    COMPLETED = 1,
    COMPLETED_WITH_ERROR = 2,
    COMPLETED_WITH_NUMERICAL_ERROR = 3,
    TIMED_OUT = 4,
    FAILURE = 16,
    LOADS = 27,
    RUNS = 28,
    OUT_OF_BOUNDS = 30,
    CORE_MEMORY_ERROR = 33,
    DMA_ABORT = 34,
    SEMAPHORE_ERROR = 36,
    PSUM_COLLISION = 38
};

#define PICOSECONDS 1000u           /* of a nanosecond */
#define VERSION (UINT64_C(2) << 40) /* 2.0.0: the runtime that tools show for this library */

static volatile uint64_t* counter_of(const struct neuron_accounts* a, uint32_t core, uint32_t n) {
    if (core >= OLD_CORES) return a->words + MORE_CORES + (core - OLD_CORES) * MORE_COUNTERS + n;
    if (n < OLD_COUNTERS) return a->words + CORES + core * OLD_COUNTERS + n;
    return a->words + ADDED + core * ADDED_COUNTERS + (n - OLD_COUNTERS);
}

static void add(const struct neuron_accounts* a, uint32_t core, enum counter n, uint64_t amount) {
    if (a->words != NULL && core < MAX_CORES) *counter_of(a, core, n) += amount;
}

void trn_neuron_accounts_open(struct neuron_accounts* accounts, int file) {
    *accounts = (struct neuron_accounts){.file = file};
    struct neuron_store store = {.process = 0};
    if (trn_neuron_request(file, NEURON_STORE_ACQUIRE, &store) != 0) return;
    void* words = MAP_FAILED;
    if (store.size >= STORE_WORDS * sizeof(uint64_t))
        words = mmap(NULL, store.size, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                     (off_t)store.mmap_offset);
    if (words == MAP_FAILED) {
        trn_neuron_request(file, NEURON_STORE_RELEASE, &store);
        return;
    }
    accounts->words = words;
    accounts->size = store.size;
    accounts->words[0] = SIGNATURE;
    accounts->words[RUNTIME_VERSION] = VERSION;
}

void trn_neuron_accounts_close(struct neuron_accounts* accounts) {
    if (accounts->words == NULL) return;
    munmap((void*)(uintptr_t)accounts->words, accounts->size);
    accounts->words = NULL;
    struct neuron_store store = {.process = 0};
    trn_neuron_request(accounts->file, NEURON_STORE_RELEASE, &store);
}

/* The lock shows other processes who uses the core. Another process may have it: that is no error,
 * because the driver gives access to the core without it. It ends with the process. */
static void lock(struct neuron_accounts* accounts, uint32_t core) {
    if (core >= MAX_CORES || accounts->locked_cores >> core & 1) return;
    accounts->locked_cores |= 1u << core;
    struct neuron_core_lock wanted = {.core = core, .program = "trnvp"};
    const int error = trn_neuron_request(accounts->file, NEURON_CORE_LOCK, &wanted);
    if (error == 0 || error == -EALREADY)
        trn_neuron_request(accounts->file, NEURON_CORE_SHARE, &wanted);
}

/* What a run counts, beside FAILURE unless it completed. */
static const enum counter counter_of_outcome[TRN_RUN_OUTCOMES] = {
    [TRN_RUN_COMPLETED] = COMPLETED,
    [TRN_RUN_ENGINE_ERROR] = COMPLETED_WITH_ERROR,
    [TRN_RUN_NUMERICAL_ERROR] = COMPLETED_WITH_NUMERICAL_ERROR,
    [TRN_RUN_OUT_OF_BOUNDS] = OUT_OF_BOUNDS,
    [TRN_RUN_SEMAPHORE_ERROR] = SEMAPHORE_ERROR,
    [TRN_RUN_PSUM_COLLISION] = PSUM_COLLISION,
    [TRN_RUN_MEMORY_ERROR] = CORE_MEMORY_ERROR,
    [TRN_RUN_DMA_ABORT] = DMA_ABORT,
    [TRN_RUN_TIMED_OUT] = TIMED_OUT};

static void add_core(const struct neuron_accounts* a, uint32_t core, const trn_core_account* now) {
    const trn_core_account* then = &a->counted.cores[core];
    add(a, core, LOADS, now->loads - then->loads);
    add(a, core, RUNS, now->runs - then->runs);
    add(a, core, TIME_IN_USE, (now->busy_ns - then->busy_ns) * PICOSECONDS);
    for (uint32_t outcome = 0; outcome < TRN_RUN_OUTCOMES; ++outcome) {
        const uint64_t runs = now->outcomes[outcome] - then->outcomes[outcome];
        add(a, core, counter_of_outcome[outcome], runs);
        if (outcome != TRN_RUN_COMPLETED) add(a, core, FAILURE, runs);
    }
}

void trn_neuron_account(struct neuron_accounts* accounts, const trn_accounts* now) {
    for (uint32_t core = 0; core < TRN_ACCOUNT_CORES; ++core) {
        if (now->cores[core].loads != 0) lock(accounts, core);
        add_core(accounts, core, &now->cores[core]);
    }
    accounts->counted = *now;
}

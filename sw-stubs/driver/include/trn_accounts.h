/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_ACCOUNTS_H
#define TRN_ACCOUNTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a handle of a device holds of it, and what its programs did: for tools (doc/telemetry.md).
 * The structure is also the record of vfio-user clients (doc/attach.md, "Accounts of a client"). */

#define TRN_ACCOUNTS_VERSION 1u
#define TRN_ACCOUNT_CORES 8u
#define TRN_ACCOUNT_LATENCIES 64u

/** How the run of a program on a core ended. */
typedef enum trn_run_outcome {
    TRN_RUN_COMPLETED = 0,
    TRN_RUN_ENGINE_ERROR = 1, /**< an engine failed on an instruction */
    TRN_RUN_NUMERICAL_ERROR = 2,
    TRN_RUN_OUT_OF_BOUNDS = 3,
    TRN_RUN_SEMAPHORE_ERROR = 4,
    TRN_RUN_PSUM_COLLISION = 5,
    TRN_RUN_MEMORY_ERROR = 6, /**< uncorrectable, of the core's memory */
    TRN_RUN_DMA_ABORT = 7,
    TRN_RUN_TIMED_OUT = 8
} trn_run_outcome;
#define TRN_RUN_OUTCOMES 9u

/** What device memory of programs is for, as tools show it. */
typedef enum trn_memory_kind {
    TRN_KIND_TENSORS = 0,   /**< inputs and outputs */
    TRN_KIND_CONSTANTS = 1, /**< that the loader adds */
    TRN_KIND_CODE = 2,      /**< instructions */
    TRN_KIND_SCRATCHPAD = 3,
    TRN_KIND_RUNTIME = 4 /**< descriptor rings, source lines */
} trn_memory_kind;
#define TRN_MEMORY_KINDS 5u

typedef struct trn_core_account {
    uint64_t loads, runs;                /**< of programs; runs that have ended */
    uint64_t busy_ns;                    /**< of runs, by the transport's clock */
    uint64_t outcomes[TRN_RUN_OUTCOMES]; /**< of runs */
    uint64_t memory[TRN_MEMORY_KINDS];   /**< bytes of HBM of loaded programs */
} trn_core_account;

typedef struct trn_accounts {
    uint64_t version;     /**< TRN_ACCOUNTS_VERSION */
    uint64_t host_memory; /**< bytes that the device may access, in use */
    uint64_t completed;   /**< runs of programs, each counted once */
    /** Simulated time of the last completed runs, of run n at n % TRN_ACCOUNT_LATENCIES. Of the
     * transport's clock, if simulated time is not known. */
    uint64_t latencies_ns[TRN_ACCOUNT_LATENCIES];
    trn_core_account cores[TRN_ACCOUNT_CORES];
} trn_accounts;

#ifdef __cplusplus
}
#endif

#endif

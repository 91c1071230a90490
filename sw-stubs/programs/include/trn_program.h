/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_PROGRAM_H
#define TRN_PROGRAM_H

#include "trn_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads and runs programs of NeuronCores, as a runtime does (doc/programs.md): a program set file
 * is loaded onto a device, its tensors are placed in HBM, the engines are started and waited for.
 * Over any transport; control blocks are accessed by registers or by DMA. Spec:
 * doc/spec/neuron-core.md 5, 10, 11.
 *
 * Life of a program: trn_program_load -> tensors written -> trn_program_start -> trn_program_wait
 * -> tensors read -> started again, or trn_program_unload.
 *
 * Precondition unless stated otherwise: trn_probe and trn_reset_device succeeded. Threads as for
 * the device. */

#define TRN_CORE_ENGINES 5u
#define TRN_MAX_PROGRAM_CORES 8u
#define TRN_MAX_TENSOR_RANK 8u
#define TRN_CORE_REGISTERS 64u

typedef enum trn_core_engine {
    TRN_TENSOR_ENGINE = 0,
    TRN_SCALAR_ENGINE = 1,
    TRN_GPSIMD_ENGINE = 2,
    TRN_VECTOR_ENGINE = 3,
    TRN_SYNC_ENGINE = 4
} trn_core_engine;
/** "tensor", "scalar", "gpsimd", "vector", "sync"; "unknown" otherwise. */
const char* trn_core_engine_name(uint32_t engine);

/* ---- engines of a core ---------------------------------------------------------------------- */

/** Values of STATUS (NeuronCore spec 11). */
typedef enum trn_core_engine_mode {
    TRN_CORE_ENGINE_IDLE = 0,
    TRN_CORE_ENGINE_RUNNING = 1,
    TRN_CORE_ENGINE_WAITING = 2,
    TRN_CORE_ENGINE_HALTED = 3,
    TRN_CORE_ENGINE_STOPPED = 4,
    TRN_CORE_ENGINE_FAILED = 5
} trn_core_engine_mode;
/** "idle", "running", ...; "unknown" otherwise. */
const char* trn_core_engine_mode_name(uint32_t mode);
/** "ILLEGAL_INSTRUCTION", ... (NeuronCore spec 10.1); "none" for 0, "unknown" otherwise. */
const char* trn_core_error_name(uint32_t error);

/** State of an engine in a core dump. */
typedef struct trn_core_engine_state {
    uint32_t mode;      /**< trn_core_engine_mode */
    uint32_t error;     /**< code of NeuronCore spec 10.1; 0: none */
    uint32_t semaphore; /**< index of the semaphore or event, while WAITING */
    int32_t wait_value; /**< awaited value */
    uint64_t program;   /**< AXI address */
    uint32_t program_words, start_pc, pc, retired;
    uint32_t error_pc, error_detail;
    uint32_t fp_config, seed, notify_config, wait_limit;
    uint64_t busy_cycles, wait_cycles, bytes_read, bytes_written;
    uint32_t version;
    uint32_t registers[TRN_CORE_REGISTERS];
    uint8_t instruction[64]; /**< buffered program bytes from pc on; 0 if not buffered */
} trn_core_engine_state;

/** Reads the control block of an engine by register access. Precondition: trn_probe only; works
 * while another host uses the core. */
trn_status trn_core_engine_read(trn_device* device, uint32_t core, uint32_t engine,
                                trn_core_engine_state* state);

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct trn_program trn_program;

/** Whether programs can be loaded: trn_reset_device succeeded. */
bool trn_program_possible(const trn_device* device);

typedef enum trn_program_control {
    TRN_CONTROL_BY_MMIO = 0, /**< control blocks and semaphores through the register BAR */
    TRN_CONTROL_BY_DMA = 1   /**< written by DMA, as the public driver's PROGRAM_ENGINE does */
} trn_program_control;

typedef enum trn_program_completion {
    TRN_WAIT_BY_NOTIFICATION = 0, /**< a ring of the core's notification queues in host memory */
    TRN_WAIT_BY_POLLING = 1       /**< STATUS of each engine */
} trn_program_completion;

/** All zero: defaults. */
typedef struct trn_program_options {
    uint32_t core; /**< device core of the program's core 0; its other cores follow */
    trn_program_control control;
    trn_program_completion completion;
    uint32_t notify_slot;   /**< slot of errors and notifications of all engines */
    uint64_t memory;        /**< AXI address of memory for images and tensors */
    uint64_t memory_bytes;  /**< 0: each core's share of the upper half of its HBM stack */
    uint32_t wait_limit_us; /**< WAIT_LIMIT of every engine; 0: none */
} trn_program_options;

/** Checks a program set file and assigns its addresses on the device, apart from those of other
 * loaded programs, without writing or running it. `bytes` is copied. options may be NULL.
 * TRN_INVALID_ARGUMENT: damaged file or unknown core; TRN_NOT_SUPPORTED: file for another
 * generation; TRN_NO_MEMORY: the program does not fit. */
trn_status trn_program_load(trn_device* device, const void* bytes, uint64_t size,
                            const trn_program_options* options, trn_program** program);

/** Stops running engines, releases queues and notification rings and frees the program. NULL is
 * allowed. Returns the first failure. */
trn_status trn_program_unload(trn_program* program);

/** Frees a program without access to the device: after a reset of its cores or the loss of the
 * device. Host memory of its notification rings stays allocated by the device. NULL is allowed. */
void trn_program_free(trn_program* program);

typedef enum trn_tensor_role {
    TRN_TENSOR_IN = 0,
    TRN_TENSOR_OUT = 1,
    TRN_TENSOR_INOUT = 2,
    TRN_TENSOR_SCRATCH = 3
} trn_tensor_role;

typedef struct trn_tensor {
    const char* name; /**< valid as long as the program */
    uint32_t type;    /**< code of NeuronCore spec 3.1; 0..13 as trn_element */
    trn_tensor_role role;
    uint32_t rank, dimensions[TRN_MAX_TENSOR_RANK]; /**< slowest dimension first */
    uint64_t bytes;
    uint64_t address; /**< AXI */
} trn_tensor;

/** Name and bytes of an element type; "unknown" and 0 for unknown types. */
const char* trn_tensor_type_name(uint32_t type);
uint32_t trn_tensor_type_bytes(uint32_t type);

uint32_t trn_program_tensors(const trn_program* program);
/** false: there is no tensor of that number. */
bool trn_program_tensor(const trn_program* program, uint32_t number, trn_tensor* tensor);
/** false: there is no tensor of that name. */
bool trn_program_find_tensor(const trn_program* program, const char* name, uint32_t* number);

/** Moves a tensor to an AXI address of the caller from the next start on: device memory, or host
 * memory of this device (trn_buffer_address). */
trn_status trn_program_bind(trn_program* program, uint32_t tensor, uint64_t address);
/** Copies between ordinary memory and a part of a tensor. */
trn_status trn_program_write(trn_program* program, uint32_t tensor, uint64_t offset,
                             const void* bytes, uint64_t size);
trn_status trn_program_read(trn_program* program, uint32_t tensor, uint64_t offset, void* bytes,
                            uint64_t size);

/** Resets the program's engines, writes streams and rings to HBM if they changed or after
 * trn_probe, assigns the rings to queues, and clears the program's semaphores and events and its
 * engines' FP_CONFIG and SEED. TRN_BUSY: an engine, or another loaded program on a core of this
 * one, is running. */
trn_status trn_program_prepare(trn_program* program);
/** Starts all engines, after trn_program_prepare unless it was called since the last start and the
 * last reset. */
trn_status trn_program_start(trn_program* program);

/** Result of a run. */
typedef struct trn_program_result {
    bool done;             /**< all engines halted, failed or stopped */
    bool failed;           /**< an engine failed or stopped: see the fields below */
    uint32_t core, engine; /**< core: number in the program */
    uint32_t error, error_pc, error_detail;
    const char* file; /**< source of error_pc; NULL: unknown */
    uint32_t line;
    uint32_t codes[TRN_MAX_PROGRAM_CORES][TRN_CORE_ENGINES]; /**< payload of the last NOTIFY or
                                                                HALT; 0 if polled */
    uint64_t started_ns, ended_ns; /**< simulated time; end: of the last notification, or of its
                                        detection */
    uint32_t clock_permille; /**< lowest clock rate of a core in throttle entries; 1000: no entry
                                  (trn_set_throttling_notifications), or polled */
} trn_program_result;

/** Updates the result; does not wait. */
trn_status trn_program_poll(trn_program* program, trn_program_result* result);
/** Waits until every engine halted, or one failed, at most `limit` nanoseconds of simulated time
 * (of the transport's clock where it does not know simulated time). TRN_TIMED_OUT: trn_last_error
 * names an engine and its wait; TRN_ABORTED: an engine failed, or a DMA queue of the program has
 * stopped on an error (checked after 1, 2, 4, ... milliseconds, and at the end; see
 * trn_last_error); TRN_OK otherwise. *result is filled in all these cases. */
trn_status trn_program_wait(trn_program* program, uint64_t limit, trn_program_result* result);

/** Number of the program's cores; whether an engine has a stream. */
uint32_t trn_program_cores(const trn_program* program);
bool trn_program_uses(const trn_program* program, uint32_t core, uint32_t engine);
/** Source file and line of a stream's word; false: unknown. */
bool trn_program_source(const trn_program* program, uint32_t core, uint32_t engine, uint32_t pc,
                        const char** file, uint32_t* line);
/** The device core of a program's core. */
uint32_t trn_program_device_core(const trn_program* program, uint32_t core);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRNVP_H
#define TRNVP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A machine in this process: libtrnvp.so (doc/library.md).
 *
 * Threads: one. Every call comes from the thread that made the machine; calls of others are refused
 * with TRNVP_UNAVAILABLE. The library starts no thread, changes no signal, and prints nothing on
 * standard output.
 *
 * Time: simulated time advances inside calls that say so, and never between calls. The same calls
 * with the same arguments have the same results, to the picosecond.
 *
 * Callbacks run inside such calls, and must return: no longjmp, no exception. They may read and
 * write memory and call methods that do not wait; a call that advances time is refused with
 * TRNVP_UNAVAILABLE. An exception that leaves a callback ends the call that runs with
 * TRNVP_FAILED.
 *
 * Errors: functions return a trnvp_status, and trnvp_last_error() a sentence. After an error, what
 * the call points to is unchanged and the machine can be used, unless the status is TRNVP_ENDED.
 * No exception leaves the library. Errors of the library itself abort, as a failed assertion does.
 *
 * Ownership: what a call returns belongs to the machine, and is valid until trnvp_destroy() unless
 * the call says otherwise. Texts are UTF-8 and end with a zero byte. */

/** Version of this interface. Libraries with the same number are compatible: functions are added,
 * not changed. It is the number of the soname. */
#define TRNVP_ABI 0

#if defined(__GNUC__)
#define TRNVP_API __attribute__((visibility("default")))
#else
#define TRNVP_API
#endif

typedef enum trnvp_status {
    TRNVP_OK = 0,
    TRNVP_INVALID_ARGUMENT = 1, /**< a null pointer, a closed handle, a number out of range */
    TRNVP_REFUSED = 2,          /**< the board, an option or a method refuses what was given */
    TRNVP_NOT_FOUND = 3,        /**< nothing has this name */
    TRNVP_NO_RESPONSE = 4,      /**< nothing responds at the address, or it cannot be written */
    TRNVP_UNAVAILABLE = 5,      /**< not in this process, thread or callback */
    TRNVP_TIME_LIMIT = 6,       /**< the limit of simulated time came before the condition */
    TRNVP_WALL_LIMIT = 7,       /**< the limit of wall time came first */
    TRNVP_STALLED = 8,          /**< no event is pending; the error names what waits */
    TRNVP_PAUSED = 9,           /**< a breakpoint; the next call that advances time resumes */
    TRNVP_ENDED = 10,           /**< a model ended the simulation: time does not advance any more */
    TRNVP_OUT_OF_MEMORY = 11,
    TRNVP_FAILED = 12, /**< a callback or the operating system failed, or output is incomplete */
    TRNVP_STATUS_32_BITS = 0x7fffffff
} trnvp_status;

typedef struct trnvp_machine trnvp_machine;
typedef struct trnvp_function trnvp_function; /**< a PCIe function of a machine */

/** Version of the library: "0.2.0". */
TRNVP_API const char* trnvp_version(void);
/** TRNVP_ABI of the library, to be compared with that of this header. */
TRNVP_API uint32_t trnvp_abi(void);
/** The error of the last call of this thread that failed, valid until the next one that fails;
 * "" before. */
TRNVP_API const char* trnvp_last_error(void);

/* --- Life */

/** Reads, builds and elaborates a board; simulated time is 0, and no hart has run.
 *
 * `board`: a name of `trnvp boards`, or a path. `options`: `count` words of `trnvp run`:
 * {"--set", "server_id=3", "--seed", "7", "--trace", "boot.trace", "--kinds", "libmine.so"}; those
 * of sockets, of ends and of standard output are refused. Boards and firmware are those of the
 * library's installation or build, or of $TRNVP_BOARDS and $TRNVP_FIRMWARE.
 *
 * TRNVP_REFUSED: mistakes in the board or the options, each with its place; the call may be
 * repeated if the mistake was found before modules were made. TRNVP_UNAVAILABLE: this process has
 * or had a machine, or other modules of SystemC, which elaborates once in a process. */
TRNVP_API trnvp_status trnvp_create(const char* board, size_t count, const char* const* options,
                                    trnvp_machine** machine);
/** Completes its files and ends the machine and all its handles. TRNVP_FAILED: a file is
 * incomplete; the machine has ended nevertheless. The process keeps its memory, and can have no
 * other machine. */
TRNVP_API trnvp_status trnvp_destroy(trnvp_machine* machine);

/* --- Time, in ps of simulated time since the start */

/** Simulated time; 0 if there is no such machine. */
TRNVP_API uint64_t trnvp_time_ps(const trnvp_machine* machine);
/** Lets time advance to `time_ps`, which must not be in the past. */
TRNVP_API trnvp_status trnvp_run_until(trnvp_machine* machine, uint64_t time_ps);
/** Returns whether to end the run. It is called at the start, and after events at the next multiple
 * of 10 us. */
typedef int (*trnvp_condition)(void* context);
/** Lets time advance until `condition` returns another value than 0; TRNVP_TIME_LIMIT at `time_ps`
 * (UINT64_MAX: no limit), TRNVP_WALL_LIMIT after `wall_seconds` of the host's clock (0: no limit),
 * TRNVP_STALLED if no event is pending and there is no `time_ps`. Other conditions, such as a
 * chip that is ready, are in trnvp_call() of "run". */
TRNVP_API trnvp_status trnvp_run_until_true(trnvp_machine* machine, trnvp_condition condition,
                                            void* context, uint64_t time_ps, double wall_seconds);

/* --- Methods */

/** Calls a control method (doc/control-methods.md): registers, statistics, faults, consoles, waits.
 * `parameters`: a JSON object, or NULL for none. `*result`: its JSON, valid until the next call
 * of this function; also of an error of the method: {"code": -32001, "message": "..."}. `result`
 * may be NULL. Methods that wait let time advance:
 * trnvp_call(machine, "run", "{\"condition\": \"ready\", \"wall_limit\": 60}", &result). Not for
 * sessions: hello, subscribe, quit. */
TRNVP_API trnvp_status trnvp_call(trnvp_machine* machine, const char* method,
                                  const char* parameters, const char** result);

/* --- Registers and memory: none of these takes simulated time */

/** Reads a register without side effects: "chip0.udma0.M2S_PREFETCH_CFG_3", a field after one more
 * dot. */
TRNVP_API trnvp_status trnvp_read_register(trnvp_machine* machine, const char* name,
                                           uint64_t* value);
/** Writes a register as software does: a doorbell rings, a read-only one refuses. */
TRNVP_API trnvp_status trnvp_write_register(trnvp_machine* machine, const char* name,
                                            uint64_t value);

#define TRNVP_MAX_BYTES ((uint64_t)1 << 30) /**< of one access */

/** Reads bytes of an address space of trnvp_call() "list", {"what": "spaces"}, without side
 * effects. At most TRNVP_MAX_BYTES, of any alignment. */
TRNVP_API trnvp_status trnvp_peek(trnvp_machine* machine, const char* space, uint64_t address,
                                  void* bytes, uint64_t size);
/** Writes as software does: a doorbell rings. After an error, bytes before the address that does
 * not respond may be written. */
TRNVP_API trnvp_status trnvp_poke(trnvp_machine* machine, const char* space, uint64_t address,
                                  const void* bytes, uint64_t size);
/** Writes without side effects, also what software cannot write. */
TRNVP_API trnvp_status trnvp_deposit(trnvp_machine* machine, const char* space, uint64_t address,
                                     const void* bytes, uint64_t size);
/** Points `*bytes` at plain memory of a space, as the direct memory interface of TLM-2.0 does; to
 * be written only if `writable` is not 0. Accesses through the pointer take no time, and no fault,
 * protection or trace sees them. TRNVP_REFUSED: not plain memory, not in use yet, not one piece, or
 * the model must see each write, as HBM; use peek and poke. */
TRNVP_API trnvp_status trnvp_map(trnvp_machine* machine, const char* space, uint64_t address,
                                 uint64_t size, int writable, void** bytes);

/* --- Consoles and log */

/** `text` has `size` bytes without a zero byte at the end, and is valid during the call. */
typedef void (*trnvp_on_text)(void* context, const char* console, const char* text, size_t size);
/** Sets the callback for output of all consoles; NULL: none. Input: trnvp_call() of "type". */
TRNVP_API trnvp_status trnvp_on_console(trnvp_machine* machine, trnvp_on_text callback,
                                        void* context);
/** `line`: severity, time and module in it, without a newline; `severity`: "info", "warning" or
 * "error". */
typedef void (*trnvp_on_line)(void* context, const char* severity, const char* line);
/** Sets the callback for lines of the log of this process, also before trnvp_create(); NULL:
 * standard error. */
TRNVP_API trnvp_status trnvp_on_log(trnvp_on_line callback, void* context);

/* --- PCIe functions, as their host sees them */

/** Finds the function of a chip or card by its name in trnvp_call() "list", {"what": "functions"}:
 * "chip0". The same name returns the same handle. */
TRNVP_API trnvp_status trnvp_find_function(trnvp_machine* machine, const char* name,
                                           trnvp_function** function);
/** Bytes of a BAR (0 to 5); 0 if there is none. */
TRNVP_API uint64_t trnvp_bar_size(const trnvp_function* function, uint32_t bar);
/** The address of a BAR for other functions of the server; TRNVP_NOT_FOUND: it has none. */
TRNVP_API trnvp_status trnvp_bar_address(const trnvp_function* function, uint32_t bar,
                                         uint64_t* address);
/** One access of any size and alignment, without a combination or repetition; registers want 4
 * aligned bytes. Time advances by its duration: 200 ns for a read or 20 ns for a write in the host
 * (invented), and what the device takes. A read without completion returns all ones. */
TRNVP_API trnvp_status trnvp_bar_read(trnvp_function* function, uint32_t bar, uint64_t offset,
                                      void* bytes, uint64_t size);
TRNVP_API trnvp_status trnvp_bar_write(trnvp_function* function, uint32_t bar, uint64_t offset,
                                       const void* bytes, uint64_t size);
/** Configuration space: 1, 2 or 4 aligned bytes below 4096. Time advances as above. */
TRNVP_API trnvp_status trnvp_config_read(trnvp_function* function, uint32_t offset, uint32_t width,
                                         uint32_t* value);
TRNVP_API trnvp_status trnvp_config_write(trnvp_function* function, uint32_t offset, uint32_t width,
                                          uint32_t value);
/** Zeroed memory of the host that the function can access at `*iova`, in whole pages of 4096
 * bytes; functions of a server share it. TRNVP_OUT_OF_MEMORY: none is left. */
TRNVP_API trnvp_status trnvp_host_alloc(trnvp_function* function, uint64_t size, void** bytes,
                                        uint64_t* iova);
/** Frees what trnvp_host_alloc(size) returned; anything else has no effect. */
TRNVP_API trnvp_status trnvp_host_free(trnvp_function* function, uint64_t iova, uint64_t size);
/** Lets the function access `size` bytes of the caller at `iova`, until trnvp_unmap_host() or
 * trnvp_destroy(). TRNVP_REFUSED: the range is empty, wraps, or overlaps another one. */
TRNVP_API trnvp_status trnvp_map_host(trnvp_function* function, uint64_t iova, void* bytes,
                                      uint64_t size);
/** Ends the ranges inside of [iova, iova + size). TRNVP_REFUSED: a range is partly inside. */
TRNVP_API trnvp_status trnvp_unmap_host(trnvp_function* function, uint64_t iova, uint64_t size);
typedef void (*trnvp_on_message)(void* context, uint32_t vector);
/** Number of MSI-X vectors of a function. */
TRNVP_API uint32_t trnvp_interrupt_vectors(const trnvp_function* function);
/** Sets the callback of a vector; NULL: the vector is off. */
TRNVP_API trnvp_status trnvp_on_interrupt(trnvp_function* function, uint32_t vector,
                                          trnvp_on_message callback, void* context);
/** Function-level reset; mappings and callbacks stay. */
TRNVP_API trnvp_status trnvp_function_reset(trnvp_function* function);

/* --- Copies of the process */

/** fork(): the child has a copy of the machine and continues it, as plain fork() does too. `*pid`
 * is 0 in the child. The waiting parent is a saved state: each child starts from it. The caller
 * flushes its streams before, and waits for the child. TRNVP_REFUSED: the states would share
 * something: a file (--trace, --vcd, an image of a disk), or memory (shared_hbm). Handles, mapped
 * memory and callbacks are the same in both. */
TRNVP_API trnvp_status trnvp_fork(trnvp_machine* machine, int64_t* pid);
/** Checks the same, for callers that fork in another way. */
TRNVP_API trnvp_status trnvp_check_fork(trnvp_machine* machine);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_GUEST_PROGRAM_H
#define TRN_GUEST_PROGRAM_H

#include <stdbool.h>

#include "sw-stubs/transports/neuron/neuron.h"
#include "sw-stubs/transports/sysfs/sysfs.h"
#include "trn_driver.h"

enum { MAX_DEVICES = 64, MAX_FUNCTIONS = 256, TRN_VENDOR = 0x1d0f };

/* A function under test. Its transport belongs to `device`; it may be used directly where the
 * driver stub has no call. */
struct subject {
    trn_sysfs_function function; /* via_driver: only its name, for messages */
    bool via_driver;             /* the public Neuron driver's device of this number */
    unsigned number;
    trn_transport transport;
    trn_device* device;
};

/* Prints one line: the device, the step and its result. (report.c) */
void say(const struct subject* subject, const char* step, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* As say, marked WRONG; returns false. */
bool wrong(const struct subject* subject, const char* step, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether a call of the driver stub succeeded; prints the error otherwise. */
bool good(const struct subject* subject, const char* step, trn_status status);

/* Opens the function's transport, and its device over that. False: printed as WRONG. */
bool open_transport(struct subject* subject);
bool create_device(struct subject* subject, const trn_options* options);

/* Sets SERR# Enable of every PCI function and bridge, as a machine's firmware does: without it no
 * error message reaches a root port. Prints each function that cannot be written (errors.c). */
bool enable_error_messages(void);
/* PCI capabilities, as lspci -vv walks them (capabilities.c). */
bool walk_capabilities(const struct subject* subject);
/* Probe, reset, firmware, copies through the host-transfer rings (check.c). */
bool check_device(const struct subject* subject);
/* Elects this machine's node id in its pod, together with the neighbours' machines (elect.c). */
bool elect(struct subject* subjects, int count);
/* Runs a program set on a core: inputs and expected outputs are "TENSOR=FILE" (run.c). */
bool run_program(const struct subject* subject, uint32_t core, const char* set, char** pairs,
                 int count);
/* Rows "bench NAME VALUE UNIT" for tests/bench (bench.c). */
bool measure(struct subject* subject);

/* Seconds of the monotonic clock. */
double seconds_now(void);

#endif

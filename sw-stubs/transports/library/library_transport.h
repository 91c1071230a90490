/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIBRARY_TRANSPORT_H
#define TRN_LIBRARY_TRANSPORT_H

#include "trn_driver_abi.h"
#include "trn_transport.h"
#include "trnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fills `transport` for trn_create(): a PCIe function ("chip0") of a machine in this process
 * (doc/library.md). Its clock is simulated time, which advances in accesses and waits, so that the
 * stub's time limits are those of the public driver. Valid until it is closed, which must happen
 * before trnvp_destroy(). Returns 0; -ENODEV: trnvp_last_error() says why; -ENOMEM. */
int trn_library_transport(trnvp_machine* machine, const char* function, trn_transport* transport);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_DRIVER_H
#define TRN_DRIVER_H

/* The driver stub: the work of a host's kernel driver for a Trainium function, as a C library over
 * any transport. "Contract n" in these comments is section n of doc/spec/device-contract.md.
 *
 * Life of a device: trn_create -> trn_probe -> trn_reset_device -> copies and other operations ->
 * trn_destroy.
 *
 * Addresses of memory inside the chip and of host memory are AXI addresses as DMA descriptors carry
 * them (contract 3.1); trn_hbm_address, trn_sbuf_address and trn_buffer_address compute them. Sizes
 * are in bytes, times in nanoseconds, unless stated otherwise.
 *
 * Every wait is bounded on the transport's clock: nothing here blocks for ever.
 *
 * Threads: one at a time per device, as for its transport. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trn_bars.h"
#include "trn_compute.h"
#include "trn_copies.h"
#include "trn_device.h"
#include "trn_firmware.h"
#include "trn_memory.h"
#include "trn_notifications.h"
#include "trn_pod.h"
#include "trn_rings.h"
#include "trn_status.h"
#include "trn_sync.h"
#include "trn_topology.h"
#include "trn_transport.h"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_NEURON_H
#define TRN_NEURON_H

#include <stddef.h>

#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The driver stub on a device of the public Neuron driver: requests to /dev/neuronN (contract 13.2)
 * instead of BARs and rings of the stub. The driver resets the device, allocates memory, copies,
 * and sets up rings and notification queues (trn_kernel_driver). Registers are accessed by its BAR
 * requests, which refuse registers of rings and of the mailbox. Needs root, for configuration
 * space. */

/** Waits until the driver has reset the device. Fills *transport and returns 0, or a negative errno
 * with a message in `why`. */
int trn_neuron_transport(unsigned number, trn_transport* transport, char* why, size_t why_size);

/** Number of consecutive device files /dev/neuron0, /dev/neuron1, ... */
unsigned trn_neuron_count(void);

#ifdef __cplusplus
}
#endif

#endif

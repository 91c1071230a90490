/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_NEURON_H
#define TRN_NEURON_H

#include <stddef.h>

#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The driver stub on a device of the public Neuron driver: requests to /dev/neuronN (contract 13.2)
 * in place of BARs and rings of the stub's own. The driver has reset the device, allocates memory,
 * copies, and sets up rings and notification queues (trn_kernel_driver); registers are read and
 * written by its BAR requests, which refuse those of rings and of the mailbox. As root, for
 * configuration space. */

/** Waits until the driver has reset the device. Fills *transport and returns 0, or a negative errno
 * and a sentence in `why`. */
int trn_neuron_transport(unsigned number, trn_transport* transport, char* why, size_t why_size);

/** Numbers 0, 1, ... that have a file in /dev: how many there are. */
unsigned trn_neuron_count(void);

#ifdef __cplusplus
}
#endif

#endif

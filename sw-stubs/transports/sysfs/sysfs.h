/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_SYSFS_H
#define TRN_SYSFS_H

#include <stddef.h>

#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The driver stub on a PCI function of the machine it runs on, through Linux's sysfs.
 * Preconditions: root, no kernel driver bound, IOMMU off. BARs are mapped in windows on first
 * access. DMA memory is physically contiguous: a huge page of 1 GiB if one is free (kernel command
 * line "hugepagesz=1G hugepages=1"), else of 2 MiB, which limits an allocation. Addresses are read
 * from /proc/self/pagemap. */

/** `function`: "0000:00:01.0". Fills *transport and returns 0, or a negative errno with a message
 * in `why`. */
int trn_sysfs_transport(const char* function, trn_transport* transport, char* why, size_t why_size);

typedef struct trn_sysfs_function {
    char name[16]; /**< "0000:00:01.0" */
    uint16_t vendor_id, device_id;
} trn_sysfs_function;

/** Finds the machine's PCI functions of one vendor, in bus order. Returns their number and stores
 * up to `room` of them; a negative errno when sysfs cannot be read. */
int trn_sysfs_find(uint16_t vendor_id, trn_sysfs_function* functions, int room);

#ifdef __cplusplus
}
#endif

#endif

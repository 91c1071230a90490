/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_SYSFS_H
#define TRN_SYSFS_H

#include <stddef.h>

#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The driver stub on a PCI function of the machine it runs on, through Linux's sysfs: as root, with
 * no kernel driver bound. BARs are mapped in pieces as they are touched. DMA memory is huge pages,
 * physically contiguous: one of 1 GiB where there is one free (kernel command line "hugepagesz=1G
 * hugepages=1"), else of 2 MiB, which then bound an allocation. Addresses come from
 * /proc/self/pagemap; an IOMMU must be off. */

/** `function`: "0000:00:01.0". Fills *transport and returns 0, or a negative errno and a sentence
 * in `why`. */
int trn_sysfs_transport(const char* function, trn_transport* transport, char* why, size_t why_size);

typedef struct trn_sysfs_function {
    char name[16]; /**< "0000:00:01.0" */
    uint16_t vendor_id, device_id;
} trn_sysfs_function;

/** The machine's PCI functions of one vendor, in bus order: how many there are; at most `room` are
 * stored. Negative errno when sysfs cannot be read. */
int trn_sysfs_find(uint16_t vendor_id, trn_sysfs_function* functions, int room);

#ifdef __cplusplus
}
#endif

#endif

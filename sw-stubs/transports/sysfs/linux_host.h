/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LINUX_HOST_H
#define TRN_LINUX_HOST_H

#include <stdint.h>

/* Shared by the transports of a Linux machine: time, and configuration space through the file
 * `config` of sysfs. Signatures as in trn_transport. */

#define TRN_SYSFS_DEVICES "/sys/bus/pci/devices"
/* Timeouts use the guest's clock and the machine may be a slow simulation, hence the large scale.
 */
#define TRN_WALL_CLOCK_SCALE 100u

uint64_t trn_linux_now(void* context);
int trn_linux_wait(void* context, uint64_t nanoseconds);
int trn_linux_config_read(int file, uint32_t offset, uint32_t width, uint32_t* value);
int trn_linux_config_write(int file, uint32_t offset, uint32_t width, uint32_t value);

#endif

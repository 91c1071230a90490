/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_BAR_H
#define TRN_LIB_BAR_H

#include <errno.h>

#include "trn_transport.h"

/* Bus address of a 64-bit BAR: the transport's, else from configuration space. -ENOTSUP: none. */
static inline int bar_bus_address(const trn_transport* t, uint32_t bar, uint64_t* address) {
    const uint32_t offset = 0x10u + 4 * bar;
    uint32_t low = 0, high = 0;
    if (t->bar_bus_address) return t->bar_bus_address(t->context, bar, address);
    int error = t->config_read(t->context, offset, 4, &low);
    if (!error) error = t->config_read(t->context, offset + 4, 4, &high);
    if (error) return error;
    *address = (uint64_t)high << 32 | (low & ~0xfu);
    return *address ? 0 : -ENOTSUP;
}

#endif

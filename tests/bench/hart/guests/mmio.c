// SPDX-License-Identifier: Apache-2.0
// Reads a device register ROUNDS x 1,000 times: the software interrupt register of hart 0.
#include "guest.h"

int main(void) {
    const volatile uint32_t* const msip = (const volatile uint32_t*)0x02000000;
    uint32_t seen = 0;
    for (unsigned long i = 0; i < ROUNDS * 1000ul; ++i) seen |= *msip;
    return (int)seen;
}

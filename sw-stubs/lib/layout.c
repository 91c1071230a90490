/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <stddef.h>

#define GIB(n) (UINT64_C(n) << 30)

/* Trainium3 is Trainium2's map with larger stacks and one more register (contract 14). */
static const trn_layout layouts[] = {
    {{0x7564, 0x7565}, 4, "Trainium3", 8, 132, 16, 4, GIB(36), true},
    {{0x7364, 0x7364}, 3, "Trainium2", 8, 132, 16, 4, GIB(24), false},
};

const trn_layout* layout_find(uint16_t device_id) {
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i)
        if (layouts[i].device_ids[0] == device_id || layouts[i].device_ids[1] == device_id)
            return &layouts[i];
    return NULL;
}

/* Contract 3.2: four SENGs of 32 engines, then one engine per direction and die for the host. */
uint64_t layout_engine(uint32_t engine) {
    static const uint64_t seng[] = {0x82000000, 0x94000000, 0xA2000000, 0xB4000000};
    static const uint64_t host[] = {0x06800000, 0x06900000, 0x46800000, 0x46900000};
    return engine < 128 ? seng[engine / 32] + (uint64_t)(engine % 32) * 0x100000
                        : host[(engine - 128) % TRN_H2T_ENGINES];
}

uint64_t layout_engine_misc(uint32_t engine) {
    return layout_engine(engine) + 0x40000;
}

uint64_t layout_engine_errors(uint32_t engine) {
    static const uint64_t seng[] = {0x8C000000, 0x9C400000, 0xAC000000, 0xBC400000};
    return seng[engine / 32 % 4] + (uint64_t)(engine % 32) * 0x20000;
}

uint64_t layout_core_sync(uint32_t core) {
    return UINT64_C(0xD0000000) + (uint64_t)core * 0x4000000 + 0x2700000;
}

/* The driver's blocks 8..15 are the hardware's 10..17 (contract 3.2). */
uint64_t layout_top_sp_sync(uint32_t number) {
    const uint64_t hardware = number < 8 ? number : number + 2;
    return UINT64_C(0xF0000000) + hardware * 0x400000;
}

/* Contract 9. Die 1 repeats die 0 at +1 GiB. */
uint64_t layout_core_notifiers(uint32_t core) {
    static const uint64_t base[] = {0x06001000, 0x06181000, 0x06401000, 0x06581000};
    return base[core % 4] + (uint64_t)(core / 4) * 0x40000000;
}

uint64_t layout_top_sp_notifiers(uint32_t number) {
    return UINT64_C(0x06A00000) + (uint64_t)(number % 8) * 0x40000 +
           (uint64_t)(number / 8) * 0x40000000;
}

uint64_t layout_engine_notifiers(uint32_t engine) {
    return layout_engine_misc(engine) + 0x1000;
}

uint64_t layout_stack(uint32_t stack) {
    static const uint64_t base[] = {0, 0x4000000000, 0x800000000000, 0x804000000000};
    return base[stack % 4];
}

uint64_t layout_core(uint32_t core) {
    return layout_stack(core / 2) + UINT64_C(0x2000000000) + (uint64_t)(core % 2) * 0x1000000000;
}

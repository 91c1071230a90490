// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/reset_service.h"

static uint32_t bits_of(uint32_t map, struct map_field field) {
    return map >> field.first_bit & ((1u << field.bits) - 1);
}

static uint32_t top_sp_lines(uint32_t top_sps) {
    const unsigned in_map = generation->reset.top_sps_per_die;
    const unsigned lines = generation->reset.top_sp_lines_per_die;
    uint32_t result = 0;
    for (unsigned n = 0; n < generation->reset.top_sps.bits; ++n)
        if (top_sps >> n & 1) result |= 1u << (n / in_map * lines + n % in_map);
    return result;
}

static uint32_t host_engines(uint32_t groups) {
    const unsigned sharing = generation->reset.dma_groups_per_host_engine;
    const uint32_t all = (1u << sharing) - 1;
    uint32_t engines = 0;
    for (unsigned engine = 0; engine < generation->reset.host_engines; ++engine)
        if ((groups >> sharing * engine & all) == all) engines |= 1u << engine;
    return engines;
}

struct reset_domains reset_map_domains(uint32_t map) {
    const uint32_t groups = bits_of(map, generation->reset.dma_groups);
    return (struct reset_domains){
        .dma = groups | TRN_RESET_CONTROLLER_DMA_RESET_HOST_SET(host_engines(groups)),
        .tpb = bits_of(map, generation->reset.cores),
        .top_sp = top_sp_lines(bits_of(map, generation->reset.top_sps)),
    };
}

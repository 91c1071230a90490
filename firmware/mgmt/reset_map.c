// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/axi_map.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/reset_service.h"

/// The map counts the 16 TOP_SPs that the driver uses; the hardware has 10 per die.
static uint32_t top_sp_pairs(uint32_t groups) {
    enum { GROUPS_PER_DIE = 4, PAIRS_PER_DIE = 5, DIE_0 = (1 << GROUPS_PER_DIE) - 1 };
    return (groups & DIE_0) | groups >> GROUPS_PER_DIE << PAIRS_PER_DIE;
}

/// Two NeuronCores share a host-transfer engine: it goes down only with both (section 5.3).
static uint32_t host_engines(uint32_t groups) {
    uint32_t engines = 0;
    for (unsigned engine = 0; engine < DMA_HOST_ENGINES; ++engine)
        if ((groups >> 2 * engine & 3) == 3) engines |= 1u << engine;
    return engines;
}

struct reset_domains reset_map_domains(uint32_t map) {
    const uint32_t dma_groups = TRN_MISC_RAM_RESET_MAP_DMA_GROUPS_GET(map);
    return (struct reset_domains){
        .dma = dma_groups | TRN_RESET_CONTROLLER_DMA_RESET_HOST_SET(host_engines(dma_groups)),
        .tpb = TRN_MISC_RAM_RESET_MAP_CORES_GET(map),
        .top_sp = top_sp_pairs(TRN_MISC_RAM_RESET_MAP_TOP_SPS_GET(map)),
    };
}

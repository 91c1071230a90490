/* SPDX-License-Identifier: Apache-2.0 */
#include "registers.h"
#include "trn_driver.h"

/* Descriptors of copies (contract 7), and the ring id in any descriptor. */

trn_descriptor trn_m2s_descriptor(uint64_t source, uint32_t size, uint32_t ring_id,
                                  uint32_t flags) {
    /* Contract 7.2: first and last descriptor of a packet, op type 2 (copy). */
    const uint32_t packet = (size & 0xffff) | (ring_id & 3) << 24 | 1u << 26 | 1u << 27;
    const uint32_t copy = 1u << 0 | 1u << 1 | 1u << 19 | 2u << 23;
    trn_descriptor d = {{packet | (flags & TRN_DMB ? 1u << 30 : 0),
                         copy | (flags & TRN_WRITE_BARRIER ? 1u << 26 : 0), (uint32_t)source,
                         (uint32_t)(source >> 32)}};
    return d;
}

trn_descriptor trn_s2m_descriptor(uint64_t destination, uint32_t size, uint32_t ring_id,
                                  uint32_t flags) {
    /* Contract 7.3 */
    const uint32_t word = (size & 0xffff) | (ring_id & 3) << 24;
    trn_descriptor d = {{word | (flags & TRN_STRONG_ORDER ? 1u << 29 : 0), 0, (uint32_t)destination,
                         (uint32_t)(destination >> 32)}};
    return d;
}

trn_descriptor trn_descriptor_with_ring_id(trn_descriptor d, uint32_t ring_id) {
    d.words[0] = (d.words[0] & ~(uint32_t)TRN_DMA_DESCRIPTOR_M2S_CONTROL_RING_ID_MASK) |
                 TRN_DMA_DESCRIPTOR_M2S_CONTROL_RING_ID_SET(ring_id);
    return d;
}

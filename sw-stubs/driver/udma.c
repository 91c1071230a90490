/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

/* DMA engines and queues: set-up in the order of contract 6.3, and state. */

#define QUEUE_STOPPED 0x03000000u
#define QUEUE_RUNNING 0x03030000u
#define QUEUE_RESET_POINTERS (1u << 8)

#define RING_ID_ERROR_M2S (1u << 17) /* contract 6.4 */
#define RING_ID_ERROR_S2M (1u << 11)
#define FIS_MASK_90 (1u << 11)
#define FIS_MASK_D0 (1u << 2)

#define AXI_INTERFACES 6u /* contract 15.3: set up by the driver */
#define AXI_ERROR_ROWS 16u

static void set_bits(trn_mmio* io, uint64_t offset, uint32_t bits) {
    trn_mmio_write(io, offset, trn_mmio_read(io, offset) | bits);
}

static void init_queues(trn_mmio* io, uint64_t base) {
    for (uint32_t q = 0; q < TRN_QUEUES; ++q) {
        trn_mmio_write(io, base + UDMA(M2S_Q_CFG)(q), 0x30000);
        trn_mmio_write(io, base + UDMA(S2M_Q_CFG)(q), 0x30000);
    }
}

static void init_data_path(trn_mmio* io, uint64_t base) {
    const trn_generation* generation = io->device->generation;
    trn_mmio_write(io, base + UDMA(M2S_DATA_CFG), generation->m2s_data_cfg);
    trn_mmio_write(io, base + UDMA(M2S_OUTSTANDING_CFG), generation->m2s_outstanding);
    trn_mmio_write(io, base + UDMA(AXI_TIMEOUT), 100000000);
    trn_mmio_write(io, base + UDMA(M2S_ACK_TIMEOUT), 0);
    trn_mmio_write(io, base + UDMA(M2S_PACKET_LENGTH), 0x010FFFFF);
    trn_mmio_write(io, base + UDMA(M2S_STREAM_CFG), 0x00000102);
    for (uint32_t q = 0; q < TRN_QUEUES; ++q)
        trn_mmio_write(io, base + UDMA(ADDRESS_HI_TX)(q), 0xFFFFFFFF);
    trn_mmio_write(io, base + UDMA(M2S_DATA_READ_CFG), 0x00010008);
    trn_mmio_write(io, base + UDMA(S2M_ACK_TIMEOUT), 0);
    for (uint32_t q = 0; q < TRN_QUEUES; ++q) {
        trn_mmio_write(io, base + UDMA(ADDRESS_HI_RX_0)(q), 0xFFFFFFFF);
        trn_mmio_write(io, base + UDMA(ADDRESS_HI_RX_1)(q), 0xFFFFFFFF);
        trn_mmio_write(io, base + UDMA(ADDRESS_HI_RX_2)(q), 0xFFFFFFFF);
    }
    trn_mmio_write(io, base + UDMA(S2M_OUTSTANDING_READ), generation->s2m_outstanding_read);
    trn_mmio_write(io, base + UDMA(S2M_OUTSTANDING_WRITE), 0x40804080);
    if (generation->has_outstanding_write_2) {
        const uint64_t offset = base + UDMA(S2M_OUTSTANDING_WRITE_2);
        const uint32_t low_field = 0xffff;
        trn_mmio_write(io, offset, (trn_mmio_read(io, offset) & ~low_field) | 256);
    }
    /* Bit 0 clear: the hardware reports completion heads. */
    const uint64_t spare = base + UDMA(SPARE_ZEROES_0);
    trn_mmio_write(io, spare, trn_mmio_read(io, spare) & ~1u);
}

/* Selects the errors that abort the engine. The writes are in the public driver's order. */
static void init_interrupts(trn_mmio* io, uint64_t base) {
    trn_mmio_write(io, base + UDMA(SECONDARY_CONTROL)(GROUP_A), 0x28);
    trn_mmio_write(io, base + UDMA(PRIMARY_CONTROL)(GROUP_D), 0x28);
    trn_mmio_write(io, base + UDMA(SECONDARY_ABORT_MASK)(GROUP_A), 0xF0000000);
    trn_mmio_write(io, base + UDMA(SECONDARY_ABORT_MASK)(GROUP_C), 0xFFFFFFC0);
    trn_mmio_write(io, base + UDMA(SECONDARY_MASK_CLEAR)(GROUP_A), 0xF0000000);
    trn_mmio_write(io, base + UDMA(SECONDARY_MASK_CLEAR)(GROUP_C), 0xFFFFFFC0);
    trn_mmio_write(io, base + UDMA(PRIMARY_MASK_CLEAR)(GROUP_D), 0xFFFFFAFF);

    trn_mmio_write(io, base + UDMA(SECONDARY_CONTROL)(GROUP_B), 0x28);
    trn_mmio_write(io, base + UDMA(PRIMARY_CONTROL)(GROUP_D), 0x28);
    trn_mmio_write(io, base + UDMA(SECONDARY_ABORT_MASK)(GROUP_B), 0x000010F8);
    trn_mmio_write(io, base + UDMA(SECONDARY_ABORT_MASK)(GROUP_C), 0xFFFFF03F);
    trn_mmio_write(io, base + UDMA(SECONDARY_MASK_CLEAR)(GROUP_B), 0x000010F8);
    trn_mmio_write(io, base + UDMA(SECONDARY_MASK_CLEAR)(GROUP_C), 0xFFFFF03F);
    trn_mmio_write(io, base + UDMA(PRIMARY_MASK_CLEAR)(GROUP_D), 0xFFFFF9FF);
}

static void init_prefetch(trn_mmio* io, uint64_t base) {
    trn_mmio_write(io, base + UDMA(S2M_COMPLETION_CFG_1C), 0x00001004);
    trn_mmio_write(io, base + UDMA(M2S_PREFETCH_CFG_2), 0x00010041);
    trn_mmio_write(io, base + UDMA(M2S_PREFETCH_CFG_3), 0x00004181);
    trn_mmio_write(io, base + UDMA(S2M_PREFETCH_CFG_3), 0x00004181);
    trn_mmio_write(io, base + UDMA(M2S_DESC_READ_CFG_3), 0x00010008);
    trn_mmio_write(io, base + UDMA(S2M_DESC_READ_CFG_3), 0x00010008);
}

static void init_misc(trn_mmio* io, uint64_t misc) {
    trn_mmio_write(io, misc + SDMA_MISC(READ_REORDER), 1);
    trn_mmio_write(io, misc + SDMA_MISC(WRITE_REORDER), 1);
    trn_mmio_write(io, misc + SDMA_MISC(EVENT_ACCELERATION), 1);
    if (io->device->generation->has_backpressure)
        trn_mmio_write(io, misc + SDMA_MISC(BACKPRESSURE_BEATS), 0x26);
}

/* Ring id errors do not abort engines of the cores: their queues may get new rings in the middle of
 * a pass. */
static void mask_ring_id_errors(trn_mmio* io, uint64_t base, uint64_t errors) {
    const uint32_t m2s =
        trn_mmio_read(io, base + UDMA(SECONDARY_MASK)(GROUP_A)) | RING_ID_ERROR_M2S;
    trn_mmio_write(io, base + UDMA(SECONDARY_MASK)(GROUP_A), m2s);
    trn_mmio_write(io, base + UDMA(SECONDARY_ABORT_MASK)(GROUP_A), m2s);
    const uint32_t s2m =
        trn_mmio_read(io, base + UDMA(SECONDARY_MASK)(GROUP_B)) | RING_ID_ERROR_S2M;
    trn_mmio_write(io, base + UDMA(SECONDARY_MASK)(GROUP_B), s2m);
    trn_mmio_write(io, base + UDMA(SECONDARY_ABORT_MASK)(GROUP_B), s2m);
    set_bits(io, errors + FIS(ERROR_MASK_0), FIS_MASK_90);
    set_bits(io, errors + FIS(ERROR_MASK_1), FIS_MASK_D0);
    set_bits(io, base + UDMA(M2S_ERROR_LOG_MASK), RING_ID_ERROR_M2S);
    set_bits(io, base + UDMA(S2M_ERROR_LOG_MASK), RING_ID_ERROR_S2M);
}

/* Contract 15.3: range of a broadcast over the sixteen engines of a core. */
static void init_broadcast(trn_mmio* io, uint64_t misc, uint32_t number) {
    const uint32_t last_nodes = 1u << 0 | 1u << 3 | 1u << 6 | 1u << 9 | 1u << 15;
    trn_mmio_write(io, misc + SDMA_MISC(BROADCAST_GROUP), 0xffffu >> number);
    trn_mmio_write(io, misc + SDMA_MISC(BROADCAST_LAST_NODE),
                   last_nodes >> number & 1 ? 0xffff : 0);
}

/* Contract 15.3: an AXI error on any of the six AXI interfaces stops its queue. */
static void abort_on_axi_errors(trn_mmio* io, uint64_t base) {
    static const uint8_t rows[] = {1, 2, 3, 9, 10, 11};
    for (uint32_t i = 0; i < AXI_INTERFACES; ++i)
        for (uint32_t n = 0; n < sizeof rows; ++n)
            trn_mmio_write(io, base + UDMA(AXI_ERROR_TABLE)(i * AXI_ERROR_ROWS + rows[n]), 0xf);
    for (uint32_t i = 0; i < AXI_INTERFACES; ++i)
        for (uint32_t q = 0; q < TRN_QUEUES; ++q) {
            trn_mmio_write(io, base + UDMA(AXI_ERROR_CONTROL_ADDRESS)(i), q << 3 | 7);
            trn_mmio_write(io, base + UDMA(AXI_ERROR_CONTROL_DATA)(i), 0x10);
        }
    for (uint32_t i = 0; i < AXI_INTERFACES; ++i) {
        trn_mmio_write(io, base + UDMA(AXI_ERROR_CAUSE_CONTROL)(i), 0x28);
        trn_mmio_write(io, base + UDMA(AXI_ERROR_ABORT_MASK)(i), 0);
        trn_mmio_write(io, base + UDMA(AXI_ERROR_MASK_CLEAR)(i), 0);
    }
    trn_mmio_write(io, base + UDMA(AXI_TIMEOUT), 0xFFFFFFFF);
}

void trn_engine_setup(trn_mmio* io, uint32_t engine) {
    const trn_generation* generation = io->device->generation;
    const trn_map* map = io->device->map;
    const uint64_t base = trn_engine_registers(io->device, engine);
    const uint64_t misc = trn_block_address(&map->engine_misc, engine);
    if (generation->has_broadcast && engine < map->user_engines)
        init_broadcast(io, misc, engine % TRN_ENGINES_PER_CORE);
    init_queues(io, base);
    init_data_path(io, base);
    init_interrupts(io, base);
    init_prefetch(io, base);
    init_misc(io, misc);
    if (generation->aborts_on_axi_errors) abort_on_axi_errors(io, base);
    const uint64_t errors = trn_block_address(&map->engine_errors, engine);
    if (errors) mask_ring_id_errors(io, base, errors);
}

void trn_queue_init(trn_mmio* io, uint32_t engine, uint32_t queue, uint64_t m2s_base,
                    uint32_t m2s_length, uint64_t s2m_base, uint32_t s2m_length) {
    const uint64_t base = trn_engine_registers(io->device, engine);
    trn_mmio_write(io, base + UDMA(M2S_Q_RATE_LIMIT_MASK)(queue), 3); /* enables DMB */
    trn_mmio_write(io, base + UDMA(M2S_Q_CFG)(queue), QUEUE_STOPPED);
    trn_mmio_write(io, base + UDMA(M2S_Q_SW_CONTROL)(queue), QUEUE_RESET_POINTERS);
    trn_mmio_write(io, base + UDMA(M2S_Q_BASE_LO)(queue), (uint32_t)m2s_base);
    trn_mmio_write(io, base + UDMA(M2S_Q_BASE_HI)(queue), (uint32_t)(m2s_base >> 32));
    trn_mmio_write(io, base + UDMA(M2S_Q_LENGTH)(queue), m2s_length);
    trn_mmio_write(io, base + UDMA(M2S_Q_COMPLETION_CFG)(queue), 0);
    trn_mmio_write(io, base + UDMA(M2S_Q_CFG)(queue), QUEUE_RUNNING);

    trn_mmio_write(io, base + UDMA(S2M_Q_CFG)(queue), QUEUE_STOPPED);
    trn_mmio_write(io, base + UDMA(S2M_Q_SW_CONTROL)(queue), QUEUE_RESET_POINTERS);
    trn_mmio_write(io, base + UDMA(S2M_Q_BASE_LO)(queue), (uint32_t)s2m_base);
    trn_mmio_write(io, base + UDMA(S2M_Q_BASE_HI)(queue), (uint32_t)(s2m_base >> 32));
    trn_mmio_write(io, base + UDMA(S2M_Q_LENGTH)(queue), s2m_length);
    trn_mmio_write(io, base + UDMA(S2M_Q_COMPLETION_CFG)(queue), 0);
    trn_mmio_write(io, base + UDMA(S2M_Q_CFG)(queue), QUEUE_RUNNING);
}

void trn_queue_park(trn_mmio* io, uint32_t engine, uint32_t queue) {
    const uint64_t m2s = trn_host_address(io->device, io->device->dummy_ring.iova);
    const uint64_t s2m = m2s + DUMMY_RING_DESCRIPTORS * sizeof(trn_descriptor);
    trn_queue_init(io, engine, queue, m2s, DUMMY_RING_DESCRIPTORS, s2m, DUMMY_RING_DESCRIPTORS);
}

trn_status trn_need_engine(trn_device* device, uint32_t engine, uint32_t queue) {
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    if (engine >= device->map->engines)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "no DMA engine %u: %s has %u", engine,
                        device->part->name, device->map->engines);
    if (queue >= TRN_QUEUES)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "no queue %u: an engine has %u", queue,
                        TRN_QUEUES);
    return TRN_OK;
}

trn_status trn_engine_init(trn_device* device, uint32_t engine) {
    const trn_status status = trn_need_engine(device, engine, 0);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    trn_engine_setup(&io, engine);
    return io.status;
}

bool trn_any_state(uint32_t states, uint32_t value) {
    for (unsigned shift = 0; shift < 16; shift += 4)
        if (((states >> shift) & 3) == value) return true;
    return false;
}

trn_status trn_engine_get_state(trn_device* device, uint32_t engine, trn_engine_state* state) {
    if (!device || !state) return trn_no_argument(device);
    const trn_status status = trn_need_engine(device, engine, 0);
    if (status != TRN_OK) return status;
    const uint64_t base = trn_engine_registers(device, engine);
    trn_mmio io = trn_mmio_of(device);
    state->m2s_state = trn_mmio_read(&io, base + UDMA(M2S_STATE));
    state->s2m_state = trn_mmio_read(&io, base + UDMA(S2M_STATE));
    const uint32_t off = 1u << 0 | 1u << 4 | 1u << 8;
    const bool streams_off = (trn_mmio_read(&io, base + UDMA(S2M_STREAM_CFG)) & off) == off;
    bool enabled = false;
    for (uint32_t q = 0; q < TRN_QUEUES; ++q)
        if (trn_mmio_read(&io, base + UDMA(S2M_Q_CFG)(q)) & 1u << 17) enabled = true;
    state->streams_enabled = enabled && !streams_off;
    const uint32_t states[] = {state->m2s_state, state->s2m_state};
    state->mode = TRN_ENGINE_IDLE;
    for (unsigned i = 0; i < 2; ++i) {
        if (trn_any_state(states[i], 1) && state->mode == TRN_ENGINE_IDLE)
            state->mode = TRN_ENGINE_NORMAL;
        if (trn_any_state(states[i], 2)) state->mode = TRN_ENGINE_ABORT;
    }
    return io.status;
}

trn_status trn_engine_set_state(trn_device* device, uint32_t engine, trn_engine_command command) {
    const trn_status status = trn_need_engine(device, engine, 0);
    if (status != TRN_OK) return status;
    if (command != TRN_ENGINE_SET_NORMAL && command != TRN_ENGINE_SET_DISABLE &&
        command != TRN_ENGINE_SET_ABORT)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%u is not an engine state", command);
    trn_mmio io = trn_mmio_of(device);
    trn_mmio_write(&io, trn_engine_registers(device, engine) + UDMA(M2S_CHANGE_STATE),
                   (uint32_t)command);
    trn_mmio_write(&io, trn_engine_registers(device, engine) + UDMA(S2M_CHANGE_STATE),
                   (uint32_t)command);
    return io.status;
}

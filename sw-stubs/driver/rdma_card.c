/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bar.h"
#include "rdma.h"
#include "trn/nitro_management_regs.h"

/* An EFA card as a PCI function with a management layer: reset, register reads through memory,
 * admin queue (EFA contract 2 to 4). */

#define REG(name) TRN_NITRO_MANAGEMENT_##name##_OFFSET
#define STATUS(field, value) TRN_NITRO_MANAGEMENT_DEV_STS_##field##_GET(value)

enum {
    pci_command = 4,
    memory_and_master = 6,
    depth = 32, /* of the admin rings */
    rings_at = 64,
    memory_bytes = rings_at + 2 * depth * sizeof(rdma_entry),
    response_bytes = 8,
};

static const uint64_t read_limit = 50000000, reset_limit = 3100000000, command_limit = 3000000000;
static const uint64_t poll_interval = 1000; /* nanoseconds */

int trn_rdma_set(const trn_rdma_card* card, uint64_t offset, uint32_t value) {
    return card->transport->bar_write32(card->transport->context, RDMA_REGISTERS, offset, value);
}

static int set_wide(const trn_rdma_card* card, uint64_t low, uint64_t high, uint64_t value) {
    const int error = trn_rdma_set(card, high, (uint32_t)(value >> 32));
    return error ? error : trn_rdma_set(card, low, (uint32_t)value);
}

static uint64_t limit_of(const trn_rdma_card* card, uint64_t nanoseconds) {
    const uint32_t scale = card->transport->timeout_scale;
    return card->transport->now(card->transport->context) + nanoseconds * (scale ? scale : 1);
}

/* Waits until the masked bits of a word in host memory equal `value`. -EIO: timeout. */
static int wait_for(const trn_rdma_card* card, const uint32_t* word, uint32_t mask, uint32_t value,
                    uint64_t limit) {
    const trn_transport* transport = card->transport;
    const uint64_t start = transport->now(transport->context), end = limit_of(card, limit);
    while ((__atomic_load_n(word, __ATOMIC_ACQUIRE) & mask) != value) {
        const uint64_t now = transport->now(transport->context), rest = (now - start) / 16;
        if (now >= end) return -EIO;
        const int error =
            transport->wait(transport->context, rest > poll_interval ? rest : poll_interval);
        if (error) return error;
    }
    return 0;
}

/* ---- registers ---- */

static int set_response_address(const trn_rdma_card* card) {
    return set_wide(card, REG(MMIO_RESP_LO), REG(MMIO_RESP_HI), card->memory.iova);
}

static int get(trn_rdma_card* card, uint32_t offset, uint32_t* value) {
    uint32_t* const response = card->memory.host;
    const uint32_t id = ++card->read_id;
    response[0] = (uint16_t)~id;
    int error = trn_rdma_set(card, REG(MMIO_REG_READ),
                             TRN_NITRO_MANAGEMENT_MMIO_REG_READ_REQUEST_ID_SET(id) |
                                 TRN_NITRO_MANAGEMENT_MMIO_REG_READ_REGISTER_OFFSET_SET(offset));
    if (!error)
        error = wait_for(card, response, TRN_NITRO_ADMIN_REGISTER_RESPONSE_REQUEST_ID_MASK, id,
                         read_limit);
    if (error) return error;
    if (TRN_NITRO_ADMIN_REGISTER_RESPONSE_REGISTER_OFFSET_GET(response[0]) != offset) return -EIO;
    *value = response[1];
    return 0;
}

static int wait_for_reset(trn_rdma_card* card, uint32_t progress) {
    const uint64_t end = limit_of(card, reset_limit);
    for (;;) {
        uint32_t status = 0;
        int error = get(card, REG(DEV_STS), &status);
        if (error || STATUS(RESET_IN_PROGRESS, status) == progress) return error;
        if (card->transport->now(card->transport->context) >= end) return -EIO;
        error = card->transport->wait(card->transport->context, poll_interval);
        if (error) return error;
    }
}

/* EFA contract 3: a reset clears the address for responses of register reads. */
static int reset(trn_rdma_card* card) {
    uint32_t status = 0;
    int error = trn_rdma_set(card, REG(DEV_CTL), TRN_NITRO_MANAGEMENT_DEV_CTL_RESET_MASK);
    if (!error) error = set_response_address(card);
    if (!error) error = wait_for_reset(card, 1);
    if (!error) error = trn_rdma_set(card, REG(DEV_CTL), 0);
    if (!error) error = wait_for_reset(card, 0);
    if (!error) error = get(card, REG(DEV_STS), &status);
    return error ? error : STATUS(READY, status) ? 0 : -EIO;
}

#define RING_CAPS(ring)                                    \
    (TRN_NITRO_MANAGEMENT_##ring##_CAPS_DEPTH_SET(depth) | \
     TRN_NITRO_MANAGEMENT_##ring##_CAPS_ENTRY_SIZE_SET(sizeof(rdma_entry)))

static int set_up_rings(trn_rdma_card* card) {
    const uint64_t submissions = card->memory.iova + rings_at;
    const uint64_t completions = submissions + depth * sizeof(rdma_entry);
    memset(card->memory.host, 0, memory_bytes);
    card->commands = 0;
    int error = set_wide(card, REG(AQ_BASE_LO), REG(AQ_BASE_HI), submissions);
    if (!error) error = trn_rdma_set(card, REG(AQ_CAPS), RING_CAPS(AQ));
    if (!error) error = set_wide(card, REG(ACQ_BASE_LO), REG(ACQ_BASE_HI), completions);
    if (!error) error = trn_rdma_set(card, REG(ACQ_CAPS), RING_CAPS(ACQ));
    return error;
}

static bool is_present(const trn_rdma_card* card, uint32_t* command) {
    uint32_t id = UINT32_MAX;
    *command = UINT32_MAX;
    if (card->transport->config_read(card->transport->context, 0, 4, &id) || id == UINT32_MAX)
        return false;
    return !card->transport->config_read(card->transport->context, pci_command, 2, command) &&
           *command != UINT16_MAX;
}

static void free_kept(trn_rdma_card* card) {
    for (uint32_t n = 0; n < card->kept_count; ++n)
        card->transport->dma_free(card->transport->context, &card->kept[n]);
    free(card->kept);
    card->kept = NULL;
    card->kept_count = 0;
}

void trn_rdma_free_memory(trn_rdma_card* card, const trn_dma_memory* memory) {
    if (!card->admin_is_closed) {
        card->transport->dma_free(card->transport->context, memory);
        return;
    }
    trn_dma_memory* more = realloc(card->kept, (card->kept_count + 1) * sizeof *more);
    if (!more) return; /* lost: the card may still write it */
    card->kept = more;
    more[card->kept_count++] = *memory;
}

int trn_rdma_reset(trn_rdma_card* card) {
    if (!card) return -EINVAL;
    uint32_t command;
    if (!is_present(card, &command)) return -ENODEV;
    ++card->resets;
    int error = card->transport->config_write(card->transport->context, pci_command, 2,
                                              command | memory_and_master);
    if (!error) error = set_response_address(card);
    if (!error) error = reset(card);
    if (!error) free_kept(card);
    if (!error) error = set_up_rings(card);
    card->admin_is_closed = error != 0;
    return error;
}

int trn_rdma_open(const trn_transport* transport, trn_rdma_card** opened) {
    if (!transport || !opened) return -EINVAL;
    trn_rdma_card* card = calloc(1, sizeof *card);
    if (!card) return -ENOMEM;
    card->transport = transport;
    int error = transport->dma_alloc(transport->context, memory_bytes, &card->memory);
    if (!error) error = trn_rdma_reset(card);
    if (error) {
        if (card->memory.size) transport->dma_free(transport->context, &card->memory);
        free(card);
        return error;
    }
    *opened = card;
    return 0;
}

void trn_rdma_close(trn_rdma_card* card) {
    if (!card) return;
    trn_rdma_set(card, REG(DEV_CTL), TRN_NITRO_MANAGEMENT_DEV_CTL_RESET_MASK);
    trn_rdma_set(card, REG(DEV_CTL), 0);
    free_kept(card);
    card->transport->dma_free(card->transport->context, &card->memory);
    free(card);
}

void trn_rdma_forget(trn_rdma_card* card) {
    if (!card) return;
    free(card->kept);
    free(card);
}

uint32_t trn_rdma_resets(const trn_rdma_card* card) {
    if (!card) return 0;
    return card->resets;
}

/* After a reset, register reads time out: the card has no address for their responses. */
int trn_rdma_state(trn_rdma_card* card, uint32_t* state) {
    if (!card || !state) return -EINVAL;
    uint32_t command, status = 0;
    *state = TRN_RDMA_ABSENT;
    if (!is_present(card, &command)) return 0;
    *state = TRN_RDMA_LOST;
    if (card->admin_is_closed) return 0;
    if ((command & memory_and_master) != memory_and_master) return 0;
    const int error = get(card, REG(DEV_STS), &status);
    if (!error && STATUS(READY, status) && !STATUS(FATAL_ERROR, status)) *state = TRN_RDMA_WORKS;
    return error == -EIO ? 0 : error;
}

/* ---- admin queue ---- */

static int error_of(uint32_t status) {
    switch (status) {
    case TRN_NITRO_ADMIN_COMPLETION_STATUS_OK:
        return 0;
    case TRN_NITRO_ADMIN_COMPLETION_STATUS_NO_RESOURCES:
        return -ENOSPC;
    case TRN_NITRO_ADMIN_COMPLETION_STATUS_BAD_OPCODE:
    case TRN_NITRO_ADMIN_COMPLETION_STATUS_UNSUPPORTED_OPCODE:
        return -ENOTSUP;
    default:
        return -EINVAL;
    }
}

/* One command at a time: its answer is the next entry of the completion ring. After a timeout this
 * is no longer known, so the queue is closed. */
int trn_rdma_execute(trn_rdma_card* card, uint32_t opcode, rdma_entry* command,
                     rdma_entry* answer) {
    if (card->admin_is_closed) return -EIO;
    rdma_entry* const submissions = (rdma_entry*)((uint8_t*)card->memory.host + rings_at);
    rdma_entry* const completions = submissions + depth;
    const uint32_t slot = card->commands % depth, phase = !(card->commands / depth & 1);
    command->words[0] |= TRN_NITRO_ADMIN_COMMAND_ID_SET(card->commands) |
                         TRN_NITRO_ADMIN_COMMAND_OPCODE_SET(opcode) |
                         TRN_NITRO_ADMIN_COMMAND_PHASE_SET(phase);
    submissions[slot] = *command;
    ++card->commands;
    int error = trn_rdma_set(card, REG(AQ_PROD_DB),
                             TRN_NITRO_MANAGEMENT_AQ_PROD_DB_COUNT_SET(card->commands));
    if (!error)
        error = wait_for(card, &completions[slot].words[0], TRN_NITRO_ADMIN_COMPLETION_PHASE_MASK,
                         TRN_NITRO_ADMIN_COMPLETION_PHASE_SET(phase), command_limit);
    card->admin_is_closed = error != 0;
    if (error) return error;
    *answer = completions[slot];
    if (TRN_NITRO_ADMIN_COMPLETION_ID_GET(answer->words[0]) !=
        TRN_NITRO_ADMIN_COMMAND_ID_GET(command->words[0])) {
        card->admin_is_closed = 1; /* the answer of another command */
        return -EIO;
    }
    return error_of(TRN_NITRO_ADMIN_COMPLETION_STATUS_GET(answer->words[0]));
}

/* ---- PCI ---- */

int trn_rdma_bus_address(trn_rdma_card* card, uint32_t bar, uint64_t offset, uint64_t* address) {
    if (!card || !address) return -EINVAL;
    uint64_t base = 0;
    if (bar > 5 || offset >= card->transport->bar_size(card->transport->context, bar))
        return -EINVAL;
    const int error = bar_bus_address(card->transport, bar, &base);
    if (!error) *address = base + offset;
    return error;
}

enum {
    capabilities = 0x34,
    msix_capability = 0x11,
    msix_enable = 0x8000,
    msix_entry_bytes = 16,
    pointer_mask = 0xfc,
    max_capabilities = 48,
};

static int find_msix(const trn_rdma_card* card, uint32_t* capability) {
    const trn_transport* t = card->transport;
    uint32_t next = 0;
    int error = t->config_read(t->context, capabilities, 1, &next);
    for (uint32_t seen = 0; !error && (next &= pointer_mask) != 0 && seen < max_capabilities;
         ++seen) {
        uint32_t header = 0;
        error = t->config_read(t->context, next, 2, &header);
        *capability = next;
        if (!error && (header & 0xff) == msix_capability) return 0;
        next = header >> 8;
    }
    return error ? error : -ENOTSUP;
}

int trn_rdma_point_vector(trn_rdma_card* card, uint32_t vector, uint64_t bus_address,
                          uint32_t data) {
    if (!card) return -EINVAL;
    const trn_transport* t = card->transport;
    uint32_t capability = 0, control = 0, table = 0;
    int error = find_msix(card, &capability);
    if (!error) error = t->config_read(t->context, capability + 2, 2, &control);
    if (!error) error = t->config_read(t->context, capability + 4, 4, &table);
    if (error) return error;
    if (vector > (control & 0x7ff)) return -EINVAL;
    const uint32_t bar = table & 7;
    const uint64_t entry = (table & ~7u) + (uint64_t)vector * msix_entry_bytes;
    const uint32_t words[] = {(uint32_t)bus_address, (uint32_t)(bus_address >> 32), data,
                              bus_address == 0};
    error = t->bar_write32(t->context, bar, entry + 12, 1); /* masked while it changes */
    for (uint32_t n = 0; n < 4 && !error; ++n)
        error = t->bar_write32(t->context, bar, entry + 4 * n, words[n]);
    if (!error && !(control & msix_enable))
        error = t->config_write(t->context, capability + 2, 2, control | msix_enable);
    return error;
}

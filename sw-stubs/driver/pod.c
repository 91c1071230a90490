/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device.h"
#include "ring.h"

/* Pod election (contract 11): a chip identifies its neighbours by DMA reads of their misc RAM
 * through its neighbour windows, and publishes the result in its own misc RAM. */

#define RING_LENGTH 1024u
#define READ_LIMIT (4 * NS_PER_MS) /* not scaled on simulator revisions */
#define POLL (50 * NS_PER_MS)
#define WINDOW(seng) (UINT64_C(1) << 52 | (uint64_t)(seng) << 50)
#define AXI_REGISTERS UINT64_C(0x8000000000) /* contract 3.2: BAR0 + 0 */
#define LINKS 4u

#define STATUS_FAILED 2u
#define STATUS_SUCCESS 3u
#define NODE_UNKNOWN 0xffu
#define MAX_SECONDARIES 15u

static trn_status need_pod(trn_device* device) {
    const trn_status status = trn_need_ready(device);
    if (status == TRN_OK && device->generation->pod_engines[0] == 0)
        return trn_fail(device, TRN_NOT_SUPPORTED, "%s has no neighbour windows",
                        device->part->name);
    return status;
}

/* ---- reads ---- */

trn_status trn_pod_open(trn_device* device) {
    trn_status status = need_pod(device);
    if (status == TRN_OK && !device->pod_buffer.host)
        status = trn_dma_allocate(device, 4096, &device->pod_buffer);
    for (uint32_t link = 0; link < LINKS && status == TRN_OK; ++link) {
        const uint32_t engine = device->generation->pod_engines[link];
        if (device->pod_rings[link].m2s.host)
            trn_ring_close(device, &device->pod_rings[link], TRN_ABORTED);
        status = trn_engine_init(device, engine);
        if (status == TRN_OK)
            status = trn_ring_open(device, &device->pod_rings[link], engine, 0, RING_LENGTH);
    }
    return status;
}

void trn_pod_drop(trn_device* device) {
    for (uint32_t link = 0; link < LINKS; ++link)
        trn_ring_close(device, &device->pod_rings[link], TRN_ABORTED);
    trn_dma_release(device, &device->pod_buffer);
}

trn_status trn_pod_close(trn_device* device) {
    const trn_status status = need_pod(device);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t link = 0; link < LINKS; ++link)
        if (device->pod_rings[link].m2s.host)
            trn_queue_park(&io, device->pod_rings[link].engine, 0);
    trn_pod_drop(device);
    return io.status;
}

trn_status trn_pod_read(trn_device* device, trn_pod_link link, uint32_t offset, uint32_t* words,
                        uint32_t count) {
    if (!device || !words) return trn_no_argument(device);
    trn_status status = need_pod(device);
    if (status != TRN_OK) return status;
    if ((uint32_t)link >= LINKS || count == 0 || count > 4 || offset % 4)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "1 to 4 words over link 0 to 3");
    trn_ring* ring = &device->pod_rings[link];
    if (!ring->m2s.host) return trn_fail(device, TRN_NOT_READY, "call trn_pod_open first");
    const uint64_t window = device->options.spoof_neighbours ? 0 : WINDOW(ring->engine / 32);
    const uint64_t source = window + AXI_REGISTERS + trn_misc_ram_word(device, offset);
    trn_ring_append(ring, trn_host_address(device, device->pod_buffer.iova), source, 4 * count,
                    TRN_WRITE_BARRIER);
    uint64_t job = 0;
    status = trn_ring_post(device, ring, 0, 1, &job);
    if (status != TRN_OK) return status;
    trn_ring_find(ring, job)->deadline = trn_now(device) + trn_timeout(device, READ_LIMIT);
    status = trn_ring_wait(device, ring, job);
    if (status == TRN_OK) {
        memcpy(words, device->pod_buffer.host, 4 * count);
        return TRN_OK;
    }
    trn_status restarted = trn_engine_init(device, ring->engine); /* prepares for the next read */
    if (restarted == TRN_OK) restarted = trn_ring_restart(device, ring);
    return restarted == TRN_OK ? status : restarted;
}

/* ---- the words ---- */

TRN_CHECKED static trn_status publish_serials(trn_device* device, uint64_t left, uint64_t right) {
    trn_mmio io = trn_mmio_of(device);
    trn_mmio_write(&io, trn_misc_ram_word(device, MISC_RAM(LEFT_SERIAL_HI)),
                   (uint32_t)(left >> 32));
    trn_mmio_write(&io, trn_misc_ram_word(device, MISC_RAM(LEFT_SERIAL_LO)), (uint32_t)left);
    trn_mmio_write(&io, trn_misc_ram_word(device, MISC_RAM(RIGHT_SERIAL_HI)),
                   (uint32_t)(right >> 32));
    trn_mmio_write(&io, trn_misc_ram_word(device, MISC_RAM(RIGHT_SERIAL_LO)), (uint32_t)right);
    return io.status;
}

TRN_CHECKED static trn_status publish_election(trn_device* device, trn_pod pod) {
    trn_mmio io = trn_mmio_of(device);
    trn_mmio_write(&io, trn_misc_ram_word(device, MISC_RAM(POD_SERIAL_HI)),
                   (uint32_t)(pod.serial >> 32));
    trn_mmio_write(&io, trn_misc_ram_word(device, MISC_RAM(POD_SERIAL_LO)), (uint32_t)pod.serial);
    trn_mmio_write(&io, trn_misc_ram_word(device, MISC_RAM(ELECTION_STATUS)),
                   pod.status | pod.links << 8 | pod.node << 16 | pod.nodes << 24);
    return io.status;
}

trn_status trn_pod_status(trn_device* device, trn_pod* pod) {
    if (!device || !pod) return trn_no_argument(device);
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    const uint32_t word = trn_mmio_read(&io, trn_misc_ram_word(device, MISC_RAM(ELECTION_STATUS)));
    const uint32_t high = trn_mmio_read(&io, trn_misc_ram_word(device, MISC_RAM(POD_SERIAL_HI)));
    const uint32_t low = trn_mmio_read(&io, trn_misc_ram_word(device, MISC_RAM(POD_SERIAL_LO)));
    *pod = (trn_pod){word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff, word >> 24,
                     (uint64_t)high << 32 | low};
    return io.status;
}

/* ---- the election ---- */

typedef struct election {
    trn_device* device;
    bool sides[2]; /* left, right */
    uint64_t serials[2];
    uint64_t published[2][2]; /* by neighbour: its left, its right serial */
    uint64_t deadline;
} election;

static bool published(uint32_t word) {
    return word != 0 && word != WORD_NOT_PUBLISHED;
}

/* Reads words until word `valid` is published by the neighbour. */
static trn_status await_words(election* e, trn_pod_link link, uint32_t offset, uint32_t* words,
                              uint32_t count, uint32_t valid) {
    for (;;) {
        trn_status status = trn_pod_read(e->device, link, offset, words, count);
        if (status != TRN_OK || published(words[valid])) return status;
        if (trn_now(e->device) >= e->deadline)
            return trn_fail(e->device, TRN_TIMED_OUT, "the neighbour on link %u stays silent",
                            link);
        status = trn_pause(e->device, POLL);
        if (status != TRN_OK) return status;
    }
}

static trn_status read_serials(election* e) {
    for (uint32_t side = 0; side < 2; ++side) {
        if (!e->sides[side]) continue;
        uint32_t words[2][2];
        for (uint32_t i = 0; i < 2; ++i) {
            const trn_status status =
                await_words(e, (trn_pod_link)(2 * side + i), MISC_RAM(SERIAL_LO), words[i], 2, 0);
            if (status != TRN_OK) return status;
        }
        if (memcmp(words[0], words[1], sizeof words[0]) != 0)
            return trn_fail(e->device, TRN_PROTOCOL_ERROR,
                            "the two %s links lead to different chips: 0x%08x%08x and 0x%08x%08x",
                            side ? "right" : "left", words[0][1], words[0][0], words[1][1],
                            words[1][0]);
        e->serials[side] = (uint64_t)words[0][1] << 32 | words[0][0];
    }
    return TRN_OK;
}

static trn_status exchange(election* e, uint64_t left, uint64_t right) {
    trn_status status = publish_serials(e->device, left, right);
    const uint32_t valid = e->sides[1] ? 3 : 1;
    for (uint32_t side = 0; side < 2 && status == TRN_OK; ++side) {
        if (!e->sides[side]) continue;
        uint32_t words[4];
        status =
            await_words(e, (trn_pod_link)(2 * side), MISC_RAM(LEFT_SERIAL_HI), words, 4, valid);
        e->published[side][0] = (uint64_t)words[0] << 32 | words[1];
        e->published[side][1] = (uint64_t)words[2] << 32 | words[3];
    }
    return status;
}

static trn_status await_neighbours(election* e) {
    for (uint32_t side = 0; side < 2; ++side) {
        if (!e->sides[side]) continue;
        uint32_t word = 0;
        const trn_status status =
            await_words(e, (trn_pod_link)(2 * side), MISC_RAM(ELECTION_STATUS), &word, 1, 0);
        if (status != TRN_OK) return status;
        if ((word & 0xff) != STATUS_SUCCESS)
            return trn_fail(e->device, TRN_PROTOCOL_ERROR,
                            "the %s neighbour's election ended with status %u",
                            side ? "right" : "left", word & 0xff);
    }
    return TRN_OK;
}

/* Contract 11.3: this node's place in the ring, and the serial number of node 0's primary. */
static trn_pod place_in_ring(const election* e, uint64_t mine) {
    const uint64_t left = e->serials[0], right = e->serials[1];
    const uint32_t links = (uint32_t)(e->sides[0] | e->sides[1] << 1);
    if (!e->sides[0] || !e->sides[1] || left == right) {
        const uint64_t other = e->sides[0] ? left : right;
        return (trn_pod){STATUS_SUCCESS, links, mine < other ? 0 : 1, 2,
                         mine < other ? mine : other};
    }
    const uint64_t diagonal = e->published[0][1];
    const uint64_t ring[4] = {mine, left, diagonal, right};
    uint64_t lowest = mine;
    for (uint32_t i = 1; i < 4; ++i)
        if (ring[i] < lowest) lowest = ring[i];
    const uint32_t node = lowest == mine ? 0 : lowest == diagonal ? 2 : left < right ? 1 : 3;
    return (trn_pod){STATUS_SUCCESS, links, node, 4, lowest};
}

static trn_status elect_primary(election* e, uint64_t mine, trn_pod* pod) {
    trn_status status = exchange(e, e->serials[0], e->serials[1]);
    for (uint32_t side = 0; side < 2 && status == TRN_OK; ++side)
        if (e->sides[side] && e->published[side][0] <= MAX_SECONDARIES && e->sides[0])
            return trn_fail(e->device, TRN_PROTOCOL_ERROR,
                            "the %s neighbour is secondary %u, not a primary: cabling",
                            side ? "right" : "left", (uint32_t)e->published[side][0]);
    if (status != TRN_OK) return status;
    *pod = place_in_ring(e, mine);
    status = publish_election(e->device, (trn_pod){STATUS_SUCCESS, 0, NODE_UNKNOWN, 0, 0});
    return status == TRN_OK ? await_neighbours(e) : status;
}

static trn_status elect_secondary(election* e, uint32_t index, trn_pod* pod) {
    trn_status status = exchange(e, index, index);
    for (uint32_t side = 0; side < 2 && status == TRN_OK; ++side)
        if (e->sides[side] && e->published[side][0] != index)
            return trn_fail(e->device, TRN_PROTOCOL_ERROR,
                            "the %s neighbour is device %u, this one %u: cabling",
                            side ? "right" : "left", (uint32_t)e->published[side][0], index);
    if (status != TRN_OK) return status;
    *pod = (trn_pod){STATUS_SUCCESS, 0, 0, 0, 0};
    status = publish_election(e->device, (trn_pod){STATUS_SUCCESS, 0, 0, 0, 0});
    return status == TRN_OK ? await_neighbours(e) : status;
}

trn_status trn_pod_elect(trn_device* device, uint32_t links, uint64_t limit, trn_pod* pod) {
    if (!device || !pod) return trn_no_argument(device);
    uint64_t mine = 0;
    trn_status status = need_pod(device);
    if (status == TRN_OK && (links == 0 || links > 3))
        status =
            trn_fail(device, TRN_INVALID_ARGUMENT, "link mask %u: 1 left, 2 right, 3 both", links);
    if (status == TRN_OK) status = trn_get_serial(device, &mine);
    if (status == TRN_OK) status = trn_pod_open(device);
    if (status != TRN_OK) return status;
    election e = {.device = device,
                  .sides = {(links & 1) != 0, (links & 2) != 0},
                  .deadline = trn_time_after(device, trn_timeout(device, limit))};
    status = publish_election(device, (trn_pod){0});
    if (status == TRN_OK) status = read_serials(&e);
    if (status == TRN_OK)
        status = device->device_index == 0 ? elect_primary(&e, mine, pod)
                                           : elect_secondary(&e, device->device_index, pod);
    if (status != TRN_OK)
        *pod = (trn_pod){STATUS_FAILED, 0, device->device_index == 0 ? NODE_UNKNOWN : 0, 0, 0};
    trn_status ended = publish_election(device, *pod);
    if (ended == TRN_OK) ended = publish_serials(device, 0, 0);
    const trn_status closed = trn_pod_close(device);
    if (ended == TRN_OK) ended = closed;
    return status != TRN_OK ? status : ended;
}

/* ---- a node ---- */

static trn_status elect_all(trn_device* const* devices, uint32_t count, uint32_t links,
                            uint64_t limit, trn_pod* pod) {
    for (uint32_t n = 1; n < count; ++n) {
        const trn_status status = trn_pod_elect(devices[n], links, limit, pod);
        if (status == TRN_OK) continue;
        *pod = (trn_pod){STATUS_FAILED, 0, NODE_UNKNOWN, 0, 0};
        /* Ends the wait of the neighbours' primaries. */
        const trn_status written = publish_election(devices[0], *pod);
        return trn_fail(devices[0], status, "secondary %u: %s%s", n, trn_last_error(devices[n]),
                        written == TRN_OK ? "" : "; its neighbours were not told");
    }
    return trn_pod_elect(devices[0], links, limit, pod);
}

trn_status trn_pod_elect_node(trn_device* const* devices, uint32_t count, uint64_t limit,
                              trn_pod* pod) {
    static const uint32_t attempts[] = {3, 2, 1};
    if (!devices || !pod || count == 0 || count > MAX_SECONDARIES + 1) return TRN_INVALID_ARGUMENT;
    for (uint32_t n = 0; n < count; ++n) {
        const trn_status status = need_pod(devices[n]);
        if (status != TRN_OK) return status;
        if (devices[n]->device_index != n)
            return trn_fail(devices[0], TRN_INVALID_ARGUMENT, "device %u of the node has index %u",
                            n, devices[n]->device_index);
    }
    trn_status status = TRN_OK;
    for (uint32_t n = 0; n < sizeof attempts / sizeof attempts[0]; ++n) {
        status = elect_all(devices, count, attempts[n], limit, pod);
        if (status == TRN_OK) break;
    }
    return status;
}

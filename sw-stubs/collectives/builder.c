/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#include "cc_core.h"
#include "trn/semaphores_regs.h"

/* ---- ranks, lanes, shares, addresses ---- */

void trn_coll_find_positions(trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    for (uint32_t n = 0; n < trn_coll_rings_of(c) * c->ranks; ++n)
        if (coll->ring[n] == c->rank) coll->position[n / c->ranks] = n % c->ranks;
}

static uint32_t ahead(const trn_coll* coll, uint32_t ring, uint32_t places) {
    const uint32_t ranks = coll->config.ranks;
    return coll->ring[ring * ranks + ((uint64_t)coll->position[ring] + places) % ranks];
}

uint32_t trn_coll_ahead(const trn_coll* coll, uint32_t places) {
    return ahead(coll, 0, places);
}

uint32_t trn_coll_lane_number(const coll_builder* b, uint32_t lane) {
    return b->channel * b->coll->lanes + lane;
}

uint32_t trn_coll_all_lanes(const trn_coll* coll) {
    return coll->channels * coll->lanes;
}

/* Number of the first lane of a ring. */
static uint32_t first_lane(const trn_coll* coll, uint32_t ring) {
    return ring * trn_coll_all_lanes(coll) / coll->rings;
}

uint32_t trn_coll_ring_of_lane(const coll_builder* b, uint32_t lane) {
    uint32_t ring = 0;
    while (first_lane(b->coll, ring + 1) <= trn_coll_lane_number(b, lane)) ++ring;
    return ring;
}

bool trn_coll_begins_ring(const coll_builder* b, uint32_t lane) {
    return lane == 0 || trn_coll_ring_of_lane(b, lane) != trn_coll_ring_of_lane(b, lane - 1);
}

uint32_t trn_coll_lane_ahead(const coll_builder* b, uint32_t lane, uint32_t places) {
    return ahead(b->coll, trn_coll_ring_of_lane(b, lane), places);
}

uint32_t trn_coll_lane_position(const coll_builder* b, uint32_t lane) {
    return b->coll->position[trn_coll_ring_of_lane(b, lane)];
}

uint64_t trn_coll_on_chip(const coll_builder* b, uint32_t rank, uint64_t address) {
    const trn_coll* coll = b->coll;
    return rank == coll->config.rank
               ? address
               : trn_remote_address(&coll->members[rank].place, b->window, address);
}

uint32_t trn_coll_first_semaphore(const trn_coll* coll) {
    return coll->config.slot * COLL_SEMAPHORES;
}

uint64_t trn_coll_semaphore_offset(const trn_coll* coll, uint32_t index) {
    return TRN_SEMAPHORES_SEMAPHORE_INCREMENT_OFFSET(trn_coll_first_semaphore(coll) + index);
}

uint64_t trn_coll_semaphore_of_channel(const coll_builder* b, uint32_t channel, uint32_t index) {
    const uint64_t core = trn_cc_axi_address(b->coll->device, b->coll->channel[channel].core);
    return core + trn_coll_semaphore_offset(b->coll, index);
}

uint64_t trn_coll_semaphore_of(const coll_builder* b, uint32_t rank, uint32_t index) {
    return trn_coll_on_chip(b, rank, trn_coll_semaphore_of_channel(b, b->channel, index));
}

/* Part `number` of `parts` of a share. */
static coll_share part_within(coll_share all, uint64_t parts, uint64_t number) {
    const coll_share part = trn_coll_part_of(all.bytes, parts, number);
    return (coll_share){all.offset + part.offset, part.bytes};
}

/* A last block that is smaller than the others is divided like them and lacks the end, so that
 * channels, which may be at blocks of different domains, never use the same bytes of a slot. */
static uint64_t divided_bytes(const coll_builder* b, uint64_t bytes) {
    const trn_coll_config* c = &b->coll->config;
    const uint64_t block = trn_coll_has_blocks(c->op) ? trn_coll_block_of(c) : 0;
    return bytes > block ? bytes : block;
}

/* With several rings, the bytes are divided among rings, then among each ring's lanes; otherwise
 * among channels, then among each channel's lanes. */
coll_share trn_coll_whole_share_of(const coll_builder* b, uint64_t bytes, uint32_t lane) {
    const trn_coll* coll = b->coll;
    if (coll->rings < 2) return part_within(trn_coll_channel_share_of(b, bytes), coll->lanes, lane);
    const uint32_t ring = trn_coll_ring_of_lane(b, lane), first = first_lane(coll, ring);
    const coll_share share =
        part_within(trn_coll_part_of(divided_bytes(b, bytes), coll->rings, ring),
                    first_lane(coll, ring + 1) - first, trn_coll_lane_number(b, lane) - first);
    return trn_coll_clip(share, bytes);
}

coll_share trn_coll_channel_share_of(const coll_builder* b, uint64_t bytes) {
    if (b->coll->rings < 2)
        return trn_coll_clip(
            trn_coll_part_of(divided_bytes(b, bytes), b->coll->channels, b->channel), bytes);
    const coll_share first = trn_coll_whole_share_of(b, bytes, 0);
    const coll_share last = trn_coll_whole_share_of(b, bytes, b->coll->lanes - 1);
    return (coll_share){first.offset, last.offset + last.bytes - first.offset};
}

coll_share trn_coll_share_of(const coll_builder* b, uint64_t bytes, uint32_t lane) {
    const coll_share whole = trn_coll_whole_share_of(b, bytes, lane);
    const coll_share slice = trn_coll_part_of(whole.bytes, b->coll->slices, b->slice);
    return (coll_share){whole.offset + slice.offset, slice.bytes};
}

static uint64_t lane_offset(const coll_builder* b, coll_share block, uint32_t lane) {
    return block.offset + trn_coll_share_of(b, block.bytes, lane).offset;
}

uint64_t trn_coll_receive_of(const coll_builder* b, uint32_t rank, coll_share block,
                             uint32_t lane) {
    return trn_coll_on_chip(b, rank, b->coll->members[rank].receive + lane_offset(b, block, lane));
}

uint64_t trn_coll_scratch_of(const coll_builder* b, uint32_t rank, coll_share block,
                             uint32_t lane) {
    return trn_coll_on_chip(b, rank, b->coll->members[rank].scratch + lane_offset(b, block, lane));
}

uint64_t trn_coll_sent_by(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane) {
    return trn_coll_on_chip(b, rank, b->coll->members[rank].send + lane_offset(b, block, lane));
}

uint64_t trn_coll_send_of(const coll_builder* b, coll_share block, uint32_t lane) {
    return trn_coll_sent_by(b, b->coll->config.rank, block, lane);
}

/* ---- steps that algorithms are made of ---- */

void trn_coll_step_ends(coll_builder* b) {
    if (b->whole->config.steps) trn_coll_mark(&b->program);
}

void trn_coll_wait_for(coll_builder* b, uint32_t index, uint32_t value, uint32_t peer) {
    trn_coll_step_wait(&b->program, trn_coll_first_semaphore(b->coll) + index, value,
                       b->coll->first_rank + peer);
}

void trn_coll_notify(coll_builder* b, uint32_t rank, uint32_t index) {
    trn_coll_post(&b->program, trn_coll_semaphore_of(b, rank, index));
}

void trn_coll_wait_all_sent(coll_builder* b) {
    for (uint32_t lane = 0; lane < b->program.lanes; ++lane) {
        trn_coll_signal(&b->program, lane,
                        trn_coll_semaphore_of(b, b->coll->config.rank, COLL_SENT));
        trn_coll_advance(&b->program, lane);
    }
    trn_coll_wait_for(b, COLL_SENT, b->program.lanes, b->coll->config.rank);
}

void trn_coll_copy_share(coll_builder* b, uint32_t lane, coll_share block, uint64_t destination,
                         uint64_t source) {
    trn_coll_copy(&b->program, lane, destination, source,
                  trn_coll_share_of(b, block.bytes, lane).bytes);
}

void trn_coll_combine(coll_builder* b, uint32_t engine, coll_reduction reduction) {
    reduction.type = b->coll->config.type;
    reduction.operation = b->coll->config.with;
    trn_coll_reduce(&b->program, engine, &reduction);
}

void trn_coll_stage(coll_builder* b) {
    const trn_coll* coll = b->coll;
    const trn_coll_config* c = &coll->config;
    const trn_coll_member* own = &c->members[c->rank];
    trn_coll_sizes sizes;
    if (!trn_coll_is_staged(c)) return;
    trn_coll_get_sizes(c, &sizes);
    for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
        const coll_share part = trn_coll_whole_share_of(b, sizes.send, lane);
        trn_coll_copy(&b->program, lane, own->send + part.offset, own->receive + part.offset,
                      part.bytes);
    }
    trn_coll_wait_all_sent(b);
    /* other channels of this rank send from this channel's part, and overwrite it */
    for (uint32_t n = 0; n < coll->channels; ++n)
        if (n != b->channel)
            trn_coll_post(&b->program, trn_coll_semaphore_of_channel(b, n, COLL_STEP));
    if (coll->channels > 1) trn_coll_wait_for(b, COLL_STEP, coll->channels - 1, c->rank);
}

void trn_coll_keep(coll_builder* b, coll_share received, coll_share sent) {
    const trn_coll_member* own = &b->coll->members[b->coll->config.rank];
    if (own->receive + received.offset == own->send + sent.offset) return;
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share all = trn_coll_whole_share_of(b, sent.bytes, lane);
        const uint32_t engine = lane + b->coll->copiers;
        trn_coll_copy(&b->program, engine, own->receive + received.offset + all.offset,
                      own->send + sent.offset + all.offset, all.bytes);
        trn_coll_advance(&b->program, engine);
    }
}

void trn_coll_keep_own_block(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    trn_coll_keep(b, trn_coll_received(c, c->rank, c->rank), trn_coll_sent(c, c->rank, c->rank));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "coll_builder.h"

#include "cc_core.h"
#include "trn/semaphores_regs.h"

/* ---- what is where ---- */

void coll_find_positions(trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    for (uint32_t n = 0; n < coll_rings_of(c) * c->ranks; ++n)
        if (coll->ring[n] == c->rank) coll->position[n / c->ranks] = n % c->ranks;
}

static uint32_t ahead(const trn_coll* coll, uint32_t ring, uint32_t places) {
    const uint32_t ranks = coll->config.ranks;
    return coll->ring[ring * ranks + ((uint64_t)coll->position[ring] + places) % ranks];
}

uint32_t coll_ahead(const trn_coll* coll, uint32_t places) {
    return ahead(coll, 0, places);
}

uint32_t coll_lane_number(const coll_builder* b, uint32_t lane) {
    return b->channel * b->coll->lanes + lane;
}

uint32_t coll_all_lanes(const trn_coll* coll) {
    return coll->channels * coll->lanes;
}

/* Lanes of all channels before those of a ring. */
static uint32_t first_lane(const trn_coll* coll, uint32_t ring) {
    return ring * coll_all_lanes(coll) / coll->rings;
}

uint32_t coll_ring_of_lane(const coll_builder* b, uint32_t lane) {
    uint32_t ring = 0;
    while (first_lane(b->coll, ring + 1) <= coll_lane_number(b, lane)) ++ring;
    return ring;
}

bool coll_begins_ring(const coll_builder* b, uint32_t lane) {
    return lane == 0 || coll_ring_of_lane(b, lane) != coll_ring_of_lane(b, lane - 1);
}

uint32_t coll_lane_ahead(const coll_builder* b, uint32_t lane, uint32_t places) {
    return ahead(b->coll, coll_ring_of_lane(b, lane), places);
}

uint32_t coll_lane_position(const coll_builder* b, uint32_t lane) {
    return b->coll->position[coll_ring_of_lane(b, lane)];
}

uint64_t coll_on_chip(const coll_builder* b, uint32_t rank, uint64_t address) {
    const trn_coll* coll = b->coll;
    return rank == coll->config.rank
               ? address
               : trn_remote_address(&coll->members[rank].place, b->window, address);
}

uint32_t coll_first_semaphore(const trn_coll* coll) {
    return coll->config.slot * COLL_SEMAPHORES;
}

uint64_t coll_semaphore_offset(const trn_coll* coll, uint32_t index) {
    return TRN_SEMAPHORES_SEMAPHORE_INCREMENT_OFFSET(coll_first_semaphore(coll) + index);
}

uint64_t coll_semaphore_of_channel(const coll_builder* b, uint32_t channel, uint32_t index) {
    const uint64_t core = cc_axi_address(b->coll->device, b->coll->channel[channel].core);
    return core + coll_semaphore_offset(b->coll, index);
}

uint64_t coll_semaphore_of(const coll_builder* b, uint32_t rank, uint32_t index) {
    return coll_on_chip(b, rank, coll_semaphore_of_channel(b, b->channel, index));
}

/* Of so many parts of some bytes. */
static coll_share part_within(coll_share all, uint64_t parts, uint64_t number) {
    const coll_share part = coll_part_of(all.bytes, parts, number);
    return (coll_share){all.offset + part.offset, part.bytes};
}

/* Several rings divide all bytes, and then the lanes of each those of the ring; else channels do,
 * and then the lanes of each. */
coll_share coll_whole_share_of(const coll_builder* b, uint64_t bytes, uint32_t lane) {
    const trn_coll* coll = b->coll;
    if (coll->rings < 2) return part_within(coll_channel_share_of(b, bytes), coll->lanes, lane);
    const uint32_t ring = coll_ring_of_lane(b, lane), first = first_lane(coll, ring);
    return part_within(coll_part_of(bytes, coll->rings, ring), first_lane(coll, ring + 1) - first,
                       coll_lane_number(b, lane) - first);
}

coll_share coll_channel_share_of(const coll_builder* b, uint64_t bytes) {
    if (b->coll->rings < 2) return coll_part_of(bytes, b->coll->channels, b->channel);
    const coll_share first = coll_whole_share_of(b, bytes, 0);
    const coll_share last = coll_whole_share_of(b, bytes, b->coll->lanes - 1);
    return (coll_share){first.offset, last.offset + last.bytes - first.offset};
}

coll_share coll_share_of(const coll_builder* b, uint64_t bytes, uint32_t lane) {
    const coll_share whole = coll_whole_share_of(b, bytes, lane);
    const coll_share slice = coll_part_of(whole.bytes, b->coll->slices, b->slice);
    return (coll_share){whole.offset + slice.offset, slice.bytes};
}

static uint64_t lane_offset(const coll_builder* b, coll_share block, uint32_t lane) {
    return block.offset + coll_share_of(b, block.bytes, lane).offset;
}

uint64_t coll_receive_of(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane) {
    return coll_on_chip(b, rank, b->coll->members[rank].receive + lane_offset(b, block, lane));
}

uint64_t coll_scratch_of(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane) {
    return coll_on_chip(b, rank, b->coll->members[rank].scratch + lane_offset(b, block, lane));
}

uint64_t coll_sent_by(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane) {
    return coll_on_chip(b, rank, b->coll->members[rank].send + lane_offset(b, block, lane));
}

uint64_t coll_send_of(const coll_builder* b, coll_share block, uint32_t lane) {
    return coll_sent_by(b, b->coll->config.rank, block, lane);
}

/* ---- steps that algorithms are made of ---- */

void coll_step_ends(coll_builder* b) {
    if (b->whole->config.steps) coll_mark(&b->program);
}

void coll_wait_for(coll_builder* b, uint32_t index, uint32_t value, uint32_t peer) {
    coll_wait(&b->program, coll_first_semaphore(b->coll) + index, value,
              b->coll->first_rank + peer);
}

void coll_tell(coll_builder* b, uint32_t rank, uint32_t index) {
    coll_post(&b->program, coll_semaphore_of(b, rank, index));
}

void coll_everything_sent(coll_builder* b) {
    for (uint32_t lane = 0; lane < b->program.lanes; ++lane) {
        coll_signal(&b->program, lane, coll_semaphore_of(b, b->coll->config.rank, COLL_SENT));
        coll_advance(&b->program, lane);
    }
    coll_wait_for(b, COLL_SENT, b->program.lanes, b->coll->config.rank);
}

void coll_copy_share(coll_builder* b, uint32_t lane, coll_share block, uint64_t destination,
                     uint64_t source) {
    coll_copy(&b->program, lane, destination, source, coll_share_of(b, block.bytes, lane).bytes);
}

void coll_combine(coll_builder* b, uint32_t engine, coll_reduction what) {
    what.type = b->coll->config.type;
    what.with = b->coll->config.with;
    coll_reduce(&b->program, engine, &what);
}

void coll_reduce_share(coll_builder* b, uint32_t lane, uint32_t engine, coll_share block,
                       const uint64_t to[2], const uint64_t operands[2]) {
    coll_combine(b, engine,
                 (coll_reduction){.bytes = coll_share_of(b, block.bytes, lane).bytes,
                                  .operands = {operands[0], operands[1]},
                                  .operand_count = 2,
                                  .destinations = {to[0], to[1]}});
}

void coll_keep(coll_builder* b, coll_share received, coll_share sent) {
    const trn_coll_member* own = &b->coll->members[b->coll->config.rank];
    if (own->receive + received.offset == own->send + sent.offset) return;
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share all = coll_whole_share_of(b, sent.bytes, lane);
        const uint32_t engine = lane + b->coll->copiers;
        coll_copy(&b->program, engine, own->receive + received.offset + all.offset,
                  own->send + sent.offset + all.offset, all.bytes);
        coll_advance(&b->program, engine);
    }
}

void coll_keep_own_block(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    coll_keep(b, coll_received(c, c->rank, c->rank), coll_sent(c, c->rank, c->rank));
}

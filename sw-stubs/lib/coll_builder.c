/* SPDX-License-Identifier: Apache-2.0 */
#include "coll_builder.h"

#include "cc_core.h"
#include "trn/semaphores_regs.h"

#define SHARE_ALIGNMENT UINT64_C(64)

/* ---- what is where ---- */

static uint32_t rank_at(const trn_coll* coll, uint64_t position) {
    return coll->ring[position % coll->config.ranks];
}

uint32_t coll_ahead(const trn_coll* coll, uint32_t places) {
    return rank_at(coll, (uint64_t)coll->position + places);
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

uint64_t coll_semaphore_of(const coll_builder* b, uint32_t rank, uint32_t index) {
    const uint64_t core = cc_axi_address(b->coll->device, b->coll->channel[b->channel].core);
    return coll_on_chip(
        b, rank,
        core + TRN_SEMAPHORES_SEMAPHORE_INCREMENT_OFFSET(coll_first_semaphore(b->coll) + index));
}

coll_share coll_part_of(uint64_t bytes, uint64_t parts, uint64_t number) {
    const uint64_t each =
        (bytes + parts * SHARE_ALIGNMENT - 1) / (parts * SHARE_ALIGNMENT) * SHARE_ALIGNMENT;
    const uint64_t offset = number * each;
    if (offset >= bytes) return (coll_share){bytes, 0};
    return (coll_share){offset, bytes - offset < each ? bytes - offset : each};
}

static coll_share whole_share_of(const coll_builder* b, uint32_t lane) {
    const trn_coll* coll = b->coll;
    return coll_part_of(coll_block_of(&coll->config), (uint64_t)coll->channels * coll->lanes,
                        (uint64_t)b->channel * coll->lanes + lane);
}

coll_share coll_share_of(const coll_builder* b, uint32_t lane) {
    const coll_share whole = whole_share_of(b, lane);
    const coll_share slice = coll_part_of(whole.bytes, b->coll->slices, b->slice);
    return (coll_share){whole.offset + slice.offset, slice.bytes};
}

uint64_t coll_receive_of(const coll_builder* b, uint32_t rank, uint32_t block, uint32_t lane) {
    const trn_coll* coll = b->coll;
    return coll_on_chip(b, rank,
                        coll->members[rank].receive + block * coll_block_of(&coll->config) +
                            coll_share_of(b, lane).offset);
}
uint64_t coll_scratch_of(const coll_builder* b, uint32_t rank, uint32_t slot, uint32_t lane) {
    const trn_coll* coll = b->coll;
    return coll_on_chip(b, rank,
                        coll->members[rank].scratch + slot * coll_block_of(&coll->config) +
                            coll_share_of(b, lane).offset);
}
uint64_t coll_send_of(const coll_builder* b, uint32_t block, uint32_t lane) {
    const trn_coll* coll = b->coll;
    return coll->members[coll->config.rank].send + block * coll_block_of(&coll->config) +
           coll_share_of(b, lane).offset;
}

/* ---- steps that algorithms are made of ---- */

void coll_wait_for(coll_builder* b, uint32_t index, uint32_t value, uint32_t peer) {
    coll_wait(&b->program, coll_first_semaphore(b->coll) + index, value, peer);
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

void coll_copy_share(coll_builder* b, uint32_t lane, uint64_t destination, uint64_t source) {
    coll_copy(&b->program, lane, destination, source, coll_share_of(b, lane).bytes);
}

void coll_keep_share(coll_builder* b, uint32_t lane, uint64_t destination, uint64_t source) {
    const coll_share all = whole_share_of(b, lane);
    const uint32_t engine = lane + b->coll->copiers;
    coll_copy(&b->program, engine, destination + all.offset, source + all.offset, all.bytes);
    coll_advance(&b->program, engine);
}

void coll_reduce_share(coll_builder* b, uint32_t lane, uint32_t engine, const uint64_t to[2],
                       const uint64_t operands[2]) {
    const trn_coll_config* c = &b->coll->config;
    const coll_reduction what = {.type = c->type,
                                 .with = c->with,
                                 .bytes = coll_share_of(b, lane).bytes,
                                 .operands = {operands[0], operands[1]},
                                 .operand_count = 2,
                                 .destinations = {to[0], to[1]}};
    coll_reduce(&b->program, engine, &what);
}

void coll_keep_own_block(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const trn_coll_member* own = &b->coll->members[c->rank];
    const uint64_t from = c->op == TRN_COLL_ALL_GATHER ? 0 : c->rank * coll_block_of(c);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        coll_keep_share(b, lane, own->receive + c->rank * coll_block_of(c), own->send + from);
}

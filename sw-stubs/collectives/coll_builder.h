/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_COLL_BUILDER_H
#define TRN_LIB_COLL_BUILDER_H

#include "coll_config.h"
#include "coll_program.h"
#include "device.h"

/* What the algorithms of collectives are made of. A rank's channel is a collective core with some
 * lanes; what algorithms do with them is in coll_ring.c, coll_mesh.c, coll_kanga.c and coll_grid.c.
 */

#define COLL_MAX_CHANNELS TRN_COLL_CHANNELS
#define COLL_MAX_DOMAINS 8u

typedef struct coll_channel {
    uint32_t core;
    uint32_t engines[COLL_MAX_LANES];
    bool loaded;
    trn_notification_ring failures; /* where config.notify */
    trn_cc_failure failure;         /* that the firmware has notified of */
} coll_channel;

struct trn_coll {
    trn_device* device;
    trn_coll_config config;
    trn_coll_member* members;
    uint32_t* ring; /* orders of the ranks, one after the other */
    uint64_t* counts;
    trn_coll_nic* nics;
    uint16_t* handles;
    trn_coll_port* port;
    uint32_t position[TRN_COLL_RINGS]; /* in each order */
    uint32_t first_rank;               /* that rank 0 is, where this is the part of a domain */
    uint32_t rings;                    /* that the algorithm uses: trn_coll_rings_used */
    uint32_t channels, lanes;
    uint32_t copiers; /* more engines of a channel, for what stays on the chip; none, or as lanes */
    uint32_t slices;  /* of a lane's share, so that steps overlap */
    coll_channel channel[COLL_MAX_CHANNELS];
    trn_cc_failure failure; /* that the firmware has notified of */
    uint32_t runs;
    uint64_t operation;  /* of the last run in a recording */
    trn_dma_memory done; /* a word per channel: how many runs have ended */
};

typedef struct coll_builder {
    const trn_coll* coll;
    coll_program program;
    uint32_t channel;
    uint32_t window;            /* through which the channel's engines leave the chip */
    uint32_t slice;             /* of each lane's share: what is worked on */
    const trn_coll* whole;      /* coll, or of which coll is the part of the own domain */
    trn_rdma_request* requests; /* for the card, TRN_COLL_QUEUE_ENTRIES; NULL: one domain */
    uint32_t request_count, requests_posted;
} coll_builder;

/* ---- what is where ---- */

/* Finds this rank in each order of the ranks. */
void trn_coll_find_positions(trn_coll* coll);
/* The rank so many places ahead in the first ring; places back: ranks - places. */
uint32_t trn_coll_ahead(const trn_coll* coll, uint32_t places);
/* Of all channels: the number of a lane, and how many there are. */
uint32_t trn_coll_lane_number(const coll_builder* b, uint32_t lane);
uint32_t trn_coll_all_lanes(const trn_coll* coll);
/* The ring of a lane: each ring has lanes that follow each other, and so have channels. */
uint32_t trn_coll_ring_of_lane(const coll_builder* b, uint32_t lane);
/* Whether a lane is the first one of its channel in its ring. */
bool trn_coll_begins_ring(const coll_builder* b, uint32_t lane);
/* As trn_coll_ahead, in the ring of a lane. */
uint32_t trn_coll_lane_ahead(const coll_builder* b, uint32_t lane, uint32_t places);
uint32_t trn_coll_lane_position(const coll_builder* b, uint32_t lane);
/* All of a lane's share of a block of so many bytes, and that of all lanes of the channel. */
coll_share trn_coll_whole_share_of(const coll_builder* b, uint64_t bytes, uint32_t lane);
coll_share trn_coll_channel_share_of(const coll_builder* b, uint64_t bytes);
/* A lane's share of a block of so many bytes, or the slice of it that is worked on. */
coll_share trn_coll_share_of(const coll_builder* b, uint64_t bytes, uint32_t lane);

/* As the channel's engines see an address of a rank's chip. */
uint64_t trn_coll_on_chip(const coll_builder* b, uint32_t rank, uint64_t address);
uint64_t trn_coll_semaphore_of(const coll_builder* b, uint32_t rank, uint32_t index);
/* The same of the own rank, of another channel's core. */
uint64_t trn_coll_semaphore_of_channel(const coll_builder* b, uint32_t channel, uint32_t index);
uint32_t trn_coll_first_semaphore(const trn_coll* coll);
/* Address of a semaphore in the aperture of the channel's core. */
uint64_t trn_coll_semaphore_offset(const trn_coll* coll, uint32_t index);
/* A lane's share of a block in a buffer of a rank. */
uint64_t trn_coll_receive_of(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane);
uint64_t trn_coll_scratch_of(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane);
uint64_t trn_coll_send_of(const coll_builder* b, coll_share block, uint32_t lane);
uint64_t trn_coll_sent_by(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane);

/* ---- steps ---- */

/* A step of the algorithm ends: the core records the time if config.steps is set. */
void trn_coll_step_ends(coll_builder* b);
void trn_coll_wait_for(coll_builder* b, uint32_t index, uint32_t value, uint32_t peer);
void trn_coll_notify(coll_builder* b, uint32_t rank, uint32_t index);
/* Waits until the own lanes have done everything. */
void trn_coll_wait_all_sent(coll_builder* b);
void trn_coll_copy_share(coll_builder* b, uint32_t lane, coll_share block, uint64_t destination,
                         uint64_t source);
/* A reduction by the collective's type and operator. */
void trn_coll_combine(coll_builder* b, uint32_t engine, coll_reduction what);
/* Of a lane's share, by one of its two engines. */
void trn_coll_reduce_share(coll_builder* b, uint32_t lane, uint32_t engine, coll_share block,
                           const uint64_t to[2], const uint64_t operands[2]);
/* A copy that stays on the chip, by engines of its own, if there are any: of a block from the send
 * buffer to the receive buffer, of the own one. */
void trn_coll_keep(coll_builder* b, coll_share received, coll_share sent);
void trn_coll_keep_own_block(coll_builder* b);

/* ---- channels and lanes (coll_lanes.c) ---- */

/* How many channels a collective with this many rings may have. */
uint32_t trn_coll_channels_allowed(const trn_coll_config* config);
/* Chooses rings, channels, lanes and slices where the caller did not. */
void trn_coll_choose_queues(trn_coll* coll);
/* Queues of a channel: lanes, and copiers for what stays on the chip. */
uint32_t trn_coll_queues_of(const trn_coll* coll);

/* ---- algorithms ---- */

typedef void (*coll_algorithm)(coll_builder* b);
/* NULL: the operation has no such algorithm. */
coll_algorithm trn_coll_algorithm_of(trn_coll_op op, trn_coll_algorithm algorithm);

void trn_coll_ring_all_gather(coll_builder* b);
void trn_coll_ring_reduce_scatter(coll_builder* b);
void trn_coll_ring_all_reduce(coll_builder* b);
void trn_coll_ring_permute(coll_builder* b);
void trn_coll_ring_broadcast(coll_builder* b);

void trn_coll_kanga_all_gather(coll_builder* b);
void trn_coll_kanga_reduce_scatter(coll_builder* b);
void trn_coll_kanga_all_reduce(coll_builder* b);

void trn_coll_mesh(coll_builder* b); /* all-gather, all-to-all */
void trn_coll_rounds(coll_builder* b);

void trn_coll_doubling_all_gather(coll_builder* b);
void trn_coll_doubling_all_reduce(coll_builder* b);
void trn_coll_halving_reduce_scatter(coll_builder* b);
void trn_coll_halving_all_reduce(coll_builder* b);

/* ---- several domains ---- */

/* Whether links lead to a rank of the whole. */
bool trn_coll_is_linked(const coll_builder* b, uint32_t rank);
/* The steps of a collective across domains. */
void trn_coll_across_domains(coll_builder* b);

/* Notifies the ranks of the own position in other domains that this rank takes their bytes, and
 * waits for the same notification from all of them. */
void trn_coll_announce_ready(coll_builder* b);
void trn_coll_wait_until_ready(coll_builder* b);
/* Waits until the peer in a domain has sent so many bytes. */
void trn_coll_wait_for_domain(coll_builder* b, uint32_t domain, uint64_t bytes);
/* Address of a slot in the scratch buffer of a rank of the whole. */
uint64_t trn_coll_domain_slot(const coll_builder* b, uint32_t rank, uint32_t number);

/* What an all-reduce over several domains does between its halves (coll_exchange.c): the own
 * domain's sum is in a slot of the scratch buffer, the sums go to the ranks of the same position,
 * and the lanes add them up. */
bool trn_coll_exchanges(const coll_builder* b);
void trn_coll_exchange_begins(coll_builder* b);
/* Of a rank of the own domain, as its own chip sees it. */
uint64_t trn_coll_slot_of(const coll_builder* b, uint32_t rank);
uint64_t trn_coll_own_slot(const coll_builder* b);
/* Of the bytes of the slot that are this channel's. */
void trn_coll_exchange(coll_builder* b, coll_share part);
/* The sum of some bytes of all slots. */
coll_reduction trn_coll_sum_of_slots(const coll_builder* b, coll_share part);
void trn_coll_add_slots(coll_builder* b, uint32_t lane, coll_share part, uint64_t to,
                        uint64_t also_to);

/* Of a broadcast: whether the domain's first rank has the bytes from another domain, in its receive
 * buffer; that rank waits until a slice of a lane has come. */
bool trn_coll_relays(const coll_builder* b);
void trn_coll_relay_begins(coll_builder* b);
void trn_coll_relay_waits(coll_builder* b, uint32_t lane);

/* ---- EFA ---- */

/* Requests; the card starts them at the next doorbell. Ranks are those of the whole. */
void trn_coll_net_notify(coll_builder* b, uint32_t rank, uint32_t semaphore);
void trn_coll_net_send(coll_builder* b, uint32_t rank, uint32_t semaphore, uint64_t to,
                       uint64_t from, uint64_t bytes);
/* How often that posts the semaphore. */
uint32_t trn_coll_net_posts(uint64_t bytes);
void trn_coll_net_doorbell(coll_builder* b);
void trn_coll_net_wait_for(coll_builder* b, uint32_t semaphore, uint32_t value, uint32_t rank);
/* Waits until the card has done everything. */
void trn_coll_net_ends(coll_builder* b);
/* The channel's part of the card. */
coll_network trn_coll_net_of(const coll_builder* b, const uint8_t* requests);
/* The requests as they stand in the queue pair's ring. */
void trn_coll_net_encode(const coll_builder* b, uint8_t* entries);

#endif

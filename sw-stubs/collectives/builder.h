/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_COLLECTIVES_BUILDER_H
#define TRN_LIB_COLLECTIVES_BUILDER_H

#include "config.h"
#include "core_program.h"
#include "sw-stubs/driver/device.h"

/* Building blocks of the algorithms. A rank's channel is a CC-Core with its lanes; the
 * algorithms are in plain_ring.c, mesh.c, kanga.c and grid.c. */

#define COLL_MAX_CHANNELS TRN_COLL_CHANNELS
#define COLL_MAX_DOMAINS 8u

typedef struct coll_channel {
    uint32_t core;
    uint32_t engines[COLL_MAX_LANES];
    bool loaded;
    trn_notification_ring failures; /* with config.notify */
    trn_cc_failure failure;         /* notified by the firmware */
} coll_channel;

struct trn_coll {
    trn_device* device;
    trn_coll_config config; /* its counts, nics, handles and port are copies */
    trn_coll_member* members;
    uint32_t* ring;                    /* orders of the ranks, concatenated */
    uint32_t position[TRN_COLL_RINGS]; /* in each order */
    uint32_t first_rank;               /* of the whole: rank 0 of a domain's part */
    uint32_t rings;                    /* in use: trn_coll_rings_used */
    uint32_t channels, lanes;
    uint32_t copiers; /* additional engines of a channel for copies within the chip: 0 or `lanes` */
    uint32_t slices;  /* of a lane's share, so that steps overlap */
    coll_channel channel[COLL_MAX_CHANNELS];
    trn_cc_failure failure; /* notified by the firmware */
    uint32_t runs;
    uint64_t operation;  /* of the last run, in a recording */
    trn_dma_memory done; /* a word per channel: number of ended runs */
};

typedef struct coll_builder {
    const trn_coll* coll;
    coll_program program;
    uint32_t channel;
    uint32_t window;            /* remote window of the channel's engines */
    uint32_t slice;             /* current slice of each lane's share */
    const trn_coll* whole;      /* coll; across domains: the collective of which coll is a part */
    trn_rdma_request* requests; /* for the card, TRN_COLL_QUEUE_ENTRIES; NULL: a single domain */
    uint32_t request_count, requests_posted;
} coll_builder;

/* ---- ranks, lanes, shares, addresses ---- */

/* Finds this rank in each order of the ranks. */
void trn_coll_find_positions(trn_coll* coll);
/* The rank `places` ahead in the first ring; for places back: ranks - places. */
uint32_t trn_coll_ahead(const trn_coll* coll, uint32_t places);
/* Number of a lane among all channels' lanes, and their total. */
uint32_t trn_coll_lane_number(const coll_builder* b, uint32_t lane);
uint32_t trn_coll_all_lanes(const trn_coll* coll);
/* The ring of a lane. The lanes of a ring are consecutive, and so are those of a channel. */
uint32_t trn_coll_ring_of_lane(const coll_builder* b, uint32_t lane);
/* Whether a lane is the first one of its channel in its ring. */
bool trn_coll_begins_ring(const coll_builder* b, uint32_t lane);
/* As trn_coll_ahead and position, in the ring of a lane. */
uint32_t trn_coll_lane_ahead(const coll_builder* b, uint32_t lane, uint32_t places);
uint32_t trn_coll_lane_position(const coll_builder* b, uint32_t lane);
/* A lane's whole share of a block of `bytes`, and that of all lanes of the channel. */
coll_share trn_coll_whole_share_of(const coll_builder* b, uint64_t bytes, uint32_t lane);
coll_share trn_coll_channel_share_of(const coll_builder* b, uint64_t bytes);
/* The current slice of a lane's share of a block of `bytes`. */
coll_share trn_coll_share_of(const coll_builder* b, uint64_t bytes, uint32_t lane);

/* Address by which the channel's engines reach an address of a rank's chip. */
uint64_t trn_coll_on_chip(const coll_builder* b, uint32_t rank, uint64_t address);
uint64_t trn_coll_semaphore_of(const coll_builder* b, uint32_t rank, uint32_t index);
/* A semaphore of the own rank, in another channel's core. */
uint64_t trn_coll_semaphore_of_channel(const coll_builder* b, uint32_t channel, uint32_t index);
uint32_t trn_coll_first_semaphore(const trn_coll* coll);
/* Address of a semaphore in the aperture of the channel's core. */
uint64_t trn_coll_semaphore_offset(const trn_coll* coll, uint32_t index);
/* Address of the current slice of a lane's share of a block, in a buffer of a rank. */
uint64_t trn_coll_receive_of(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane);
uint64_t trn_coll_scratch_of(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane);
uint64_t trn_coll_send_of(const coll_builder* b, coll_share block, uint32_t lane);
uint64_t trn_coll_sent_by(const coll_builder* b, uint32_t rank, coll_share block, uint32_t lane);

/* ---- steps ---- */

/* A step of the algorithm ends: the core records the time if config.steps is set. */
void trn_coll_step_ends(coll_builder* b);
void trn_coll_wait_for(coll_builder* b, uint32_t index, uint32_t value, uint32_t peer);
void trn_coll_notify(coll_builder* b, uint32_t rank, uint32_t index);
/* Waits until the own lanes have completed all descriptors. */
void trn_coll_wait_all_sent(coll_builder* b);
void trn_coll_copy_share(coll_builder* b, uint32_t lane, coll_share block, uint64_t destination,
                         uint64_t source);
/* A reduction by the collective's type and operator. */
void trn_coll_combine(coll_builder* b, uint32_t engine, coll_reduction reduction);
/* In place (trn_coll_is_staged): copies the input to the scratch buffer, where the algorithm sends
 * it from; ends when all channels have. */
void trn_coll_stage(coll_builder* b);
/* Copies a block (or the own block) from send to receive buffer within the chip, on the copier
 * engines if the channel has any. */
void trn_coll_keep(coll_builder* b, coll_share received, coll_share sent);
void trn_coll_keep_own_block(coll_builder* b);

/* ---- channels and lanes (lanes.c) ---- */

/* Limit of channels, by the number of rings. */
uint32_t trn_coll_channels_allowed(const trn_coll_config* config);
/* Chooses rings, channels, lanes and slices that the configuration leaves open. */
void trn_coll_choose_queues(trn_coll* coll);
/* Queues of a channel: lanes and copiers. */
uint32_t trn_coll_queues_of(const trn_coll* coll);

/* ---- algorithms ---- */

typedef void (*coll_algorithm)(coll_builder* b);
/* NULL: the operation does not support the algorithm. */
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

/* Whether a rank of the whole is reached by links, i.e. is in the own domain. */
bool trn_coll_is_linked(const coll_builder* b, uint32_t rank);
/* Builds the steps of a collective across domains. */
void trn_coll_across_domains(coll_builder* b);

/* Notify the ranks of the own position in other domains that their bytes may be written here; wait
 * for this notification from all of them. */
void trn_coll_announce_ready(coll_builder* b);
void trn_coll_wait_until_ready(coll_builder* b);
/* Waits until `bytes` of the peer in a domain have arrived. */
void trn_coll_wait_for_domain(coll_builder* b, uint32_t domain, uint64_t bytes);
/* Address of a slot in the scratch buffer of a rank of the whole. */
uint64_t trn_coll_domain_slot(const coll_builder* b, uint32_t rank, uint32_t number);

/* Exchange between the halves of an all-reduce over several domains (exchange.c): the own
 * domain's sum is in a slot of the scratch buffer; it is sent to the ranks of the same position,
 * and the lanes add all domains' sums. */
bool trn_coll_exchanges(const coll_builder* b);
void trn_coll_exchange_begins(coll_builder* b);
/* AXI address, on the rank's chip, of the sum's slot of a rank of the own domain. */
uint64_t trn_coll_slot_of(const coll_builder* b, uint32_t rank);
uint64_t trn_coll_own_slot(const coll_builder* b);
/* Exchanges this channel's part of the slots. */
void trn_coll_exchange(coll_builder* b, coll_share part);
/* The sum of a part of all slots. */
coll_reduction trn_coll_sum_of_slots(const coll_builder* b, coll_share part);
void trn_coll_add_slots(coll_builder* b, uint32_t lane, coll_share part, uint64_t destination,
                        uint64_t second);

/* Broadcast: whether the domain's root receives the bytes from another domain, in its receive
 * buffer; it then waits for each slice of a lane. */
bool trn_coll_relays(const coll_builder* b);
void trn_coll_relay_begins(coll_builder* b);
void trn_coll_relay_waits(coll_builder* b, uint32_t lane);

/* ---- EFA ---- */

/* Append work requests; the card starts them at the next doorbell. Ranks are those of the whole. */
void trn_coll_net_notify(coll_builder* b, uint32_t rank, uint32_t semaphore);
void trn_coll_net_send(coll_builder* b, uint32_t rank, uint32_t semaphore, uint64_t destination,
                       uint64_t source, uint64_t bytes);
/* Number of posts of the semaphore by a send of `bytes`. */
uint32_t trn_coll_net_posts(uint64_t bytes);
void trn_coll_net_doorbell(coll_builder* b);
void trn_coll_net_wait_for(coll_builder* b, uint32_t semaphore, uint32_t value, uint32_t rank);
/* Waits until the card has completed all requests. */
void trn_coll_net_ends(coll_builder* b);
/* The channel's queue pair. */
coll_network trn_coll_net_of(const coll_builder* b, const uint8_t* requests);
/* Encodes the requests in the send ring's format. */
void trn_coll_net_encode(const coll_builder* b, uint8_t* entries);

#endif

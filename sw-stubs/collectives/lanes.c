/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

/* How a collective is divided among channels, lanes and slices. A figure beside a value is
 * simulated time of `trnctl coll` with it and with the former value; the values without one were
 * chosen in the same series of runs, and only the resulting times are recorded
 * (doc/performance.md). A new value changes the traces of scenarios with collectives. */
static const struct {
    /* Limits of a rank's lanes over all channels, unless the caller sets them: for one ring, a mesh
     * or a grid, and for several concurrent rings (all-reduce of 16 MiB over trn2-48xl: 123 us by
     * several rings, 282 us by one). */
    uint32_t max_lanes, max_lanes_of_rings;
    /* Lanes of a channel while cores for more channels are left. A core advances its lanes one
     * after the other: with eight lanes a ring step takes 5 us; with two lanes on each of four
     * cores, rings over an UltraServer reach 97 to 99 % of their narrowest link's bandwidth. */
    uint32_t lanes_per_channel;
    /* Limit of the lanes of a ring channel when no core is left for another channel. */
    uint32_t max_ring_lanes_per_channel;
    /* Minimum bytes of a block per lane of a ring or mesh. With two slices of 16 KiB the queue
     * never runs empty, which would cost an engine 1.3 us each time. Across domains no other blocks
     * are in flight at the same time (over ultracluster-2, ring all-reduce of 4 MiB: 867 us with 3
     * KiB, 1111 us with 32 KiB; mesh all-gather of 16 MiB: 136 us and 489 us). */
    uint64_t min_block_per_lane, min_block_per_lane_across_domains;
    /* Minimum bytes of a block for an even number of lanes of a KangaRing, so that each rank of a
     * pair is primary for half of them. */
    uint64_t min_block_of_lane_pair;
    /* Bytes of the buffer per lane of a mesh; a lane serves some of the other ranks. */
    uint64_t buffer_per_mesh_lane;
    /* Bytes of the buffer per channel and per lane of a grid (doubling, halving). Channels are
     * added before lanes. */
    uint64_t buffer_per_grid_channel, buffer_per_grid_lane;
    /* Minimum bytes of a slice, and of a lane's share for up to four slices instead of two. Slices
     * make steps overlap; each costs the core a wait and an advance. */
    uint64_t min_slice, min_share_of_four_slices;
    /* Bytes of a slice of a broadcast, which pipelines its slices. */
    uint64_t broadcast_slice;
} tuning = {
    .max_lanes = 16,
    .max_lanes_of_rings = 24,
    .lanes_per_channel = 2,
    .max_ring_lanes_per_channel = 6,
    .min_block_per_lane = KIB(32),
    .min_block_per_lane_across_domains = KIB(3),
    .min_block_of_lane_pair = KIB(4),
    .buffer_per_mesh_lane = KIB(128),
    .buffer_per_grid_channel = KIB(16),
    .buffer_per_grid_lane = KIB(96),
    .min_slice = KIB(16),
    .min_share_of_four_slices = KIB(256),
    .broadcast_slice = KIB(16),
};

uint32_t trn_coll_channels_allowed(const trn_coll_config* c) {
    return trn_coll_rings_of(c) > 1 ? TRN_COLL_CHANNELS : TRN_COLL_RING_CHANNELS;
}

uint32_t trn_coll_queues_of(const trn_coll* coll) {
    return coll->lanes + coll->copiers;
}

/* Whether the algorithm works in rings. */
static bool uses_rings(const trn_coll_config* c) {
    const trn_coll_algorithm algorithm = trn_coll_choose(c);
    return algorithm == TRN_COLL_RING || algorithm == TRN_COLL_KANGARING;
}

static uint32_t choose_slices(const trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    if (trn_coll_choose(c) == TRN_COLL_MESH || trn_coll_is_grid(c) || trn_coll_has_counts(c->op))
        return 1;
    const uint64_t share = trn_coll_block_of(c) / trn_coll_all_lanes(coll);
    const bool broadcast = c->op == TRN_COLL_BROADCAST;
    const uint64_t useful = share / (broadcast ? tuning.broadcast_slice : tuning.min_slice);
    const uint64_t max = broadcast ? 64 : share < tuning.min_share_of_four_slices ? 2 : 4;
    return useful < 1 ? 1 : useful > max ? (uint32_t)max : (uint32_t)useful;
}

/* Consecutive channels use cores of consecutive NeuronCores. */
static uint32_t max_channels(const trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    const trn_map* map = coll->device->map;
    const uint32_t per_core = map->top_sps / map->cores;
    const uint32_t left = c->core < map->top_sps ? (map->top_sps - c->core) / per_core : 0;
    const uint32_t max =
        uses_rings(c) && c->domains < 2 ? trn_coll_channels_allowed(c) : TRN_COLL_RING_CHANNELS;
    return left < 1 ? 1 : left < max ? left : max;
}

static uint32_t useful_rings(const trn_coll_config* c) {
    const uint64_t useful = trn_coll_block_of(c) / tuning.min_block_per_lane;
    /* A lane belongs to one ring. */
    const uint32_t lanes = c->lanes * (c->channels ? c->channels : 1);
    uint32_t rings = uses_rings(c) && c->op != TRN_COLL_PERMUTE ? trn_coll_rings_of(c) : 1;
    while (rings > 1 && (rings > useful || (lanes && rings > lanes))) rings /= 2;
    return rings;
}

/* Bytes that determine a grid's lanes: doubling of sums sends the whole buffer to each partner. */
static uint64_t moved_in_grid(const trn_coll_config* c) {
    const bool sums = c->op == TRN_COLL_ALL_REDUCE && trn_coll_choose(c) == TRN_COLL_DOUBLING;
    return sums ? 4 * c->bytes : c->bytes;
}

/* Lanes over all channels, by the size of blocks or buffer. */
static uint64_t useful_lanes(const trn_coll_config* c) {
    uint64_t useful =
        trn_coll_block_of(c) /
        (c->domains > 1 ? tuning.min_block_per_lane_across_domains : tuning.min_block_per_lane);
    if (trn_coll_is_grid(c)) useful = moved_in_grid(c) / tuning.buffer_per_grid_lane;
    if (trn_coll_choose(c) == TRN_COLL_MESH && (c->domains < 2 || trn_coll_is_all_to_all(c->op))) {
        /* at most one per other rank */
        const uint64_t others = trn_coll_ranks_of_domain(c) - 1,
                       all = c->bytes / tuning.buffer_per_mesh_lane;
        const uint64_t each = all < others ? all : others;
        if (useful < each) useful = each;
    }
    const uint64_t max =
        uses_rings(c) && trn_coll_rings_of(c) > 1 ? tuning.max_lanes_of_rings : tuning.max_lanes;
    return useful < 1 ? 1 : useful < max ? useful : max;
}

static uint64_t useful_channels(const trn_coll_config* c) {
    const uint64_t each = c->lanes ? c->lanes : tuning.lanes_per_channel;
    const uint64_t useful = trn_coll_is_grid(c) ? moved_in_grid(c) / tuning.buffer_per_grid_channel
                                                : (useful_lanes(c) + each - 1) / each;
    return useful < 1 ? 1 : useful;
}

static void choose_lanes(trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    const uint64_t useful = useful_lanes(c), wanted = useful_channels(c);
    const uint32_t max = max_channels(coll);
    coll->channels = c->channels ? c->channels : wanted < max ? (uint32_t)wanted : max;
    coll->lanes = c->lanes ? c->lanes : (uint32_t)((useful + coll->channels - 1) / coll->channels);
}

/* Distributes the lanes of rings over as many cores as possible, equally many per ring. Each lane
 * gets at least the minimum block; smaller ones leave the engine idle between steps. */
static void choose_ring_lanes(trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    const uint32_t useful = (uint32_t)useful_lanes(c), max = max_channels(coll);
    const uint32_t each = c->lanes ? c->lanes : 1;
    const uint32_t cores =
        useful / each < coll->rings ? 1 : useful / each / coll->rings * coll->rings;
    coll->channels = c->channels ? c->channels : cores < max ? cores : max;
    /* A broadcast reaches a rank at different times by different rings, so no core serves two
     * rings. */
    while (c->op == TRN_COLL_BROADCAST && coll->channels % coll->rings != 0) coll->rings /= 2;
    /* Each rank of a pair is primary for every other lane, so their number per ring is even. */
    const bool in_pairs = trn_coll_choose(c) == TRN_COLL_KANGARING &&
                          trn_coll_block_of(c) >= tuning.min_block_of_lane_pair;
    const uint32_t rings = coll->rings, min_lanes = (rings + coll->channels - 1) / coll->channels;
    uint32_t lanes = useful / coll->channels;
    if (lanes > tuning.max_ring_lanes_per_channel) lanes = tuning.max_ring_lanes_per_channel;
    while (lanes > min_lanes && lanes * coll->channels % rings != 0) --lanes;
    if (lanes < min_lanes) lanes = min_lanes;
    if (in_pairs && lanes * coll->channels / rings % 2 != 0) lanes *= 2;
    coll->lanes = c->lanes ? c->lanes : lanes;
}

void trn_coll_choose_queues(trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    coll->slices = 1;
    coll->rings = useful_rings(c);
    if (c->op == TRN_COLL_BARRIER) {
        coll->channels = 1;
        return;
    }
    if (uses_rings(c))
        choose_ring_lanes(coll);
    else
        choose_lanes(coll);
    const bool stays =
        c->op != TRN_COLL_ALL_REDUCE && c->op != TRN_COLL_PERMUTE && !trn_coll_is_grid(c);
    coll->copiers = stays && 2 * coll->lanes <= COLL_MAX_LANES ? coll->lanes : 0;
    coll->slices = choose_slices(coll);
}

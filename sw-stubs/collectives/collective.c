/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "cc_core.h"

/* Life of a collective: the configuration is checked, channels and lanes are chosen, programs are
 * built and loaded, runs are started and waited for. A rank's channel is a CC-Core with its
 * lanes; every lane carries its share of each block, and the lanes with the same number on all
 * ranks work independently of other lanes. Algorithms: plain_ring.c, mesh.c,
 * kanga.c, grid.c, domains.c; order of ranks in rings: order.c. */

#define FIRST_QUEUE 4u /* + slot */
#define FAILURES_BYTES 256u
#define RINGS_OFFSET 64u /* the rings in the workspace, after the word that is 1 */
#define RING_STEP 16u    /* contract 7.1: entries */
#define RING_MIN 32u
#define RING_ALIGNMENT UINT64_C(256)

/* ---- checks of the configuration ---- */

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a_bytes && b_bytes && a < b + b_bytes && b < a + a_bytes;
}

static trn_status check_rings(trn_device* device, const trn_coll_config* c) {
    if (c->rings > TRN_COLL_RINGS)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%u rings: at most %u", c->rings,
                        TRN_COLL_RINGS);
    for (uint32_t ring = 0; ring < trn_coll_rings_of(c); ++ring) {
        const uint32_t* order = c->ring + ring * c->ranks;
        uint8_t seen[TRN_COLL_RANKS] = {0};
        for (uint32_t n = 0; n < c->ranks; ++n)
            if (order[n] >= c->ranks || seen[order[n]]++)
                return trn_fail(device, TRN_INVALID_ARGUMENT,
                                "ring %u is not a permutation of the ranks: %u", ring, order[n]);
    }
    return TRN_OK;
}

static trn_status check_ranks(trn_device* device, const trn_coll_config* c) {
    if (c->ranks < 2 || c->ranks > TRN_COLL_RANKS)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%u ranks: a collective has 2 to %u",
                        c->ranks, TRN_COLL_RANKS);
    if (c->rank >= c->ranks || c->root >= c->ranks)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "rank %u or root %u: there are %u ranks",
                        c->rank, c->root, c->ranks);
    return check_rings(device, c);
}

static trn_status check_targets(trn_device* device, const trn_coll_config* c) {
    uint8_t received[TRN_COLL_RANKS] = {0};
    if (!c->targets) return TRN_OK;
    if (c->op != TRN_COLL_PERMUTE)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%s has no targets", trn_coll_op_text(c->op));
    for (uint32_t n = 0; n < c->ranks; ++n) {
        const uint32_t target = c->targets[n];
        if (target == TRN_COLL_NO_RANK) continue;
        if (target >= c->ranks)
            return trn_fail(device, TRN_INVALID_ARGUMENT, "rank %u sends to rank %u of %u", n,
                            target, c->ranks);
        if (received[target]++)
            return trn_fail(device, TRN_INVALID_ARGUMENT, "two ranks send to rank %u", target);
    }
    return TRN_OK;
}

static trn_status check_domains(trn_device* device, const trn_coll_config* c) {
    if (c->domains < 2) return TRN_OK;
    if (c->domains > COLL_MAX_DOMAINS || c->ranks % c->domains != 0 || !c->nics || !c->handles ||
        !c->port)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "%u ranks in %u domains: at most %u, of as many ranks each, with cards",
                        c->ranks, c->domains, COLL_MAX_DOMAINS);
    return TRN_OK;
}

static trn_status check_buffer(trn_device* device, const trn_coll_config* c, const char* buffer,
                               uint64_t address, uint64_t bytes) {
    trn_chip_memory memory;
    if (bytes == 0) return TRN_OK;
    if (!trn_chip_memory_at(device, address, &memory))
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "the %s buffer of rank %u is in no HBM and no SBUF: 0x%llx", buffer,
                        c->rank, (unsigned long long)address);
    if (bytes > memory.begin + memory.bytes - address)
        return trn_fail(
            device, TRN_INVALID_ARGUMENT,
            "the %s buffer of rank %u does not fit: %llu bytes at 0x%llx of %s %u, which "
            "has 0x%llx",
            buffer, c->rank, (unsigned long long)bytes,
            (unsigned long long)(address - memory.begin), memory.is_sbuf ? "SBUF" : "HBM",
            memory.number, (unsigned long long)memory.bytes);
    return TRN_OK;
}

static trn_status check_buffers(trn_device* device, const trn_coll_config* c) {
    const trn_coll_member* own = &c->members[c->rank];
    trn_coll_sizes sizes;
    trn_coll_get_sizes(c, &sizes);
    trn_status status = check_buffer(device, c, "send", own->send, sizes.send);
    if (status == TRN_OK) status = check_buffer(device, c, "receive", own->receive, sizes.receive);
    if (status == TRN_OK) status = check_buffer(device, c, "scratch", own->scratch, sizes.scratch);
    return status;
}

static trn_status check_counts(trn_device* device, const trn_coll_config* c) {
    if (!trn_coll_has_counts(c->op)) return TRN_OK;
    if (!c->counts)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%s without counts", trn_coll_op_text(c->op));
    for (uint64_t n = 0; n < trn_coll_count_entries(c->op, c->ranks); ++n)
        if (c->counts[n] > TRN_COLL_MAX_COUNT)
            return trn_fail(device, TRN_INVALID_ARGUMENT, "count %llu: %llu elements are too many",
                            (unsigned long long)n, (unsigned long long)c->counts[n]);
    if (c->bytes != trn_coll_counted_bytes(c))
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%llu bytes, but the counts need %llu",
                        (unsigned long long)c->bytes,
                        (unsigned long long)trn_coll_counted_bytes(c));
    return TRN_OK;
}

static trn_status check_sizes(trn_device* device, const trn_coll_config* c) {
    const trn_status counted = check_counts(device, c);
    if (counted != TRN_OK) return counted;
    trn_coll_sizes sizes;
    if (trn_coll_get_sizes(c, &sizes) != TRN_OK)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%d is not a collective", (int)c->op);
    if (c->op == TRN_COLL_BARRIER) return TRN_OK;
    const uint32_t element = trn_coll_type_bytes(c->type);
    if (element == 0 || (trn_coll_reduces(c->op) && c->with > TRN_COLL_MAX))
        return trn_fail(device, TRN_INVALID_ARGUMENT, "type %d with operator %d is not supported",
                        (int)c->type, (int)c->with);
    if (c->block != 0) return trn_fail(device, TRN_INVALID_ARGUMENT, "`block` is not 0");
    if (c->bytes % element != 0)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "%llu bytes are not whole elements of %u bytes",
                        (unsigned long long)c->bytes, element);
    const trn_coll_member* own = &c->members[c->rank];
    uint64_t send = 0, receive = 0;
    trn_coll_in_place_offsets(c, &send, &receive);
    if (c->in_place && own->send + receive != own->receive + send)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "%s in place: the input of rank %u is at 0x%llx, the output at 0x%llx",
                        trn_coll_op_text(c->op), c->rank, (unsigned long long)own->send,
                        (unsigned long long)own->receive);
    if ((!c->in_place && overlap(own->send, sizes.send, own->receive, sizes.receive)) ||
        overlap(own->send, sizes.send, own->scratch, sizes.scratch) ||
        overlap(own->receive, sizes.receive, own->scratch, sizes.scratch))
        return trn_fail(device, TRN_INVALID_ARGUMENT, "the buffers of rank %u overlap", c->rank);
    return TRN_OK;
}

static trn_status check_algorithm(trn_device* device, const trn_coll_config* c) {
    char others[64] = "";
    const trn_coll_algorithm chosen = trn_coll_choose(c);
    if (!trn_coll_algorithm_of(c->op, chosen)) {
        for (trn_coll_algorithm n = TRN_COLL_RING; n < TRN_COLL_ALGORITHMS; ++n)
            if (trn_coll_has_algorithm(c->op, n))
                snprintf(others + strlen(others), sizeof others - strlen(others), " %s",
                         trn_coll_algorithm_text(n));
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%s has no algorithm %s; it has:%s",
                        trn_coll_op_text(c->op), trn_coll_algorithm_text(chosen), others);
    }
    if (chosen == TRN_COLL_KANGARING && trn_coll_ranks_of_domain(c) % 2 != 0)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "%s needs pairs of ranks in each domain, which has %u",
                        trn_coll_algorithm_text(chosen), trn_coll_ranks_of_domain(c));
    return TRN_OK;
}

static trn_status check_config(trn_device* device, const trn_coll_config* c) {
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = check_ranks(device, c);
    if (status == TRN_OK) status = check_domains(device, c);
    if (status == TRN_OK) status = check_targets(device, c);
    if (status == TRN_OK) status = check_sizes(device, c);
    if (status == TRN_OK) status = check_algorithm(device, c);
    if (status == TRN_OK) status = check_buffers(device, c);
    if (status != TRN_OK) return status;
    if (c->done_semaphore % sizeof(uint32_t) != 0)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "the semaphore of rank %u is not at a multiple of 4: 0x%llx", c->rank,
                        (unsigned long long)c->done_semaphore);
    if (c->slot >= TRN_CC_SLOTS)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "slot %u: a core has slots 0 to %u", c->slot,
                        TRN_CC_SLOTS - 1);
    if (c->channels > trn_coll_channels_allowed(c) || c->lanes > COLL_MAX_LANES)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "%u channels of %u lanes: there can be %u of %u lanes each", c->channels,
                        c->lanes, trn_coll_channels_allowed(c), COLL_MAX_LANES);
    return TRN_OK;
}

/* ---- creation ---- */

/* Channel n uses a CC-Core of the n-th next NeuronCore, with the DMA engines of that
 * NeuronCore. */
static trn_status choose_cores(trn_coll* coll) {
    const trn_map* map = coll->device->map;
    const uint32_t per_core = map->top_sps / map->cores;
    for (uint32_t n = 0; n < coll->channels; ++n) {
        coll_channel* c = &coll->channel[n];
        c->core = coll->config.core + n * per_core;
        if (c->core >= map->top_sps)
            return trn_fail(coll->device, TRN_INVALID_ARGUMENT,
                            "channel %u would need CC-Core %u: there are %u", n, c->core,
                            map->top_sps);
        for (uint32_t lane = 0; lane < trn_coll_queues_of(coll); ++lane)
            c->engines[lane] = c->core / per_core * TRN_ENGINES_PER_CORE + lane;
    }
    return TRN_OK;
}

static uint32_t ring_length(const coll_ring* ring) {
    const uint32_t entries = (ring->count + RING_STEP) / RING_STEP * RING_STEP;
    return entries < RING_MIN ? RING_MIN : entries;
}

static trn_status place_ring(trn_coll* coll, const coll_ring* ring, uint64_t* used,
                             uint64_t* address) {
    const uint64_t bytes = ring_length(ring) * sizeof(trn_descriptor);
    const uint64_t offset = (*used + RING_ALIGNMENT - 1) / RING_ALIGNMENT * RING_ALIGNMENT;
    if (offset + bytes > coll->config.workspace_bytes)
        return trn_fail(coll->device, TRN_INVALID_ARGUMENT,
                        "the workspace of %llu bytes has no room for the rings",
                        (unsigned long long)coll->config.workspace_bytes);
    *used = offset + bytes;
    *address = trn_hbm_address(coll->device, 0, coll->config.workspace + offset);
    return trn_window_write(coll->device, 0, coll->config.workspace + offset, ring->entries,
                            ring->count * sizeof(trn_descriptor));
}

static trn_status place_rings(trn_coll* coll, const coll_builder* b, uint64_t* used) {
    for (uint32_t lane = 0; lane < trn_coll_queues_of(coll); ++lane) {
        const coll_lane* l = &b->program.lane[lane];
        uint64_t m2s = 0, s2m = 0;
        trn_status status = place_ring(coll, &l->m2s, used, &m2s);
        if (status == TRN_OK) status = place_ring(coll, &l->s2m, used, &s2m);
        if (status == TRN_OK)
            status = trn_ring_init(coll->device, coll->channel[b->channel].engines[lane],
                                   FIRST_QUEUE + coll->config.slot, m2s, ring_length(&l->m2s), s2m,
                                   ring_length(&l->s2m));
        if (status != TRN_OK) return status;
    }
    return TRN_OK;
}

static trn_status load(trn_coll* coll, coll_builder* b, const uint8_t* requests) {
    uint64_t engines[COLL_MAX_LANES] = {0};
    coll_channel* c = &coll->channel[b->channel];
    for (uint32_t lane = 0; lane < trn_coll_queues_of(coll); ++lane)
        engines[lane] = trn_block_address(&coll->device->map->core_engine, c->engines[lane]);
    coll_header header = {
        .rank = coll->config.rank,
        .ranks = coll->config.ranks,
        .done = trn_host_address(coll->device, coll->done.iova + b->channel * sizeof(uint32_t)),
        .limit = coll->config.limit,
        .first_semaphore = trn_coll_first_semaphore(coll),
        .semaphores = COLL_SEMAPHORES,
        .engines = engines,
        .queue = FIRST_QUEUE + coll->config.slot,
        .marks = coll->config.steps};
    if (requests) header.network = trn_coll_net_of(b, requests);
    if (coll->config.notify) {
        const trn_status status = trn_cc_failures_open(coll->device, c->core, coll->config.slot,
                                                       FAILURES_BYTES, &c->failures);
        if (status != TRN_OK) return status;
    }
    const uint32_t bytes = trn_coll_program_finish(&b->program, &header);
    if (b->program.full)
        return trn_fail(coll->device, TRN_NO_MEMORY, "the program of rank %u does not fit",
                        coll->config.rank);
    const trn_status status =
        trn_cc_program(coll->device, c->core, coll->config.slot, b->program.bytes, bytes);
    c->loaded = status == TRN_OK;
    return status;
}

static bool prepare_builder(coll_builder* b) {
    const uint64_t increment_address =
        trn_hbm_address(b->coll->device, 0, b->coll->config.workspace);
    if (!trn_coll_program_init(&b->program, trn_coll_queues_of(b->coll), increment_address))
        return false;
    if (b->coll->config.domains < 2) return true;
    b->requests = calloc(TRN_COLL_QUEUE_ENTRIES, sizeof *b->requests);
    return b->requests != NULL;
}

static trn_status load_with_requests(trn_coll* coll, coll_builder* b) {
    if (!b->requests) return load(coll, b, NULL);
    uint8_t* const entries = malloc(TRN_COLL_QUEUE_ENTRIES * TRN_RDMA_REQUEST_BYTES);
    if (!entries) return trn_fail(coll->device, TRN_NO_MEMORY, "no memory for requests");
    trn_coll_net_encode(b, entries);
    const trn_status status = load(coll, b, entries);
    free(entries);
    return status;
}

static trn_status make_channel(trn_coll* coll, uint32_t number, uint64_t* used) {
    const uint32_t seng = coll->channel[number].engines[0] / (2 * TRN_ENGINES_PER_CORE);
    coll_builder b = {.coll = coll, .whole = coll, .channel = number, .window = seng};
    trn_status status = TRN_OK;
    if (!prepare_builder(&b))
        status = trn_fail(coll->device, TRN_NO_MEMORY, "no memory for a program");
    if (status == TRN_OK) {
        if (b.program.lanes) trn_coll_rewind(&b.program);
        trn_coll_stage(&b);
        if (b.requests)
            trn_coll_across_domains(&b);
        else
            trn_coll_algorithm_of(coll->config.op, coll->config.algorithm)(&b);
        status = place_rings(coll, &b, used);
    }
    if (status == TRN_OK && coll->config.done_semaphore)
        trn_coll_post(&b.program, coll->config.done_semaphore);
    if (status == TRN_OK) status = load_with_requests(coll, &b);
    trn_coll_program_free(&b.program);
    free(b.requests);
    return status;
}

static trn_status make(trn_coll* coll) {
    const uint32_t increment = 1;
    uint64_t used = RINGS_OFFSET;
    trn_coll_choose_queues(coll);
    trn_status status = choose_cores(coll);
    if (status == TRN_OK)
        status = trn_dma_allocate(coll->device, COLL_MAX_CHANNELS * sizeof increment, &coll->done);
    if (status == TRN_OK && coll->lanes)
        status =
            trn_window_write(coll->device, 0, coll->config.workspace, &increment, sizeof increment);
    for (uint32_t n = 0; n < coll->channels && status == TRN_OK; ++n)
        status = make_channel(coll, n, &used);
    return status;
}

static void* copy_of(const void* source, size_t bytes) {
    void* copy = malloc(bytes + 1);
    if (copy && bytes) memcpy(copy, source, bytes);
    return copy;
}

trn_status trn_coll_create(trn_device* device, const trn_coll_config* config, trn_coll** made) {
    *made = NULL;
    trn_status status = check_config(device, config);
    if (status != TRN_OK) return status;
    trn_coll* coll = calloc(1, sizeof *coll);
    if (!coll) return trn_fail(device, TRN_NO_MEMORY, "no memory for a collective");
    const uint32_t ranks = config->ranks;
    const size_t cards = config->domains > 1 ? ranks : 0;
    const size_t ports = config->domains > 1 ? TRN_COLL_RING_CHANNELS : 0;
    *coll = (trn_coll){.device = device,
                       .config = *config,
                       .members = copy_of(config->members, ranks * sizeof *config->members),
                       .ring = copy_of(config->ring, (size_t)trn_coll_rings_of(config) * ranks *
                                                         sizeof(uint32_t))};
    trn_coll_config* own = &coll->config;
    own->members = coll->members;
    own->ring = coll->ring;
    own->counts =
        copy_of(config->counts, trn_coll_count_entries(config->op, ranks) * sizeof *own->counts);
    own->nics = copy_of(config->nics, cards * sizeof *own->nics);
    own->handles = copy_of(config->handles, cards * sizeof *own->handles);
    own->port = copy_of(config->port, ports * sizeof *own->port);
    if (!own->members || !own->ring || !own->counts || !own->nics || !own->handles || !own->port) {
        trn_coll_free(coll);
        return trn_fail(device, TRN_NO_MEMORY, "no memory for a collective");
    }
    own->algorithm = trn_coll_choose(config);
    own->rules = NULL;
    own->rule_count = 0;
    if (trn_coll_is_staged(config))
        coll->members[config->rank].send =
            coll->members[config->rank].scratch + trn_coll_staged_at(config);
    trn_coll_find_positions(coll);
    status = make(coll);
    own->targets = NULL; /* only programs depend on them */
    if (status == TRN_OK) {
        *made = coll;
    } else {
        char why[sizeof device->error];
        memcpy(why, device->error, sizeof why); /* trn_coll_destroy overwrites it */
        trn_coll_destroy(coll);
        memcpy(device->error, why, sizeof why);
    }
    return status;
}

trn_status trn_coll_destroy(trn_coll* coll) {
    if (!coll) return TRN_OK;
    trn_status status = TRN_OK;
    for (uint32_t n = 0; n < coll->channels; ++n) {
        coll_channel* c = &coll->channel[n];
        if (c->loaded) {
            const trn_status each = trn_cc_unload(coll->device, c->core, coll->config.slot);
            if (status == TRN_OK) status = each;
        }
        if (c->failures.entries) trn_notifications_close(coll->device, &c->failures);
        for (uint32_t lane = 0; lane < trn_coll_queues_of(coll); ++lane)
            trn_ring_release(coll->device, c->engines[lane], FIRST_QUEUE + coll->config.slot);
    }
    trn_dma_release(coll->device, &coll->done);
    trn_coll_free(coll);
    return status;
}

void trn_coll_free(trn_coll* coll) {
    if (!coll) return;
    free((void*)coll->config.counts);
    free((void*)coll->config.nics);
    free((void*)coll->config.handles);
    free((void*)coll->config.port);
    free(coll->members);
    free(coll->ring);
    free(coll);
}

uint32_t trn_coll_rings_used(const trn_coll* coll) {
    return coll->rings;
}

uint32_t trn_coll_channels(const trn_coll* coll) {
    return coll->channels;
}

/* ---- runs ---- */

static void begin_runs(trn_coll* coll, uint32_t runs) {
    uint64_t* const shared = coll->config.operation;
    coll->runs += runs;
    coll->operation =
        trn_operation_begins(coll->device, trn_coll_op_text(coll->config.op), shared ? *shared : 0);
    if (shared) *shared = coll->operation;
}

trn_status trn_coll_start(trn_coll* coll) {
    trn_status status = TRN_OK;
    begin_runs(coll, 1);
    for (uint32_t n = 0; n < coll->channels && status == TRN_OK; ++n)
        status = trn_cc_trigger(coll->device, coll->channel[n].core, coll->config.slot);
    trn_operation_posted(coll->device);
    return status;
}

uint32_t trn_coll_triggers(const trn_coll* coll, trn_coll_trigger* triggers) {
    for (uint32_t n = 0; n < coll->channels; ++n)
        triggers[n] = trn_cc_trigger_of(coll->device, coll->channel[n].core, coll->config.slot);
    return coll->channels;
}

trn_status trn_coll_expect(trn_coll* coll, uint32_t runs) {
    if (runs == 0) return trn_fail(coll->device, TRN_INVALID_ARGUMENT, "0 runs of a collective");
    begin_runs(coll, runs);
    trn_operation_posted(coll->device);
    return TRN_OK;
}

static bool all_done(const trn_coll* coll) {
    const uint32_t* words = coll->done.host;
    for (uint32_t n = 0; n < coll->channels; ++n)
        if ((int32_t)(__atomic_load_n(&words[n], __ATOMIC_ACQUIRE) - coll->runs) < 0) return false;
    return true;
}

/* Takes notifications of the firmware. The rings are in host memory, so polling is cheap. */
static trn_status take_notices(trn_coll* coll) {
    trn_status status = TRN_OK;
    for (uint32_t n = 0; n < coll->channels && status == TRN_OK; ++n) {
        trn_notification entry;
        trn_notification_ring* ring = &coll->channel[n].failures;
        bool there = false;
        if (ring->entries) status = trn_notifications_next(coll->device, ring, &entry, &there);
        if (there) coll->failure = coll->channel[n].failure = trn_cc_failure_of(&entry);
    }
    return status;
}

/* The rank of an address handle of the network card; the own rank when none has it. */
static uint32_t rank_of_handle(const trn_coll* coll, uint32_t handle) {
    const trn_coll_config* c = &coll->config;
    for (uint32_t rank = 0; c->domains > 1 && rank < c->ranks; ++rank)
        if (c->handles[rank] == handle && rank != c->rank) return rank;
    return c->rank;
}

static trn_status aborted(trn_coll* coll, const coll_channel* c, const trn_cc_slot* slot_state) {
    char class[64] = "", step[128];
    if (coll->failure.code != TRN_CC_CODE_NONE)
        snprintf(class, sizeof class, ": %d %s", (int)coll->failure.code,
                 trn_cc_code_text(coll->failure.code));
    snprintf(step, sizeof step, "rank %u, core %u, step %u", coll->config.rank, c->core,
             slot_state->step);
    if (slot_state->error == TRN_CC_BUS)
        return trn_fail(coll->device, TRN_ABORTED, "%s failed: %s: bus error%s",
                        trn_coll_op_text(coll->config.op), step, class);
    if (slot_state->error == TRN_CC_NETWORK)
        return trn_fail(coll->device, TRN_ABORTED,
                        "%s failed: %s: write to rank %u: status %u of the network card%s",
                        trn_coll_op_text(coll->config.op), step,
                        rank_of_handle(coll, slot_state->peer), (unsigned)slot_state->value, class);
    return trn_fail(
        coll->device, TRN_ABORTED, "%s hangs: %s waits for rank %u (semaphore %u is %d of %u)%s%s",
        trn_coll_op_text(coll->config.op), step, slot_state->peer, slot_state->semaphore,
        (int)slot_state->value, slot_state->wanted,
        slot_state->error == TRN_CC_DMA_ABORT ? "; a DMA queue has stopped" : "", class);
}

/* Fails with the cause of a failed run, if any: of several failed channels the one with the lowest
 * step, because the others wait for it. */
static trn_status find_failure(trn_coll* coll) {
    trn_cc_slot first = {.step = UINT32_MAX};
    coll_channel* failed = NULL;
    for (uint32_t n = 0; n < coll->channels; ++n) {
        trn_cc_slot slot_state;
        coll_channel* c = &coll->channel[n];
        const trn_status status =
            trn_cc_slot_state(coll->device, c->core, coll->config.slot, &slot_state);
        if (status != TRN_OK) return status;
        if (slot_state.state != TRN_CC_FAILED || slot_state.step >= first.step) continue;
        first = slot_state;
        failed = c;
    }
    if (!failed) return TRN_OK;
    const trn_status status = take_notices(coll);
    if (status != TRN_OK) return status;
    if (failed->failure.code != TRN_CC_CODE_NONE) coll->failure = failed->failure;
    return aborted(coll, failed, &first);
}

trn_status trn_coll_check(trn_coll* coll) {
    const trn_status status = trn_need_ready(coll->device);
    return status == TRN_OK ? find_failure(coll) : status;
}

trn_cc_failure trn_coll_failure(const trn_coll* coll) {
    return coll->failure;
}

trn_status trn_coll_wait(trn_coll* coll, uint64_t limit) {
    const uint64_t start = trn_now(coll->device), end = trn_timeout(coll->device, limit);
    uint64_t next_check = 100 * NS_PER_US;
    for (;;) {
        if (all_done(coll)) {
            trn_operation_complete(coll->device, coll->operation);
            return TRN_OK;
        }
        const uint64_t waited = trn_now(coll->device) - start;
        trn_status status = take_notices(coll);
        if (status != TRN_OK) return status;
        if (waited >= next_check || waited >= end || coll->failure.code != TRN_CC_CODE_NONE) {
            status = find_failure(coll);
            next_check = waited + waited / 4;
        }
        if (status != TRN_OK) return status;
        if (waited >= end)
            return trn_fail(coll->device, TRN_TIMED_OUT, "%s of rank %u has not ended after %s",
                            trn_coll_op_text(coll->config.op), coll->config.rank,
                            trn_text_of_time(waited).text);
        const uint64_t pause = waited / 64;
        status = trn_pause(coll->device, pause < NS_PER_US ? NS_PER_US : pause);
        if (status != TRN_OK) return status;
    }
}

trn_status trn_coll_times(trn_coll* coll, uint64_t* started, uint64_t* ended) {
    *started = UINT64_MAX;
    *ended = 0;
    for (uint32_t n = 0; n < coll->channels; ++n) {
        trn_cc_slot slot_state;
        const trn_status status =
            trn_cc_slot_state(coll->device, coll->channel[n].core, coll->config.slot, &slot_state);
        if (status != TRN_OK) return status;
        if (slot_state.started < *started) *started = slot_state.started;
        if (slot_state.ended > *ended) *ended = slot_state.ended;
    }
    return TRN_OK;
}

trn_status trn_coll_steps(trn_coll* coll, uint64_t* ends, uint32_t* count) {
    const uint32_t room = *count;
    uint64_t first = 0, last = 0;
    *count = 0;
    if (!coll->config.steps)
        return trn_fail(coll->device, TRN_INVALID_ARGUMENT, "this %s was made without steps",
                        trn_coll_op_text(coll->config.op));
    uint32_t* times = malloc((room ? room : 1) * sizeof *times);
    if (!times) return trn_fail(coll->device, TRN_NO_MEMORY, "no memory for %u steps", room);
    trn_status status = trn_coll_times(coll, &first, &last);
    for (uint32_t n = 0; n < coll->channels && status == TRN_OK; ++n) {
        trn_cc_slot slot_state;
        uint32_t marks = 0;
        const uint32_t core = coll->channel[n].core, slot = coll->config.slot;
        status = trn_cc_slot_state(coll->device, core, slot, &slot_state);
        if (status == TRN_OK) status = trn_cc_marks(coll->device, core, slot, times, room, &marks);
        if (status != TRN_OK) break;
        if (n == 0 || marks < *count) *count = marks; /* channels of one collective are equal */
        for (uint32_t k = 0; k < room && k < marks; ++k) {
            const uint64_t end = slot_state.started - first + times[k];
            if (n == 0 || end > ends[k]) ends[k] = end;
        }
    }
    free(times);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "builder.h"
#include "cc_core.h"

/* EFA driven by a CC-Core. The host has created a queue pair of the card for each channel;
 * the work requests of a run are in the channel's program. The core posts them and reads from the
 * completion ring which of them are complete and which writes of other cards have arrived. */

#define MAX_BYTES (UINT64_C(1) << 30) /* of a request */

static const trn_coll_nic* nic_of(const coll_builder* b, uint32_t rank) {
    return &b->whole->config.nics[rank];
}

/* Address of a byte of a rank's HBM or SBUF for the cards of its server. */
typedef struct card_view {
    uint64_t address; /* bus address */
    uint32_t key;
} card_view;
static card_view memory_of(const coll_builder* b, uint32_t rank, uint64_t address) {
    const trn_coll_nic* nic = nic_of(b, rank);
    trn_chip_memory memory = {0};
    trn_chip_memory_at(b->whole->device, address, &memory);
    const uint64_t bar_offset = memory.in_bar + (address - memory.begin);
    return memory.is_sbuf ? (card_view){nic->registers + bar_offset, nic->register_key}
                          : (card_view){nic->memory + bar_offset, nic->memory_key};
}

static uint64_t rings_at(const trn_coll_config* config, uint32_t channel) {
    return config->queues + channel * (uint64_t)TRN_COLL_QUEUE_BYTES;
}

trn_status trn_coll_rings_for(trn_device* device, const trn_coll_config* config, uint32_t channel,
                              trn_coll_rings_of_card* rings) {
    *rings = (trn_coll_rings_of_card){0};
    trn_status status = trn_need_ready(device);
    if (status != TRN_OK) return status;
    trn_coll coll = {.device = device, .config = *config};
    const coll_builder b = {.coll = &coll, .whole = &coll, .channel = channel};
    const uint32_t core = config->core + channel * (device->map->top_sps / device->map->cores);
    if (core >= device->map->top_sps) return TRN_OK;
    uint8_t* const empty = calloc(1, TRN_COLL_QUEUE_BYTES);
    if (!empty) return trn_fail(device, TRN_NO_MEMORY, "no memory for rings");
    const uint64_t offset = rings_at(config, channel);
    status = trn_window_write(device, 0, offset, empty, TRN_COLL_QUEUE_BYTES);
    free(empty);
    if (status != TRN_OK) return status;
    rings->completions = memory_of(&b, config->rank, trn_hbm_address(device, 0, offset)).address;
    rings->events = rings->completions + TRN_COLL_COMPLETIONS * TRN_RDMA_COMPLETION_BYTES;
    rings->message = nic_of(&b, config->rank)->registers + trn_cc_bar_offset(device, core) +
                     trn_coll_semaphore_offset(&coll, COLL_NET_EVENT);
    return TRN_OK;
}

coll_network trn_coll_net_of(const coll_builder* b, const uint8_t* requests) {
    const trn_coll* coll = b->whole;
    const trn_coll_port* port = &coll->config.port[b->channel];
    const uint32_t first = trn_coll_first_semaphore(coll);
    trn_device* device = coll->device;
    return (coll_network){
        .ring = trn_host_address(device, port->send_ring),
        .send_doorbell = trn_host_address(device, port->send_doorbell),
        .completions = trn_hbm_address(device, 0, rings_at(&coll->config, b->channel)),
        .completion_doorbell = trn_host_address(device, port->completion_doorbell),
        .event_doorbell = trn_host_address(device, port->event_doorbell),
        .sends = TRN_COLL_QUEUE_ENTRIES,
        .completion_entries = TRN_COLL_COMPLETIONS,
        .event_queue = port->event_queue,
        .event_semaphore = first + COLL_NET_EVENT,
        .first_semaphore = first + COLL_NET_SENT,
        .semaphores = COLL_SEMAPHORES - COLL_NET_SENT,
        .requests = requests,
        .request_count = b->request_count,
    };
}

static void append(coll_builder* b, trn_rdma_request request) {
    if (b->request_count == TRN_COLL_QUEUE_ENTRIES) {
        b->program.full = true;
        return;
    }
    request.id = (uint16_t)b->request_count;
    b->requests[b->request_count++] = request;
}

uint32_t trn_coll_net_posts(uint64_t bytes) {
    return bytes == 0 ? 1 : (uint32_t)((bytes + MAX_BYTES - 1) / MAX_BYTES);
}

void trn_coll_net_send(coll_builder* b, uint32_t rank, uint32_t semaphore, uint64_t destination,
                       uint64_t source, uint64_t bytes) {
    const trn_coll_config* c = &b->whole->config;
    uint64_t done = 0;
    do {
        const uint64_t left = bytes - done;
        const card_view remote = memory_of(b, rank, destination + done);
        const card_view local = memory_of(b, c->rank, source + done);
        append(b, (trn_rdma_request){
                      .operation = TRN_RDMA_WRITE,
                      .address_handle = c->handles[rank],
                      .queue_pair = nic_of(b, rank)->queue_pair[b->channel],
                      .qkey = c->qkey,
                      .length = (uint32_t)(left < MAX_BYTES ? left : MAX_BYTES),
                      .local = local.address,
                      .remote = remote.address,
                      .local_key = local.key,
                      .remote_key = remote.key,
                      .has_immediate = 1,
                      .immediate = trn_coll_first_semaphore(b->whole) + semaphore,
                  });
        done += MAX_BYTES;
    } while (done < bytes);
}

void trn_coll_net_notify(coll_builder* b, uint32_t rank, uint32_t semaphore) {
    trn_coll_net_send(b, rank, semaphore, 0, 0, 0);
}

void trn_coll_net_doorbell(coll_builder* b) {
    trn_coll_send(&b->program, b->requests_posted, b->request_count - b->requests_posted);
    b->requests_posted = b->request_count;
}

void trn_coll_net_wait_for(coll_builder* b, uint32_t semaphore, uint32_t value, uint32_t rank) {
    trn_coll_step_wait(&b->program, trn_coll_first_semaphore(b->whole) + semaphore, value, rank);
}

void trn_coll_net_ends(coll_builder* b) {
    if (b->request_count)
        trn_coll_net_wait_for(b, COLL_NET_SENT, b->request_count, b->whole->config.rank);
}

void trn_coll_net_encode(const coll_builder* b, uint8_t* entries) {
    for (uint32_t n = 0; n < b->request_count; ++n)
        trn_rdma_encode(&b->requests[n], entries + (uint64_t)n * TRN_RDMA_REQUEST_BYTES);
}

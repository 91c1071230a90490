/* SPDX-License-Identifier: Apache-2.0 */
#include "cc_core.h"
#include "coll_builder.h"
#include "trn/efa_regs.h"

/* EFA under the hand of a collective core. The host writes the work requests of a run into the ring
 * of a queue pair, in HBM; the core starts the pair, rings its doorbell, and learns by semaphores
 * what the card has done and what other cards have brought. */

#define MAX_BYTES (UINT64_C(1) << 30) /* of a request */

static const trn_coll_nic* nic_of(const coll_builder* b, uint32_t rank) {
    return &b->whole->config.nics[rank];
}

static uint64_t card_register(const coll_builder* b, uint64_t offset) {
    const trn_coll* coll = b->whole;
    return trn_host_address(coll->device, nic_of(b, coll->config.rank)->card_registers + offset);
}

static uint32_t queue_pair(const coll_builder* b) {
    return nic_of(b, b->whole->config.rank)->queue + b->channel;
}

/* As the cards of a rank's server see a byte of its HBM or of an SBUF, and a semaphore of its
 * cores.
 */
typedef struct card_view {
    uint64_t address; /* bus address */
    uint16_t region;
} card_view;
static card_view memory_of(const coll_builder* b, uint32_t rank, uint64_t address) {
    const trn_coll_nic* nic = nic_of(b, rank);
    trn_chip_memory in = {0};
    trn_chip_memory_at(b->whole->device, address, &in);
    const uint64_t offset = in.in_bar + (address - in.begin);
    return in.is_sbuf ? (card_view){nic->registers + offset, nic->register_region}
                      : (card_view){nic->memory + offset, nic->memory_region};
}
static uint64_t semaphore_of(const coll_builder* b, uint32_t rank, uint32_t index) {
    const uint64_t core = trn_cc_bar_offset(b->whole->device, b->whole->channel[b->channel].core);
    return nic_of(b, rank)->registers + core + trn_coll_semaphore_offset(b->whole, index);
}

trn_status trn_coll_queue(trn_device* device, const trn_coll_config* config, uint32_t channel,
                          trn_efa_rings* rings) {
    *rings = (trn_efa_rings){0};
    const trn_status status = trn_need_ready(device);
    if (status != TRN_OK) return status;
    trn_coll coll = {.device = device, .config = *config};
    const coll_builder b = {.coll = &coll, .whole = &coll, .channel = channel};
    coll.channel[channel].core =
        config->core + channel * (device->map->top_sps / device->map->cores);
    if (coll.channel[channel].core >= device->map->top_sps) return TRN_OK;
    const uint64_t requests = config->queues + channel * TRN_COLL_QUEUE_BYTES;
    const uint64_t completions = requests + TRN_COLL_QUEUE_ENTRIES * TRN_EFA_REQUEST_BYTES;
    rings->entries = TRN_COLL_QUEUE_ENTRIES;
    rings->requests = memory_of(&b, config->rank, trn_hbm_address(device, 0, requests)).address;
    rings->completions =
        memory_of(&b, config->rank, trn_hbm_address(device, 0, completions)).address;
    rings->notify = semaphore_of(&b, config->rank, COLL_NET_SENT);
    return TRN_OK;
}

static void append(coll_builder* b, trn_efa_request request) {
    if (b->request_count == TRN_COLL_QUEUE_ENTRIES) {
        b->program.full = true;
        return;
    }
    request.id = b->request_count;
    b->requests[b->request_count++] = request;
}

uint32_t trn_coll_net_posts(uint64_t bytes) {
    return bytes == 0 ? 1 : (uint32_t)((bytes + MAX_BYTES - 1) / MAX_BYTES);
}

void trn_coll_net_send(coll_builder* b, uint32_t rank, uint32_t semaphore, uint64_t to,
                       uint64_t from, uint64_t bytes) {
    const trn_coll_nic* nic = nic_of(b, rank);
    uint64_t done = 0;
    do {
        const uint64_t left = bytes - done;
        const card_view remote = memory_of(b, rank, to + done);
        append(b, (trn_efa_request){
                      .what = TRN_EFA_NOTIFY,
                      .card = nic->card,
                      .region = remote.region,
                      .length = (uint32_t)(left < MAX_BYTES ? left : MAX_BYTES),
                      .local = memory_of(b, b->whole->config.rank, from + done).address,
                      .remote = remote.address,
                      .notice = semaphore_of(b, rank, semaphore),
                      .value = 1,
                      .notice_region = nic->register_region,
                  });
        done += MAX_BYTES;
    } while (done < bytes);
}

void trn_coll_net_notify(coll_builder* b, uint32_t rank, uint32_t semaphore) {
    trn_coll_net_send(b, rank, semaphore, 0, 0, 0);
}

void trn_coll_net_begins(coll_builder* b) {
    trn_coll_write(&b->program, card_register(b, TRN_EFA_QP_STATE_OFFSET(queue_pair(b))),
                   TRN_EFA_QP_STATE_RUN_MASK);
}

void trn_coll_net_doorbell(coll_builder* b) {
    trn_coll_write(&b->program, card_register(b, TRN_EFA_QP_SQ_TAIL_OFFSET(queue_pair(b))),
                   b->request_count);
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
        trn_efa_encode(&b->requests[n], entries + (uint64_t)n * TRN_EFA_REQUEST_BYTES);
}

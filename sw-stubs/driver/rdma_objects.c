/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "rdma.h"

/* Commands of the admin queue (EFA contract 7 and 8). */

#define OPCODE(name) TRN_EFA_ADMIN_OPCODES_OPCODE_##name
#define GET(entry, name) (entry).words[RDMA_WORD(name)]
#define GET_FIELD(entry, name, field) TRN_EFA_ADMIN_##name##_##field##_GET(GET(entry, name))

static void put_wide(rdma_entry* entry, uint32_t word, uint64_t value) {
    entry->words[word] = (uint32_t)value;
    entry->words[word + 1] = (uint32_t)(value >> 32);
}

/* Executes a command of one word. */
static int execute_word(trn_rdma_card* card, uint32_t opcode, uint32_t word, uint32_t value) {
    if (!card) return -EINVAL;
    rdma_entry command = {{0}}, answer;
    command.words[word] = value;
    return trn_rdma_execute(card, opcode, &command, &answer);
}

static int feature(trn_rdma_card* card, uint32_t id, rdma_entry* answer) {
    rdma_entry command = {{0}};
    GET(command, FEATURE) = RDMA_FIELD(FEATURE_ID, id);
    return trn_rdma_execute(card, OPCODE(GET_FEATURE), &command, answer);
}

int trn_rdma_get_attributes(trn_rdma_card* card, trn_rdma_attributes* attributes) {
    if (!card || !attributes) return -EINVAL;
    rdma_entry device, network, queues, events;
    int error = feature(card, TRN_EFA_ADMIN_FEATURE_ID_DEVICE_ATTR, &device);
    if (!error) error = feature(card, TRN_EFA_ADMIN_FEATURE_ID_NETWORK_ATTR, &network);
    if (!error) error = feature(card, TRN_EFA_ADMIN_FEATURE_ID_QUEUE_ATTR_1, &queues);
    if (!error) error = feature(card, TRN_EFA_ADMIN_FEATURE_ID_EVENT_QUEUE_ATTR, &events);
    if (error) return error;
    *attributes = (trn_rdma_attributes){
        .gigabits = GET_FIELD(device, DEVICE_LINK, GIGABITS),
        .mtu = GET(network, NETWORK_MTU),
        .max_rdma = GET(device, DEVICE_MAX_RDMA),
        .queue_pairs = GET(queues, QUEUES_MAX_QP),
        .event_queues = GET(events, EVENT_QUEUES_MAX),
    };
    memcpy(attributes->gid.bytes, &GET(network, NETWORK_GID_0), sizeof attributes->gid.bytes);
    return 0;
}

int trn_rdma_alloc_domain(trn_rdma_card* card, uint16_t* domain) {
    if (!card || !domain) return -EINVAL;
    rdma_entry command = {{0}}, answer;
    const int error = trn_rdma_execute(card, OPCODE(ALLOC_PD), &command, &answer);
    if (!error) *domain = (uint16_t)GET_FIELD(answer, PD, NUMBER);
    return error;
}

int trn_rdma_alloc_uar(trn_rdma_card* card, uint16_t* uar) {
    if (!card || !uar) return -EINVAL;
    rdma_entry command = {{0}}, answer;
    const int error = trn_rdma_execute(card, OPCODE(ALLOC_UAR), &command, &answer);
    if (!error) *uar = (uint16_t)GET_FIELD(answer, UAR, NUMBER);
    return error;
}

int trn_rdma_dealloc_uar(trn_rdma_card* card, uint16_t uar) {
    return execute_word(card, OPCODE(DEALLOC_UAR), RDMA_WORD(DEALLOC_UAR),
                        RDMA_FIELD(DEALLOC_UAR_NUMBER, uar));
}

int trn_rdma_create_address_handle(trn_rdma_card* card, uint16_t domain, const trn_rdma_gid* peer,
                                   uint16_t* handle) {
    if (!card || !peer || !handle) return -EINVAL;
    rdma_entry command = {{0}}, answer;
    memcpy(&GET(command, CREATE_AH_GID_0), peer->bytes, sizeof peer->bytes);
    GET(command, CREATE_AH) = RDMA_FIELD(CREATE_AH_PD, domain);
    const int error = trn_rdma_execute(card, OPCODE(CREATE_AH), &command, &answer);
    if (!error) *handle = (uint16_t)GET_FIELD(answer, AH, NUMBER);
    return error;
}

/* ---- memory ---- */

enum { min_shift = 12, max_shift = 31, pages_in_command = 4 };

static uint32_t page_shift(uint64_t base, uint64_t size) {
    uint32_t shift = max_shift;
    while (shift > min_shift && ((base | size) & ((UINT64_C(1) << shift) - 1)) != 0) --shift;
    return shift;
}

static int register_pages(trn_rdma_card* card, rdma_entry* command, const uint64_t* pages,
                          uint64_t count, rdma_entry* answer) {
    const trn_transport* transport = card->transport;
    const uint64_t bytes = count * sizeof *pages;
    trn_dma_memory list;
    if (count <= pages_in_command) {
        memcpy(&GET(*command, REG_MR_PAGE_0_LO), pages, bytes);
        return trn_rdma_execute(card, OPCODE(REG_MR), command, answer);
    }
    int error = transport->dma_alloc(transport->context, bytes, &list);
    if (error) return error;
    memcpy(list.host, pages, bytes);
    command->words[0] = TRN_NITRO_ADMIN_COMMAND_CONTROL_DATA_SET(1);
    GET(*command, REG_MR_PAGE_0_LO) = (uint32_t)bytes;
    put_wide(command, RDMA_WORD(REG_MR_LIST_LO), list.iova);
    error = trn_rdma_execute(card, OPCODE(REG_MR), command, answer);
    trn_rdma_free_memory(card, &list);
    return error;
}

int trn_rdma_register(trn_rdma_card* card, uint16_t domain, uint64_t bus_address, uint64_t size,
                      uint32_t access, uint32_t* key) {
    if (!card || !key) return -EINVAL;
    uint64_t pages[1024];
    const uint32_t shift = page_shift(bus_address, size);
    const uint64_t count = size >> shift;
    rdma_entry command = {{0}}, answer;
    if (size == 0 || bus_address > UINT64_MAX - (size - 1) ||
        (bus_address | size) & ((1u << min_shift) - 1) || count > sizeof pages / sizeof pages[0])
        return -EINVAL;
    for (uint64_t n = 0; n < count; ++n) pages[n] = bus_address + (n << shift);
    GET(command, REG_MR) = RDMA_FIELD(REG_MR_PD, domain);
    put_wide(&command, RDMA_WORD(REG_MR_LENGTH_LO), size);
    GET(command, REG_MR_FLAGS) =
        RDMA_FIELD(REG_MR_FLAGS_PAGE_SHIFT, shift) |
        RDMA_FIELD(REG_MR_FLAGS_LOCAL_WRITE, (access & TRN_RDMA_LOCAL_WRITE) != 0) |
        RDMA_FIELD(REG_MR_FLAGS_REMOTE_WRITE, (access & TRN_RDMA_REMOTE_WRITE) != 0) |
        RDMA_FIELD(REG_MR_FLAGS_REMOTE_READ, (access & TRN_RDMA_REMOTE_READ) != 0);
    GET(command, REG_MR_PAGES) = (uint32_t)count;
    put_wide(&command, RDMA_WORD(REG_MR_START_LO), bus_address);
    const int error = register_pages(card, &command, pages, count, &answer);
    if (!error) *key = GET(answer, MR_LKEY);
    return error;
}

int trn_rdma_deregister(trn_rdma_card* card, uint32_t key) {
    return execute_word(card, OPCODE(DEREG_MR), RDMA_WORD(DEREG_MR_LKEY), key);
}

/* ---- queues ---- */

static bool is_power_of_two(uint32_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

int trn_rdma_create_eq(trn_rdma_card* card, uint32_t vector, uint64_t base, uint32_t entries,
                       uint16_t* eq) {
    if (!card || !eq) return -EINVAL;
    rdma_entry command = {{0}}, answer;
    if (!is_power_of_two(entries) || entries > UINT16_MAX) return -EINVAL;
    GET(command, CREATE_EQ) = RDMA_FIELD(CREATE_EQ_DEPTH, entries) |
                              RDMA_FIELD(CREATE_EQ_VECTOR, vector) |
                              RDMA_FIELD(CREATE_EQ_ENTRY_WORDS, 4);
    put_wide(&command, RDMA_WORD(CREATE_EQ_BASE_LO), base);
    GET(command, CREATE_EQ_EVENTS) = 1;
    const int error = trn_rdma_execute(card, OPCODE(CREATE_EQ), &command, &answer);
    if (!error) *eq = (uint16_t)GET_FIELD(answer, EQ, NUMBER);
    return error;
}

int trn_rdma_destroy_eq(trn_rdma_card* card, uint16_t eq) {
    return execute_word(card, OPCODE(DESTROY_EQ), RDMA_WORD(DESTROY_EQ),
                        RDMA_FIELD(DESTROY_EQ_NUMBER, eq));
}

int trn_rdma_create_cq(trn_rdma_card* card, uint16_t uar, uint64_t base, uint32_t entries,
                       const uint16_t* eq, trn_rdma_cq* cq) {
    if (!card || !cq) return -EINVAL;
    rdma_entry command = {{0}}, answer;
    if (!is_power_of_two(entries) || entries > UINT16_MAX) return -EINVAL;
    GET(command, CREATE_CQ) =
        RDMA_FIELD(CREATE_CQ_INTERRUPT, eq != NULL) |
        RDMA_FIELD(CREATE_CQ_ENTRY_WORDS, TRN_RDMA_COMPLETION_BYTES / sizeof(uint32_t)) |
        RDMA_FIELD(CREATE_CQ_DEPTH, entries);
    GET(command, CREATE_CQ_EQ) = RDMA_FIELD(CREATE_CQ_EQ_EQ, eq ? *eq : 0);
    put_wide(&command, RDMA_WORD(CREATE_CQ_BASE_LO), base);
    GET(command, CREATE_CQ_SHAPE) =
        RDMA_FIELD(CREATE_CQ_SHAPE_SUB_CQS, 1) | RDMA_FIELD(CREATE_CQ_SHAPE_UAR, uar);
    const int error = trn_rdma_execute(card, OPCODE(CREATE_CQ), &command, &answer);
    if (!error)
        *cq = (trn_rdma_cq){.number = (uint16_t)GET_FIELD(answer, CQ, NUMBER),
                            .doorbell = GET(answer, CQ_DOORBELL)};
    return error;
}

int trn_rdma_destroy_cq(trn_rdma_card* card, uint16_t cq) {
    return execute_word(card, OPCODE(DESTROY_CQ), RDMA_WORD(DESTROY_CQ),
                        RDMA_FIELD(DESTROY_CQ_NUMBER, cq));
}

static int modify_qp(trn_rdma_card* card, uint32_t handle, uint32_t state, uint32_t qkey) {
    rdma_entry command = {{0}}, answer;
    GET(command, MODIFY_QP_MASK) =
        RDMA_FIELD(MODIFY_QP_MASK_STATE, 1) | RDMA_FIELD(MODIFY_QP_MASK_QKEY, 1);
    GET(command, MODIFY_QP_HANDLE) = handle;
    GET(command, MODIFY_QP_STATE) = RDMA_FIELD(MODIFY_QP_STATE_STATE, state);
    GET(command, MODIFY_QP_QKEY) = qkey;
    return trn_rdma_execute(card, OPCODE(MODIFY_QP), &command, &answer);
}

int trn_rdma_create_qp(trn_rdma_card* card, uint16_t domain, uint16_t uar, uint16_t cq,
                       uint32_t entries, uint32_t qkey, trn_rdma_qp* qp) {
    if (!card || !qp) return -EINVAL;
    rdma_entry command = {{0}}, answer;
    if (!is_power_of_two(entries) || entries > UINT16_MAX) return -EINVAL;
    GET(command, CREATE_QP) = RDMA_FIELD(CREATE_QP_PD, domain) |
                              RDMA_FIELD(CREATE_QP_TYPE, TRN_EFA_ADMIN_CREATE_QP_TYPE_SRD) |
                              RDMA_FIELD(CREATE_QP_UNSOLICITED_WRITE_RECEIVE, 1);
    GET(command, CREATE_QP_SEND_CQ) = GET(command, CREATE_QP_RECEIVE_CQ) = cq;
    GET(command, CREATE_QP_SQ_BYTES) = entries * TRN_RDMA_REQUEST_BYTES;
    GET(command, CREATE_QP_SQ_DEPTH) = entries;
    GET(command, CREATE_QP_UAR) = RDMA_FIELD(CREATE_QP_UAR_UAR, uar);
    int error = trn_rdma_execute(card, OPCODE(CREATE_QP), &command, &answer);
    if (error) return error;
    *qp = (trn_rdma_qp){.handle = GET(answer, QP_HANDLE),
                        .number = (uint16_t)GET_FIELD(answer, QP_NUMBER, NUMBER),
                        .send_ring = GET(answer, QP_SQ_RING),
                        .send_doorbell = GET(answer, QP_SQ_DOORBELL)};
    for (uint32_t state = TRN_EFA_ADMIN_MODIFY_QP_STATE_STATE_INIT;
         state <= TRN_EFA_ADMIN_MODIFY_QP_STATE_STATE_RTS && !error; ++state)
        error = modify_qp(card, qp->handle, state, qkey);
    if (error) trn_rdma_destroy_qp(card, qp);
    return error;
}

int trn_rdma_destroy_qp(trn_rdma_card* card, const trn_rdma_qp* qp) {
    if (!qp) return -EINVAL;
    return execute_word(card, OPCODE(DESTROY_QP), RDMA_WORD(DESTROY_QP_HANDLE), qp->handle);
}

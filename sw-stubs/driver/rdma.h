/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_RDMA_H
#define TRN_LIB_RDMA_H

#include "trn/efa_admin_regs.h"
#include "trn/nitro_admin_regs.h"
#include "trn_rdma.h"

/* Shared by the files of the RDMA stub. */

enum { RDMA_REGISTERS = 0, RDMA_SEND_RINGS = 2 }; /* BARs */

struct trn_rdma_card {
    const trn_transport* transport;
    trn_dma_memory memory; /* response of register reads, then the admin rings */
    uint16_t read_id, commands;
    uint8_t admin_is_closed; /* a command has timed out: until a reset, none is executed */
    uint32_t resets;
    trn_dma_memory* kept; /* freed after the next reset: the card may still use it */
    uint32_t kept_count;
};

/* An entry of the admin rings. */
typedef struct rdma_entry {
    uint32_t words[16];
} rdma_entry;
/* Index of a word in an entry, by its name in the register description. */
#define RDMA_WORD(name) (TRN_EFA_ADMIN_##name##_OFFSET % sizeof(rdma_entry) / sizeof(uint32_t))
#define RDMA_FIELD(name, value) TRN_EFA_ADMIN_##name##_SET(value)

int trn_rdma_dealloc_uar(trn_rdma_card* card, uint16_t uar);
/* Frees memory that the card may have used; after an unanswered command, only when it is reset. */
void trn_rdma_free_memory(trn_rdma_card* card, const trn_dma_memory* memory);
int trn_rdma_set(const trn_rdma_card* card, uint64_t offset, uint32_t value);
/* Executes a command on the card and returns its answer. The caller sets only flags in the header
 * word. */
int trn_rdma_execute(trn_rdma_card* card, uint32_t opcode, rdma_entry* command, rdma_entry* answer);

#endif

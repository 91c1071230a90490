/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_DEVICE_H
#define TRN_LIB_DEVICE_H

#include "generation.h"
#include "registers.h"
#include "ring_types.h"
#include "trn_driver.h"

/* The opaque device and what the parts of the library share. */

struct trn_device {
    trn_transport transport;
    trn_options options;
    const trn_part* part;
    const trn_generation* generation; /* of the part */
    const trn_map* map;               /* the generation's */
    trn_mode mode;
    uint16_t vendor_id, device_id;
    uint8_t revision;
    bool probed, ready;
    uint32_t routing_id, device_index;
    uint64_t bar_size[6];

    trn_ring copy_rings[TRN_MAX_CORES];              /* host-transfer queue of each core */
    trn_ring* more_rings[TRN_MAX_CORES][TRN_QUEUES]; /* taken by trn_host_queue_open */
    trn_dma_memory bounce;                           /* trn_write, trn_read, trn_memset */
    trn_dma_memory dummy_ring;                       /* where released queues idle */
    trn_dma_memory mailbox;                          /* legacy requests, then responses */
    uint8_t mailbox_sequence;
    trn_ring pod_rings[4];
    trn_dma_memory pod_buffer;
    trn_dma_memory* host_memory; /* all of the above, and the caller's buffers */
    uint32_t host_memory_count;

    uint16_t user_rings[TRN_MAX_USER_ENGINES]; /* queues in the caller's hands */
    uint16_t notifiers[3][TRN_MAX_ENGINES];    /* slots that are on */

    trn_status io; /* first failed access since mmio_begin */
    bool failed_copy;
    trn_failure failure;
    char error[512];
};

/* What the kernel driver of the transport does (kernel.c). Precondition: there is one. */
trn_status trn_kernel_reset(trn_device* device, uint32_t core_map);
trn_status trn_kernel_write(trn_device* device, uint32_t core, uint64_t address, const void* bytes,
                            uint64_t size);
trn_status trn_kernel_read(trn_device* device, uint32_t core, void* bytes, uint64_t address,
                           uint64_t size);
trn_status trn_kernel_ring_init(trn_device* device, const trn_ring_request* request);
trn_status trn_kernel_notifications(trn_device* device, trn_notification_ring* ring);
trn_status trn_kernel_memory_alloc(trn_device* device, uint32_t core, uint64_t size,
                                   uint64_t alignment, uint64_t* address);
void trn_kernel_memory_free(trn_device* device, uint64_t address);

/* Records the sentence and answers the status, so that `return trn_fail(...)` reads well. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
trn_status
trn_fail(trn_device* device, trn_status status, const char* format, ...);

/* The same for an errno that the transport answered: what it did not do, and where. */
trn_status trn_transport_failed(trn_device* device, int error, const char* what, uint64_t where);

/* Number of the BAR that has the registers. */
uint32_t trn_register_bar(const trn_device* device);
/* Registers of the register BAR. The first access that fails is remembered and the rest of the
 * sequence is left out: a long sequence asks once, at its end. */
void trn_mmio_begin(trn_device* device);
uint32_t trn_mmio_read(trn_device* device, uint64_t offset);
void trn_mmio_write(trn_device* device, uint64_t offset, uint32_t value);
trn_status trn_mmio_end(trn_device* device);

/* Offsets in it. */
uint64_t trn_engine_registers(const trn_device* device, uint32_t engine);
uint64_t trn_misc_ram_word(const trn_device* device, uint32_t offset);
/* A memory of the chip: a stack of HBM, or the SBUF of a core. */
typedef struct trn_chip_memory {
    bool is_sbuf;
    uint32_t number;
    uint64_t begin, bytes; /* in AXI space */
    uint64_t in_bar;       /* of BAR4; an SBUF: of the register BAR */
} trn_chip_memory;
/* False: none has the byte at that AXI address. */
bool trn_chip_memory_at(const trn_device* device, uint64_t address, trn_chip_memory* memory);
/* AXI address of host memory. */
uint64_t trn_host_address(const trn_device* device, uint64_t iova);

/* Lets time pass; TRN_DEVICE_GONE when the other end has gone. */
trn_status trn_pause(trn_device* device, uint64_t nanoseconds);
/* A time-out of the public driver, stretched for this transport. */
uint64_t trn_timeout(const trn_device* device, uint64_t nanoseconds);

/* Operations, reported to the transport that records them. */
uint64_t trn_operation_begins(trn_device* device, const char* what, uint64_t joins);
void trn_operation_posted(trn_device* device);
void trn_operation_complete(trn_device* device, uint64_t operation);

trn_status trn_dma_allocate(trn_device* device, uint64_t size, trn_dma_memory* memory);
void trn_dma_release(trn_device* device, trn_dma_memory* memory);

/* The device must not be sent to host memory that is not this process's. */
trn_status trn_check_descriptors(trn_device* device, const trn_descriptor* descriptors,
                                 uint32_t count);
/* Whether the bytes lie in memory that trn_dma_allocate() gave. */
bool trn_host_memory_holds(const trn_device* device, uint64_t iova, uint64_t size);

trn_status trn_need_probe(trn_device* device);
trn_status trn_need_ready(trn_device* device);
trn_status trn_need_core(trn_device* device, uint32_t core);

trn_status trn_need_engine(trn_device* device, uint32_t engine, uint32_t queue);

/* That the bytes do not pass the end of the address space. */
trn_status trn_need_range(trn_device* device, uint64_t begin, uint64_t size);

/* Engine and queue set-up in the order of contract 6.3; inside an mmio_begin/end. */
void trn_engine_setup(trn_device* device, uint32_t engine);
void trn_queue_init(trn_device* device, uint32_t engine, uint32_t queue, uint64_t m2s_base,
                    uint32_t m2s_length, uint64_t s2m_base, uint32_t s2m_length);
/* Leaves the released queue on the dummy ring. */
void trn_queue_park(trn_device* device, uint32_t engine, uint32_t queue);

/* Frees the queues that trn_host_queue_open gave on the engines of these cores. */
void trn_host_queues_drop(trn_device* device, uint32_t core_map);

/* A command of ours that answers with a word, over whichever mailbox the firmware has. */
trn_status trn_mailbox_word(trn_device* device, uint8_t command, const void* request, uint32_t size,
                            uint32_t* answer);

/* Frees what trn_pod_open made; touches no register. */
void trn_pod_drop(trn_device* device);

/* Turns off the notification slots that belong to a map of cores. */
void trn_notifications_drop(trn_device* device, uint32_t core_map);

#define DUMMY_RING_DESCRIPTORS 64u /* contract 7.1 */

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* What firmware leaves in a word that it has not published yet (contract 1.3). */
#define WORD_NOT_PUBLISHED 0xdeadbeefu

#endif

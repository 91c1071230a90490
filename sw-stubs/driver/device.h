/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_DEVICE_H
#define TRN_LIB_DEVICE_H

#include "generation.h"
#include "registers.h"
#include "ring_types.h"
#include "trn_driver.h"

/* Member of a list. `link` is the pointer to the member; NULL: in no list. */
typedef struct trn_member {
    struct trn_member *next, **link;
} trn_member;

/* The device's state, and functions that the library's files share. */

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
    uint32_t probes; /* each may follow a loss of power, which memory does not survive */
    uint32_t resets[TRN_MAX_CORES]; /* of each core, also failed ones */
    uint32_t routing_id, device_index;
    uint64_t bar_size[6];
    uint64_t firmware_limit_ns; /* of trn_limit_firmware */

    trn_ring copy_rings[TRN_MAX_CORES];              /* host-transfer queue of each core */
    trn_ring* more_rings[TRN_MAX_CORES][TRN_QUEUES]; /* opened by trn_host_queue_open */
    /* trn_write, trn_read, trn_memset: for each core, as a queue that failed may still write. */
    trn_dma_memory bounce[TRN_MAX_CORES];
    trn_dma_memory dummy_ring; /* ring of released queues */
    trn_dma_memory mailbox;    /* legacy requests, then responses */
    uint8_t mailbox_sequence;
    trn_ring pod_rings[4];
    trn_dma_memory pod_buffer;
    trn_dma_memory* host_memory; /* all DMA memory: the above and the caller's buffers */
    uint32_t host_memory_count;

    uint16_t user_rings[TRN_MAX_USER_ENGINES]; /* queues with rings of the caller, one bit each */
    uint16_t notifiers[3][TRN_MAX_ENGINES];    /* enabled slots, one bit each */
    trn_member* programs;                      /* loaded programs */
    trn_accounts accounts;

    bool failed_copy;
    trn_failure failure;
    char error[512];
};

/* Operations of the transport's kernel driver (kernel.c). Precondition: transport.kernel is set. */
trn_status trn_kernel_reset(trn_device* device, uint32_t core_map);
trn_status trn_kernel_write(trn_device* device, uint32_t core, uint64_t address, const void* bytes,
                            uint64_t size);
trn_status trn_kernel_read(trn_device* device, uint32_t core, void* bytes, uint64_t address,
                           uint64_t size);
trn_status trn_kernel_ring_init(trn_device* device, const trn_ring_request* request);
trn_status trn_kernel_notifications(trn_device* device, trn_notification_ring* ring);
/* The stack follows from the core. */
trn_status trn_kernel_memory_alloc(trn_device* device, trn_kernel_memory wanted, uint64_t* address);
void trn_kernel_memory_free(trn_device* device, uint64_t address);

/* Reports the device's accounts to a transport that takes them. */
void trn_accounts_changed(trn_device* device);

/* A time for an error text: "1.5 ms". */
typedef struct {
    char text[24];
} trn_time_text;
trn_time_text trn_text_of_time(uint64_t nanoseconds);

/* Records the error text and returns the status, for `return trn_fail(...)`. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
trn_status
trn_fail(trn_device* device, trn_status status, const char* format, ...);

/* Refuses a call without an argument that it needs, such as the device. */
trn_status trn_no_argument(trn_device* device);

/* As trn_fail for an errno of the transport. `operation`: the failed action, `number`: its address
 * or size. */
trn_status trn_transport_failed(trn_device* device, int error, const char* operation,
                                uint64_t number);

/* Number of the BAR that has the registers. */
uint32_t trn_register_bar(const trn_device* device);
/* A sequence of accesses to the register BAR, which belongs to the function that starts it. After
 * the first access that fails the others are skipped, and reads give 0: `status` is the sequence's,
 * so it needs one check. */
typedef struct trn_mmio {
    trn_device* device;
    trn_status status;
} trn_mmio;
trn_mmio trn_mmio_of(trn_device* device);
uint32_t trn_mmio_read(trn_mmio* io, uint64_t offset);
void trn_mmio_write(trn_mmio* io, uint64_t offset, uint32_t value);

/* Offsets in the register BAR. */
uint64_t trn_engine_registers(const trn_device* device, uint32_t engine);
uint64_t trn_misc_ram_word(const trn_device* device, uint32_t offset);
/* A memory of the chip: a stack of HBM, or the SBUF of a core. */
typedef struct trn_chip_memory {
    bool is_sbuf;
    uint32_t number;
    uint64_t begin, bytes; /* in AXI space */
    uint64_t in_bar;       /* offset in BAR4; of an SBUF: in the register BAR */
} trn_chip_memory;
/* Finds the memory that has the byte at an AXI address. False: none. */
bool trn_chip_memory_at(const trn_device* device, uint64_t address, trn_chip_memory* memory);
/* AXI address of host memory. */
uint64_t trn_host_address(const trn_device* device, uint64_t iova);

/* Waits on the transport's clock. TRN_DEVICE_GONE: the connection is lost. */
trn_status trn_pause(trn_device* device, uint64_t nanoseconds);
/* The time after `nanoseconds`, at most the last one. */
uint64_t trn_time_after(const trn_device* device, uint64_t nanoseconds);
/* A timeout of the public driver, scaled for this transport. */
uint64_t trn_timeout(const trn_device* device, uint64_t nanoseconds);
/* The limit of a wait for firmware: `contract_ns` unless trn_limit_firmware gave one. */
uint64_t trn_firmware_limit(const trn_device* device, uint64_t contract_ns);

/* Report operations to a transport that records them. */
uint64_t trn_operation_begins(trn_device* device, const char* operation, uint64_t joins);
void trn_operation_posted(trn_device* device);
void trn_operation_complete(trn_device* device, uint64_t operation);

trn_status trn_dma_allocate(trn_device* device, uint64_t size, trn_dma_memory* memory);
void trn_dma_release(trn_device* device, trn_dma_memory* memory);

/* TRN_INVALID_ARGUMENT: a descriptor's host address is not DMA memory of this process. */
trn_status trn_check_descriptors(trn_device* device, const trn_descriptor* descriptors,
                                 uint32_t count);
/* Whether the bytes are within memory of trn_dma_allocate(). */
bool trn_host_memory_holds(const trn_device* device, uint64_t iova, uint64_t size);

trn_status trn_need_probe(trn_device* device);
trn_status trn_need_ready(trn_device* device);
trn_status trn_need_core(trn_device* device, uint32_t core);
/* As trn_need_ready; TRN_NOT_SUPPORTED: the queues belong to a kernel driver. */
trn_status trn_need_copy_queues(trn_device* device);

trn_status trn_need_engine(trn_device* device, uint32_t engine, uint32_t queue);

/* TRN_INVALID_ARGUMENT: the bytes exceed the address space. */
trn_status trn_need_range(trn_device* device, uint64_t begin, uint64_t size);

/* Engine and queue set-up in the order of contract 6.3. */
void trn_engine_setup(trn_mmio* io, uint32_t engine);
void trn_queue_init(trn_mmio* io, uint32_t engine, uint32_t queue, uint64_t m2s_base,
                    uint32_t m2s_length, uint64_t s2m_base, uint32_t s2m_length);
/* Whether a part of an engine, of those in M2S_STATE or S2M_STATE, is in a state. */
bool trn_any_state(uint32_t states, uint32_t value);
/* Leaves the released queue on the dummy ring. */
void trn_queue_park(trn_mmio* io, uint32_t engine, uint32_t queue);

/* Releases all rings of the caller, also those from before the last probe. */
TRN_CHECKED trn_status trn_user_rings_drop(trn_device* device);

/* Parks the host-transfer queues of these cores, and those of trn_host_queue_open on their engines,
 * that may access memory which is freed next. */
TRN_CHECKED trn_status trn_copies_stop(trn_device* device, uint32_t core_map);

/* Frees the queues of trn_host_queue_open on the engines of these cores. */
void trn_host_queues_drop(trn_device* device, uint32_t core_map);

/* Sends an invented command that returns a word, through the firmware's legacy or new mailbox. */
trn_status trn_mailbox_word(trn_device* device, uint8_t command, const void* request, uint32_t size,
                            uint32_t* answer);

/* A device that ends before its programs empties the list. */
void trn_list_add(trn_member** list, trn_member* member);
void trn_list_remove(trn_member* member);

/* Frees the rings and buffer of trn_pod_open, without register accesses. */
void trn_pod_drop(trn_device* device);

/* Disables the notification slots of a map of cores. */
TRN_CHECKED trn_status trn_notifications_drop(trn_device* device, uint32_t core_map);

#define DUMMY_RING_DESCRIPTORS 64u /* contract 7.1 */

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* Value of a word that firmware has not published yet (contract 1.3). */
#define WORD_NOT_PUBLISHED 0xdeadbeefu

#endif

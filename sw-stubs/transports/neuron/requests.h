/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_NEURON_REQUESTS_H
#define TRN_NEURON_REQUESTS_H

#include <stdint.h>

/* Requests of the public Neuron driver that the transport uses: codes and arguments of contract
 * 13.2. A handle identifies memory that the driver has allocated. */

enum {
    NEURON_DEVICE_INFO = 0x80084e03,
    NEURON_BAR_READ = 0x80084e0b,
    NEURON_BAR_WRITE = 0x40084e0c,
    NEURON_MEM_FREE = 0x80084e16,
    NEURON_MEM_INFO = 0x80084e1d,
    NEURON_QUEUE_INIT = 0x80084e21,
    NEURON_STORE_ACQUIRE = 0x80084e47,
    NEURON_STORE_RELEASE = 0x80084e48,
    NEURON_CORE_LOCK = 0x40084e53,
    NEURON_CORE_SHARE = 0x40084e54,
    NEURON_NOTIFICATIONS_INIT = 0x80084e36,
    NEURON_CORE_RESET = 0x80084e67,
    NEURON_CORE_RESET_READY = 0x80084e68,
    NEURON_FUNCTION_ADDRESS = 0x80084e6a,
    NEURON_COPY_DESCRIPTORS = 0x80284e26,
    NEURON_MEM_ALLOC = 0x80384e66,
    NEURON_BUFFER_COPY = 0xc0284e18,
    NEURON_PROGRAM_ENGINE = 0xc0284e69
};

struct neuron_device_info {
    uint32_t architecture, revision, neighbour_count, neighbours[8];
    uint64_t bar_address[2]; /* as in BAR_READ and BAR_WRITE: BAR0 first */
    uint64_t bar_size[2];
};

struct neuron_function_address {
    uint32_t device; /* 0: this one */
    uint32_t domain, bus;
    uint8_t slot, function;
};

struct neuron_bar_access {
    uint32_t bar;
    const uint64_t* addresses;
    uint32_t* values;
    uint32_t count;
};

struct neuron_core_reset {
    uint32_t core_map, id;
};
struct neuron_core_reset_ready {
    uint32_t id;
    int32_t result;
};

/* What memory is for, as the driver accounts for it. */
enum neuron_memory_type {
    NEURON_HOST_DMA_BUFFERS = 1,
    NEURON_DEVICE_CODE = 8,
    NEURON_DEVICE_TENSORS = 9,
    NEURON_DEVICE_DMA_RINGS = 18
};

struct neuron_mem_alloc {
    uint64_t size, alignment; /* alignment: of device memory only */
    uint32_t in_host, stack, region, core, type;
    uint64_t* handle;
    uint32_t unused;
};
struct neuron_mem_free {
    uint64_t handle;
};
struct neuron_mem_info {
    uint64_t handle;
    uint32_t version, in_host;
    uint64_t mmap_offset, address, process, size;
};

struct neuron_buffer_copy {
    uint64_t handle;
    void* bytes;
    uint64_t size, offset;
    uint32_t to_handle;
};

struct neuron_program_engine {
    uint32_t core;
    uint64_t address;
    const void* bytes;
    uint64_t size, offset; /* offset in source and destination */
};

struct neuron_copy_descriptors {
    uint64_t handle;
    const void* descriptors;
    uint32_t count;
    uint64_t offset;
    uint32_t side; /* 0: m2s, 1: s2m */
};

struct neuron_queue_init {
    uint32_t engine, queue, m2s_count, s2m_count;
    uint64_t m2s_handle, s2m_handle, completion_handle;
    uint32_t axi_port;
};

struct neuron_notifications_init {
    uint32_t number, is_top_sp, type, slot, size, in_host, stack, region, new_memory;
    uint64_t mmap_offset, handle;
};

/* The data store of a process: counters that it shares with the driver (contract 12.1). */
struct neuron_store {
    int32_t process; /* 0: this one */
    uint64_t mmap_offset;
    uint32_t size;
};

struct neuron_core_lock {
    uint32_t core;
    uint8_t program[32]; /* identifies what runs there */
};

#define NEURON_SIZE(name, bytes) _Static_assert(sizeof(struct name) == (bytes), "contract 13.2")
NEURON_SIZE(neuron_device_info, 80);
NEURON_SIZE(neuron_function_address, 16);
NEURON_SIZE(neuron_bar_access, 32);
NEURON_SIZE(neuron_core_reset, 8);
NEURON_SIZE(neuron_mem_alloc, 56);
NEURON_SIZE(neuron_mem_info, 48);
NEURON_SIZE(neuron_buffer_copy, 40);
NEURON_SIZE(neuron_program_engine, 40);
NEURON_SIZE(neuron_copy_descriptors, 40);
NEURON_SIZE(neuron_queue_init, 48);
NEURON_SIZE(neuron_notifications_init, 56);
NEURON_SIZE(neuron_store, 24);
NEURON_SIZE(neuron_core_lock, 36);

#endif

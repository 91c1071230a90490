/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "ring.h"

/* A device from creation to destruction, and the probe (contract 1). */

#define VENDOR_ID 0x1D0Fu
#define REVISION_QEMU 255u
#define REVISION_EMULATOR 240u
#define BOOT_TIMEOUT_MS 600000u               /* contract 1.3: 20 attempts of 30 rounds of 1 s */
#define MEMORY_AND_MASTER (1u << 1 | 1u << 2) /* of the command register */
#define D3_TO_D0_MS 10u                       /* PCI power management: no access earlier */

trn_device* trn_create(const trn_transport* transport, const trn_options* options) {
    if (!transport) return NULL;
    trn_device* device = calloc(1, sizeof *device);
    if (!device) return NULL;
    device->transport = *transport;
    if (options) device->options = *options;
    return device;
}

void trn_list_add(trn_member** list, trn_member* member) {
    member->next = *list;
    member->link = list;
    if (member->next) member->next->link = &member->next;
    *list = member;
}

void trn_list_remove(trn_member* member) {
    if (!member->link) return;
    *member->link = member->next;
    if (member->next) member->next->link = member->link;
    member->next = NULL;
    member->link = NULL;
}

/* The status of the device's last accesses ends with its handle. */
static void ignore(trn_status status) {
    (void)status;
}

void trn_destroy(trn_device* device) {
    if (!device) return;
    while (device->programs) trn_list_remove(device->programs);
    ignore(trn_user_rings_drop(device));
    if (device->probed && !device->transport.kernel) ignore(trn_copies_stop(device, ~0u));
    if (device->map) trn_host_queues_drop(device, ~0u);
    trn_pod_drop(device);
    for (uint32_t core = 0; core < TRN_MAX_CORES; ++core) {
        trn_ring_close(device, &device->copy_rings[core], TRN_DEVICE_GONE);
        trn_dma_release(device, &device->bounce[core]);
    }
    trn_dma_release(device, &device->dummy_ring);
    trn_dma_release(device, &device->mailbox);
    free(device->host_memory);
    device->transport.close(device->transport.context);
    free(device);
}

/* ---- probe ---- */

trn_host_platform trn_platform_of_product(const char* product) {
    if (!product) return TRN_HOST_STANDARD;
    static const struct {
        const char* prefix;
        trn_host_platform platform;
    } known[] = {
        {"trn3s.48xlarge", TRN_HOST_PDS},         {"trn3-dev0.48xl", TRN_HOST_PDS},
        {"trn3p.48xlarge", TRN_HOST_ULTRASERVER}, {"trn2es.48xlarge", TRN_HOST_PDS},
        {"trn2p.48xlarge", TRN_HOST_ULTRASERVER}, {"trn2eu.48xlarge", TRN_HOST_ULTRASERVER},
        {"trn2u.48xlarge", TRN_HOST_ULTRASERVER}, {"trn2u-ac.24xlarge", TRN_HOST_ULTRASERVER},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strncmp(product, known[i].prefix, strlen(known[i].prefix)) == 0)
            return known[i].platform;
    return TRN_HOST_STANDARD;
}

static trn_status config_read(trn_device* device, uint32_t offset, uint32_t width,
                              uint32_t* value) {
    const int error =
        device->transport.config_read(device->transport.context, offset, width, value);
    return error ? trn_transport_failed(device, error, "cannot read configuration +", offset)
                 : TRN_OK;
}

static trn_status config_write(trn_device* device, uint32_t offset, uint32_t width,
                               uint32_t value) {
    const int error =
        device->transport.config_write(device->transport.context, offset, width, value);
    return error ? trn_transport_failed(device, error, "cannot write configuration +", offset)
                 : TRN_OK;
}

/* Offset of the power management capability; 0: there is none. */
static trn_status find_power_management(trn_device* device, uint32_t* offset) {
    uint32_t pointer = 0, header = 0;
    trn_status status = config_read(device, 0x34, 1, &pointer);
    for (uint32_t seen = 0; status == TRN_OK && seen < 48;
         ++seen) { /* limit of a list in 256 bytes */
        *offset = pointer & 0xfc;
        if (*offset == 0) return TRN_OK;
        status = config_read(device, *offset, 2, &header);
        if ((header & 0xff) == 0x01) return status;
        pointer = header >> 8;
    }
    *offset = 0;
    return status;
}

/* As pci_enable_device(): sets power state D0, which an earlier host may have left, and enables
 * memory space and bus mastering. */
static trn_status enable_function(trn_device* device) {
    const uint32_t state_mask = 3;
    uint32_t power = 0, control = 0, command = 0;
    trn_status status = find_power_management(device, &power);
    if (status == TRN_OK && power != 0) status = config_read(device, power + 4, 2, &control);
    if (status == TRN_OK && (control & state_mask) != 0) {
        status = config_write(device, power + 4, 2, control & ~state_mask);
        if (status == TRN_OK) status = trn_pause(device, D3_TO_D0_MS * NS_PER_MS);
    }
    if (status == TRN_OK) status = config_read(device, 0x04, 2, &command);
    if (status != TRN_OK) return status;
    return config_write(device, 0x04, 2, command | MEMORY_AND_MASTER);
}

static trn_status identify(trn_device* device) {
    uint32_t ids = 0, revision = 0;
    trn_status status = config_read(device, 0x00, 4, &ids);
    if (status == TRN_OK) status = config_read(device, 0x08, 1, &revision);
    if (status != TRN_OK) return status;
    device->vendor_id = (uint16_t)ids;
    device->device_id = (uint16_t)(ids >> 16);
    device->revision = (uint8_t)revision;
    device->part = device->vendor_id == VENDOR_ID ? trn_part_find(device->device_id) : NULL;
    if (!device->part)
        return trn_fail(device, TRN_UNKNOWN_DEVICE,
                        "function %04x:%04x is not a Trainium that this "
                        "library knows (1d0f:7564, :7565, :7364, :7164, :7264)",
                        device->vendor_id, device->device_id);
    device->generation = device->part->generation;
    device->map = device->generation->map;
    device->mode = device->revision == REVISION_QEMU       ? TRN_MODE_QEMU
                   : device->revision == REVISION_EMULATOR ? TRN_MODE_EMULATOR
                                                           : TRN_MODE_SILICON;
    return enable_function(device);
}

static trn_status find_bars(trn_device* device) {
    for (uint32_t bar = 0; bar < 6; ++bar)
        device->bar_size[bar] = device->transport.bar_size(device->transport.context, bar);
    const uint32_t registers = trn_register_bar(device);
    const uint64_t needed = device->map->register_bar_bytes;
    if (device->bar_size[registers] < needed)
        return trn_fail(device, TRN_PROTOCOL_ERROR,
                        "BAR%u has 0x%llx bytes: the registers of %s need 0x%llx", registers,
                        (unsigned long long)device->bar_size[registers], device->part->name,
                        (unsigned long long)needed);
    if (device->mode == TRN_MODE_QEMU && device->bar_size[4] == 0)
        return trn_fail(device, TRN_PROTOCOL_ERROR,
                        "no BAR4, which gives the HBM size on revision 255");
    return TRN_OK;
}

static trn_status wait_for_routing_id(trn_device* device) {
    const uint32_t given = device->options.boot_timeout_ms;
    const uint64_t limit =
        trn_firmware_limit(device, (uint64_t)(given ? given : BOOT_TIMEOUT_MS) * NS_PER_MS);
    const uint64_t start = trn_now(device);
    for (;;) {
        trn_mmio io = trn_mmio_of(device);
        const uint32_t id = trn_mmio_read(&io, trn_misc_ram_word(device, MISC_RAM(ROUTING_ID)));
        if (io.status != TRN_OK) return io.status;
        if (id != WORD_NOT_PUBLISHED) {
            device->routing_id = id;
            return TRN_OK;
        }
        if (trn_now(device) - start >= limit)
            return trn_fail(device, TRN_TIMED_OUT,
                            "firmware did not publish its routing id in %s: word +0x%x of "
                            "its misc RAM is still 0x%x",
                            trn_text_of_time(limit).text, (uint32_t)MISC_RAM(ROUTING_ID), id);
        const trn_status status = trn_pause(device, NS_PER_MS);
        if (status != TRN_OK) return status;
    }
}

/* Contract 1.3 step 5, 15.2. */
static trn_status place_on_board(trn_device* device) {
    const bool pds = device->options.platform == TRN_HOST_PDS;
    const uint32_t max = pds ? 128 : 64;
    if (device->routing_id >= max)
        return trn_fail(device, TRN_PROTOCOL_ERROR, "routing id 0x%x: 0..%u are possible",
                        device->routing_id, max - 1);
    const uint32_t position = device->routing_id % 16;
    device->device_index = pds ? position : device->part->index_of_routing_id[position];
    if (device->generation->index_continues) device->device_index += device->routing_id - position;
    if (!pds) return TRN_OK;
    trn_mmio io = trn_mmio_of(device);
    const uint32_t server = trn_mmio_read(&io, trn_misc_ram_word(device, MISC_RAM(SERVER_ID)));
    if (io.status == TRN_OK && !(server & 1u << 15))
        return trn_fail(device, TRN_PROTOCOL_ERROR, "server id 0x%08x is not valid (bit 15)",
                        server);
    return io.status;
}

bool trn_lost_probe(trn_device* device) {
    if (!device) return false;
    uint32_t ids = 0, command = 0;
    return device->probed && config_read(device, 0x00, 4, &ids) == TRN_OK && ids != ~0u &&
           config_read(device, 0x04, 2, &command) == TRN_OK &&
           (command & MEMORY_AND_MASTER) != MEMORY_AND_MASTER;
}

trn_status trn_probe(trn_device* device) {
    if (!device) return trn_no_argument(device);
    device->probed = device->ready = false;
    ++device->probes;
    trn_status status = identify(device);
    if (status == TRN_OK) status = find_bars(device);
    if (status == TRN_OK) status = wait_for_routing_id(device);
    if (status == TRN_OK) status = place_on_board(device);
    if (status == TRN_OK && !device->dummy_ring.host)
        status = trn_dma_allocate(device, 2 * DUMMY_RING_DESCRIPTORS * sizeof(trn_descriptor),
                                  &device->dummy_ring);
    device->probed = status == TRN_OK;
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a driver's load, then typical use of the device. */
#include <stdlib.h>
#include <string.h>

#include "sw-stubs/guest/program.h"

enum { BYTES = 1000001 }; /* not a multiple of 4: 16 descriptors, the last one short */

static const uint64_t place = TRN_HBM_RESERVED_BYTES + 4096 + 24; /* offset in each stack */

static const char* mode_text(trn_mode mode) {
    return mode == TRN_MODE_QEMU       ? "the simulator's reset register"
           : mode == TRN_MODE_EMULATOR ? "no handshake (emulator)"
                                       : "the handshake with firmware";
}

static bool probe_and_reset(const struct subject* subject, trn_device_info* info) {
    uint64_t serial = 0;
    if (!good(subject, "probe", trn_probe(subject->device)) ||
        !good(subject, "probe", trn_get_info(subject->device, info)) ||
        !good(subject, "probe", trn_get_serial(subject->device, &serial)))
        return false;
    say(subject, "probe", "%s, routing id %u, /dev/neuron%u, serial %016llx", info->name,
        info->routing_id, info->device_index, (unsigned long long)serial);
    const double start = seconds_now();
    if (!good(subject, "reset", trn_reset_device(subject->device))) return false;
    say(subject, "reset", "done by %s, engines and rings set up: %.3f s", mode_text(info->mode),
        seconds_now() - start);
    return true;
}

/* Reads the words that firmware publishes, and makes a request through guest memory. */
static bool mailbox(const struct subject* subject, const trn_device_info* info) {
    uint32_t version = 0;
    trn_power_sample power[2] = {{0, 0}, {0, 0}};
    if (!good(subject, "mailbox", trn_get_api_version(subject->device, &version)) ||
        !good(subject, "mailbox", trn_get_power(subject->device, 0, &power[0])) ||
        (info->dies > 1 && !good(subject, "mailbox", trn_get_power(subject->device, 1, &power[1]))))
        return false;
    uint8_t profiles[16] = {0};
    uint32_t size = sizeof profiles;
    if (version >= 7 &&
        !good(subject, "mailbox", trn_get_data(subject->device, 2, profiles, &size)))
        return false;
    const uint8_t record[16] = {1, 2, 3};
    if (!good(subject, "mailbox", trn_post_metric(subject->device, record, sizeof record)))
        return false;
    say(subject, "mailbox",
        "firmware API %u, power %u / %u basis points, %u bytes of profiles, metric "
        "taken",
        version, power[0].basis_points, power[1].basis_points, size);
    return true;
}

static void fill(uint8_t* bytes, uint64_t size, uint32_t seed) {
    uint32_t state = seed * 2654435761u | 1;
    for (uint64_t i = 0; i < size; ++i) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        bytes[i] = (uint8_t)state;
    }
}

/* Compares the bytes through BAR4, by CPU loads, independently of DMA. */
static bool seen_through_bar4(const struct subject* subject, uint32_t stack,
                              const uint8_t* expected) {
    uint8_t seen[256];
    const uint64_t offsets[] = {0, BYTES / 2, BYTES - sizeof seen};
    for (int i = 0; i < 3; ++i) {
        const uint64_t offset = offsets[i];
        if (!good(subject, "BAR4",
                  trn_window_read(subject->device, stack, place + offset, seen, sizeof seen)))
            return false;
        if (memcmp(seen, expected + offset, sizeof seen) != 0)
            return wrong(subject, "BAR4", "stack %u differs from what was copied at +%llu", stack,
                         (unsigned long long)offset);
    }
    return true;
}

static bool copy_through(const struct subject* subject, const trn_device_info* info, uint32_t stack,
                         const trn_buffer* out, const trn_buffer* back) {
    uint8_t* sent = out->memory.host;
    uint8_t* got = back->memory.host;
    const uint64_t hbm = trn_hbm_address(subject->device, stack, place);
    const uint32_t of_stack = info->cores / info->stacks; /* cores on the stack's die */
    const uint32_t core = stack * of_stack, last = core + of_stack - 1;
    fill(sent, BYTES, stack + 1);
    memset(got, 0xee, BYTES);
    if (!good(subject, "copy",
              trn_copy(subject->device, core, hbm, trn_buffer_address(subject->device, out, 0),
                       BYTES)) ||
        !seen_through_bar4(subject, stack, sent) ||
        !good(subject, "copy",
              trn_copy(subject->device, last, trn_buffer_address(subject->device, back, 0), hbm,
                       BYTES)))
        return false;
    return memcmp(sent, got, BYTES) == 0 ||
           wrong(subject, "copy", "data mismatch after a copy through stack %u", stack);
}

static bool copies(const struct subject* subject, const trn_device_info* info) {
    trn_buffer out, back;
    if (!good(subject, "copy", trn_buffer_alloc(subject->device, BYTES, &out))) return false;
    bool ok = good(subject, "copy", trn_buffer_alloc(subject->device, BYTES, &back));
    if (ok) {
        for (uint32_t stack = 0; ok && stack < info->stacks; ++stack)
            ok = copy_through(subject, info, stack, &out, &back);
        trn_buffer_free(subject->device, &back);
    }
    trn_buffer_free(subject->device, &out);
    if (ok)
        say(subject, "copy",
            "guest -> HBM -> guest, %d bytes on each of %u stacks: came back as sent", BYTES,
            info->stacks);
    return ok;
}

bool check_device(const struct subject* subject) {
    trn_device_info info;
    return probe_and_reset(subject, &info) && mailbox(subject, &info) && copies(subject, &info);
}

// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/discovery.h"

#include <string.h>

#include "firmware/lib/neuron_link.h"

#define IDENTITY(reg) TRN_FABRIC_IDENTITY_##reg##_OFFSET

#define TRIES 3  // of an access: a single response may be lost

static bool read_partner(unsigned port, uint32_t offset, uint32_t* answer) {
    for (unsigned n = 0; n < TRIES; ++n)
        if (neuron_link_read_partner(port, offset, answer)) return true;
    return false;
}

static bool write_partner(unsigned port, uint32_t offset, uint32_t word) {
    for (unsigned n = 0; n < TRIES; ++n)
        if (neuron_link_write_partner(port, offset, word)) return true;
    return false;
}

/// Consecutive reads of one partner: after the first one without a response, no more are sent.
struct partner_reads {
    unsigned port;
    bool silent;
};

static uint32_t read_word(struct partner_reads* reads, uint32_t offset) {
    uint32_t answer = 0;
    if (!reads->silent && !read_partner(reads->port, offset, &answer)) reads->silent = true;
    return answer;
}

static enum partner_kind kind_of(uint32_t word) {
    const uint32_t tier = TRN_FABRIC_IDENTITY_KIND_TIER_GET(word);
    switch (TRN_FABRIC_IDENTITY_KIND_WHAT_GET(word)) {
    case TRN_FABRIC_IDENTITY_KIND_WHAT_CHIP:
        return PARTNER_CHIP;
    case TRN_FABRIC_IDENTITY_KIND_WHAT_SWITCH:
        if (tier == TRN_FABRIC_IDENTITY_KIND_TIER_SLED) return PARTNER_SLED_SWITCH;
        if (tier == TRN_FABRIC_IDENTITY_KIND_TIER_RACK) return PARTNER_RACK_SWITCH;
        break;
    default:
        break;
    }
    return PARTNER_NONE;
}

static struct place place_of(uint32_t id) {
    return (struct place){(uint8_t)TRN_FABRIC_IDENTITY_ID_RACK_GET(id),
                          (uint8_t)TRN_FABRIC_IDENTITY_ID_SERVER_GET(id),
                          (uint8_t)TRN_FABRIC_IDENTITY_ID_CHIP_GET(id)};
}

static void read_identity(struct partner_reads* reads, uint32_t id, struct port* found) {
    const uint32_t magic = read_word(reads, IDENTITY(MAGIC));
    const enum partner_kind kind = kind_of(read_word(reads, IDENTITY(KIND)));
    const uint32_t port = read_word(reads, IDENTITY(PORT));
    found->serial = (uint64_t)read_word(reads, IDENTITY(SERIAL_HI)) << 32 |
                    read_word(reads, IDENTITY(SERIAL_LO));
    found->partner =
        (struct partner){kind, place_of(id), (uint8_t)TRN_FABRIC_IDENTITY_PORT_NUMBER_GET(port)};
    found->garbage = magic != TRN_FABRIC_IDENTITY_MAGIC_RESET || kind == PARTNER_NONE;
    found->identified = !found->garbage && (id & TRN_FABRIC_IDENTITY_ID_VALID_MASK) != 0;
}

/// The partner cannot be replaced while the link is up, but a chip may reboot and change its id.
static bool is_same_partner(const struct port* found, uint32_t id) {
    const struct place now = place_of(id);
    return found->identified && (id & TRN_FABRIC_IDENTITY_ID_VALID_MASK) != 0 &&
           memcmp(&now, &found->partner.place, sizeof now) == 0;
}

static void read_chip_state(struct partner_reads* reads, const struct topology* t,
                            struct port* found) {
    const uint32_t used = routes_announced_words(t);
    for (unsigned n = 0; n < ANNOUNCED_WORDS; ++n)
        if (used >> n & 1)
            found->state.words[n] =
                read_word(reads, n == 0 ? IDENTITY(STATE) : IDENTITY(DISTANCES)(n - 1));
}

static void read_switch_state(struct partner_reads* reads, const struct topology* t,
                              struct port* found) {
    const bool rack = found->partner.kind == PARTNER_RACK_SWITCH;
    for (unsigned s = 0; s < topology_servers_per_rack(t); ++s)
        if (rack || s == t->own.server)
            found->chips[s] = (uint16_t)read_word(
                reads, IDENTITY(REACHABLE)(t->own.rack * TOPOLOGY_MAX_SERVERS + s));
    found->racks = read_word(reads, IDENTITY(RACKS));
    for (unsigned r = 0; r < topology_racks(t); ++r)
        found->rack_chips[r] =
            found->racks >> r & 1 ? (uint16_t)read_word(reads, IDENTITY(RACK_CHIPS)(r)) : 0;
}

void discovery_read(unsigned port, const struct topology* t, struct port* found) {
    struct partner_reads reads = {.port = port};
    const uint32_t id = read_word(&reads, IDENTITY(ID));
    if (!is_same_partner(found, id)) read_identity(&reads, id, found);
    if (found->identified && found->partner.kind == PARTNER_CHIP)
        read_chip_state(&reads, t, found);
    else if (found->identified)
        read_switch_state(&reads, t, found);
    found->silent = reads.silent;
    found->duplicate = false;
    if (reads.silent) found->garbage = false;
    if (reads.silent || found->garbage) discovery_forget(found);
}

void discovery_forget(struct port* found) {
    found->identified = false;
    found->partner = (struct partner){.kind = PARTNER_NONE};
    found->serial = 0;
    found->state = (struct announcement){{0}};
    memset(found->chips, 0, sizeof found->chips);
    found->racks = 0;
    memset(found->rack_chips, 0, sizeof found->rack_chips);
}

enum claim_result discovery_claim(unsigned port, const struct topology* t, enum claim claim,
                                  unsigned chips, bool holds) {
    uint8_t rack = t->own.rack;
    uint32_t level = TRN_FABRIC_IDENTITY_CLAIM_LEVEL_RACK;
    if (claim == CLAIM_OTHER_RACK) rack ^= 1;
    if (claim == CLAIM_SELF) level = TRN_FABRIC_IDENTITY_CLAIM_LEVEL_CHIP;
    if (claim == CLAIM_SERVER) level = TRN_FABRIC_IDENTITY_CLAIM_LEVEL_SERVER;
    const struct fabric_id about = {rack, t->own.server, t->own.chip};
    const uint32_t word = fabric_id_bits(about) | TRN_FABRIC_IDENTITY_CLAIM_LEVEL_SET(level) |
                          TRN_FABRIC_IDENTITY_CLAIM_CHIPS_SET(chips);
    uint32_t status = 0;
    if (!holds)
        return write_partner(port, IDENTITY(CLAIM), word | TRN_FABRIC_IDENTITY_CLAIM_RELEASE_MASK)
                   ? CLAIM_ACCEPTED
                   : CLAIM_NO_RESPONSE;
    if (!write_partner(port, IDENTITY(CLAIM), word) ||
        !read_partner(port, IDENTITY(CLAIM_STATUS), &status))
        return CLAIM_NO_RESPONSE;
    return TRN_FABRIC_IDENTITY_CLAIM_STATUS_RESULT_GET(status) ==
                   TRN_FABRIC_IDENTITY_CLAIM_STATUS_RESULT_CONFLICT
               ? CLAIM_REFUSED
               : CLAIM_ACCEPTED;
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/firmware_services/fakes.h"

#include <utility>

namespace {

using trn::test::machine_of_test;

bool answers(trn::test::fake_machine::partner& p) {
    ++p.accesses;
    if (p.lost == 0) return true;
    --p.lost;
    return false;
}

}  // namespace

extern "C" {

uint64_t timer_now_us(void) {
    return machine_of_test.now_us;
}
bool timer_wait_irq(bool (*done)(const void*), const void* arg, uint32_t limit_us) {
    if (done(arg)) return true;
    machine_of_test.now_us += limit_us;
    return false;
}
void irq_enable(unsigned source, irq_handler handler) {
    machine_of_test.enabled[source] = handler;
}
void irq_hold(unsigned source) {
    machine_of_test.held.insert(source);
}
void irq_resume(unsigned source) {
    machine_of_test.held.erase(source);
}
unsigned long irq_save(void) {
    return 0;
}
void irq_restore(unsigned long) {}
void event_raise(enum event event) {
    machine_of_test.raised |= event;
}
void event_raise_at(enum event event, uint64_t at_us) {
    const auto at = machine_of_test.later.emplace(event, at_us).first;
    if (at_us < at->second) at->second = at_us;
}
void log_line(int, const char*, ...) {}
void error_log_add(enum error_code code, uint16_t, uint64_t) {
    machine_of_test.errors.push_back(static_cast<std::uint16_t>(code));
}
void health_set(uint32_t, uint32_t) {}
void misc_ram_write(uintptr_t, uint32_t) {}
bool reset_serve_handshake(void) {
    return machine_of_test.handshake();
}
bool mailbox_serve(enum mailbox_trust trust) {
    return machine_of_test.mailbox(trust);
}
struct boot_straps boot_straps_read(void) {
    return machine_of_test.straps;
}
void topology_table_publish(const struct topology*, const struct port* ports, struct reachable) {
    machine_of_test.published.assign(ports, ports + TOPOLOGY_PORTS);
}

uint32_t neuron_link_connected(void) {
    uint32_t ports = 0;
    for (const auto& [number, partner] : machine_of_test.partners) ports |= 1u << number;
    return ports;
}
struct link_status neuron_link_status(unsigned port) {
    const bool up = machine_of_test.partners.contains(port);
    return {up, false, 6, 32, 32, 0};
}
void neuron_link_train(unsigned) {}
void neuron_link_enable_irqs(void) {}
struct link_events neuron_link_take_events(void) {
    return std::exchange(machine_of_test.events, {0, 0});
}
bool neuron_link_read_partner(unsigned port, uint32_t offset, uint32_t* answer) {
    auto& partner = machine_of_test.partners.at(port);
    if (!answers(partner)) return false;
    *answer = partner.words[offset];
    return true;
}
bool neuron_link_write_partner(unsigned port, uint32_t offset, uint32_t word) {
    auto& partner = machine_of_test.partners.at(port);
    if (!answers(partner)) return false;
    if (offset != TRN_FABRIC_IDENTITY_CLAIM_OFFSET) return true;
    const uint32_t claim =
        word & ~(TRN_FABRIC_IDENTITY_CLAIM_RELEASE_MASK | TRN_FABRIC_IDENTITY_CLAIM_CHIPS_MASK);
    if (word & TRN_FABRIC_IDENTITY_CLAIM_RELEASE_MASK)
        partner.claims.erase(claim);
    else if (!partner.refuses)
        partner.claims.insert(claim);
    partner.words[TRN_FABRIC_IDENTITY_CLAIM_STATUS_OFFSET] =
        TRN_FABRIC_IDENTITY_CLAIM_STATUS_RESULT_SET(
            partner.refuses ? TRN_FABRIC_IDENTITY_CLAIM_STATUS_RESULT_CONFLICT
                            : TRN_FABRIC_IDENTITY_CLAIM_STATUS_RESULT_TAKEN);
    return true;
}
void neuron_link_set_identity(uint64_t, struct fabric_id) {}
void neuron_link_announce(const uint32_t*, unsigned) {}
void neuron_link_route_chip(unsigned, unsigned) {}
void neuron_link_route_server(unsigned, unsigned) {}
void neuron_link_route_rack(unsigned, unsigned) {}
void neuron_link_window_to_port(unsigned, unsigned) {}
void neuron_link_window_to_chip(unsigned, struct fabric_id) {}

}  // extern "C"

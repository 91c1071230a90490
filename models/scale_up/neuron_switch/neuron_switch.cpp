// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/neuron_switch/neuron_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "models/misuse_rules.h"
#include "models/pcie/pcie/tlp.h"
#include "models/scale_up/neuron_link/fabric_identity_regs.h"
#include "models/scale_up/neuron_link/notice.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn {

namespace identity = fabric_identity_regs;
using identity::reg;
using sc_core::sc_time;

namespace {

constexpr std::uint64_t identity_size = 0x1000;

/// PCIe Gen6 switches with 20 or 40 ports of 8 lanes, 120 ns; a UALink switch with ports of 4
/// lanes. For the latter, only the port is public; number of ports and latency are invented.
struct part {
    unsigned lanes, ports;
    sc_time latency;
};
part part_of(switch_part model) {
    switch (model) {
    case switch_part::lanes160:
        return {160, 20, sc_time(120, sc_core::SC_NS)};
    case switch_part::lanes320:
        return {320, 40, sc_time(120, sc_core::SC_NS)};
    case switch_part::ualink:
        return {288, 72, sc_time(80, sc_core::SC_NS)};
    }
    return {};
}

}  // namespace

unsigned neuron_switch::config::port_count() const {
    return ports != 0 ? ports : part_of(part).ports;
}

unsigned neuron_switch::config::lanes() const {
    return part_of(part).lanes * planes;
}

std::optional<std::string> neuron_switch::check(const config& cfg) {
    if (cfg.port_count() > cfg.lanes()) return "there are more ports than lanes";
    return std::nullopt;
}

neuron_switch::neuron_switch(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      latency_(cfg.latency == sc_core::SC_ZERO_TIME ? part_of(cfg.part).latency : cfg.latency),
      identity_(identity::table, {.instances = cfg.port_count(), .stride = identity_size}),
      claims_(cfg.port_count()),
      granted_(cfg.port_count()) {
    sc_assert(!check(cfg));
    chip_port_.fill(unclaimed);
    port.init(cfg.port_count(), [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    make_identity();
    SC_METHOD(send_notices);
    dont_initialize();
    sensitive << gathered_;
}

/// Requests training of all links: a switch has no firmware that would do so.
void neuron_switch::start_of_simulation() {
    for (auto& each : port)
        if (auto* link = each.link()) link->train(0);
}

unsigned neuron_switch::lanes_used() const {
    unsigned used = 0;
    for (const auto& each : port)
        if (const auto* link = each.link()) used += link->can().lanes * link->can().links;
    return used;
}

// --- Crossbar

std::optional<unsigned> neuron_switch::way_to(unsigned id, unsigned source) const {
    if (const auto output = chip_port_[id]; output != unclaimed && output != source) return output;
    const auto server = std::uint64_t{1} << (id >> 4);
    for (unsigned output = 0; output < claims_.size(); ++output)
        if (output != source && (claims_[output].servers & server) != 0) return output;
    for (unsigned output = 0; output < claims_.size(); ++output)
        if (output != source && (claims_[output].racks >> fabric::rack_of(id) & 1) != 0)
            return output;
    return std::nullopt;
}

std::optional<unsigned> neuron_switch::exit_of(std::uint64_t address, unsigned source) const {
    // Window accesses only reach a direct neighbour.
    if ((address & fabric::flag) == 0) return std::nullopt;
    const auto output = way_to(fabric::id_of(address), source);
    if (!output || !port[*output].up()) return std::nullopt;
    return output;
}

void neuron_switch::received(plug& local, tlm::tlm_generic_payload& payload, sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const auto* tlp = payload.get_extension<pcie::tlp>();
    if (tlp != nullptr && tlp->destination == pcie::tlp::space::config) {
        payload.set_address(local.index() * identity_size + address % identity_size);
        identity_.access(payload, delay);
        return payload.set_address(address);
    }
    const auto output = exit_of(address, local.index());
    if (!output) {
        ++unroutable_;
        misuse::report(misuse::no_route, *this,
                       fmt::format("{:#x} from port {}", address, local.index()));
        return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    delay += latency_;
    port[*output].send(payload, delay);
    if (payload.is_read()) delay += latency_;  // latency of the completion
}

unsigned neuron_switch::peeked(plug& local, tlm::tlm_generic_payload& payload) {
    const auto output = exit_of(payload.get_address(), local.index());
    return output ? port[*output].peek(payload) : 0;
}

bool neuron_switch::asked_for_pointer(plug& local, tlm::tlm_generic_payload& payload,
                                      tlm::tlm_dmi& dmi) {
    const auto output = exit_of(payload.get_address(), local.index());
    if (!output) {
        refused_.resize(port.size());
        refused_[local.index()] = true;
        return refuse_pointer(payload, dmi);
    }
    granted_[*output].resize(port.size());
    granted_[*output][local.index()] = true;
    const bool granted = port[*output].ask_for_pointer(payload, dmi);
    dmi.set_read_latency(dmi.get_read_latency() + latency_ * 2);
    dmi.set_write_latency(dmi.get_write_latency() + latency_);
    return granted;
}

void neuron_switch::pointers_revoked(plug& local, std::uint64_t, std::uint64_t) {
    revoke(local.index());
}

/// Revokes DMI pointers through port `output` from all ports that have some, each at most once.
void neuron_switch::revoke(unsigned output) {
    revoke_from(std::exchange(granted_[output], {}));
}

void neuron_switch::revoke_from(const std::vector<bool>& sources) {
    for (unsigned source = 0; source < sources.size(); ++source)
        if (sources[source]) port[source].revoke_pointers();
}

void neuron_switch::link_changed(plug& local) {
    if (!local.up()) drop_claims(local.index());
}

// --- Claims

void neuron_switch::make_identity() {
    identity_.view(reg::kind, [this](unsigned, unsigned) -> std::uint64_t {
        return identity::kind::tier.set(identity::kind::what_switch,
                                        static_cast<std::uint64_t>(cfg_.tier));
    });
    identity_.view(reg::serial_lo, [this](unsigned, unsigned) { return cfg_.serial & ~0u; });
    identity_.view(reg::serial_hi, [this](unsigned, unsigned) { return cfg_.serial >> 32; });
    identity_.view(reg::id, [this](unsigned, unsigned) {
        return identity::id::valid.mask() | identity::id::rack.set(0, cfg_.rack) |
               identity::id::server.set(0, cfg_.server);
    });
    identity_.view(reg::port, [this](unsigned instance, unsigned) {
        return identity::port::count.set(instance, port.size());
    });
    const auto generation = [this](unsigned, unsigned) -> std::uint64_t { return generation_; };
    identity_.view(reg::state, generation);
    identity_.view(reg::generation, generation);
    identity_.view(reg::claim_status, [this](unsigned instance, unsigned) {
        return identity::claim_status::port.set(claims_[instance].result,
                                                claims_[instance].taken_by);
    });
    identity_.view(reg::reachable, [this](unsigned, unsigned server) { return reachable(server); });
    identity_.view(reg::racks,
                   [this](unsigned instance, unsigned) { return racks_beside(instance); });
    identity_.view(reg::rack_chips, [this](unsigned instance, unsigned rack) {
        return rack_chips_beside(instance, rack);
    });
    identity_.on_write(reg::claim, [this](register_access& a) { claim(a.instance, a.written); });
}

std::uint64_t neuron_switch::reachable(unsigned server) const {
    std::uint64_t chips = 0;
    for (unsigned chip = 0; chip < 16; ++chip)
        if (chip_port_[server << 4 | chip] != unclaimed) chips |= std::uint64_t{1} << chip;
    return chips;
}

std::uint64_t neuron_switch::racks_beside(unsigned number) const {
    std::uint64_t racks = 0;
    for (unsigned other = 0; other < claims_.size(); ++other)
        if (other != number) racks |= claims_[other].racks;
    return racks;
}

std::uint64_t neuron_switch::rack_chips_beside(unsigned number, unsigned rack) const {
    std::uint16_t largest = 0;
    for (unsigned other = 0; other < claims_.size(); ++other)
        if (other != number) largest = std::max(largest, claims_[other].rack_chips[rack]);
    return largest;
}

void neuron_switch::claim(unsigned number, std::uint64_t written) {
    namespace bits = identity::claim;
    const auto id = static_cast<unsigned>(written) & (fabric::ids - 1);
    const bool release = bits::release.get(written) != 0;
    claims& mine = claims_[number];
    mine.result = identity::claim_status::result_taken;
    const auto before = std::tuple(mine.servers, mine.racks, mine.rack_chips);
    bool moved = false;
    switch (bits::level.get(written)) {
    case bits::level_chip: {
        auto& owner = chip_port_[id];
        mine.taken_by = static_cast<std::uint8_t>(number);
        if (owner != unclaimed && owner != number) {
            mine.taken_by = owner;
            mine.result = identity::claim_status::result_conflict;
            return;
        }
        const auto wanted = release ? unclaimed : static_cast<std::uint8_t>(number);
        moved = owner != wanted;
        owner = wanted;
        break;
    }
    case bits::level_server: {
        const auto bit = std::uint64_t{1} << (id >> 4);
        mine.servers = release ? mine.servers & ~bit : mine.servers | bit;
        break;
    }
    case bits::level_rack: {
        const auto rack = fabric::rack_of(id);
        const auto bit = 1u << rack;
        mine.racks = static_cast<std::uint8_t>(release ? mine.racks & ~bit : mine.racks | bit);
        mine.rack_chips[rack] = static_cast<std::uint16_t>(release ? 0 : bits::chips.get(written));
        break;
    }
    default:
        mine.result = identity::claim_status::result_none;
        return;
    }
    if (moved || before != std::tuple(mine.servers, mine.racks, mine.rack_chips)) changed();
}

void neuron_switch::drop_claims(unsigned number) {
    bool any = claims_[number].servers != 0 || claims_[number].racks != 0;
    claims_[number] = {};
    for (auto& owner : chip_port_) {
        if (owner != number) continue;
        owner = unclaimed;
        any = true;
    }
    if (any) changed();
}

/// Routes have changed: revokes pointers and refusals, and notifies partners once per batch of
/// changes.
void neuron_switch::changed() {
    ++generation_;
    for (unsigned output = 0; output < granted_.size(); ++output) revoke(output);
    revoke_from(std::exchange(refused_, {}));
    if (notice_due_) return;
    notice_due_ = true;
    gathered_.notify(cfg_.notice_delay);
}

void neuron_switch::send_notices() {
    notice_due_ = false;
    for (auto& each : port)
        if (each.up()) fabric::send_notice(each);
}

// --- Tools

void neuron_switch::publish(statistics& out) const {
    for (unsigned i = 0; i < port.size(); ++i) {
        const auto* link = port[i].link();
        if (link == nullptr) continue;
        const auto counted = link->count();
        out.count(fmt::format("port{}_in_wire_bytes", i), counted.received);
        out.count(fmt::format("port{}_out_wire_bytes", i), counted.sent);
    }
    out.count("lanes_used", lanes_used());
    out.count("table_changes", generation_);
    out.count("unroutable", unroutable_);
}

std::vector<accepts_faults::fault> neuron_switch::faults() {
    const auto port_argument =
        fault_argument::number("port", 0, std::int64_t(port.size()) - 1, "of the switch");
    const auto link_of = [this](const fault_values& given) {
        return port[given.number("port")].link();
    };
    return {{"port_fail",
             "the port is dead until port_repair",
             {port_argument},
             [=](const fault_values& given) {
                 if (auto* link = link_of(given)) link->lose();
             }},
            {"port_repair",
             "the port works again and trains",
             {port_argument},
             [=](const fault_values& given) {
                 if (auto* link = link_of(given)) link->train(0);
             }}};
}

}  // namespace trn

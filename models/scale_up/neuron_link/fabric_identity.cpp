// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/neuron_link/fabric_identity.h"

#include <algorithm>

#include "models/scale_up/neuron_link/fabric_identity_regs.h"
#include "models/scale_up/neuron_link/neuron_link_regs.h"
#include "platform/framework/kernel/random.h"

namespace trn {

namespace identity = fabric_identity_regs;
using link_reg = neuron_link_regs::reg;

namespace {

// Bytes from the registers of one port to those of the next.
constexpr std::uint64_t stride = 0x1000;

}  // namespace

fabric_identity::fabric_identity(const sc_core::sc_object& owner, unsigned ports,
                                 register_bank& own, std::function<void(std::uint64_t)> raise)
    : owner_(owner), bank_(identity::table, {.instances = ports, .stride = stride}) {
    using identity::reg;
    bank_.view(reg::kind,
               [](unsigned, unsigned) -> std::uint64_t { return identity::kind::what_chip; });
    const auto show = [this, &own](reg target, link_reg source) {
        bank_.view(target, [&own, source](unsigned, unsigned) { return own.get(source); });
    };
    show(reg::serial_lo, link_reg::own_serial_lo);
    show(reg::serial_hi, link_reg::own_serial_hi);
    show(reg::id, link_reg::own_id);
    show(reg::state, link_reg::own_state);
    bank_.view(reg::distances, [&own](unsigned, unsigned index) {
        return own.get(link_reg::own_distances, index);
    });
    bank_.view(reg::port, [ports](unsigned instance, unsigned) {
        return identity::port::count.set(instance, ports);
    });
    bank_.on_write(reg::notice, [raise = std::move(raise)](register_access& a) {
        raise(neuron_link_regs::irq_status::notice.set(0, std::uint64_t{1} << a.instance));
    });
    bank_.on_write(reg::claim, [](register_access& a) {
        a.response = tlm::TLM_ADDRESS_ERROR_RESPONSE;  // only switches have a claim table
    });
}

void fabric_identity::answer(unsigned port, tlm::tlm_generic_payload& payload,
                             sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    payload.set_address(port * stride + address % stride);
    bank_.access(payload, delay);
    payload.set_address(address);
}

void fabric_identity::answer_garbage(unsigned port, tlm::tlm_generic_payload& payload,
                                     sc_core::sc_time& delay) {
    answer(port, payload, delay);
    if (!payload.is_read()) return;
    if (!garbage_) garbage_ = std::make_unique<std::mt19937_64>(seed_for(owner_.name()));
    std::generate_n(payload.get_data_ptr(), payload.get_data_length(),
                    [this] { return static_cast<unsigned char>((*garbage_)()); });
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace trn

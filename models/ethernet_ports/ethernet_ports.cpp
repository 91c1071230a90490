// SPDX-License-Identifier: Apache-2.0
#include "models/ethernet_ports/ethernet_ports.h"

#include <systemc>

#include "platform/framework/kernel/fault_arguments.h"

namespace trn {

ethernet_ports::side::side(std::uint64_t rate)
    : in({rate, sc_core::SC_ZERO_TIME}), out({rate, sc_core::SC_ZERO_TIME}) {}

ethernet_ports::ethernet_ports(const config& cfg) : chance_(cfg.seed), loss_ppm_(cfg.loss_ppm) {
    for (unsigned i = 0; i < cfg.count; ++i)
        sides_.push_back(std::make_unique<side>(cfg.bytes_per_second));
}

bool ethernet_ports::lose() {
    if (lose_next_ > 0) {
        --lose_next_;
        return true;
    }
    return loss_ppm_ > 0 && chance_() % 1'000'000 < loss_ppm_;
}

std::vector<accepts_faults::fault> ethernet_ports::faults(const std::string& down) {
    const auto set_down = [this](bool to) {
        return [this, to](const fault_arguments& arguments) {
            sides_[fault_number(arguments, "port", 0, sides_.size() - 1)]->down = to;
        };
    };
    return {
        {"loss", "'ppm': packets of a million that are lost",
         [this](auto& arguments) { loss_ppm_ = fault_number(arguments, "ppm", 0, 1'000'000, 0); }},
        {"lose", "the next packets are lost; 'count' (default 1)",
         [this](auto& arguments) { lose_next_ += fault_count(arguments); }},
        {"port_down", "'port': " + down, set_down(true)},
        {"port_up", "'port': works again", set_down(false)}};
}

}  // namespace trn

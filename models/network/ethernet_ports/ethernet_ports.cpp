// SPDX-License-Identifier: Apache-2.0
#include "models/network/ethernet_ports/ethernet_ports.h"

#include <systemc>

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
    const auto port =
        fault_argument::number("port", 0, std::int64_t(sides_.size()) - 1, "of the module");
    const auto set_down = [this](bool is_down) {
        return [this, is_down](const fault_values& given) {
            sides_[given.number("port")]->down = is_down;
        };
    };
    return {{"loss",
             "packets are lost at random",
             {fault_argument::number("ppm", 0, 1'000'000, "of a million packets").by_default(0)},
             [this](const fault_values& given) { loss_ppm_ = given.number("ppm"); }},
            {"lose",
             "the next packets are lost",
             {fault_argument::count()},
             [this](const fault_values& given) { lose_next_ += given.number("count"); }},
            {"port_down", down, {port}, set_down(true)},
            {"port_up", "the port works again", {port}, set_down(false)}};
}

}  // namespace trn

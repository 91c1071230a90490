// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/harts.h"

#include <map>

namespace trn {

namespace {

/// The chip of a hart: "rack0.sled1.chip0" for "rack0.sled1.chip0.management.cpu", two levels up.
std::string chip_of(const std::string& hart) {
    const auto part = hart.rfind('.', hart.rfind('.') - 1);
    return hart.substr(0, part == std::string::npos ? hart.find('.') : part);
}

}  // namespace

std::vector<debug_hart> find_harts() {
    std::vector<debug_hart> all;
    std::map<std::string, unsigned> chips;
    for_each_module<debug_target>([&](const auto& object, debug_target& hart) {
        const auto name = module_name(object);
        const auto process =
            chips.emplace(chip_of(name), static_cast<unsigned>(chips.size()) + 1).first->second;
        all.push_back({&hart, name, process, static_cast<unsigned>(all.size()) + 1});
    });
    return all;
}

void add_harts(control& methods) {
    for (const auto& h : find_harts()) methods.spaces().add(h.name, h.target->memory());
    methods.add_list("harts", [] {
        auto all = rpc::json::array();
        for (const auto& h : find_harts())
            all.push_back({{"name", h.name},
                           {"process", h.process},
                           {"thread", h.thread},
                           {"state", h.target->state()},
                           {"halted", h.target->halted()}});
        return all;
    });
}

}  // namespace trn

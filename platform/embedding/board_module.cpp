// SPDX-License-Identifier: Apache-2.0
#include "platform/embedding/board_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/misuse_rules.h"
#include "platform/embedding/reports.h"
#include "platform/framework/misuse/allowance.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/join_ends.h"

namespace trn {

namespace {

/// SystemC's own error for this is about a module registry.
const sc_core::sc_module_name& in_elaboration(const sc_core::sc_module_name& name,
                                              const std::string& file) {
    constexpr int open = sc_core::SC_ELABORATION | sc_core::SC_BEFORE_END_OF_ELABORATION;
    if ((sc_core::sc_get_status() & open) == 0)
        report_board(fmt::format(
            "'{}' ({}) is constructed too late: it must be made during elaboration, before the "
            "first sc_start()",
            static_cast<const char*>(name), file));
    return name;
}

}  // namespace

board_module::board_module(const sc_core::sc_module_name& name, const std::string& file,
                           const parameters& values, const kind_list& kinds,
                           std::source_location place)
    : sc_module(in_elaboration(name, file)) {
    try {
        build(file, values, kinds, place);
    } catch (const config_error& wrong) {
        report_board(wrong.what());
        throw;  // SC_ERROR does not throw
    }
}

board_module::~board_module() = default;

void board_module::build(const std::string& file, const parameters& values, const kind_list& kinds,
                         const std::source_location& place) {
    misuse::set_rules(misuse::all_rules);
    plan_options options{.boards = boards_folder(), .set = {}};
    options.open = true;
    options.place = {.file = place.file_name(),
                     .line = static_cast<int>(place.line()),
                     .column = static_cast<int>(place.column())};
    for (const auto& [parameter, value] : values) options.set.push_back(parameter + "=" + value);
    modules_ = std::make_unique<system>(load_open_board(file, kinds, std::move(options)), this);
    for (auto allowance : modules_->board().allowances) {  // of modules in this one
        const std::string inner = std::exchange(allowance.modules, name());
        if (!inner.empty()) allowance.modules += "." + inner;
        misuse::allow(std::move(allowance));
    }
    for (const auto& port : modules_->board().ports) show(port);
}

void board_module::show(const plan::exported& port) {
    const plan& board = modules_->board();
    const port_role role = board.port_of(port.inner).role;
    if (role == port_role::uses || role == port_role::provides) return;  // C++ interfaces
    sc_core::sc_object& inner = modules_->object(port.inner);
    // Modules and ports of a file may have equal names.
    const bool taken = board.find(port.name) != nullptr;
    std::string full = taken ? port.name + "_port" : port.name;
    std::ranges::replace(full, '[', '_');  // irqs[3]: irqs_3
    std::erase(full, ']');
    const char* const name = full.c_str();
    std::unique_ptr<sc_core::sc_module> made;
    switch (role) {
    case port_role::plug:
        made = std::make_unique<link_sockets>(name, dynamic_cast<plug&>(inner));
        break;
    case port_role::target: {
        auto entry = std::make_unique<initiator_bridge>(name);
        join_ends(entry->out, inner);
        made = std::move(entry);
        break;
    }
    case port_role::initiator: {
        auto exit = std::make_unique<thread_bridge>(name, thread_bridge::use::boundary);
        join_ends(inner, exit->in);
        made = std::move(exit);
        break;
    }
    case port_role::irq_in:
        made = std::make_unique<signal_input>(name, dynamic_cast<irq_in&>(inner), port.inner.index);
        break;
    case port_role::irq_out:
        made = std::make_unique<signal_output>(name, dynamic_cast<irq_out&>(inner));
        break;
    case port_role::uses:
    case port_role::provides:
        break;
    }
    names_.push_back(port.name);
    shown_.emplace(port.name, std::move(made));
}

sc_core::sc_module* board_module::find_port(std::string_view port) const {
    const auto found = shown_.find(port);
    return found == shown_.end() ? nullptr : found->second.get();
}

void board_module::refuse(std::string_view port, std::string_view type) const {
    const auto text =
        find_port(port) != nullptr
            ? fmt::format("{}: port '{}' is no {}", name(), port, type)
            : fmt::format("{}: {} has no port '{}'; {}", name(), modules_->board().name, port,
                          suggest(port, std::span<const std::string>(names_)));
    report_board(text);
    throw std::invalid_argument(text);  // SC_ERROR does not throw
}

}  // namespace trn

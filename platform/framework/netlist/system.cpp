// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "platform/framework/kernel/time_value.h"
#include "platform/framework/netlist/join_ends.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"
#include "platform/framework/tlm/router.h"

namespace trn {

namespace {

/// Aborts because a kind's table does not match its class: an internal error.
[[noreturn]] void broken_table(const std::string& message) {
    std::cerr << "kind table: " << message << std::endl;
    std::abort();
}

}  // namespace

/// The module of an assembly, which only groups its parts in the hierarchy. Modules are children of
/// the module whose constructor is running.
class system::container : public sc_core::sc_module {
public:
    container(sc_core::sc_module_name name, const std::function<void()>& build_parts)
        : sc_module(name) {
        build_parts();
    }
};

system::system(plan board, const sc_core::sc_module* inside)
    : board_(std::move(board)),
      place_(inside == nullptr ? std::string() : std::string(inside->name()) + "."),
      modules_(board_.modules.size()),
      foreign_(board_) {
    require_picoseconds();
    build(0, static_cast<std::uint32_t>(modules_.size()));
    bind_all();
}

system::~system() {
    foreign_.clear();
    while (!modules_.empty()) modules_.pop_back();  // parts before their container
}

void system::refuse(const plan::module& m, std::string_view why) {
    m.node.report(mistake::refused_by_model, fmt::format("{} '{}': {}", m.type, m.path, why));
    throw config_error(board_.problems->list());
}

void system::refuse(const model_refusal& why) {
    const plan::module* const module = board_.find(local_name(why.module()));
    if (module == nullptr) broken_table(why.module() + ": " + why.what());
    refuse(*module, why.what());
}

std::string_view system::local_name(std::string_view full) const {
    return full.starts_with(place_) ? full.substr(place_.size()) : full;
}

void system::refuse(const sc_core::sc_report& why) {
    if (const auto refusal = model_refusal::from(why)) refuse(*refusal);
    if (const plan::module* const named = foreign_.named_by(why)) refuse(*named, text_of(why));
    const char* const process = why.get_process_name();
    const bool is_of_elaboration = process == nullptr || *process == '\0';
    const auto is_of_user = [](const plan::module& m) {
        return m.built_as != nullptr &&
               (is_foreign(*m.built_as) || !library_of(*m.built_as).empty());
    };
    if (is_of_elaboration && std::ranges::any_of(board_.modules, is_of_user))
        throw config_error(diagnostic{
            .code = mistake::refused_by_model,
            .file = board_.file.string(),
            .message =
                fmt::format("a module fails when the board is elaborated: {}", text_of(why))});
    throw;  // SystemC's errors are internal errors otherwise
}

void system::refuse(const plan::binding& bound, const sc_core::sc_report& why) {
    const auto is_foreign = [&](const plan::endpoint& end) {
        return board_.port_of(end).foreign != nullptr;
    };
    if (!is_foreign(bound.source) && !is_foreign(bound.target)) throw;
    bound.node.report(
        mistake::refused_by_model,
        fmt::format("'{}' does not accept the binding to '{}': {}", board_.local_text(bound.target),
                    board_.local_text(bound.source), text_of(why)));
    throw config_error(board_.problems->list());
}

void system::wrong_table(const plan::module& m, const std::string& why) {
    if (library_of(*m.built_as).empty()) broken_table(m.path + ": " + why);
    refuse(m, "its kind's table does not match its class: " + why);
}

void system::build(std::uint32_t first, std::uint32_t last) {
    for (auto i = first; i < last; i = board_.modules[i].end) build_one(i);
}

void system::build_one(std::uint32_t index) {
    const plan::module& m = board_.modules[index];
    if (m.built_as == nullptr) {
        modules_[index] =
            std::make_unique<container>(m.name.c_str(), [&] { build(index + 1, m.end); });
        return;
    }
    try {
        modules_[index] = m.built_as->make(m.name.c_str(), m.config);
        if (!foreign_.add(index, *modules_[index])) wrong_table(m, "a foreign end is no member");
    } catch (const std::bad_alloc&) {
        refuse(m, "the host has not enough memory or address space");
    } catch (const sc_core::sc_report& why) {
        if (is_foreign(*m.built_as) || !library_of(*m.built_as).empty()) refuse(m, text_of(why));
        throw;  // SystemC's errors are internal errors
    } catch (const std::exception& why) {
        refuse(m, why.what());  // a file that cannot be read, ...
    } catch (...) {
        refuse(m, "its constructor throws an object of an unknown type");
    }
}

void system::bind_all() {
    for (const auto& binding : board_.bindings) try {
            if (bind(binding)) continue;
            const plan::module& source = board_.modules[binding.source.module];
            const bool is_of_library = !library_of(*source.built_as).empty();
            wrong_table(is_of_library ? source : board_.modules[binding.target.module],
                        fmt::format("cannot bind {} to {}", board_.text(binding.source),
                                    board_.text(binding.target)));
        } catch (const sc_core::sc_report& why) {
            refuse(binding, why);
        }
}

namespace {

/// `likely`: place of the port's first element among the module's children in the last module.
/// nullptr: the module has no such object.
sc_core::sc_object* find_object(sc_core::sc_module& module, const port& p, unsigned element,
                                std::size_t& likely) {
    const auto name = p.count ? fmt::format("{}_{}", p.name, element) : p.name;
    const auto& children = module.get_child_objects();
    const auto is_it = [&](std::size_t index) {
        return index < children.size() && name == children[index]->basename();
    };
    if (is_it(likely + element)) return children[likely + element];
    for (std::size_t index = 0; index < children.size(); ++index)
        if (is_it(index)) {
            likely = index - element;
            return children[index];
        }
    return nullptr;
}

}  // namespace

sc_core::sc_object& system::object(const plan::endpoint& end) {
    const port& p = board_.port_of(end);
    if (p.foreign) return foreign_.find(end);
    if (auto* const found = find_object(*modules_[end.module], p, end.index, places_[&p]))
        return *found;
    wrong_table(board_.modules[end.module],
                fmt::format("there is no socket, line or plug with the name '{}'", p.name));
}

/// Returns false if a kind's table does not match its class.
bool system::bind(const plan::binding& binding) {
    const auto bound = [&] {
        const port& user = board_.port_of(binding.source);
        if (user.join)
            return user.join(*modules_[binding.source.module], *modules_[binding.target.module]);
        const unsigned line = board_.port_of(binding.target).count ? 0 : binding.target.index;
        return join_ends(object(binding.source), object(binding.target), line);
    };
    if (!binding.repeated && !bound()) return false;
    if (!binding.window) return true;
    auto* decoder = dynamic_cast<router*>(modules_[binding.source.module].get());
    if (decoder == nullptr) return false;
    const auto& w = *binding.window;
    return decoder->map({w.base, w.size, w.target_base, binding.router_port}) == nullptr;
}

}  // namespace trn

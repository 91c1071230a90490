// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/contract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <systemc>
#include <tlm>

#include "models/kinds.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/kinds_option.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/output.h"
#include "platform/framework/registers/contract.h"
#include "platform/framework/registers/generator/described_table.h"
#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/router.h"

namespace trn {

namespace {

struct contract_choices {
    std::string kind, port, block, registers, at = "0x0";
    std::vector<std::string> set, kind_libraries;
};

constexpr std::uint64_t window = std::uint64_t{1} << 40;  // base of the port's addresses

/// Makes the accesses of the contract in a thread, so that a model may take time for them.
class contract_driver : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<contract_driver, 64> out{"out"};

    explicit contract_driver(const sc_core::sc_module_name& name) : sc_module(name) {
        SC_HAS_PROCESS(contract_driver);
        SC_THREAD(run);
    }
    /// Precondition: before the first sc_start().
    void check(const register_table& table, std::uint64_t base) {
        contract_.emplace(
            table, [this](auto& payload, auto& delay) { access(payload, delay); },
            [this](auto& payload) { return out->transport_dbg(payload); }, base);
    }

    std::string open_access() const {
        return fmt::format("a {} at {:#x}", is_write_ ? "write" : "read", address_ - window);
    }

    bool is_finished = false;
    std::vector<std::string> violations;
    std::uint64_t accesses = 0;

private:
    void run() {
        violations = contract_->violations();
        is_finished = true;
        sc_core::sc_pause();
    }
    void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        ++accesses;
        address_ = payload.get_address();
        is_write_ = payload.is_write();
        payload.set_extension(&pending_);
        do {
            pending_.attempt(payload);
            payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            out->b_transport(payload, delay);
            if (pending_.is_deferred()) wait(answered_);
        } while (pending_.is_deferred());
        payload.clear_extension(&pending_);
    }

    std::optional<block_contract> contract_;
    sc_core::sc_event answered_;
    pending_access pending_{answered_};
    std::uint64_t address_ = 0;
    bool is_write_ = false;
};

const kind& find_kind(const std::string& name) {
    if (const auto* found = trn::find_kind(kinds(), name)) return *found;
    throw user_error(fmt::format("no kind '{}'  {}", name,
                                 suggest(std::string_view(name), kind_names(kinds()))));
}

/// The port that decodes the registers: the chosen one, or the only target.
const port& find_port(const kind& type, const std::string& chosen) {
    std::vector<std::string> targets;
    for (const auto& each : type.ports)
        if (each.role == port_role::target) targets.push_back(each.name);
    if (targets.empty()) throw user_error(fmt::format("kind '{}' has no target", type.name));
    if (chosen.empty() && targets.size() > 1)
        throw user_error(fmt::format("kind '{}' has several targets: --port {}", type.name,
                                     fmt::join(targets, ", --port ")));
    for (const auto& each : type.ports)
        if (each.role == port_role::target && each.name == (chosen.empty() ? targets[0] : chosen))
            return each;
    throw user_error(fmt::format("--port: kind '{}' has no target '{}'  {}", type.name, chosen,
                                 suggest(std::string_view(chosen), targets)));
}

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A board with the module `dut` and little else: what it starts gets errors, or 4 KiB of memory.
std::string board_of(const kind& type, const port& target, const std::vector<std::string>& set) {
    std::string parameters;
    std::vector<std::string> names;
    for (const auto& each : type.parameters) names.push_back(each.name);
    auto config = type.defaults();
    for (const auto& each : set) {
        const auto end = each.find('=');
        const auto name = each.substr(0, end);
        if (end == each.npos) throw user_error(fmt::format("--set {}: NAME=VALUE", each));
        if (std::ranges::find(names, name) == names.end())
            throw user_error(fmt::format("--set: kind '{}' has no parameter '{}'  {}", type.name,
                                         name, suggest(std::string_view(name), names)));
        const auto text = each.substr(end + 1);
        parameters += fmt::format(", {}: {}", name, quoted(text));
        // For the number of ends; what is refused is reported with the board.
        type.find_parameter(name)->assign(config, {&text, 1}, [](auto, const auto&) {});
    }
    std::string binds;
    std::uint64_t base = window;
    for (const auto& each : type.ports) {
        const std::uint64_t count = each.count ? each.count(config) : 1;
        const auto size = each.size ? each.size(config) : 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto end = each.count ? fmt::format("dut.{}[{}]", each.name, i)
                                        : fmt::format("dut.{}", each.name);
            const bool is_target = &each == &target && i == 0;
            if (each.role == port_role::target && (is_target || !each.may_be_unbound))
                binds += fmt::format("  - bus.initiator -> {} @ {:#x} + {} B\n", end,
                                     is_target ? window : base += window,
                                     size == 0 ? window : std::min(size, window));
            else if (each.role == port_role::initiator)
                binds += fmt::format("  - {} -> bus.target\n", end);
            else if (each.role == port_role::irq_out && !each.may_be_unbound)
                binds += fmt::format("  - {} -> none\n", end);
            else if (each.role == port_role::plug && !each.may_be_unbound)
                binds += fmt::format("  - {} <-> none\n", end);
        }
    }
    return "board: contract\nmodules:\n  dut: {type: " + quoted(type.name) + parameters +
           "}\n  bus: {type: router}\n  ram: {type: memory, size: 4 KiB}\n"
           "bind:\n  - bus.initiator -> ram.in @ 0x0 + 4 KiB\n" +
           binds + "ports:\n  bus: bus.target\n";
}

/// The bank of the module with the chosen block of registers, or its only one.
const register_bank& find_bank(const std::string& module, const std::string& chosen) {
    std::vector<const register_bank*> banks;
    std::vector<std::string> names;
    for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
        const std::string_view name = owner.name();
        if (name != module && !name.starts_with(module + ".")) return;
        banks.push_back(&bank);
        names.emplace_back(bank.table().block);
    });
    if (banks.empty())
        throw user_error(
            "the module has no register_bank, whose table would be its contract: give a "
            "description, --registers FILE");
    if (chosen.empty() && banks.size() > 1)
        throw user_error(fmt::format("the module has several blocks of registers: --block {}",
                                     fmt::join(names, ", --block ")));
    for (std::size_t i = 0; i < banks.size(); ++i)
        if (chosen.empty() || names[i] == chosen) return *banks[i];
    throw user_error(fmt::format("--block: the module has no registers '{}'  {}", chosen,
                                 suggest(std::string_view(chosen), names)));
}

std::unique_ptr<registers::described_table> read_description(const std::string& file) {
    diagnostics problems;
    const auto document = config::document::load(file, problems);
    auto block = registers::read_block(document);
    problems.throw_if_any();
    return std::make_unique<registers::described_table>(std::move(block));
}

std::uint64_t offset_of(const std::string& text) {
    const auto parsed = config::parse_unsigned(text);
    if (const auto* const number = std::get_if<std::uint64_t>(&parsed)) {
        if (*number < window) return *number;
        throw user_error(fmt::format("--at: {} is no offset in a port of at most 1 TiB", text));
    }
    throw user_error(
        fmt::format("--at: {}", config::refusal_text(std::get<config::refusal>(parsed))));
}

void print_result(const register_table& table, const contract_driver& made) {
    std::size_t skipped = 0;
    for (const auto& row : table.rows) {
        if (row.contract_skip.empty()) continue;
        ++skipped;
        print_to(stdout, "not checked: {}.{}: {}\n", table.block, row.name,
                 printable(row.contract_skip));
    }
    constexpr std::size_t most = 50;
    for (std::size_t i = 0; i < std::min(made.violations.size(), most); ++i)
        print_to(stdout, "{}\n", made.violations[i]);
    if (made.violations.size() > most)
        print_to(stdout, "... and {} more\n", made.violations.size() - most);
    print_to(stdout, "{}: {} registers, {} accesses, {}\n", table.block,
             table.rows.size() - skipped, made.accesses,
             made.violations.empty() ? std::string("contract kept")
                                     : fmt::format("{} violation{}", made.violations.size(),
                                                   made.violations.size() == 1 ? "" : "s"));
}

int check_contract(const contract_choices& given) {
    if (!given.registers.empty() && !given.block.empty())
        throw user_error("--block is of the model's own tables, --registers in their place");
    const kind& type = find_kind(given.kind);
    const port& target = find_port(type, given.port);
    const auto described = given.registers.empty() ? nullptr : read_description(given.registers);
    const auto offset = offset_of(given.at);
    plan_options options;
    options.boards = boards_folder();
    options.open = true;
    system built(
        plan_text(board_of(type, target, given.set), "contract of " + type.name, kinds(), options));
    contract_driver driver("driver");
    driver.out.bind(built.find<router>("bus")->target);
    const auto* const table =
        described ? &described->table() : &find_bank("dut", given.block).table();
    driver.check(*table, window + offset);
    try {
        sc_core::sc_start(1, sc_core::SC_SEC);
    } catch (const sc_core::sc_report& why) {
        built.refuse(why);
    }
    if (!driver.is_finished)
        throw user_error(fmt::format("{} of '{}' has no response after 1 s of simulated time",
                                     driver.open_access(), type.name));
    print_result(*table, driver);
    return driver.violations.empty() ? 0 : 1;
}

}  // namespace

void add_contract(cli::command* command, int& status) {
    auto given = std::make_shared<contract_choices>();
    command->add_option("KIND", given->kind, "a kind of module")->required();
    add_kinds_option(*command, given->kind_libraries, kinds());
    command->add_option("--registers", given->registers,
                        "a description (*.regs.yaml) in place of the model's own table");
    command->add_option("--port", given->port, "the target with the registers, if it has several");
    command->add_option("--block", given->block, "the registers, if it has several blocks");
    command->add_option("--at", given->at, "their offset from the begin of the port");
    command->add_option("--set", given->set, "a parameter of the kind: name=value");
    command->examples({{"trnvp contract watchdog", "its registers, as they are described"},
                       {"trnvp contract scaler --kinds libscaler.so", "a kind of a library"},
                       {"trnvp contract timer --kinds libtimer.so --registers timer.regs.yaml",
                        "a model that decodes its registers itself"}});
    command->callback([given, &status] { status = check_contract(*given); });
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/library/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/app/disk_images.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::library {

namespace {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

/// Of the control methods: a connection that waits for its answers.
class inside_caller final : public rpc::caller {
public:
    inside_caller() { name = simulation::waiter; }
    void notify(std::string_view, const rpc::json&) override {}
};

}  // namespace

machine_options::machine_options(const std::string& board_name, std::vector<std::string> words) {
    cli::command command{"a machine in a process", "trnvp_create"};
    board.add_to(command);
    board.add_software_to(command);
    add_hart_option(command, hart);
    words.insert(words.end(), {"--", board_name});
    if (auto why = parse_words(command, std::move(words)); !why.empty()) throw user_error(why);
    if (!board.record.empty())
        throw user_error("--record: what the caller of a library does cannot be recorded");
    if (board.policy != board_options().policy)
        throw user_error("--time-policy: in a library, time advances in calls only");
    output_files files;
    board.add_outputs(files);
}

machine::machine(const machine_options& options)
    : chosen_(options.board), platform_([&] {
          misuse::set_rules(misuse::all_rules);
          options.hart.apply();
          options.board.protocol.apply();
          auto checked = options.board.checked();
          checked.time.policy = *time_policy::parse("lockstep");
          return platform(kinds(), checked);
      }()) {
    platform_.methods().consoles().listen([this](std::string_view module, std::string_view text) {
        if (console_) simulation_.calls()("a console", [&] { console_(module, text); });
    });
    if (!chosen_.fidelity_report.empty()) touched_.emplace(chosen_.fidelity_report);
}

machine::~machine() = default;

void machine::finish() {
    if (touched_) touched_->write(platform_.modules().board());
    if (const auto lost = platform_.finish_records(); !lost.empty())
        throw failure(TRNVP_FAILED, lost);
}

// --- Methods

rpc::json machine::call(std::string_view method, const rpc::json& parameters) {
    static const std::set<std::string_view> sessions{"hello", "subscribe", "quit"},
        advancing{"run", "wait", "step"};
    const auto* found = platform_.methods().methods().find(method);
    if (found == nullptr)
        throw rpc::error(rpc::code::method_not_found,
                         fmt::format("there is no method '{}'; 'methods' lists them", method));
    if (sessions.contains(method))
        throw rpc::error(rpc::code::refused,
                         fmt::format("'{}' is for sessions on a control socket", method));
    if (advancing.contains(method)) {
        simulation_.check_can_advance();
        platform_.loop().resume();
    }
    inside_caller caller;
    // Shared with a wait that ends later than this call.
    const auto answer = std::make_shared<std::optional<rpc::json>>();
    try {
        (*found)(parameters, caller, [answer](rpc::json result) { *answer = std::move(result); });
        if (!*answer) simulation_.advance_until([&] { return answer->has_value(); });
    } catch (...) {
        platform_.methods().forget(caller);
        throw;
    }
    platform_.methods().forget(caller);
    if (!*answer)  // a wait, which goes on after a pause
        return {{"reason", "paused"},
                {"text", platform_.loop().pause_text()},
                {"time_ps", in_picoseconds(sc_time_stamp())},
                {"time", to_text(sc_time_stamp())}};
    return std::move(**answer);
}

// --- Memory

address_space& machine::space(std::string_view name) {
    auto& spaces = platform_.methods().spaces();
    if (auto* found = spaces.find(name)) return *found;
    const auto known = spaces.names();
    throw failure(TRNVP_NOT_FOUND, fmt::format("there is no address space '{}'; {}", name,
                                               did_you_mean(name, std::span(known))));
}

std::byte* machine::pointer(std::string_view name, std::uint64_t address, std::uint64_t size,
                            bool writable) {
    space(name);
    const auto refused = [&] {
        return failure(TRNVP_REFUSED,
                       fmt::format("{} bytes of '{}' at {:#x} are not one piece of plain memory"
                                   "{}: use trnvp_peek() and trnvp_poke()",
                                   size, name, address,
                                   writable ? " whose writes the model need not see" : ""));
    };
    auto* const target = platform_.methods().spaces().find_bus(name);
    if (target == nullptr || size == 0) throw refused();
    tlm::tlm_generic_payload request;
    std::uint8_t unused[8] = {};
    set_access(request, writable ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, unused,
               1);
    tlm::tlm_dmi granted;
    if (!target->get_direct_mem_ptr(request, granted) || !granted.is_read_allowed() ||
        (writable && !granted.is_write_allowed()) || address < granted.get_start_address() ||
        address > granted.get_end_address() || size - 1 > granted.get_end_address() - address)
        throw refused();
    return reinterpret_cast<std::byte*>(granted.get_dmi_ptr()) +
           (address - granted.get_start_address());
}

// --- Functions

function& machine::find_function(std::string_view name) {
    for (const auto& known : functions_)
        if (known->name() == name) return *known;
    std::vector<std::string> names;
    for (const auto& present : platform_.functions()) {
        if (present.name == name)
            return *functions_.emplace_back(
                std::make_unique<function>(simulation_, present.name, *present.port));
        names.push_back(present.name);
    }
    throw failure(TRNVP_NOT_FOUND, fmt::format("there is no PCIe function '{}'  {}", name,
                                               suggest(name, std::span<const std::string>(names))));
}

bool machine::has(const function* handle) const {
    return std::ranges::any_of(functions_,
                               [&](const auto& known) { return known.get() == handle; });
}

// --- Copies

void machine::check_fork() const {
    const auto refuse = [](const std::string& why) { throw failure(TRNVP_REFUSED, why); };
    if (trace::on()) refuse("a trace is written, which has a single continuation: omit --trace");
    if (!chosen_.build.waves.file.empty())
        refuse("waveforms are written, which have a single continuation: omit --vcd");
    if (touched_) refuse("a report is written, which has a single continuation: omit it");
    if (backing_store::any_shared())
        refuse("memory that other processes can map cannot be copied: omit shared_hbm=true");
    if (const auto images = disk_images_of(platform_.modules().board()); !images.empty())
        refuse(fmt::format("a disk has an image file, {}, which both copies would write",
                           *images.begin()));
}

}  // namespace trn::library

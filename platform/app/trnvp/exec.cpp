// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/exec.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/processor/riscv/debug/commit_log.h"
#include "models/processor/riscv/decode/back_end.h"
#include "platform/app/commands/coverage_option.h"
#include "platform/app/commands/growing_file.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/commands/misuse_option.h"
#include "platform/app/commands/output_files.h"
#include "platform/app/exec/console_input.h"
#include "platform/app/exec/exec_machine.h"
#include "platform/app/hart_option.h"
#include "platform/app/protocol_option.h"
#include "platform/app/report_file.h"
#include "platform/app/trnvp/exec_harts.h"
#include "platform/framework/attach/console/standard_streams.h"
#include "platform/framework/command_line/version.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"
#include "platform/framework/debug/gdb/server.h"
#include "platform/framework/debug/harts.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/run_loop.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/loader/device_tree_blob.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/log.h"
#include "platform/framework/log_reports.h"
#include "platform/framework/output.h"
#include "platform/framework/tlm/base_protocol.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

struct exec_options {
    std::string program;
    std::string commit_log;
    std::filesystem::path coverage;
    std::string signature;
    unsigned signature_granularity = 4;
    std::uint64_t max_instructions = ~std::uint64_t{0};
    std::string isa = riscv::isa::usual().name();
    std::uint64_t quantum = 10'000;  // instructions
    std::string ram = "128 MiB", device_tree, input, gdb, max_time;
    bool statistics = false;
    misuse::choices misuse;
    hart_choice hart;
    protocol_choice protocol;
    exec_harts harts;
};

/// Writes the bytes between begin_signature and end_signature as hexadecimal lines of `granularity`
/// bytes, the lowest address at the right end of its line (RISC-V architecture tests). \returns
/// whether all bytes were written
bool write_signature(const exec_options& chosen, const elf_program& program, memory& ram) {
    const auto begin = program.symbol("begin_signature"), end = program.symbol("end_signature");
    if (!begin || !end)
        throw user_error(chosen.program + ": has no symbols begin_signature and end_signature");
    const std::uint64_t first = *begin - exec_machine::ram_base;
    const std::uint64_t last = *end - exec_machine::ram_base;
    if (first > last || last > ram.bytes().size())
        throw user_error(chosen.program + ": the signature is not in the RAM");
    growing_file out("--signature", chosen.signature);
    const unsigned line = chosen.signature_granularity;
    for (std::uint64_t address = first; address < last; address += line) {
        std::string text;
        for (unsigned i = line; i-- > 0;)
            text += fmt::format("{:02x}", address + i < last ? ram.bytes().data()[address + i] : 0);
        out.put(text + "\n");
    }
    return out.finish().empty();
}

void print_statistics(const exec_machine& m, std::clock_t took) {
    const double seconds = static_cast<double>(took) / CLOCKS_PER_SEC;
    std::uint64_t executed = 0;
    for (const auto& hart : m.harts()) executed += hart->core().ticks();
    const auto& translator = riscv::back_end::chosen();
    print_to(stderr,
             "executed {} instructions in {:.3f} s of processor time: {:.1f} MIPS, {} blocks "
             "translated\n",
             executed, seconds, static_cast<double>(executed) / seconds * 1e-6,
             translator ? translator->blocks() : 0);
    if (m.harts().size() == 1) return;
    for (const auto& hart : m.harts())
        print_to(stderr, "  hart {}: {} instructions\n", hart->settings().hart_id,
                 hart->core().ticks());
}

template <typename T>
T option(const char* name, const config::parsed<T>& read) {
    if (const auto* wrong = std::get_if<config::refusal>(&read))
        throw user_error(fmt::format("{}: {}", name, config::refusal_text(*wrong)));
    return std::get<T>(read);
}

std::uint64_t ram_option(const std::string& text) {
    constexpr std::uint64_t page = 4096;
    const auto size = option("--ram", config::parse_bytes(text)).value;
    if (size == 0 || size % page != 0 || size > exec_machine::max_ram_size)
        throw user_error(fmt::format("--ram {}: must be a multiple of 4 KiB and at most {}", text,
                                     to_string(bytes{exec_machine::max_ram_size})));
    return size;
}

std::vector<std::uint8_t> device_tree_option(const std::string& path) {
    if (path.empty()) return {};
    std::ifstream input(path, std::ios::binary);
    std::vector<std::uint8_t> read(exec_machine::max_device_tree + 1);
    if (!input.read(reinterpret_cast<char*>(read.data()),
                    static_cast<std::streamsize>(read.size())) &&
        !input.eof())
        throw user_error(fmt::format("--dtb: {}: {}", path, std::strerror(errno)));
    read.resize(static_cast<std::size_t>(input.gcount()));
    if (read.size() > exec_machine::max_device_tree)
        throw user_error(fmt::format("--dtb: {}: a device tree has at most {} bytes here", path,
                                     exec_machine::max_device_tree));
    if (!is_device_tree(read))
        throw user_error(fmt::format(
            "--dtb: {}: not a flattened device tree (make one: dtc -O dtb -o FILE SOURCE)", path));
    return read;
}

/// Runs the machine and serves its sockets.
class execution {
public:
    execution(const exec_options& chosen, const elf_program& program)
        : chosen_(chosen), machine_("machine", program, settings(chosen)) {}

    exec_machine& machine() { return machine_; }

    stop_reason run() {
        boost::asio::signal_set signals(loop_.io(), SIGINT, SIGTERM);
        signals.async_wait([this](auto error, int) {
            interrupted_ = !error;
            if (!error) loop_.quit("it was interrupted");
        });
        show_output();
        if (!chosen_.input.empty()) {
            input_.emplace(loop_, machine_.terminal(), chosen_.input);
            machine_.on_poll([this] { input_->polled(); });
        }
        control methods(loop_, {project_version(), chosen_.program, ""});
        loop_.elaborate();
        std::optional<gdb_server> debugger;
        if (!chosen_.gdb.empty()) open(debugger, methods);
        run_loop::goal goal{"trnvp exec", "the program's end"};
        if (!chosen_.max_time.empty())
            goal.until = sc_core::sc_time::from_value(
                option("--max-time", config::parse_time(chosen_.max_time)).value);
        auto reason = loop_.run(std::move(goal));
        if (debugger) debugger->exited(machine_.exit_code().value_or(1));
        return reason;
    }

    /// Waits until all output is read, unless the program was interrupted. Returns a sentence on
    /// lost output, or "".
    std::string finish_output() {
        return streams_.finish(interrupted_ ? std::optional(standard_streams::grace)
                                            : std::nullopt);
    }

private:
    /// Bytes of output that wait for a slow reader, as a filter's reader may be.
    static constexpr std::size_t max_unread = 256 << 20;

    exec_machine::config settings(const exec_options& chosen) {
        return {.harts = chosen.harts.settings({.isa = riscv::isa::parse(chosen.isa),
                                                .quantum_instructions = chosen.quantum,
                                                .instruction_limit = chosen.max_instructions}),
                .schedule_seed = chosen.harts.schedule_seed,
                .ram_size = ram_option(chosen.ram),
                .device_tree = device_tree_option(chosen.device_tree),
                .ended = [this] { loop_.quit("the program ended"); }};
    }

    void show_output() {
        const bool has_reader = isatty(STDOUT_FILENO) != 0 || !chosen_.input.empty();
        machine_.terminal().on_output([has_reader](std::string_view text) {
            std::fwrite(text.data(), 1, text.size(), stdout);
            if (has_reader) std::fflush(stdout);
        });
    }

    /// The debugger starts the program; the run must not count as stalled before that.
    void open(std::optional<gdb_server>& debugger, control& methods) {
        add_harts(methods);
        debugger.emplace(methods);
        print_to(stderr, "trnvp: {} starts when GDB continues it: target remote {}\n",
                 chosen_.program, debugger->listen(gdb_server::address_of(chosen_.gdb)));
        loop_.on_pause_change([this, awaited = loop_.attach("a debugger")](bool paused, auto&) {
            if (!paused) loop_.detach(awaited);
        });
        loop_.pause("--gdb");
    }

    const exec_options& chosen_;
    const log::logged_reports reports_;
    run_loop loop_{{}};
    standard_streams streams_{loop_.io(), max_unread};
    bool interrupted_ = false;
    exec_machine machine_;
    std::optional<console_input> input_;
};

/// The reason why a program stopped without an exit status.
std::string reason(const stop_reason& stop, const exec_machine& m) {
    if (stop.cause == stop_reason::kind::quit) return stop.text;
    if (stop.cause == stop_reason::kind::time_limit) return "--max-time was reached";
    if (sc_core::sc_time_stamp() >= end_of_time())
        return "simulated time ends at " + to_text(end_of_time());
    const bool all_wait =
        std::ranges::all_of(m.harts(), [](const auto& hart) { return hart->core().waiting(); });
    return all_wait ? "it waits for an interrupt, but none is pending"
                    : "--max-instructions was reached";
}

void print_end(const std::string& program, const stop_reason& stop, const exec_machine& m) {
    const auto place = [](riscv_hart& hart) {
        return fmt::format("pc {:#x}, {} instructions", hart.core().pc(), hart.core().ticks());
    };
    if (m.harts().size() == 1)
        return print_to(stderr, "trnvp: {}: did not end: {} ({})\n", program, reason(stop, m),
                        place(*m.harts().front()));
    print_to(stderr, "trnvp: {}: did not end: {}\n", program, reason(stop, m));
    for (const auto& hart : m.harts())
        print_to(stderr, "  hart {}: {}, {}\n", hart->settings().hart_id, hart->state(),
                 place(*hart));
}

/// \throws config_error when an allowance names no module of the machine
void check_allowances(const std::vector<misuse::allowance>& all) {
    std::vector<std::string_view> modules;
    for_each_module<sc_core::sc_module>(
        [&](const auto& object, auto&) { modules.push_back(object.name()); });
    for (const auto& allowance : all)
        if (std::ranges::none_of(modules,
                                 [&](auto name) { return misuse::is_at(allowance.modules, name); }))
            throw config_error(diagnostic{
                .code = mistake::unknown_module,
                .file = allowance.place,
                .message = fmt::format("the machine has no module '{}'", allowance.modules),
                .suggestion = suggest(allowance.modules, modules)});
}

/// A program that may be loaded anywhere, as OpenSBI of Debian 13, is linked at 0: the distance to
/// the start of the RAM.
std::uint64_t distance_to_ram(const elf_program& program) {
    const auto first =
        std::ranges::min_element(program.segments, {}, &elf_program::segment::address)->address;
    if (!program.position_independent || first >= exec_machine::ram_base) return 0;
    return (exec_machine::ram_base - first + program.alignment - 1) & ~(program.alignment - 1);
}

int exec(const exec_options& chosen) try {
    elf_program program = read_elf(chosen.program);
    const std::uint64_t distance = distance_to_ram(program);
    if (distance != 0) program.move(distance);
    if (!program.symbols_are_complete)
        log::error(chosen.program, "has more than {} symbols: the others have no names",
                   elf_program::max_symbols);
    output_files files;
    files.add("--coverage", chosen.coverage);
    files.add("--commit-log", chosen.commit_log);
    files.add("--signature", chosen.signature);
    check_report(chosen.coverage);
    std::optional<coverage> executed;
    if (!chosen.coverage.empty()) executed.emplace(std::vector<fs::path>{chosen.program}, distance);
    execution run(chosen, program);
    exec_machine& m = run.machine();
    growing_file log("--commit-log", chosen.commit_log);
    riscv::commit_log commits(log);
    if (log.is_open())
        for (const auto& hart : m.harts()) hart->core().log_commits(&commits);

    // Bare-metal programs may cause access faults on purpose: by default, misuse rules only count.
    misuse::set_policy_of_all(misuse::policy::count);
    check_allowances(chosen.misuse.allowances);
    chosen.misuse.apply();
    const std::clock_t begin = std::clock();
    const stop_reason stop = run.run();
    bool complete = log.finish().empty();
    if (const auto lost = run.finish_output(); !lost.empty()) {
        print_to(stderr, "trnvp: {}\n", lost);
        complete = false;
    }
    if (chosen.statistics) print_statistics(m, std::clock() - begin);
    if (executed) write_coverage(*executed, chosen.coverage);
    if (!chosen.signature.empty()) complete &= write_signature(chosen, program, m.ram());
    if (!chosen.misuse.policies.empty() || !chosen.misuse.allowances.empty()) print_misuse({});
    print_protocol_violations();
    if (m.exit_code()) {
        const int code = *m.exit_code();
        const bool failed = misuse::failed() || base_protocol::failed() || !complete;
        return code == 0 && failed ? 1 : code;
    }
    print_end(chosen.program, stop, m);
    return 1;
} catch (const std::invalid_argument& wrong) {
    throw user_error(wrong.what());
}

}  // namespace

void add_exec(cli::command* command, int& status) {
    auto chosen = std::make_shared<exec_options>();
    command->add_option("program", chosen->program, "RV64 ELF executable")->required();
    command->add_option("--commit-log", chosen->commit_log,
                        "write each retired instruction, in Spike's format, to this file");
    add_coverage_option(*command, chosen->coverage);
    add_hart_option(*command, chosen->hart);
    add_exec_harts(*command, chosen->harts);
    command->add_option("--signature", chosen->signature,
                        "write the memory between begin_signature and end_signature to this file");
    command
        ->add_option("--signature-granularity", chosen->signature_granularity,
                     "bytes per line of the signature")
        ->check(cli::one_of_numbers({1, 2, 4, 8, 16}));
    command
        ->add_option("--max-instructions", chosen->max_instructions,
                     "fail when a hart has executed this number of instructions")
        ->check(cli::in_range(std::uint64_t{1}, std::uint64_t{1} << 50));
    command->add_option("--isa", chosen->isa, "such as rv64imac_zba_zbb_zbs");
    command->add_option("--quantum", chosen->quantum, "instructions per turn of a hart")
        ->check(cli::in_range(std::uint64_t{1}, std::uint64_t{1} << 30));
    command->add_option("--max-time", chosen->max_time,
                        "fail at this simulated time, such as '10 ms'");
    command->add_option("--ram", chosen->ram, "size of the RAM at 0x80000000")
        ->capture_default_str();
    command->add_option("--dtb", chosen->device_tree,
                        "device tree passed in a1 (default: generated)");
    command->add_option("--input", chosen->input,
                        "input of the UART: a file, or - for standard input");
    command->add_option("--gdb", chosen->gdb,
                        "serve GDB on this loopback port (0 chooses one) or Unix socket, and wait "
                        "for it");
    add_misuse_options(*command, chosen->misuse);
    add_protocol_option(*command, chosen->protocol);
    command->add_flag("--statistics", chosen->statistics,
                      "print the number of instructions and the speed");
    command->group_options("Harts", {"--hart", "--perf-map", "--harts", "--hart-delay",
                                     "--hart-clock", "--schedule-seed", "--isa", "--quantum"});
    command->group_options("Machine", {"--ram", "--dtb", "--input", "--gdb"});
    command->group_options("Limits", {"--max-instructions", "--max-time"});
    command->group_options("Reports",
                           {"--commit-log", "--coverage", "--signature", "--signature-granularity",
                            "--statistics", "--misuse", "--misuse-allow", "--check-protocol"});
    command->examples(
        {{"trnvp exec program.elf --max-time '10 ms'", "the status is that of the program"},
         {"trnvp exec program.elf --commit-log log.txt --statistics",
          "each instruction as Spike prints it, and their number"}});
    command->callback([chosen, &status] {
        chosen->hart.apply();
        chosen->protocol.apply();
        status = exec(*chosen);
    });
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/terminal_text.h"
#include "sw-stubs/host/collectives/collective.h"
#include "sw-stubs/host/machine/location.h"
#include "sw-stubs/host/machine/machine.h"
#include "sw-stubs/trnctl/session.h"

// One function per trnctl command. The device is accessed through the driver stub, the platform
// through control methods.

namespace trn {

/// Output of results: text lines, or one JSON object per line for scripts.
struct output {
    bool json = false;

    void result(const nlohmann::json& object, const std::string& line) const;
};

/// Prints the output of a console to standard output, as it is. Does not throw on write errors (a
/// full disk): the stream keeps its error state until the program ends.
inline void print_console(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

/// Prints to standard output, without bytes that could change a terminal. Errors as of
/// print_console().
template <class... Args>
void print(fmt::format_string<Args...> text, Args&&... args) {
    print_console(terminal_text(fmt::format(text, std::forward<Args>(args)...)));
}

struct copy_options {
    location source, destination;
    std::uint64_t size = 0;
    std::optional<std::uint32_t> core;
    std::uint64_t seed = 1;
    bool verify = false;
    std::vector<std::uint8_t> data = {};  ///< sent from the host; empty: a pattern of `seed`
    std::string output = {};              ///< file for the bytes that arrive at the host; or ""
};

/// One of the platform's lists; "": modules, consoles and faults.
void list(session& platform, const std::string& kind, const output& out);
/// Faults by module, with their arguments. Modules with equal faults are one entry.
void list_faults(session& platform, const output& out);
/// A fault for `inject`; `arguments` as NAME=VALUE.
struct fault_choice {
    std::string module, fault;
    std::vector<std::string> arguments;
};
void inject(session& platform, const fault_choice& choice, const output& out);
void info(session& platform, const output& out);
/// The links and partners of every chip, or of one, as firmware published them.
void topology(session& platform, const std::string& only, const output& out);
void copy(session& platform, const copy_options& options, const output& out);
void fill(session& platform, const location& place, std::uint64_t size, std::uint8_t value,
          const output& out);

/// Target of peek, poke and deposit.
struct spot {
    std::string text;                        ///< the user's text
    std::optional<std::uint64_t> bar0 = {};  ///< offset of a register of BAR0
    location memory = {};                    ///< if the other two are empty: memory of the chip
    /// A register by its name, or an address of an address space, for control methods.
    std::optional<nlohmann::json> named = {};
};
/// Reads `size` bytes of memory, or of registers.
void peek(session& platform, const spot& target, std::uint64_t size, const output& out);
/// Data that poke and deposit write: a value of some width, or bytes.
struct content {
    std::optional<std::uint64_t> value = {};
    unsigned width = 4;
    std::vector<std::uint8_t> bytes = {};
};
/// Writes as a host does.
void poke(session& platform, const spot& target, const content& data, const output& out);
/// Writes a named spot without side effects.
void deposit(session& platform, const spot& target, const content& data, const output& out);

struct sync_options {
    std::string verb;  ///< read, set, inc, dec; get, set for events
    std::optional<std::uint32_t> core, top_sp;
    std::uint32_t index = 0;
    std::optional<std::int64_t> value;
};
void semaphore(session& platform, const sync_options& options, const output& out);
void event(session& platform, const sync_options& options, const output& out);

/// Resets the whole device, or the cores of the map.
void reset(session& platform, std::optional<std::uint32_t> cores, const output& out);
void power(session& platform, const output& out);
/// All registers of a module, or one by name; without a module: the list of modules with registers.
struct register_choice {
    std::string module, name;
    std::uint64_t index = 0, instance = 0;
};
void registers(session& platform, const register_choice& choice, const output& out);
/// What waveforms can show of the modules that match; "": of the board.
void signals(session& platform, const std::string& pattern, const output& out);
/// Parameters of the board (""), or of a module; `inside`: also of all modules inside.
void parameters(session& platform, const std::string& name, bool inside, const output& out);
/// Prints the counts of misuse by rule (doc/rules.md). `policy`: set before; `clear`: reset the
/// counts after.
void misuse_rules(session& platform, const std::string& policy, bool clear, const output& out);
/// Saves or restores a snapshot of a running platform; without a verb lists snapshots.
void snapshot(session& platform, const std::string& verb, const std::string& name,
              const output& out);
/// Table of copies of growing sizes in every direction.
void bench(session& platform, std::uint64_t largest, const output& out);
struct matrix_options {
    machine::load load;
    std::optional<traffic_pattern> pattern;  ///< without: every pair separately
    std::size_t sample = 0;                  ///< approximate number of pairs; 0: all
    bool verify = false;
    bool summary = false;  ///< only the table by distance
};
/// Bandwidth and latency between the chips of a machine, HBM to HBM.
void matrix(session& platform, const matrix_options& options, const output& out);
struct coll_options {
    collective_request request;
    std::string ranks;                     ///< "0-3,7"; "": all
    std::vector<std::uint8_t> image = {};  ///< for the CC-Cores
    int steps = 0;  ///< limit of printed step times per rank, and of ranks; 0: none
};
/// Runs a collective over the chips of a machine; prints time and bandwidth like nccom-test.
void coll(session& platform, const coll_options& options, const output& out);
/// Shows the boot stages, then makes verified copies host -> HBM -> HBM -> host.
void demo(session& platform, std::uint64_t size, const output& out);
/// Resets the device, and loads an image into the CC-Cores of a map, which then run it.
void load_cores(session& platform, std::uint32_t cores, const std::vector<std::uint8_t>& image,
                const output& out);
/// Prints the end of the log of a CC-Core's firmware.
void print_core_log(session& platform, std::uint32_t core, const output& out);
/// Calls `pause`, `run`, `step` or `status`, and prints the state of the platform.
void run_state(session& platform, const std::string& method, const output& out);
/// Prints UART output, power and counters for `seconds`, or until the platform ends.
void monitor(session& platform, std::optional<double> seconds, const output& out);

}  // namespace trn

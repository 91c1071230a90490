// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "sw-stubs/host/collective.h"
#include "sw-stubs/host/location.h"
#include "sw-stubs/host/machine.h"
#include "sw-stubs/trnctl/session.h"

// What trnctl does, one function per command. Everything about the device goes through the driver
// stub, everything about the platform through the control methods.

namespace trn {

/// Where results go: lines for people, or one JSON object per line for scripts.
struct output {
    bool json = false;

    void result(const nlohmann::json& object, const std::string& line) const;
};

/// Prints to standard output. Does not throw when the stream takes nothing (a full disk): the
/// stream keeps its error until the program ends.
template <class... Args>
void print(fmt::format_string<Args...> text, Args&&... args) {
    const auto line = fmt::format(text, std::forward<Args>(args)...);
    std::fwrite(line.data(), 1, line.size(), stdout);
}

struct copy_options {
    location from, to;
    std::uint64_t size = 0;
    std::optional<std::uint32_t> core;
    std::uint64_t seed = 1;
    bool verify = false;
};

void list(session& where, const output& out);
void info(session& where, const output& out);
/// What firmware found at the ends of the links of every chip, or of one.
void topology(session& where, const std::string& only, const output& out);
void copy(session& where, const copy_options& options, const output& out);
void fill(session& where, const location& at, std::uint64_t size, std::uint8_t value,
          const output& out);

/// What peek and poke work on.
struct spot {
    std::string text;                        ///< as the user wrote it
    std::optional<std::uint64_t> bar0 = {};  ///< offset of a register; else memory of the chip
    location memory = {};
};
/// Reads `size` bytes of memory, or the registers from there on.
void peek(session& where, const spot& at, std::uint64_t size, const output& out);
void poke(session& where, const spot& at, std::uint64_t value, unsigned width, const output& out);

struct sync_options {
    std::string what;  ///< read, set, inc, dec; get, set for events
    std::optional<std::uint32_t> core, top_sp;
    std::uint32_t index = 0;
    std::int64_t value = 0;
};
void semaphore(session& where, const sync_options& options, const output& out);
void event(session& where, const sync_options& options, const output& out);

/// The whole device, or the cores of the map.
void reset(session& where, std::optional<std::uint32_t> cores, const output& out);
void power(session& where, const output& out);
/// Registers of a module, or the one of that name; without a module: which modules have some.
struct register_choice {
    std::string module, name;
    std::uint64_t index = 0, instance = 0;
};
void registers(session& where, const register_choice& which, const output& out);
/// What software did wrong so far, by rule (doc/rules.md); first sets `policy`, at the end forgets.
void misuse_rules(session& where, const std::string& policy, bool clear, const output& out);
/// Keeps the state of a running platform, goes back to one, or (no verb) lists them.
void snapshot(session& where, const std::string& verb, const std::string& name, const output& out);
/// Copies of growing sizes in every direction, as a table.
void bench(session& where, std::uint64_t largest, const output& out);
struct matrix_options {
    machine::load load;
    std::optional<traffic_pattern> pattern;  ///< nothing: every pair by itself
    std::size_t sample = 0;                  ///< about so many pairs; 0: all
    bool verify = false;
    bool summary = false;  ///< only the table by distance
};
/// Bandwidth and latency between the chips of a machine, HBM to HBM.
void matrix(session& where, const matrix_options& options, const output& out);
struct coll_options {
    collective_request request;
    std::string ranks;                     ///< "0-3,7"; all without
    std::vector<std::uint8_t> image = {};  ///< for the collective cores
    int steps = 0;  ///< print the times of steps: at most so many of a rank, of so many ranks
};
/// A collective over the chips of a machine: time and bandwidth as nccom-test prints them.
void coll(session& where, const coll_options& options, const output& out);
/// Boot stages, then verified copies host -> HBM -> HBM -> host.
void demo(session& where, std::uint64_t size, const output& out);
/// UART, power and counters for `seconds`, or until the platform ends.
void monitor(session& where, std::optional<double> seconds, const output& out);

}  // namespace trn

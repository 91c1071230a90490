// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "platform/misuse/rules.h"

/// Software mistakes, counted per rule and module. A report never changes what the hardware does:
/// the model answers as the contract says, and this says why. One record per run, like simulated
/// time; fork() copies it.
namespace trn::misuse {

enum class policy {
    count,  ///< only counted
    log,    ///< and the first few of each module logged
    fail,   ///< and the run has failed (status 1 at its end)
};

/// Counts one violation by `where`; `detail` names engine, queue, address.
void report(const rule& broken, const sc_core::sc_object& where, std::string_view detail);

void set_policy(const rule& which, policy what);
void set_policy_of_all(policy what);
/// By number ("103") or name ("ring-id-mismatch").
std::optional<rule> find(std::string_view number_or_name);

std::uint64_t count(const rule& which);
std::uint64_t count(const rule& which, std::string_view module);
/// A rule whose policy is `fail` was broken.
bool failed();

struct entry {
    rule broken;
    std::string module;
    std::uint64_t count;
    std::string first_detail;
};
/// What was counted so far, by rule number, then by module name.
std::vector<entry> summary();

/// Forgets all counts and failures (a new scenario in the same process).
void clear();

}  // namespace trn::misuse

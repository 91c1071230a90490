// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "platform/framework/misuse/initiator.h"
#include "platform/framework/misuse/rule.h"

/// Reports of incorrect use by software, counted per rule and module. A report does not change the
/// model's behaviour, which follows the contract; it explains it. There is one record per run, like
/// simulated time; fork() copies it.
namespace trn::misuse {

namespace detail {
inline std::uint64_t reports = 0;
}

/// Installs the rules of this program's models, in the order of summary(). Call it before the first
/// report and before names of rules are looked up: both abort otherwise. `all` must live as long as
/// the program.
void set_rules(std::span<const rule> all);
std::span<const rule> rules();

enum class policy {
    count,  ///< counts violations
    log,    ///< also logs the first few per module
    fail,   ///< also fails the run (exit status 1)
};

/// Counts one violation detected by `module`; `detail` names engine, queue, address. Adds the
/// current initiator: for a hart, with function and line of its firmware.
void report(const rule& broken, std::string_view module, std::string_view detail);
inline void report(const rule& broken, const sc_core::sc_object& object, std::string_view detail) {
    report(broken, std::string_view(object.name()), detail);
}
/// Total number of reports. An error must be reported once: a model that forwards an access
/// compares this number before and after, and does not report if the target has done so.
inline std::uint64_t reports() {
    return detail::reports;
}

void set_policy(const rule& rule, policy chosen);
void set_policy_of_all(policy chosen);
policy policy_of(const rule& rule);
/// Whether a rule that is only checked on demand must be checked, since set_policy() named it. The
/// result only changes with revision().
bool wanted(const rule& rule);
std::uint64_t revision();
/// Finds a rule by id ("TRN-DMA-003") or name ("ring-id-mismatch").
std::optional<rule> find(std::string_view id_or_name);

std::uint64_t count(const rule& rule);
std::uint64_t count(const rule& rule, std::string_view module);
/// Whether a rule whose current policy is `fail` was violated.
bool failed();

struct entry {
    rule broken;
    std::string module;
    std::uint64_t count;
    std::uint64_t first_time_ps;
    std::string first_detail;
    std::string first_initiator;  ///< "" when no initiator was set
};
/// All counts so far, sorted by rule, then by module name.
std::vector<entry> summary();

/// Resets all counts and failures, for a new scenario in the same process.
void clear();

/// Sets a function that turns a hart's pc into "function (file:line)", or "" if unknown. It is
/// called once per logged line and once per entry of the summary.
using source_lookup = std::function<std::string(const initiator& hart, std::uint64_t pc)>;
void set_source_lookup(source_lookup lookup);

}  // namespace trn::misuse

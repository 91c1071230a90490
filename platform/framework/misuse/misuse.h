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

/// Software mistakes, counted per rule and module. A report never changes what the hardware does:
/// the model answers as the contract says, and this says why. One record per run, like simulated
/// time; fork() copies it.
namespace trn::misuse {

/// Installs the rules of this program's models, in the order of summary(). Every program calls it
/// before the first report and before names of rules are looked up: both abort otherwise. `all`
/// lives as long as the program.
void set_rules(std::span<const rule> all);
std::span<const rule> rules();

enum class policy {
    count,  ///< only counted
    log,    ///< and the first few of each module logged
    fail,   ///< and the run has failed (status 1 at its end)
};

/// Counts one violation seen by `module`; `detail` names engine, queue, address. The present
/// initiator is added: a hart with the function and line of its firmware.
void report(const rule& broken, std::string_view module, std::string_view detail);
inline void report(const rule& broken, const sc_core::sc_object& where, std::string_view detail) {
    report(broken, std::string_view(where.name()), detail);
}
/// All reports so far. One mistake is one report: what passes an access on compares this before and
/// after, and stays silent when a model nearer to the mistake has reported.
std::uint64_t reports();

void set_policy(const rule& which, policy what);
void set_policy_of_all(policy what);
policy policy_of(const rule& which);
/// Whether a rule that is checked on demand is to be checked: set_policy() named it. The answer
/// changes with revision() only.
bool wanted(const rule& which);
std::uint64_t revision();
/// By id ("TRN-DMA-003") or name ("ring-id-mismatch").
std::optional<rule> find(std::string_view id_or_name);

std::uint64_t count(const rule& which);
std::uint64_t count(const rule& which, std::string_view module);
/// A rule whose policy now is `fail` was broken.
bool failed();

struct entry {
    rule broken;
    std::string module;
    std::uint64_t count;
    std::uint64_t first_time_ps;
    std::string first_detail;
    std::string first_initiator;  ///< "" when no initiator was known
};
/// What was counted so far, by rule, then by module name.
std::vector<entry> summary();

/// Forgets all counts and failures (a new scenario in the same process).
void clear();

/// Turns a pc of a hart into "function (file:line)"; "" when it does not know. Asked once per line
/// logged and first entry of a tally.
using source_lookup = std::function<std::string(const initiator& hart, std::uint64_t pc)>;
void set_source_lookup(source_lookup lookup);

}  // namespace trn::misuse

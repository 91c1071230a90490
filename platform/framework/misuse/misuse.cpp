// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/misuse/misuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "platform/framework/log.h"
#include "platform/framework/misuse/allowance.h"

namespace trn::misuse {

namespace {

// Limits the log of a guest that repeats an error in a loop.
constexpr std::uint64_t lines_per_module = 3;

struct tally {
    std::uint64_t count = 0;
    std::uint64_t first_time_ps = 0;
    std::string first_detail, first_initiator;
};

struct record {
    std::span<const rule> rules;
    std::map<std::size_t, policy> policies;  // by index in `rules`
    std::set<std::size_t> named;             // rules that are checked, if only on demand
    std::map<std::pair<std::size_t, std::string>, tally, std::less<>> tallies;
    // Cache of the last report's entry, since a loop of a guest repeats the same error.
    const rule* last_rule = nullptr;
    std::string last_module;
    tally* last = nullptr;
    policy everywhere = policy::log;
    std::uint64_t revision = 0;
    source_lookup lookup;
};

record& the_record() {
    static record only;
    return only;
}

[[noreturn]] void abort_without(std::string_view missing) {
    fmt::print(stderr, "misuse::set_rules() was not called with {}\n", missing);
    std::abort();
}

std::size_t place_of(const rule& rule) {
    const auto& all = the_record().rules;
    const auto found = std::ranges::find(all, rule);
    if (found == all.end()) abort_without(rule.id);
    return static_cast<std::size_t>(found - all.begin());
}

tally& tally_of(const rule& broken, std::string_view module) {
    record& all = the_record();
    if (all.last_rule != &broken || all.last_module != module) {
        all.last_rule = &broken;
        all.last_module = module;
        all.last = &all.tallies[{place_of(broken), all.last_module}];
    }
    return *all.last;
}

/// "serve_modern (firmware/mgmt/mailbox.c:220)"; "" if unknown
std::string present_place() {
    const auto* initiated_by = initiator::current();
    const auto pc = initiated_by != nullptr ? initiated_by->instruction() : std::nullopt;
    const auto& lookup = the_record().lookup;
    return pc && lookup ? lookup(*initiated_by, *pc) : std::string();
}

/// "chip0.management.cpu in serve_modern (firmware/mgmt/mailbox.c:220), pc 0x40001234"
std::string present_initiator() {
    const auto* initiated_by = initiator::current();
    if (initiated_by == nullptr) return {};
    const auto pc = initiated_by->instruction();
    if (!pc) return initiated_by->describe();
    const auto source = present_place();
    return fmt::format("{}{}{}, pc {:#x}", initiated_by->describe(), source.empty() ? "" : " in ",
                       source, *pc);
}

}  // namespace

void set_rules(std::span<const rule> all) {
    the_record().rules = all;
}

std::span<const rule> rules() {
    if (the_record().rules.empty()) abort_without("any rule");
    return the_record().rules;
}

void report(const rule& broken, std::string_view module, std::string_view detail) {
    ++detail::reports;  // also allowed ones: models must not report their consequences instead
    if (use_allowance(broken, module, present_place)) return;
    tally& mine = tally_of(broken, module);
    ++mine.count;
    const bool logged = mine.count <= lines_per_module && policy_of(broken) != policy::count;
    if (!logged && mine.count > 1) return;
    const auto initiator_text = present_initiator();
    if (mine.count == 1) {
        mine.first_time_ps = log::now_ps();
        mine.first_detail = detail;
        mine.first_initiator = initiator_text;
    }
    if (!logged) return;
    log::bounded_guest_warn(
        module,
        fmt::format("misuse {} {}: {}{}{}{}{}", broken.id, broken.name, broken.text,
                    detail.empty() ? "" : fmt::format(" ({})", detail),
                    initiator_text.empty() ? "" : ", by ", initiator_text,
                    mine.count == lines_per_module ? "; more are only counted" : ""),
        broken.id);
}

void set_policy(const rule& rule, policy chosen) {
    the_record().policies[place_of(rule)] = chosen;
    if (the_record().named.insert(place_of(rule)).second) ++the_record().revision;
}

void set_policy_of_all(policy chosen) {
    the_record().policies.clear();
    the_record().everywhere = chosen;
}

policy policy_of(const rule& rule) {
    const auto& all = the_record();
    const auto found = all.policies.find(place_of(rule));
    return found == all.policies.end() ? all.everywhere : found->second;
}

bool wanted(const rule& rule) {
    return !rule.on_demand || the_record().named.contains(place_of(rule));
}

std::uint64_t revision() {
    return the_record().revision;
}

std::optional<rule> find(std::string_view id_or_name) {
    const auto all = rules();
    const auto found = std::ranges::find_if(
        all, [&](const rule& each) { return each.name == id_or_name || each.id == id_or_name; });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

std::uint64_t count(const rule& rule) {
    std::uint64_t total = 0;
    for (const auto& [key, tally] : the_record().tallies)
        if (key.first == place_of(rule)) total += tally.count;
    return total;
}

std::uint64_t count(const rule& rule, std::string_view module) {
    const auto found = the_record().tallies.find({place_of(rule), std::string(module)});
    return found == the_record().tallies.end() ? 0 : found->second.count;
}

bool failed() {
    return std::ranges::any_of(the_record().tallies, [](const auto& counted) {
        return policy_of(rules()[counted.first.first]) == policy::fail;
    });
}

std::vector<entry> summary() {
    std::vector<entry> all;
    for (const auto& [key, tally] : the_record().tallies)
        all.push_back({rules()[key.first], key.second, tally.count, tally.first_time_ps,
                       tally.first_detail, tally.first_initiator});
    return all;
}

void clear() {
    the_record().tallies.clear();
    clear_allowed_counts();
    the_record().last_rule = nullptr;
    detail::reports = 0;
}

void set_source_lookup(source_lookup lookup) {
    the_record().lookup = std::move(lookup);
}

}  // namespace trn::misuse

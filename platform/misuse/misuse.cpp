// SPDX-License-Identifier: Apache-2.0
#include "platform/misuse/misuse.h"

#include <algorithm>
#include <map>

#include "platform/log.h"

namespace trn::misuse {

namespace {

constexpr std::uint64_t lines_per_module = 3;  // a loop in a guest must not fill the disk

struct tally {
    std::uint64_t count = 0;
    std::string first_detail;
};

struct record {
    std::map<unsigned, policy> policies;
    std::map<std::pair<unsigned, std::string>, tally, std::less<>> tallies;
    policy everywhere = policy::log;
    bool failed = false;
};

record& the_record() {
    static record only;
    return only;
}

policy policy_of(const rule& which) {
    const auto found = the_record().policies.find(which.number);
    return found == the_record().policies.end() ? the_record().everywhere : found->second;
}

}  // namespace

void report(const rule& broken, const sc_core::sc_object& where, std::string_view detail) {
    record& all = the_record();
    tally& mine = all.tallies[{broken.number, where.name()}];
    if (mine.count++ == 0) mine.first_detail = detail;
    const policy what = policy_of(broken);
    if (what == policy::fail) all.failed = true;
    if (what == policy::count || mine.count > lines_per_module) return;
    log::guest_warn(where.name(), "misuse {} {}: {} ({}){}", broken.number, broken.name,
                    broken.text, detail,
                    mine.count == lines_per_module ? "; more are only counted" : "");
}

void set_policy(const rule& which, policy what) {
    the_record().policies[which.number] = what;
}

void set_policy_of_all(policy what) {
    the_record().policies.clear();
    the_record().everywhere = what;
}

std::optional<rule> find(std::string_view number_or_name) {
    const auto found = std::find_if(rules.begin(), rules.end(), [&](const rule& each) {
        return each.name == number_or_name || std::to_string(each.number) == number_or_name;
    });
    return found == rules.end() ? std::nullopt : std::optional(*found);
}

std::uint64_t count(const rule& which) {
    std::uint64_t total = 0;
    for (const auto& [key, tally] : the_record().tallies) {
        if (key.first == which.number) total += tally.count;
    }
    return total;
}

std::uint64_t count(const rule& which, std::string_view module) {
    const auto found = the_record().tallies.find({which.number, std::string(module)});
    return found == the_record().tallies.end() ? 0 : found->second.count;
}

bool failed() {
    return the_record().failed;
}

std::vector<entry> summary() {
    std::vector<entry> all;
    for (const auto& [key, tally] : the_record().tallies) {
        const auto broken = std::find_if(
            rules.begin(), rules.end(), [&](const rule& each) { return each.number == key.first; });
        all.push_back({*broken, key.second, tally.count, tally.first_detail});
    }
    return all;
}

void clear() {
    the_record().tallies.clear();
    the_record().failed = false;
}

}  // namespace trn::misuse

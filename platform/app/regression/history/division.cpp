// SPDX-License-Identifier: Apache-2.0
// Shards that take about equally long. Scenarios of one beginning (a boot) are a group; a shard
// pays the boot of each group that it has a scenario of.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/regression/history/durations.h"

namespace trn::regression {

namespace {

struct work {
    std::size_t number, group;
    double seconds;
};

struct group {
    double beginning_s = 0, own_s = 0;
    std::vector<work> members = {};  // longest first

    double all() const { return beginning_s + own_s; }
};

/// Assigns scenarios to shards, and keeps the duration of each shard.
class shards {
public:
    shards(std::size_t count, std::size_t scenarios)
        : seconds_(count), members_(count), shard_of_(scenarios) {}

    double seconds(std::size_t shard) const { return seconds_[shard]; }
    std::size_t count() const { return seconds_.size(); }
    bool has(std::size_t shard, std::size_t group) const { return members_[shard].contains(group); }
    /// Additional seconds of `shard` if it gets `member`.
    double cost(std::size_t shard, const work& member, double beginning_s) const {
        return member.seconds + (has(shard, member.group) ? 0 : beginning_s);
    }
    void add(std::size_t shard, const work& member, double beginning_s) {
        seconds_[shard] += cost(shard, member, beginning_s);
        ++members_[shard][member.group];
        shard_of_[member.number] = shard;
    }
    void remove(const work& member, double beginning_s) {
        const auto shard = shard_of_[member.number];
        seconds_[shard] -= member.seconds;
        if (--members_[shard][member.group] > 0) return;
        members_[shard].erase(member.group);
        seconds_[shard] -= beginning_s;
    }
    std::size_t shortest() const { return index(std::ranges::min_element(seconds_)); }
    std::size_t longest() const { return index(std::ranges::max_element(seconds_)); }
    /// All shards except the shortest, longest first.
    std::vector<std::size_t> by_time() const {
        std::vector<std::size_t> all(count());
        std::iota(all.begin(), all.end(), std::size_t{0});
        std::ranges::stable_sort(all, std::greater{}, [&](std::size_t s) { return seconds_[s]; });
        all.pop_back();
        return all;
    }
    std::size_t shard_of(const work& member) const { return shard_of_[member.number]; }
    const std::vector<std::size_t>& assignment() const { return shard_of_; }

private:
    std::size_t index(std::vector<double>::const_iterator found) const {
        return static_cast<std::size_t>(found - seconds_.begin());
    }

    std::vector<double> seconds_;
    // Per shard: number of scenarios by group.
    std::vector<std::map<std::size_t, std::size_t>> members_;
    std::vector<std::size_t> shard_of_;
};

std::vector<group> groups_of(const durations& known, std::span<const scenario::scenario> all) {
    const auto median = known.median().value_or(durations::entry{0, 1});
    std::map<std::string, std::size_t> places;
    std::vector<group> groups;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto time = known.find(all[i]).value_or(median);
        const auto [found, fresh] = places.emplace(all[i].beginning, groups.size());
        if (fresh) groups.emplace_back();
        auto& group = groups[found->second];
        group.beginning_s = std::max(group.beginning_s, time.beginning_s);
        // Scenarios that take no measurable time are distributed too.
        const auto seconds = std::max(time.own_s, 1e-3);
        group.own_s += seconds;
        group.members.push_back({i, found->second, seconds});
    }
    for (auto& group : groups)
        std::ranges::stable_sort(group.members, std::greater{}, &work::seconds);
    return groups;
}

/// Puts the whole group into the shortest shard, if that shard then takes at most `limit`.
/// Otherwise distributes its scenarios: to the shortest shard that has the group already and stays
/// within `limit`, else to the shortest shard.
void place(const group& placed, double limit, shards& all) {
    if (const auto shortest = all.shortest(); all.seconds(shortest) + placed.all() <= limit) {
        for (const auto& member : placed.members) all.add(shortest, member, placed.beginning_s);
        return;
    }
    for (const auto& member : placed.members) {
        std::optional<std::size_t> best;
        for (std::size_t shard = 0; placed.members.size() > 1 && shard < all.count(); ++shard) {
            const bool stays = all.has(shard, member.group);
            const auto end = all.seconds(shard) + all.cost(shard, member, placed.beginning_s);
            if (!stays || end > limit) continue;
            if (!best || all.seconds(shard) < all.seconds(*best)) best = shard;
        }
        all.add(best.value_or(all.shortest()), member, placed.beginning_s);
    }
}

/// The scenario of `source` whose move to `destination` gives the smallest maximum of the two
/// shards; null when no move improves it.
const work* best_move(const std::vector<group>& groups, const shards& all, std::size_t source,
                      std::size_t destination) {
    const work* best = nullptr;
    auto best_end = all.seconds(source) - 1e-9;
    for (const auto& group : groups) {
        if (!all.has(source, group.members.front().group)) continue;
        for (const auto& member : group.members) {
            if (all.shard_of(member) != source) continue;
            const auto end = std::max(
                all.seconds(destination) + all.cost(destination, member, group.beginning_s),
                all.seconds(source) - member.seconds);
            if (end < best_end) best = &member, best_end = end;
        }
    }
    return best;
}

/// Moves scenarios to the shortest shard, each from the longest shard for which a move helps.
void even_out(const std::vector<group>& groups, shards& all) {
    const auto scenarios = all.assignment().size();
    auto steps = std::min(4 * scenarios, 20'000'000 / std::max<std::size_t>(scenarios, 1));
    for (; steps > 0; --steps) {
        const auto shortest = all.shortest();
        const work* best = nullptr;
        for (const auto longer : all.by_time())
            if (best = best_move(groups, all, longer, shortest); best != nullptr) break;
        if (best == nullptr) return;
        const auto beginning = groups[best->group].beginning_s;
        all.remove(*best, beginning);
        all.add(shortest, *best, beginning);
    }
}

/// Compares the longest shards; if they are equal (as with one dominant scenario), the shortest
/// shards.
bool is_better(const shards& tried, const shards& other) {
    const auto end = tried.seconds(tried.longest()), other_end = other.seconds(other.longest());
    if (std::abs(end - other_end) > 1e-3 * other_end) return end < other_end;
    return tried.seconds(tried.shortest()) > other.seconds(other.shortest());
}

}  // namespace

std::vector<unsigned> divide_by_durations(const durations& known,
                                          std::span<const scenario::scenario> all, unsigned count) {
    const auto groups = groups_of(known, all);
    std::vector<const group*> longest_first;
    double total = 0;
    for (const auto& group : groups) {
        longest_first.push_back(&group);
        total += group.all();
    }
    std::ranges::stable_sort(longest_first, std::greater{}, [](const auto* g) { return g->all(); });
    // No shard can be shorter than total / count. A higher limit keeps more groups whole, a lower
    // one fills shards more evenly: try several, and keep the best.
    const std::vector<double> limits{1.0, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0};
    std::optional<shards> best;
    for (const auto factor : limits) {
        shards tried(count, all.size());
        for (const auto* group : longest_first) place(*group, factor * total / count, tried);
        even_out(groups, tried);
        if (!best || is_better(tried, *best)) best = std::move(tried);
    }
    std::vector<unsigned> parts;
    for (const auto shard : best->assignment()) parts.push_back(static_cast<unsigned>(shard) + 1);
    return parts;
}

}  // namespace trn::regression

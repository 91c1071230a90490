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
        : seconds_(count), members_(count), of_(scenarios) {}

    double seconds(std::size_t shard) const { return seconds_[shard]; }
    std::size_t count() const { return seconds_.size(); }
    bool has(std::size_t shard, std::size_t group) const { return members_[shard].contains(group); }
    /// Additional seconds of `shard` if it gets the scenario `one`.
    double cost(std::size_t shard, const work& one, double beginning_s) const {
        return one.seconds + (has(shard, one.group) ? 0 : beginning_s);
    }
    void add(std::size_t shard, const work& one, double beginning_s) {
        seconds_[shard] += cost(shard, one, beginning_s);
        ++members_[shard][one.group];
        of_[one.number] = shard;
    }
    void remove(const work& one, double beginning_s) {
        const auto shard = of_[one.number];
        seconds_[shard] -= one.seconds;
        if (--members_[shard][one.group] > 0) return;
        members_[shard].erase(one.group);
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
    std::size_t of(const work& one) const { return of_[one.number]; }
    const std::vector<std::size_t>& assignment() const { return of_; }

private:
    std::size_t index(std::vector<double>::const_iterator at) const {
        return static_cast<std::size_t>(at - seconds_.begin());
    }

    std::vector<double> seconds_;
    // Per shard: number of scenarios by group.
    std::vector<std::map<std::size_t, std::size_t>> members_;
    std::vector<std::size_t> of_;
};

std::vector<group> groups_of(const durations& known, std::span<const scenario::scenario> all) {
    const auto median = known.median().value_or(durations::entry{0, 1});
    std::map<std::string, std::size_t> places;
    std::vector<group> groups;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto time = known.find(all[i]).value_or(median);
        const auto [at, fresh] = places.emplace(all[i].beginning, groups.size());
        if (fresh) groups.emplace_back();
        auto& one = groups[at->second];
        one.beginning_s = std::max(one.beginning_s, time.beginning_s);
        // Scenarios that take no measurable time are distributed too.
        const auto seconds = std::max(time.own_s, 1e-3);
        one.own_s += seconds;
        one.members.push_back({i, at->second, seconds});
    }
    for (auto& one : groups) std::ranges::stable_sort(one.members, std::greater{}, &work::seconds);
    return groups;
}

/// Puts the whole group into the shortest shard, if that shard then takes at most `limit`.
/// Otherwise distributes its scenarios: to the shortest shard that has the group already and stays
/// within `limit`, else to the shortest shard.
void place(const group& one, double limit, shards& to) {
    if (const auto shortest = to.shortest(); to.seconds(shortest) + one.all() <= limit) {
        for (const auto& member : one.members) to.add(shortest, member, one.beginning_s);
        return;
    }
    for (const auto& member : one.members) {
        std::optional<std::size_t> best;
        for (std::size_t shard = 0; one.members.size() > 1 && shard < to.count(); ++shard) {
            const bool stays = to.has(shard, member.group);
            const auto end = to.seconds(shard) + to.cost(shard, member, one.beginning_s);
            if (!stays || end > limit) continue;
            if (!best || to.seconds(shard) < to.seconds(*best)) best = shard;
        }
        to.add(best.value_or(to.shortest()), member, one.beginning_s);
    }
}

/// The scenario of `from` whose move to `to` gives the smallest maximum of the two shards; null
/// when no move improves it.
const work* best_move(const std::vector<group>& groups, const shards& all, std::size_t from,
                      std::size_t to) {
    const work* best = nullptr;
    auto best_end = all.seconds(from) - 1e-9;
    for (const auto& group : groups) {
        if (!all.has(from, group.members.front().group)) continue;
        for (const auto& one : group.members) {
            if (all.of(one) != from) continue;
            const auto end = std::max(all.seconds(to) + all.cost(to, one, group.beginning_s),
                                      all.seconds(from) - one.seconds);
            if (end < best_end) best = &one, best_end = end;
        }
    }
    return best;
}

/// Moves scenarios to the shortest shard, each from the longest shard for which a move helps.
void even_out(const std::vector<group>& groups, shards& all) {
    const auto scenarios = all.assignment().size();
    auto steps = std::min(4 * scenarios, 20'000'000 / std::max<std::size_t>(scenarios, 1));
    for (; steps > 0; --steps) {
        const auto to = all.shortest();
        const work* best = nullptr;
        for (const auto from : all.by_time())
            if (best = best_move(groups, all, from, to); best != nullptr) break;
        if (best == nullptr) return;
        const auto beginning = groups[best->group].beginning_s;
        all.remove(*best, beginning);
        all.add(to, *best, beginning);
    }
}

/// Compares the longest shards; if they are equal (as with one dominant scenario), the shortest
/// shards.
bool is_better(const shards& one, const shards& other) {
    const auto end = one.seconds(one.longest()), other_end = other.seconds(other.longest());
    if (std::abs(end - other_end) > 1e-3 * other_end) return end < other_end;
    return one.seconds(one.shortest()) > other.seconds(other.shortest());
}

}  // namespace

std::vector<unsigned> divide_by_durations(const durations& known,
                                          std::span<const scenario::scenario> all, unsigned count) {
    const auto groups = groups_of(known, all);
    std::vector<const group*> longest_first;
    double total = 0;
    for (const auto& one : groups) {
        longest_first.push_back(&one);
        total += one.all();
    }
    std::ranges::stable_sort(longest_first, std::greater{}, [](const auto* g) { return g->all(); });
    // No shard can be shorter than total / count. A higher limit keeps more groups whole, a lower
    // one fills shards more evenly: try several, and keep the best.
    const std::vector<double> limits{1.0, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0};
    std::optional<shards> best;
    for (const auto factor : limits) {
        shards tried(count, all.size());
        for (const auto* one : longest_first) place(*one, factor * total / count, tried);
        even_out(groups, tried);
        if (!best || is_better(tried, *best)) best = std::move(tried);
    }
    std::vector<unsigned> parts;
    for (const auto shard : best->assignment()) parts.push_back(static_cast<unsigned>(shard) + 1);
    return parts;
}

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/selection/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "platform/framework/config/units.h"
#include "platform/framework/config/wildcards.h"

namespace trn::scenario {

namespace {

bool contains(const std::vector<std::string>& list, std::string_view pattern) {
    return std::ranges::any_of(list,
                               [&](const auto& word) { return matches_wildcards(pattern, word); });
}

bool tagged(const scenario& run, const std::vector<std::string>& tags) {
    bool wanted = false, asked = false;
    for (const auto& tag : tags) {
        if (tag.starts_with('!')) {
            if (contains(run.tags, tag.substr(1))) return false;
        } else {
            asked = true;
            wanted = wanted || contains(run.tags, tag);
        }
    }
    return wanted || !asked;
}

/// Reports unknown names, tags, values and words: they would otherwise select nothing, and pass. A
/// file whose names cannot be read may have them.
void check_words(const std::vector<scenario>& all, const selection& criteria) {
    if (!std::ranges::all_of(all, &scenario::is_labelled)) return;
    std::vector<std::string> names, tags;
    for (const auto& run : all) {
        names.push_back(run.name);
        tags.insert(tags.end(), run.tags.begin(), run.tags.end());
    }
    std::ranges::sort(tags);
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    const auto check_word = [](std::string_view kind, const std::string& word, const auto& known) {
        if (!contains(known, word))
            throw std::invalid_argument(
                fmt::format("no scenario has the {} '{}'  {}", kind, word, suggest(word, known)));
    };
    for (const auto& name : criteria.names) {
        if (contains(names, name)) continue;
        const auto hint = did_you_mean(name, names);
        throw std::invalid_argument(fmt::format(
            "no scenario has the name '{}'; {}", name,
            !hint.empty() ? hint : "--list shows the names, and -k finds words in them"));
    }
    for (const auto& tag : criteria.tags)
        if (!tag.starts_with('!')) check_word("tag", tag, tags);
    for (const auto& clause : criteria.clauses) check(clause, all);
    if (criteria.matching) criteria.matching->check_words(all);
}

/// The failed cases of a scenario: itself or its file as a whole, and seeds of its campaign.
std::vector<scenario_case> failed_cases_of(const scenario& run, const case_set& failed) {
    std::vector<scenario_case> found;
    const auto mine = case_of(run);
    if (failed.contains(mine) || failed.contains({mine.file, ""})) found.push_back(mine);
    for (auto i = failed.upper_bound(mine);
         i != failed.end() && i->file == mine.file && i->name == mine.name; ++i)
        found.push_back(*i);
    return found;
}

bool chosen(const scenario& run, const selection& criteria) {
    if (!run.is_labelled) return true;
    const auto is_named = [&](const auto& name) { return matches_wildcards(name, run.name); };
    return (criteria.names.empty() || std::ranges::any_of(criteria.names, is_named)) &&
           tagged(run, criteria.tags) && selected(criteria.clauses, run) &&
           (!criteria.matching || criteria.matching->selects(run)) &&
           (!criteria.failed || is_in(*criteria.failed, run));
}

}  // namespace

bool is_in(const case_set& failed, const scenario& run) {
    return !failed_cases_of(run, failed).empty();
}

namespace {

/// The number; 0 for other text and for numbers above the limit.
std::uint64_t number_of(const std::string& text, std::uint64_t limit) {
    const auto parsed = config::parse_unsigned(text);
    const auto* value = std::get_if<std::uint64_t>(&parsed);
    return value && *value <= limit ? *value : 0;
}

/// The scenario as a run of a campaign.
scenario with_seed(const scenario& original, std::uint64_t seed) {
    auto run = original;
    run.seed = seed;
    run.campaign = true;
    run.name += fmt::format(" seed {}", seed);
    run.beginning = beginning_of(run);
    return run;
}

/// All scenarios with all seeds.
std::vector<scenario> with_seeds(const std::vector<scenario>& all, const seed_range& seeds) {
    std::vector<scenario> list;
    for (const auto& run : all)
        for (auto seed = seeds.first; seed <= seeds.last; ++seed)
            list.push_back(with_seed(run, seed));
    return list;
}

/// The scenarios whose own runs failed, and the failed runs of their campaigns.
std::vector<scenario> with_failed_seeds(const std::vector<scenario>& all, const case_set& failed) {
    std::vector<scenario> list;
    for (const auto& run : all) {
        if (!run.is_labelled) list.push_back(run);
        for (const auto& each : failed_cases_of(run, failed))
            if (each.seed)
                list.push_back(with_seed(run, *each.seed));
            else if (run.is_labelled)
                list.push_back(run);
    }
    return list;
}

/// The scenarios of one shard.
std::vector<scenario> part_of(const std::vector<scenario>& all, const selection& criteria) {
    std::vector<scenario> list;
    if (criteria.divide && criteria.part.count > 1) {
        const auto shards = criteria.divide(all, criteria.part.count);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (shards[i] == criteria.part.index) list.push_back(all[i]);
        return list;
    }
    // Distributes neighbours over shards, since points of one matrix take equally long.
    for (std::size_t i = criteria.part.index - 1; i < all.size(); i += criteria.part.count)
        list.push_back(all[i]);
    return list;
}

}  // namespace

shard shard::parse(const std::string& text) {
    const auto slash = text.find('/');
    const auto number = [](const std::string& part) {
        return static_cast<unsigned>(number_of(part, 10'000));
    };
    if (slash != std::string::npos) {
        const shard s{number(text.substr(0, slash)), number(text.substr(slash + 1))};
        if (s.index >= 1 && s.index <= s.count) return s;
    }
    throw std::invalid_argument(fmt::format("'{}' is not a shard such as 2/5", text));
}

seed_range seed_range::parse(const std::string& text) {
    constexpr auto largest = ~std::uint64_t{0} - 1;
    const auto dots = text.find("..");
    const auto first = number_of(text.substr(0, dots), largest);
    const auto last = dots == text.npos ? first : number_of(text.substr(dots + 2), largest);
    if (first == 0 || last < first)
        throw std::invalid_argument(
            fmt::format("'{}' is not a range of seeds such as 1..1000", text));
    if (last - first >= max_runs)
        throw std::invalid_argument(
            fmt::format("'{}' are {} seeds, more than {}", text, last - first + 1, max_runs));
    return {first, last};
}

std::vector<scenario> select(std::vector<scenario> all, const selection& criteria) {
    check_words(all, criteria);
    const bool any = !all.empty();
    std::erase_if(all, [&](const auto& run) { return !chosen(run, criteria); });
    if (any && all.empty() && !criteria.failed)
        throw std::invalid_argument(
            "no scenario has all that -k, --where, --name and --tag ask for");
    if (criteria.seeds && all.size() * criteria.seeds->count() > max_runs)
        throw std::invalid_argument(
            fmt::format("{} scenarios, each with {} seeds (--seeds), are more than {} runs",
                        all.size(), criteria.seeds->count(), max_runs));
    if (criteria.seeds)
        all = with_seeds(all, *criteria.seeds);
    else if (criteria.failed)
        all = with_failed_seeds(all, *criteria.failed);
    if (all.size() * criteria.repeat > max_runs)
        throw std::invalid_argument(
            fmt::format("{} scenarios, each run {} times (--repeat), are "
                        "more than {} runs",
                        all.size(), criteria.repeat, max_runs));
    std::vector<scenario> list;
    for (const auto& run : part_of(all, criteria))
        for (unsigned n = 1; n <= criteria.repeat; ++n) {
            list.push_back(run);
            if (criteria.repeat == 1) continue;
            list.back().run = n;
            list.back().name += fmt::format(" #{}", n);
        }
    if (criteria.shuffle) {
        // Not std::shuffle, whose result depends on the library.
        std::mt19937_64 random(*criteria.shuffle);
        for (std::size_t left = list.size(); left > 1; --left)
            std::swap(list[left - 1], list[random() % left]);
    }
    return list;
}

}  // namespace trn::scenario

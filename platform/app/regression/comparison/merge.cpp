// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/comparison/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "platform/app/regression/comparison/merged_coverage.h"
#include "platform/app/regression/history/run_source.h"
#include "platform/framework/config/file.h"

namespace trn::regression {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t names_shown = 5;

struct input {
    fs::path where;
    run_record run;

    std::string name() const {
        return run.parts == 1
                   ? where.string()
                   : fmt::format("{} (shard {}/{})", where.string(), run.part, run.parts);
    }
};

/// "a, b, c and 12 more"
std::string some_of(const std::vector<std::string>& names) {
    const std::vector shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                               names.size(), names_shown)));
    auto text = fmt::format("{}", fmt::join(shown, ", "));
    if (names.size() > names_shown) text += fmt::format(" and {} more", names.size() - names_shown);
    return text;
}

/// The most frequent value among the inputs; of equally frequent ones, the first.
template <typename Value>
auto usual(const std::vector<input>& all, Value&& value) {
    using type = std::decay_t<decltype(value(all.front()))>;
    std::map<type, std::size_t> count;
    const input* best = nullptr;
    for (const auto& one : all) ++count[value(one)];
    for (const auto& one : all)
        if (best == nullptr || count[value(one)] > count[value(*best)]) best = &one;
    return value(*best);
}

class merger {
public:
    explicit merger(const std::vector<std::vector<fs::path>>& shards);
    merged take();

private:
    void read(const std::vector<fs::path>& attempts);
    void drop_other_builds();
    void drop_other_options();
    void drop_other_lists();
    void drop_other_boards();
    void add_shards();
    void add_results();
    void name_missing();
    template <typename Keep>
    void keep_only(Keep&& why_not);

    std::vector<input> all_;
    merged out_;
};

/// The newest of the records of one shard, with the results that only older ones have.
run_record combined(std::vector<run_record> attempts) {
    auto run = std::move(attempts.back());
    attempts.pop_back();
    std::set<std::string> known;
    for (const auto& one : run.results) known.insert(run_identity(one.description));
    for (auto& older : attempts | std::views::reverse)
        for (auto& one : older.results)
            if (known.insert(run_identity(one.description)).second)
                run.results.push_back(std::move(one));
    return run;
}

merger::merger(const std::vector<std::vector<fs::path>>& shards) {
    for (const auto& one : shards) read(one);
    if (all_.empty())
        throw file_error(out_.problems.empty() ? "there is no record to merge"
                                               : out_.problems.front());
    drop_other_builds();
    drop_other_options();
    drop_other_lists();
    drop_other_boards();
    std::ranges::stable_sort(all_, {}, [](const input& one) { return one.run.started; });
    add_shards();
    add_results();
    name_missing();
}

void merger::read(const std::vector<fs::path>& attempts) {
    std::vector<run_record> runs;
    std::vector<std::string> unreadable;
    for (const auto& where : attempts) try {
            runs.push_back(read_run(where));
        } catch (const file_error& why) {
            unreadable.emplace_back(why.what());
        }
    auto& problems = out_.problems;
    if (runs.empty())
        return void(problems.insert(problems.end(), unreadable.begin(), unreadable.end()));
    for (const auto& one : runs)
        problems.insert(problems.end(), one.problems.begin(), one.problems.end());
    all_.push_back({attempts.back(), combined(std::move(runs))});
    const auto& run = all_.back().run;
    if (!run.complete)
        problems.push_back(fmt::format("{}: the run did not end; it has {} results",
                                       all_.back().name(), run.results.size()));
}

/// Removes the inputs for which `why_not` returns a reason, and reports each.
template <typename Keep>
void merger::keep_only(Keep&& why_not) {
    std::erase_if(all_, [&](const input& one) {
        const std::string why = why_not(one);
        if (!why.empty()) out_.problems.push_back(fmt::format("{}: left out: {}", one.name(), why));
        return !why.empty();
    });
}

void merger::drop_other_builds() {
    const auto build = usual(all_, [](const input& one) { return one.run.build; });
    keep_only([&](const input& one) {
        return one.run.build == build
                   ? ""
                   : fmt::format("its build is {}, not {}", one.run.build, build);
    });
    out_.run.build = build;
}

void merger::drop_other_options() {
    const auto options = usual(all_, [](const input& one) { return one.run.options; });
    const auto text = [](const std::string& words) { return words.empty() ? " none" : words; };
    keep_only([&](const input& one) {
        return one.run.options == options
                   ? ""
                   : fmt::format("its options are{}, not{}", text(one.run.options), text(options));
    });
    out_.run.options = options;
}

/// Removes shards of another list of scenarios. Runs that are not shards may have any list.
void merger::drop_other_lists() {
    std::vector<input> shards;
    for (const auto& one : all_)
        if (one.run.parts > 1)
            shards.push_back({one.where, {.parts = one.run.parts, .whole = one.run.whole}});
    if (shards.empty()) return;
    const auto list =
        usual(shards, [](const input& one) { return std::pair(one.run.parts, one.run.whole); });
    keep_only([&](const input& one) -> std::string {
        if (one.run.parts == 1 || std::pair(one.run.parts, one.run.whole) == list) return "";
        if (one.run.parts != list.first)
            return fmt::format("it is one of {} shards, not of {}", one.run.parts, list.first);
        return "it is a shard of another list of scenarios";
    });
}

/// Removes the results on boards that differ from those of most records.
void merger::drop_other_boards() {
    std::map<std::string, std::string> digests;  // by board
    std::set<std::string> boards;
    for (const auto& one : all_)
        for (const auto& [board, about] : one.run.boards) boards.insert(board);
    for (const auto& board : boards) {
        std::vector<input> with;
        for (const auto& one : all_)
            if (one.run.boards.contains(board))
                with.push_back(
                    {one.where, {.boards = {{board, {one.run.boards.at(board).digest, ""}}}}});
        digests[board] =
            usual(with, [&](const input& one) { return one.run.boards.at(board).digest; });
    }
    for (auto& one : all_)
        std::erase_if(one.run.boards, [&](const auto& each) {
            const auto& [board, about] = each;
            if (about.digest == digests.at(board)) return false;
            const auto count = std::erase_if(
                one.run.results, [&](const auto& result) { return result.board_key == board; });
            out_.problems.push_back(fmt::format(
                "{}: left out: {} results on board '{}', which has the digest {}, not {}",
                one.name(), count, board, about.digest, digests.at(board)));
            return true;
        });
}

void merger::add_shards() {
    auto& run = out_.run;
    std::set<std::string> machines, listed;
    std::set<unsigned> parts;
    merged_coverage coverage;
    unsigned shards = 1;
    run.started = all_.front().run.started;
    for (const auto& one : all_) {
        run.started = std::min(run.started, one.run.started);
        run.wall_s = std::max(run.wall_s, one.run.wall_s);
        run.boards.insert(one.run.boards.begin(), one.run.boards.end());
        machines.insert(one.run.machine);
        for (const auto& identity : one.run.whole)
            if (listed.insert(identity).second) run.whole.push_back(identity);
        try {
            coverage.add(one.run.coverage, one.name());
        } catch (const file_error& why) {
            out_.problems.emplace_back(why.what());
        }
        run.notes.insert(run.notes.end(), one.run.notes.begin(), one.run.notes.end());
        if (one.run.parts == 1) continue;
        shards = one.run.parts;
        if (!parts.insert(one.run.part).second)
            out_.problems.push_back(fmt::format("{}: this shard is there twice", one.name()));
    }
    std::vector<unsigned> absent;
    for (unsigned part = 1; shards > 1 && part <= shards; ++part)
        if (!parts.contains(part)) absent.push_back(part);
    if (!absent.empty())
        out_.problems.push_back(
            fmt::format("of {} shards these are missing: {}", shards, fmt::join(absent, ", ")));
    run.machine = fmt::format("{}", fmt::join(machines, ", "));
    run.coverage = coverage.text();
}

void merger::add_results() {
    auto& run = out_.run;
    std::unordered_map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < run.whole.size(); ++i) place.emplace(run.whole[i], i);
    std::unordered_map<std::string, std::size_t> known;  // in run.results
    std::vector<std::string> replaced;
    for (auto& one : all_)
        for (auto& r : one.run.results) {
            const auto identity = run_identity(r.description);
            const auto listed = place.find(identity);
            r.number = listed == place.end() ? run.whole.size() : listed->second;
            const auto [at, fresh] = known.emplace(identity, run.results.size());
            if (fresh) {
                run.results.push_back(std::move(r));
                continue;
            }
            replaced.push_back(readable(identity));
            run.results[at->second] = std::move(r);
        }
    std::ranges::stable_sort(run.results, {}, &result::number);
    if (!replaced.empty())
        out_.replaced.push_back(
            fmt::format("several results, of which the newest is used: {}", some_of(replaced)));
}

void merger::name_missing() {
    std::vector<std::string> names;
    for (const auto& one : out_.run.missing()) names.push_back(readable(one));
    if (!names.empty()) out_.problems.push_back(fmt::format("not run: {}", some_of(names)));
}

merged merger::take() {
    for (const auto* sentences : {&out_.problems, &out_.replaced})
        out_.run.notes.insert(out_.run.notes.end(), sentences->begin(), sentences->end());
    return std::move(out_);
}

}  // namespace

merged merge(const std::vector<std::vector<fs::path>>& shards) {
    return merger(shards).take();
}

merged merge(const std::vector<fs::path>& from) {
    std::vector<std::vector<fs::path>> shards;
    for (const auto& one : from) shards.push_back({one});
    return merge(shards);
}

}  // namespace trn::regression

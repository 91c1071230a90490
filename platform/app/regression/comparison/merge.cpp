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
    fs::path path;
    run_record run;

    std::string name() const {
        return run.parts == 1 ? path.string()
                              : fmt::format("{} (shard {}/{})", path.string(), run.part, run.parts);
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
    for (const auto& record : all) ++count[value(record)];
    for (const auto& record : all)
        if (best == nullptr || count[value(record)] > count[value(*best)]) best = &record;
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
    for (const auto& result : run.results) known.insert(run_identity(result.description));
    for (auto& older : attempts | std::views::reverse)
        for (auto& result : older.results)
            if (known.insert(run_identity(result.description)).second)
                run.results.push_back(std::move(result));
    return run;
}

merger::merger(const std::vector<std::vector<fs::path>>& shards) {
    for (const auto& attempts : shards) read(attempts);
    if (all_.empty())
        throw file_error(out_.problems.empty() ? "there is no record to merge"
                                               : out_.problems.front());
    drop_other_builds();
    drop_other_options();
    drop_other_lists();
    drop_other_boards();
    std::ranges::stable_sort(all_, {}, [](const input& record) { return record.run.started; });
    add_shards();
    add_results();
    name_missing();
}

void merger::read(const std::vector<fs::path>& attempts) {
    std::vector<run_record> runs;
    std::vector<std::string> unreadable;
    for (const auto& path : attempts) try {
            runs.push_back(read_run(path));
        } catch (const file_error& why) {
            unreadable.emplace_back(why.what());
        }
    auto& problems = out_.problems;
    if (runs.empty())
        return void(problems.insert(problems.end(), unreadable.begin(), unreadable.end()));
    for (const auto& attempt : runs)
        problems.insert(problems.end(), attempt.problems.begin(), attempt.problems.end());
    all_.push_back({attempts.back(), combined(std::move(runs))});
    const auto& run = all_.back().run;
    if (!run.complete)
        problems.push_back(fmt::format("{}: the run did not end; it has {} results",
                                       all_.back().name(), run.results.size()));
}

/// Removes the inputs for which `why_not` returns a reason, and reports each.
template <typename Keep>
void merger::keep_only(Keep&& why_not) {
    std::erase_if(all_, [&](const input& record) {
        const std::string why = why_not(record);
        if (!why.empty())
            out_.problems.push_back(fmt::format("{}: left out: {}", record.name(), why));
        return !why.empty();
    });
}

void merger::drop_other_builds() {
    const auto build = usual(all_, [](const input& record) { return record.run.build; });
    keep_only([&](const input& record) {
        return record.run.build == build
                   ? ""
                   : fmt::format("its build is {}, not {}", record.run.build, build);
    });
    out_.run.build = build;
}

void merger::drop_other_options() {
    const auto options = usual(all_, [](const input& record) { return record.run.options; });
    const auto text = [](const std::string& words) { return words.empty() ? " none" : words; };
    keep_only([&](const input& record) {
        return record.run.options == options ? ""
                                             : fmt::format("its options are{}, not{}",
                                                           text(record.run.options), text(options));
    });
    out_.run.options = options;
}

/// Removes shards of another list of scenarios. Runs that are not shards may have any list.
void merger::drop_other_lists() {
    std::vector<input> shards;
    for (const auto& record : all_)
        if (record.run.parts > 1)
            shards.push_back({record.path, {.parts = record.run.parts, .whole = record.run.whole}});
    if (shards.empty()) return;
    const auto list = usual(
        shards, [](const input& record) { return std::pair(record.run.parts, record.run.whole); });
    keep_only([&](const input& record) -> std::string {
        if (record.run.parts == 1 || std::pair(record.run.parts, record.run.whole) == list)
            return "";
        if (record.run.parts != list.first)
            return fmt::format("it is one of {} shards, not of {}", record.run.parts, list.first);
        return "it is a shard of another list of scenarios";
    });
}

/// Removes the results on boards that differ from those of most records.
void merger::drop_other_boards() {
    std::map<std::string, std::string> digests;  // by board
    std::set<std::string> boards;
    for (const auto& record : all_)
        for (const auto& [board, about] : record.run.boards) boards.insert(board);
    for (const auto& board : boards) {
        std::vector<input> users;
        for (const auto& record : all_)
            if (record.run.boards.contains(board))
                users.push_back(
                    {record.path, {.boards = {{board, {record.run.boards.at(board).digest, ""}}}}});
        digests[board] =
            usual(users, [&](const input& record) { return record.run.boards.at(board).digest; });
    }
    for (auto& record : all_)
        std::erase_if(record.run.boards, [&](const auto& each) {
            const auto& [board, about] = each;
            if (about.digest == digests.at(board)) return false;
            const auto count = std::erase_if(
                record.run.results, [&](const auto& result) { return result.board_key == board; });
            out_.problems.push_back(fmt::format(
                "{}: left out: {} results on board '{}', which has the digest {}, not {}",
                record.name(), count, board, about.digest, digests.at(board)));
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
    for (const auto& record : all_) {
        run.started = std::min(run.started, record.run.started);
        run.wall_s = std::max(run.wall_s, record.run.wall_s);
        run.boards.insert(record.run.boards.begin(), record.run.boards.end());
        machines.insert(record.run.machine);
        for (const auto& identity : record.run.whole)
            if (listed.insert(identity).second) run.whole.push_back(identity);
        try {
            coverage.add(record.run.coverage, record.name());
        } catch (const file_error& why) {
            out_.problems.emplace_back(why.what());
        }
        run.notes.insert(run.notes.end(), record.run.notes.begin(), record.run.notes.end());
        if (record.run.parts == 1) continue;
        shards = record.run.parts;
        if (!parts.insert(record.run.part).second)
            out_.problems.push_back(fmt::format("{}: this shard is there twice", record.name()));
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
    for (auto& record : all_)
        for (auto& r : record.run.results) {
            const auto identity = run_identity(r.description);
            const auto listed = place.find(identity);
            r.number = listed == place.end() ? run.whole.size() : listed->second;
            const auto [found, fresh] = known.emplace(identity, run.results.size());
            if (fresh) {
                run.results.push_back(std::move(r));
                continue;
            }
            replaced.push_back(readable(identity));
            run.results[found->second] = std::move(r);
        }
    std::ranges::stable_sort(run.results, {}, &result::number);
    if (!replaced.empty())
        out_.replaced.push_back(
            fmt::format("several results, of which the newest is used: {}", some_of(replaced)));
}

void merger::name_missing() {
    std::vector<std::string> names;
    for (const auto& identity : out_.run.missing()) names.push_back(readable(identity));
    if (!names.empty()) out_.problems.push_back(fmt::format("not run: {}", some_of(names)));
    if (out_.run.results.empty() && out_.run.whole.empty())
        out_.problems.emplace_back("no scenario ran: the records have no result");
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

merged merge(const std::vector<fs::path>& folders) {
    std::vector<std::vector<fs::path>> shards;
    for (const auto& folder : folders) shards.push_back({folder});
    return merge(shards);
}

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_test/run.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "models/kinds.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/regression/records/record_file.h"
#include "platform/app/scenario/run/execution.h"
#include "platform/app/trnvp_test/first_signal.h"
#include "platform/app/trnvp_test/output.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/json.h"
#include "platform/framework/loader/coverage.h"
#include "platform/framework/loader/lcov.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

/// Null when the run ended before it wrote a report.
nlohmann::json read_fidelity(const fs::path& file) {
    constexpr std::uint64_t limit = std::uint64_t{64} << 20;
    try {
        const auto bytes = read_file(file, limit);
        auto report =
            config::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return report.is_object() ? report : nlohmann::json(nullptr);
    } catch (const file_error&) {
        return nullptr;
    }
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Collects the results of a run on this machine, and writes them to its record.
class local_run {
public:
    local_run(const test_options& chosen, const test_scenarios& all)
        : chosen_(chosen), all_(all), output_(chosen.json || chosen.quiet, all.mine) {
        record_ = begin_record(chosen, all);
        if (!chosen.report.empty()) writer_.emplace(chosen.report, record_);
    }

    regression::run_record run();

private:
    scenario::execution_options options_of(std::size_t number) const;
    void ended(std::size_t number, const scenario::outcome& outcome);

    const test_options& chosen_;
    const test_scenarios& all_;
    test_output output_;
    regression::run_record record_;
    std::optional<regression::record_writer> writer_;
};

scenario::execution_options local_run::options_of(std::size_t number) const {
    const auto runs = all_.mine.size();
    return {.trace = file_of_run(chosen_.trace, number, runs),
            .digest = chosen_.digest,
            .timing = timing_of(chosen_),
            .misuse = chosen_.misuse,
            .fidelity_report = file_of_run(chosen_.fidelity_report, number, runs),
            .waves = {file_of_run(chosen_.waves.file, number, runs), chosen_.waves.signals,
                      chosen_.waves.begin, chosen_.waves.end}};
}

void local_run::ended(std::size_t number, const scenario::outcome& outcome) {
    const auto& run = all_.mine[number];
    const auto board = record_.boards.find(regression::board_key(run));
    auto result = regression::described(run, number,
                                        board == record_.boards.end() ? "" : board->second.digest);
    result.outcome = outcome;
    if (writer_ && !chosen_.fidelity_report.empty())
        result.fidelity = read_fidelity(options_of(number).fidelity_report);
    if (writer_) writer_->add(result);
    record_.results.push_back(std::move(result));
}

regression::run_record local_run::run() {
    const auto begin = std::chrono::steady_clock::now();
    const unsigned jobs =
        chosen_.jobs ? chosen_.jobs : std::max(1u, std::thread::hardware_concurrency());
    scenario::run_all(
        all_.mine,
        {.jobs = jobs,
         .fork = chosen_.share && chosen_.fidelity_report.empty() && chosen_.waves.file.empty(),
         .on_progress = [&](const auto& now) { output_.show(now); },
         .on_end = [&](std::size_t number, const auto& outcome) { ended(number, outcome); },
         .stop = [] { return first_signal::received() != 0; },
         .on_shared_end =
             [&](auto members) {
                 scenario::divide_trace(members, [&](auto number) { return options_of(number); });
             }},
        [&](auto& scenarios) {
            scenario::execute(
                all_.mine, kinds(), [&](std::size_t number) { return options_of(number); },
                scenarios);
        },
        [&](std::size_t number, const auto& outcome) { output_.add(all_.mine[number], outcome); });
    output_.clear();
    std::ranges::stable_sort(record_.results, {}, &regression::result::number);
    record_.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!chosen_.coverage.empty() && coverage::active() != nullptr)
        record_.coverage = to_lcov(*coverage::active()).text;
    record_.complete = record_.results.size() == all_.mine.size();
    // A file of an incomplete record keeps the ending .part.
    if (writer_ && record_.complete) writer_->finish(record_);
    return std::move(record_);
}

}  // namespace

regression::run_record begin_record(const test_options& chosen, const test_scenarios& all) {
    const bool with_boards =
        !chosen.report.empty() || !chosen.html.empty() || !chosen.history.empty();
    regression::run_record run{.build = regression::this_build(),
                               .options = chosen.options,
                               .started = std::chrono::duration_cast<std::chrono::seconds>(
                                              std::chrono::system_clock::now().time_since_epoch())
                                              .count(),
                               .machine = host_name(),
                               .part = chosen.selected.part.index,
                               .parts = chosen.selected.part.count,
                               .whole = all.whole};
    if (with_boards) run.boards = boards_of(chosen, all.mine);
    return run;
}

regression::run_record run_here(const test_options& chosen, const test_scenarios& all) {
    return local_run(chosen, all).run();
}

}  // namespace trn

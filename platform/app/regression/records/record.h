// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/language/scenario.h"
#include "platform/app/scenario/results/failed_cases.h"
#include "platform/app/scenario/results/outcome.h"

namespace trn::regression {

/// The result of one run of a scenario, with everything that reports show of it.
struct result {
    scenario::description description;
    scenario::outcome outcome;
    std::size_t number = 0;      ///< position in the run's list
    std::string board_key = {};  ///< key in run_record::boards
    std::string beginning = {};  ///< runs with the same text can share a boot
    /// Digest of the scenario's files, seed and board: only results with equal values are
    /// comparable.
    std::string fingerprint = {};
    nlohmann::json fidelity = nullptr;  ///< fidelity report; null: not requested

    bool passed() const { return outcome.passed(); }
};

/// A run of several scenarios on one machine, or the merged runs of several machines. All reports
/// are generated from this.
struct run_record {
    struct board {
        std::string digest;   ///< of the board, its images and the timing
        std::string picture;  ///< SVG
    };

    std::string build = {};        ///< version and commit of trnvp
    std::string options = {};      ///< see description::options
    std::int64_t started = 0;      ///< seconds since 1970, UTC
    std::string machine = {};      ///< host names
    unsigned part = 1, parts = 1;  ///< number of the shard, and of all shards
    double wall_s = 0;             ///< duration of the run; after a merge, of the longest
    std::map<std::string, board> boards = {};
    /// run_identity() of all runs of all shards.
    std::vector<std::string> whole = {};
    std::vector<result> results = {};     ///< in the order of the list
    std::string coverage = {};            ///< LCOV tracefile
    std::vector<std::string> notes = {};  ///< sentences: a shard was repeated, a shard is missing
    bool complete = true;                 ///< false: the record ends before the run did
    std::vector<std::string> problems = {};  ///< damaged lines of the record

    std::size_t failed() const;
    bool passed() const { return failed() == 0 && missing().empty(); }
    /// Members of `whole` without a result.
    std::vector<std::string> missing() const;
};

/// The cases that ran, each with the end of its run. The file of each missing run has failed as a
/// whole.
std::vector<scenario::ended_case> ended_cases(const run_record& run);

/// Identifies a run: file, name, repetition and seed.
std::string run_identity(const scenario::description& run);
/// File and name of an identity.
scenario::description described_by(std::string_view identity);
/// An identity as text for readers: "x.yaml: name".
std::string readable(std::string_view identity);

/// Version and commit of this program.
std::string this_build();

/// Identifies the board with its parameters: "trn3-sled lanes=8".
std::string board_key(const scenario::scenario& run);

/// A result with the values that are known before the run. \p board_digest: digest of its board.
result described(const scenario::scenario& run, std::size_t number,
                 const std::string& board_digest);

/// "12 passed, 1 failed, 2 not run"
std::string summary(const run_record& run);

/// All runs of one scenario, in order; a table row. A campaign of seeds is one row.
struct row {
    std::vector<const result*> runs;
    const result& first() const { return *runs.front(); }
    /// The first failed run, else the first run.
    const result& shown() const;
    std::size_t failed() const;
    bool campaign() const { return first().description.campaign; }
    /// Name of the scenario for readers, without the seed of a campaign.
    std::string title() const;
};
std::vector<row> rows_of(const run_record& run);

/// "990 of 1000 seeds passed; failed: 3, 17-20"
std::string campaign_text(const row& campaign);

/// A line for each scenario that failed: place, name, and the first line of its message; "" when
/// there is none.
std::string failures_text(const run_record& run);

}  // namespace trn::regression

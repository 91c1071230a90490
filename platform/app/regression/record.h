// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/outcome.h"
#include "platform/app/scenario/report.h"
#include "platform/app/scenario/scenario.h"

namespace trn::regression {

/// One run of a scenario and all that reports say about it.
struct result {
    scenario::description what;
    scenario::outcome how;
    std::size_t number = 0;      ///< its place in the run's list
    std::string board_key = {};  ///< of run_record::boards
    std::string beginning = {};  ///< runs with the same value can share a boot
    /// Of the scenario's files, seed and board: results with different values cannot be compared.
    std::string fingerprint = {};
    nlohmann::json fidelity = nullptr;  ///< the registers that it touched; null: not asked for

    bool passed() const { return how.passed(); }
};

/// A run of several scenarios on one machine, or the merged runs of several machines. All reports
/// are written from this.
struct run_record {
    struct board {
        std::string digest;   ///< of the board, its images and the timing
        std::string picture;  ///< SVG
    };

    std::string build = {};     ///< version and commit of trnvp
    std::int64_t started = 0;   ///< seconds since 1970, UTC
    std::string machine = {};   ///< host names
    unsigned part = 1, of = 1;  ///< the shard
    double wall_s = 0;          ///< of the run; merged: of the longest
    std::map<std::string, board> boards = {};
    /// The runs that the whole of all shards consists of, by run_identity().
    std::vector<std::string> whole = {};
    std::vector<result> results = {};  ///< in the order of the list
    std::string coverage = {};         ///< a tracefile of LCOV
    std::vector<std::string> notes =
        {};                ///< sentences: a shard that ran again, a shard that is missing
    bool complete = true;  ///< false: the file ends before the run did

    std::size_t failed() const;
    bool passed() const { return failed() == 0 && missing().empty(); }
    /// Of `whole` without a result.
    std::vector<std::string> missing() const;
};

/// File and name with the number of the run and the seed.
std::string run_identity(const scenario::description& what);
/// "x.yaml: name", for a reader, of an identity.
std::string readable(std::string_view identity);

/// Version and commit of this program.
std::string this_build();

/// "trn3-sled lanes=8": what a board is built from.
std::string board_key(const scenario::scenario& what);

/// What is known before the run. \p board_digest of its board.
result described(const scenario::scenario& what, std::size_t number,
                 const std::string& board_digest);

/// "12 passed, 1 failed, 2 not run"
std::string summary(const run_record& run);

/// All runs of one scenario, in order; a campaign of seeds is one row.
struct row {
    std::vector<const result*> runs;
    const result& first() const { return *runs.front(); }
    /// The first that failed, else the first.
    const result& shown() const;
    std::size_t failed() const;
    bool campaign() const { return first().what.campaign; }
};
std::vector<row> rows_of(const run_record& run);

/// "990 of 1000 seeds passed; failed: 3, 17-20"
std::string campaign_text(const row& campaign);

}  // namespace trn::regression

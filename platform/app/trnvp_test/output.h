// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "platform/app/regression/records/record.h"
#include "platform/app/scenario/results/report.h"
#include "platform/app/scenario/run/runner.h"

namespace trn {

/// A progress line on a terminal; prints nothing elsewhere.
class progress_line {
public:
    void show(const scenario::run_progress& now) {
        const auto time = clock::now();
        if (!terminal_ || (now.ended == ended_ && time - shown_ < std::chrono::milliseconds(500)))
            return;
        shown_ = time;
        ended_ = now.ended;
        const std::chrono::duration<double> elapsed = time - start_;
        write(scenario::progress_text(now, elapsed.count()));
    }
    void clear() {
        if (terminal_) write("");
    }

private:
    static void write(const std::string& text);

    using clock = std::chrono::steady_clock;

    const bool terminal_ = isatty(STDERR_FILENO) != 0;
    const clock::time_point start_ = clock::now();
    clock::time_point shown_ = start_;
    std::size_t ended_ = 0;
};

/// Prints each result as its scenario ends; a campaign of seeds is one line when it is complete.
class test_output {
public:
    /// `quiet`: prints nothing.
    test_output(bool quiet, std::span<const scenario::scenario> all);

    /// `again`: the run was added before, with another result.
    void add(const scenario::description& run, const scenario::outcome& outcome,
             bool again = false);
    void show(const scenario::run_progress& now) { progress_.show(now); }
    /// Removes the progress line.
    void clear() { progress_.clear(); }
    /// Prints a sentence between the results.
    void say(const std::string& sentence);

private:
    struct campaign {
        std::size_t left = 0, failed = 0;
        double seconds = 0;
        std::vector<regression::result> results;
    };
    void add_seed(const scenario::description& run, const scenario::outcome& outcome, bool again);

    const bool quiet_;
    progress_line progress_;
    std::map<std::string, campaign> campaigns_;  // by identity()
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trn::test {

/// One row of `./dev bench`; tests/bench/bench.py describes its columns.
struct bench_row {
    std::string name;
    double value;
    std::string unit;
    std::string goal = {};
    std::optional<bool> met = {};
    std::string peer = {};
    std::optional<double> peer_value = {};
};

inline double median(std::vector<double> runs) {
    const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
    std::nth_element(runs.begin(), middle, runs.end());
    return *middle;
}

/// One measurement of `repetitions` runs of `body()`: nanoseconds per run.
template <class Body>
double nanoseconds_once(std::size_t repetitions, Body body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / static_cast<double>(repetitions);
}

/// Median of five measurements, nanoseconds per run.
template <class Body>
double nanoseconds_each(std::size_t repetitions, Body body) {
    std::vector<double> runs;
    for (int run = 0; run < 5; ++run) runs.push_back(nanoseconds_once(repetitions, body));
    return median(std::move(runs));
}

/// Writes the rows to the file given by `--json FILE`, or else prints them.
int report(const std::vector<bench_row>& rows, int argc, char** argv);

}  // namespace trn::test

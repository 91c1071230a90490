// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// The values that a figure may have. Without bounds, the band is around the first value, and moves
/// to the value with which the figure leaves it.
struct figure_band {
    double noise_percent = 5;
    std::optional<double> min = {}, max = {};
};

/// A figure of one scenario over several runs.
struct figure_trend {
    struct point {
        std::int64_t started = 0;  ///< of the run, seconds since 1970
        std::string build;
        std::optional<double> value;  ///< mean of the run's values; nothing: not measured
        bool left = false;            ///< this run is the first outside the band
        double low = 0, high = 0;     ///< the band before this run; without bounds ±infinity
    };
    std::string scenario;  ///< an identity()
    std::string name, unit;
    std::vector<point> points = {};

    /// Index of the last run that left the band; nothing if none did.
    std::optional<std::size_t> departure() const;
    /// A line per run, what the last departure was, and how to search its commit.
    std::string text() const;
    nlohmann::json json() const;

private:
    std::string bisection() const;
};

/// The trends of all figures and scenarios that match the patterns with wildcards. `runs`: oldest
/// first. \throws std::invalid_argument when there is none
std::vector<figure_trend> figure_trends(std::span<const run_record> runs,
                                        const std::string& figures, const std::string& scenarios,
                                        const figure_band& band);

}  // namespace trn::regression

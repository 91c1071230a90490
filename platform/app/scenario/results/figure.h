// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace trn::scenario {

/// A measured value with its bounds.
struct figure {
    std::string name;
    double value = 0;
    std::string unit;  ///< "GB/s", "us"
    std::optional<double> min = {}, max = {};

    bool within_bounds() const { return !(min && value < *min) && !(max && value > *max); }
    /// "57.6 GB/s (54.7 GB/s to 58.2 GB/s)"; rates and times in units that fit their size
    std::string text() const;
};

}  // namespace trn::scenario

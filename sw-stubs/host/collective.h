// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sw-stubs/host/crew.h"
#include "sw-stubs/include/trn_coll.h"

namespace trn {

/// A collective that frees itself.
struct collective_deleter {
    void operator()(trn_coll* made) const { trn_coll_destroy(made); }
};
using collective_handle = std::unique_ptr<trn_coll, collective_deleter>;

/// What a person asks for.
struct collective_request {
    trn_coll_op op = TRN_COLL_ALL_GATHER;
    trn_coll_algorithm algorithm = TRN_COLL_AUTO;
    trn_coll_type type = TRN_COLL_BF16;
    trn_coll_operator with = TRN_COLL_SUM;
    std::uint64_t bytes = 0;  ///< rounded down to equal blocks of whole elements
    std::uint32_t root = 0;
    std::uint32_t channels = 0, lanes = 0;  ///< 0: as many as the size is worth
    std::uint32_t iterations = 1;
    std::uint64_t limit_ns = 1'000'000'000;  ///< that a rank waits for another
    bool check = false;
};

struct collective_result {
    std::uint64_t bytes = 0, elements = 0;
    double ns = 0;            ///< simulated, of one iteration: from the last start to the last end
    std::uint64_t wrong = 0;  ///< elements that are not as they should be
    std::string first_wrong = {};  ///< where
    trn_coll_algorithm algorithm = TRN_COLL_AUTO;
    double algorithm_gb_per_s() const { return ns > 0 ? static_cast<double>(bytes) / ns : 0; }
};

/// Chips of a machine that make collectives together: a rank each.
class collective_group {
public:
    /// Resets the chips, asks their firmware where they are and loads their collective cores with
    /// `image`. \throws device_error, std::invalid_argument for a number that is no chip
    collective_group(crew& hosts, const std::vector<std::size_t>& chips,
                     std::span<const std::uint8_t> image);

    std::size_t ranks() const { return chips_.size(); }
    /// \throws device_error when a rank fails: of the one that knows most
    collective_result run(const collective_request& what);

private:
    void fill(device& on, std::uint32_t rank, const trn_coll_config& config) const;
    void check(const trn_coll_config& config, collective_result& found);

    crew& hosts_;
    const std::vector<std::size_t> chips_;  // by rank: number in the crew
    std::vector<trn_place> places_;
    std::vector<std::uint32_t> ring_;
    std::vector<std::uint32_t> rank_of_;  // by number in the crew
};

}  // namespace trn

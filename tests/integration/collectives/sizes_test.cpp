// SPDX-License-Identifier: Apache-2.0
// Collectives of every size from 0 bytes on, multiples of ranks, lanes and lines or not. A seeded
// part runs here; TRNVP_ALL_SIZES=1 (`./dev nightly`) runs all.
#include "tests/support/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "tests/integration/collectives/group.h"
#include "tests/support/fuzz.h"

namespace trn::test {
namespace {

struct place_of_sizes {
    const char* name;
    const char* board;
    std::vector<std::size_t> chips;  ///< empty: all
    std::size_t every = 1;           ///< of the whole sweep: one size of so many
    std::size_t some = 100;          ///< collectives without TRNVP_ALL_SIZES
};

void PrintTo(const place_of_sizes& place, std::ostream* out) {
    *out << place.name;
}

/// Sizes in bytes: 0 to 300 by `element`, and around powers of two to 1 MiB.
std::vector<std::uint64_t> all_sizes(std::uint64_t element) {
    constexpr std::uint64_t dense_to = 300, last = 1 * MiB;
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t size = 0; size <= dense_to; size += element) sizes.push_back(size);
    for (std::uint64_t size = 2 * KiB / 4; size <= last; size *= 2)
        for (const auto each : {size - element, size, size + element}) sizes.push_back(each);
    return sizes;
}

class CollectiveSizes : public CollectiveTest, public testing::WithParamInterface<place_of_sizes> {
protected:
    struct form {
        trn_coll_op op;
        trn_coll_algorithm algorithm;
        trn_element type;
        bool in_place;
    };
    /// Every operation by each of its algorithms, in place and not, with elements of 1, 2 and 4
    /// bytes.
    static std::vector<form> forms(std::size_t ranks_of_domain) {
        std::vector<form> all;
        for (int op = 0; op < TRN_COLL_OPS; ++op)
            for (int algorithm = TRN_COLL_RING; algorithm < TRN_COLL_ALGORITHMS; ++algorithm)
                for (const auto type : {TRN_UINT8, TRN_BF16, TRN_FP32})
                    for (const bool in_place : {false, true}) {
                        const form each{static_cast<trn_coll_op>(op),
                                        static_cast<trn_coll_algorithm>(algorithm), type, in_place};
                        if (each.op != TRN_COLL_BARRIER &&
                            trn_coll_has_algorithm(each.op, each.algorithm) &&
                            (algorithm != TRN_COLL_KANGARING || ranks_of_domain % 2 == 0))
                            all.push_back(each);
                    }
        return all;
    }
    /// Blocks of different sizes, many empty, whose mean is that of equal blocks of `bytes`.
    void add_counts(collective_request& request, std::size_t ranks) {
        const auto mean =
            request.bytes / trn_coll_type_bytes(request.type) / std::max<std::size_t>(1, ranks);
        auto left = trn_coll_count_entries(request.op, static_cast<std::uint32_t>(ranks));
        for (; left > 0; --left)
            request.counts.push_back(random_.below(2) == 0 ? 0 : random_.below(4 * mean + 2));
    }
    /// Ranks that send and receive, that do one of both, and that do nothing.
    void add_pairs(collective_request& request, std::size_t ranks) {
        std::vector<std::uint32_t> to(ranks);
        std::iota(to.begin(), to.end(), 0u);
        for (std::size_t n = 0; n < ranks; ++n) std::swap(to[n], to[n + random_.below(ranks - n)]);
        request.pairs.emplace();
        for (std::uint32_t from = 0; from < ranks; ++from)
            if (random_.below(3) != 0) request.pairs->emplace_back(from, to[from]);
    }
    void run(collective_group& group, const form& of, std::uint64_t bytes) {
        collective_request request{.op = of.op,
                                   .algorithm = of.algorithm,
                                   .type = of.type,
                                   .with = random_.below(4) == 0 ? TRN_COLL_MAX : TRN_COLL_SUM,
                                   .bytes = bytes,
                                   .in_place = of.in_place,
                                   .root = static_cast<std::uint32_t>(random_.below(group.ranks())),
                                   .iterations = random_.below(8) == 0 ? 2u : 1u,
                                   .check = true};
        add_counts(request, group.ranks());
        if (of.op == TRN_COLL_PERMUTE && random_.below(4) != 0) add_pairs(request, group.ranks());
        SCOPED_TRACE(fmt::format("{} by {} of {} bytes, counts {}, type {}, root {}{}",
                                 trn_coll_op_text(of.op), trn_coll_algorithm_text(of.algorithm),
                                 bytes, fmt::join(request.counts, " "), static_cast<int>(of.type),
                                 request.root, of.in_place ? ", in place" : ""));
        expect_right(group.run(request));
        if (random_.below(16) == 0) group.run({.op = TRN_COLL_BARRIER});
    }
    fuzz_random random_{44};
};

TEST_P(CollectiveSizes, OfAnyNumberOfElementsAreCorrect) {
    const auto& place = GetParam();
    boot(place.board);
    collective_group group(*this, place.chips.empty() ? all() : place.chips, image());
    const auto each = forms(group.ranks() / group.domains());
    if (std::getenv("TRNVP_ALL_SIZES") == nullptr) {
        for (std::size_t n = 0; n < place.some; ++n) {
            const auto& of = each[random_.below(each.size())];
            const auto sizes = all_sizes(trn_coll_type_bytes(of.type));
            run(group, of, sizes[random_.below(sizes.size())]);
        }
        return;
    }
    for (std::size_t n = 0; n < each.size(); ++n) {
        const auto sizes = all_sizes(trn_coll_type_bytes(each[n].type));
        for (std::size_t at = n % place.every; at < sizes.size(); at += place.every)
            run(group, each[n], sizes[at]);
    }
}

constexpr auto two_servers = "tests/integration/collectives/two_servers.yaml";
constexpr auto three_sleds = "tests/integration/collectives/three_sleds.yaml";

INSTANTIATE_TEST_SUITE_P(
    Over, CollectiveSizes,
    testing::Values(place_of_sizes{"ASled", "trn3-sled", {}},
                    place_of_sizes{"ThreeRanks", "trn3-sled", {2, 0, 3}},
                    place_of_sizes{"ATorus", "trn2-48xl", {}, 4, 40},
                    place_of_sizes{"SevenRanksOfATorus", "trn2-48xl", {0, 1, 5, 7, 9, 12, 15}, 4},
                    place_of_sizes{"Trainium1", "trn1-32xl", {}, 8, 40},
                    place_of_sizes{"TwoDomains", two_servers, {}, 8, 20},
                    place_of_sizes{"ThreeDomains", three_sleds, {}, 8, 40},
                    place_of_sizes{"ARack", "trn3-gen2", {}, 60, 2}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace trn::test

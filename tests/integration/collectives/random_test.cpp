// SPDX-License-Identifier: Apache-2.0
// Random combinations: any ranks in any order, sizes, types, channels and lanes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/collectives/group.h"
#include "tests/support/fuzz.h"

namespace trn::test {
namespace {

struct place_of_random {
    const char* name;
    const char* board;
    std::size_t domains = 1;
};

void PrintTo(const place_of_random& place, std::ostream* out) {
    *out << place.name;
}

class RandomCollectives : public CollectiveTest,
                          public testing::WithParamInterface<place_of_random> {
protected:
    /// A random element.
    template <typename T>
    T any(std::initializer_list<T> of) {
        return of.begin()[random_.below(of.size())];
    }
    /// A random selection with the same number of ranks in each domain, ordered by domain.
    std::vector<std::size_t> ranks() {
        const std::size_t each = all().size() / GetParam().domains;
        const std::size_t wanted = 2 + random_.below(each - 1);
        std::vector<std::size_t> chosen;
        for (std::size_t domain = 0; domain < GetParam().domains; ++domain) {
            std::vector<std::size_t> chips(each);
            std::iota(chips.begin(), chips.end(), domain * each);
            for (std::size_t n = 0; n < wanted; ++n)
                std::swap(chips[n], chips[n + random_.below(each - n)]);
            chips.resize(wanted);
            if (random_.below(2) != 0) std::ranges::sort(chips);
            chosen.insert(chosen.end(), chips.begin(), chips.end());
        }
        return chosen;
    }
    collective_request request(std::size_t ranks) {
        collective_request request{.check = true};
        request.op = static_cast<trn_coll_op>(random_.below(TRN_COLL_OPS));
        do request.algorithm = static_cast<trn_coll_algorithm>(random_.below(TRN_COLL_ALGORITHMS));
        while (request.algorithm != TRN_COLL_AUTO &&
               !trn_coll_has_algorithm(request.op, request.algorithm));
        request.type =
            any({TRN_FP32, TRN_BF16, TRN_FP16, TRN_INT32, TRN_UINT32, TRN_INT8, TRN_UINT8});
        request.with = any({TRN_COLL_SUM, TRN_COLL_MIN, TRN_COLL_MAX});
        const auto elements = any<std::uint64_t>({0, 1, 3, 64, 65, 1000, 20'000, 200'000});
        request.bytes = elements * trn_coll_type_bytes(request.type);
        request.in_place = random_.below(2) != 0;
        if (request.op == TRN_COLL_PERMUTE && random_.below(2) != 0) {
            const auto distance = 1 + static_cast<std::uint32_t>(random_.below(ranks));
            request.pairs.emplace();
            for (std::uint32_t from = 0; from < ranks; ++from)
                if (random_.below(3) != 0)
                    request.pairs->emplace_back(from, (from + distance) % ranks);
        }
        for (auto n = trn_coll_count_entries(request.op, static_cast<std::uint32_t>(ranks)); n > 0;
             --n)
            request.counts.push_back(random_.below(2) != 0 ? random_.below(2 * elements) : 0);
        request.root = static_cast<std::uint32_t>(random_.below(ranks));
        if (random_.below(2) != 0) request.channels = static_cast<std::uint32_t>(random_.below(5));
        if (random_.below(2) != 0) request.lanes = static_cast<std::uint32_t>(random_.below(17));
        return request;
    }

private:
    fuzz_random random_{2026};
};

TEST_P(RandomCollectives, AreCorrectOrRefused) {
    boot(GetParam().board);
    constexpr unsigned wanted = 40;
    unsigned right = 0;
    for (unsigned n = 0; n < wanted; ++n) {
        const auto chips = ranks();
        const auto wanted = request(chips.size());
        SCOPED_TRACE(fmt::format(
            "{}: {} by {} over chips {}, {} bytes or counts {}, type {}, operator {}, root {}, "
            "{} channels, {} lanes{}",
            n, trn_coll_op_text(wanted.op), trn_coll_algorithm_text(wanted.algorithm),
            fmt::join(chips, " "), wanted.bytes, fmt::join(wanted.counts, " "),
            static_cast<int>(wanted.type), static_cast<int>(wanted.with), wanted.root,
            wanted.channels, wanted.lanes, wanted.in_place ? ", in place" : ""));
        collective_group group(*this, chips, image());
        try {
            expect_right(group.run(wanted));
            ++right;
        } catch (const device_error& wrong) {
            EXPECT_EQ(wrong.status, TRN_INVALID_ARGUMENT) << wrong.what();
        }
    }
    EXPECT_GT(right, wanted / 2);
}

INSTANTIATE_TEST_SUITE_P(
    Over, RandomCollectives,
    testing::Values(place_of_random{"ASled", "trn3-sled"}, place_of_random{"ATorus", "trn2-48xl"},
                    place_of_random{"Trainium1", "trn1-32xl"},
                    place_of_random{"TwoDomains", "tests/integration/collectives/two_servers.yaml",
                                    2}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace trn::test

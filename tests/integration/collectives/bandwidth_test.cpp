// SPDX-License-Identifier: Apache-2.0
// Bandwidth of collectives: the numbers of doc/performance.md, "Large messages", and the rate of
// their bottleneck link.
#include <fstream>
#include <map>
#include <tuple>

#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

/// The cells of a row of a table in Markdown.
std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> cells;
    for (std::size_t begin = row.find("| "), end = 0; begin != row.npos; begin = end) {
        end = row.find('|', begin + 1);
        if (end == row.npos) break;
        auto cell = row.substr(begin + 2, end - begin - 2);
        cell.erase(cell.find_last_not_of(' ') + 1);
        cells.push_back(cell);
    }
    return cells;
}

/// The bus bandwidth in GB/s by board, operation and algorithm: messages of 256 MiB on trn3-sled,
/// of 16 MiB on other boards.
std::map<std::tuple<std::string, std::string, std::string>, double> documented() {
    std::map<std::tuple<std::string, std::string, std::string>, double> all;
    std::ifstream page("doc/performance.md");
    std::string row, board;
    while (std::getline(page, row) && !row.starts_with("| Board | Operation | Algorithm |")) {
    }
    std::getline(page, row);
    while (std::getline(page, row) && row.starts_with("|")) {
        const auto cells = cells_of(row);
        if (cells.size() < 5) continue;
        if (!cells[0].empty()) board = cells[0];
        all[{board, cells[1], cells[2]}] = std::stod(cells[4]);
    }
    return all;
}

class CollectiveBandwidth : public CollectiveTest {
protected:
    void boot(const std::string& board) {
        board_ = board;
        CollectiveTest::boot(board);
    }
    double bus_bandwidth(collective_group& group, trn_coll_op op, trn_coll_algorithm algorithm,
                         std::uint64_t bytes) {
        const auto how = group.run({.op = op, .algorithm = algorithm, .bytes = bytes});
        return how.algorithm_gb_per_s() *
               trn_coll_bus_factor(op, static_cast<std::uint32_t>(group.ranks()));
    }
    /// Checks the documented rates. `link`: the payload rate of the bottleneck link in GB/s per
    /// direction.
    void expect_documented(double link, const std::vector<trn_coll_op>& ops,
                           trn_coll_algorithm algorithm) {
        const auto page = documented();
        collective_group group(*this, all(), image());
        for (const auto op : ops) {
            SCOPED_TRACE(trn_coll_op_text(op));
            const double bus = bus_bandwidth(group, op, algorithm, message());
            const auto row =
                page.find({board_, trn_coll_op_text(op), trn_coll_algorithm_text(algorithm)});
            ASSERT_NE(row, page.end());
            EXPECT_NEAR(bus, row->second, tolerance * row->second);
            EXPECT_LT(bus, link) << "no link carries that";
        }
    }
    /// Checks that the algorithm of the size is as fast as the best that is documented.
    void expect_best(const std::vector<trn_coll_op>& ops) {
        const auto page = documented();
        collective_group group(*this, all(), image());
        for (const auto op : ops) {
            SCOPED_TRACE(trn_coll_op_text(op));
            double best = 0;
            for (const auto& [key, rate] : page)
                if (std::get<0>(key) == board_ && std::get<1>(key) == trn_coll_op_text(op))
                    best = std::max(best, rate);
            ASSERT_GT(best, 0);
            EXPECT_NEAR(bus_bandwidth(group, op, TRN_COLL_AUTO, message()), best, tolerance * best);
        }
    }
    /// Checks for this share of `bound`, a rate in GB/s per direction.
    void expect_share(double share, double bound, std::uint64_t bytes, trn_coll_op op,
                      trn_coll_algorithm algorithm) {
        SCOPED_TRACE(trn_coll_op_text(op));
        collective_group group(*this, all(), image());
        EXPECT_NEAR(bus_bandwidth(group, op, algorithm, bytes) / bound, share, tolerance);
    }

private:
    /// Bytes of the page's messages on the board.
    std::uint64_t message() const { return board_ == "trn3-sled" ? 256 * MiB : 16 * MiB; }

    /// The page's firmware is compiled by GCC 12. The time of a step depends on the instructions
    /// between its transfers.
    static constexpr double tolerance = FIRMWARE_GCC == 12 ? 0.03 : 0.06;
    std::string board_;
};

TEST_F(CollectiveBandwidth, SledReachesTheSwitchBound) {
    boot("trn3-sled");
    expect_documented(222.0, {TRN_COLL_ALL_REDUCE, TRN_COLL_BROADCAST}, TRN_COLL_RING);
    expect_best({TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER, TRN_COLL_ALL_TO_ALL});
}

TEST_F(CollectiveBandwidth, TorusRingsReachTheDocumentedRates) {
    boot("trn2-48xl");
    expect_documented(4 * 114.8,
                      {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER},
                      TRN_COLL_RING);
}

/// HBM both stores received data and supplies sent data.
TEST_F(CollectiveBandwidth, TorusDoublingNearsHalfTheHbmRate) {
    boot("trn2-48xl");
    expect_share(0.85, 729.6 / 2, 64 * MiB, TRN_COLL_ALL_GATHER, TRN_COLL_DOUBLING);
}

TEST_F(CollectiveBandwidth, FourServerRingsReachTheDocumentedRates) {
    boot("trn2-ultraserver");
    expect_documented(4 * 57.3, {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER},
                      TRN_COLL_RING);
}

/// Half of the traffic crosses the busiest link: in a row of four chips that is each direction
/// between the racks. The bound of the bus bandwidth is twice that link, times (n-1)/n.
TEST_F(CollectiveBandwidth, TorusMeshReachesTheBoundOfEquallyLoadedLinks) {
    boot("trn2-48xl");
    expect_documented(2 * 114.8, {TRN_COLL_ALL_TO_ALL, TRN_COLL_ALL_GATHER}, TRN_COLL_MESH);
}

/// Holds also for the first run, before direct memory pointers have been requested.
TEST_F(CollectiveBandwidth, SmallBlocksAreNotSlowerThanLargerOnes) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    const auto time_of = [&](std::uint64_t bytes) {
        return group.run({.op = TRN_COLL_ALL_TO_ALL, .algorithm = TRN_COLL_MESH, .bytes = bytes})
            .ns;
    };
    const auto tiny = time_of(16 * 28);
    EXPECT_LE(tiny, time_of(16 * KiB));
    EXPECT_NEAR(tiny, time_of(16 * 28), 0.05 * tiny);
}

TEST_F(CollectiveBandwidth, TwoRackMeshReachesTheInterRackLinks) {
    boot("trn3-gen1");
    expect_documented(2 * 110.9, {TRN_COLL_ALL_TO_ALL, TRN_COLL_ALL_GATHER}, TRN_COLL_MESH);
}

TEST_F(CollectiveBandwidth, Trainium1ServerRingsReachTheDocumentedRates) {
    boot("trn1-32xl");
    expect_documented(4 * 42.94,
                      {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER},
                      TRN_COLL_RING);
}

TEST_F(CollectiveBandwidth, ChipRowRingsReachOneLinkPerDirection) {
    boot("inf2-48xl");
    expect_share(0.985, 2 * 42.94, 16 * MiB, TRN_COLL_ALL_REDUCE, TRN_COLL_RING);
    for (const auto op : {TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER})
        expect_share(0.95, 2 * 42.94, 16 * MiB, op, TRN_COLL_RING);
}

/// The default uses several links of a chip at once: each channel starts with a different
/// dimension.
TEST_F(CollectiveBandwidth, TorusDefaultIsAsFastAsTheBestAlgorithm) {
    boot("trn2-48xl");
    expect_best({TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER});
}

TEST_F(CollectiveBandwidth, FourServerDefaultIsAsFastAsTheBestAlgorithm) {
    boot("trn2-ultraserver");
    expect_best({TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER});
}

TEST_F(CollectiveBandwidth, TwoRackDefaultIsAsFastAsTheBestAlgorithm) {
    boot("trn3-gen1");
    expect_best({TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER});
}

}  // namespace
}  // namespace trn::test

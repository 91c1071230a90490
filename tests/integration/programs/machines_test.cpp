// SPDX-License-Identifier: Apache-2.0
// Programs of scenarios/programs on several chips at once, compared with plain loops.
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "models/neuron_isa/assembler/assembler.h"
#include "sw-stubs/host/programs/loaded_program.h"
#include "tests/integration/collectives/group.h"

namespace trn::test {
namespace {

constexpr std::uint64_t limit_ns = 10'000'000;

std::vector<std::uint8_t> program(const std::string& name, const std::string& constants = "") {
    std::ostringstream text;
    text << std::ifstream(PROGRAMS + name).rdbuf();
    return isa::write_program_set(isa::assemble_set(constants + text.str(), name));
}

template <typename T>
std::vector<T> values(const std::vector<std::uint8_t>& bytes) {
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
    return result;
}

/// BF16 bytes of whole numbers of at most 8 bits, which are exact.
std::vector<std::uint8_t> bf16_bytes(const std::vector<int>& numbers) {
    std::vector<std::uint8_t> bytes;
    for (const int number : numbers) {
        const auto value = static_cast<float>(number);
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        bytes.push_back(static_cast<std::uint8_t>(bits >> 16));
        bytes.push_back(static_cast<std::uint8_t>(bits >> 24));
    }
    return bytes;
}

class MachinePrograms : public CollectiveTest {
protected:
    static std::unique_ptr<loaded_program> load(const device& on, std::span<const std::uint8_t> set,
                                                std::uint32_t core = 0) {
        trn_program_options options{};
        options.core = core;
        return std::make_unique<loaded_program>(on, set, options);
    }
};

// ---- A tensor-parallel layer

class TensorParallel : public MachinePrograms, public testing::WithParamInterface<const char*> {
protected:
    static constexpr std::size_t rows = 128, columns = 512, depth = 256;
    static constexpr std::uint64_t bytes = rows * columns * sizeof(float);

    struct rank_data {
        std::vector<int> xt, w;  // [depth, rows], [depth, columns]
        std::unique_ptr<loaded_program> running;
        std::vector<float> y, gram;
        std::uint32_t reduced_ns = 0, multiplied_ns = 0;
    };

    void SetUp() override {
        boot(GetParam());
        group_.emplace(*this, all(), image());
        std::mt19937 random(7);
        std::uniform_int_distribution<int> small(-4, 4);
        ranks_.resize(group_->ranks());
        for (rank_data& rank : ranks_) {
            rank.xt.resize(depth * rows);
            rank.w.resize(depth * columns);
            for (auto* numbers : {&rank.xt, &rank.w})
                for (int& number : *numbers) number = small(random);
        }
    }

    static std::uint32_t reg(device& on, trn_core_engine engine, unsigned number) {
        trn_core_engine_state state{};
        on.check(trn_core_engine_read(on, 0, engine, &state));
        return state.registers[number];
    }

    void start(rank_data& rank, device& on, const trn_coll_trigger& trigger, unsigned matmuls) {
        const auto set =
            program("tensor_parallel.trn", fmt::format(".set matmuls {}\n.set write_to {}\n"
                                                       ".set write_value {}\n",
                                                       matmuls, trigger.address, trigger.value));
        rank.running = load(on, set);
        const loaded_program& loaded = *rank.running;
        loaded.write(loaded.find("xt"), bf16_bytes(rank.xt));
        loaded.write(loaded.find("w"), bf16_bytes(rank.w));
        trn_coll_config config{};
        config.op = TRN_COLL_ALL_REDUCE;
        config.type = TRN_FP32;
        config.ranks = static_cast<std::uint32_t>(ranks_.size());
        config.algorithm = TRN_COLL_RING;
        config.bytes = bytes;
        const auto buffers = collective_memories(on).place(config, {});
        for (const auto& [name, buffer] : {std::pair{"product", 0}, std::pair{"sum", 1}}) {
            std::uint32_t number = 0;
            ASSERT_TRUE(trn_program_find_tensor(loaded.get(), name, &number));
            on.check(trn_program_bind(loaded.get(), number,
                                      buffers[static_cast<std::size_t>(buffer)].address));
        }
        on.check(trn_program_start(loaded.get()));
    }
    static void finish(rank_data& rank, device& on) {
        trn_program_result result{};
        on.check(trn_program_wait(rank.running->get(), limit_ns, &result));
        rank.y = values<float>(rank.running->read(rank.running->find("y")));
        rank.gram = values<float>(rank.running->read(rank.running->find("gram")));
        rank.reduced_ns = reg(on, TRN_SYNC_ENGINE, 11) - reg(on, TRN_SYNC_ENGINE, 10);
        rank.multiplied_ns = reg(on, TRN_TENSOR_ENGINE, 11) - reg(on, TRN_TENSOR_ENGINE, 10);
        rank.running.reset();
    }
    /// \returns ns from the last start of the all-reduce to its end on the slowest rank
    void run(unsigned matmuls) {
        collective_request request{.op = TRN_COLL_ALL_REDUCE, .type = TRN_FP32, .bytes = bytes};
        request.algorithm = TRN_COLL_RING;
        request.channels = 1;
        request.done = {.core = 0, .index = 30};
        request.start_by = [&](std::uint32_t rank, device& on,
                               std::span<const trn_coll_trigger> triggers) {
            ASSERT_EQ(triggers.size(), 1u);
            start(ranks_[rank], on, triggers.front(), matmuls);
        };
        request.meanwhile = [&](std::uint32_t rank, device& on) { finish(ranks_[rank], on); };
        group_->run(request);
    }
    std::uint32_t longest(std::uint32_t rank_data::*time) const {
        std::uint32_t most = 0;
        for (const rank_data& rank : ranks_) most = std::max(most, rank.*time);
        return most;
    }

    void expect_results(unsigned matmuls) const {
        std::vector<int> sum(rows * columns);
        for (const rank_data& rank : ranks_)
            for (std::size_t k = 0; k < depth; ++k)
                for (std::size_t m = 0; m < rows; ++m)
                    for (std::size_t n = 0; n < columns; ++n)
                        sum[m * columns + n] += rank.xt[k * rows + m] * rank.w[k * columns + n];
        for (const rank_data& rank : ranks_) {
            ASSERT_EQ(rank.y.size(), sum.size());
            for (std::size_t n = 0; n < sum.size(); ++n)
                ASSERT_EQ(rank.y[n], static_cast<float>(std::max(sum[n], 0))) << n;
            for (std::size_t m = 0; m < rows; ++m)
                for (std::size_t n = 0; n < rows; ++n) {
                    int product = 0;
                    for (std::size_t k = 0; k < 128; ++k)
                        product += rank.xt[k * rows + m] * rank.xt[k * rows + n];
                    ASSERT_EQ(rank.gram[m * rows + n],
                              static_cast<float>(product * static_cast<int>(matmuls)));
                }
        }
    }

    std::optional<collective_group> group_;
    std::vector<rank_data> ranks_;
};

TEST_P(TensorParallel, SumsOfAllChipsComeBackWhileTensorMultiplies) {
    run(2);
    expect_results(2);
    const std::uint32_t reduced = longest(&rank_data::reduced_ns);
    // The number of matmuls of 128 columns at 2.4 GHz that fit into the time of the all-reduce.
    const auto matmuls = static_cast<unsigned>(reduced * 2.4 / 128);
    ASSERT_GT(matmuls, 50u);
    run(matmuls);
    expect_results(matmuls);
    EXPECT_NEAR(longest(&rank_data::multiplied_ns), reduced, 0.05 * reduced);
    EXPECT_NEAR(longest(&rank_data::reduced_ns), reduced, 0.05 * reduced)
        << "matmuls delay the all-reduce";
}

INSTANTIATE_TEST_SUITE_P(Machines, TensorParallel, testing::Values("trn3-sled", "trn2-48xl"),
                         [](const auto& board) {
                             return std::string(board.param) == "trn3-sled" ? "FourChips"
                                                                            : "SixteenChips";
                         });

// ---- All cores of all chips

TEST_F(MachinePrograms, AllCoresOfA144ChipUltraServerComputeAtOnce) {
    boot("trn3-gen2");
    const auto set = program("all_cores.trn");
    std::vector<std::array<std::vector<float>, 8>> results(all().size());
    run_each(all(), [&](std::size_t chip, device& on) {
        on.check(trn_probe(on));
        on.check(trn_reset_device(on));
        std::vector<std::unique_ptr<loaded_program>> programs;
        for (std::uint32_t core = 0; core < 8; ++core) {
            const auto& one = programs.emplace_back(load(on, set, core));
            std::vector<std::uint8_t> base(4);
            base[0] = static_cast<std::uint8_t>(8 * chip);
            base[1] = static_cast<std::uint8_t>(8 * chip >> 8);
            one->write(one->find("base"), base);
        }
        for (const auto& one : programs) on.check(trn_program_start(one->get()));
        for (std::size_t core = 0; core < programs.size(); ++core) {
            trn_program_result result{};
            on.check(trn_program_wait(programs[core]->get(), limit_ns, &result));
            results[chip][core] = values<float>(programs[core]->read(programs[core]->find("y")));
            trn_core_engine_state state{};
            on.check(trn_core_engine_read(on, static_cast<std::uint32_t>(core), TRN_GPSIMD_ENGINE,
                                          &state));
            EXPECT_EQ(state.registers[2], core);
            EXPECT_EQ(state.registers[3], chip % 4) << "the routing id counts chips of a sled";
        }
    });
    for (std::size_t chip = 0; chip < results.size(); ++chip)
        for (std::size_t core = 0; core < 8; ++core)
            for (std::size_t j = 0; j < 64; ++j) {
                const auto x = [&](std::size_t p, std::size_t at) {
                    return static_cast<float>(8 * chip + core + 3 * p + at);
                };
                float y = 0;  // binary64 products and sums, rounded to FP32 after each step
                for (std::size_t p = 0; p < 128; ++p) {
                    float row = 0;
                    for (std::size_t at = 0; at < 64; ++at) row += x(p, at);
                    y = static_cast<float>(y + static_cast<double>(x(p, j)) * row);
                }
                ASSERT_EQ(results[chip][core].at(j), y / 1024) << chip << " " << core << " " << j;
            }
}

}  // namespace
}  // namespace trn::test

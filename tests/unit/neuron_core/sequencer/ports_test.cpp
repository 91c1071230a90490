// SPDX-License-Identifier: Apache-2.0
// Memory ports shared by two engines: doc/spec/neuron-core.md 2.5, 9.3.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/neuron_core/sequencer/engine_test.h"

namespace {

using namespace trn;

class SharedPorts : public test::engine_test {
protected:
    explicit SharedPorts(unsigned generation = 4)
        : test::engine_test(neuron_core::config{.generation = generation}) {}

    /// Nanoseconds until instructions that start at the same time, one per engine, are complete.
    double time_of(const std::map<isa::engine, std::string>& instructions) {
        for (const auto& [e, text] : instructions)
            load(e, fmt::format("wait S[201]>=1 nop\nupdate S[200]+=1 {}\nhalt", text));
        core.sync().set(200, 0);
        core.sync().set(201, 0);
        for (const auto& [e, text] : instructions) start(e);
        run_for(5);
        core.sync().set(201, 1);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        const auto all = static_cast<std::int32_t>(instructions.size());
        while (semaphore(200) < all &&
               sc_core::sc_time_stamp() - begin < sc_core::sc_time(1, sc_core::SC_MS))
            run_for(0.01);
        return (sc_core::sc_time_stamp() - begin).to_seconds() * 1e9;
    }

    enum class ports { own, shared };
    /// Checks whether two instructions run in parallel or one after the other.
    void expect(ports how, isa::engine a, const std::string& first, isa::engine b,
                const std::string& second) {
        const double one = time_of({{a, first}}), other = time_of({{b, second}});
        const double both = time_of({{a, first}, {b, second}});
        // The pipelines' latencies and the common initial wait count only once.
        if (how == ports::shared)
            EXPECT_NEAR(both, one + other, 0.1 * both) << first << '\n' << second;
        else
            EXPECT_NEAR(both, std::max(one, other), 0.02 * both) << first << '\n' << second;
    }

    static std::string copy(std::string_view type, unsigned n, std::string_view from,
                            std::string_view to) {
        return fmt::format("copy dst={} {} [{}:1] a={} {} [{}:1]", to, type, n, from, type, n);
    }
    const std::string gpsimd = copy("fp32", 4096, "sbuf[0:128, 0]", "sbuf[0:128, 16384]");
    const std::string plain = copy("fp32", 4096, "sbuf[0:128, 65536]", "sbuf[0:128, 98304]");
    const std::string fast = copy("bf16", 16384, "sbuf[0:128, 65536]", "sbuf[0:128, 98304]");
    static std::string of_bank(unsigned bank, unsigned to) {
        const std::string from = fmt::format("psum[0:128, {}]", 2048 * bank);
        return fmt::format("copy dst=sbuf[0:128, {}] fp32 [512:1, 8:0] a={} fp32 [512:1, 8:0]", to,
                           from);
    }
};

class SharedPortsOfTrainium1 : public SharedPorts {
protected:
    SharedPortsOfTrainium1() : SharedPorts(2) {}
};

class SharedPortsOfTrainium2 : public SharedPorts {
protected:
    SharedPortsOfTrainium2() : SharedPorts(3) {}
};

TEST_F(SharedPorts, VectorAndGpsimdUseSbufTogether) {
    expect(ports::own, V, plain, G, gpsimd);
}

TEST_F(SharedPorts, AFastModeOfVectorBorrowsTheBusOfGpsimd) {
    expect(ports::shared, V, fast, G, gpsimd);
    const std::string both_16_bit =
        "tensor_tensor op0=add dst=sbuf[0:128, 98304] bf16 [8192:1] "
        "a=sbuf[0:128, 65536] bf16 [8192:1] b=sbuf[0:128, 131072] bf16 [8192:1]";
    expect(ports::shared, V, both_16_bit, G, gpsimd);
}

TEST_F(SharedPorts, AFastModeOfScalarBorrowsNothing) {
    expect(ports::own, S, fast, G, gpsimd);
}

TEST_F(SharedPorts, VectorAndScalarTakeTurnsAtOneBankOfPsum) {
    expect(ports::shared, V, of_bank(0, 0), S, of_bank(0, 4096));
    expect(ports::own, V, of_bank(0, 0), S, of_bank(1, 4096));
}

TEST_F(SharedPortsOfTrainium2, AFastModeOfVectorBorrowsTheBusOfGpsimd) {
    expect(ports::shared, V, fast, G, gpsimd);
    expect(ports::own, V, plain, G, gpsimd);
}

TEST_F(SharedPortsOfTrainium1, VectorAndGpsimdNeverUseSbufTogether) {
    expect(ports::shared, V, plain, G, gpsimd);
}

TEST_F(SharedPortsOfTrainium1, VectorAndScalarNeverUsePsumTogether) {
    expect(ports::shared, V, of_bank(0, 0), S, of_bank(1, 4096));
    expect(ports::own, V, plain, S, of_bank(1, 4096));
}

}  // namespace

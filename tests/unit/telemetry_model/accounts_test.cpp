// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry_model/accounts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

namespace trn::telemetry {
namespace {

constexpr std::uint64_t memory_bytes = std::uint64_t{144} << 30;

std::vector<std::uint8_t> record_of(const trn_accounts& accounts) {
    std::vector<std::uint8_t> bytes(sizeof accounts);
    std::memcpy(bytes.data(), &accounts, sizeof accounts);
    return bytes;
}

device trainium() {
    device d;
    d.index = 2;
    d.core_count = 4;
    d.memory_bytes = memory_bytes;
    d.cores.resize(4);
    return d;
}

trn_accounts busy_core(unsigned core) {
    trn_accounts accounts{};
    accounts.version = TRN_ACCOUNTS_VERSION;
    accounts.host_memory = 8192;
    accounts.completed = 3;
    for (unsigned n = 0; n < 3; ++n) accounts.latencies_ns[n] = 1000 * (3 - n);
    auto& c = accounts.cores[core];
    c.loads = 1;
    c.runs = 4;
    c.outcomes[TRN_RUN_COMPLETED] = 3;
    c.outcomes[TRN_RUN_TIMED_OUT] = 1;
    c.memory[TRN_KIND_TENSORS] = 4096;
    c.memory[TRN_KIND_CODE] = 640;
    return accounts;
}

TEST(Accounts, OfAClientAreThoseOfItsProcessAndOfTheCores) {
    device d = trainium();
    process p;
    const auto accounts = accounts_of(record_of(busy_core(1)), d);
    ASSERT_TRUE(accounts);
    add_accounts(*accounts, 8, p, d);
    EXPECT_EQ(p.cores, std::vector<unsigned>{9});
    EXPECT_EQ(p.device_memory["tensors"], 4096u);
    EXPECT_EQ(p.device_memory["model_code"], 640u);
    EXPECT_EQ(p.host_memory["dma_buffers"], 8192u);
    EXPECT_EQ(p.status["success"], 3u);
    EXPECT_EQ(p.status["timeout"], 1u);
    EXPECT_EQ(d.cores[1].device_memory_bytes, 4736u);
    EXPECT_EQ(d.cores[1].info["inference_count"], 4u);
    EXPECT_FALSE(d.cores[0].device_memory_bytes);  // not known, and not 0
    add_accounts(*accounts, 8, p, d);              // of another device
    EXPECT_EQ(p.device_memory["tensors"], 8192u);
}

TEST(Accounts, PercentilesAreOfTheNearestRank) {
    std::vector<std::uint64_t> all;
    add_latencies(busy_core(0), all);
    EXPECT_EQ(all.size(), 3u);
    EXPECT_EQ(percentiles_of(all), (named_values{{"p0", 1000},
                                                 {"p1", 1000},
                                                 {"p25", 1000},
                                                 {"p50", 2000},
                                                 {"p75", 3000},
                                                 {"p99", 3000},
                                                 {"p100", 3000}}));
    EXPECT_TRUE(percentiles_of({}).empty());
    auto many = busy_core(0);
    many.completed = TRN_ACCOUNT_LATENCIES + 7;  // the ring has only the last ones
    all.clear();
    add_latencies(many, all);
    EXPECT_EQ(all.size(), TRN_ACCOUNT_LATENCIES);
}

TEST(Accounts, ARecordThatCannotBeIsNothing) {
    const std::vector<std::function<void(trn_accounts&)>> lies{
        [](auto& a) { a.version = 2; },
        [](auto& a) { a.host_memory = ~std::uint64_t{0}; },
        [](auto& a) { a.completed = ~std::uint64_t{0}; },
        [](auto& a) { a.latencies_ns[63] = ~std::uint64_t{0}; },
        [](auto& a) { a.cores[0].loads = ~std::uint64_t{0}; },
        [](auto& a) { a.cores[0].runs = ~std::uint64_t{0}; },
        [](auto& a) { a.cores[0].busy_ns = ~std::uint64_t{0}; },
        [](auto& a) { a.cores[0].outcomes[8] = ~std::uint64_t{0}; },
        [](auto& a) { a.cores[0].memory[4] = ~std::uint64_t{0}; },
        [](auto& a) { a.cores[0].memory[0] = memory_bytes + 1; },
        [](auto& a) { a.cores[0].memory[0] = a.cores[3].memory[4] = memory_bytes / 2 + 1; },
        [](auto& a) { a.cores[4].loads = 1; },  // the device has no core 4
        [](auto& a) { std::memset(&a, 0xff, sizeof a); },
    };
    for (std::size_t n = 0; n < lies.size(); ++n) {
        trn_accounts accounts = busy_core(1);
        lies[n](accounts);
        EXPECT_FALSE(accounts_of(record_of(accounts), trainium())) << n;
    }
    auto record = record_of(busy_core(1));
    record.pop_back();
    EXPECT_FALSE(accounts_of(record, trainium()));
    EXPECT_FALSE(accounts_of({}, trainium()));
}

}  // namespace
}  // namespace trn::telemetry

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/in_process/in_process.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

namespace trn::test {
namespace {

using namespace sc_core;

/// A function whose BAR0 is RAM with 50 ns access time; records host mappings.
struct ram_function : function_port {
    std::map<std::uint64_t, std::uint32_t> words;
    std::vector<host_range> ranges;
    unsigned resets = 0;
    bool defers = false;  // the next access
    access_waiter* waiter = nullptr;

    bool defer() {
        if (std::exchange(defers, false)) waiter->deferred();
        return true;
    }
    bar_info bar(unsigned index) override {
        bar_info info;
        info.size = index == 0 ? 4096 : 0;
        return info;
    }
    void config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) override {
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(offset++);
    }
    void config_write(std::uint32_t, std::span<const std::uint8_t>) override {}
    bool bar_read(unsigned index, std::uint64_t offset, std::span<std::uint8_t> bytes,
                  sc_time& delay) override {
        delay += sc_time(50, SC_NS);
        if (index != 0 || offset >= 4096) return false;
        std::memcpy(bytes.data(), &words[offset], bytes.size());
        return defer();
    }
    bool bar_write(unsigned index, std::uint64_t offset, std::span<const std::uint8_t> bytes,
                   sc_time& delay) override {
        delay += sc_time(50, SC_NS);
        if (index != 0 || offset >= 4096) return false;
        std::memcpy(&words[offset], bytes.data(), bytes.size());
        return defer();
    }
    void await_accesses(access_waiter* by) override { waiter = by; }
    bool map_host(const host_range& range) override {
        if (!ranges.empty()) return false;
        ranges.push_back(range);
        return true;
    }
    bool unmap_host(std::uint64_t, std::uint64_t,
                    const std::function<void(const host_range&)>&) override {
        ranges.clear();
        return true;
    }
    void watch_host_memory(traffic_watcher*) override {}
    void carry_host_messages(host_messages*) override {}
    void host_messages_ready() override {}
    unsigned interrupt_vectors() const override { return 0; }
    void on_interrupt(unsigned, std::function<void()>) override {}
    void reset() override { ++resets; }
    void detach() override {}
};

struct HostCpu : testing::Test {
    ram_function function;
    host_cpu host{function, {.memory_size = std::uint64_t{1} << 30}};
    trn_transport door = host.transport();

    void run(std::function<void()> work) {
        sc_start(SC_ZERO_TIME);
        host.run(std::move(work));
        sc_start(1, SC_SEC);
        EXPECT_TRUE(host.idle());
        host.rethrow();
    }
};

TEST_F(HostCpu, ChargesTimeForEachAccess) {
    run([&] {
        std::uint32_t value = 0;
        EXPECT_EQ(door.bar_write32(door.context, 0, 8, 0x1234), 0);
        EXPECT_EQ(sc_time_stamp(), sc_time(70, SC_NS));
        EXPECT_EQ(door.bar_read32(door.context, 0, 8, &value), 0);
        EXPECT_EQ(value, 0x1234u);
        EXPECT_EQ(sc_time_stamp(), sc_time(320, SC_NS));
        EXPECT_EQ(door.wait(door.context, 1000), 0);
        EXPECT_EQ(door.now(door.context), 1320u);
    });
}

TEST_F(HostCpu, AnAccessThatIsDeferredWaitsAndNoneOfTheHostPassesIt) {
    std::vector<std::pair<char, sc_time>> ends;
    function.defers = true;
    sc_spawn([&] {
        wait(1, SC_US);
        function.waiter->ended(sc_time(30, SC_NS));
    });
    run([&] {
        host.run([&] {  // another processor of the host
            wait(10, SC_NS);
            EXPECT_EQ(door.bar_write32(door.context, 0, 8, 1), 0);
            ends.emplace_back('w', sc_time_stamp());
        });
        std::uint32_t value = 0;
        EXPECT_EQ(door.bar_read32(door.context, 0, 8, &value), 0);
        EXPECT_EQ(value, 0u) << "the write was behind it";
        ends.emplace_back('r', sc_time_stamp());
    });
    EXPECT_EQ(ends.at(0), std::pair('r', sc_time(1030, SC_NS)));
    EXPECT_EQ(ends.at(1), std::pair('w', sc_time(1070, SC_NS)));
    EXPECT_TRUE(host.idle());
}

TEST_F(HostCpu, AccessesOutsideBarsAndConfigSpaceAreErrors) {
    run([&] {
        std::uint32_t value = 0;
        EXPECT_EQ(door.bar_read32(door.context, 1, 0, &value), -EINVAL);
        EXPECT_EQ(door.bar_write32(door.context, 0, 4096, 0), -EINVAL);
        EXPECT_EQ(door.bar_size(door.context, 0), 4096u);
        EXPECT_EQ(door.bar_size(door.context, 9), 0u);
        EXPECT_EQ(door.config_read(door.context, 4, 2, &value), 0);
        EXPECT_EQ(value, 0x0504u);
        EXPECT_EQ(door.config_read(door.context, 4, 8, &value), -EINVAL);
        EXPECT_EQ(door.function_reset(door.context), 0);
        EXPECT_EQ(function.resets, 1u);
    });
}

TEST_F(HostCpu, AccessesOutsideAProcessAreRefusedSinceTimeCannotPass) {
    std::uint32_t value = 0;
    EXPECT_EQ(door.bar_read32(door.context, 0, 8, &value), -ENODEV);
    EXPECT_EQ(door.bar_write32(door.context, 0, 8, 0x1234), -ENODEV);
    EXPECT_EQ(door.config_read(door.context, 4, 2, &value), -ENODEV);
    EXPECT_EQ(door.config_write(door.context, 4, 2, 0), -ENODEV);
    EXPECT_EQ(door.wait(door.context, 1000), -ENODEV);
    EXPECT_TRUE(function.words.empty());
}

TEST_F(HostCpu, WaitBeyondTheEndOfTimeLastsUntilThen) {
    bool ended = false;
    sc_start(SC_ZERO_TIME);
    host.run([&] {
        door.wait(door.context, ~0ull);
        ended = true;
    });
    sc_start(1000, SC_SEC);
    EXPECT_FALSE(ended);
    EXPECT_GT(sc_time_to_pending_activity(), sc_time(1e6, SC_SEC));
}

TEST_F(HostCpu, AllocatesZeroedMemoryReachableByTheFunction) {
    trn_dma_memory first{}, second{}, third{};
    EXPECT_EQ(door.dma_alloc(door.context, 5000, &first), 0);
    EXPECT_EQ(first.size, 8192u);
    EXPECT_EQ(door.dma_alloc(door.context, 1, &second), 0);
    EXPECT_EQ(second.iova, first.iova + 8192);
    const auto& range = function.ranges.at(0);
    EXPECT_EQ(range.bytes + (first.iova - range.iova), first.host);
    std::memset(first.host, 0xff, 8192);
    door.dma_free(door.context, &first);
    EXPECT_EQ(door.dma_alloc(door.context, 4096, &third), 0);
    EXPECT_EQ(third.iova, first.iova);
    EXPECT_EQ(static_cast<std::uint8_t*>(third.host)[17], 0);
    EXPECT_EQ(door.dma_alloc(door.context, std::uint64_t{2} << 30, &first), -ENOMEM);
    EXPECT_EQ(door.dma_alloc(door.context, 0, &first), -EINVAL);
}

TEST_F(HostCpu, MergesAdjacentFreeBlocks) {
    trn_dma_memory parts[3]{}, whole{};
    for (auto& part : parts) ASSERT_EQ(door.dma_alloc(door.context, 4096, &part), 0);
    for (const int i : {0, 2, 1}) door.dma_free(door.context, &parts[i]);
    EXPECT_EQ(door.dma_alloc(door.context, 3 * 4096, &whole), 0);
    EXPECT_EQ(whole.iova, parts[0].iova);
}

TEST_F(HostCpu, ForwardsExceptionsOfItsWork) {
    EXPECT_THROW(run([] { throw std::runtime_error("step 3"); }), std::runtime_error);
}

TEST_F(HostCpu, DoesOneWorkAfterAnotherInTheSameProcess) {
    std::vector<std::string> processes;
    const auto note = [&] { processes.emplace_back(sc_get_current_process_handle().name()); };
    run(note);
    host.run([&] {
        note();
        throw std::runtime_error("of the second");
    });
    sc_start(1, SC_US);
    EXPECT_TRUE(host.idle());
    EXPECT_THROW(host.rethrow(), std::runtime_error);
    host.run(note);
    sc_start(1, SC_US);
    EXPECT_TRUE(host.idle());
    ASSERT_EQ(processes.size(), 3u);
    EXPECT_EQ(processes[1], processes[0]);
    EXPECT_EQ(processes[2], processes[0]);
}

TEST_F(HostCpu, DoesTwoWorksAtTheSameTime) {
    run([&] {
        sc_time other;
        host.run([&] {
            wait(sc_time(1, SC_US));
            other = sc_time_stamp();
        });
        const sc_time start = sc_time_stamp();
        wait(sc_time(2, SC_US));
        EXPECT_EQ(other, start + sc_time(1, SC_US));
    });
}

TEST_F(HostCpu, RefusesASecondHost) {
    EXPECT_THROW(host_cpu(function, {.memory_size = 4096}), std::runtime_error);
}

}  // namespace
}  // namespace trn::test

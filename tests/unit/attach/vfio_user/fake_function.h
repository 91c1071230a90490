// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "platform/framework/tlm/function_port.h"

namespace trn::test {

/// A function with RAM-like BARs that records the transport's calls.
struct fake_function : function_port {
    static constexpr std::uint64_t bar0_size = 1 << 20;

    void join(std::uint64_t by) override { host = by; }
    bar_info bar(unsigned index) override { return index < bar_count ? bars[index] : bar_info{}; }
    void config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) override {
        std::copy_n(space.begin() + offset, bytes.size(), bytes.begin());
    }
    void config_write(std::uint32_t offset, std::span<const std::uint8_t> bytes) override {
        std::ranges::copy(bytes, space.begin() + offset);
    }
    bool bar_read(unsigned index, std::uint64_t offset, std::span<std::uint8_t> bytes,
                  sc_core::sc_time& delay) override {
        delay += sc_core::sc_time(7, sc_core::SC_NS);
        if (index != 0) return false;
        std::copy_n(ram.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
        return true;
    }
    bool bar_write(unsigned index, std::uint64_t offset, std::span<const std::uint8_t> bytes,
                   sc_core::sc_time&) override {
        if (index != 0) return false;
        std::ranges::copy(bytes, ram.begin() + static_cast<std::ptrdiff_t>(offset));
        if (on_write) on_write(offset);
        return true;
    }
    bool map_host(const host_range& range) override {
        if (range.size == 0 || range.iova + (range.size - 1) < range.iova) return false;
        for (const auto& [iova, other] : ranges) {
            if (range.iova <= iova + (other.size - 1) && iova <= range.iova + (range.size - 1))
                return false;
        }
        ranges.emplace(range.iova, range);
        return true;
    }
    bool unmap_host(std::uint64_t iova, std::uint64_t size,
                    const std::function<void(const host_range&)>& forgotten) override {
        for (auto at = ranges.lower_bound(iova); at != ranges.end() && at->first - iova < size;) {
            const host_range gone = at->second;
            at = ranges.erase(at);
            forgotten(gone);
        }
        return true;
    }
    void watch_host_memory(traffic_watcher*) override {}
    void carry_host_messages(host_messages* messages) override { carrier = messages; }
    void host_messages_ready() override { ++ready; }
    unsigned interrupt_vectors() const override { return static_cast<unsigned>(raise.size()); }
    void on_interrupt(unsigned vector, std::function<void()> raised) override {
        raise.at(vector) = std::move(raised);
    }
    void reset() override { ++resets; }
    void detach() override {
        ++detaches;
        for (auto& vector : raise) vector = nullptr;
    }

    std::array<bar_info, bar_count> bars{bar_info{.size = bar0_size}};
    std::array<std::uint8_t, config_size> space{};
    std::vector<std::uint8_t> ram = std::vector<std::uint8_t>(bar0_size);
    std::function<void(std::uint64_t offset)> on_write;
    std::map<std::uint64_t, host_range> ranges;
    host_messages* carrier = nullptr;
    std::array<std::function<void()>, 32> raise;
    std::uint64_t host = 0;
    int ready = 0, resets = 0, detaches = 0;
};

}  // namespace trn::test

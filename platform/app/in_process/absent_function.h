// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "platform/framework/tlm/function_port.h"

namespace trn {

/// The function of a host_cpu that has none: its accesses are those to an empty slot. Such a host
/// can only let time pass.
class absent_function final : public function_port {
public:
    bar_info bar(unsigned) override { return {}; }
    void config_read(std::uint32_t, std::span<std::uint8_t> bytes) override {
        std::ranges::fill(bytes, std::uint8_t{0xff});
    }
    void config_write(std::uint32_t, std::span<const std::uint8_t>) override {}
    bool bar_read(unsigned, std::uint64_t, std::span<std::uint8_t>, sc_core::sc_time&) override {
        return false;
    }
    bool bar_write(unsigned, std::uint64_t, std::span<const std::uint8_t>,
                   sc_core::sc_time&) override {
        return false;
    }
    bool map_host(const host_range&) override { return true; }
    bool unmap_host(std::uint64_t, std::uint64_t,
                    const std::function<void(const host_range&)>&) override {
        return true;
    }
    void watch_host_memory(traffic_watcher*) override {}
    void carry_host_messages(host_messages*) override {}
    void host_messages_ready() override {}
    unsigned interrupt_vectors() const override { return 0; }
    void on_interrupt(unsigned, std::function<void()>) override {}
    void reset() override {}
    void detach() override {}
};

}  // namespace trn

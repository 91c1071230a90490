// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <systemc>

#include "platform/framework/tlm/function_port.h"
#include "platform/framework/tlm/server_memory.h"

namespace trn::library {

class simulation;

/// A PCIe function and its host, whose accesses advance simulated time. Throws failure.
class function final : private access_waiter {
public:
    function(simulation& time, std::string name, function_port& port);
    ~function();
    function(const function&) = delete;
    function& operator=(const function&) = delete;

    const std::string& name() const { return name_; }
    std::uint64_t bar_size(std::uint32_t bar) const;
    std::uint64_t bar_address(std::uint32_t bar) const;

    void bar_read(std::uint32_t bar, std::uint64_t offset, std::span<std::uint8_t> bytes);
    void bar_write(std::uint32_t bar, std::uint64_t offset, std::span<const std::uint8_t> bytes);
    std::uint32_t config_read(std::uint32_t offset, std::uint32_t width);
    void config_write(std::uint32_t offset, std::uint32_t width, std::uint32_t value);

    struct host_bytes {
        std::uint8_t* bytes;
        std::uint64_t iova;
    };
    host_bytes allocate(std::uint64_t size);
    void free(std::uint64_t iova, std::uint64_t size);
    void map(std::uint64_t iova, std::uint8_t* bytes, std::uint64_t size);
    void unmap(std::uint64_t iova, std::uint64_t size);

    std::uint32_t vectors() const;
    /// Sets the receiver of a vector; empty: the vector is off.
    void on_interrupt(std::uint32_t vector, std::function<void()> raised);
    void reset();

private:
    // access_waiter
    void deferred() override { waits_ = true; }
    void ended(const sc_core::sc_time& delay) override;

    template <class Access>
    void access(const sc_core::sc_time& cost, const Access& perform);
    void check_bar(std::uint32_t bar, std::uint64_t offset, std::uint64_t size) const;
    void check_config(std::uint32_t offset, std::uint32_t width) const;
    server_memory& memory();

    simulation& time_;
    const std::string name_;
    function_port& port_;
    std::unique_ptr<server_memory> own_memory_;
    server_memory* memory_ = nullptr;  // mapped at its first allocation
    bool waits_ = false;               // an access is deferred
    sc_core::sc_time rest_;            // of its duration, when it has ended
};

}  // namespace trn::library

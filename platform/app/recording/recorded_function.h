// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/recording/event_recorder.h"
#include "platform/framework/tlm/function_port.h"

namespace trn::recording {

/// Wraps a function and records every call of its host with the result, and every access of the
/// function to the host. Offers no memory for mapping, since mapped accesses could not be recorded.
class recorded_function final : public function_port,
                                private traffic_watcher,
                                private host_messages,
                                private access_waiter {
public:
    recorded_function(event_recorder& events, std::uint32_t number, function_port& function);
    ~recorded_function() override;

    void join(std::uint64_t host) override;
    bar_info bar(unsigned index) override;
    void config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) override;
    void config_write(std::uint32_t offset, std::span<const std::uint8_t> bytes) override;
    bool bar_read(unsigned index, std::uint64_t offset, std::span<std::uint8_t> bytes,
                  sc_core::sc_time& delay) override;
    bool bar_write(unsigned index, std::uint64_t offset, std::span<const std::uint8_t> bytes,
                   sc_core::sc_time& delay) override;
    void await_accesses(access_waiter* waiter) override;
    bool map_host(const host_range& range) override;
    bool unmap_host(std::uint64_t iova, std::uint64_t size,
                    const std::function<void(const host_range&)>& forgotten) override;
    void watch_host_memory(traffic_watcher*) override {}  // this object watches it
    void carry_host_messages(host_messages* carrier) override;
    void host_messages_ready() override;
    unsigned interrupt_vectors() const override { return function_.interrupt_vectors(); }
    void on_interrupt(unsigned vector, std::function<void()> raised) override;
    void reset() override;
    void detach() override;

private:
    void has_read(std::uint64_t address, std::span<std::uint8_t> bytes) override;
    void has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) override;
    bool read(std::uint64_t iova, std::uint32_t size, answer answered) override;
    bool write(std::uint64_t iova, std::span<const std::uint8_t> bytes) override;
    void deferred() override;
    void ended(const sc_core::sc_time& delay) override;
    void await_end(const event& access, std::span<const std::uint8_t> read);
    void note(event e, std::span<const std::uint8_t> bytes = {});

    event_recorder& events_;
    const std::uint32_t number_;
    function_port& function_;
    host_messages* carrier_ = nullptr;
    std::uint64_t questions_ = 0;  // number of accepted questions
    access_waiter* waiter_ = nullptr;
    bool deferred_ = false;               // the access that is being executed
    event access_;                        // the end of the one that waits
    std::span<const std::uint8_t> read_;  // its bytes, if it is a read
};

}  // namespace trn::recording

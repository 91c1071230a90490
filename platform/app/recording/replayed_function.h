// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/app/recording/event_matcher.h"
#include "platform/framework/tlm/function_port.h"

namespace trn::recording {

/// Plays the host of one function in a replay. Its memory has the recorded content wherever the
/// function reads; elsewhere it is zero.
class replayed_function final : private traffic_watcher,
                                private host_messages,
                                private access_waiter {
public:
    replayed_function(event_matcher& events, std::uint32_t number, std::string name,
                      function_port& function);
    ~replayed_function() override;

    void repeat(const event& e);
    const std::string& name() const { return name_; }

private:
    /// Address space is reserved; pages are allocated at their first use.
    class memory;
    using host_range = function_port::host_range;

    void has_read(std::uint64_t address, std::span<std::uint8_t> bytes) override;
    void has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) override;
    bool read(std::uint64_t iova, std::uint32_t size, answer answered) override;
    bool write(std::uint64_t iova, std::span<const std::uint8_t> bytes) override;

    void deferred() override { deferred_ = true; }
    void ended(const sc_core::sc_time& delay) override;

    void read_config(const event& e);
    void access_bar(const event& e);
    void map(const event& e);
    void unmap(const event& e);
    void set_vector(const event& e);
    void answer_question(const event& e);
    void compare(const event& e, bool flag);
    void compare(const event& e, const sc_core::sc_time& delay);
    void compare(const event& e, std::span<const std::uint8_t> bytes);
    void remember(std::uint64_t address, std::span<const std::uint8_t> bytes);

    event_matcher& events_;
    const std::uint32_t number_;
    const std::string name_;
    function_port& function_;
    std::map<std::uint64_t, std::unique_ptr<memory>> ranges_;
    std::map<std::uint32_t, answer> questions_;  // by the number of the question
    bool deferred_ = false;                      // the access that is being executed
    event access_;                               // the one that waits
    std::vector<std::uint8_t> read_;             // its bytes, if it is a read
};

}  // namespace trn::recording

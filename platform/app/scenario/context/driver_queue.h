// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

namespace trn::scenario {

/// Exclusive access to the driver stub, which runs one call at a time. Steps get it in the order of
/// their start.
class driver_queue {
public:
    /// Waits for the access; the destructor returns it.
    class turn {
    public:
        explicit turn(driver_queue& queue) : queue_(queue), number_(queue.turns_++) {
            while (queue_.current_ != number_) sc_core::wait(queue_.next_);
        }
        ~turn() {
            ++queue_.current_;
            if (queue_.current_ != queue_.turns_) queue_.next_.notify(sc_core::SC_ZERO_TIME);
        }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;

    private:
        driver_queue& queue_;
        const std::uint64_t number_;
    };

private:
    std::uint64_t turns_ = 0, current_ = 0;  // of all steps that started so far; the current one
    sc_core::sc_event next_{};               // notified when the current turn changes
};

}  // namespace trn::scenario

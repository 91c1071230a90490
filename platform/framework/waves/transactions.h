// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/kernel/trace_observer.h"

namespace trn {

/// Turns the events of a trace into changes of text variables. A module has a variable for its
/// last event, and lanes for its activities: a text from begin to end, "" otherwise. Modules
/// announce activities before they begin, so that changes wait until their time.
class transactions final : public trace::observer {
public:
    struct change {
        std::uint64_t time;  ///< picoseconds
        std::uint64_t order;
        std::size_t variable;
        std::string text;
        bool is_event;
        bool operator>(const change& other) const {
            return time != other.time ? time > other.time : order > other.order;
        }
    };
    /// Number of variables per module: the event, then the lanes.
    transactions(const std::vector<std::string>& modules, unsigned lanes);
    ~transactions();
    transactions(const transactions&) = delete;
    transactions& operator=(const transactions&) = delete;

    std::uint32_t observe(const trace::record& r) override;

    /// Calls `write` with the changes up to and including `now`, in the order of their times. Of
    /// several changes of a lane at one time the last one counts.
    void take_until(std::uint64_t now, const std::function<void(const change&)>& write);
    /// Activities without a free lane, and changes beyond the limit of waiting ones.
    std::uint64_t lost() const { return lost_; }

private:
    static constexpr std::size_t max_waiting = 1 << 16, max_text = 256;
    struct module {
        std::size_t first;                     ///< variable of the last event
        std::vector<std::uint64_t> free_from;  ///< of each lane, picoseconds
    };
    std::size_t lane_at(module& m, std::uint64_t begin, std::uint64_t end);
    void put(std::uint64_t time, std::size_t variable, std::string text, bool is_event = false);

    std::map<std::string, module, std::less<>> modules_;
    std::priority_queue<change, std::vector<change>, std::greater<>> waiting_;
    std::uint64_t order_ = 0, lost_ = 0;
};

}  // namespace trn

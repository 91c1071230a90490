// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>

namespace trn {

/// Instructions before which a debugger pauses one engine (not the breakpoints of programs).
class engine_breaks {
public:
    void add(std::uint32_t pc) { pcs_.insert(pc); }
    void remove(std::uint32_t pc) { pcs_.erase(pc); }
    void once() { next_ = true; }
    const std::set<std::uint32_t>& all() const { return pcs_; }
    bool empty() const { return pcs_.empty() && !next_; }

    /// Whether to pause before the instruction at `pc`. True once, until pass().
    bool stops(std::uint32_t pc) {
        if (passing_ || (!next_ && !pcs_.contains(pc))) return false;
        next_ = false;
        return passing_ = true;
    }
    /// The engine ends. \returns whether a debugger waits for its next instruction
    bool ends() {
        const bool asked = next_;
        next_ = false;
        return asked;
    }
    /// The instruction at which stops() was true has been issued.
    void pass() { passing_ = false; }

private:
    std::set<std::uint32_t> pcs_;
    bool next_ = false;
    bool passing_ = false;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <systemc>
#include <utility>
#include <vector>

namespace trn {

/// Level-sensitive input lines of a block, for interrupts and resets. Several outputs may drive one
/// line (wired OR); the block is notified only when the line's level changes.
class irq_in : public sc_core::sc_object {
public:
    using on_change = std::function<void(unsigned line, bool level)>;

    irq_in(const char* name, unsigned lines, on_change changed)
        : sc_object(name), drivers_(lines, 0u), changed_(std::move(changed)) {}

    const char* kind() const override { return "irq_in"; }
    unsigned lines() const { return static_cast<unsigned>(drivers_.size()); }
    bool level(unsigned line = 0) const { return drivers_.at(line) > 0; }

    /// One driver of `line` changes its level. Takes effect immediately.
    void drive(unsigned line, bool level) {
        unsigned& drivers = drivers_.at(line);
        const bool before = drivers > 0;
        sc_assert(level || before);
        drivers += level ? 1u : ~0u;
        if (before != (drivers > 0)) changed_(line, drivers > 0);
    }

private:
    std::vector<unsigned> drivers_;  // number of outputs that drive each line high
    on_change changed_;
};

/// A level output. May be unbound only if the netlist, which checks `bound()`, allows it.
class irq_out : public sc_core::sc_object {
public:
    explicit irq_out(const char* name) : sc_object(name) {}

    const char* kind() const override { return "irq_out"; }
    void bind(irq_in& sink, unsigned line = 0) { sinks_.emplace_back(&sink, line); }
    bool bound() const { return !sinks_.empty(); }
    bool level() const { return level_; }

    void set(bool level) {
        if (level == level_) return;
        level_ = level;
        for (auto& [sink, line] : sinks_) sink->drive(line, level);
    }
    /// Rises and falls at once, as for a message.
    void pulse() {
        set(true);
        set(false);
    }

private:
    std::vector<std::pair<irq_in*, unsigned>> sinks_;
    bool level_ = false;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
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
        : sc_object(name), inputs_(lines), changed_(std::move(changed)) {}

    const char* kind() const override { return "irq_in"; }
    unsigned lines() const { return static_cast<unsigned>(inputs_.size()); }
    bool level(unsigned line = 0) const { return inputs_.at(line).level; }

    /// One driver of `line` changes its level. Takes effect immediately.
    void drive(unsigned line, bool level) {
        input& driven = inputs_.at(line);
        sc_assert(level || driven.drivers > 0);
        driven.drivers += level ? 1u : ~0u;
        if (driven.level == (driven.drivers > 0)) return;
        driven.level = !driven.level;
        changed_(line, driven.level);
    }

    /// Adds the levels of all lines to a trace file of SystemC: `name`, or name_0, name_1, ...
    friend void sc_trace(sc_core::sc_trace_file* file, const irq_in& in, const std::string& name) {
        for (unsigned line = 0; line < in.lines(); ++line) in.trace_line(file, line, name);
    }
    /// Adds one of them.
    void trace_line(sc_core::sc_trace_file* file, unsigned line, const std::string& name) const {
        sc_core::sc_trace(file, inputs_.at(line).level,
                          lines() == 1 ? name : name + "_" + std::to_string(line));
    }

private:
    struct input {
        unsigned drivers = 0;  ///< number of outputs that drive the line high
        bool level = false;
    };
    std::vector<input> inputs_;  // of constant size: trace files refer to the levels
    on_change changed_;
};

/// A level output. May be unbound only if the netlist, which checks `bound()`, allows it.
///
/// A rise may have a delay: a register access raises a line at its annotated time, because its
/// initiator may be ahead of the kernel's time. One event serves the changes of all lines; it
/// exists from the first change with a delay on.
class irq_out : public sc_core::sc_object {
public:
    explicit irq_out(const char* name) : sc_object(name) {}
    ~irq_out() override { cancel(); }
    irq_out(const irq_out&) = delete;  // the schedule has its address
    irq_out& operator=(const irq_out&) = delete;

    const char* kind() const override { return "irq_out"; }
    void bind(irq_in& sink, unsigned line = 0) { sinks_.emplace_back(&sink, line); }
    bool bound() const { return !sinks_.empty(); }
    bool level() const { return level_; }
    /// The level after the changes that are still to come.
    bool next_level() const { return next_level_; }

    /// Raises the line `delay` later; immediately if that is zero. A fall is immediate, so that the
    /// processor whose access has caused it does not see the old level afterwards: in WFI, at the
    /// completion of an interrupt. Changes take effect in the order of the calls: none before an
    /// earlier call's.
    void set(bool level, const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME) {
        if (level == next_level_) return;
        next_level_ = level;
        if (pending_ == 0 && (!level || delay == sc_core::SC_ZERO_TIME))
            drive(level);
        else
            schedule(level, delay);
    }
    /// Adds the level to a trace file of SystemC.
    friend void sc_trace(sc_core::sc_trace_file* file, const irq_out& out,
                         const std::string& name) {
        sc_core::sc_trace(file, out.level_, name);
    }
    /// Rises and falls at once, as for a message.
    void pulse() {
        set(true);
        set(false);
    }
    /// Drops the changes to come, when the block is reset: the next set() acts on the present
    /// level.
    void cancel() {
        if (pending_ != 0) drop();
    }

    /// Number of changes with a delay since the start, of all lines. A processor whose access has
    /// increased it ends its quantum, so that simulated time reaches the change: the change may be
    /// an interrupt of its own.
    static std::uint64_t scheduled() { return scheduled_; }

private:
    class schedule_of_all;

    void drive(bool level) {
        level_ = level;
        for (auto& [sink, line] : sinks_) sink->drive(line, level);
    }
    void schedule(bool level, const sc_core::sc_time& delay);
    void drop();

    inline static std::uint64_t scheduled_ = 0;

    std::vector<std::pair<irq_in*, unsigned>> sinks_;
    bool level_ = false, next_level_ = false;
    std::uint32_t pending_ = 0;     // number of changes to come
    sc_core::sc_time last_change_;  // of these; absolute
};

}  // namespace trn

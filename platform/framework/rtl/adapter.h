// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <systemc>

namespace trn::rtl {

/// A part of a block that works with some of its design's pins. Called by the block at each rising
/// edge of the clock, while the clock runs.
class adapter {
public:
    virtual ~adapter() = default;
    adapter(const adapter&) = delete;
    adapter& operator=(const adapter&) = delete;

    /// Just before the edge: reads the design's outputs. A handshake happens here.
    virtual void sample() {}
    /// Just after the edge: sets the design's inputs, as registers with this clock would.
    virtual void drive() {}
    /// The design has settled.
    virtual void settled() {}
    /// The design is reset: work under way ends, inputs return to their idle levels.
    virtual void reset() {}
    /// Whether it needs no edge now, and its inputs do not move.
    virtual bool is_idle() const { return true; }
    /// When it needs edges again although it is idle, if that is known (absolute).
    virtual std::optional<sc_core::sc_time> due() const { return std::nullopt; }
    /// For the stall report.
    virtual std::optional<std::string> describe_wait() const { return std::nullopt; }

protected:
    adapter() = default;
};

}  // namespace trn::rtl

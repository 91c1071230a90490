// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <vector>

#include "platform/framework/tlm/link_end.h"

namespace trn {

/// The link training and status state machine of both ends of a link, as a timetable: its phases
/// are computed at the start, and the current one follows from simulated time. It needs no process
/// and no polling.
class ltssm {
public:
    /// Duration of each state. Real links need milliseconds; these values are invented.
    struct times {
        sc_core::sc_time detect, polling, configuration, recovery, hot_reset;
    };
    struct phase {
        link_state state;
        unsigned generation;  ///< speed in this state; 0: none yet
        sc_core::sc_time length;
    };

    explicit ltssm(const times& durations) : times_(durations) {}

    /// Detect, Polling, Configuration, L0 at Gen1, then one Recovery per speed up to `generation`.
    void train(const sc_core::sc_time& start, unsigned generation);
    /// Hot Reset, then as in train().
    void hot_reset(const sc_core::sc_time& start, unsigned generation);
    /// From L0 through Recovery (and Configuration if the width changes) back to L0.
    void recover(const sc_core::sc_time& start, unsigned generation, bool new_width);
    /// L0 from `start` on, without training.
    void settle(const sc_core::sc_time& start, unsigned generation);
    /// Stays in `state`, Detect or Disabled.
    void stop(link_state state);

    /// State and speed at `now`; the returned duration has no meaning.
    phase phase_at(const sc_core::sc_time& now) const;
    /// Time at which L0 is reached for good. Precondition: runs().
    const sc_core::sc_time& settled() const { return settled_; }
    /// Speed in L0. Precondition: runs().
    unsigned generation() const { return final_.generation; }
    /// Whether the machine is not stopped: it is in L0 now, or will be at settled().
    bool runs() const { return final_.state == link_state::l0; }

private:
    void pass(link_state state, unsigned generation, const sc_core::sc_time& length);
    void training_phases(unsigned generation);

    const times times_;
    std::vector<phase> phases_;  // states before final_; empty if stopped or settled
    phase final_{link_state::detect, 0, {}};
    sc_core::sc_time started_, settled_;
};

}  // namespace trn

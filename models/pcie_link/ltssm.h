// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <vector>

#include "platform/framework/tlm/link_end.h"

namespace trn {

/// The link training and status state machine of both ends of a link, as a timetable: its states
/// are known at its start, and the present one follows from the simulated time. It needs no process
/// and no polling.
class ltssm {
public:
    /// Duration of each state. Real links need milliseconds; these values are ours.
    struct times {
        sc_core::sc_time detect, polling, configuration, recovery, hot_reset;
    };
    struct phase {
        link_state state;
        unsigned generation;  ///< speed while in this state; 0: none yet
        sc_core::sc_time length;
    };

    explicit ltssm(const times& durations) : times_(durations) {}

    /// Detect, Polling, Configuration, then Gen1's L0 and one Recovery per speed up to
    /// `generation`.
    void train(const sc_core::sc_time& at, unsigned generation);
    /// As train(), after a Hot Reset.
    void hot_reset(const sc_core::sc_time& at, unsigned generation);
    /// From L0 through Recovery (and Configuration, to change the width) back to L0.
    void recover(const sc_core::sc_time& at, unsigned generation, bool new_width);
    /// Stays in L0 from `at` on, as if trained.
    void settle(const sc_core::sc_time& at, unsigned generation);
    /// Stays in Detect or Disabled.
    void stop(link_state state);

    /// State and speed at `now`; ignore the duration.
    phase at(const sc_core::sc_time& now) const;
    /// When the last phase ends in L0; it stays there. Not for a stopped machine.
    const sc_core::sc_time& settled() const { return settled_; }
    /// Not stopped: L0 now or at settled().
    bool runs() const { return final_.state == link_state::l0; }

private:
    void begin(const sc_core::sc_time& at, unsigned generation);
    void pass(link_state state, unsigned generation, const sc_core::sc_time& length);
    void training_phases(unsigned generation);

    const times times_;
    std::vector<phase> phases_;  // states before final_; empty when stopped or settled
    phase final_{link_state::detect, 0, {}};
    sc_core::sc_time started_, settled_;
};

}  // namespace trn

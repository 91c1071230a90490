// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie_link/ltssm.h"

namespace trn {

using sc_core::sc_time;

void ltssm::settle(const sc_time& start, unsigned generation) {
    phases_.clear();
    started_ = settled_ = start;
    final_ = {link_state::l0, generation, {}};
}

void ltssm::pass(link_state state, unsigned generation, const sc_time& length) {
    phases_.push_back({state, generation, length});
    settled_ += length;
}

/// PCIe 6.0 4.2.5: every link trains at 2.5 GT/s, and then raises its speed in Recovery.
void ltssm::training_phases(unsigned generation) {
    pass(link_state::detect, 0, times_.detect);
    pass(link_state::polling, 1, times_.polling);
    pass(link_state::configuration, 1, times_.configuration);
    for (unsigned reached = 1; reached < generation; ++reached)
        pass(link_state::recovery, reached, times_.recovery);
}

void ltssm::train(const sc_time& start, unsigned generation) {
    settle(start, generation);
    training_phases(generation);
}

void ltssm::hot_reset(const sc_time& start, unsigned generation) {
    settle(start, generation);
    pass(link_state::hot_reset, 0, times_.hot_reset);
    training_phases(generation);
}

void ltssm::recover(const sc_time& start, unsigned generation, bool new_width) {
    const unsigned before = final_.generation;
    settle(start, generation);
    pass(link_state::recovery, before, times_.recovery);
    if (new_width) pass(link_state::configuration, before, times_.configuration);
}

void ltssm::stop(link_state state) {
    phases_.clear();
    final_ = {state, 0, {}};
}

ltssm::phase ltssm::phase_at(const sc_time& now) const {
    sc_time end = started_;
    for (const phase& each : phases_) {
        end += each.length;
        if (now < end) return each;
    }
    return final_;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/event_recorder.h"

#include <systemc>

#include "platform/framework/kernel/time_value.h"

namespace trn::recording {

void event_recorder::note(event e, std::span<const std::uint8_t> bytes) {
    if (!log_ || !failed_.empty()) return;
    e.time = in_picoseconds(sc_core::sc_time_stamp());
    e.deltas = sc_core::sc_delta_count();
    try {
        log_->write(e, bytes);
    } catch (const recording_error& error) {
        failed_ = error.what();
        loop_.quit(failed_);
    }
}

void event_recorder::finish() {
    note({.type = kind::end});
    if (failed_.empty()) log_->finish();
    log_.reset();
    if (!failed_.empty()) throw write_error(failed_);
}

}  // namespace trn::recording

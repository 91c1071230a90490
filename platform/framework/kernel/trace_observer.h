// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "platform/framework/kernel/trace_record.h"

namespace trn::trace {

/// Receives the events of the trace, also when none is written.
class observer {
public:
    /// Returns a number for a slice that begins, which is the `track` of its end; 0 is that of
    /// slices that began before the observer was added.
    virtual std::uint32_t observe(const record& r) = 0;

protected:
    ~observer() = default;
};

/// Passes all later events to `added` as well; null: to none. The trace is on() while there is an
/// observer. Precondition: there is at most one,
/// and slices that began meanwhile do not end in a file afterwards.
void observe(observer* added);

}  // namespace trn::trace

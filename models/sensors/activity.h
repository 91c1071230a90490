// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

namespace trn {

/// Activity of a memory, for the power model: a monotonic count of work done.
class activity_interface : public virtual sc_core::sc_interface {
public:
    /// Bytes read and written since the start.
    virtual std::uint64_t bytes_moved() const = 0;
};

}  // namespace trn

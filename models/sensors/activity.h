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

/// The same of a core's engines, and the throttling that power may demand.
class compute_activity_interface : public virtual sc_core::sc_interface {
public:
    /// Floating-point operations since power-on, those of matmuls by the time of BF16 ones.
    virtual std::uint64_t bf16_flops() const = 0;
    /// Bytes of SBUF and PSUM that engines read and wrote since power-on.
    virtual std::uint64_t sram_bytes() const = 0;
    /// The engines run at a part of their clocks until they are throttled no more. `notify`: the
    /// core reports the limit in a notification ring.
    virtual void set_throttled(bool throttled, bool notify) = 0;
};

}  // namespace trn

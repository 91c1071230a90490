// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

namespace trn {

/// Activity of a memory for the power model.
class activity_interface : public virtual sc_core::sc_interface {
public:
    /// Bytes read and written since the start.
    virtual std::uint64_t bytes_moved() const = 0;
};

/// Activity of a core's engines for the power model, and their throttling.
class compute_activity_interface : public virtual sc_core::sc_interface {
public:
    /// Floating-point operations since power-on; other matmul formats are weighted by their time
    /// relative to BF16.
    virtual std::uint64_t bf16_flops() const = 0;
    /// Bytes of SBUF and PSUM that engines read and wrote since power-on.
    virtual std::uint64_t sram_bytes() const = 0;
    /// Throttled engines run at a fraction of their clock rate. `notify`: the core also posts a
    /// notification.
    virtual void set_throttled(bool throttled, bool notify) = 0;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>

namespace trn::riscv {

/// The source of the memory-mapped mtime counter; the time CSR is a shadow of it (Priv. 3.1.10).
class mtime_source {
public:
    /// mtime at absolute simulated time `time`, which may be later than the kernel's time.
    virtual std::uint64_t mtime(sc_core::sc_time time) const = 0;
    /// Simulated time at which mtime reaches `value` if software does not write mtime;
    /// sc_max_time() if never. Required by harts with Sstc.
    virtual sc_core::sc_time time_of(std::uint64_t /*value*/) const {
        return sc_core::sc_max_time();
    }
    /// Registers `written`, which is called after software has written mtime.
    virtual void on_write(const std::function<void()>& /*written*/) const {}

protected:
    ~mtime_source() = default;
};

}  // namespace trn::riscv

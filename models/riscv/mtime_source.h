// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>

namespace trn::riscv {

/// The source of the memory-mapped mtime counter; the time CSR is a shadow of it (Priv. 3.1.10).
class mtime_source {
public:
    /// mtime at absolute simulated time `at`, which may lie ahead of the kernel's.
    virtual std::uint64_t mtime(sc_core::sc_time at) const = 0;
    /// When mtime reaches `value`, unless software writes mtime; sc_max_time() beyond the end of
    /// time. Harts with Sstc need it.
    virtual sc_core::sc_time when(std::uint64_t /*value*/) const { return sc_core::sc_max_time(); }
    /// `written` is called when software has written mtime.
    virtual void on_write(std::function<void()> /*written*/) const {}

protected:
    ~mtime_source() = default;
};

}  // namespace trn::riscv

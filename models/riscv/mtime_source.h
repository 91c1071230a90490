// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

namespace trn::riscv {

/// The source of the memory-mapped mtime counter; the time CSR is a shadow of it (Priv. 3.1.10).
class mtime_source {
public:
    /// mtime at absolute simulated time `at`, which may lie ahead of the kernel's.
    virtual std::uint64_t mtime(sc_core::sc_time at) const = 0;

protected:
    ~mtime_source() = default;
};

}  // namespace trn::riscv

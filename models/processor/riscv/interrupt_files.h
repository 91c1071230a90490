// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

/// The interrupt files of a hart's IMSIC for machine and supervisor mode, as its CSRs access them
/// (AIA 1.0, 3.7 to 3.9). `delay` is the time of the access after the kernel's.
class interrupt_files {
public:
    /// The register that miselect or siselect has the number of, 0x70 to 0xff; reserved ones are 0.
    virtual std::uint64_t read(privilege mode, unsigned number) const = 0;
    virtual void write(privilege mode, unsigned number, std::uint64_t value,
                       const sc_core::sc_time& delay) = 0;
    /// The value of mtopei or stopei, and what a write of it does.
    virtual std::uint64_t top(privilege mode) const = 0;
    virtual void claim(privilege mode, const sc_core::sc_time& delay) = 0;

protected:
    ~interrupt_files() = default;
};

}  // namespace trn::riscv

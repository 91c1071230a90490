// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "models/processor/riscv/interrupt_files.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/single_register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// Incoming MSI controller of one hart (RISC-V AIA 1.0, chapter 3): an interrupt file for machine
/// and one for supervisor mode. An MSI is a write to the page of a file; the hart's CSRs access
/// the rest. eidelivery is 0 or 1: lines of an APLIC are not delivered through the IMSIC.
class imsic : public sc_core::sc_module, public riscv::interrupt_files {
public:
    struct config {
        unsigned identities = 255;  ///< interrupts of each file, a multiple of 64 minus 1
        sc_core::sc_time access_latency = sc_core::SC_ZERO_TIME;
    };

    single_register_socket machine{"machine", machine_regs_};  ///< page of the machine file
    single_register_socket supervisor{"supervisor", supervisor_regs_};  ///< of the supervisor file
    irq_in reset{"reset", 1, [this](unsigned, bool) { clear(); }};      ///< held while high
    irq_out machine_external{"machine_external"};
    irq_out supervisor_external{"supervisor_external"};

    imsic(sc_core::sc_module_name name, const config& cfg);

    const config& settings() const { return cfg_; }

    // riscv::interrupt_files
    std::uint64_t read(riscv::privilege mode, unsigned number) const override;
    void write(riscv::privilege mode, unsigned number, std::uint64_t value,
               const sc_core::sc_time& delay) override;
    std::uint64_t top(riscv::privilege mode) const override;
    void claim(riscv::privilege mode, const sc_core::sc_time& delay) override;

private:
    /// Bit i of the arrays is that of identity i.
    struct file {
        bool delivers = false;        // eidelivery
        std::uint64_t threshold = 0;  // eithreshold; 0: none
        std::vector<std::uint64_t> pending, enabled;

        unsigned top() const;
    };

    void clear();
    void receive(file& own, std::uint64_t identity, const sc_core::sc_time& delay);
    void update(file& changed, const sc_core::sc_time& delay);
    file& of(riscv::privilege mode) {
        return mode == riscv::privilege::machine ? machine_file_ : supervisor_file_;
    }
    const file& of(riscv::privilege mode) const { return const_cast<imsic*>(this)->of(mode); }

    const config cfg_;
    register_bank machine_regs_;
    register_bank supervisor_regs_;
    file machine_file_;
    file supervisor_file_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// Error blocks of a SENG's DMA engines. The driver sets two bits in each; the other bits are
/// undocumented. Spec: doc/models/soc/fis.md.
class fis : public sc_core::sc_module {
public:
    struct config {
        unsigned engines = 32;
        std::uint64_t stride = 0x20000;  ///< bytes from one block to the next
        sc_core::sc_time register_latency{50, sc_core::SC_NS};
    };

    register_socket registers{"registers", regs_};
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) {
                          if (level) regs_.reset();
                      }};

    fis(sc_core::sc_module_name name, const config& cfg);

private:
    register_bank regs_;
};

}  // namespace trn

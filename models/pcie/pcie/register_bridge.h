// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

namespace trn::pcie {

/// Converts host requests of any width to 32-bit register accesses of the chip. Host requests
/// always complete: an unimplemented register reads 0 and ignores writes, because the driver does
/// not expect all-ones (contract section 18, 16).
class register_bridge {
public:
    struct counts {
        std::uint64_t failed_reads = 0;    ///< refused by the chip and answered with 0
        std::uint64_t dropped_writes = 0;  ///< refused by the chip
    };

    /// `owner` is named in misuse reports.
    explicit register_bridge(const sc_core::sc_object& owner) : owner_(owner) {}

    void access(tlm::tlm_fw_transport_if<>& chip, tlm::tlm_generic_payload& request,
                sc_core::sc_time& delay);
    /// For memory, where an access that is repeated has no side effects.
    void access_memory(tlm::tlm_fw_transport_if<>& chip, tlm::tlm_generic_payload& request,
                       sc_core::sc_time& delay);
    const counts& counters() const { return counters_; }

private:
    void refuse(tlm::tlm_generic_payload& request, bool reported);

    const sc_core::sc_object& owner_;
    counts counters_;
};

}  // namespace trn::pcie

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/tlm/pending_access.h"

namespace trn::pcie {

/// Converts host requests of any width to 32-bit register accesses of the chip. Host requests
/// always complete: an unimplemented register reads 0 and ignores writes, because the driver does
/// not expect all-ones (contract section 18, 16). Byte enables and streaming widths that the chip
/// refuses keep its response. A request that the chip defers is repeated whole; the accesses of it
/// that the chip has answered are not.
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
    using chip_interface = tlm::tlm_fw_transport_if<>;
    /// What a request has done when the chip defers one of its accesses.
    struct progress {
        std::uint64_t done = 0;            // bytes
        bool in_beats = false;             // the present part is accessed in beats
        std::vector<std::uint8_t> read{};  // the bytes that are done
    };

    enum class outcome { done, failed, deferred };
    struct part {
        std::uint64_t begin, end;  // bytes of the request
    };

    progress take_progress(tlm::tlm_generic_payload& request);
    void keep(const tlm::tlm_generic_payload& request, progress present);
    bool access_part(chip_interface& chip, tlm::tlm_generic_payload& request, const part& bytes,
                     progress& present, sc_core::sc_time& delay);
    outcome access_in_beats(chip_interface& chip, tlm::tlm_generic_payload& request,
                            const part& bytes, progress& present, sc_core::sc_time& delay);
    void refuse(tlm::tlm_generic_payload& request, bool reported);

    const sc_core::sc_object& owner_;
    counts counters_;
    std::vector<std::pair<const pending_access*, progress>> deferred_;  // by initiator
};

}  // namespace trn::pcie

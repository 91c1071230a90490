// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <systemc>
#include <tlm>

namespace trn {

/// Bus writes of tools, between two slices. They are posted: one that its target defers
/// (pending_access.h) is complete for the tool, and goes on in a process of its own.
class posted_write {
public:
    /// Time after which a write that its target does not take is dropped, with a line in the log;
    /// as of a host (root_complex::config).
    static constexpr double longest_ms = 16;
    static constexpr unsigned max_waiting = 64;  ///< of all tools; further ones cannot wait

    /// Writes up to 64 KiB. `space`: the target, for the log. Adds the annotated delay to `delay`.
    /// Returns the target's response, or TLM_OK_RESPONSE for a write that waits.
    static tlm::tlm_response_status make(tlm::tlm_fw_transport_if<>& target, const char* space,
                                         std::uint64_t address, std::span<const std::byte> bytes,
                                         sc_core::sc_time& delay);

private:
    class waiting;
};

}  // namespace trn

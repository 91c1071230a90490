// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

namespace trn {

/// Response of a target whose data has not arrived yet.
///
/// b_transport must not wait, but host memory that a client shares only by messages is read by a
/// request whose response arrives some slices later. Rules:
///  1. An initiator that can retry attaches one deferral to its payload (set_extension) and keeps
///     both; it clears the extension before destroying the payload.
///  2. A target that cannot respond now sets TLM_INCOMPLETE_RESPONSE and `ready`; no byte has
///     moved.
///  3. The initiator waits for `*ready` (next_trigger), then sends the same payload again: same
///     command, address, length, and for writes the same data. It may be deferred again.
///  4. An initiator that gives up (queue reset) calls abandon(); the response is then dropped.
/// Without the extension such a target returns TLM_GENERIC_ERROR_RESPONSE instead.
struct deferral : tlm::tlm_extension<deferral> {
    /// Owned by the target; valid after TLM_INCOMPLETE_RESPONSE.
    sc_core::sc_event* ready = nullptr;
    std::uint64_t ticket = 0;  ///< target's number of the request being retried

    void abandon() {
        ready = nullptr;
        ticket = 0;
    }
    tlm::tlm_extension_base* clone() const override { return new deferral(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const deferral&>(other);
    }
};

}  // namespace trn

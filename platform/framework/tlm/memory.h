// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// Copies between a payload and plain bytes: byte enables, streaming width and bounds as TLM-2.0
/// (IEEE 1666 section 14.7) asks. Sets the response; returns the bytes transferred.
unsigned copy_payload(tlm::tlm_generic_payload& payload, std::uint8_t* bytes, std::uint64_t size);

/// Rides on a DMI request that asks for the file behind the memory, so that another process can map
/// it for good: byte `bytes` of this process is at `offset` of `descriptor`. Passing states (a link
/// that is down, a memory not yet trained) do not refuse such a request.
struct memory_descriptor : tlm::tlm_extension<memory_descriptor> {
    int descriptor = -1;  ///< the memory's; -1 = private memory
    std::uint64_t offset = 0;
    const std::uint8_t* bytes = nullptr;

    /// Whether the request has this extension; a target with its bytes in `store` then answers it.
    static bool asked(const tlm::tlm_generic_payload& request) {
        return request.get_extension<memory_descriptor>() != nullptr;
    }
    static void answer(tlm::tlm_generic_payload& request, const backing_store& store) {
        auto* mine = request.get_extension<memory_descriptor>();
        if (mine == nullptr) return;
        mine->descriptor = store.descriptor();
        mine->offset = store.descriptor_offset();
        mine->bytes = store.data();
    }
    tlm::tlm_extension_base* clone() const override { return new memory_descriptor(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const memory_descriptor&>(other);
    }
};

/// A RAM or ROM of `size` bytes with one access latency and DMI.
/// Errors: outside the memory -> TLM_ADDRESS_ERROR_RESPONSE, write to a ROM ->
/// TLM_COMMAND_ERROR_RESPONSE.
class memory : public sc_core::sc_module {
public:
    struct config {
        std::uint64_t size = 0;                                   ///< bytes
        sc_core::sc_time access_latency = sc_core::SC_ZERO_TIME;  ///< added to each transaction
        bool read_only = false;  ///< guests cannot write; load() can
        bool shared = false;     ///< has a descriptor to map elsewhere
    };

    target_socket<memory> in{"in"};

    memory(sc_core::sc_module_name name, const config& cfg);

    /// Puts an image at `offset`, as a programmer or a debugger would; false when it does not fit.
    bool load(std::uint64_t offset, std::span<const std::uint8_t> image);
    backing_store& bytes() { return bytes_; }
    const config& settings() const { return cfg_; }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

    const config cfg_;
    backing_store bytes_;
};

}  // namespace trn

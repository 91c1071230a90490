// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// Copies between a payload and plain bytes, with byte enables, streaming width and bounds as
/// defined by TLM-2.0 (IEEE 1666 section 14.7). Sets the response; returns the number of bytes
/// transferred.
unsigned copy_payload(tlm::tlm_generic_payload& payload, std::uint8_t* bytes, std::uint64_t size);
/// The same for transport_dbg, which has no byte enables, streaming width and response (11.3.4).
unsigned copy_debug(tlm::tlm_generic_payload& payload, std::uint8_t* bytes, std::uint64_t size);

/// Extension of a DMI request for the file that backs the memory, so that another process can map
/// it permanently: byte `bytes` of this process is at `offset` of `descriptor`. Temporary states (a
/// link is down, a memory is untrained) do not cause a refusal.
struct memory_descriptor : tlm::tlm_extension<memory_descriptor> {
    int descriptor = -1;  ///< of the memory; -1: private memory
    std::uint64_t offset = 0;
    const std::uint8_t* bytes = nullptr;

    /// Whether the request has this extension; a target whose bytes are in `store` then sets it.
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

/// Extension of a DMI request for what is at the address: memory says so also while it refuses a
/// pointer, for example because of an error.
struct memory_attribute : tlm::tlm_extension<memory_attribute> {
    bool is_memory = false;

    /// Whether the request has this extension. An interconnect that refuses pointers on its own
    /// account then forwards the request.
    static bool asked(const tlm::tlm_generic_payload& request) {
        return request.get_extension<memory_attribute>() != nullptr;
    }
    static void answer(tlm::tlm_generic_payload& request) {
        if (auto* mine = request.get_extension<memory_attribute>()) mine->is_memory = true;
    }
    tlm::tlm_extension_base* clone() const override { return new memory_attribute(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const memory_attribute&>(other);
    }
};

/// A RAM or ROM of `size` bytes with one access latency and DMI. Errors: out of range ->
/// TLM_ADDRESS_ERROR_RESPONSE, write to a ROM -> TLM_COMMAND_ERROR_RESPONSE.
class memory : public sc_core::sc_module {
public:
    struct config {
        std::uint64_t size = 0;                                   ///< bytes
        sc_core::sc_time access_latency = sc_core::SC_ZERO_TIME;  ///< added to each transaction
        bool read_only = false;  ///< write accesses fail; load() works
        bool shared = false;     ///< has a descriptor that other processes can map
    };

    target_socket<memory> in{"in"};

    memory(sc_core::sc_module_name name, const config& cfg);

    /// Writes an image at `offset`, as a programmer or debugger would; false if it does not fit.
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

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/memory.h"

#include <algorithm>
#include <cstring>

#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

namespace {

/// Payloads with byte enables, or with a streaming width below the length.
void copy_bytewise(tlm::tlm_generic_payload& payload, std::uint8_t* bytes) {
    const std::uint8_t* enables = payload.get_byte_enable_ptr();
    const unsigned enable_length = payload.get_byte_enable_length();
    const unsigned width = payload.get_streaming_width();
    for (unsigned i = 0; i < payload.get_data_length(); ++i) {
        if (enables != nullptr && enables[i % enable_length] != TLM_BYTE_ENABLED) continue;
        std::uint8_t& mine = bytes[i % width];
        std::uint8_t& theirs = payload.get_data_ptr()[i];
        if (payload.is_write())
            mine = theirs;
        else
            theirs = mine;
    }
}

bool well_formed(const tlm::tlm_generic_payload& payload) {
    return payload.get_streaming_width() > 0 &&
           (payload.get_byte_enable_ptr() == nullptr || payload.get_byte_enable_length() > 0);
}

}  // namespace

unsigned copy_payload(tlm::tlm_generic_payload& payload, std::uint8_t* bytes, std::uint64_t size) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (!well_formed(payload)) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return 0;
    }
    const unsigned span = addressed_bytes(payload);
    if (address > size || span > size - address) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return 0;
    }
    if (payload.get_byte_enable_ptr() != nullptr || span < length) {
        if (payload.get_command() != tlm::TLM_IGNORE_COMMAND)
            copy_bytewise(payload, bytes + address);
    } else if (payload.is_write()) {
        provide_pages(bytes + address, length);
        std::memcpy(bytes + address, payload.get_data_ptr(), length);
    } else if (payload.is_read()) {
        std::memcpy(payload.get_data_ptr(), bytes + address, length);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return length;
}

unsigned copy_debug(tlm::tlm_generic_payload& payload, std::uint8_t* bytes, std::uint64_t size) {
    tlm::tlm_generic_payload plain;
    set_access(plain, payload.get_command(), payload.get_address(), payload.get_data_ptr(),
               payload.get_data_length());
    if (payload.get_data_length() == 0 || payload.get_command() == tlm::TLM_IGNORE_COMMAND)
        return 0;
    return copy_payload(plain, bytes, size);
}

memory::memory(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      bytes_(cfg.size, cfg.shared ? backing_store::sharing::file_descriptor
                                  : backing_store::sharing::private_pages) {
    in.register_b_transport(this, &memory::b_transport);
    in.register_transport_dbg(this, &memory::transport_dbg);
    in.register_get_direct_mem_ptr(this, &memory::get_direct_mem_ptr);
}

bool memory::load(std::uint64_t offset, std::span<const std::uint8_t> image) {
    if (offset > cfg_.size || image.size() > cfg_.size - offset) return false;
    std::ranges::copy(image, bytes_.data() + offset);
    return true;
}

void memory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (cfg_.read_only && payload.is_write()) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
    }
    payload.set_dmi_allowed(true);
    copy_payload(payload, bytes_.data(), cfg_.size);
    delay += cfg_.access_latency;
}

unsigned memory::transport_dbg(tlm::tlm_generic_payload& payload) {
    return copy_debug(payload, bytes_.data(), cfg_.size);
}

bool memory::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (payload.get_address() >= cfg_.size) return refuse_pointer(payload, dmi);
    memory_descriptor::answer(payload, bytes_);
    dmi.set_dmi_ptr(bytes_.data());
    dmi.set_start_address(0);
    dmi.set_end_address(cfg_.size - 1);
    dmi.set_read_latency(cfg_.access_latency);
    dmi.set_write_latency(cfg_.access_latency);
    if (cfg_.read_only) return grant_reads(payload, dmi);
    dmi.allow_read_write();
    return true;
}

}  // namespace trn

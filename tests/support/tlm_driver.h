// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <span>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/route.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::test {

/// Initiator for unit tests: reads and writes values or spans, records response and delay.
class tlm_driver : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<tlm_driver, 64> out{"out"};

    explicit tlm_driver(sc_core::sc_module_name name) : sc_module(name) {
        out.register_invalidate_direct_mem_ptr(this, &tlm_driver::invalidate);
    }

    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* bytes,
                                    std::size_t length) {
        tlm::tlm_generic_payload payload;
        set_access(payload, command, address, bytes, length);
        delay = annotated;
        out->b_transport(payload, delay);
        dmi_hint = payload.is_dmi_allowed();
        return response = payload.get_response_status();
    }

    template <typename T>
    tlm::tlm_response_status write(std::uint64_t address, T value) {
        return access(tlm::TLM_WRITE_COMMAND, address, &value, sizeof value);
    }
    /// The value read; valid when `response` is TLM_OK_RESPONSE.
    template <typename T = std::uint32_t>
    T read(std::uint64_t address) {
        T value{};
        access(tlm::TLM_READ_COMMAND, address, &value, sizeof value);
        return value;
    }
    tlm::tlm_response_status write_bytes(std::uint64_t address,
                                         std::span<const std::uint8_t> bytes) {
        return access(tlm::TLM_WRITE_COMMAND, address, const_cast<std::uint8_t*>(bytes.data()),
                      bytes.size());
    }
    tlm::tlm_response_status read_bytes(std::uint64_t address, std::span<std::uint8_t> bytes) {
        return access(tlm::TLM_READ_COMMAND, address, bytes.data(), bytes.size());
    }

    /// Debug access without time or side effects. Returns the number of bytes transferred.
    template <typename T>
    unsigned debug_read(std::uint64_t address, T& value) {
        tlm::tlm_generic_payload payload;
        set_access(payload, tlm::TLM_READ_COMMAND, address, &value, sizeof value);
        return out->transport_dbg(payload);
    }

    /// As an initiator that reserves the resources of its route.
    bool request_dmi(std::uint64_t address, tlm::tlm_dmi& dmi) {
        dmi.init();
        tlm::tlm_generic_payload payload;
        set_access(payload, tlm::TLM_READ_COMMAND, address, nullptr, 0);
        route way;
        payload.set_extension(&way);
        const bool granted = out->get_direct_mem_ptr(payload, dmi);
        payload.clear_extension(&way);
        return granted;
    }

    tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;
    sc_core::sc_time annotated;  // delay with which the next accesses begin
    sc_core::sc_time delay;      // with which the last one returned
    bool dmi_hint = false;
    unsigned invalidations = 0;
    std::uint64_t invalidated_first = 0, invalidated_last = 0;

private:
    void invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
        ++invalidations;
        invalidated_first = first;
        invalidated_last = last;
    }
};

}  // namespace trn::test

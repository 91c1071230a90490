// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/route.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::test {

/// A device with one plug: sends requests, answers requests from a small memory, records
/// notifications.
class plug_device : public sc_core::sc_module, public plug::device {
public:
    explicit plug_device(sc_core::sc_module_name name, std::size_t size = 1 << 20)
        : sc_module(name), bytes(size) {}

    plug end{"end", *this};
    std::vector<std::uint8_t> bytes;
    std::uint64_t base = 0;  ///< address of bytes[0]
    sc_core::sc_time delay;  ///< of the last request sent
    unsigned revocations = 0, changes = 0;
    std::vector<link_error> errors;      ///< reported by the link
    std::vector<std::uint64_t> arrived;  ///< addresses of requests received
    std::vector<sc_core::sc_time> arrivals;

    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                    unsigned length) {
        tlm::tlm_generic_payload payload;
        set_access(payload, command, address, data, length);
        delay = sc_core::SC_ZERO_TIME;
        end.send(payload, delay);
        return payload.get_response_status();
    }
    template <class T>
    tlm::tlm_response_status write(std::uint64_t address, T value) {
        return access(tlm::TLM_WRITE_COMMAND, address, &value, sizeof value);
    }
    template <class T = std::uint32_t>
    T read(std::uint64_t address) {
        T value{};
        response = access(tlm::TLM_READ_COMMAND, address, &value, sizeof value);
        return value;
    }
    tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;

    /// Bandwidths on the path to `address`, as charged to an initiator that copies through a DMI
    /// pointer. No hops if no pointer is granted.
    memory_port::window way_to(std::uint64_t address) {
        tlm::tlm_generic_payload payload;
        set_access(payload, tlm::TLM_READ_COMMAND, address, nullptr, 0);
        route way;
        payload.set_extension(&way);
        tlm::tlm_dmi dmi;
        const bool granted = end.ask_for_pointer(payload, dmi);
        payload.clear_extension(&way);
        memory_port::window found{.first = dmi.get_start_address(),
                                  .last = dmi.get_end_address(),
                                  .bytes = granted ? dmi.get_dmi_ptr() : nullptr,
                                  .readable = granted,
                                  .writable = granted,
                                  .read_latency = dmi.get_read_latency(),
                                  .write_latency = dmi.get_write_latency(),
                                  .hops = {},
                                  .watched = {}};
        if (granted) found.hops.assign(way.hops.begin(), way.hops.begin() + way.count);
        return found;
    }

    void received(plug&, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        arrived.push_back(payload.get_address());
        arrivals.push_back(delay);
        const auto offset = payload.get_address() - base;
        if (offset + payload.get_data_length() > bytes.size())
            return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        if (payload.is_write())
            std::memcpy(&bytes[offset], payload.get_data_ptr(), payload.get_data_length());
        else
            std::memcpy(payload.get_data_ptr(), &bytes[offset], payload.get_data_length());
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    bool asked_for_pointer(plug&, tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) override {
        dmi.allow_read_write();
        dmi.set_dmi_ptr(bytes.data());
        dmi.set_start_address(base);
        dmi.set_end_address(base + bytes.size() - 1);
        return true;
    }
    void pointers_revoked(plug&, std::uint64_t, std::uint64_t) override { ++revocations; }
    void link_erred(plug&, link_error error) override { errors.push_back(error); }
    void link_changed(plug&) override { ++changes; }
};

}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/tlm/shifted.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// A target socket that decodes addresses to parts of its module. The window [first, first + size),
/// in bytes, is served by a register_bank or another object with the same functions; its addresses
/// start at `part_first`. The first byte of an access selects the part, which refuses accesses
/// beyond its end. Outside the windows: TLM_ADDRESS_ERROR_RESPONSE; debug accesses transfer no
/// bytes.
class window_socket : public target_socket<window_socket> {
public:
    explicit window_socket(const char* name) : target_socket(name) {
        register_b_transport(this, &window_socket::access);
        register_transport_dbg(this, &window_socket::debug_access);
    }

    /// Maps a window. `part` must live as long as the socket and have functions access() and
    /// debug_access() like register_bank's. Of overlapping windows, the first mapped one applies.
    template <class Part>
    void map(std::uint64_t first, std::uint64_t size, Part& part, std::uint64_t part_first = 0) {
        map<&Part::access, &Part::debug_access>(first, size, part, part_first);
    }
    /// Like map(), with other function names.
    template <auto Access, auto DebugAccess, class Part>
    void map(std::uint64_t first, std::uint64_t size, Part& part, std::uint64_t part_first = 0) {
        windows_.push_back({first, size, first - part_first, &part,
                            [](void* target, payload& request, sc_core::sc_time& delay) {
                                (static_cast<Part*>(target)->*Access)(request, delay);
                            },
                            [](void* target, payload& request) {
                                return (static_cast<Part*>(target)->*DebugAccess)(request);
                            }});
    }
    /// Forwards DMI requests to `part`, with addresses of the socket; without this call they are
    /// refused.
    template <auto GetDirectMemPtr, class Part>
    void grant_pointers(Part& part) {
        pointers_of_ = &part;
        get_pointer_ = [](void* target, payload& request, tlm::tlm_dmi& dmi) {
            return (static_cast<Part*>(target)->*GetDirectMemPtr)(request, dmi);
        };
        register_get_direct_mem_ptr(this, &window_socket::get_pointer);
    }

private:
    using payload = tlm::tlm_generic_payload;
    struct window {
        std::uint64_t first, size;
        std::uint64_t shift;  ///< subtracted from addresses
        void* part;
        void (*access)(void* part, payload& request, sc_core::sc_time& delay);
        unsigned (*debug_access)(void* part, payload& request);
    };

    const window* find(std::uint64_t address) const {
        for (const window& each : windows_)
            if (address - each.first < each.size) return &each;
        return nullptr;
    }
    void access(payload& request, sc_core::sc_time& delay) {
        const window* const hit = find(request.get_address());
        if (hit == nullptr) return request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        const shifted local(request, hit->shift);
        hit->access(hit->part, request, delay);
    }
    unsigned debug_access(payload& request) {
        const window* const hit = find(request.get_address());
        if (hit == nullptr) return 0;
        const shifted local(request, hit->shift);
        return hit->debug_access(hit->part, request);
    }
    bool get_pointer(payload& request, tlm::tlm_dmi& dmi) {
        return get_pointer_(pointers_of_, request, dmi);
    }

    std::vector<window> windows_;
    void* pointers_of_ = nullptr;
    bool (*get_pointer_)(void* part, payload& request, tlm::tlm_dmi& dmi) = nullptr;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "models/pcie/root_complex/host_function.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn::pcie {

/// The processors' side of a root complex as sockets, for processors and memory that are other
/// models: `bus`, the physical addresses at which software finds configuration space (7.2.2,
/// enhanced configuration access mechanism) and BARs; and `memory`, where requests of functions
/// leave that are for no other function. Both may be unbound.
///
/// A request on `bus` without completion has TLM_ADDRESS_ERROR_RESPONSE, and all ones as read data.
/// A configuration request to a function that does not exist has all ones alone: it is how software
/// searches. For an operating system, which has no use for a bus error, all ones are all that any
/// request without completion has, as behind the root complex of a server.
class processor_bus {
public:
    /// Physical addresses of configuration space, of 256 buses; as on QEMU's q35.
    static constexpr std::uint64_t window = 0xb000'0000, window_size = std::uint64_t{1} << 28;

    /// To be constructed as a part of the root complex, of which the sockets are children.
    processor_bus(host_bus& root, bool reports_errors);

    bool has_memory() const { return memory_.size() != 0; }
    /// Requests of functions to `memory`. Precondition: has_memory().
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        memory_->b_transport(payload, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
        return memory_->transport_dbg(payload);
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        return memory_->get_direct_mem_ptr(payload, dmi);
    }
    /// Pointers of processors into BARs are invalid.
    void revoke_pointers(std::uint64_t first = 0, std::uint64_t last = ~std::uint64_t{0}) {
        if (bus_.size() != 0) bus_->invalidate_direct_mem_ptr(first, last);
    }

private:
    using payload = tlm::tlm_generic_payload;
    class decoded;

    static bool is_configuration(const payload& request);
    void access(payload& request, sc_core::sc_time& delay);
    unsigned debug_access(payload& request);
    bool get_pointer(payload& request, tlm::tlm_dmi& dmi);
    void memory_revoked(sc_dt::uint64 first, sc_dt::uint64 last);

    host_bus& root_;
    const bool reports_errors_;
    optional_target_socket<processor_bus> bus_{"bus"};
    tlm_utils::simple_initiator_socket_optional<processor_bus, 64> memory_{"memory"};
};

}  // namespace trn::pcie

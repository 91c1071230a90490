// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/bridges/coding_style.h"
#include "platform/framework/bridges/initiator_bridge.h"
#include "platform/framework/bridges/phase_bridge.h"
#include "platform/framework/bridges/thread_bridge.h"
#include "platform/framework/bridges/width_adapter.h"

namespace trn {

/// Binds sockets of this project and of foreign models, and inserts what they need in between:
/// bridges for coding styles, adapters for widths. Owns what it inserts, as children of the module
/// that constructs the binder. Sockets that cannot be bound are an SC_ERROR with the names and
/// widths of both (reports.h: binding_type).
class socket_binder {
public:
    /// Binds an initiator socket to a target socket, both of the base protocol.
    template <class Initiator, class Target>
    void bind(Initiator& initiator, Target& target,
              coding_style initiator_style = coding_style::restricted,
              coding_style target_style = coding_style::restricted) {
        if (!admit(end_of(initiator), end_of(target))) return;
        if (initiator_style == target_style) return join(initiator, target);
        if (initiator_style == coding_style::restricted)
            return join_target(initiator, target, target_style);
        auto& bridge = insert<initiator_bridge>("initiator_bridge");
        bridge.name_initiator(initiator.name());
        join(initiator, bridge.in);
        join_target(bridge.out, target, target_style);
    }
    /// The modules that were inserted, in the order of the bindings.
    const std::vector<std::unique_ptr<sc_core::sc_module>>& inserted() const { return inserted_; }

private:
    using forward = tlm::tlm_fw_transport_if<>;
    using backward = tlm::tlm_bw_transport_if<>;

    template <unsigned Width>
    static std::integral_constant<unsigned, Width> width_type(
        const tlm::tlm_base_initiator_socket_b<Width, forward, backward>&);
    template <unsigned Width>
    static std::integral_constant<unsigned, Width> width_type(
        const tlm::tlm_base_target_socket_b<Width, forward, backward>&);

    template <class Module>
    Module& insert(const char* name) {
        auto added = std::make_unique<Module>(sc_core::sc_gen_unique_name(name));
        Module& module = *added;
        inserted_.push_back(std::move(added));
        return module;
    }
    template <class Initiator, class Target>
    void join_target(Initiator& initiator, Target& target, coding_style style) {
        if (style == coding_style::restricted) return join(initiator, target);
        if (style == coding_style::loosely_timed)
            return join_through(initiator, insert<thread_bridge>("thread_bridge"), target);
        join_through(initiator, insert<phase_bridge>("phase_bridge"), target);
    }
    template <class Initiator, class Bridge, class Target>
    void join_through(Initiator& initiator, Bridge& bridge, Target& target) {
        join(initiator, bridge.in);
        join(bridge.out, target);
    }
    template <class Initiator, class Target>
    void join(Initiator& initiator, Target& target) {
        constexpr unsigned initiator_width = decltype(width_type(initiator))::value;
        constexpr unsigned target_width = decltype(width_type(target))::value;
        if constexpr (initiator_width == target_width) {
            initiator.bind(target);
        } else {
            auto& adapter = insert<width_adapter<initiator_width, target_width>>("width_adapter");
            initiator.bind(adapter.in);
            adapter.out.bind(target);
        }
    }
    /// Whether a socket takes one binding only.
    template <unsigned Width, int Bindings, sc_core::sc_port_policy Policy>
    static bool is_single(
        const tlm::tlm_base_initiator_socket<Width, forward, backward, Bindings, Policy>&) {
        return Bindings == 1;
    }
    template <unsigned Width, int Bindings, sc_core::sc_port_policy Policy>
    static bool is_single(
        const tlm::tlm_base_target_socket<Width, forward, backward, Bindings, Policy>&) {
        return Bindings == 1;
    }

    struct end {
        std::string name;
        unsigned width;
        bool is_single;
    };
    template <class Socket>
    static end end_of(const Socket& socket) {
        return {socket.name(), socket.get_bus_width(), is_single(socket)};
    }
    /// Reports widths that are not supported, and sockets that are bound: false.
    bool admit(const end& initiator, const end& target);

    std::vector<std::unique_ptr<sc_core::sc_module>> inserted_;
    std::map<std::string, std::string> peers_;  // by the names of sockets with one binding
};

}  // namespace trn

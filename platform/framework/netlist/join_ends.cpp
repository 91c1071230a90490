// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/join_ends.h"

#include <tlm>

#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/plug.h"

namespace trn {

namespace {

using fw_if = tlm::tlm_fw_transport_if<>;
using bw_if = tlm::tlm_bw_transport_if<>;
using any_target = tlm::tlm_base_target_socket_b<64, fw_if, bw_if>;
template <int N, sc_core::sc_port_policy Policy>
using initiator = tlm::tlm_base_initiator_socket<64, fw_if, bw_if, N, Policy>;

template <class Socket>
bool bind_as(sc_core::sc_object& source, any_target& target) {
    auto* socket = dynamic_cast<Socket*>(&source);
    if (socket != nullptr) socket->bind(target);
    return socket != nullptr;
}

/// A socket's class depends on its binding policy, and bind() is virtual only in derived classes.
bool bind_sockets(sc_core::sc_object& source, sc_core::sc_object& target) {
    auto* socket = dynamic_cast<any_target*>(&target);
    if (socket == nullptr) return false;
    using enum sc_core::sc_port_policy;
    return bind_as<initiator<1, SC_ONE_OR_MORE_BOUND>>(source, *socket) ||
           bind_as<initiator<1, SC_ZERO_OR_MORE_BOUND>>(source, *socket) ||
           bind_as<initiator<0, SC_ONE_OR_MORE_BOUND>>(source, *socket) ||
           bind_as<initiator<0, SC_ZERO_OR_MORE_BOUND>>(source, *socket);
}

bool bind_lines(sc_core::sc_object& source, sc_core::sc_object& target, unsigned line) {
    auto* output = dynamic_cast<irq_out*>(&source);
    auto* input = dynamic_cast<irq_in*>(&target);
    if (output == nullptr || input == nullptr || line >= input->lines()) return false;
    output->bind(*input, line);
    return true;
}

bool join_plugs(sc_core::sc_object& first, sc_core::sc_object& second) {
    auto* a = dynamic_cast<plug*>(&first);
    auto* b = dynamic_cast<plug*>(&second);
    if (a == nullptr || b == nullptr) return false;
    a->join(*b);
    return true;
}

}  // namespace

bool join_ends(sc_core::sc_object& source, sc_core::sc_object& target, unsigned line) {
    return bind_sockets(source, target) || bind_lines(source, target, line) ||
           join_plugs(source, target);
}

}  // namespace trn

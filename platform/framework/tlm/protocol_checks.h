// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <systemc>
#include <tlm>

namespace trn {

class protocol_checker;

/// Whose rules hold at a socket.
enum class protocol {
    restricted,  ///< this project's (doc/tlm.md)
    base,        ///< TLM-2.0's base protocol
    any,         ///< what both have: for modules that pass either
};

/// The checks of the calls through one socket (base_protocol.h). Decides when it is constructed
/// whether the socket is checked: a call through one that is not costs nothing.
class protocol_checks {
public:
    protocol_checks(const sc_core::sc_object& socket, protocol rules);
    ~protocol_checks();
    protocol_checks(const protocol_checks&) = delete;
    protocol_checks& operator=(const protocol_checks&) = delete;

    /// The interface to be called in place of `target`, which it calls.
    tlm::tlm_fw_transport_if<>* around(tlm::tlm_fw_transport_if<>* target) const {
        return checker_ == nullptr ? target : checked(target);
    }
    /// The interface to be called in place of `initiator`, which it calls.
    tlm::tlm_bw_transport_if<>* around(tlm::tlm_bw_transport_if<>* initiator) const {
        return checker_ == nullptr ? initiator : checked(initiator);
    }

private:
    tlm::tlm_fw_transport_if<>* checked(tlm::tlm_fw_transport_if<>* target) const;
    tlm::tlm_bw_transport_if<>* checked(tlm::tlm_bw_transport_if<>* initiator) const;

    const std::unique_ptr<protocol_checker> checker_;
};

}  // namespace trn

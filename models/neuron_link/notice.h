// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/neuron_link/fabric_identity_regs.h"
#include "models/pcie/config_request.h"
#include "platform/framework/tlm/plug.h"

namespace trn::fabric {

/// Requests the partner to read the identity of this end again. Takes no time: a notice carries no
/// data that could arrive too early.
inline void send_notice(plug& through) {
    std::uint32_t word = 1;
    pcie::config_request notice(tlm::TLM_WRITE_COMMAND,
                                fabric_identity_regs::offset(fabric_identity_regs::reg::notice),
                                word);
    sc_core::sc_time ignored;
    through.send(notice.payload, ignored);
}

}  // namespace trn::fabric

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/pcie/config_request.h"
#include "models/scale_up/neuron_link/fabric_identity_regs.h"
#include "platform/framework/tlm/plug.h"

namespace trn::fabric {

/// Writes a notice to the partner, which then reads the identity of this end again. It takes no
/// time, since it carries no data that could arrive too early.
inline void send_notice(plug& through) {
    std::uint32_t word = 1;
    pcie::config_request notice(tlm::TLM_WRITE_COMMAND,
                                fabric_identity_regs::offset(fabric_identity_regs::reg::notice),
                                word);
    sc_core::sc_time ignored;
    through.send(notice.payload, ignored);
}

}  // namespace trn::fabric

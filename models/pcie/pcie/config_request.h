// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

#include "models/pcie/pcie/tlp.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::pcie {

/// A configuration request that reads or writes the 32-bit `word`, which must outlive it. The
/// completer sets the response, and optionally tlp::completer.
class config_request {
public:
    config_request(tlm::tlm_command command, std::uint64_t offset, std::uint32_t& word,
                   function_id target = 0) {
        header.destination = tlp::space::config;
        header.target = target;
        set_access(payload, command, offset, &word, sizeof word);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        payload.set_extension(&header);
    }
    ~config_request() { payload.clear_extension(&header); }
    config_request(const config_request&) = delete;
    config_request& operator=(const config_request&) = delete;

    tlp header;
    tlm::tlm_generic_payload payload;
};

}  // namespace trn::pcie

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/results/message.h"

#include <nlohmann/json.hpp>

#include "platform/framework/process/output_log.h"

namespace trn::scenario {

void send_line(int pipe, const nlohmann::json& message) {
    write_all(pipe, message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace trn::scenario

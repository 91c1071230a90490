// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "platform/framework/netlist/plan/plan.h"
#include "platform/framework/netlist/system.h"

namespace trn {

/// "server0" of "server0.linux0"; "" of a path without a dot.
std::string_view parent_path(std::string_view path);

/// SMBIOS product name of the board's servers: its parameter `product`; "": none.
std::string product_of(const plan& board);

/// The instance id of the server's metadata service; without a service, one made from the server's
/// `number`, from 1. `server`: path; "": the only one.
std::string instance_id_of(const system& built, std::string_view server, unsigned number);

}  // namespace trn

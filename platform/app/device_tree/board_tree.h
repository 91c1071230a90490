// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/app/device_tree/device_tree.h"
#include "platform/framework/netlist/plan.h"
#include "platform/framework/netlist/system.h"

namespace trn {

/// The modules of a board that hold the images of stock software, as indices: one for each
/// processor that runs it.
std::vector<std::uint32_t> image_stores(const plan& board);

/// The files of its images, as the board names them.
std::vector<std::string> boot_files_of(const plan& board, std::uint32_t store);

/// What the processor beside an image store finds: the devices of its address map below 4 GiB, and
/// their interrupts.
machine_description describe_processor(const plan& board, std::uint32_t store);

/// Gives each image store the device tree of its processor.
void store_device_trees(const system& built);

}  // namespace trn

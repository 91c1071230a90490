// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/app/device_tree/device_tree.h"
#include "platform/framework/netlist/plan/plan.h"
#include "platform/framework/netlist/system.h"

namespace trn {

/// Indices of the modules that hold images of stock software; each serves one processor.
std::vector<std::uint32_t> image_stores(const plan& board);

/// The image files of `store`, as the board names them.
std::vector<std::string> boot_files_of(const plan& board, std::uint32_t store);

/// The machine as seen by the processor of an image store: the devices below 4 GiB in its address
/// map, and their interrupts.
machine_description describe_processor(const plan& board, std::uint32_t store);

/// Generates a device tree for each processor, and stores it in the processor's image store.
void store_device_trees(const system& built);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// Whether the module is a disk, whose image is a file that it writes.
bool is_disk(const plan::module& m);
/// The files that the board's disks read and write, as the board names them.
std::set<std::string> disk_images_of(const plan& board);
/// Replaces the file of each disk by `file_for(name)`.
void replace_disk_images(plan& board,
                         const std::function<std::string(const std::string& name)>& file_for);

/// Makes all disks leave their images unchanged: what they write stays in memory.
void protect_disk_images(plan& board);

/// Copies a disk's image into an empty file; holes stay holes. \throws std::system_error
void copy_disk_image(const std::filesystem::path& source, int destination);

}  // namespace trn

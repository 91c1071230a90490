// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "platform/app/guest/image.h"
#include "platform/app/guest/machine.h"
#include "platform/app/trnvp_guest/options.h"

namespace trn {

/// Our initramfs with the modules and programs of the command line; nothing when the command line
/// names another initramfs. \throws user_error for missing files and for two files of the same name
std::optional<guest_image> guest_image_of(const guest_options& chosen);

/// The guest machine as far as the command line defines it; the rest depends on the board. \throws
/// user_error for missing files
guest_machine guest_machine_of(const guest_options& chosen);

}  // namespace trn

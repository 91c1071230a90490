// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "platform/app/commands/guest_options.h"
#include "platform/app/guest/image.h"
#include "platform/app/guest/machine.h"

namespace trn {

/// Our initramfs with the modules and programs of the command line; nothing when the user has an
/// initramfs of their own. \throws user_error for files that are missing or have one name
std::optional<guest_image> guest_image_of(const guest_options& chosen);

/// What the command line says of the machine; the rest depends on the board.
/// \throws user_error for files that are missing
guest_machine guest_machine_of(const guest_options& chosen);

}  // namespace trn

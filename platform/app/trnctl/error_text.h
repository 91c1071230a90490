// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/log_reports.h"
#include "platform/framework/output.h"
#include "sw-stubs/host/machine/device.h"

namespace trn {

/// An error as trnctl prints it after its own name.
inline std::string error_text(const std::exception& error) {
    if (const auto* failed = dynamic_cast<const device_error*>(&error))
        return fmt::format("{}: {}", trn_status_text(failed->status), failed->what());
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return out_of_memory;
    return printable_lines(log::sentence(error));
}

}  // namespace trn

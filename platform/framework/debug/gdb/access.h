// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "platform/framework/kernel/debug_target.h"

/// Packets that read and write a hart's registers and memory. Each function returns the reply.
namespace trn::gdb {

std::string read_registers(debug_target& hart);
std::string write_registers(debug_target& hart, std::string_view hex);
std::string read_register(debug_target& hart, std::string_view number_text);
std::string write_register(debug_target& hart, std::string_view assignment);
std::string read_memory(debug_target& hart, std::string_view range_text);
std::string write_memory(debug_target& hart, std::string_view range_text,
                         std::span<const std::byte> bytes);

}  // namespace trn::gdb

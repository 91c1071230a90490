// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trn {

/// Type of what board modules report by sc_report, as foreign models do; each is an SC_ERROR.
inline constexpr char board_report[] = "/trn/board";

void report_board(const std::string& text);

}  // namespace trn

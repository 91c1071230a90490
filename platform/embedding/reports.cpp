// SPDX-License-Identifier: Apache-2.0
#include "platform/embedding/reports.h"

#include <systemc>

namespace trn {

void report_board(const std::string& text) {
    SC_REPORT_ERROR(board_report, text.c_str());
}

}  // namespace trn

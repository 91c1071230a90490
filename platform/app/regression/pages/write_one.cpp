// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/write_one.h"

#include <fmt/format.h>

#include <exception>

#include "platform/app/report_file.h"

namespace trn::regression {

std::string write_one(const std::filesystem::path& file, const std::function<std::string()>& text) {
    try {
        if (!file.empty()) write_report(file, text());
    } catch (const std::exception& wrong) {
        return fmt::format("{}\n", wrong.what());
    }
    return {};
}

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "platform/framework/config/document.h"
#include "platform/framework/registers/exchange/exchange.h"

namespace trn::registers {

/// Places and mistakes of a foreign text. The first mistake ends the reading.
class foreign_reader {
public:
    explicit foreign_reader(const foreign_text& file) : file_(file) {}

    [[noreturn]] void refuse(const config::place& place, mistake code, std::string message,
                             std::string suggestion = "") const;
    /// For what the text says and registers here do not have.
    [[noreturn]] void unsupported(const config::place& place, const std::string& thing,
                                  std::string suggestion = "") const {
        refuse(place, mistake::wrong_shape, thing + " is not supported", std::move(suggestion));
    }
    void leave_out(const config::place& place, const std::string& reason);

    const foreign_text& file() const { return file_; }
    std::vector<std::string> take_left_out() { return std::move(left_out_); }

private:
    const foreign_text& file_;
    std::vector<std::string> left_out_;
};

}  // namespace trn::registers

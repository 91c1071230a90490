// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/exchange/foreign_reader.h"

namespace trn::registers {

namespace {

constexpr std::size_t max_left_out = 100;

}  // namespace

void foreign_reader::refuse(const config::place& place, mistake code, std::string message,
                            std::string suggestion) const {
    diagnostic problem{.code = code,
                       .file = file_.name,
                       .line = place.line,
                       .column = place.column,
                       .message = std::move(message),
                       .suggestion = std::move(suggestion)};
    problem.length = place.length;
    std::string_view text = file_.text;
    for (int line = 1; line < place.line; ++line)
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (place.line > 0) problem.quote(text.substr(0, text.find('\n')));
    throw config_error(std::move(problem));
}

void foreign_reader::leave_out(const config::place& place, const std::string& reason) {
    if (left_out_.size() < max_left_out)
        left_out_.push_back(fmt::format("{}:{}:{}: {}", printable(file_.name), place.line,
                                        place.column, printable(reason)));
    else if (left_out_.size() == max_left_out)
        left_out_.push_back(fmt::format("{}: and more", printable(file_.name)));
}

}  // namespace trn::registers

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/control_call.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <vector>

#include "platform/app/recording/log/event.h"

namespace trn::recording {

using rpc::json;

void check_parameters(const json& parameters) {
    if (const auto size = rpc::to_line(parameters).size(); size > max_parameters)
        throw rpc::error(rpc::code::failed,
                         fmt::format("a call in a recorded session (--record) has parameters of at "
                                     "most {} bytes, these have {}",
                                     max_parameters, size));
}

std::string kept_answer(const json& answer) {
    const auto text = rpc::to_line(answer);
    if (text.size() <= max_answer) return text;
    const auto digest = kept({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return rpc::to_line({{"bytes", text.size()}, {"digest", digest}});
}

std::string text_of_call(std::string_view method, const json& parameters, const json& answer) {
    return fmt::format(R"({{"method":{},"params":{},"answer":{}}})", rpc::to_line(method),
                       rpc::to_line(parameters), kept_answer(answer));
}

}  // namespace trn::recording

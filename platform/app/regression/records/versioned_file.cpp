// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/records/versioned_file.h"

#include <fmt/format.h>

#include <vector>

#include "platform/app/regression/records/fields.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/json.h"

namespace trn::regression {

namespace {

constexpr std::uint64_t max_versioned_bytes = std::uint64_t{64} << 20;

}  // namespace

nlohmann::json read_versioned(const std::filesystem::path& file, const file_format& format) {
    const auto name = file.string();
    std::vector<std::uint8_t> bytes;
    try {
        bytes = read_file(file, max_versioned_bytes);
    } catch (const file_error& why) {
        throw file_error(fmt::format("{}: {}", name, why.what()));
    }
    auto value = config::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (value.is_discarded()) throw file_error(name + ": this file is not JSON, or was cut");
    const fields top(value, name);
    if (!top.has(format.key))
        throw file_error(
            fmt::format("{}: this is not a file of {} of trnvp test", name, format.content));
    if (const auto found = top.number(format.key); found != format.version)
        throw file_error(fmt::format("{}: version {} of the format; this program reads version {}",
                                     name, found, format.version));
    return value;
}

}  // namespace trn::regression

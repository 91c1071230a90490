// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/growing_file.h"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

#include "platform/app/commands/guarded.h"
#include "platform/framework/output.h"

namespace trn {

growing_file::growing_file(std::string_view option, const std::string& path) try
    : streamed_file(path) {
} catch (const std::system_error& refused) {
    throw user_error(
        fmt::format("{}: cannot write {}: {}", option, path, refused.code().message()));
}

const std::string& growing_file::finish() {
    flush();
    if (!failure().empty()) print_to(stderr, "trnvp: {}\n", failure());
    return failure();
}

}  // namespace trn

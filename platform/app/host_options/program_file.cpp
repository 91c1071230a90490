// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_options/program_file.h"

#include <algorithm>
#include <string_view>

#include "models/assembler/assembler.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/file.h"

namespace trn {

std::vector<std::uint8_t> read_program_file(const std::string& path) {
    constexpr std::uint64_t max_bytes = 256 << 20;
    auto file = read_file(path, max_bytes);
    if (isa::is_program_set(file)) return file;
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    if (text.find('\0') != text.npos) throw file_error("neither a program set nor the text of one");
    const isa::program_set set = isa::assemble_set(text, path);
    if (set.streams.empty() || !set.streams.front().engine)
        throw file_error("no engine has a program: a line such as '.engine vector' is missing");
    return isa::write_program_set(set);
}

}  // namespace trn

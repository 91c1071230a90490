// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_options/program_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

#include "models/neuron_isa/assembler/assembler.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/file.h"

namespace trn {

namespace {

/// Replaces the value after ".set NAME" in `text`; line numbers stay the same.
void set_constant(std::string& text, const std::string& name, const std::string& value) {
    constexpr std::string_view directive = ".set";
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        std::istringstream words(text.substr(begin, end - begin));
        std::string word, found;
        if (!(words >> word >> found) || word != directive || found != name) continue;
        return void(
            text.replace(begin, end - begin, fmt::format("{} {} {}", directive, name, value)));
    }
    throw file_error(fmt::format("it has no line '.set {} ...'", name));
}

}  // namespace

std::vector<std::uint8_t> read_program_file(const std::string& path,
                                            const program_constants& constants) {
    constexpr std::uint64_t max_bytes = 256 << 20;
    auto file = read_file(path, max_bytes);
    if (isa::is_program_set(file)) {
        if (!constants.empty()) throw file_error("a program set in its binary form has no .set");
        return file;
    }
    std::string text(file.begin(), file.end());
    if (text.find('\0') != text.npos) throw file_error("neither a program set nor the text of one");
    for (const auto& [name, value] : constants) set_constant(text, name, value);
    const isa::program_set set = isa::assemble_set(text, path);
    if (set.streams.empty() || !set.streams.front().engine)
        throw file_error("no engine has a program: a line such as '.engine vector' is missing");
    return isa::write_program_set(set);
}

}  // namespace trn

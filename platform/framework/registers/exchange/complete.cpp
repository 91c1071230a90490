// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "platform/framework/registers/exchange/exchange.h"
#include "platform/framework/registers/generator/emit.h"

namespace trn::registers {

namespace {

/// "first on line 7" of the written YAML, with the line of the foreign text.
std::string moved_line(std::string text, const std::vector<config::place>& origins) {
    const auto start = text.rfind("line ");
    std::size_t line = 0;
    if (start == text.npos) return text;
    const char* const begin = text.data() + start + 5;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), line);
    if (error != std::errc() || line == 0 || line > origins.size()) return text;
    return text.replace(start + 5, static_cast<std::size_t>(end - begin),
                        std::to_string(origins[line - 1].line));
}

std::string_view line_of(std::string_view text, int line) {
    for (; line > 1; --line) {
        const auto end = text.find('\n');
        if (end == text.npos) return {};
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

}  // namespace

block_spec complete(const foreign_block& read, const foreign_text& file) {
    const auto yaml = write_yaml(read.block, file.name);
    diagnostics problems;
    try {
        const auto document =
            config::document::parse(yaml.text, read.block.block + ".regs.yaml", problems);
        auto block = read_block(document);
        problems.throw_if_any();
        check_names(document, block);
        problems.throw_if_any();
        return block;
    } catch (const config_error& error) {
        auto list = error.list();
        for (auto& each : list) {
            const auto line = static_cast<std::size_t>(each.line);
            const auto place =
                line > 0 && line <= yaml.origins.size() ? yaml.origins[line - 1] : config::place{};
            each.file = file.name;
            each.line = place.line;
            each.column = place.column;
            each.length = place.length;
            each.source_line.clear();
            if (place.line > 0) each.quote(line_of(file.text, place.line));
            each.suggestion = moved_line(each.suggestion, yaml.origins);
        }
        // A register's keys are lines of their own: one message per place and mistake.
        const auto same = [](const diagnostic& a, const diagnostic& b) {
            return a.line == b.line && a.column == b.column && a.message == b.message;
        };
        list.erase(std::unique(list.begin(), list.end(), same), list.end());
        throw config_error(std::move(list));
    }
}

}  // namespace trn::registers

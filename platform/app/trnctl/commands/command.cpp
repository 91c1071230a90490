// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnctl/commands/command.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>
#include <variant>

#include "platform/app/host_options/location_text.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"

namespace trn {

session& invocation::running(session& platform) const {
    if (target.connect.empty())
        throw user_error("this command needs a running platform: --connect DIR");
    return platform;
}

cli::command* add_command(cli::command& parent, invocation& line, const std::string& name,
                          const std::string& help, invocation::work work) {
    auto* command = parent.add_subcommand(name, help);
    command->fallthrough();
    command->callback([&line, work = std::move(work)] { line.chosen = work; });
    return command;
}

cli::command* add_command_group(cli::command& app, const std::string& name,
                                const std::string& help) {
    auto* group = app.add_subcommand(name, help);
    group->require_subcommand(1);
    group->fallthrough();
    return group;
}

location read_place(const std::string& text) {
    const auto parsed = parse_location(text);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) throw user_error(*wrong);
    return std::get<location>(parsed);
}

std::uint64_t read_size(const std::string& text) {
    const auto parsed = config::parse_bytes(text);
    if (const auto* good = std::get_if<bytes>(&parsed)) return good->value;
    const auto& wrong = std::get<config::refusal>(parsed);
    throw user_error(fmt::format("size {}", config::refusal_text(wrong)));
}

void add_place(cli::command* command, const std::string& name, location& place,
               const std::string& help) {
    const auto read = [&place](const std::string& text) { place = read_place(text); };
    command->add_option_function<std::string>(name, read, help)->required();
}

void add_nanoseconds(cli::command* command, const std::string& name, std::uint64_t& ns,
                     const std::string& help) {
    const auto read = [&ns, name](const std::string& text) {
        const auto* end = text.data() + text.size();
        const auto [rest, failed] = std::from_chars(text.data(), end, ns);
        if (failed == std::errc{} && rest == end) return;
        const auto parsed = config::parse_time(text);
        if (const auto* wrong = std::get_if<config::refusal>(&parsed))
            throw user_error(fmt::format("{}: {}", name, config::refusal_text(*wrong)));
        const auto ps = std::get<picoseconds>(parsed).value;
        if (ps % 1000 != 0)
            throw user_error(fmt::format("{}: {} is no whole number of ns", name, text));
        ns = ps / 1000;
    };
    command->add_option_function<std::string>(name, read, help)->type_name("TIME");
}

cli::option* add_size(cli::command* command, const std::string& name, std::uint64_t& size,
                      const std::string& help) {
    const auto read = [&size](const std::string& text) { size = read_size(text); };
    return command->add_option_function<std::string>(name, read, help);
}

}  // namespace trn

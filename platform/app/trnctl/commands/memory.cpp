// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <variant>

#include "platform/app/host_options/location_text.h"
#include "platform/app/trnctl/commands/commands.h"
#include "platform/framework/attach/control/hex.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"

namespace trn {

namespace {

constexpr auto spots =
    "hbm0@OFFSET, sbuf0@OFFSET, bar0@OFFSET; a register by its name, such as "
    "chip0.udma0.M2S_STATE.DATA; SPACE@ADDRESS of `list spaces`";

std::uint64_t number_in(const std::string& text, std::size_t begin) {
    const auto number = config::parse_unsigned(std::string_view(text).substr(begin));
    if (const auto* wrong = std::get_if<config::refusal>(&number))
        throw user_error(fmt::format("'{}': {}", text, wrong->message));
    return std::get<std::uint64_t>(number);
}

/// "chip0.udma0.M2S_STATE", or "chip0.hbm0.in@0x1000". Nothing without a dot, which all names of
/// registers and spaces inside a chip have.
std::optional<spot> named_spot(const std::string& text) {
    const auto sign = text.find('@');
    const auto name = text.substr(0, sign);
    if (name.find('.') == name.npos) return std::nullopt;
    if (sign == text.npos) return spot{.text = text, .named = {{{"register", text}}}};
    return spot{.text = text, .named = {{{"space", name}, {"address", number_in(text, sign + 1)}}}};
}

/// A register, memory of the chip, or an address of a space.
spot spot_of(const std::string& text) {
    if (const auto named = named_spot(text)) return *named;
    if (text.starts_with("bar0@")) return {text, number_in(text, 5)};
    const auto memory = parse_location(text);
    if (const auto* wrong = std::get_if<std::string>(&memory))
        throw user_error(*wrong + ", bar0@OFFSET, a register, or SPACE@ADDRESS");
    if (std::get<location>(memory).space == location::kind::host)
        throw user_error("host memory is not the chip's");
    return {text, std::nullopt, std::get<location>(memory)};
}

struct peek_options {
    std::string place = {};
    std::uint64_t count = 64;
};

void add_peek(cli::command& app, invocation& line) {
    const auto options = std::make_shared<peek_options>();
    auto* command =
        add_command(app, line, "peek", "read memory or registers", [options, &line](session& s) {
            peek(s, spot_of(options->place), options->count, line.out);
        });
    command->add_option("at", options->place, spots)->required();
    command->add_option("count", options->count, "bytes")->capture_default_str();
    command->examples({{"trnctl --connect sockets peek hbm0@16MiB 16", "bytes of a memory"},
                       {"trnctl --connect sockets peek bar0@0 4", "a register"}});
}

struct write_options {
    std::string place = {};
    std::optional<std::uint64_t> value = {};
    unsigned width = 4;
    std::string data = {}, file = {};

    content written() const {
        if (value) return {.value = value, .width = width};
        if (!file.empty()) try {
                return {.bytes = read_file(file, 1 << 20)};
            } catch (const file_error& wrong) {
                throw user_error(fmt::format("{}: {}", file, wrong.what()));
            }
        const auto bytes = from_hex(data);
        if (!bytes || bytes->empty())
            throw user_error(data.empty()
                                 ? "give a value, --data or --file"
                                 : fmt::format("--data {}: not bytes in hexadecimal", data));
        content all;
        for (const auto each : *bytes) all.bytes.push_back(std::to_integer<std::uint8_t>(each));
        return all;
    }
};

cli::command* add_write(cli::command& app, invocation& line, const std::string& name,
                        const std::string& help,
                        void (*write)(session&, const spot&, const content&, const output&)) {
    const auto options = std::make_shared<write_options>();
    auto* command = add_command(app, line, name, help, {});
    command->callback([options, &line, write] {
        const auto place = spot_of(options->place);
        const auto bytes = options->written();
        line.chosen = [&line, write, place, bytes](session& s) {
            write(s, place, bytes, line.out);
        };
    });
    command->add_option("at", options->place, spots)->required();
    auto* value = command->add_option("value", options->value, "the value");
    command->add_option("--width", options->width, "bytes of the value")
        ->capture_default_str()
        ->check(cli::one_of_numbers({1, 2, 4, 8}));
    auto* data =
        command->add_option("--data", options->data, "bytes in hexadecimal, such as 0102ff");
    auto* file =
        command->add_option("--file", options->file, "write a file's bytes, at most 1 MiB");
    data->excludes(value)->excludes(file);
    file->excludes(value);
    return command;
}

void add_register_list(cli::command& app, invocation& line) {
    const auto options = std::make_shared<register_choice>();
    auto* command =
        add_command(app, line, "registers", "registers of a module: value, fields, source",
                    [options, &line](session& s) { registers(s, *options, line.out); });
    command->add_option("module", options->module,
                        "full name; without: the modules that have registers");
    command->examples({{"trnctl --connect sockets registers", "modules that have registers"},
                       {"trnctl --connect sockets registers chip0.management.uart LSR",
                        "one register with its fields"}});
    command->add_option("name", options->name, "only this one, with its fields");
    command->add_option("--index", options->index, "of an array");
    command->add_option("--instance", options->instance, "of a block with several");
}

void add_signals(cli::command& app, invocation& line) {
    const auto pattern = std::make_shared<std::string>();
    auto* command =
        add_command(app, line, "signals", "what --vcd-signal can show: lines, registers, states",
                    [pattern, &line](session& s) { signals(s, *pattern, line.out); });
    command->add_option("pattern", *pattern,
                        "names, or the modules that contain them: 'chip0.h2t0.engine128'; '*' and "
                        "'?' for several; without: all");
    command->examples({{"trnctl --connect sockets signals chip0.management.uart", "of a module"},
                       {"trnctl --board trn3-chip signals 'chip0.h2t0.engine*.transactions'",
                        "transactions of several"}});
}

}  // namespace

void add_memory_and_registers(cli::command& app, invocation& line) {
    add_peek(app, line);
    add_write(app, line, "poke", "write memory or a register as a host does: a doorbell rings",
              poke)
        ->examples({{"trnctl --connect sockets poke hbm0@16MiB 0x12345678", "four bytes"},
                    {"trnctl --connect sockets poke hbm0@16MiB --data 0102ff", "three bytes"},
                    {"trnctl --connect sockets poke chip0.udma0.M2S_PREFETCH_CFG_3.BURST 3",
                     "a field of a register, by the control socket"}});
    add_write(app, line, "deposit", "write a named register or space without side effects", deposit)
        ->examples({{"trnctl --connect sockets deposit chip0.management.resets.RESET_COUNT 0",
                     "what software cannot write"},
                    {"trnctl --connect sockets deposit chip0.hbm0.in@0x1000000 --data 0102ff",
                     "bytes of a space"}});
    add_register_list(app, line);
    add_signals(app, line);
}

}  // namespace trn

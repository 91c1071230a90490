// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sw-stubs/trnctl/commands.h"

namespace trn {

namespace {

constexpr std::uint64_t max_peek = 1 << 20;

/// Memory other than HBM is accessed by DMA, which needs rings: resets the device.
void bring_up_for(device& chip, const location& place) {
    chip.check(trn_probe(chip));
    if (place.space != location::kind::hbm) chip.check(trn_reset_device(chip));
}

std::string dump(std::uint64_t first, const std::vector<std::uint8_t>& bytes) {
    std::string text;
    for (std::size_t row = 0; row < bytes.size(); row += 16) {
        text += fmt::format("{}{:012x} ", row ? "\n" : "", first + row);
        for (std::size_t i = row; i < std::min(row + 16, bytes.size()); ++i)
            text += fmt::format(" {:02x}", bytes[i]);
    }
    return text;
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
    std::string text;
    for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

std::vector<std::uint8_t> bytes_of(const content& data) {
    if (!data.value) return data.bytes;
    if (data.width < 8 && *data.value >> (8 * data.width))
        throw user_error(fmt::format("{:#x} does not fit into {} bytes", *data.value, data.width));
    std::vector<std::uint8_t> bytes(data.width);
    std::memcpy(bytes.data(), &*data.value, data.width);  // little endian, as all supported hosts
    return bytes;
}

void report_written(const spot& target, const content& data, const output& out) {
    if (data.value)
        out.result({{"at", target.text}, {"value", *data.value}},
                   fmt::format("{} = {:#x}", target.text, *data.value));
    else
        out.result({{"at", target.text}, {"bytes", data.bytes.size()}},
                   fmt::format("{}: {} bytes written", target.text, data.bytes.size()));
}

void write_named(session& platform, const char* method, const spot& target, const content& data,
                 const output& out) {
    auto params = *target.named;
    const bool is_register = params.contains("register");
    if (is_register && !data.value) throw user_error("a register takes a value, not bytes");
    if (is_register)
        params["value"] = *data.value;
    else
        params["data"] = hex(bytes_of(data));
    platform.call(method, params);
    report_written(target, data, out);
}

std::pair<trn_sync_block, std::uint32_t> block_of(const sync_options& options) {
    if (options.core.has_value() == options.top_sp.has_value())
        throw user_error("give --core N or --top-sp N");
    return options.core ? std::pair{TRN_SYNC_CORE, *options.core}
                        : std::pair{TRN_SYNC_TOP_SP, *options.top_sp};
}

/// The value of the verb; 0 for a verb that only reads. \throws user_error if the value is missing,
/// not taken by the verb, or outside `min` to `max`
std::int64_t value_of(const sync_options& options, std::int64_t min, std::int64_t max) {
    const bool reads = options.verb == "read" || options.verb == "get";
    if (reads && options.value) throw user_error(options.verb + " takes no value");
    if (reads) return 0;
    if (!options.value) throw user_error(options.verb + " needs a value");
    if (*options.value < min || *options.value > max)
        throw user_error(
            fmt::format("{} takes {} to {}, not {}", options.verb, min, max, *options.value));
    return *options.value;
}

void peek_named(session& platform, const spot& target, std::uint64_t size, const output& out) {
    auto params = *target.named;
    if (params.contains("register")) {
        const auto found = platform.call("peek", params);
        const auto value = found.at("value").get<std::uint64_t>();
        return out.result({{"at", target.text}, {"value", value}},
                          fmt::format("{} = {:#x}", target.text, value));
    }
    params["size"] = size;
    const auto data = platform.call("peek", params).at("data").get<std::string>();
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < data.size(); i += 2)
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(data.substr(i, 2), nullptr, 16)));
    out.result({{"at", target.text}, {"data", data}},
               dump(params.at("address").get<std::uint64_t>(), bytes));
}

}  // namespace

void peek(session& platform, const spot& target, std::uint64_t size, const output& out) {
    if (size == 0 || size > max_peek) throw user_error("peek shows 1 byte to 1 MiB");
    if (const auto offset = target.bar0)
        return run_probed(platform, [&](device& chip) {
            if (trn_range_wraps(*offset, size))
                throw user_error(
                    fmt::format("{} bytes at {:#x} pass the end of BAR0", size, *offset));
            for (std::uint64_t done = 0; done < size; done += 4) {
                const auto place = *offset + done;
                std::uint32_t value = 0;
                chip.check(trn_bar_read(chip, place, &value));
                out.result({{"offset", place}, {"value", value}},
                           fmt::format("bar0@{:#010x}  {:#010x}", place, value));
            }
        });
    if (target.named) return peek_named(platform, target, size, out);
    const auto& memory = target.memory;
    platform.run([&](device& chip) {
        bring_up_for(chip, memory);
        const auto bytes = read_memory(chip, memory, size);
        out.result({{"at", memory.text()}, {"data", hex(bytes)}}, dump(memory.offset, bytes));
    });
}

void poke(session& platform, const spot& target, const content& data, const output& out) {
    if (target.named) return write_named(platform, "poke", target, data, out);
    const auto bytes = bytes_of(data);
    if (const auto offset = target.bar0) {
        if (bytes.size() % 4 != 0) throw user_error("registers of BAR0 are 4 bytes wide");
        run_probed(platform, [&](device& chip) {
            for (std::size_t done = 0; done < bytes.size(); done += 4) {
                std::uint32_t word = 0;
                std::memcpy(&word, &bytes[done], sizeof word);
                chip.check(trn_bar_write_raw(chip, *offset + done, word));
            }
        });
    } else {
        const auto& memory = target.memory;
        platform.run([&](device& chip) {
            bring_up_for(chip, memory);
            write_memory(chip, memory, bytes);
        });
    }
    report_written(target, data, out);
}

void deposit(session& platform, const spot& target, const content& data, const output& out) {
    if (!target.named)
        throw user_error(fmt::format(
            "'{}': deposit writes a register, such as chip0.udma0.M2S_STATE, or SPACE@ADDRESS of "
            "`list spaces`",
            target.text));
    write_named(platform, "deposit", target, data, out);
}

void semaphore(session& platform, const sync_options& options, const output& out) {
    const auto [block, number] = block_of(options);
    const auto index = options.index;
    using limits = std::numeric_limits<std::int32_t>;
    const auto given = static_cast<std::int32_t>(
        value_of(options, options.verb == "set" ? limits::min() : 0, limits::max()));
    const auto amount = static_cast<std::uint32_t>(given);
    run_probed(platform, [&, block = block, number = number](device& chip) {
        if (options.verb == "set") chip.check(trn_semaphore_set(chip, block, number, index, given));
        if (options.verb == "inc")
            chip.check(trn_semaphore_increment(chip, block, number, index, amount));
        if (options.verb == "dec")
            chip.check(trn_semaphore_decrement(chip, block, number, index, amount));
        std::int32_t value = 0;
        chip.check(trn_semaphore_read(chip, block, number, index, &value));
        out.result({{"index", index}, {"value", value}},
                   fmt::format("semaphore {} = {}", index, value));
    });
}

void event(session& platform, const sync_options& options, const output& out) {
    const auto [block, number] = block_of(options);
    const auto set =
        static_cast<std::uint32_t>(value_of(options, 0, std::numeric_limits<std::uint32_t>::max()));
    run_probed(platform, [&, block = block, number = number](device& chip) {
        if (options.verb == "set")
            chip.check(trn_event_set(chip, block, number, options.index, set));
        std::uint32_t value = 0;
        chip.check(trn_event_get(chip, block, number, options.index, &value));
        out.result({{"index", options.index}, {"value", value}},
                   fmt::format("event {} = {}", options.index, value));
    });
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

#include "platform/loader/firmware_file.h"
#include "sw-stubs/host/collective_rules.h"
#include "sw-stubs/trnctl/commands.h"

namespace trn {

namespace {

constexpr std::uint64_t most_image = 65536 + 64;

/// "0-3,7": numbers of chips, in this order; all without any.
std::vector<std::size_t> chosen_chips(const std::string& text, std::size_t count) {
    std::vector<std::size_t> chips;
    if (text.empty()) {
        chips.resize(count);
        std::iota(chips.begin(), chips.end(), std::size_t{0});
        return chips;
    }
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(',', at), text.size());
        const auto part = text.substr(at, end - at);
        std::size_t first = 0, last = 0;
        int used = 0;
        const auto length = static_cast<int>(part.size());
        if (!(std::sscanf(part.c_str(), "%zu-%zu%n", &first, &last, &used) == 2 &&
              used == length)) {
            used = 0;
            if (std::sscanf(part.c_str(), "%zu%n", &first, &used) != 1 || used != length)
                throw user_error(fmt::format("ranks '{}': numbers of chips, such as 0-3,7", text));
            last = first;
        }
        if (last < first || last >= count)
            throw user_error(
                fmt::format("ranks '{}': the board has chips 0 to {}", part, count - 1));
        for (auto n = first; n <= last; ++n) {
            if (std::ranges::find(chips, n) != chips.end())
                throw user_error(fmt::format("ranks '{}': chip {} twice", text, n));
            chips.push_back(n);
        }
        at = end + 1;
    }
    return chips;
}

std::string type_text(trn_element type) {
    for (const auto& each : config::choices<trn_element>::list)
        if (each.value == type) return std::string(each.name);
    return "?";
}

std::vector<std::string> algorithms_of(trn_coll_op op) {
    std::vector<std::string> names;
    for (const auto& each : config::choices<trn_coll_algorithm>::list)
        if (trn_coll_has_algorithm(op, each.value)) names.emplace_back(each.name);
    return names;
}

/// ", sbuf0 to hbm0", unless all buffers are where they are when nobody says.
std::string places_text(const collective_places& places) {
    const auto from = places.send.name(), to = places.receive.name(), by = places.scratch.name();
    const std::string usual = collective_places().send.name();
    if (from == usual && to == usual && by == usual) return "";
    return fmt::format(", {} to {}{}", from, to, by == usual ? "" : " by way of " + by);
}

}  // namespace

void coll(session& where, const coll_options& options, const output& out) try {
    auto request = options.request;
    if (!trn_coll_has_algorithm(request.op, request.algorithm))
        throw user_error(fmt::format("{} has no algorithm {}; it has {}",
                                     trn_coll_op_text(request.op),
                                     trn_coll_algorithm_text(request.algorithm),
                                     fmt::join(algorithms_of(request.op), ", ")));
    if (!options.table.empty()) request.rules = read_collective_rules(options.table);
    const auto chips = chosen_chips(options.ranks, where.chips().size());
    if (chips.size() < 2)
        throw user_error("a collective needs two chips: a board such as trn3-sled");
    try {
        collective_counts(request, chips.size());
    } catch (const device_error& wrong) {
        throw user_error(std::string("--counts: ") + wrong.what());
    }
    const auto image = read_firmware(options.image, most_image);
    collective_group group(where, chips, image);
    const auto done = group.run(request);
    const double wall_s = done.wall_s;
    const double bus =
        done.algorithm_gb_per_s() *
        trn_coll_bus_factor(options.request.op, static_cast<std::uint32_t>(group.ranks()));
    const auto algorithm = trn_coll_algorithm_text(done.algorithm);
    if (!out.json)
        fmt::print(
            "# {} over {} ranks{}, {}{}\n{:>12} {:>12} {:>7} {:>11} {:>8} {:>8} {:>7} {:>8}\n",
            trn_coll_op_text(options.request.op), group.ranks(),
            group.domains() > 1 ? fmt::format(" in {} domains", group.domains()) : "", algorithm,
            places_text(request.places), "size (B)", "count", "type", "time (us)", "algbw", "busbw",
            "#wrong", "wall (s)");
    out.result({{"op", trn_coll_op_text(options.request.op)},
                {"ranks", group.ranks()},
                {"domains", group.domains()},
                {"algorithm", algorithm},
                {"in", request.places.send.name()},
                {"out", request.places.receive.name()},
                {"scratch", request.places.scratch.name()},
                {"bytes", done.bytes},
                {"count", done.elements},
                {"type", type_text(options.request.type)},
                {"time_us", done.ns * 1e-3},
                {"algbw_gb_per_s", done.algorithm_gb_per_s()},
                {"busbw_gb_per_s", bus},
                {"checked", options.request.check},
                {"wrong", done.wrong},
                {"wall_s", wall_s}},
               fmt::format("{:>12} {:>12} {:>7} {:>11.2f} {:>8.2f} {:>8.2f} {:>7} {:>8.2f}",
                           done.bytes, done.elements, type_text(options.request.type),
                           done.ns * 1e-3, done.algorithm_gb_per_s(), bus,
                           options.request.check ? fmt::format("{}", done.wrong) : "N/A", wall_s));
    if (done.wrong != 0)
        throw std::runtime_error(
            fmt::format("{} differences, first {}", done.wrong, done.first_wrong));
} catch (const std::invalid_argument& wrong) {  // ranks that cannot be a group
    throw user_error(wrong.what());
}

}  // namespace trn

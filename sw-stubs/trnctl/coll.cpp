// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sw-stubs/trnctl/commands.h"

namespace trn {

namespace {

std::optional<std::size_t> number_in(std::string_view text) {
    std::size_t number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Parses chip numbers such as "0-3,7", in this order; "": all chips.
std::vector<std::size_t> chosen_chips(const std::string& text, std::size_t count) {
    std::vector<std::size_t> chips;
    if (text.empty()) {
        chips.resize(count);
        std::iota(chips.begin(), chips.end(), std::size_t{0});
        return chips;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        const auto part = text.substr(begin, end - begin);
        const auto dash = std::min(part.find('-'), part.size());
        const auto first = number_in(part.substr(0, dash));
        const auto last = dash == part.size() ? first : number_in(part.substr(dash + 1));
        if (!first || !last)
            throw user_error(fmt::format("ranks '{}': numbers of chips, such as 0-3,7", text));
        if (*last < *first || *last >= count)
            throw user_error(
                fmt::format("ranks '{}': the board has chips 0 to {}", part, count - 1));
        for (auto n = *first; n <= *last; ++n) {
            if (std::ranges::find(chips, n) != chips.end())
                throw user_error(fmt::format("ranks '{}': chip {} twice", text, n));
            chips.push_back(n);
        }
        begin = end + 1;
    }
    return chips;
}

std::vector<std::string> algorithms_of(trn_coll_op op) {
    std::vector<std::string> names;
    for (const auto& each : names_of<trn_coll_algorithm>::list)
        if (trn_coll_has_algorithm(op, each.value)) names.emplace_back(each.name);
    return names;
}

/// ", sbuf0 to hbm0", unless all buffers are in their default places.
std::string places_text(const collective_places& places) {
    const auto send = places.send.name(), receive = places.receive.name(),
               scratch = places.scratch.name();
    const std::string usual = collective_places().send.name();
    if (send == usual && receive == usual && scratch == usual) return "";
    return fmt::format(", {} to {}{}", send, receive,
                       scratch == usual ? "" : " by way of " + scratch);
}

/// Indices of the longest durations, at most `max`, in ascending order.
std::vector<std::size_t> longest(const std::vector<std::uint64_t>& lasts, std::size_t max,
                                 std::vector<std::size_t> chosen = {}) {
    std::vector<std::size_t> order(lasts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t n) { return lasts[n]; });
    for (const auto n : order)
        if (chosen.size() < max && std::ranges::find(chosen, n) == chosen.end())
            chosen.push_back(n);
    std::ranges::sort(chosen);
    return chosen;
}

/// Durations of a rank's steps; the time after the last one counts as a step.
std::vector<std::uint64_t> durations(const collective_result::rank_steps& rank) {
    std::vector<std::uint64_t> all;
    auto begin = rank.begin_ns;
    for (const auto end : rank.ends_ns) {
        all.push_back(end - begin);
        begin = end;
    }
    all.push_back(rank.end_ns - begin);
    return all;
}

double microseconds_of(std::uint64_t ns) {
    return static_cast<double>(ns) * 1e-3;
}

void print_steps(std::size_t number, const collective_result::rank_steps& rank, std::size_t max) {
    const auto lasts = durations(rank);
    const auto count = lasts.size();
    const auto chosen = longest(
        lasts, std::min(max, count),
        max < 2 || count < 2 ? std::vector<std::size_t>{} : std::vector{std::size_t{0}, count - 1});
    for (std::size_t n = 0, next = 0; n < chosen.size(); next = chosen[n++] + 1) {
        const auto step = chosen[n];
        if (step != next) print("{:>6} {:>8} more\n", number, step - next);
        const auto begin = step == 0 ? rank.begin_ns : rank.ends_ns[step - 1];
        print("{:>6} {:>8} {:>11.3f} {:>11.3f} {:>9.3f}\n", number,
              step + 1 == count ? "rest" : fmt::format("{}", step), microseconds_of(begin),
              microseconds_of(begin + lasts[step]), microseconds_of(lasts[step]));
    }
    if (!chosen.empty() && chosen.back() + 1 < count)
        print("{:>6} {:>8} more\n", number, count - 1 - chosen.back());
}

void report_steps(const std::vector<collective_result::rank_steps>& ranks, std::size_t max,
                  const output& out) {
    if (out.json) {
        for (std::size_t n = 0; n < ranks.size(); ++n) {
            auto object = nlohmann::json{{"rank", n},
                                         {"begin_us", microseconds_of(ranks[n].begin_ns)},
                                         {"end_us", microseconds_of(ranks[n].end_ns)},
                                         {"step_ends_us", nlohmann::json::array()}};
            for (const auto end : ranks[n].ends_ns)
                object["step_ends_us"].push_back(microseconds_of(end));
            out.result(object, "");
        }
        return;
    }
    std::vector<std::uint64_t> slowest;
    for (const auto& rank : ranks) slowest.push_back(std::ranges::max(durations(rank)));
    const auto chosen = longest(slowest, max);
    print("\n# steps, in us since the first rank began\n{:>6} {:>8} {:>11} {:>11} {:>9}\n", "rank",
          "step", "begin", "end", "took");
    for (const auto n : chosen) print_steps(n, ranks[n], max);
    if (chosen.size() < ranks.size())
        print("# {} ranks more, none with a longer step\n", ranks.size() - chosen.size());
}

/// Refuses options that the operation does not take, as scenarios do.
void check_operation(const collective_request& request) {
    const auto op = trn_coll_op_text(request.op);
    if (request.op == TRN_COLL_BARRIER && request.in_place)
        throw user_error("--in-place: a barrier has no buffers");
    if (request.op != TRN_COLL_BROADCAST && request.root != 0)
        throw user_error(fmt::format("--root: {} has no root", op));
    const bool reduces = request.op == TRN_COLL_ALL_REDUCE ||
                         request.op == TRN_COLL_REDUCE_SCATTER ||
                         request.op == TRN_COLL_REDUCE_SCATTER_V;
    if (!reduces && request.with != TRN_COLL_SUM)
        throw user_error(fmt::format("--operator: {} does not reduce", op));
}

}  // namespace

void coll(session& platform, const coll_options& options, const output& out) try {
    auto request = options.request;
    if (!trn_coll_has_algorithm(request.op, request.algorithm))
        throw user_error(fmt::format("{} has no algorithm {}; it has {}",
                                     trn_coll_op_text(request.op),
                                     trn_coll_algorithm_text(request.algorithm),
                                     fmt::join(algorithms_of(request.op), ", ")));
    check_operation(request);
    const auto chips = chosen_chips(options.ranks, platform.chips().size());
    if (chips.size() < 2)
        throw user_error(platform.chips().size() < 2
                             ? "a collective needs two chips: a board such as trn3-sled"
                             : "--ranks: a collective needs two chips");
    try {
        collective_counts(request, chips.size());
    } catch (const device_error& wrong) {
        throw user_error(std::string("--counts: ") + wrong.what());
    }
    try {
        collective_targets(request, chips.size());
    } catch (const device_error& wrong) {
        throw user_error(std::string("--pairs: ") + wrong.what());
    }
    request.steps = options.steps > 0;
    collective_group group(platform, chips, options.image);
    const auto done = group.run(request);
    const double bus =
        done.algorithm_gb_per_s() *
        trn_coll_bus_factor(options.request.op, static_cast<std::uint32_t>(group.ranks()));
    const auto algorithm = trn_coll_algorithm_text(done.algorithm);
    if (!out.json)
        print("# {} over {} ranks{}, {}{}{}\n{:>12} {:>12} {:>7} {:>11} {:>8} {:>8} {:>7} {:>8}\n",
              trn_coll_op_text(options.request.op), group.ranks(),
              group.domains() > 1 ? fmt::format(" in {} domains", group.domains()) : "", algorithm,
              places_text(request.places), request.in_place ? ", in place" : "", "size (B)",
              "count", "type", "time (us)", "algbw", "busbw", "#wrong", "wall (s)");
    out.result(
        {{"op", trn_coll_op_text(options.request.op)},
         {"ranks", group.ranks()},
         {"domains", group.domains()},
         {"algorithm", algorithm},
         {"in", request.places.send.name()},
         {"out", request.places.receive.name()},
         {"scratch", request.places.scratch.name()},
         {"in_place", request.in_place},
         {"bytes", done.bytes},
         {"count", done.elements},
         {"type", name_of(options.request.type)},
         {"time_us", done.ns * 1e-3},
         {"algbw_gb_per_s", done.algorithm_gb_per_s()},
         {"busbw_gb_per_s", bus},
         {"checked", options.request.check},
         {"wrong", done.wrong},
         {"wall_s", done.wall_s}},
        fmt::format("{:>12} {:>12} {:>7} {:>11.2f} {:>8.2f} {:>8.2f} {:>7} {:>8.2f}", done.bytes,
                    done.elements, name_of(options.request.type), done.ns * 1e-3,
                    done.algorithm_gb_per_s(), bus,
                    options.request.check ? fmt::format("{}", done.wrong) : "N/A", done.wall_s));
    if (request.steps) report_steps(done.steps, static_cast<std::size_t>(options.steps), out);
    if (done.wrong != 0)
        throw std::runtime_error(
            fmt::format("{} differences, first {}", done.wrong, done.first_wrong));
} catch (const std::invalid_argument& wrong) {  // invalid set of ranks
    throw user_error(wrong.what());
}

}  // namespace trn

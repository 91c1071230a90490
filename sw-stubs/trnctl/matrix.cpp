// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "sw-stubs/host/text/size_text.h"
#include "sw-stubs/trnctl/commands.h"

namespace trn {

namespace {

using chip = machine::chip;

std::string_view distance(const chip& a, const chip& b) {
    if (a.place.rack == b.place.rack)
        return a.place.server == b.place.server ? "same server" : "same rack";
    const bool same = a.place.server == b.place.server && a.place.chip == b.place.chip;
    return same ? "other rack, same position" : "other rack";
}

// --- Pairs, one at a time ------------------------------------------------------------------

struct pair_result {
    std::size_t source, destination;
    double rate;            // GB/s
    std::uint64_t latency;  // ns, of a small copy
};

/// About `sample` pairs, evenly distributed over all pairs.
std::vector<std::pair<std::size_t, std::size_t>> chosen_pairs(std::size_t chips,
                                                              std::size_t sample) {
    const auto pairs = chips * (chips - 1);
    const auto step = sample == 0 ? 1 : std::max<std::size_t>(1, pairs / sample);
    std::vector<std::pair<std::size_t, std::size_t>> chosen;
    for (std::size_t n = 0; n < pairs; n += step) {
        const auto source = n / (chips - 1), other = n % (chips - 1);
        chosen.emplace_back(source, other + (other >= source));
    }
    return chosen;
}

std::vector<pair_result> measure_pairs(machine& all, const matrix_options& options) {
    std::vector<pair_result> results;
    for (const auto& [source, destination] : chosen_pairs(all.chips().size(), options.sample)) {
        const auto latency = all.small_copy(source, destination).ns;
        const auto load = all.copy(source, destination, options.load);
        if (options.verify) all.check(source, destination, options.load);
        results.push_back({source, destination, load.gb_per_s(), latency});
    }
    return results;
}

void print_matrix(const std::vector<chip>& chips, const std::vector<pair_result>& results) {
    std::map<std::pair<std::size_t, std::size_t>, double> rates;
    for (const auto& result : results) rates[{result.source, result.destination}] = result.rate;
    print("{:<10}", "GB/s");
    for (const auto& destination : chips) print(" {:>7}", destination.name);
    print("\n");
    for (std::size_t source = 0; source < chips.size(); ++source) {
        print("{:<10}", chips[source].name);
        for (std::size_t destination = 0; destination < chips.size(); ++destination) {
            const auto found = rates.find({source, destination});
            print(" {:>7}", found == rates.end() ? "-" : fmt::format("{:.1f}", found->second));
        }
        print("\n");
    }
}

struct group {
    std::size_t pairs = 0;
    double min_rate = 0, max_rate = 0, sum = 0;
    std::uint64_t shortest = 0, longest = 0;

    void add(const pair_result& result) {
        min_rate = pairs ? std::min(min_rate, result.rate) : result.rate;
        shortest = pairs ? std::min(shortest, result.latency) : result.latency;
        max_rate = std::max(max_rate, result.rate);
        longest = std::max(longest, result.latency);
        sum += result.rate;
        ++pairs;
    }
    double mean() const { return sum / static_cast<double>(pairs); }
};

void report_groups(const std::vector<chip>& chips, const std::vector<pair_result>& results,
                   const output& out) {
    std::map<std::string_view, group> groups;
    for (const auto& result : results)
        groups[distance(chips[result.source], chips[result.destination])].add(result);
    if (!out.json)
        print("{:<26} {:>7} {:>28} {:>24}\n", "distance", "pairs", "GB/s: least, mean, most",
              "64 B, ns: least, most");
    for (const auto& [name, g] : groups)
        out.result({{"distance", name},
                    {"pairs", g.pairs},
                    {"min_gb_per_s", g.min_rate},
                    {"mean_gb_per_s", g.mean()},
                    {"max_gb_per_s", g.max_rate},
                    {"min_latency_ns", g.shortest},
                    {"max_latency_ns", g.longest}},
                   fmt::format("{:<26} {:>7} {:>10.1f} {:>8.1f} {:>8.1f} {:>14} {:>9}", name,
                               g.pairs, g.min_rate, g.mean(), g.max_rate, g.shortest, g.longest));
}

void report_pairs(const std::vector<chip>& chips, const std::vector<pair_result>& results,
                  const matrix_options& options, const output& out) {
    constexpr std::size_t widest = 16;  // chips in a printed matrix
    if (out.json && !options.summary)
        for (const auto& result : results)
            out.result({{"from", chips[result.source].name},
                        {"to", chips[result.destination].name},
                        {"gb_per_s", result.rate},
                        {"latency_ns", result.latency}},
                       "");
    if (!out.json && !options.summary && chips.size() <= widest) print_matrix(chips, results);
    report_groups(chips, results, out);
}

// --- Patterns, all at the same time ----------------------------------------------------------

void run_pattern(machine& all, const matrix_options& options, const output& out) {
    const auto chips = all.chips().size();
    const auto wall = std::chrono::steady_clock::now();
    const auto sum = all.run(*options.pattern, options.load);
    const double wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    if (sum.copies == 0)
        throw user_error(fmt::format("the machine has no chips for the pattern '{}'",
                                     to_string(*options.pattern)));
    const double per_chip = sum.gb_per_s() / static_cast<double>(chips);
    out.result(
        {{"pattern", to_string(*options.pattern)},
         {"chips", chips},
         {"copies", sum.copies},
         {"bytes", sum.bytes},
         {"simulated_s", static_cast<double>(sum.ns) * 1e-9},
         {"gb_per_s", sum.gb_per_s()},
         {"gb_per_s_per_chip", per_chip},
         {"wall_s", wall_s}},
        fmt::format("{}: {} chips, {} copies of {}: {:.1f} us simulated, {:.1f} GB/s in "
                    "all, {:.1f} GB/s per chip; {:.2f} s wall",
                    to_string(*options.pattern), chips, sum.copies, size_text(options.load.bytes),
                    static_cast<double>(sum.ns) * 1e-3, sum.gb_per_s(), per_chip, wall_s));
}

}  // namespace

void matrix(session& platform, const matrix_options& options, const output& out) {
    if (options.load.bytes == 0) throw user_error("copies of 0 bytes: give a size such as 1MiB");
    machine all(platform);
    if (options.pattern) return run_pattern(all, options, out);
    if (all.chips().size() < 2 || all.chips()[0].topology == TRN_TOPOLOGY_NONE)
        throw user_error("a matrix needs chips with links between them: a board such as trn3-sled");
    report_pairs(all.chips(), measure_pairs(all, options), options, out);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
// Each kind on a small board, with numbers at, around and far from their limits: the board is
// refused with a place, or runs.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "models/kinds.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using testing::HasSubstr;

struct some_config {
    unsigned number = 1;
    double real = 1;
    sc_core::sc_time time;
    bool flag = false;
};
using some_row = kind_detail::row<some_config>;
template <class... Arguments>
constexpr bool is_row = std::is_constructible_v<some_row, const char*, Arguments..., const char*>;

static_assert(!is_row<unsigned some_config::*>);
static_assert(!is_row<unsigned some_config::*, unit>);
static_assert(!is_row<double some_config::*>);
static_assert(!is_row<sc_core::sc_time some_config::*>);
static_assert(!is_row<sc_core::sc_time some_config::*, number_limits>);
static_assert(!is_row<bool some_config::*, number_limits>);
static_assert(is_row<unsigned some_config::*, number_limits>);
static_assert(is_row<unsigned some_config::*, unit, number_limits>);
static_assert(is_row<double some_config::*, real_limits>);
static_assert(is_row<sc_core::sc_time some_config::*, time_limits>);
static_assert(is_row<bool some_config::*>);

/// A value of a parameter.
struct setting {
    const parameter* of;
    std::string text;
    bool is_valid;
};

std::string text_of(std::uint64_t value, unit dimension) {
    switch (dimension) {
    case unit::bytes:
        return fmt::format("{} B", value);
    case unit::bytes_per_second:
        return fmt::format("{} B/s", value);
    case unit::transfers_per_second:
        return fmt::format("{} T/s", value);
    case unit::hertz:
        return fmt::format("{} Hz", value);
    case unit::time:
        return fmt::format("{} ps", value);
    case unit::none:
    case unit::address:
        break;
    }
    return fmt::format("{}", value);
}

std::vector<setting> settings_of(const parameter& p) {
    std::vector<setting> list;
    if (const auto* real = std::get_if<real_limits>(&p.bounds)) {
        for (const double value : {real->min, real->max, real->min - 0.5, real->max + 0.5,
                                   (real->min + real->max) / 2, -1e300, 1e300})
            list.push_back({&p, fmt::format("{}", value), real->contain(value)});
    } else if (const auto* number = std::get_if<number_limits>(&p.bounds)) {
        std::set<std::uint64_t> values{0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63};
        for (std::size_t i = 0; i < number->listed; ++i) values.insert(number->values[i]);
        for (const auto limit : {number->min, number->max})
            values.merge(std::set{limit, limit - number->step, limit - 1, limit + 1,
                                  limit + number->step, limit / 2, limit * 2});
        for (const auto value : values)
            list.push_back({&p, text_of(value, p.dimension), number->contain(value)});
    }
    return list;
}

/// The valid ones of the smallest and the largest value.
std::vector<setting> ends_of(const parameter& p) {
    std::vector<setting> list;
    if (const auto* real = std::get_if<real_limits>(&p.bounds))
        for (const double value : {real->min, real->max})
            list.push_back({&p, fmt::format("{}", value), true});
    if (const auto* number = std::get_if<number_limits>(&p.bounds)) {
        const bool listed = number->listed != 0;
        for (const auto value : {listed ? number->values[0] : number->min,
                                 listed ? number->values[number->listed - 1] : number->max})
            list.push_back({&p, text_of(value, p.dimension), number->contain(value)});
    }
    std::erase_if(list, [](const setting& one) { return !one.is_valid; });
    return list;
}

constexpr unsigned window_bits = 32;  // of the address of each target

/// The module `dut` with a processor and memory, each port bound.
std::string board_of(const kind& k, const std::vector<setting>& settings) {
    std::string parameters;
    auto config = k.defaults();
    for (const auto& p : k.parameters)
        if (p.required) parameters += fmt::format(", {}: 64 KiB", p.name);
    for (const auto& one : settings) {
        const auto at = parameters.find(fmt::format(", {}: ", one.of->name));
        if (at != parameters.npos) parameters.clear();
        parameters += fmt::format(", {}: {}", one.of->name, one.text);
        one.of->assign(config, std::vector{one.text}, [](auto, const auto&) {});
    }
    std::string binds;
    std::uint64_t targets = 0;
    const auto decode = [&](const std::string& end, std::uint64_t size) {
        constexpr std::uint64_t most = 1u << 20;
        const std::uint64_t base = ++targets << window_bits;
        binds += fmt::format("  - noc.initiator -> {} @ {:#x} + {} B\n", end, base,
                             size == 0 ? most : std::min(size, most));
        if (size > 2 * most)
            binds += fmt::format("  - noc.initiator -> {} @ {:#x} + 4 KiB => {:#x}\n", end,
                                 base + most, size - 4096);
    };
    std::string host;
    for (const auto& p : k.ports) {
        const auto count = p.count ? std::min<std::uint64_t>(p.count(config), 1 << 17) : 1;
        const auto end = "dut." + p.name;
        for (std::uint64_t i = 0; i < (p.role == port_role::target ? count : 0); ++i)
            decode(p.count ? fmt::format("{}[{}]", end, i) : end, p.size ? p.size(config) : 0);
        const auto each = [&](const std::string& arrow) {
            if (!p.count)
                binds += fmt::format("  - {} {}\n", end, arrow);
            else if (count != 0)
                binds +=
                    fmt::format("  - {{bind: \"{}[${{i}}] {}\", count: {}}}\n", end, arrow, count);
        };
        if (p.role == port_role::initiator)
            each(p.ranged ? "-> ram2.in @ 0x0 + 4 KiB" : "-> noc.target");
        if (p.role == port_role::irq_out && !p.may_be_unbound) each("-> none");
        if (p.role != port_role::plug || p.may_be_unbound) continue;
        const auto lanes = p.lanes && !p.links ? p.lanes(config) : 0;
        if (!std::has_single_bit(lanes) || lanes > 16) {  // no link of a host
            each("<-> none");
            continue;
        }
        host = fmt::format("  host: {{type: root_complex, link_width: {}}}\n", lanes);
        each("<-> host.port[0]");
    }
    return "board: limits\nmodules:\n  dut: {type: " + k.name + parameters +
           "}\n  noc: {type: router}\n  cpu: {type: riscv_hart, clock: 1 us}\n"
           "  ram: {type: memory, size: 64 KiB}\n  ram2: {type: memory, size: 64 KiB}\n" +
           host + "bind:\n  - cpu.bus -> noc.target\n  - noc.initiator -> ram.in @ 0x0 + 64 KiB\n" +
           (k.name == "router" ? "" : "  - noc.initiator -> ram2.in @ 0x1_0000 + 64 KiB\n") + binds;
}

/// Builds and runs the board with accesses to each target.
void run(plan board) {
    const auto bindings = board.bindings;
    trn::system built(std::move(board));
    auto& noc = *built.find<router>("noc");
    test::tlm_driver driver("driver");
    driver.out.bind(noc.target);
    try {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    } catch (const sc_core::sc_report& why) {
        built.refuse(why);
    }
    for (const auto& b : bindings) {
        if (!b.window || &built.module(b.source.module) != &noc) continue;
        const auto base = b.window->base, last = base + (b.window->size - 1) / 4 * 4;
        for (const auto at : {base, base + 4, base + 0x10, base + 0x100, last}) {
            driver.read(at);
            driver.write(at, 1u);
            driver.read<std::uint64_t>(at);
        }
        sc_core::sc_start(1, sc_core::SC_US);
    }
    sc_core::sc_start(5, sc_core::SC_US);
}

/// In a process of its own: SystemC elaborates once. "" if it ran, or was refused with a place.
std::string outcome(const kind& k, const std::vector<setting>& settings) {
    const auto board = board_of(k, settings);
    std::vector<diagnostic> refused;
    plan planned;
    try {
        planned = plan_text(board, "board.yaml", kinds(), {});
    } catch (const config_error& error) {
        refused = error.list();
    }
    for (const auto& one : refused)
        if (one.line <= 0 || one.column <= 0) return "no place: " + one.text();
    for (const auto& one : settings) {
        if (one.is_valid) continue;
        const auto& first = refused.empty() ? diagnostic{} : refused[0];
        if (first.code == mistake::out_of_range && first.line == 3) return "";
        return fmt::format("{}: {} is accepted; {}", one.of->name, one.text, first.text());
    }
    if (!refused.empty()) {
        const auto is_known = [](const diagnostic& one) {
            return one.code == mistake::refused_by_model || one.code == mistake::endless_access ||
                   one.code == mistake::range_too_large || one.code == mistake::range_overlap;
        };
        return std::ranges::all_of(refused, is_known) ? "" : refused[0].text() + board;
    }
    const pid_t child = fork();
    if (child == 0) {
        constexpr rlimit seconds{10, 10}, no_core{0, 0};
        setrlimit(RLIMIT_CPU, &seconds);
        setrlimit(RLIMIT_CORE, &no_core);
        try {
            run(std::move(planned));
        } catch (const config_error& error) {
            _exit(error.list()[0].line > 0 ? 0 : 2);
        } catch (const std::exception& error) {
            std::cerr << error.what() << std::endl;
            _exit(3);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
    return fmt::format("{} {}\n{}", WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), board);
}

class KindLimits : public testing::TestWithParam<std::string> {
protected:
    const kind& k = *find_kind(kinds(), GetParam());
};

std::vector<std::string> names_of_kinds() {
    std::vector<std::string> names;
    for (const auto& k : kinds()) names.push_back(k.name);
    return names;
}

TEST_P(KindLimits, EachNumberIsRefusedWithAPlaceOrRuns) {
    EXPECT_EQ(outcome(k, {}), "");
    for (const auto& p : k.parameters)
        for (const auto& one : settings_of(p)) EXPECT_EQ(outcome(k, {one}), "");
}

/// Nightly tests (TRNVP_ALL_PAIRS) try all pairs, others as many of each kind as take a second.
TEST_P(KindLimits, PairsOfExtremesAreRefusedWithAPlaceOrRun) {
    constexpr std::size_t few = 25;
    std::vector<std::pair<setting, setting>> pairs;
    for (std::size_t i = 0; i < k.parameters.size(); ++i)
        for (std::size_t j = i + 1; j < k.parameters.size(); ++j)
            for (const auto& first : ends_of(k.parameters[i]))
                for (const auto& second : ends_of(k.parameters[j]))
                    pairs.emplace_back(first, second);
    std::mt19937 random(7);
    while (std::getenv("TRNVP_ALL_PAIRS") == nullptr && pairs.size() > few) {
        std::swap(pairs[random() % pairs.size()], pairs.back());
        pairs.pop_back();
    }
    for (const auto& [first, second] : pairs) EXPECT_EQ(outcome(k, {first, second}), "");
}

INSTANTIATE_TEST_SUITE_P(Of, KindLimits, testing::ValuesIn(names_of_kinds()),
                         [](const auto& info) { return info.param; });

TEST(Limits, AreShownAndChecked) {
    using namespace kind_limits;
    EXPECT_EQ(to_string(within(4 * KiB, 128 * MiB).powers_of_two(), unit::bytes),
              "4 KiB to 128 MiB, a power of two");
    EXPECT_EQ(to_string(one_of(512, 2048, 4096), unit::none), "512, 2048 or 4096");
    EXPECT_EQ(to_string(any_rate.or_zero(), unit::bytes_per_second), "0, or 1 MB/s to 1000 TB/s");
    EXPECT_EQ(to_string(within(8, 64).multiples_of(8), unit::none), "8 to 64, a multiple of 8");
    EXPECT_EQ(to_string(within(-1.5, 2.0), unit::none), "-1.5 to 2");
    EXPECT_EQ(to_string(any_limits{}, unit::none), "");
    constexpr auto sizes = within(8, 64).powers_of_two().or_zero();
    for (const std::uint64_t valid : {0, 8, 16, 64}) EXPECT_TRUE(sizes.contain(valid)) << valid;
    for (const std::uint64_t other : {1, 4, 9, 24, 128})
        EXPECT_FALSE(sizes.contain(other)) << other;
    EXPECT_FALSE(within(0.0, 1.0).contain(std::nan("")));
}

TEST(Limits, RefuseWhatNoModelCanHave) {
    const auto is_refused = [](const std::string& type, const std::string& name,
                               const std::string& value) {
        const kind& k = *find_kind(kinds(), type);
        auto config = k.defaults();
        bool refused = false;
        k.find_parameter(name)->assign(config, std::vector{value},
                                       [&](auto, const auto&) { refused = true; });
        return refused;
    };
    const std::vector<std::array<std::string, 3>> all{{"pcie_link", "generation", "7"},
                                                      {"pcie_link", "lanes", "3"},
                                                      {"pcie_link", "links", "33"},
                                                      {"pcie_link", "max_payload", "100"},
                                                      {"pcie_link", "posted_headers", "0"},
                                                      {"pcie_link", "non_posted_data", "4 B"},
                                                      {"pcie_link", "crc_rate", "0.2"},
                                                      {"neuron_link", "host_bit", "48"},
                                                      {"neuron_link", "dies", "3"},
                                                      {"neuron_link", "hop_limit", "0"},
                                                      {"neuron_link", "hop_limit", "32"},
                                                      {"neuron_switch", "planes", "0"},
                                                      {"neuron_switch", "ports", "129"},
                                                      {"neuron_switch", "rack", "2"},
                                                      {"neuron_switch", "server", "32"},
                                                      {"neuron_core", "crossbars", "7"},
                                                      {"neuron_core", "sbuf_size", "33 MiB"},
                                                      {"udma", "stride", "128 KiB"},
                                                      {"efa_card", "rate", "9 TB/s"},
                                                      {"pcie_endpoint", "msix_vectors", "0"},
                                                      {"nvme_controller", "capacity", "5000 B"},
                                                      {"fis", "stride", "2 KiB"},
                                                      {"uart", "clock_hz", "0 Hz"},
                                                      {"sensors", "sample_period", "0 ps"}};
    for (const auto& [type, name, value] : all)
        EXPECT_TRUE(is_refused(type, name, value)) << type << "." << name << ": " << value;
}

TEST(Limits, RefusalNamesTheRangeAtTheValue) {
    const auto refused = [](const std::string& module, plan_options options = {}) {
        try {
            plan_text("board: b\nparameters: {room: 4 KiB}\nmodules:\n  m: " + module + "\n",
                      "board.yaml", kinds(), options);
        } catch (const config_error& error) {
            for (const auto& one : error.list())
                if (one.code == mistake::out_of_range)
                    return fmt::format("{}:{} {}", one.line, one.column, one.message);
        }
        return std::string();
    };
    EXPECT_EQ(refused("{type: flash, size: 5 KiB}"),
              "4:26 size is 4 KiB to 128 MiB, a power of two; here it is 5 KiB");
    EXPECT_EQ(refused("{type: flash, size: 256 MiB}"),
              "4:26 size is 4 KiB to 128 MiB, a power of two; here it is 256 MiB");
    EXPECT_EQ(refused("{type: riscv_hart, clock: 0 ps}"),
              "4:32 clock is 1 ps to 1 us; here it is 0 ps");
    EXPECT_EQ(refused("{type: udma, engines: 0}"), "4:28 engines is 1 to 4096; here it is 0");
    EXPECT_EQ(refused("{type: hbm, bytes_per_second: 0 B/s}"),
              "4:36 bytes_per_second is 1 MB/s to 1000 TB/s; here it is 0 B/s");
    EXPECT_EQ(refused("{type: pcie_endpoint, link_width: 0}"),
              "4:40 link_width is 1 to 16, a power of two; here it is 0");
    EXPECT_EQ(refused("{type: pcie_endpoint, bar4_size: 1 B}").substr(0, 46),
              "4:39 bar4_size is 0, or 4 KiB to 32 TiB, a pow");
    EXPECT_EQ(refused("{type: pcie_link, crc_rate: 0.2}"),
              "4:34 crc_rate is 0 to 0.1; here it is 0.2");
    EXPECT_EQ(refused("{type: memory, size: \"${room}\"}", {".", {"room=0 B"}}),
              "4:27 size is 1 B to 1024 TiB; here it is 0 B");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// How long a board of 10,000 modules takes from its text to elaborated SystemC modules. The peer is
// the same modules built and bound by hand.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/kinds.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;

constexpr unsigned clusters = 100;
constexpr unsigned memories =
    97;  // per cluster: with its two routers and the container 100 modules

std::string board_text() {
    return fmt::format(R"(board: wide
modules:
  cluster: {{type: chips/cluster, count: {}}}
  noc: {{type: router}}
bind:
  - {{bind: "noc.initiator -> cluster${{i}}.access", at: 0x0, stride: 1 GiB, size: 1 GiB, count: {}}}
  - {{bind: "cluster${{i}}.out -> noc.target", at: 0x0, size: 1 GiB, count: {}}}
)",
                       clusters, clusters, clusters);
}

std::string cluster_text() {
    return fmt::format(R"(assembly: cluster
modules:
  local: {{type: router, hop_latency: 2 ns}}
  up: {{type: router}}
  ram: {{type: memory, count: {}, size: 1 MiB, access_latency: 110 ns}}
bind:
  - {{bind: "local.initiator -> ram${{i}}.in", at: 0x0, stride: 1 MiB, size: 1 MiB, count: {}}}
  - local.initiator -> up.target @ 0x1_0000_0000 + 1 GiB
ports: {{access: local.target, out: up.initiator}}
)",
                       memories, memories);
}

double seconds(const std::function<void()>& what) {
    const auto start = std::chrono::steady_clock::now();
    what();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void from_board() {
    const test::scratch_folder folder;
    std::filesystem::create_directories(folder / "chips");
    std::ofstream(folder / "chips/cluster.yaml") << cluster_text();
    auto board = plan_text(board_text(), "wide.yaml", kinds(), {folder, {}});
    static std::unique_ptr<trn::system> built;
    built = std::make_unique<trn::system>(std::move(board));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

void by_hand() {
    static std::vector<std::unique_ptr<sc_core::sc_module>> modules;
    auto noc = std::make_unique<router>("noc", router::config{});
    for (unsigned c = 0; c < clusters; ++c) {
        auto local = std::make_unique<router>(fmt::format("local{}", c).c_str(), router::config{});
        auto up = std::make_unique<router>(fmt::format("up{}", c).c_str(), router::config{});
        noc->initiator.bind(local->target);
        noc->map({std::uint64_t{c} << 30, 1u << 30, 0, c});
        for (unsigned m = 0; m < memories; ++m) {
            auto ram = std::make_unique<memory>(fmt::format("ram{}_{}", c, m).c_str(),
                                                memory::config{.size = 1u << 20});
            local->initiator.bind(ram->in);
            local->map({std::uint64_t{m} << 20, 1u << 20, 0, m});
            modules.push_back(std::move(ram));
        }
        local->initiator.bind(up->target);
        local->map({1ull << 32, 1u << 30, 0, memories});
        up->initiator.bind(noc->target);
        up->map({0, 1u << 30, 0, 0});
        modules.push_back(std::move(up));
        modules.push_back(std::move(local));
    }
    modules.push_back(std::move(noc));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

/// In a child, because a process elaborates once. Empty when the child failed.
double measure(void (*what)()) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
        const double took = seconds(what);
        if (write(ends[1], &took, sizeof took) != sizeof took) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    double took = -1;
    if (read(ends[0], &took, sizeof took) != sizeof took) took = -1;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return took;
}

double median_of_five(void (*what)()) {
    std::array<double, 5> runs{};
    for (auto& run : runs) run = measure(what);
    std::sort(runs.begin(), runs.end());
    return runs[2];
}

}  // namespace

int sc_main(int argc, char** argv) {
    const double board = median_of_five(from_board);
    const double hand = median_of_five(by_hand);
    const nlohmann::ordered_json rows =
        nlohmann::ordered_json::array({{{"name", "elaborate a board of 10,000 modules"},
                                        {"value", board},
                                        {"unit", "s"},
                                        {"peer", "the same modules bound by hand"},
                                        {"peer_value", hand},
                                        {"ratio", board / hand},
                                        {"goal", "< 1 s"},
                                        {"met", board > 0 && board < 1}}});
    if (argc == 3 && std::string_view(argv[1]) == "--json")
        std::ofstream(argv[2]) << rows.dump(1) << "\n";
    else
        std::cout << rows.dump(1) << "\n";
    return board > 0 && hand > 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
// Time from the text of a board to elaborated SystemC modules. The peer of a board of 10,000
// modules is the same modules built and bound by hand; that of the 144 chips of trn3-gen2 is a
// netlist with as many empty modules and sockets.
#include <fmt/format.h>
#include <sys/wait.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
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
#include <string>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/kinds.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;

constexpr unsigned clusters = 100;
constexpr unsigned memories =
    97;  // per cluster; 100 modules with its two routers and the container

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

/// Runs `work` in a child process with its own elaboration, and copies the `result` it left.
/// Returns false if the child failed.
bool in_child(void* result, std::size_t size, const std::function<void()>& work) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    const pid_t child = fork();
    if (child == 0) {
        work();
        _exit(write(ends[1], result, size) == static_cast<ssize_t>(size) ? 0 : 1);
    }
    close(ends[1]);
    const bool all = read(ends[0], result, size) == static_cast<ssize_t>(size);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return all;
}

struct counts {
    std::size_t modules = 0, sockets = 0;
};

void count(const std::vector<sc_core::sc_object*>& objects, counts& sum) {
    for (const auto* object : objects) {
        const std::string_view kind = object->kind();
        if (kind == "sc_module") ++sum.modules;
        if (kind.starts_with("tlm_") && kind.ends_with("_socket")) ++sum.sockets;
        count(object->get_child_objects(), sum);
    }
}

void rack_from_board() {
    static std::unique_ptr<trn::system> built;
    built = std::make_unique<trn::system>(load_board("trn3-gen2", kinds(), {}));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

/// Counts in a child, because a process elaborates only once.
counts counts_of_the_rack() {
    counts found;
    in_child(&found, sizeof found, [&] {
        rack_from_board();
        count(sc_core::sc_get_top_level_objects(), found);
    });
    return found;
}

/// A module of the peer with this number of sockets of each kind.
struct empty_module : sc_core::sc_module {
    using initiator = tlm_utils::simple_initiator_socket<empty_module, 64>;
    using target = tlm_utils::simple_target_socket<empty_module, 64>;

    empty_module(const sc_core::sc_module_name&, std::size_t pairs) {
        for (std::size_t n = 0; n < pairs; ++n) {
            initiators.push_back(std::make_unique<initiator>(fmt::format("out{}", n).c_str()));
            targets.push_back(std::make_unique<target>(fmt::format("in{}", n).c_str()));
            targets.back()->register_b_transport(this, &empty_module::access);
        }
    }
    void access(tlm::tlm_generic_payload&, sc_core::sc_time&) {}

    std::vector<std::unique_ptr<initiator>> initiators;
    std::vector<std::unique_ptr<target>> targets;
};

/// Binds each initiator to the target with the next index.
void empty_modules(const counts& how_many) {
    static std::vector<std::unique_ptr<empty_module>> modules;
    const std::size_t pairs = how_many.sockets / 2;
    std::vector<empty_module::initiator*> initiators;
    std::vector<empty_module::target*> targets;
    for (std::size_t m = 0; m < how_many.modules; ++m) {
        const bool one_more = m < pairs % how_many.modules;
        auto& made = modules.emplace_back(std::make_unique<empty_module>(
            fmt::format("module{}", m).c_str(), pairs / how_many.modules + (one_more ? 1 : 0)));
        for (const auto& one : made->initiators) initiators.push_back(one.get());
        for (const auto& one : made->targets) targets.push_back(one.get());
    }
    for (std::size_t n = 0; n < pairs; ++n) initiators[n]->bind(*targets[(n + 1) % pairs]);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

double seconds(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
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

double measure(const std::function<void()>& work) {
    double took = -1;
    return in_child(&took, sizeof took, [&] { took = seconds(work); }) ? took : -1;
}

struct pair_of_times {
    double board = 0, peer = 0;
};

/// Times of the median ratio of five; the two measurements alternate.
pair_of_times in_turns(const std::function<void()>& board, const std::function<void()>& peer) {
    std::array<pair_of_times, 5> runs{};
    for (auto& run : runs) run = {measure(board), measure(peer)};
    std::ranges::sort(runs, {}, [](const auto& run) { return run.board / run.peer; });
    return runs[2];
}

nlohmann::ordered_json row(const std::string& name, const std::string& peer,
                           const pair_of_times& times, double goal) {
    const double ratio = times.board / times.peer;
    return {{"name", name},
            {"value", times.board},
            {"unit", "s"},
            {"peer", peer},
            {"peer_value", times.peer},
            {"ratio", ratio},
            {"goal", fmt::format("< {:g} x", goal)},
            {"met", times.board > 0 && times.peer > 0 && ratio < goal}};
}

}  // namespace

int sc_main(int argc, char** argv) {
    const auto rack = counts_of_the_rack();
    const auto rows = nlohmann::ordered_json::array(
        {row("elaborate a board of 10,000 modules", "the same modules bound by hand",
             in_turns(from_board, by_hand), 2),
         row("elaborate 144 chips",
             fmt::format("{} empty modules with {} sockets", rack.modules, rack.sockets),
             in_turns(rack_from_board, [&] { empty_modules(rack); }), 4)});
    if (argc == 3 && std::string_view(argv[1]) == "--json")
        std::ofstream(argv[2]) << rows.dump(1) << "\n";
    else
        std::cout << rows.dump(1) << "\n";
    const auto measured = [](const auto& one) { return one["value"] > 0 && one["peer_value"] > 0; };
    return std::ranges::all_of(rows, measured) ? 0 : 1;
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
// A Trainium2 UltraServer: 64 chips; its four hosts elect with 16 devices each (contract 11).
#include <fmt/format.h>

#include "tests/integration/topology/machine.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

constexpr std::uint64_t limit = 10'000'000'000;  // nanoseconds, of an attempt
constexpr unsigned nodes = 4, chips = 16;

/// The text of a board of four servers of 4 x 4 chips.
std::string ultraserver() {
    // Routing ids in the order of the driver's indices (contract 1.3).
    constexpr std::array<unsigned, chips> routing_ids{0, 8,  9,  1, 2, 10, 11, 3,
                                                      6, 14, 15, 7, 4, 12, 13, 5};
    std::string modules, cables;
    const auto join = [&](unsigned from, unsigned port, unsigned to) {
        const auto name = fmt::format("cable{}_{}", from, port);
        modules += fmt::format("  {}: {{type: pcie_link, generation: 5}}\n", name);
        cables += fmt::format("  - chip{}.port{} <-> {}.a\n  - {}.b <-> chip{}.port{}\n", from,
                              port, name, name, to, port ^ 1);
    };
    for (unsigned n = 0; n < nodes * chips; ++n) {
        const unsigned server = n / chips, c = n % chips, x = c % 4, y = c / 4;
        modules += fmt::format(
            "  chip{}: {{type: chips/trainium2, routing_id: {}, serial: {}, chip: {}, "
            "server_in_rack: {}, topology: torus, shape_x: 4, shape_y: 4, shape_z: 4}}\n",
            n, routing_ids[c], 0x5452'4e32'0000'0001 + n, c, server);
        join(n, 0, server * chips + 4 * y + (x + 1) % 4);
        join(n, 2, server * chips + 4 * ((y + 1) % 4) + x);
        join(n, 5, (server + 1) % nodes * chips + c);
    }
    return "board: ultraserver\nmodules:\n  host: {type: root_complex, count: 64}\n" + modules +
           "bind:\n  - {bind: \"host${i}.port[0] <-> chip${i}.link\", count: 64}\n" + cables;
}

TEST(Trn2Ultraserver, FirmwareFindsTheWholeUltraserverAndHostsElectNodeIds) {
    log::replace_sink({});
    const scratch_folder folder;
    std::ofstream(folder / "board.yaml") << ultraserver();
    platform board(kinds(), platform_options{.board = folder / "board.yaml"});
    const auto how = board.boot(sc_core::sc_time(100, sc_core::SC_MS));
    ASSERT_EQ(how.cause, stop_reason::kind::condition) << how.text;

    const auto functions = board.chip_functions();
    ASSERT_EQ(functions.size(), nodes * chips);
    std::vector<std::unique_ptr<host_cpu>> cpus;
    for (const auto& f : functions)
        cpus.push_back(std::make_unique<host_cpu>(*f.port, host_cpu::config{}));

    std::array<trn_pod, nodes> found{};
    std::array<std::uint64_t, nodes> serials{};
    for (unsigned node = 0; node < nodes; ++node)
        cpus[node * chips]->run([&, node] {
            std::vector<std::unique_ptr<device>> owned;
            std::vector<trn_device*> devices;
            trn_options options{};
            options.platform = TRN_HOST_ULTRASERVER;
            for (unsigned c = 0; c < chips; ++c) {
                auto& one = *owned.emplace_back(
                    std::make_unique<device>(cpus[node * chips + c]->transport(), options));
                one.check(trn_probe(one));
                one.check(trn_reset_device(one));
                devices.push_back(one);
                trn_topology t{};
                one.check(trn_get_topology(one, &t));
                EXPECT_EQ(t.own.server, node);
                EXPECT_EQ(t.own.chip, one.info().device_index);
                EXPECT_EQ(t.reachable_server, 15u);
                EXPECT_EQ(t.reachable_rack, 48u);
                for (unsigned p = 0; p < 6; ++p) EXPECT_EQ(t.ports[p].fault, TRN_LINK_OK);
            }
            owned[0]->check(trn_get_serial(devices[0], &serials[node]));
            owned[0]->check(trn_pod_elect_node(devices.data(), chips, limit, &found[node]));
        });
    run_loop::goal goal{"the test", "four hosts"};
    goal.condition = [&] {
        return std::ranges::all_of(cpus, [](const auto& cpu) { return cpu->idle(); });
    };
    board.loop().run(std::move(goal));
    for (auto& cpu : cpus) cpu->rethrow();

    // Serial numbers increase from server to server.
    for (unsigned node = 0; node < nodes; ++node) {
        EXPECT_EQ(found[node].status, 3u);
        EXPECT_EQ(found[node].nodes, 4u);
        EXPECT_EQ(found[node].node, node);
        EXPECT_EQ(found[node].serial, serials[0]);
    }
}

}  // namespace
}  // namespace trn::test

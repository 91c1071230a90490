// SPDX-License-Identifier: Apache-2.0
// Cost of a register access of a host in the platform's process: through the C interface, where
// each access is a call that advances simulated time, and of the in-process host, whose accesses
// are calls of one process of SystemC.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <systemc>
#include <vector>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/library/include/trnvp.h"
#include "tests/bench/rows.h"
#include "tests/support/bar0.h"

namespace {

using namespace trn;

constexpr std::size_t accesses = 20'000;
constexpr std::uint32_t command = 4, enable = 6;  // of PCI: memory space, bus master
constexpr auto board = "trn3-chip";

void expect(bool good) {
    if (!good) std::abort();
}

double through_the_interface() {
    trnvp_machine* machine = nullptr;
    trnvp_function* chip = nullptr;
    std::uint32_t word = 0;
    expect(trnvp_create(board, 0, nullptr, &machine) == TRNVP_OK);
    expect(trnvp_call(machine, "run", R"({"condition": "ready"})", nullptr) == TRNVP_OK);
    expect(trnvp_find_function(machine, "chip0", &chip) == TRNVP_OK);
    expect(trnvp_config_write(chip, command, 2, enable) == TRNVP_OK);
    return test::nanoseconds_each(accesses, [&] {
        for (std::size_t i = 0; i < accesses; ++i)
            expect(trnvp_bar_read(chip, 0, test::bar0::misc_ram, &word, 4) == TRNVP_OK);
    });
}

double of_the_in_process_host() {
    misuse::set_rules(misuse::all_rules);
    platform chip(kinds(), {.board = board});
    expect(chip.boot(sc_core::sc_time(1, sc_core::SC_SEC)).cause == stop_reason::kind::condition);
    host_cpu host(*chip.functions().at(0).port, {});
    auto transport = host.transport();
    double result = 0;
    host.run([&] {
        std::uint32_t word = 0;
        expect(transport.config_write(transport.context, command, 2, enable) == 0);
        result = test::nanoseconds_each(accesses, [&] {
            for (std::size_t i = 0; i < accesses; ++i)
                expect(transport.bar_read32(transport.context, 0, test::bar0::misc_ram, &word) ==
                       0);
        });
    });
    run_loop::goal goal{"the benchmark", "its accesses"};
    goal.condition = [&] { return host.idle(); };
    chip.loop().run(std::move(goal));
    return result;
}

/// A process has one platform.
double in_a_process(double (*measure)()) {
    int ends[2];
    expect(pipe(ends) == 0);
    const pid_t child = fork();
    double result = 0;
    if (child == 0) {
        result = measure();
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    close(ends[1]);
    expect(read(ends[0], &result, sizeof result) == sizeof result);
    waitpid(child, nullptr, 0);
    close(ends[0]);
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<double> ours, peer;
    for (int round = 0; round < 3; ++round) {
        ours.push_back(in_a_process(through_the_interface));
        peer.push_back(in_a_process(of_the_in_process_host));
    }
    const double ratio = test::median(ours) / test::median(peer);
    return test::report({{.name = "register read through the C interface, chip",
                          .value = test::median(ours),
                          .unit = "ns",
                          .goal = "at most 5 x the peer",
                          .met = ratio <= 5,
                          .peer = "in-process host",
                          .peer_value = test::median(peer)}},
                        argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_guest/guest.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "models/kinds.h"
#include "platform/app/trnvp_guest/options.h"
#include "platform/app/trnvp_guest/session.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

constexpr int skipped = 77;  ///< exit status for "skipped" of CTest and automake

int guest(const guest_options& chosen) {
    load_board(chosen.board.build.board, kinds(),
               chosen.board.build.set);  // before looking for tools
    try {
        return run_guests(chosen);
    } catch (const tools_missing& e) {
        print_to(stderr, "trnvp: {}\n", e.what());
        return skipped;
    } catch (const std::invalid_argument& e) {  // more functions than bus positions
        throw user_error(std::string(e.what()) + ": choose some by --functions");
    } catch (const std::system_error& e) {  // a file that cannot be read
        throw user_error(e.what());
    }
}

}  // namespace

void add_guest(cli::command* c, int& status) {
    auto chosen = std::make_shared<guest_options>();
    chosen->board.add_to(*c);
    auto* server = c->add_option("--server", chosen->choice.server,
                                 "server of the board that runs as the guest (default: the first)");
    c->add_option("--servers", chosen->choice.servers,
                  "several servers, one guest each: NAME,... or all; consoles are merged by line")
        ->delimiter(',')
        ->allow_extra_args(false)  // arguments after "--" are QEMU's
        ->excludes(server);
    auto* devices = c->add_option("--devices", chosen->choice.devices,
                                  "so many chips and no card (default: see --functions)")
                        ->check(cli::in_range(1u, 64u));
    c->add_option("--functions", chosen->choice.functions,
                  "of the server: all (default), chips, none, or NAME,... such as chip0,nic1")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->excludes(devices);
    c->add_flag("--flat", chosen->flat,
                "all functions on the guest's root bus (default: behind root ports and switches as "
                "on the board)");
    c->add_option("--module", chosen->modules,
                  "kernel module to load: \"FILE.ko [parameter=value ...]\"; may be repeated")
        ->allow_extra_args(false);
    c->add_option("--run", chosen->programs,
                  "\"FILE [argument ...]\" to run in the guest, whose status ends it: a program, "
                  "which gets its shared libraries, or a script for busybox (default: trn-guest, "
                  "or after --module a shell); may be "
                  "repeated: one after the other until one fails. A folder is copied to /program")
        ->allow_extra_args(false);
    std::vector<config::choice<const guest_architecture*>> architectures;
    for (const auto& each : guest_architectures())
        if (!each.machine.empty()) architectures.push_back({each.name, &each});
    add_choice<const guest_architecture*>(c, "--arch", chosen->architecture,
                                          "architecture of the guest (default: x86_64)",
                                          std::move(architectures));
    c->add_option("--append", chosen->append, "more words for the kernel's command line");
    c->add_option("--kernel", chosen->kernel, "a kernel of your own");
    c->add_option("--initrd", chosen->initrd, "an initramfs of your own instead of ours");
    c->add_option("--product", chosen->product,
                  "SMBIOS product name: the driver's platform type (default: the board's)");
    c->add_option("--memory", chosen->memory_mib, "of the guest, in MiB")
        ->check(cli::in_range(256, 1 << 20));
    c->add_option("--cpus", chosen->cpus, "of each guest (2; 1 where there are several)")
        ->check(cli::in_range(1, 255));
    c->add_option("--nodes", chosen->nodes,
                  "NUMA nodes (1), with equal parts of the processors and of the root ports")
        ->check(cli::in_range(1u, max_nodes));
    add_choice<guest_machine::clock>(
        c, "--clock", chosen->clock,
        "source of the guest's time: host (default) or instructions, which stop while the "
        "guest waits for the platform",
        {{"host", guest_machine::clock::host},
         {"instructions", guest_machine::clock::instructions}});
    c->add_option("--qemu", chosen->qemu, "a QEMU with the device vfio-user-pci (10.1 or later)");
    c->add_option("--listen", chosen->listen,
                  "folder for the sockets, so that trnctl and others can join");
    add_hart_option(*c, chosen->hart);
    c->add_option("--gdb", chosen->gdb, "serve GDB for the firmware on this port or Unix socket");
    c->add_option("--uart", chosen->uart, "write the chips' consoles to this file");
    c->add_option("qemu-arguments", chosen->extra, "after '--': more arguments of QEMU");
    c->group_options("Board", {"--kinds", "--firmware", "--set", "--timing", "--seed",
                               "--time-policy", "--hart", "--perf-map"});
    c->group_options("Which devices",
                     {"--server", "--servers", "--devices", "--functions", "--flat"});
    c->group_options("Guest", {"--arch", "--module", "--run", "--append", "--kernel", "--initrd",
                               "--product", "--memory", "--cpus", "--nodes", "--clock", "--qemu"});
    c->group_options("Connections", {"--listen", "--gdb", "--uart", "--record"});
    c->group_options("Reports",
                     {"--trace", "--vcd", "--vcd-signal", "--vcd-from", "--vcd-until", "--misuse",
                      "--misuse-allow", "--check-protocol", "--fidelity-report"});
    c->examples({{"trnvp guest trn3-chip", "the public driver's test program, then off"},
                 {"trnvp guest trn3-chip --module neuron.ko --cpus 2",
                  "a shell with a kernel module of your own"}});
    c->callback([chosen, &status] {
        chosen->hart.apply();
        chosen->board.protocol.apply();
        status = guest(*chosen);
    });
}

}  // namespace trn

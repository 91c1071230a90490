// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "platform/framework/attach/control/control.h"
#include "platform/framework/kernel/run_loop.h"
#include "platform/framework/kernel/vcd.h"
#include "platform/framework/loader/function_names.h"
#include "platform/framework/loader/source_lines.h"
#include "platform/framework/log.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/function_port.h"

namespace trn {

struct platform_options {
    std::string board;                  ///< a name from `trnvp boards`, or a path
    std::vector<std::string> set = {};  ///< "name=value" for the board's parameters
    /// For the board's parameter `firmware`: a flash image or an ELF; empty: what the board says.
    std::string firmware = {};
    timing_mode timing = timing_mode::contended;
    run_loop::config time = {};
    std::uint64_t seed = 0;
    std::filesystem::path trace = {};           ///< event trace; empty: none
    std::filesystem::path vcd = {};             ///< value change dump; empty: none
    std::vector<std::string> vcd_signals = {};  ///< what it shows, as find_signals() takes it
    /// Where assemblies are looked for besides the board's own folder; empty: boards_folder().
    std::filesystem::path boards = {};
};

/// The images that a board's modules load, as the board names them: find_firmware() has the files.
std::set<std::string> images_of(const plan& board);

/// Those images and the programs beside them, which they were packed from.
std::set<std::filesystem::path> programs_of(const plan& board);

/// Of the board as its file says, of its images' bytes and of the timing.
std::string board_digest(const plan& board, timing_mode timing);

/// A board with everything that drives it, in one process: `trnvp run`, `trnctl --board` and the
/// scenario runner are front ends of this class. One per process, because SystemC elaborates once.
///
///     trn::platform p(trn::kinds(), {.board = "trn3-chip"});
///     const auto how = p.boot(sc_core::sc_time(1, sc_core::SC_SEC));
///     p.methods().call("peek", {{"space", "chip0.axi0"}, {"address", 0}});
///     p.loop().run({.who = "test", .what = "a copy", .condition = [&] { return done; }});
class platform {
public:
    /// Reads and builds the board, elaborates it; no process has run afterwards.
    /// \throws config_error for everything the user can have said wrong
    platform(const kind_list& kinds, const platform_options& options);
    ~platform();
    platform(const platform&) = delete;
    platform& operator=(const platform&) = delete;

    /// Runs until every chip's firmware has published its routing id, at most `limit` of simulated
    /// time. The reason's kind is `condition` when it has.
    stop_reason boot(const sc_core::sc_time& limit);

    const identity& about() const { return methods_->about(); }
    run_loop& loop() { return loop_; }
    control& methods() { return *methods_; }
    const system& modules() const { return *system_; }

    /// Completes trace and value change dump. Why one of them ends too early; empty: none does.
    std::string finish_records();

    /// A PCIe function that a program can attach to.
    struct function {
        std::string name;    ///< of the chip or card: "chip0", "rack0.server3.chip1"
        std::string server;  ///< the part of the board that its host is in; empty: all of it
        function_port* port;
        bool chip;             ///< an accelerator, not a network card
        unsigned cores;        ///< of its server
        std::string bdf;       ///< bus, device and function on its host: "03:00.0"
        std::string product;   ///< what SMBIOS calls the host; empty: the board does not say
        std::uint16_t id = 0;  ///< `bdf` as a number
        std::vector<std::uint16_t> bridges = {};  ///< ids of the ports above, the root port first
        bool efa = false;                         ///< an EFA card: RDMA goes through it
    };
    /// Server by server in the order of the board, and of each server's buses.
    std::vector<function> functions() const;
    /// Only the chips'.
    std::vector<function> chip_functions() const;
    /// Their names.
    std::vector<std::string> chips() const;

private:
    plan read_board(const kind_list& kinds, const platform_options& options);
    void add_methods();
    void open_vcd(const platform_options& options);
    void find_sources();
    void share_log();

    std::string digest_;
    std::unique_ptr<system> system_;
    run_loop loop_;
    std::unique_ptr<control> methods_;
    std::shared_ptr<log::sink> earlier_sink_;
    std::unique_ptr<source_lines> sources_;  // when the first mistake of a hart is reported
    std::unique_ptr<vcd_file> vcd_;
    std::unique_ptr<function_names> functions_;  // while there is a trace
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/linux_symbols/linux_symbols.h"
#include "platform/app/wave_options.h"
#include "platform/framework/attach/control/control.h"
#include "platform/framework/kernel/run_loop.h"
#include "platform/framework/loader/function_names.h"
#include "platform/framework/loader/source_lines.h"
#include "platform/framework/log.h"
#include "platform/framework/log_reports.h"
#include "platform/framework/misuse/policy.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/waves/wave_file.h"

namespace trn {

struct platform_options {
    std::string board;                  ///< a name from `trnvp boards`, or a path
    std::vector<std::string> set = {};  ///< "name=value" for the board's parameters
    /// The board's parameter `firmware`: a flash image or an ELF; empty: the board's default.
    std::string firmware = {};
    timing_mode timing = timing_mode::contended;
    run_loop::config time = {};
    std::uint64_t seed = 0;
    std::filesystem::path trace = {};  ///< event trace; empty: none
    bool digest = false;               ///< computes the digest of a trace in any format
    wave_options waves = {};
    /// A second folder of assemblies, besides the board's own; empty: boards_folder().
    std::filesystem::path boards = {};
    misuse::choices misuse = {};  ///< applied before the first process runs
    /// Called with the board that will be built; may replace files of its modules.
    std::function<void(plan&)> prepare = {};
};

/// The images that modules of the board load, as the board names them; find_firmware() returns
/// their files. Images of disks, which are written, are not among them: disk_images_of().
std::set<std::string> images_of(const plan& board);

/// The files of those images, and the .elf files in their folders, from which images are packed.
std::set<std::filesystem::path> programs_of(const plan& board);

/// Digest of the board's file, the bytes of its images and the timing mode.
std::string board_digest(const plan& board, timing_mode timing);

/// A board with its run loop and control methods, in one process: `trnvp run`, `trnctl --board` and
/// the scenario runner are front ends of this class. One per process, because SystemC elaborates
/// once.
///
///     trn::platform p(trn::kinds(), {.board = "trn3-chip"});
///     const auto how = p.boot(sc_core::sc_time(1, sc_core::SC_SEC));
///     p.methods().call("peek", {{"space", "chip0.axi0"}, {"address", 0}});
///     p.loop().run({.waiter = "test", .condition_text = "a copy", .condition = [&] { return done;
///     }});
class platform {
public:
    /// Reads, builds and elaborates the board. No process runs before boot() or loop().run().
    /// \throws config_error for all errors in the options and the board
    platform(const kind_list& kinds, const platform_options& options);
    ~platform();
    platform(const platform&) = delete;
    platform& operator=(const platform&) = delete;

    /// Runs until the firmware of every chip has published its routing id, for at most `limit` of
    /// simulated time. Returns a reason of kind `condition` in case of success.
    stop_reason boot(const sc_core::sc_time& limit);

    const identity& about() const { return methods_->about(); }
    run_loop& loop() { return loop_; }
    control& methods() { return *methods_; }
    const system& modules() const { return *system_; }

    /// "function (file:line)" at this address in the memory of a hart; "": unknown.
    std::string source_at(std::string_view hart, std::uint64_t pc);

    /// Symbols of the Linux of hosts inside.
    linux_symbols& linux_hosts() { return *linux_; }

    /// Completes the trace and the waveform file. Returns the reason why one of them is
    /// incomplete, or "".
    std::string finish_records();

    /// A PCIe function that a program can attach to.
    struct function {
        std::string name;    ///< of the chip or card: "chip0", "rack0.server3.chip1"
        std::string server;  ///< assembly that contains the function's host; empty: the board
        function_port* port;
        bool chip;             ///< false: a network card
        unsigned cores;        ///< processor cores of the host
        std::string bdf;       ///< bus, device and function on the host: "03:00.0"
        std::string product;   ///< SMBIOS product name of the host; empty: not set by the board
        std::uint16_t id = 0;  ///< `bdf` as a number
        /// ids of the ports above, starting at the root port
        std::vector<std::uint16_t> bridges = {};
        bool efa = false;  ///< EFA card, which transfers RDMA
    };
    /// All functions: servers in the order of the board, and functions in the order of buses.
    std::vector<function> functions() const;
    /// Functions of chips only.
    std::vector<function> chip_functions() const;
    /// Names of chip_functions().
    std::vector<std::string> chips() const;

private:
    plan read_board(const kind_list& kinds, const platform_options& options);
    void apply(const misuse::choices& chosen) const;
    void add_methods();
    std::vector<std::string> traced_modules() const;
    void open_waves(const wave_options& options);
    void share_log();

    log::logged_reports reports_;
    std::string digest_;
    std::unique_ptr<system> system_;
    run_loop loop_;
    std::unique_ptr<control> methods_;
    std::shared_ptr<log::sink> earlier_sink_;
    std::unique_ptr<source_lines> sources_;  // made by the first call of source_at()
    std::unique_ptr<linux_symbols> linux_;
    std::unique_ptr<wave_file> waves_;
    std::unique_ptr<function_names> functions_;  // exists while there is a trace
};

}  // namespace trn

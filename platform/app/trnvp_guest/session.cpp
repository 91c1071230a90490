// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_guest/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "models/kinds.h"
#include "models/pcie/root_complex/root_complex.h"
#include "platform/app/commands/growing_file.h"
#include "platform/app/commands/misuse_option.h"
#include "platform/app/device_tree/server_identity.h"
#include "platform/app/endpoints/endpoints.h"
#include "platform/app/fidelity_report.h"
#include "platform/app/guest/guest_ports.h"
#include "platform/app/guest/running_guest.h"
#include "platform/app/platform.h"
#include "platform/app/telemetry_model/device_states.h"
#include "platform/app/trnvp_guest/files.h"
#include "platform/framework/attach/console/console_writer.h"
#include "platform/framework/attach/console/standard_streams.h"
#include "platform/framework/misuse/report.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/output.h"
#include "platform/framework/process/private_file.h"
#include "platform/framework/process/temporary_folder.h"
#include "platform/framework/tlm/base_protocol.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

std::optional<std::string> parameter_of(const plan& board, std::string_view name) {
    for (const auto& [known, value] : board.parameters)
        if (known == name) return value;
    return std::nullopt;
}

/// Fills in the parameters that the command line does not set: number of chips, memory that guests
/// can map.
platform_options platform_options_of(const guest_options& chosen) {
    if (!chosen.board.record.empty() && !chosen.gdb.empty())
        throw user_error(recording::no_debugger);
    output_files files;
    chosen.board.add_outputs(files);
    files.add("--uart", chosen.uart);
    auto build = chosen.board.checked();
    const auto board = load_board(build.board, kinds(), build.set);
    const auto is_set = [&](const std::string& name) {
        return std::ranges::any_of(build.set,
                                   [&](const auto& s) { return s.starts_with(name + "="); });
    };
    if (chosen.choice.devices != 0 && parameter_of(board, "devices") && !is_set("devices"))
        build.set.push_back(fmt::format("devices={}", chosen.choice.devices));
    if (parameter_of(board, "shared_hbm") && !is_set("shared_hbm"))
        build.set.push_back("shared_hbm=true");
    return build;
}

/// A server of the board that becomes a guest.
struct chosen_server {
    std::string name;
    platform::function any;
    std::vector<platform::function> functions;  ///< those of the guest
};

/// \throws user_error
std::vector<chosen_server> servers_of(const platform& board, const guest_choice& choice) {
    const auto& name = board.about().board;
    const auto functions = board.functions();
    if (functions.empty()) throw user_error(fmt::format("board '{}' has no PCIe function", name));
    std::vector<chosen_server> servers;
    for (const auto& server : choice.servers_of(functions, name)) {
        auto own = functions;
        std::erase_if(own, [&](const auto& f) { return f.server != server; });
        servers.push_back({server, own.front(), choice.functions_of(own, name)});
    }
    return servers;
}

/// The platform and all guests of one command.
class guest_session {
public:
    explicit guest_session(const guest_options& chosen)
        : chosen_(chosen),
          platform_(kinds(), platform_options_of(chosen)),
          servers_(servers_of(platform_, chosen.choice)),
          image_(guest_image_of(chosen)),
          machine_(guest_machine_of(chosen)),
          streams_(platform_.loop().io()),
          recorder_(recording::recorder_for(platform_, platform_options_of(chosen),
                                            {chosen.board.misuse_texts(), chosen.hart.mode},
                                            chosen.board.record)),
          endpoints_(platform_, recorder_.get()),
          devices_(platform_, [this] { return endpoints_.clients(); }),
          interrupts_(platform_.loop().io(), SIGINT, SIGTERM),
          children_(platform_.loop().io(), SIGCHLD) {
        devices_.add_method();
    }

    int run() {
        if (chosen_.listen.empty()) own_folder_.emplace("trnvp-guest");
        std::optional<fidelity_report> touched;
        if (!chosen_.board.fidelity_report.empty()) touched.emplace(chosen_.board.fidelity_report);
        complete_machines();
        watch_ports();
        open_endpoints();
        start_guests();
        wait_for_signals();
        run_loop::goal goal{"the command line", "the guests to end"};
        goal.background = true;
        const auto reason = platform_.loop().run(std::move(goal));
        if (recorder_) recorder_->finish();
        if (writer_) writer_->finish();
        auto lost = platform_.finish_records();
        if (uart_) lost += uart_->finish();
        if (touched) touched->write(platform_.modules().board());
        const bool by_itself = have_ended();
        const int status = conclude(reason);
        consoles_.finish();
        print_misuse(platform_.chips());
        print_protocol_violations();
        if (const auto unread = finish_streams(by_itself); !unread.empty())
            print_to(stderr, "trnvp: {}\n", lost = unread);
        const bool failed = misuse::failed() || base_protocol::failed() || !lost.empty();
        return status == 0 && failed ? 1 : status;
    }

private:
    /// The folder of the sockets and the initramfs.
    const fs::path& folder() const { return own_folder_ ? own_folder_->path() : chosen_.listen; }

    /// Sets the options of the machines that depend on the board.
    void complete_machines() {
        for (const auto& server : servers_)
            guests_.push_back(std::make_unique<running_guest>(
                server.name, machine_of(server.any, server.functions)));
    }

    /// `any`: any function of the server.
    guest_machine machine_of(const platform::function& any,
                             const std::vector<platform::function>& functions) {
        guest_machine m = machine_;
        const auto count =
            static_cast<std::uint64_t>(std::ranges::count_if(functions, &platform::function::chip));
        if (m.cpus == 0)
            m.cpus =
                std::min(std::max(chosen_.choice.servers.empty() ? 2u : 1u, m.nodes), any.cores);
        if (m.cpus > any.cores)
            throw user_error(fmt::format("--cpus {}: the server has {} cores", m.cpus, any.cores));
        if (m.cpus < m.nodes)
            throw user_error(
                fmt::format("--nodes {}: the guest has {} processors", m.nodes, m.cpus));
        for (const auto& f : functions)
            m.functions.push_back({f.name, endpoints::socket_of(folder(), f), f.id,
                                   chosen_.flat ? std::vector<std::uint16_t>{} : f.bridges});
        // The public driver takes 128 MiB below 4 GiB per device (contract 1.3): allot twice that,
        // and 2 GiB. Memory up to 2815 MiB lies completely below 4 GiB; Linux then initializes most
        // of its pages in the background after the boot.
        if (m.memory_mib == 0) m.memory_mib = count <= 4 ? 2560 : 2048 + 256 * count;
        if (m.product.empty()) m.product = product_of(platform_.modules().board());
        m.instance_id = instance_id_of(platform_.modules(), any.server,
                                       static_cast<unsigned>(guests_.size() + 1));
        // The kernel's tests of its own cryptography take a tenth of a boot under TCG.
        m.append = fmt::format("{} quiet panic=-1 cryptomgr.notests{}",
                               m.architecture->kernel_parameters, m.clock_arguments());
        // SeaBIOS: qboot does not find the root buses of other NUMA nodes, and an init that is not
        // ours does not enable error messages.
        m.minimal_firmware = image_ && m.nodes == 1 && !m.architecture->minimal_firmware.empty();
        if (m.minimal_firmware) m.append += " pci=assign-busses";  // qboot's are in reverse order
        // Huge pages of 2 MiB for DMA of programs, 16 MiB per device, made when a program asks.
        if (image_ && image_->modules.empty() && count != 0)
            m.append += fmt::format(" sysctl.vm.nr_overcommit_hugepages={}", 8 * count);
        // The kernel passes parameters that it does not know to init as environment variables.
        const auto& server = any.server;
        m.monitor = folder() / fmt::format("qemu{}.qmp", guests_.size());
        m.status_file = folder() / fmt::format("qemu{}.status", guests_.size());
        if (!server.empty()) m.append += " TRNVP_SERVER=" + server;
        if (!chosen_.append.empty()) m.append += " " + chosen_.append;
        if (image_) m.initrd = initramfs();
        m.interactive = chosen_.choice.servers.empty() && isatty(STDIN_FILENO) != 0 &&
                        (!image_ || image_->shell);
        return m;
    }

    /// Shows errors and removed cards of a server's ports to its guest.
    void watch_ports() {
        for (const auto& guest : guests_) {
            auto& ports = ports_.emplace_back(platform_.loop().io(), guest->machine().monitor,
                                              guest->machine().functions);
            platform_.modules().for_each<root_complex>([&](root_complex& host) {
                if (!is_in(guest->name(), host.name())) return;
                host.observe(
                    {.uncorrectable = [&ports](auto source,
                                               auto error) { ports.error(source, error); },
                     .slot = [&ports](auto port, bool reachable) { ports.slot(port, reachable); }});
            });
        }
    }

    /// Whether the module `path` is part of a server.
    static bool is_in(const std::string& server, std::string_view path) {
        return server.empty() || path.starts_with(server + ".");
    }

    /// Path of the initramfs, which all guests share.
    fs::path initramfs() const {
        const auto path = folder() / "initramfs";
        if (!guests_.empty()) return path;
        try {
            make_private_folder(folder());
            write_private_file(path, image_->initramfs());
        } catch (const std::system_error&) {
            throw user_error(fmt::format("cannot write {}", path.string()));
        }
        return path;
    }

    void start_guests() {
        if (chosen_.choice.servers.empty()) return guests_.front()->start();
        for (const auto& g : guests_)
            g->start(platform_.loop().io(), [this, &name = g->name()](std::string_view text) {
                consoles_.write(name, text);
                poll_guests();
            });
    }

    void open_endpoints() {
        endpoints_.open_folder(folder(), !chosen_.flat);
        if (!chosen_.gdb.empty()) endpoints_.open_gdb(chosen_.gdb);
        if (!chosen_.uart.empty()) {
            auto& file = uart_.emplace("--uart", chosen_.uart);
            auto& consoles = platform_.methods().consoles();
            writer_.emplace([&file](std::string_view text) { file.write(text); },
                            consoles.all().size() > 1);
            consoles.listen([this](std::string_view module, std::string_view text) {
                writer_->write(module, text);
            });
        }
        if (chosen_.listen.empty() && chosen_.gdb.empty()) return;
        for (const auto& d : endpoints_.all())
            print_to(stderr, "  {:<14} {}\n", d.purpose, d.address);
    }

    void wait_for_signals() {
        interrupts_.async_wait([this](auto error, int signal) {
            if (error) return;
            interrupted_ = signal;
            platform_.loop().quit("interrupted");
        });
        wait_for_child();
    }
    void wait_for_child() {
        children_.async_wait([this](auto error, int) {
            if (error) return;
            poll_guests();
            wait_for_child();
        });
        poll_guests();
    }
    void poll_guests() {
        if (have_ended()) platform_.loop().quit("the guests have ended");
    }
    bool have_ended() const {
        return std::ranges::all_of(guests_, [](const auto& g) { return g->ended().has_value(); });
    }

    /// Waits until the output is read; a signal then ends the process. After a request to end,
    /// waits only for a reader that still reads.
    std::string finish_streams(bool by_itself) {
        if (!by_itself) return streams_.finish(standard_streams::grace);
        interrupts_.clear();
        return streams_.finish(std::nullopt);
    }

    /// Returns the first guest status that is not 0.
    int conclude(const stop_reason& reason) {
        int first = 0;
        for (const auto& g : guests_) {
            const auto ended = g->ended();
            g->end();
            if (interrupted_) continue;
            const int status = conclude(*g, ended, reason);
            if (first == 0) first = status;
        }
        return interrupted_ ? 128 + *interrupted_ : first;
    }

    int conclude(const running_guest& guest, std::optional<child_process::end_state> ended,
                 const stop_reason& reason) {
        const auto subject =
            chosen_.choice.servers.empty() ? "the guest" : "the guest " + guest.name();
        if (!ended) {
            print_to(stderr, "trnvp: {} ended the platform before {}\n", reason.text, subject);
            return 1;
        }
        const std::string qemu = chosen_.choice.servers.empty() ? "QEMU" : "QEMU of " + subject;
        if (ended->signal != 0) {
            print_to(stderr, "trnvp: {} was killed by signal {}\n", qemu, ended->signal);
            return ended->shell_status();
        }
        if (const auto status = guest.machine().guest_status(ended->status)) {
            print_to(stderr, "trnvp: {} ended with status {}\n", subject, *status);
            return *status;
        }
        // Powered off; guests with a user's initramfs have no status.
        if (ended->status == 0 && !image_) return 0;
        if (ended->status == 0)
            print_to(stderr, "trnvp: {} went down without a status (a panic?)\n", subject);
        else
            print_to(stderr, "trnvp: {} failed with status {}\n", qemu, ended->status);
        return 1;
    }

    const guest_options chosen_;
    platform platform_;
    const std::vector<chosen_server> servers_;  // chosen before tools of the guest are needed
    std::optional<guest_image> image_;
    guest_machine machine_;
    standard_streams streams_;
    std::optional<temporary_folder> own_folder_;  // null when the command line names a folder
    const std::unique_ptr<recording::recorder> recorder_;
    endpoints endpoints_;
    telemetry::device_states devices_;
    boost::asio::signal_set interrupts_, children_;
    std::optional<growing_file> uart_;
    std::optional<console_writer> writer_;
    console_writer consoles_{console_writer::print, true};  // merges the consoles of several guests
    std::deque<guest_ports> ports_;
    std::vector<std::unique_ptr<running_guest>> guests_;
    std::optional<int> interrupted_;
};

}  // namespace

int run_guests(const guest_options& chosen) {
    return guest_session(chosen).run();
}

}  // namespace trn

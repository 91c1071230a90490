// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/guest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "models/kinds.h"
#include "platform/app/commands/board_options.h"
#include "platform/app/commands/growing_file.h"
#include "platform/app/commands/guest_choice.h"
#include "platform/app/commands/misuse_option.h"
#include "platform/app/endpoints/endpoints.h"
#include "platform/app/fidelity_report.h"
#include "platform/app/guest/image.h"
#include "platform/app/guest/machine.h"
#include "platform/app/platform.h"
#include "platform/framework/attach/console/console_writer.h"
#include "platform/framework/misuse/report.h"
#include "platform/framework/netlist/boards.h"
#include "platform/framework/output.h"
#include "platform/framework/process/child_process.h"
#include "platform/framework/process/temporary_folder.h"
#include "platform/framework/unique_fd.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

constexpr int skipped = 77;  ///< CTest's and automake's word for "could not be tried here"

struct guest_options {
    board_options board;
    guest_choice which;
    bool flat = false;  ///< functions on the root bus, without ports
    fs::path listen;
    fs::path qemu, kernel, initrd;
    std::string gdb, product, append, uart;
    std::vector<std::string> modules;
    std::vector<std::string> programs;
    std::uint64_t memory_mib = 0;
    unsigned cpus = 0;  ///< 0: two, so that a driver may spin; one for each of several guests
    guest_machine::clock clock = guest_machine::clock::host;
    std::vector<std::string> extra;
};

/// Restores the terminal, if there is one, as it was before a guest used it.
class terminal_guard {
public:
    terminal_guard() : has_terminal_(tcgetattr(STDIN_FILENO, &before_) == 0) {}
    ~terminal_guard() {
        if (has_terminal_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
    }
    terminal_guard(const terminal_guard&) = delete;
    terminal_guard& operator=(const terminal_guard&) = delete;

private:
    termios before_{};
    const bool has_terminal_;
};

/// One server of the board as a machine: QEMU, and its output if there are several.
class server_guest {
public:
    server_guest(std::string name, guest_machine machine)
        : name_(std::move(name)), machine_(std::move(machine)) {}
    ~server_guest() { end(); }
    server_guest(const server_guest&) = delete;
    server_guest& operator=(const server_guest&) = delete;

    /// The only one: its console is this process's.
    void start() {
        terminal_.emplace();
        qemu_.emplace(child_process::start_bound(announced(), {}));
    }
    /// One of several: `print` receives its output.
    void start(boost::asio::io_context& io, std::function<void(std::string_view)> print) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
        const unique_fd theirs(ends[1]);
        output_.emplace(io, ends[0]);
        print_ = std::move(print);
        const unique_fd no_input(open("/dev/null", O_RDONLY | O_CLOEXEC));
        qemu_.emplace(child_process::start_bound(
            announced(), {.input = no_input.get(), .output = theirs.get()}));
        read();
    }

    /// How QEMU ended, once all that it printed has been shown.
    std::optional<child_process::end_state> ended() {
        if (output_ && output_->is_open()) return std::nullopt;
        return qemu_->poll();
    }
    void end() {
        if (qemu_) qemu_->end(std::chrono::seconds(2));
    }
    const std::string& name() const { return name_; }

private:
    std::vector<std::string> announced() const {
        auto command = machine_.command();
        print_to(stderr, "{}\n", shell_text(command));
        return command;
    }
    void read() {
        output_->async_read_some(boost::asio::buffer(bytes_), [this](auto error, std::size_t n) {
            if (error == boost::asio::error::operation_aborted) return;
            if (error) output_->close();
            std::string text(bytes_.data(), n);
            std::erase(text, '\r');  // of the serial line
            print_(text);
            if (!error) read();
        });
    }

    const std::string name_;
    const guest_machine machine_;
    std::optional<terminal_guard> terminal_;
    std::optional<child_process> qemu_;
    std::optional<boost::asio::posix::stream_descriptor> output_;
    std::function<void(std::string_view)> print_;
    std::array<char, 4096> bytes_{};
};

std::optional<std::string> parameter_of(const plan& board, std::string_view name) {
    for (const auto& [known, value] : board.parameters)
        if (known == name) return value;
    return std::nullopt;
}

/// Parameters that the command line leaves open: number of chips, memory that guests can map.
platform_options build_options(const guest_options& chosen) {
    if (!chosen.board.record.empty() && !chosen.gdb.empty())
        throw user_error(recording::no_debugger);
    auto build = chosen.board.checked();
    const auto board = load_board(build.board, kinds(), build.set);
    const auto said = [&](const std::string& name) {
        return std::ranges::any_of(build.set,
                                   [&](const auto& s) { return s.starts_with(name + "="); });
    };
    if (chosen.which.devices != 0 && parameter_of(board, "devices") && !said("devices"))
        build.set.push_back(fmt::format("devices={}", chosen.which.devices));
    if (parameter_of(board, "shared_hbm") && !said("shared_hbm"))
        build.set.push_back("shared_hbm=true");
    return build;
}

/// Files of the image are known by their names alone.
void check_names(const std::string& option, const std::vector<guest_image::file_and_words>& all) {
    std::map<fs::path, fs::path> files;
    for (const auto& [file, words] : all) {
        const auto& [first, added] = files.emplace(file.filename(), file);
        if (!added && !fs::equivalent(first->second, file))
            throw user_error(fmt::format("{}: {} and {} would have the same name in the guest",
                                         option, first->second.string(), file.string()));
    }
}

guest_image::file_and_words split(const std::string& option, const std::string& text) {
    std::istringstream in(text);
    std::string file, word;
    in >> file;
    guest_image::file_and_words out{file, {}};
    while (in >> word) out.words.push_back(word);
    if (!fs::is_regular_file(out.file))
        throw user_error(fmt::format("{}: there is no file '{}'", option, file));
    return out;
}

/// Our own program, built beside this one.
fs::path own_program() {
    return fs::read_symlink("/proc/self/exe").parent_path() / "trn-guest";
}

class session {
public:
    explicit session(const guest_options& chosen)
        : chosen_(chosen),
          image_(read_image(chosen)),
          machine_(read_machine(chosen)),
          platform_(kinds(), build_options(chosen)),
          recorder_(recording::recorder_for(platform_, build_options(chosen), chosen.board.record)),
          endpoints_(platform_, recorder_.get()),
          interrupts_(platform_.loop().io(), SIGINT, SIGTERM),
          children_(platform_.loop().io(), SIGCHLD) {}

    int run() {
        if (chosen_.listen.empty()) own_folder_.emplace("trnvp-guest");
        apply(chosen_.board.misuse);
        std::optional<fidelity_report> touched;
        if (!chosen_.board.fidelity_report.empty()) touched.emplace(chosen_.board.fidelity_report);
        complete_machines();
        open_endpoints();
        start_guests();
        wait_for_signals();
        run_loop::goal goal{"the command line", "the guests to end"};
        goal.background = true;
        const auto how = platform_.loop().run(std::move(goal));
        if (recorder_) recorder_->finish();
        if (writer_) writer_->finish();
        auto lost = platform_.finish_records();
        if (uart_) lost += uart_->finish();
        if (touched) touched->write(platform_.modules().board());
        const int status = conclude(how);
        consoles_.finish();
        print_misuse(platform_.chips());
        const bool failed = misuse::failed() || !lost.empty();
        return status == 0 && failed ? 1 : status;
    }

private:
    /// Mistakes in files are found before the board is built.
    static std::optional<guest_image> read_image(const guest_options& chosen) {
        if (!chosen.initrd.empty()) {
            if (!chosen.modules.empty() || !chosen.programs.empty())
                throw user_error("--module and --run belong to our own initramfs, not to --initrd");
            return std::nullopt;
        }
        guest_image image{.busybox = guest_tools::find("busybox"), .own_program = own_program()};
        for (const auto& module : chosen.modules)
            image.modules.push_back(split("--module", module));
        for (const auto& program : chosen.programs) {
            if (fs::is_directory(program))
                image.folders.emplace_back(program);
            else
                image.programs.push_back(split("--run", program));
        }
        check_names("--module", image.modules);
        check_names("--run", image.programs);
        if (image.programs.empty() && chosen.modules.empty())
            image.programs.push_back({own_program(), {}});
        else if (image.programs.empty())
            image.shell = isatty(STDIN_FILENO) != 0;
        return image;
    }

    static guest_machine read_machine(const guest_options& chosen) {
        guest_machine m;
        m.qemu = chosen.qemu.empty() ? guest_tools::find("qemu-system-x86_64") : chosen.qemu;
        m.kernel = chosen.kernel.empty() ? guest_tools::find("vmlinuz") : chosen.kernel;
        m.initrd = chosen.initrd;
        for (const auto& file : {chosen.kernel, chosen.initrd})
            if (!file.empty() && !fs::is_regular_file(file))
                throw user_error(fmt::format("there is no file '{}'", file.string()));
        m.cpus = chosen.cpus;
        m.runs_by = chosen.clock;
        m.memory_mib = chosen.memory_mib;
        m.product = chosen.product;
        m.extra = chosen.extra;
        return m;
    }

    /// Of the sockets and the initramfs.
    const fs::path& folder() const { return own_folder_ ? own_folder_->path() : chosen_.listen; }

    /// The options that depend on the board.
    void complete_machines() {
        const auto functions = platform_.functions();
        if (functions.empty())
            throw user_error(
                fmt::format("board '{}' has no PCIe function", platform_.about().board));
        for (const auto& server : chosen_.which.servers_of(functions, platform_.about().board)) {
            auto own = functions;
            std::erase_if(own, [&](const auto& f) { return f.server != server; });
            guests_.push_back(std::make_unique<server_guest>(
                server,
                machine_of(own.front(), chosen_.which.functions_of(own, platform_.about().board))));
        }
    }

    /// `any`: a function of the server.
    guest_machine machine_of(const platform::function& any,
                             const std::vector<platform::function>& functions) {
        guest_machine m = machine_;
        const auto count =
            static_cast<std::uint64_t>(std::ranges::count_if(functions, &platform::function::chip));
        if (m.cpus == 0) m.cpus = std::min(chosen_.which.servers.empty() ? 2u : 1u, any.cores);
        if (m.cpus > any.cores)
            throw user_error(fmt::format("--cpus {}: the server has {} cores", m.cpus, any.cores));
        for (const auto& f : functions)
            m.functions.push_back({f.name, endpoints::socket_of(folder(), f), f.id,
                                   chosen_.flat ? std::vector<std::uint16_t>{} : f.bridges});
        // The public driver takes 128 MiB below 4 GiB per device (contract 1.3); twice that and
        // room to work.
        if (m.memory_mib == 0) m.memory_mib = 2048 + 256 * count;
        if (m.product.empty())
            m.product = parameter_of(platform_.modules().board(), "product").value_or("");
        m.instance_id = fmt::format("i-{:017x}", guests_.size() + 1);
        m.append = "console=ttyS0 quiet panic=-1 " + m.clock_arguments();
        if (image_ && image_->modules.empty() &&
            count != 0)  // for DMA of programs: 16 MiB per device
            m.append += fmt::format(" hugepagesz=2M hugepages={}", 8 * count);
        // Parameters unknown to the kernel become the environment of init and its programs.
        const auto& server = any.server;
        if (!server.empty()) m.append += " TRNVP_SERVER=" + server;
        if (!chosen_.append.empty()) m.append += " " + chosen_.append;
        if (image_) m.initrd = initramfs();
        m.interactive = chosen_.which.servers.empty() && isatty(STDIN_FILENO) != 0 &&
                        (!image_ || image_->shell);
        return m;
    }

    /// The same for all guests.
    fs::path initramfs() const {
        const auto path = folder() / "initramfs";
        if (!guests_.empty()) return path;
        fs::create_directories(folder());
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        out << image_->initramfs() << std::flush;
        if (!out) throw user_error(fmt::format("cannot write {}", path.string()));
        return path;
    }

    void start_guests() {
        if (chosen_.which.servers.empty()) return guests_.front()->start();
        for (const auto& g : guests_)
            g->start(platform_.loop().io(), [this, &name = g->name()](std::string_view text) {
                consoles_.write(name, text);
                look_at_guests();
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
            look_at_guests();
            wait_for_child();
        });
        look_at_guests();
    }
    void look_at_guests() {
        if (std::ranges::all_of(guests_, [](const auto& g) { return g->ended().has_value(); }))
            platform_.loop().quit("the guests have ended");
    }

    /// The first status of a guest that is not 0.
    int conclude(const stop_reason& how) {
        int first = 0;
        for (const auto& g : guests_) {
            const auto ended = g->ended();
            g->end();
            if (interrupted_) continue;
            const int status = conclude(*g, ended, how);
            if (first == 0) first = status;
        }
        return interrupted_ ? 128 + *interrupted_ : first;
    }

    int conclude(const server_guest& guest, std::optional<child_process::end_state> ended,
                 const stop_reason& how) {
        const auto who = chosen_.which.servers.empty() ? "the guest" : "the guest " + guest.name();
        if (!ended) {
            print_to(stderr, "trnvp: {} ended the platform before {}\n", how.text, who);
            return 1;
        }
        const std::string qemu = chosen_.which.servers.empty() ? "QEMU" : "QEMU of " + who;
        if (ended->signal != 0) {
            print_to(stderr, "trnvp: {} was killed by signal {}\n", qemu, ended->signal);
            return ended->shell_status();
        }
        if (const auto status = guest_machine::guest_status(ended->status)) {
            print_to(stderr, "trnvp: {} ended with status {}\n", who, *status);
            return *status;
        }
        if (ended->status == 0 && !image_) return 0;  // a guest of the user's was powered off
        if (ended->status == 0)
            print_to(stderr, "trnvp: {} went down without a status (a panic?)\n", who);
        else
            print_to(stderr, "trnvp: {} failed with status {}\n", qemu, ended->status);
        return 1;
    }

    const guest_options chosen_;
    std::optional<guest_image> image_;
    guest_machine machine_;
    platform platform_;
    std::optional<temporary_folder> own_folder_;  // unless the user named one
    const std::unique_ptr<recording::recorder> recorder_;
    endpoints endpoints_;
    boost::asio::signal_set interrupts_, children_;
    std::optional<growing_file> uart_;
    std::optional<console_writer> writer_;
    console_writer consoles_{console_writer::print, true};  // of several guests
    std::vector<std::unique_ptr<server_guest>> guests_;
    std::optional<int> interrupted_;
};

int guest(const guest_options& chosen) {
    try {
        return session(chosen).run();
    } catch (const tools_missing& e) {
        print_to(stderr, "trnvp: {}\n", e.what());
        return skipped;
    } catch (const std::invalid_argument& e) {  // more functions than places
        throw user_error(std::string(e.what()) + ": choose some by --functions");
    } catch (const std::system_error& e) {  // a file that cannot be read
        throw user_error(e.what());
    }
}

}  // namespace

void add_guest(CLI::App& app, int& status) {
    auto chosen = std::make_shared<guest_options>();
    auto* c = app.add_subcommand("guest", "start a Linux guest in QEMU with a board's devices");
    chosen->board.add_to(*c);
    auto* one = c->add_option("--server", chosen->which.server,
                              "server of the board that runs as the guest (default: the first)");
    c->add_option("--servers", chosen->which.servers,
                  "several servers, one guest each: NAME,... or all; consoles are merged by line")
        ->delimiter(',')
        ->excludes(one);
    auto* devices = c->add_option("--devices", chosen->which.devices,
                                  "so many chips and no card (default: see --functions)")
                        ->check(CLI::Range(1u, 64u));
    c->add_option("--functions", chosen->which.functions,
                  "of the server: all (default), chips, none, or NAME,... such as chip0,nic1")
        ->delimiter(',')
        ->excludes(devices);
    c->add_flag("--flat", chosen->flat,
                "all functions on the guest's root bus (default: behind root ports and switches as "
                "on the board)");
    c->add_option("--module", chosen->modules,
                  "kernel module to load: \"FILE.ko [parameter=value ...]\"; may be repeated")
        ->allow_extra_args(false);
    c->add_option(
         "--run", chosen->programs,
         "\"FILE [argument ...]\" to run in the guest, whose status ends it: a static "
         "program or a script for busybox (default: trn-guest, or after --module a shell); may be "
         "repeated: one after the other until one fails. A folder is copied to /program")
        ->allow_extra_args(false);
    c->add_option("--append", chosen->append, "more words for the kernel's command line");
    c->add_option("--kernel", chosen->kernel, "a kernel of your own");
    c->add_option("--initrd", chosen->initrd, "an initramfs of your own instead of ours");
    c->add_option("--product", chosen->product,
                  "SMBIOS product name: the driver's platform type (default: the board's)");
    c->add_option("--memory", chosen->memory_mib, "of the guest, in MiB")
        ->check(CLI::Range(256, 1 << 20));
    c->add_option("--cpus", chosen->cpus, "of each guest (2; 1 where there are several)")
        ->check(CLI::Range(1, 255));
    c->add_option(
         "--clock", chosen->clock,
         "source of the guest's time: host (default) or instructions, which stop while the "
         "guest waits for the platform")
        ->transform(CLI::CheckedTransformer(std::map<std::string, guest_machine::clock>{
            {"host", guest_machine::clock::host},
            {"instructions", guest_machine::clock::instructions}}));
    c->add_option("--qemu", chosen->qemu, "a QEMU with the device vfio-user-pci (10.1 or later)");
    c->add_option("--listen", chosen->listen,
                  "folder for the sockets, so that trnctl and others can join");
    c->add_option("--gdb", chosen->gdb, "serve GDB for the firmware on this port or Unix socket");
    c->add_option("--uart", chosen->uart, "write the chips' consoles to this file");
    c->add_option("qemu-arguments", chosen->extra, "after '--': more arguments of QEMU");
    c->callback([chosen, &status] { status = guest(*chosen); });
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/commands/guest.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "models/kinds.h"
#include "platform/attach/console/console_writer.h"
#include "platform/commands/board_options.h"
#include "platform/commands/misuse_option.h"
#include "platform/doors/doors.h"
#include "platform/fidelity_report.h"
#include "platform/guest/image.h"
#include "platform/guest/machine.h"
#include "platform/misuse/report.h"
#include "platform/netlist/boards.h"
#include "platform/platform.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

constexpr int skipped = 77;  ///< CTest's and automake's word for "could not be tried here"

struct guest_options {
    board_options board;
    unsigned devices = 0;  ///< 0: all that the board has
    fs::path listen;
    fs::path qemu, kernel, initrd;
    std::string gdb, product, append, uart, server;
    std::vector<std::string> modules;
    std::string program;
    std::uint64_t memory_mib = 0;
    unsigned cpus = 1;
    std::vector<std::string> extra;
};

/// A folder that is removed at the end, unless the user named one.
class work_folder {
public:
    explicit work_folder(const fs::path& named) : path_(named) {
        if (!named.empty()) return;
        std::string name = (fs::temp_directory_path() / "trnvp-guest-XXXXXX").string();
        if (!mkdtemp(name.data())) throw user_error("cannot make a folder for the sockets");
        path_ = name;
        ours_ = true;
    }
    ~work_folder() {
        std::error_code ignored;
        if (ours_) fs::remove_all(path_, ignored);
    }
    work_folder(const work_folder&) = delete;
    work_folder& operator=(const work_folder&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
    bool ours_ = false;
};

/// A child that dies with this process, and whose terminal is put back as it was.
class child_process {
public:
    explicit child_process(std::vector<std::string> command) {
        has_terminal_ = tcgetattr(STDIN_FILENO, &terminal_) == 0;
        std::vector<char*> words;
        words.reserve(command.size() + 1);
        for (auto& word : command) words.push_back(word.data());
        words.push_back(nullptr);
        pid_ = fork();
        if (pid_ < 0) throw user_error(fmt::format("cannot start {}", command.front()));
        if (pid_ > 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp(words[0], words.data());
        fmt::print(stderr, "trnvp: cannot start {}: {}\n", words[0], std::strerror(errno));
        _exit(126);
    }
    ~child_process() {
        end();
        if (has_terminal_) tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal_);
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    /// Its exit status once it has ended, 128 + the signal that killed it.
    std::optional<int> ended() {
        int status = 0;
        if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_)
            status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return status_;
    }
    /// Ends it, by force after two seconds.
    void end() {
        kill_with(SIGTERM);
        for (int i = 0; i < 200 && !ended(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        kill_with(SIGKILL);
        while (!ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

private:
    void kill_with(int signal) {
        if (!ended()) kill(pid_, signal);
    }

    pid_t pid_;
    std::optional<int> status_;
    termios terminal_{};
    bool has_terminal_ = false;
};

std::optional<std::string> parameter_of(const plan& board, std::string_view name) {
    for (const auto& [known, value] : board.parameters)
        if (known == name) return value;
    return std::nullopt;
}

/// What the command line leaves to us: how many chips, and memory that guests can map.
platform_options build_options(const guest_options& chosen) {
    if (!chosen.board.record.empty() && !chosen.gdb.empty())
        throw user_error(recording::no_debugger);
    auto build = chosen.board.checked();
    const auto board = load_board(build.board, kinds(), build.set);
    const auto said = [&](const std::string& name) {
        return std::ranges::any_of(build.set,
                                   [&](const auto& s) { return s.starts_with(name + "="); });
    };
    if (chosen.devices != 0 && parameter_of(board, "devices") && !said("devices"))
        build.set.push_back(fmt::format("devices={}", chosen.devices));
    if (parameter_of(board, "shared_hbm") && !said("shared_hbm"))
        build.set.push_back("shared_hbm=true");
    return build;
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
          folder_(chosen.listen),
          recorder_(recording::recorder_for(platform_, build_options(chosen), chosen.board.record)),
          doors_(platform_, recorder_.get()),
          interrupts_(platform_.loop().io(), SIGINT, SIGTERM),
          children_(platform_.loop().io(), SIGCHLD) {}

    int run() {
        apply(chosen_.board.misuse);
        std::optional<fidelity_report> touched;
        if (!chosen_.board.fidelity_report.empty()) touched.emplace(chosen_.board.fidelity_report);
        complete_machine();
        open_doors();
        const auto command = machine_.command();
        fmt::print(stderr, "{}\n", shell_text(command));
        qemu_.emplace(command);
        wait_for_signals();
        run_loop::goal goal{"the command line", "the guest to end"};
        goal.background = true;
        const auto how = platform_.loop().run(std::move(goal));
        if (recorder_) recorder_->finish();
        if (writer_) writer_->finish();
        const auto lost = platform_.finish_records();
        if (touched) touched->write(platform_.modules().board());
        const int status = conclude(how);
        print_misuse(platform_.chips());
        const bool failed = misuse::failed() || !lost.empty();
        return status == 0 && failed ? 1 : status;
    }

private:
    /// Mistakes in files are found before the board is built.
    static std::optional<guest_image> read_image(const guest_options& chosen) {
        if (!chosen.initrd.empty()) {
            if (!chosen.modules.empty() || !chosen.program.empty())
                throw user_error("--module and --run belong to our own initramfs, not to --initrd");
            return std::nullopt;
        }
        guest_image image{.busybox = guest_tools::find("busybox"), .own_program = own_program()};
        for (const auto& module : chosen.modules)
            image.modules.push_back(split("--module", module));
        if (!chosen.program.empty())
            image.program.push_back(split("--run", chosen.program));
        else if (chosen.modules.empty())
            image.program.push_back({own_program(), {}});
        else
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
        m.memory_mib = chosen.memory_mib;
        m.product = chosen.product;
        m.extra = chosen.extra;
        return m;
    }

    /// A guest is one server: the one that was asked for, or the first.
    std::vector<platform::function> functions_of_server() const {
        auto functions = platform_.chip_functions();
        if (functions.empty()) return functions;
        std::vector<std::string> servers;
        for (const auto& f : functions)
            if (std::ranges::find(servers, f.server) == servers.end()) servers.push_back(f.server);
        const auto& server = chosen_.server.empty() ? servers.front() : chosen_.server;
        if (std::ranges::find(servers, server) == servers.end())
            throw user_error(
                fmt::format("--server {}: board '{}' has none of this name  (known: {})", server,
                            platform_.about().board, fmt::join(servers, ", ")));
        std::erase_if(functions, [&](const auto& f) { return f.server != server; });
        return functions;
    }

    /// What depends on the board.
    void complete_machine() {
        const auto functions = functions_of_server();
        const auto count = chosen_.devices == 0 ? functions.size() : chosen_.devices;
        if (functions.size() < count)
            throw user_error(fmt::format("--devices {}: board '{}' has {} PCIe function{}", count,
                                         platform_.about().board, functions.size(),
                                         functions.size() == 1 ? "" : "s"));
        if (count == 0)
            throw user_error(
                fmt::format("board '{}' has no PCIe function", platform_.about().board));
        if (machine_.cpus > functions.front().cores)
            throw user_error(fmt::format("--cpus {}: the server has {} cores", machine_.cpus,
                                         functions.front().cores));
        for (std::size_t i = 0; i < count; ++i)
            machine_.sockets.push_back(doors::socket_of(folder_.path(), functions[i]));
        // The public driver takes 128 MiB below 4 GiB per device (contract 1.3); twice that and
        // room to work.
        if (machine_.memory_mib == 0) machine_.memory_mib = 2048 + 256 * count;
        if (machine_.product.empty())
            machine_.product = parameter_of(platform_.modules().board(), "product").value_or("");
        machine_.append = "console=ttyS0 quiet panic=-1";
        if (image_ && image_->modules.empty())  // for DMA of programs: 16 MiB per device
            machine_.append += fmt::format(" hugepagesz=2M hugepages={}", 8 * count);
        if (!chosen_.append.empty()) machine_.append += " " + chosen_.append;
        if (image_) write_initramfs();
        machine_.interactive = isatty(STDIN_FILENO) != 0 && (!image_ || image_->shell);
    }

    void write_initramfs() {
        fs::create_directories(folder_.path());
        machine_.initrd = folder_.path() / "initramfs";
        std::ofstream out(machine_.initrd, std::ios::binary | std::ios::trunc);
        out << image_->initramfs() << std::flush;
        if (!out) throw user_error(fmt::format("cannot write {}", machine_.initrd.string()));
    }

    void open_doors() {
        doors_.open_folder(folder_.path());
        if (!chosen_.gdb.empty()) doors_.open_gdb(chosen_.gdb);
        if (!chosen_.uart.empty()) {
            uart_.open(chosen_.uart, std::ios::binary | std::ios::trunc);
            if (!uart_) throw user_error(fmt::format("--uart: cannot write {}", chosen_.uart));
            auto& consoles = platform_.methods().consoles();
            writer_.emplace(uart_, consoles.all().size() > 1);
            consoles.listen([this](std::string_view module, std::string_view text) {
                writer_->write(module, text);
            });
        }
        if (chosen_.listen.empty() && chosen_.gdb.empty()) return;
        for (const auto& d : doors_.all())
            fmt::print(stderr, "  {:<14} {}\n", d.purpose, d.address);
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
            if (qemu_->ended()) return platform_.loop().quit("the guest has ended");
            wait_for_child();
        });
        if (qemu_->ended()) platform_.loop().quit("the guest has ended");
    }

    int conclude(const stop_reason& how) {
        const auto ended = qemu_->ended();
        qemu_->end();
        if (interrupted_) return 128 + *interrupted_;
        if (!ended) {
            fmt::print(stderr, "trnvp: {} ended the platform before the guest\n", how.text);
            return 1;
        }
        if (const auto status = guest_machine::guest_status(*ended)) {
            fmt::print(stderr, "trnvp: the guest ended with status {}\n", *status);
            return *status;
        }
        if (*ended == 0 && !image_) return 0;  // a guest of the user's was powered off
        fmt::print(stderr, "trnvp: {}\n",
                   *ended == 0 ? "the guest went down without a status (a panic?)"
                               : fmt::format("QEMU failed with status {}", *ended));
        return 1;
    }

    const guest_options chosen_;
    std::optional<guest_image> image_;
    guest_machine machine_;
    platform platform_;
    work_folder folder_;
    const std::unique_ptr<recording::recorder> recorder_;
    doors doors_;
    boost::asio::signal_set interrupts_, children_;
    std::ofstream uart_;
    std::optional<console_writer> writer_;
    std::optional<child_process> qemu_;
    std::optional<int> interrupted_;
};

int guest(const guest_options& chosen) {
    try {
        return session(chosen).run();
    } catch (const tools_missing& e) {
        fmt::print(stderr, "trnvp: {}\n", e.what());
        return skipped;
    } catch (const std::system_error& e) {  // a file that cannot be read
        throw user_error(e.what());
    }
}

}  // namespace

void add_guest(CLI::App& app, int& status) {
    auto chosen = std::make_shared<guest_options>();
    auto* c = app.add_subcommand("guest", "start a Linux guest in QEMU with a board's devices");
    chosen->board.add_to(*c);
    c->add_option("--server", chosen->server,
                  "which of the board's servers the guest is (default: the first)");
    c->add_option("--devices", chosen->devices, "how many (default: all that the server has)")
        ->check(CLI::Range(1u, 64u));
    c->add_option("--module", chosen->modules,
                  "kernel module to load: \"FILE.ko [parameter=value ...]\"; may be repeated")
        ->allow_extra_args(false);
    c->add_option(
        "--run", chosen->program,
        "\"FILE [argument ...]\" to run in the guest, whose status ends it: a static "
        "program or a script for busybox (default: trn-guest, or after --module a shell)");
    c->add_option("--append", chosen->append, "more words for the kernel's command line");
    c->add_option("--kernel", chosen->kernel, "a kernel of your own");
    c->add_option("--initrd", chosen->initrd, "an initramfs of your own instead of ours");
    c->add_option("--product", chosen->product,
                  "SMBIOS product name: the driver's platform type (default: the board's)");
    c->add_option("--memory", chosen->memory_mib, "of the guest, in MiB")
        ->check(CLI::Range(256, 1 << 20));
    c->add_option("--cpus", chosen->cpus, "of the guest")->check(CLI::Range(1, 255));
    c->add_option("--qemu", chosen->qemu, "a QEMU with the device vfio-user-pci (10.1 or later)");
    c->add_option("--listen", chosen->listen,
                  "folder for the sockets, so that trnctl and others can join");
    c->add_option("--gdb", chosen->gdb, "serve GDB for the firmware on this port or Unix socket");
    c->add_option("--uart", chosen->uart, "write the chips' consoles to this file");
    c->add_option("qemu-arguments", chosen->extra, "after '--': more arguments of QEMU");
    c->callback([chosen, &status] { status = guarded([&] { return guest(*chosen); }); });
}

}  // namespace trn

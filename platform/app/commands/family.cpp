// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/family.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "models/misuse_rules.h"
#include "platform/app/commands/guarded.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/command_line/completion.h"
#include "platform/framework/command_line/program.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view main_program = "trnvp";

constexpr std::array commands{
    family_command{"boards", "list the boards that can be run", "trnvp"},
    family_command{"inspect", "show a board's tree, parameters and address maps, or explain a kind",
                   "trnvp"},
    family_command{"contract", "check the registers of a kind against their description", "trnvp"},
    family_command{"exec", "run a bare-metal RISC-V program on one or more harts", "trnvp"},
    family_command{"test", "run scenarios (doc/scenarios.md)", "trnvp-test"},
    family_command{"report", "merge and compare runs of trnvp test, follow a figure",
                   "trnvp-report"},
    family_command{"run", "build a board, boot it and serve it", "trnvp"},
    family_command{"guest", "start a Linux guest in QEMU with a board's devices", "trnvp-guest"},
    family_command{"replay", "repeat a recorded session with no host attached", "trnvp"},
    family_command{"help",
                   "explain a step of scenarios, a kind of module, a fault or a misuse rule",
                   "trnvp-test"},  // which knows the steps
};

const family_command* find_command(std::string_view name) {
    const auto* found = std::ranges::find(commands, name, &family_command::name);
    return found == commands.end() ? nullptr : found;
}

/// The command that the parser will choose; null without one.
const family_command* chosen_command(int argc, char** argv) {
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
        if (const auto* found = find_command(argv[i])) return found;
    return nullptr;
}

/// The same of an unfinished line, for --complete: of the words before the last one.
const family_command* command_of_line(std::string_view line) {
    for (auto end = line.find(' '); end != line.npos; end = line.find(' ')) {
        if (const auto* found = find_command(line.substr(0, end))) return found;
        line.remove_prefix(end + 1);
    }
    return nullptr;
}

/// Boards, where the command line has one.
std::vector<cli::candidate> boards_for(const cli::unfinished_line& line) {
    static constexpr std::string_view with_board[] = {"run", "inspect"};
    std::vector<cli::candidate> found;
    const bool positional = line.option.empty() && line.commands.size() == 1 &&
                            line.positionals.empty() &&
                            std::ranges::find(with_board, line.commands[0]) != std::end(with_board);
    if (positional || line.option == "--board")
        for (const auto& board : list_boards()) found.push_back({board.name, board.description});
    return found;
}

/// The words of `trnvp`: a program that was started by its own name has a command less.
std::vector<char*> words_of_trnvp(int argc, char** argv) {
    std::vector<char*> words(argv, argv + argc);
    const auto name = fs::path(argc > 0 ? argv[0] : "").filename().string();
    const auto* own = std::ranges::find(commands, name, &family_command::program);
    if (own != commands.end() && name != main_program)
        words.insert(words.begin() + 1, const_cast<char*>(own->name));
    return words;
}

}  // namespace

std::span<const family_command> family() {
    return commands;
}

int exec_program_of_command(int argc, char** argv) {
    const bool completes = argc == 3 && argv[1] == std::string_view("--complete");
    const auto* command = completes ? command_of_line(argv[2]) : chosen_command(argc, argv);
    if (command == nullptr || command->program == main_program) return 0;
    std::error_code unknown;
    const auto folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
    exec_simulator((folder / command->program).c_str(), argv);
    if (errno == ENOENT) exec_simulator(command->program, argv);
    if (errno != ENOENT)
        print_to(stderr, "trnvp: cannot start {}: {}\n", command->program, std::strerror(errno));
    else
        print_to(stderr,
                 "trnvp: '{}' needs the program {}, which is neither in {} nor in PATH: build its "
                 "target, {}, or everything (./dev build)\n",
                 command->name, command->program, folder.string(), command->program);
    return 2;
}

int run_family_program(int argc, char** argv, std::initializer_list<own_command> own) {
    misuse::set_rules(misuse::all_rules);
    int status = 0;
    cli::command app{"a virtual platform of AWS Trainium chips", std::string(main_program)};
    app.require_subcommand(1);
    app.examples({{"trnvp run trn3-chip --until ready", "boots a chip"},
                  {"trnvp test scenarios/copy_sizes.yaml", "runs scenarios"},
                  {"trnvp help copy", "explains a step, a kind or a rule"}});
    for (const auto& command : commands) {
        auto* added = app.add_subcommand(command.name, command.about);
        for (const auto& [name, add] : own)
            if (std::string_view(name) == command.name) add(added, status);
    }
    auto words = words_of_trnvp(argc, argv);
    return guarded([&] {
        const int mistaken =
            parse_command_line(app, static_cast<int>(words.size()), words.data(), boards_for);
        return mistaken != 0 ? mistaken : status;
    });
}

}  // namespace trn

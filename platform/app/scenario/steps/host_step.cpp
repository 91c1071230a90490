// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "platform/app/host_software/host_program.h"
#include "platform/app/host_software/host_software.h"
#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/context/inside_hosts.h"
#include "platform/app/scenario/context/module_file.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/program_folder.h"
#include "platform/framework/output.h"

namespace trn::scenario {

namespace {

constexpr std::size_t shown_lines = 10;
constexpr std::uint64_t largest_file = 256 << 20;

/// A file beside the scenario's, of the current folder, of the software of hosts inside, or beside
/// this program, as trn-guest-riscv64 is.
std::filesystem::path input_named(const std::string& name, const reader& r) {
    std::error_code none;  // also for a name that is too long
    const auto beside = std::filesystem::path(r.node().file()).parent_path() / name;
    if (exists(beside, none)) return beside;
    if (name.find('/') == name.npos)
        for (const auto& folder : {host_software::folder(), program_folder()})
            if (exists(folder / name, none)) return folder / name;
    return name;
}

/// With the places where a name without a folder was sought.
std::string missing(const std::filesystem::path& file) {
    if (file.has_parent_path()) return fmt::format("{}: there is no such file", file.string());
    return fmt::format("{}: no such file beside the scenario, in the current folder, in {} or {}",
                       file.string(), host_software::folder().string(), program_folder().string());
}

/// The bytes of a file, which all steps that copy it share. \throws file_error
std::shared_ptr<const std::string> shared_bytes(const std::filesystem::path& file) {
    static std::map<std::filesystem::path, std::weak_ptr<const std::string>> known;
    auto& place = known[file];
    if (auto same = place.lock()) return same;
    const auto content = read_file(file, largest_file);
    auto bytes = std::make_shared<const std::string>(content.begin(), content.end());
    place = bytes;
    return bytes;
}

/// Work of the Linux of a server that is in the simulation.
struct host_step {
    std::string server;
    std::optional<std::string> run, program, copy_in, copy_out;
    std::vector<std::string> arguments = {};
    std::string target;
    std::uint8_t status = 0;
    std::optional<std::string> text, matches;
    std::vector<std::string> captures = {};
    nanoseconds within{10'000'000'000};

    std::filesystem::path file = {};
    std::shared_ptr<const std::string> bytes = {};
    std::filesystem::path source = {};
    std::optional<wanted_text> wanted = {};

    void finish(const reader& r) {
        if (copy_in) read(r);
        if (program) find_source(r);
        check_path(r, "to", copy_in ? target : "x");
        check_path(r, "copy_out", copy_out.value_or("x"));
        if (text) wanted = wanted_text_of(r, "text", *text, captures);
        if (matches) wanted = wanted_text_of(r, "matches", *matches, captures);
    }
    action plan() const {
        return {.text = described(),
                .work = [s = *this](scenario_context& ctx) { s.work(ctx); },
                .drives = false,
                .file_bytes = bytes ? bytes->size() : 0};
    }

private:
    /// The agent reads paths as the last word of a line.
    static void check_path(const reader& r, const std::string& key, const std::string& path) {
        constexpr std::string_view blanks = " \t\n", ends("\n\0", 2);
        if (path.find_first_of(ends) == path.npos && path.find_first_not_of(blanks) == 0 &&
            path.find_last_not_of(blanks) == path.size() - 1)
            return;
        r.refuse({key}, "a path of the host is a line that neither begins nor ends with blanks");
    }
    void find_source(const reader& r) {
        source = input_named(*program, r);
        note_input(source);
        std::error_code none;
        if (!is_regular_file(source, none))
            r.node().at("cc").report(mistake::unreadable_file, missing(source));
    }
    void read(const reader& r) {
        file = input_named(*copy_in, r);
        note_input(file);
        if (std::error_code none; !exists(file, none))
            return r.node().at("copy_in").report(mistake::unreadable_file, missing(file));
        try {
            bytes = shared_bytes(file);
        } catch (const file_error& why) {
            r.node().at("copy_in").report(mistake::unreadable_file,
                                          fmt::format("{}: {}", file.string(), why.what()));
        }
    }
    std::string described() const {
        const auto name = server.empty() ? "host" : "host " + server;
        if (program) return fmt::format("{}: compile and run {}", name, *program);
        if (copy_in) return fmt::format("{}: copy {} to {}", name, *copy_in, target);
        if (copy_out) return fmt::format("{}: copy {} to {}", name, *copy_out, target);
        return fmt::format("{}: {}", name, run.value_or(""));
    }
    void work(scenario_context& ctx) const {
        auto& host = ctx.kept.get<inside_hosts>(ctx.control.consoles()).find(server);
        if (copy_in) add_module_file(ctx, file);
        if (copy_in)
            check(host.put(target, *bytes, ctx.waits, within.value), ctx);
        else if (copy_out)
            keep(host.get(*copy_out, ctx.waits, within.value));
        else if (program)
            check(run_program(host, ctx), ctx);
        else
            check(host.run(*run, ctx.waits, within.value), ctx);
    }
    /// Where the program is copied to: a path that no shell or agent reads otherwise.
    std::string program_place() const {
        auto name = source.stem().string();
        const auto is_odd = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-';
        };
        std::ranges::replace_if(name, is_odd, '_');
        return "/tmp/" + name;
    }
    inside_host::answer run_program(inside_host& host, scenario_context& ctx) const {
        std::string compiled;
        try {
            compiled = compile_host_program(source);
        } catch (const compile_error& why) {
            throw step_failure(why.what());
        }
        const auto place = program_place();
        const auto copied = host.put(place, compiled, ctx.waits, within.value);
        if (copied.status != 0)
            throw step_failure(fmt::format("the host cannot write {}: {}", place, copied.bytes));
        std::vector<std::string> words{place};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return host.run(host_command(words), ctx.waits, within.value);
    }
    void check(const inside_host::answer& answer, scenario_context& ctx) const {
        if (!answer.bytes.empty())
            print_to(stdout, "{}{}", answer.bytes, answer.bytes.back() == '\n' ? "" : "\n");
        const auto output = answer.bytes.empty()
                                ? ", without output"
                                : fmt::format(":\n{}", last_lines(answer.bytes, shown_lines));
        if (answer.status != status)
            throw step_failure(fmt::format("it ended with status {} instead of {}{}", answer.status,
                                           status, output));
        if (wanted && !wanted->find(answer.bytes, ctx))
            throw step_failure(fmt::format("output does not match '{}'{}", wanted->text, output));
    }
    void keep(const inside_host::answer& answer) const {
        if (answer.status != 0)
            throw step_failure(fmt::format("the host cannot read {}: {}", *copy_out, answer.bytes));
        std::ofstream file(target, std::ios::binary | std::ios::trunc);
        file << answer.bytes;
        if (!file.flush()) throw step_failure(fmt::format("{} cannot be written", target));
    }
};

}  // namespace

std::vector<step_kind> host_steps() {
    using h = host_step;
    return {step_of<h>(
        "host", "the Linux of a server that is in the simulation runs a command, or gets a file",
        keys<h>{
            key("run", &h::run, "a command for its shell, as root")
                .required_without({"cc", "copy_in", "copy_out"}),
            key("cc", &h::program,
                "a C program beside the scenario: compiled for the host with the driver stub, "
                "and run"),
            key("args", &h::arguments, "words for the program").only_with({"cc"}),
            key("copy_in", &h::copy_in,
                "a file beside the scenario or trnvp, or of the software of hosts inside"),
            key("copy_out", &h::copy_out, "a file of the host"),
            key("to", &h::target, "path of the copy")
                .required_without({"run", "cc"})
                .only_with({"copy_in", "copy_out"}),
            key("server", &h::server, "the first server unless given"),
            key("status", &h::status, "exit status that the command must have")
                .only_with({"run", "cc"}),
            key("text", &h::text, "the output must contain this").only_with({"run", "cc"}),
            key("matches", &h::matches, "a regular expression that the output must match")
                .only_with({"run", "cc"}),
            key("as", &h::captures, "names for the matches of its groups").only_with({"matches"}),
            key("within", &h::within, "simulated time until it has ended").positive()}
            .one_of({"text", "matches"})
            .one_of({"run", "cc", "copy_in", "copy_out"}))};
}

}  // namespace trn::scenario

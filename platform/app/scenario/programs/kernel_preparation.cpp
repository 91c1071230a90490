// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/programs/kernel_preparation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "models/neuron_isa/assembler/program_set.h"
#include "platform/app/scenario/programs/source_names.h"
#include "platform/framework/config/file.h"
#include "platform/framework/process/child_process.h"
#include "platform/framework/process/output_log.h"
#include "platform/framework/process/throw_errno.h"
#include "platform/framework/process/work_folder.h"
#include "platform/framework/unique_fd.h"

namespace trn::scenario {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds wall_limit{300};
constexpr std::chrono::milliseconds limits_period{100};
constexpr std::uint64_t max_file = 1 << 30;

/// trn-nki in the folder of this executable, else the one found in PATH.
std::string compiler() {
    std::error_code unknown;
    const auto beside = fs::read_symlink("/proc/self/exe", unknown).parent_path() / "trn-nki";
    return fs::exists(beside, unknown) ? beside.string() : "trn-nki";
}

nlohmann::json object_of(const kernel_request::texts& all) {
    auto object = nlohmann::json::object();
    for (const auto& [name, text] : all) object[name] = text;
    return object;
}

nlohmann::json json_of(const kernel_request& request, std::uint32_t cores) {
    nlohmann::json all{{"kernel", request.function},       {"folder", request.folder},
                       {"board", request.board},           {"lnc", request.lnc},
                       {"seeds", request.seeds},           {"exact", request.is_exact},
                       {"in", object_of(request.inputs)},  {"arg", object_of(request.arg)},
                       {"check", object_of(request.check)}};
    all["generation"] = request.generation ? nlohmann::json(*request.generation) : nlohmann::json();
    for (std::uint32_t chip = 0; chip < request.chips; ++chip)
        for (std::uint32_t n = 0; n < request.instances; ++n)
            all["instances"].push_back({chip, request.core + n * cores});
    return all;
}

/// Bytes that a process and its children have.
std::uint64_t memory_with_children(pid_t process) {
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
    auto bytes = resident_memory(process);
    for (pid_t child = 0; children >> child;) bytes += resident_memory(child);
    return bytes;
}

/// Waits for the end of the compiler. \throws kernel_error when it is stopped or reaches a limit
void wait_for_end(child_process& compiler, int output, const kernel_request& request) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + wall_limit;
    while (!compiler.wait_for(limits_period)) {
        if (request.stop && request.stop()) throw kernel_error("compiling was interrupted");
        if (clock::now() >= end)
            throw kernel_error(
                fmt::format("compiling took longer than {} s and was ended", wall_limit.count()));
        if (memory_with_children(compiler.pid()) > request.memory_limit)
            throw kernel_error(
                fmt::format("compiling took more than {} MiB of memory and was ended",
                            request.memory_limit >> 20));
        trim_log(output);
    }
}

void run_compiler(const fs::path& folder, const kernel_request& request) {
    const unique_fd output(memfd_create("output of trn-nki", MFD_CLOEXEC));
    const unique_fd no_input(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!output || !no_input) throw_errno("output of trn-nki");
    auto program = child_process::start_bound({compiler(), "prepare", folder.string()},
                                              {.input = no_input.get(), .output = output.get()});
    wait_for_end(program, output.get(), request);
    const int status = program.wait().shell_status();
    if (status == 0) return;
    auto text = read_log(output.get());
    while (text.ends_with('\n')) text.pop_back();
    constexpr std::string_view name = "trn-nki: ", traceback = "Traceback ";
    if (text.starts_with(name)) text.erase(0, name.size());
    if (text.starts_with(traceback))
        text.erase(0, text.rfind('\n') +
                          1);  // keep the last line of a Python traceback, e.g. a missing module
    throw kernel_error(text.empty() ? fmt::format("trn-nki ended with status {}", status) : text);
}

/// The arrays that trn-nki returned. Each file is read once, since instances may share files.
class array_files {
public:
    explicit array_files(const work_folder& folder) : folder_(folder) {}
    shared_bytes read(const std::string& name) {
        auto& known = known_[name];
        if (!known)
            known = std::make_shared<const std::vector<std::uint8_t>>(
                read_file(folder_ / name, max_file));
        return known;
    }

private:
    const work_folder& folder_;
    std::map<std::string, shared_bytes> known_;
};

std::uint64_t digest_in(const std::string& text) {
    std::uint64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, value, 16);
    if (failed != std::errc{} || rest != end)
        throw kernel_error(fmt::format("check: digest({}): expected 16 hexadecimal digits", text));
    return value;
}

/// The program sets that trn-nki returned. Each is read once; instances with equal arguments share
/// a set.
class program_sets {
public:
    program_sets(const work_folder& folder, const std::string& scenario_folder)
        : folder_(folder), scenario_folder_(scenario_folder) {}
    shared_bytes read(const std::string& name) {
        auto& known = known_[name];
        if (known) return known;
        const auto set = read_named_from(scenario_folder_, read_file(folder_ / name, max_file));
        cores = set.cores;
        return known =
                   std::make_shared<const std::vector<std::uint8_t>>(isa::write_program_set(set));
    }
    std::uint32_t cores = 1;  ///< of each set: all are compiled for the same logical core

private:
    const work_folder& folder_;
    const std::string& scenario_folder_;
    std::map<std::string, shared_bytes> known_;
};

instance_values values_of(const nlohmann::json& answer, program_sets& sets, array_files& files) {
    instance_values values{.set = sets.read(answer.at("set"))};
    for (const auto& input : answer.at("in"))
        values.inputs.push_back({input.at("tensor"), files.read(input.at("file"))});
    for (const auto& result : answer.at("check")) {
        expected_tensor expected{result.at("result"), result.at("tensor")};
        if (result.contains("digest"))
            expected.digest = digest_in(result.at("digest"));
        else
            expected.bytes = files.read(result.at("file"));
        expected.has_numbers = result.value("numbers", false);
        values.check.push_back(std::move(expected));
    }
    return values;
}

prepared_kernel kernel_of(const nlohmann::json& answer, program_sets& sets, array_files& files) {
    prepared_kernel made{.error = answer.value("error", "")};
    if (!made.error.empty()) return made;
    for (const auto& instance : answer.at("instances"))
        made.instances.push_back(values_of(instance, sets, files));
    made.cores = sets.cores;
    for (const std::string collective : answer.at("collectives"))
        made.collectives.push_back(program_collective::read(collective));
    made.files = answer.at("files");
    made.warnings = answer.at("warnings");
    return made;
}

}  // namespace

std::map<std::uint64_t, prepared_kernel> prepare_kernel(const kernel_request& request) {
    const work_folder folder{"trnvp-kernel"};
    std::ofstream(folder / "request.json")
        << json_of(request, request.lnc)
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    run_compiler(folder.path(), request);
    std::map<std::uint64_t, prepared_kernel> made;
    try {
        const auto text = read_file(folder / "answer.json", max_file);
        array_files files(folder);
        program_sets sets(folder, request.folder);
        for (const auto& kernel : nlohmann::json::parse(text.begin(), text.end()))
            made.emplace(kernel.at("seed"), kernel_of(kernel, sets, files));
    } catch (const file_error& wrong) {
        throw kernel_error(wrong.what());
    }
    if (!made.contains(request.seeds.front())) throw kernel_error("trn-nki ended without a result");
    return made;
}

}  // namespace trn::scenario

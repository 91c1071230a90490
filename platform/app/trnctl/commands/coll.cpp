// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "platform/app/host_options/collective_firmware.h"
#include "platform/app/host_options/collective_rules.h"
#include "platform/app/host_options/host_choices.h"
#include "platform/app/host_options/location_text.h"
#include "platform/app/trnctl/commands/commands.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"

namespace trn {

namespace {

struct coll_command_options {
    coll_options run = {};
    std::string table = {};                   ///< file; "": the default rules
    std::string image = collective_firmware;  ///< file
};

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
        end = std::min(text.find(',', begin), text.size());
        words.push_back(text.substr(begin, end - begin));
    }
    return words;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(const std::string& text) try {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    if (text == "none") return pairs;
    for (const auto& word : words_of(text)) pairs.push_back(collective_pair(word));
    return pairs;
} catch (const std::runtime_error& wrong) {
    throw user_error(fmt::format("--pairs: {}", wrong.what()));
}

std::vector<std::uint64_t> counts_of(const std::string& text) {
    std::vector<std::uint64_t> counts;
    for (const auto& word : words_of(text)) {
        if (word.empty()) throw user_error(fmt::format("--counts: an empty value in {}", text));
        const auto count = config::parse_unsigned(word);
        if (const auto* wrong = std::get_if<config::refusal>(&count))
            throw user_error(fmt::format("--counts: {}", wrong->message));
        counts.push_back(std::get<std::uint64_t>(count));
    }
    return counts;
}

/// Adds an option for a memory that holds buffers of a collective.
void add_memory(cli::command* command, const std::string& name, location& place,
                const std::string& help) {
    const auto read = [name, &place](const std::string& text) {
        place = read_place(text);
        const auto fault = collective_place_fault(place);
        if (!fault.empty()) throw user_error(name + ": " + fault);
    };
    command->add_option_function<std::string>(name, read, help);
}

void add_data(cli::command* command, collective_request& request) {
    std::vector<config::choice<trn_coll_algorithm>> algorithms{{"auto", TRN_COLL_AUTO}};
    std::ranges::copy(config::choices<trn_coll_algorithm>::list, std::back_inserter(algorithms));
    std::vector<config::choice<trn_element>> types;
    for (const auto& each : config::choices<trn_element>::list)
        if (trn_coll_type_bytes(each.value) != 0) types.push_back(each);
    request.bytes = std::uint64_t{1} << 20;
    add_choice<trn_coll_op>(command, "--op", request.op, "which")->required();
    auto* bytes =
        add_size(command, "--bytes", request.bytes, "of the larger buffer of a rank (1MiB)");
    const auto set_counts = [&request](const std::string& text) {
        request.counts = counts_of(text);
    };
    command
        ->add_option_function<std::string>(
            "--counts", set_counts, "elements of each rank's block, such as 8,0,5 (-v operations)")
        ->type_name("N,N,...")
        ->excludes(bytes);
    const auto set_pairs = [&request](const std::string& text) { request.pairs = pairs_of(text); };
    command
        ->add_option_function<std::string>(
            "--pairs", set_pairs,
            "senders and receivers of a permute, such as 0-1,1-3 (to the next of the ring)")
        ->type_name("A-B,C-D,...");
    command->add_flag("--in-place", request.in_place, "the input is in the memory of the output");
    add_memory(command, "--in", request.places.send,
               "memory of each rank's input, such as sbuf3 (hbm0)");
    add_memory(command, "--out", request.places.receive, "memory of its output (hbm0)");
    add_memory(command, "--scratch", request.places.scratch,
               "memory of intermediate results (hbm0)");
    add_choice<trn_element>(command, "--dtype", request.type, "of an element (bf16)", types);
    add_choice<trn_coll_operator>(command, "--operator", request.with, "of a reduction (sum)");
    add_choice<trn_coll_algorithm>(command, "--algo", request.algorithm, "algorithm (auto)",
                                   algorithms);
}

}  // namespace

void add_coll(cli::command& app, invocation& line) {
    const auto options = std::make_shared<coll_command_options>();
    auto& request = options->run.request;
    auto* command = add_command(
        app, line, "coll", "a collective over the chips, by the firmware of their cores",
        [options, &line](session& s) {
            if (!options->table.empty())
                options->run.request.rules = read_collective_rules(options->table);
            options->run.image = read_collective_firmware(options->image);
            coll(s, options->run, line.out);
        });
    add_data(command, request);
    command->add_option("--table", options->table, "file with a table of algorithms")
        ->check(cli::existing_file());
    command->add_option("--ranks", options->run.ranks, "chips that take part, such as 0-3,7 (all)");
    command->add_option("--root", request.root, "of a broadcast")->capture_default_str();
    command->add_option("--channels", request.channels, "cores of a rank (by size)");
    command->add_option("--lanes", request.lanes, "DMA engines of a core (by size)");
    command->add_option("--iterations", request.iterations, "the time is their mean")
        ->capture_default_str()
        ->check(cli::in_range(1, 1000));
    add_nanoseconds(command, "--limit", request.limit_ns,
                    "that a rank waits for another: ns, or with a unit (1 s)");
    command->add_option("--image", options->image, "firmware of the CC-Cores")
        ->capture_default_str();
    command->examples({{"trnctl --board trn3-sled coll --op all_reduce --bytes 64KiB --check",
                        "the result is compared"},
                       {"trnctl --board trn3-sled coll --op permute --pairs 0-1,1-0",
                        "two chips exchange their data"}});
    command->add_flag("--check", request.check,
                      "compare with a reference; exit status 1 when wrong");
    command
        ->add_flag("--steps{12}", options->run.steps,
                   "when each step of each rank began and ended: at most so many of as many "
                   "ranks, the slowest (12); --json has all")
        ->check(cli::in_range(1, 1'000'000));
}

}  // namespace trn

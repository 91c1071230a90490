// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>

#include "platform/app/host_options/host_choices.h"
#include "platform/app/trnctl/commands/commands.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/config/file.h"

namespace trn {

namespace {

constexpr auto default_size = std::uint64_t{64} << 20;

constexpr auto largest_input = std::uint64_t{1} << 32;

std::vector<std::uint8_t> read_input(const std::string& file) try {
    auto bytes = read_file(file, largest_input);
    if (bytes.empty()) throw user_error(fmt::format("{}: the file is empty", file));
    return bytes;
} catch (const file_error& wrong) {
    throw user_error(fmt::format("{}: {}", file, wrong.what()));
}

void add_copy(cli::command& app, invocation& line) {
    const auto options = std::make_shared<copy_options>();
    const auto input = std::make_shared<std::string>();
    auto* command =
        add_command(app, line, "copy", "copy by DMA between host, hbmN@OFFSET, sbufN@OFFSET", {});
    command->callback([options, input, &line] {
        if (!input->empty()) options->data = read_input(*input);
        if (!options->output.empty()) check_not_read(options->output);
        line.chosen = [options, &line](session& s) { copy(s, *options, line.out); };
    });
    add_place(command, "from", options->source, "host, hbm0@16MiB, sbuf3, axi@ADDRESS");
    add_place(command, "to", options->destination, "as from");
    add_size(command, "size", options->size, "64MiB, 4097B")->required();
    command->add_option("--core", options->core, "core whose copy queue is used");
    command->add_option("--seed", options->seed, "of the pattern that is sent from the host");
    command->add_flag("--verify", options->verify, "compare both ends afterwards");
    command->add_option("--in", *input, "file of `size` bytes that the host sends");
    command->add_option("--out", options->output, "file for the bytes that the host receives");
    command->examples(
        {{"trnctl --board trn3-chip copy host hbm0@16MiB 1MiB --verify", "from the host, and back"},
         {"trnctl --connect sockets copy hbm0 hbm1@64KiB 4097B", "between stacks"}});
}

struct fill_options {
    location place = {};
    std::uint64_t size = 0, value = 0;
};

void add_memset(cli::command& app, invocation& line) {
    const auto options = std::make_shared<fill_options>();
    auto* command = add_command(app, line, "memset", "fill memory of the chip by DMA",
                                [options, &line](session& s) {
                                    fill(s, options->place, options->size,
                                         static_cast<std::uint8_t>(options->value), line.out);
                                });
    add_place(command, "at", options->place, "hbm0@16MiB, sbuf3");
    add_size(command, "size", options->size, "64MiB")->required();
    command->add_option("value", options->value, "0..255")
        ->required()
        ->check(cli::in_range(0, 255));
    command->examples(
        {{"trnctl --connect sockets memset hbm0@16MiB 1MiB 0", "clears it"},
         {"trnctl --connect sockets memset sbuf0 4KiB 255", "fills the beginning of an SBUF"}});
}

struct bench_options {
    std::uint64_t largest = default_size;
    bool between_chips = false;
    matrix_options matrix = {};
};

void add_matrix(cli::command* command, bench_options& options) {
    auto& matrix = options.matrix;
    auto* between = command->add_flag("--matrix", options.between_chips,
                                      "bandwidth and latency between the chips, HBM to HBM");
    add_choice<traffic_pattern>(command, "--pattern", matrix.pattern,
                                "all chips at once; without it pairs, one by one")
        ->needs(between);
    add_size(command, "--bytes", matrix.load.bytes, "of each copy (1MiB)")->needs(between);
    command->add_option("--engines", matrix.load.engines, "that share a copy")
        ->capture_default_str()
        ->needs(between);
    const auto set_descriptor = [&matrix](const std::string& text) {
        const auto size = read_size(text);
        if (size == 0 || size > TRN_DESCRIPTOR_BYTES)
            throw user_error("a descriptor carries 1 B to 64 KiB");
        matrix.load.descriptor = static_cast<std::uint32_t>(size);
    };
    command
        ->add_option_function<std::string>("--descriptor", set_descriptor,
                                           "most bytes of one (64KiB)")
        ->needs(between);
    command->add_option("--sample", matrix.sample, "about so many pairs (all)")->needs(between);
    command->add_flag("--summary", matrix.summary, "only the table by distance")->needs(between);
    command->add_flag("--verify", matrix.verify, "verify the data (pairs)")->needs(between);
}

void add_bench(cli::command& app, invocation& line) {
    const auto options = std::make_shared<bench_options>();
    auto* command =
        add_command(app, line, "bench", "copy speed by size and direction, or between chips",
                    [options, &line](session& s) {
                        if (options->between_chips) return matrix(s, options->matrix, line.out);
                        bench(s, options->largest, line.out);
                    });
    add_size(command, "--largest", options->largest, "largest copy (64MiB)");
    add_matrix(command, *options);
    command->examples({{"trnctl --connect sockets bench --largest 1MiB", "copies up to this size"},
                       {"trnctl --board trn3-sled bench --matrix --bytes 64KiB --summary",
                        "between the chips of a sled"}});
}

void add_demo(cli::command& app, invocation& line) {
    const auto size = std::make_shared<std::uint64_t>(default_size);
    auto* command =
        add_command(app, line, "demo", "boot stages, then verified copies host - HBM - HBM - host",
                    [size, &line](session& s) { demo(s, *size, line.out); });
    add_size(command, "--size", *size, "of each copy (64MiB)");
    command->examples({{"trnctl --board trn3-chip demo", "boots a chip and copies"},
                       {"trnctl --connect sockets demo --size 1MiB", "on a running platform"}});
}

}  // namespace

void add_transfers(cli::command& app, invocation& line) {
    add_copy(app, line);
    add_memset(app, line);
    add_bench(app, line);
    add_demo(app, line);
}

}  // namespace trn

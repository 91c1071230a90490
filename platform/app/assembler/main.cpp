// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "models/neuron_isa/assembler/assembler.h"
#include "models/neuron_isa/assembler/document.h"
#include "models/neuron_isa/assembler/program_set.h"
#include "models/neuron_isa/instructions/table.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/diagnostics_json.h"
#include "platform/framework/config/file.h"
#include "platform/framework/output.h"

namespace {

using trn::isa::stream;
using file_bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t max_file_bytes = 256 << 20;

struct options {
    std::string input, output, page, diagnostics;
    bool disassemble = false, hex = false, check = false;
};

void write(const std::string& name, std::string_view content) {
    if (name.empty() || name == "-") {
        const bool all = std::fwrite(content.data(), 1, content.size(), stdout) == content.size();
        if (!all || std::fflush(stdout) != 0)
            throw trn::file_error("cannot write to standard output");
        return;
    }
    trn::check_not_read(name);
    std::ofstream out(name, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) throw trn::file_error(fmt::format("cannot write {}: {}", name, std::strerror(errno)));
}

/// Hexadecimal dump with 16 bytes per line, as in appendix A of the specification; "--" separates
/// instructions.
std::string hex_of(std::span<const stream> streams) {
    std::string text;
    for (const stream& s : streams) {
        if (s.engine) text += fmt::format(".engine {}\n", trn::isa::name_of(*s.engine));
        std::size_t start = 0;
        for (std::size_t byte = 0; byte < s.words.size(); byte += 16) {
            const std::size_t word = byte / trn::isa::word_bytes;
            const bool begins = byte % trn::isa::word_bytes == 0 &&
                                (word == 0 || s.lines[word] != s.lines[word - 1]);
            if (begins && byte != 0) text += "--\n";
            if (begins) start = byte;
            text += fmt::format("{:02x}: {:02x}\n", byte - start,
                                fmt::join(std::span(s.words).subspan(byte, 16), " "));
        }
    }
    return text;
}

std::string disassemble(const file_bytes& file) {
    if (!trn::isa::is_program_set(file)) {
        if (file.size() % trn::isa::word_bytes != 0)
            throw trn::isa::program_set_error("neither a program set nor whole 64-byte words");
        return trn::isa::disassemble(file);
    }
    return trn::isa::disassemble(trn::isa::read_program_set(file));
}

void run(const options& o) {
    if (!o.page.empty()) return trn::isa::update_page(o.page, o.check);
    const file_bytes input = trn::read_file(o.input, max_file_bytes);
    if (o.disassemble) return write(o.output, disassemble(input));
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    const trn::isa::program_set set = trn::isa::assemble_set(text, o.input);
    const std::vector<stream>& streams = set.streams;
    if (o.hex) return write(o.output, hex_of(streams));
    const bool one_stream = streams.empty() || !streams.front().engine;
    const file_bytes program = !one_stream       ? trn::isa::write_program_set(set)
                               : streams.empty() ? file_bytes{}
                                                 : streams.front().words;
    write(o.output, {reinterpret_cast<const char*>(program.data()), program.size()});
}

/// Runs the command and prints its errors. \returns the errors
std::vector<trn::diagnostic> errors_of(const options& o) {
    try {
        run(o);
        return {};
    } catch (const trn::config_error& error) {
        trn::print_to(stderr, "{}\n", error.what());
        return error.list();
    } catch (const std::runtime_error& error) {
        const std::string file = o.input.empty() ? o.page : o.input;
        trn::print_to(stderr, "{}: {}\n", file, error.what());
        trn::diagnostic failed;
        failed.file = file;
        failed.message = error.what();
        return {failed};
    }
}

/// A line of JSON for each error.
void write_diagnostics(const std::string& file, std::span<const trn::diagnostic> errors) {
    std::string text;
    for (const trn::diagnostic& error : errors) text += trn::to_json_line(error);
    write(file, text);
}

}  // namespace

int main(int argc, char** argv) {
    trn::cli::command app{"assembler of the NeuronCore engines' programs", "trn-asm"};
    options o;
    auto* input = app.add_option("file", o.input, "text, or with --disassemble a program");
    app.add_option("-o,--output", o.output, "file to write; standard output without it");
    app.add_option("--diagnostics", o.diagnostics,
                   "also write the errors to this file, one JSON object per line");
    auto* disassemble = app.add_flag("--disassemble", o.disassemble, "from a program to text");
    app.add_flag("--hex", o.hex, "write bytes as text")->excludes(disassemble);
    auto* page = app.add_option("--page", o.page, "rewrite the table of instructions in this page")
                     ->excludes(input);
    app.add_flag("--check", o.check, "report a stale page instead of writing it")->needs(page);
    app.examples({{"trn-asm program.trn -o program.bin", "assembles"},
                  {"trn-asm --disassemble program.bin", "prints the text of a program"},
                  {"trn-asm program.trn -o program.bin --diagnostics errors.json",
                   "for an editor or a compiler"}});
    app.callback([&] {
        if (o.input.empty() && o.page.empty()) trn::cli::refuse_missing("file");
    });
    if (const int mistaken = trn::parse_command_line(app, argc, argv); mistaken != 0)
        return mistaken;
    if (o.input.empty() && o.page.empty()) return 0;  // --help, --version
    if (!o.diagnostics.empty() && o.diagnostics == o.output) {
        trn::print_to(stderr, "trn-asm: --output and --diagnostics are the same file\n");
        return 2;
    }
    const auto errors = errors_of(o);
    try {
        if (!o.diagnostics.empty()) write_diagnostics(o.diagnostics, errors);
    } catch (const trn::file_error& error) {
        trn::print_to(stderr, "{}\n", error.what());
        return 2;
    }
    return errors.empty() ? 0 : 2;
}

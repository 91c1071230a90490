// SPDX-License-Identifier: Apache-2.0
// trn-generate-registers: generates a C++ table, a C header and a page's register chapter from a
// block's YAML, SystemRDL or IP-XACT, and converts between these.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "platform/framework/registers/exchange/exchange.h"
#include "platform/framework/registers/generator/emit.h"

namespace {

using namespace trn;
namespace fs = std::filesystem;

constexpr int user_mistake = 2;

[[noreturn]] void refuse(const std::string& file, mistake code, std::string message,
                         std::string suggestion = "") {
    throw config_error({.code = code,
                        .file = file,
                        .message = std::move(message),
                        .suggestion = std::move(suggestion)});
}

/// Nothing if there is no regular file, or if it cannot be opened.
std::optional<std::string> content_of(const fs::path& file) {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return std::nullopt;
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return std::nullopt;
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Unchanged files keep their modification time, so that including files are not rebuilt.
void write(const fs::path& file, const std::string& text) {
    if (content_of(file) == text) return;
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    if (!stream.flush()) refuse(file.string(), mistake::unreadable_file, "cannot be written");
}

constexpr std::uintmax_t max_foreign_text = 4u << 20;

/// A description in SystemRDL (.rdl) or IP-XACT (.xml). What was not read is a line on stderr.
registers::block_spec load_foreign(const std::string& file, const std::string& block) {
    std::error_code error;
    if (fs::file_size(file, error) > max_foreign_text && !error)
        refuse(file, mistake::file_too_large, "more than 4 MiB");
    const auto text = content_of(file);
    if (!text) refuse(file, mistake::unreadable_file, "cannot be read");
    const registers::foreign_text foreign{file, *text, block};
    const auto read =
        file.ends_with(".rdl") ? registers::read_rdl(foreign) : registers::read_ipxact(foreign);
    for (const auto& sentence : read.left_out) std::fprintf(stderr, "%s\n", sentence.c_str());
    return registers::complete(read, foreign);
}

registers::block_spec load(const std::string& file, const std::string& block_name) {
    if (file.ends_with(".rdl") || file.ends_with(".xml")) return load_foreign(file, block_name);
    diagnostics problems;
    const auto document = config::document::load(file, problems);
    auto block = registers::read_block(document);
    problems.throw_if_any();
    registers::check_names(document, block);
    problems.throw_if_any();
    return block;
}

/// The page with its generated chapter replaced; a new page with that chapter if there is none.
std::string renewed_page(const fs::path& page, const registers::block_spec& block) {
    std::error_code error;
    if (!fs::exists(page, error)) return registers::emit_page(block);
    const auto content = content_of(page);
    if (!content) refuse(page.string(), mistake::unreadable_file, "cannot be read");
    const std::string& text = *content;
    const auto begin = text.find(registers::markdown_begin);
    const auto end = text.find(registers::markdown_end);
    if (begin == std::string::npos || end == std::string::npos || end < begin)
        refuse(page.string(), mistake::stale_document, "has no markers for the register chapter",
               fmt::format("put '{}' and '{}' where it belongs", registers::markdown_begin,
                           registers::markdown_end));
    const auto after = text.find('\n', end);
    return text.substr(0, begin) + registers::emit_markdown(block) +
           (after == std::string::npos ? "" : text.substr(after + 1));
}

void document_block(const fs::path& folder, const registers::block_spec& block, bool check) {
    const auto page = folder / (block.block + ".md");
    const auto text = renewed_page(page, block);
    if (!check) return write(page, text);
    if (content_of(page) != text)
        refuse(page.string(), mistake::stale_document, "the register chapter is stale",
               "run ./dev docs");
}

/// The C names of all blocks: a program may include the headers of several.
class c_names {
public:
    /// Refuses a name that the header of an earlier block defines.
    void add(const std::string& input, const registers::block_spec& block) {
        for (const auto& [name, place] : registers::emit_c(block).names) {
            const auto [first, fresh] = inputs_.emplace(name, input);
            if (!fresh && first->second != input)
                throw config_error(
                    {.code = mistake::duplicate_name,
                     .file = input,
                     .line = place.line,
                     .column = place.column,
                     .message = fmt::format("'{}' is defined twice in the generated headers", name),
                     .suggestion = fmt::format("first by {}", first->second)});
        }
    }

private:
    std::map<std::string, std::string> inputs_;  // name -> description
};

/// The folder of `input` as seen from `root`.
fs::path folder_of(const std::string& input, const std::string& root) {
    std::error_code error;
    const std::string base = root.empty() ? "." : root;
    auto folder = fs::relative(fs::path(input).parent_path(), base, error);
    if (error) refuse(base, mistake::unreadable_file, "cannot be read: " + error.message());
    return folder;
}

/// "models/dma" of "models/dma/udma": pages are in the folders of wings. Empty outside models/.
fs::path wing_of(const fs::path& folder) {
    auto part = folder.begin();
    if (part == folder.end() || *part != "models") return {};
    const fs::path models = *part++;
    return part == folder.end() ? models : models / *part;
}

struct request {
    std::vector<std::string> inputs;
    std::string cpp, c, yaml, rdl, ipxact, block, list, root;
    fs::path docs;
    bool check = false;
};

void generate(const request& r) {
    std::vector<registers::table_entry> tables;
    c_names names;
    std::string messages;
    std::vector<diagnostic> mistakes;
    for (const auto& input : r.inputs) {
        try {
            const auto block = load(input, r.block);
            names.add(input, block);
            if (!r.cpp.empty()) write(r.cpp, registers::emit_cpp(block).text);
            if (!r.c.empty()) write(r.c, registers::emit_c(block).text);
            if (!r.yaml.empty()) write(r.yaml, registers::write_yaml(block, input).text);
            if (!r.rdl.empty()) write(r.rdl, registers::write_rdl(block, input));
            if (!r.ipxact.empty()) write(r.ipxact, registers::write_ipxact(block, input));
            const auto folder = folder_of(input, r.root);
            if (!r.docs.empty()) document_block(r.docs / wing_of(folder), block, r.check);
            const auto header = folder / (block.block + "_regs.h");
            tables.push_back({header.string(), block.block});
        } catch (const config_error& error) {
            mistakes.insert(mistakes.end(), error.list().begin(), error.list().end());
        }
    }
    if (!mistakes.empty()) throw config_error(std::move(mistakes));
    std::sort(tables.begin(), tables.end(), [](auto& a, auto& b) { return a.block < b.block; });
    if (!r.list.empty()) write(r.list, registers::emit_list(tables));
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app(
        "Turns register descriptions (*.regs.yaml, SystemRDL in *.rdl, IP-XACT in *.xml) into "
        "headers, "
        "documentation and each other.");
    request r;
    app.add_option("inputs", r.inputs, "register descriptions")->required();
    app.add_option("--cpp", r.cpp, "write the C++ table of one block here");
    app.add_option("--c", r.c, "write the C header of one block here");
    app.add_option("--yaml", r.yaml, "write the YAML description of one block here");
    app.add_option("--rdl", r.rdl, "write SystemRDL 2.0 of one block here");
    app.add_option("--ipxact", r.ipxact, "write IP-XACT (IEEE 1685-2014) of one block here");
    app.add_option(
        "--block", r.block,
        "the addrmap or address block to read; otherwise the last addrmap, the only address block");
    app.add_option(
        "--docs", r.docs,
        "renew the register chapters of the pages in this folder; a model's is in models/WING/");
    app.add_flag("--check", r.check, "with --docs: only report stale pages");
    app.add_option("--list", r.list, "write the list of all tables here");
    app.add_option("--root", r.root, "with --list and --docs: root of the descriptions");
    try {
        app.parse(argc, argv);
        generate(r);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? EXIT_SUCCESS : user_mistake;
    } catch (const config_error& error) {
        std::fputs(error.what(), stderr);
        return user_mistake;
    }
    return EXIT_SUCCESS;
}

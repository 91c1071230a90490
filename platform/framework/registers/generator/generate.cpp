// SPDX-License-Identifier: Apache-2.0
// trn-generate-registers: generates a C++ table, a C header and a page's register chapter from a
// block's YAML.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

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
                        .source_line = {},
                        .suggestion = std::move(suggestion)});
}

std::string content_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Unchanged files keep their modification time, so that including files are not rebuilt.
void write(const fs::path& file, const std::string& text) {
    if (fs::exists(file) && content_of(file) == text) return;
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    if (!stream.flush()) refuse(file.string(), mistake::unreadable_file, "cannot be written");
}

registers::block_spec load(const std::string& file) {
    diagnostics problems;
    const auto document = config::document::load(file, problems);
    auto block = registers::read_block(document);
    problems.throw_if_any();
    return block;
}

/// The page with its generated chapter replaced; a new page with that chapter if there is none.
std::string renewed_page(const fs::path& page, const registers::block_spec& block) {
    const auto chapter = registers::emit_markdown(block);
    if (!fs::exists(page)) {
        const auto lead = block.desc.empty() ? std::string() : block.desc + "\n\n";
        return fmt::format("# {}\n\n{}## Registers\n\n{}", block.block, lead, chapter);
    }
    const auto text = content_of(page);
    const auto begin = text.find(registers::markdown_begin);
    const auto end = text.find(registers::markdown_end);
    if (begin == std::string::npos || end == std::string::npos || end < begin)
        refuse(page.string(), mistake::stale_document, "has no markers for the register chapter",
               fmt::format("put '{}' and '{}' where it belongs", registers::markdown_begin,
                           registers::markdown_end));
    const auto after = text.find('\n', end);
    return text.substr(0, begin) + chapter +
           (after == std::string::npos ? "" : text.substr(after + 1));
}

void document_block(const fs::path& folder, const registers::block_spec& block, bool check) {
    const auto page = folder / (block.block + ".md");
    const auto text = renewed_page(page, block);
    if (!check) return write(page, text);
    if (!fs::exists(page) || content_of(page) != text)
        refuse(page.string(), mistake::stale_document, "the register chapter is stale",
               "run ./dev docs");
}

struct request {
    std::vector<std::string> inputs;
    std::string cpp, c, docs, list, root;
    bool check = false;
};

void generate(const request& r) {
    std::vector<registers::table_entry> tables;
    std::string messages;
    std::vector<diagnostic> mistakes;
    for (const auto& input : r.inputs) {
        try {
            const auto block = load(input);
            if (!r.cpp.empty()) write(r.cpp, registers::emit_cpp(block));
            if (!r.c.empty()) write(r.c, registers::emit_c(block));
            if (!r.docs.empty()) document_block(r.docs, block, r.check);
            const auto folder =
                fs::relative(fs::path(input).parent_path(), r.root.empty() ? "." : r.root);
            tables.push_back({(folder / (block.block + "_regs.h")).string(), block.block});
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
    CLI::App app("Turns register descriptions (*.regs.yaml) into headers and documentation.");
    request r;
    app.add_option("inputs", r.inputs, "register descriptions")->required();
    app.add_option("--cpp", r.cpp, "write the C++ table of one block here");
    app.add_option("--c", r.c, "write the C header of one block here");
    app.add_option("--docs", r.docs, "renew the register chapters of the pages in this folder");
    app.add_flag("--check", r.check, "with --docs: only report stale pages");
    app.add_option("--list", r.list, "write the list of all tables here");
    app.add_option("--root", r.root, "with --list: root of the header paths");
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

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/shared_libraries.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>

#include "platform/framework/config/file.h"
#include "platform/framework/process/run_command.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

/// The only one that is started: a program could name anything.
constexpr std::string_view known_loader = "/lib64/ld-linux-x86-64.so.2";

template <class T>
std::optional<T> part_of(std::string_view bytes, std::uint64_t offset) {
    T part;
    if (offset > bytes.size() || bytes.size() - offset < sizeof part) return std::nullopt;
    std::memcpy(&part, bytes.data() + offset, sizeof part);
    return part;
}

/// The loader that an ELF file names; "": none.
std::string loader_of(std::string_view bytes) {
    const auto head = part_of<Elf64_Ehdr>(bytes, 0);
    if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64)
        return {};
    for (unsigned n = 0; n < head->e_phnum; ++n) {
        if (head->e_phoff > bytes.size()) return {};
        const auto segment =
            part_of<Elf64_Phdr>(bytes, head->e_phoff + std::uint64_t{n} * sizeof(Elf64_Phdr));
        if (!segment) return {};
        if (segment->p_type != PT_INTERP || segment->p_offset > bytes.size()) continue;
        const auto name = bytes.substr(segment->p_offset, segment->p_filesz);
        return std::string(name.substr(0, name.find('\0')));
    }
    return {};
}

/// The library that the loader does not find, by its text; "": none.
std::string missing_library(const std::string& text) {
    constexpr std::string_view begin = "error while loading shared libraries: ",
                               end = " => not found";
    if (const auto place = text.find(begin); place != std::string::npos)
        return text.substr(place + begin.size(),
                           text.find(':', place + begin.size()) - place - begin.size());
    const auto place = text.find(end);
    if (place == std::string::npos) return {};
    const auto first = text.find_last_of("\t\n", place) + 1;
    return text.substr(first, place - first);
}

}  // namespace

shared_libraries shared_libraries_of(const fs::path& program, std::string_view bytes) {
    shared_libraries needed{loader_of(bytes), {}};
    if (needed.loader.empty()) return needed;
    if (needed.loader != known_loader)
        throw file_error(fmt::format(
            "{}: its loader is {}, and only {} brings libraries: link the program statically",
            program.string(), needed.loader, known_loader));
    const auto text = run_command({needed.loader, "--list", fs::absolute(program).string()}).output;
    if (const auto missing = missing_library(text); !missing.empty())
        throw file_error(fmt::format("{} needs {}, which this machine does not have",
                                     program.string(), missing));
    // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7f...)"
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, arrow, path;
        words >> name >> arrow >> path;
        if (arrow == "=>" && !name.starts_with('/')) needed.files.emplace(name, path);
    }
    if (needed.files.empty())
        throw file_error(
            fmt::format("{}: its shared libraries cannot be listed: {}", program.string(), text));
    return needed;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/elf.h"

#include <gelf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "platform/framework/config/file.h"

namespace trn {

namespace {

constexpr std::uint64_t max_file_size = std::uint64_t{1} << 30;
constexpr std::size_t max_segments = 4096;

struct reader {
    std::span<const std::uint8_t> image;
    const std::string& name;
    Elf* elf;

    [[noreturn]] void refuse(const std::string& why) const { throw elf_error(name + ": " + why); }

    bool holds(std::uint64_t offset, std::uint64_t size) const {
        return offset <= image.size() && size <= image.size() - offset;
    }

    elf_program program() const {
        check_header();
        elf_program result;
        GElf_Ehdr header;
        gelf_getehdr(elf, &header);
        result.entry = header.e_entry;
        result.position_independent = header.e_type == ET_DYN;
        read_segments(result);
        read_symbols(result);
        return result;
    }

    void check_header() const {
        GElf_Ehdr header;
        if (elf_kind(elf) != ELF_K_ELF) refuse("not an ELF file");
        if (gelf_getclass(elf) != ELFCLASS64) refuse("a 32-bit ELF file; the hart is RV64");
        if (image[EI_DATA] != ELFDATA2LSB) refuse("big-endian; the hart is little-endian");
        if (gelf_getehdr(elf, &header) == nullptr)
            refuse("truncated: the ELF header is incomplete");
        if (header.e_machine != EM_RISCV)
            refuse("made for machine " + std::to_string(header.e_machine) + ", not for RISC-V (" +
                   std::to_string(EM_RISCV) + ")");
        if (header.e_type == ET_REL) refuse("a relocatable object, not linked into a program");
        if (header.e_type != ET_EXEC && header.e_type != ET_DYN) refuse("not an executable");
        if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr))
            refuse("its program headers have " + std::to_string(header.e_phentsize) +
                   " bytes each, not " + std::to_string(sizeof(Elf64_Phdr)));
        if (header.e_entry % 2 != 0) refuse("its entry point is at an odd address");
    }

    void read_segments(elf_program& result) const {
        std::size_t count = 0;
        if (elf_getphdrnum(elf, &count) != 0) refuse("truncated: no program headers");
        if (count > max_segments) refuse("has " + std::to_string(count) + " segments");
        std::uint64_t loaded = 0;
        for (std::size_t i = 0; i < count; ++i) {
            GElf_Phdr segment;
            if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr)
                refuse("truncated: program header " + std::to_string(i) + " is outside the file");
            if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
            const std::string name_in_error = "segment " + std::to_string(i);
            // The offset of a segment without bytes in the file means nothing.
            const std::uint64_t offset = segment.p_filesz == 0 ? 0 : segment.p_offset;
            if (!holds(offset, segment.p_filesz))
                refuse("truncated: " + name_in_error + " ends outside the file");
            if (segment.p_filesz > segment.p_memsz)
                refuse(name_in_error + " is larger in the file than in memory");
            if (segment.p_paddr + (segment.p_memsz - 1) < segment.p_paddr)
                refuse(name_in_error + " runs over the end of the address space");
            // Segments that share the file's bytes could have any number of them together.
            loaded += segment.p_filesz;
            if (loaded > image.size()) refuse("its segments have more bytes than the file");
            if (std::has_single_bit(segment.p_align))
                result.alignment = std::max(result.alignment, segment.p_align);
            const auto bytes = image.subspan(offset, segment.p_filesz);
            result.segments.push_back(
                {segment.p_paddr, segment.p_memsz, {bytes.begin(), bytes.end()}});
        }
        if (result.segments.empty()) refuse("has nothing to load");
    }

    /// Reads symbols; skips unreadable ones, since they are only used for names, and those beyond
    /// max_symbols. Names that share the file's bytes could have any length together.
    void read_symbols(elf_program& result) const {
        std::uint64_t length = 0;
        std::size_t kept = 0;
        for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
            if (!holds(header.sh_offset, header.sh_size) || header.sh_entsize == 0) continue;
            Elf_Data* const data = elf_getdata(section, nullptr);
            if (data == nullptr) continue;
            const std::uint64_t count = header.sh_size / header.sh_entsize;
            for (std::uint64_t i = 0; i < count; ++i) {
                GElf_Sym symbol;
                if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
                const char* const text = elf_strptr(elf, header.sh_link, symbol.st_name);
                if (text == nullptr || *text == '\0' || symbol.st_shndx == SHN_UNDEF) continue;
                length += std::strlen(text);
                if (length > image.size()) return;
                result.symbols_are_complete = ++kept <= elf_program::max_symbols;
                if (!result.symbols_are_complete) return;
                if (result.symbols.emplace(text, symbol.st_value).second &&
                    symbol.st_shndx == SHN_ABS)
                    result.constants.emplace(text);
                if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
                    result.functions.emplace(symbol.st_value, text);
            }
        }
    }
};

/// The bytes from `address` to the end of its segment.
std::span<const std::uint8_t> bytes_from(const elf_program& program, std::uint64_t address) {
    for (const auto& s : program.segments)
        if (address - s.address < s.bytes.size())
            return std::span(s.bytes).subspan(address - s.address);
    return {};
}

}  // namespace

void elf_program::move(std::uint64_t offset) {
    entry += offset;
    for (auto& each : segments) each.address += offset;
    for (auto& [name, address] : symbols)
        if (!constants.contains(name)) address += offset;
    std::map<std::uint64_t, std::string> moved;
    for (auto& [address, name] : functions) moved.emplace(address + offset, std::move(name));
    functions = std::move(moved);
}

std::optional<std::uint64_t> elf_program::symbol(std::string_view name) const {
    const auto found = symbols.find(name);
    if (found == symbols.end()) return std::nullopt;
    return found->second;
}

std::size_t elf_program::agreement(std::uint64_t address,
                                   std::span<const std::uint8_t> page) const {
    std::size_t common = 0, equal = 0;
    for (const auto& s : segments) {
        const auto first = std::max(address, s.address);
        const auto last = std::min(address + page.size(), s.address + s.bytes.size());
        for (auto position = first; position < last; ++position, ++common)
            if (page[position - address] == s.bytes[position - s.address]) ++equal;
    }
    return equal * 2 < common ? 0 : equal;
}

std::optional<std::uint32_t> elf_program::instruction(std::uint64_t address) const {
    const auto code = bytes_from(*this, address);
    if (code.size() < 2) return std::nullopt;
    const bool compressed = (code[0] & 3) != 3;
    std::uint32_t bits = 0;
    if (!compressed && code.size() < 4) return std::nullopt;
    std::memcpy(&bits, code.data(), compressed ? 2 : 4);
    return bits;
}

elf_program read_elf(std::span<const std::uint8_t> image, const std::string& name) {
    if (image.size() < EI_NIDENT || !is_elf(image)) throw elf_error(name + ": not an ELF file");
    elf_version(EV_CURRENT);
    // libelf may write to its input.
    std::vector<std::uint8_t> copy(image.begin(), image.end());
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(
        elf_memory(reinterpret_cast<char*>(copy.data()), copy.size()), elf_end);
    if (elf == nullptr) throw elf_error(name + ": " + elf_errmsg(-1));
    return reader{copy, name, elf.get()}.program();
}

elf_program read_elf(const std::string& path) {
    try {
        return read_elf(read_file(path, max_file_size), path);
    } catch (const file_error& why) {
        throw elf_error(path + ": " + why.what());
    }
}

std::optional<flat_program> flatten(const elf_program& program, std::uint64_t limit) {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const auto& segment : program.segments) {
        if (segment.bytes.empty()) continue;
        first = std::min(first, segment.address);
        last = std::max(last, segment.address + (segment.bytes.size() - 1));
    }
    if (last < first || last - first >= limit) return std::nullopt;
    flat_program flat{first, std::vector<std::uint8_t>(last - first + 1)};
    for (const auto& segment : program.segments)
        if (!segment.bytes.empty())
            std::ranges::copy(segment.bytes, flat.bytes.begin() + static_cast<std::ptrdiff_t>(
                                                                      segment.address - first));
    return flat;
}

bool is_elf(std::span<const std::uint8_t> file) {
    return file.size() >= SELFMAG && std::memcmp(file.data(), ELFMAG, SELFMAG) == 0;
}

}  // namespace trn

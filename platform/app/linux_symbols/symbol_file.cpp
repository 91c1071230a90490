// SPDX-License-Identifier: Apache-2.0
#include "platform/app/linux_symbols/symbol_file.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

namespace trn {

namespace {

enum section : std::uint16_t { none, text, data, symbols, strings, names, count };
constexpr std::string_view section_names("\0.text\0.data\0.symtab\0.strtab\0.shstrtab\0", 39);
constexpr std::uint32_t flags = 0x5;  // EF_RISCV_RVC, EF_RISCV_FLOAT_ABI_DOUBLE

std::uint32_t name_of(std::string_view section) {
    return static_cast<std::uint32_t>(section_names.find(section));
}

class writer {
public:
    template <typename Part>
    void add(const Part* parts, std::size_t number) {
        const auto* const first = reinterpret_cast<const std::uint8_t*>(parts);
        bytes.insert(bytes.end(), first, first + number * sizeof(Part));
    }
    std::vector<std::uint8_t> bytes;
};

}  // namespace

std::vector<std::uint8_t> symbol_file(const kernel_image& kernel, std::uint64_t slide) {
    const auto& all = kernel.symbols();
    // Code ends where constants begin; symbols of both kinds are at other places too.
    const auto code_end =
        std::clamp(all.find("__start_rodata").value_or(all.find("_etext").value_or(kernel.end())),
                   kernel.first(), kernel.end());
    std::string text_of_names(1, '\0');
    std::vector<Elf64_Sym> table(1);
    for (const auto& each : all.all()) {
        if (each.address < kernel.first() || each.address >= kernel.end()) continue;
        Elf64_Sym entry{};
        entry.st_name = static_cast<Elf64_Word>(text_of_names.size());
        entry.st_info = ELF64_ST_INFO(STB_GLOBAL, each.is_function() ? STT_FUNC : STT_OBJECT);
        entry.st_shndx = each.address < code_end ? section::text : section::data;
        entry.st_value = each.address + slide;
        table.push_back(entry);
        text_of_names += each.name;
        text_of_names += '\0';
    }
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_RISCV;
    header.e_version = EV_CURRENT;
    header.e_entry = kernel.first() + slide;
    header.e_flags = flags;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = section::count;
    header.e_shstrndx = section::names;
    header.e_shoff = sizeof header;
    std::array<Elf64_Shdr, section::count> sections{};
    const auto place = [&](section number, std::string_view name, std::uint32_t type,
                           std::uint64_t size) -> Elf64_Shdr& {
        auto& made = sections[number];
        made.sh_name = name_of(name);
        made.sh_type = type;
        made.sh_size = size;
        made.sh_addralign = 8;
        return made;
    };
    auto& code = place(section::text, ".text", SHT_NOBITS, code_end - kernel.first());
    code.sh_addr = kernel.first() + slide;
    code.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    auto& rest = place(section::data, ".data", SHT_NOBITS, kernel.end() - code_end);
    rest.sh_addr = code_end + slide;
    rest.sh_flags = SHF_ALLOC | SHF_WRITE;
    std::uint64_t offset = sizeof header + sizeof sections;
    code.sh_offset = rest.sh_offset = offset;
    auto& list = place(section::symbols, ".symtab", SHT_SYMTAB, table.size() * sizeof table[0]);
    list.sh_offset = offset;
    list.sh_link = section::strings;
    list.sh_info = 1;
    list.sh_entsize = sizeof table[0];
    offset += list.sh_size;
    auto& texts = place(section::strings, ".strtab", SHT_STRTAB, text_of_names.size());
    texts.sh_offset = offset;
    offset += texts.sh_size;
    place(section::names, ".shstrtab", SHT_STRTAB, section_names.size()).sh_offset = offset;
    writer out;
    out.add(&header, 1);
    out.add(sections.data(), sections.size());
    out.add(table.data(), table.size());
    out.add(text_of_names.data(), text_of_names.size());
    out.add(section_names.data(), section_names.size());
    return std::move(out.bytes);
}

std::vector<std::uint8_t> without_addresses(std::vector<std::uint8_t> object) {
    Elf64_Ehdr header{};
    if (object.size() < sizeof header) return object;
    std::memcpy(&header, object.data(), sizeof header);
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const auto place = header.e_shoff + i * header.e_shentsize;
        if (place > object.size() || object.size() - place < sizeof(Elf64_Shdr)) break;
        std::memset(object.data() + place + offsetof(Elf64_Shdr, sh_addr), 0, sizeof(Elf64_Addr));
    }
    return object;
}

}  // namespace trn

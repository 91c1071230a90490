// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/placed_object.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "platform/framework/loader/elf.h"
#include "platform/framework/loader/source_place.h"

namespace trn {

struct placed_object::access {
    static int find_elf(Dwfl_Module* /*module*/, void** user, const char* /*name*/,
                        Dwarf_Addr /*base*/, char** file, Elf** /*elf*/) {
        const auto& self = *static_cast<const placed_object*>(*user);
        *file = strdup(self.file_.c_str());
        return open(self.file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    static int find_debuginfo(Dwfl_Module* /*module*/, void** /*user*/, const char* /*name*/,
                              Dwarf_Addr /*base*/, const char* /*file*/, const char* /*link*/,
                              GElf_Word /*crc*/, char** /*found*/) {
        return -1;
    }
    static int section_address(Dwfl_Module* /*module*/, void** user, const char* /*name*/,
                               Dwarf_Addr /*base*/, const char* name, GElf_Word /*index*/,
                               const GElf_Shdr* /*header*/, Dwarf_Addr* address) {
        const auto& all = static_cast<const placed_object*>(*user)->sections_;
        const auto found = std::ranges::find(all, name, &section::name);
        *address = found == all.end() || found->address == 0 ? static_cast<Dwarf_Addr>(-1)
                                                             : found->address;
        return DWARF_CB_OK;
    }
    static constexpr Dwfl_Callbacks all{find_elf, find_debuginfo, section_address, nullptr};
};

placed_object::placed_object(const std::filesystem::path& file, const addresses& places)
    : file_(file) {
    read_headers(places);
}

placed_object::~placed_object() {
    if (session_ != nullptr) dwfl_end(session_);
}

void placed_object::read_headers(const addresses& places) {
    const auto refuse = [this](const char* why) { throw elf_error(file_.string() + ": " + why); };
    const int descriptor = open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) refuse("cannot be read");
    const std::unique_ptr<const int, void (*)(const int*)> closes(&descriptor,
                                                                  [](const int* d) { close(*d); });
    elf_version(EV_CURRENT);
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(descriptor, ELF_C_READ, nullptr),
                                                  elf_end);
    GElf_Ehdr header;
    if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF ||
        gelf_getehdr(elf.get(), &header) == nullptr)
        refuse("not an ELF file");
    if (header.e_type != ET_REL || header.e_machine != EM_RISCV ||
        header.e_ident[EI_CLASS] != ELFCLASS64)
        refuse("not a relocatable object for RV64");
    std::map<std::size_t, std::uint64_t> loaded;  // addresses by index
    for (Elf_Scn* scanned = nullptr; (scanned = elf_nextscn(elf.get(), scanned)) != nullptr;) {
        GElf_Shdr section;
        const char* name = gelf_getshdr(scanned, &section) == nullptr
                               ? nullptr
                               : elf_strptr(elf.get(), header.e_shstrndx, section.sh_name);
        if (name == nullptr || (section.sh_flags & SHF_ALLOC) == 0) continue;
        if (sections_.size() == max_sections) refuse("has too many sections");
        const auto place = places.find(std::string_view(name));
        const std::uint64_t address = place == places.end() ? 0 : place->second;
        sections_.push_back(
            {name, address, section.sh_size, (section.sh_flags & SHF_EXECINSTR) != 0});
        has_addresses_ = has_addresses_ || section.sh_addr != 0;
        if (address != 0) loaded.emplace(elf_ndxscn(scanned), address);
        if (std::string_view(name) == ".note.gnu.build-id" && section.sh_size > 16)
            if (Elf_Data* const data = elf_rawdata(scanned, nullptr);
                data != nullptr && data->d_buf != nullptr && data->d_size > 16) {
                const auto* const first = static_cast<const std::uint8_t*>(data->d_buf);
                build_id_.assign(first + 16, first + std::min<std::size_t>(data->d_size, 16 + 64));
            }
    }
    for (Elf_Scn* scanned = nullptr; (scanned = elf_nextscn(elf.get(), scanned)) != nullptr;) {
        GElf_Shdr section;
        if (gelf_getshdr(scanned, &section) == nullptr || section.sh_type != SHT_SYMTAB ||
            section.sh_entsize == 0)
            continue;
        Elf_Data* const data = elf_getdata(scanned, nullptr);
        const auto count =
            std::min<std::uint64_t>(section.sh_size / section.sh_entsize, elf_program::max_symbols);
        for (std::uint64_t i = 0; data != nullptr && i < count; ++i) {
            GElf_Sym symbol;
            if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
            if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
            const auto place = loaded.find(symbol.st_shndx);
            const char* const name = elf_strptr(elf.get(), section.sh_link, symbol.st_name);
            if (place != loaded.end() && name != nullptr && *name != '\0')
                functions_.emplace(place->second + symbol.st_value, name);
        }
    }
}

Dwarf* placed_object::debugging() const {
    if (is_read_) return dwarf_;
    is_read_ = true;
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const auto& each : sections_) {
        if (each.address == 0) continue;
        first = std::min(first, each.address);
        last = std::max(last, each.address + each.size);
    }
    session_ = dwfl_begin(&access::all);
    if (session_ == nullptr || first >= last) return nullptr;
    dwfl_report_begin(session_);
    auto* const module = dwfl_report_module(session_, file_.filename().c_str(), first, last);
    if (module != nullptr) {
        void** user = nullptr;
        dwfl_module_info(module, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
        *user = const_cast<placed_object*>(this);
    }
    dwfl_report_end(session_, nullptr, nullptr);
    Dwarf_Addr bias = 0;
    dwarf_ = module == nullptr ? nullptr : dwfl_module_getdwarf(module, &bias);
    if (bias != 0) dwarf_ = nullptr;
    return dwarf_;
}

const placed_object::section* placed_object::code_at(std::uint64_t pc) const {
    const auto found = std::ranges::find_if(sections_, [pc](const section& each) {
        return each.is_code && each.address != 0 && pc - each.address < each.size;
    });
    return found == sections_.end() ? nullptr : &*found;
}

std::string placed_object::function_at(std::uint64_t pc) const {
    const auto* const in = code_at(pc);
    const auto next = functions_.upper_bound(pc);
    if (in == nullptr || next == functions_.begin()) return {};
    const auto& [address, name] = *std::prev(next);
    return address < in->address ? "" : name;
}

std::string placed_object::find(std::uint64_t pc) const {
    if (code_at(pc) == nullptr) return {};
    std::string found;
    any_unit([&](Dwarf_Die& unit) {
        if (dwarf_haspc(&unit, pc) != 1) return false;
        found = source_place(unit, pc);
        return true;
    });
    return found.empty() ? function_at(pc) : found;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/library_stamp.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>

#include "platform/framework/netlist/kinds/kind_library.h"
#include "platform/framework/unique_fd.h"

namespace trn {

namespace {

constexpr std::uint64_t longest_stamp = 200;  // bytes

#ifdef __aarch64__
constexpr auto machine_of_program = EM_AARCH64;
#else
constexpr auto machine_of_program = EM_X86_64;
#endif

using elf_file = std::unique_ptr<Elf, decltype(&elf_end)>;

/// The text of the section; nothing without one, or if it is none of a library with kinds.
std::optional<std::string> text_of_section(Elf* elf) {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return std::nullopt;
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr) continue;
        const char* const name = elf_strptr(elf, names, header.sh_name);
        if (name == nullptr || std::string_view(name) != TRNVP_KINDS_SECTION) continue;
        if (header.sh_type != SHT_PROGBITS || header.sh_size > longest_stamp) return std::nullopt;
        const Elf_Data* const data = elf_getdata(section, nullptr);
        if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
        const std::string_view bytes(static_cast<const char*>(data->d_buf), data->d_size);
        return std::string(bytes.substr(0, bytes.find('\0')));
    }
    return std::nullopt;
}

std::string error_text(int number) {
    return std::generic_category().message(number);
}

}  // namespace

std::optional<std::string> refuse_by_stamp(const std::filesystem::path& file,
                                           const std::string& stamp) {
    const unique_fd opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (opened.get() < 0 || fstat(opened.get(), &about) != 0) return error_text(errno);
    if (S_ISDIR(about.st_mode)) return "it is a folder";
    if (!S_ISREG(about.st_mode)) return "it is no regular file";
    elf_version(EV_CURRENT);
    const elf_file elf(elf_begin(opened.get(), ELF_C_READ, nullptr), &elf_end);
    GElf_Ehdr header;
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF || gelf_getehdr(elf.get(), &header) == nullptr ||
        header.e_type != ET_DYN)
        return "it is no shared library";
    if (header.e_machine != machine_of_program || header.e_ident[EI_CLASS] != ELFCLASS64)
        return "it is built for another processor";
    if (header.e_shoff > static_cast<std::uint64_t>(about.st_size)) return "its end is missing";
    const auto found = text_of_section(elf.get());
    if (!found) return "it defines no kinds (TRNVP_KINDS)";
    if (*found != stamp)
        return fmt::format("it was built for '{}', this program is '{}': build it again", *found,
                           stamp);
    return std::nullopt;
}

}  // namespace trn

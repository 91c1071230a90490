// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace trn::test {

/// A minimal RV64 executable: one segment of `payload` at 0x80000000.
inline std::vector<std::uint8_t> elf_image(const std::vector<std::uint8_t>& payload = {1, 2, 3,
                                                                                       4}) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_RISCV;
    header.e_version = EV_CURRENT;
    header.e_entry = 0x8000'0002;
    header.e_ehsize = sizeof header;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;

    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_offset = sizeof header + sizeof segment;
    segment.p_vaddr = segment.p_paddr = 0x8000'0000;
    segment.p_filesz = payload.size();
    segment.p_memsz = payload.size() + 8;

    std::vector<std::uint8_t> image(sizeof header + sizeof segment + payload.size());
    std::memcpy(image.data(), &header, sizeof header);
    std::memcpy(image.data() + sizeof header, &segment, sizeof segment);
    std::copy(payload.begin(), payload.end(), image.begin() + sizeof header + sizeof segment);
    return image;
}

}  // namespace trn::test

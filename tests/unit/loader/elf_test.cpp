// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/elf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/loader/elf_image.h"

namespace trn::test {

namespace {

std::string complaint(std::vector<std::uint8_t> image) {
    try {
        read_elf(image, "prog.elf");
    } catch (const elf_error& e) {
        return e.what();
    }
    return "";
}

Elf64_Ehdr& header(std::vector<std::uint8_t>& image) {
    return *reinterpret_cast<Elf64_Ehdr*>(image.data());
}
Elf64_Phdr& segment(std::vector<std::uint8_t>& image) {
    return *reinterpret_cast<Elf64_Phdr*>(image.data() + sizeof(Elf64_Ehdr));
}

}  // namespace

TEST(ElfLoader, ReadsEntryAndSegments) {
    const elf_program program = read_elf(elf_image({9, 8, 7}), "prog.elf");
    EXPECT_EQ(program.entry, 0x8000'0002u);
    ASSERT_EQ(program.segments.size(), 1u);
    EXPECT_EQ(program.segments[0].address, 0x8000'0000u);
    EXPECT_EQ(program.segments[0].size, 11u);
    EXPECT_THAT(program.segments[0].bytes, testing::ElementsAre(9, 8, 7));
    EXPECT_FALSE(program.symbol("tohost"));
}

TEST(ElfLoader, MovesAPositionIndependentProgram) {
    auto image = elf_image({9, 8, 7});
    header(image).e_type = ET_DYN;
    header(image).e_entry = 2;
    segment(image).p_vaddr = segment(image).p_paddr = 0;
    elf_program program = read_elf(image, "prog.elf");
    EXPECT_TRUE(program.position_independent);
    program.symbols = {{"start", 2}, {"stack_size", 4096}};
    program.constants = {"stack_size"};
    program.functions = {{2, "start"}, {4, "next"}};
    program.move(0x8000'0000);
    EXPECT_EQ(program.entry, 0x8000'0002u);
    EXPECT_EQ(program.segments[0].address, 0x8000'0000u);
    EXPECT_EQ(program.symbol("start"), 0x8000'0002u);
    EXPECT_EQ(program.symbol("stack_size"), 4096u);
    EXPECT_EQ(program.functions.at(0x8000'0004), "next");
    EXPECT_EQ(program.functions.size(), 2u);
}

TEST(ElfLoader, ReportsAMissingFile) {
    EXPECT_THROW(
        {
            try {
                read_elf("no/such/file.elf");
            } catch (const elf_error& e) {
                EXPECT_STREQ(e.what(), "no/such/file.elf: No such file or directory");
                throw;
            }
        },
        elf_error);
}

TEST(ElfLoader, ReportsAFileThatIsNotElf) {
    EXPECT_EQ(complaint({}), "prog.elf: not an ELF file");
    EXPECT_EQ(complaint(std::vector<std::uint8_t>(100, 'x')), "prog.elf: not an ELF file");
}

TEST(ElfLoader, RefusesATruncatedFileAtEveryLength) {
    const auto whole = elf_image();
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_NE(complaint({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}),
                  "")
            << length;
}

TEST(ElfLoader, NamesTheTruncatedSegment) {
    auto image = elf_image();
    image.pop_back();
    EXPECT_EQ(complaint(image), "prog.elf: truncated: segment 0 ends outside the file");
}

TEST(ElfLoader, RefusesAnotherMachine) {
    auto image = elf_image();
    header(image).e_machine = EM_X86_64;
    EXPECT_EQ(complaint(image), "prog.elf: made for machine 62, not for RISC-V (243)");
}

TEST(ElfLoader, RefusesA32BitFile) {
    auto image = elf_image();
    header(image).e_ident[EI_CLASS] = ELFCLASS32;
    EXPECT_EQ(complaint(image), "prog.elf: a 32-bit ELF file; the hart is RV64");
}

TEST(ElfLoader, RefusesABigEndianFile) {
    auto image = elf_image();
    header(image).e_ident[EI_DATA] = ELFDATA2MSB;
    EXPECT_EQ(complaint(image), "prog.elf: big-endian; the hart is little-endian");
}

TEST(ElfLoader, RefusesAnObjectFile) {
    auto image = elf_image();
    header(image).e_type = ET_REL;
    EXPECT_EQ(complaint(image), "prog.elf: a relocatable object, not linked into a program");
}

TEST(ElfLoader, OffsetOfASegmentWithoutBytesIsIgnored) {
    auto image = elf_image();
    segment(image).p_filesz = 0;
    segment(image).p_offset = 0x7fff'ffff;
    const elf_program program = read_elf(image, "prog.elf");
    EXPECT_EQ(program.segments.at(0).size, 12u);
    EXPECT_TRUE(program.segments.at(0).bytes.empty());
}

TEST(ElfLoader, RefusesProgramHeadersOfAnotherSize) {
    for (const unsigned size : {0u, 32u, 64u}) {
        auto image = elf_image();
        header(image).e_phentsize = static_cast<Elf64_Half>(size);
        EXPECT_EQ(complaint(image), "prog.elf: its program headers have " + std::to_string(size) +
                                        " bytes each, not 56");
    }
}

TEST(ElfLoader, RefusesAnOddEntryPoint) {
    auto image = elf_image();
    header(image).e_entry = 0x8000'0001;
    EXPECT_EQ(complaint(image), "prog.elf: its entry point is at an odd address");
}

TEST(ElfLoader, RefusesInconsistentSizes) {
    auto image = elf_image();
    segment(image).p_filesz = ~std::uint64_t{0} - 3;
    EXPECT_EQ(complaint(image), "prog.elf: truncated: segment 0 ends outside the file");
    image = elf_image();
    segment(image).p_memsz = 1;
    EXPECT_EQ(complaint(image), "prog.elf: segment 0 is larger in the file than in memory");
    image = elf_image();
    segment(image).p_paddr = ~std::uint64_t{0} - 3;
    EXPECT_EQ(complaint(image), "prog.elf: segment 0 runs over the end of the address space");
    image = elf_image();
    segment(image).p_type = PT_NOTE;
    EXPECT_EQ(complaint(image), "prog.elf: has nothing to load");
}

TEST(ElfLoader, RefusesSegmentsThatRepeatTheFile) {
    auto image = elf_image(std::vector<std::uint8_t>(1000));
    const Elf64_Phdr one = segment(image);
    header(image).e_phoff = image.size();
    header(image).e_phnum = 3;
    for (int n = 0; n < 3; ++n) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&one);
        image.insert(image.end(), bytes, bytes + sizeof one);
    }
    EXPECT_EQ(complaint(image), "prog.elf: its segments have more bytes than the file");
}

/// An executable with these symbols, whose names are in `names`.
std::vector<std::uint8_t> with_symbols(const std::vector<Elf64_Sym>& symbols,
                                       const std::string& names) {
    auto image = elf_image();
    Elf64_Shdr sections[3]{};
    const auto add = [&image](const void* from, std::size_t size) {
        const auto* const bytes = static_cast<const std::uint8_t*>(from);
        image.insert(image.end(), bytes, bytes + size);
        return image.size() - size;
    };
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_offset = add(symbols.data(), symbols.size() * sizeof(Elf64_Sym));
    sections[1].sh_size = symbols.size() * sizeof(Elf64_Sym);
    sections[1].sh_entsize = sizeof(Elf64_Sym);
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = add(names.c_str(), names.size() + 1);
    sections[2].sh_size = names.size() + 1;
    const auto table = add(sections, sizeof sections);
    header(image).e_shoff = table;
    header(image).e_shnum = 3;
    header(image).e_shentsize = sizeof(Elf64_Shdr);
    return image;
}

TEST(ElfLoader, NamesOfSymbolsAreNotLongerThanTheFile) {
    const std::string names = std::string("\0tohost", 8) + std::string(10'000, 'x');
    std::vector<Elf64_Sym> symbols(5'000);
    for (std::size_t n = 1; n < symbols.size(); ++n) {
        symbols[n].st_name = static_cast<Elf64_Word>(n);
        symbols[n].st_shndx = SHN_ABS;
        symbols[n].st_value = n;
    }
    const auto image = with_symbols(symbols, names);
    const elf_program program = read_elf(image, "prog.elf");
    EXPECT_EQ(program.symbol("tohost"), 1u);
    std::size_t length = 0;
    for (const auto& [name, value] : program.symbols) length += name.size();
    EXPECT_LE(length, image.size());
}

TEST(ElfLoader, NumberOfSymbolsIsBounded) {
    std::vector<Elf64_Sym> symbols(600'000);
    for (std::size_t n = 1; n < symbols.size(); ++n) {
        symbols[n].st_name = 1;
        symbols[n].st_info = STT_FUNC;
        symbols[n].st_shndx = SHN_ABS;
        symbols[n].st_value = n;
    }
    const std::string name("\0f", 2);
    const elf_program program = read_elf(with_symbols(symbols, name), "prog.elf");
    EXPECT_EQ(program.functions.size(), elf_program::max_symbols);
    EXPECT_FALSE(program.symbols_are_complete);
    symbols.resize(3);
    EXPECT_TRUE(read_elf(with_symbols(symbols, name), "prog.elf").symbols_are_complete);
}

TEST(ElfLoader, FlattensUpToTheEndOfTheAddressSpace) {
    const std::vector<std::uint8_t> page(4096);
    const std::uint64_t last = ~std::uint64_t{0} - 4095;
    elf_program program;
    program.segments = {{last, page.size(), page}};
    const auto flat = flatten(program, 4096);
    ASSERT_TRUE(flat);
    EXPECT_EQ(flat->first, last);
    EXPECT_EQ(flat->bytes.size(), 4096u);
    EXPECT_FALSE(flatten(program, 4095));
    program.segments.push_back({0x1000, page.size(), page});
    EXPECT_FALSE(flatten(program, 1 << 20));
}

}  // namespace trn::test

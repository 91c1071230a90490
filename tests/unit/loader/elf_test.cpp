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

}  // namespace trn::test

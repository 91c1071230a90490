// SPDX-License-Identifier: Apache-2.0
#include "models/soc/image_store/image_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "models/soc/image_store/boot_images.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/loader/elf_image.h"

namespace {

using namespace trn;

std::vector<std::uint8_t> bytes_of(const boot_image& image) {
    const backing_store store(image.content);
    return {store.data(), store.data() + store.size()};
}

struct ImageStoreTest : testing::Test {
    test::scratch_folder folder;
    image_store::config with_image(std::uint64_t bytes) {
        const std::string file = folder / "image.bin";
        std::ofstream(file) << std::string(bytes, 'x');
        image_store::config cfg;
        cfg.size = 1 << 20;
        cfg.images = file + "@0x80000000";
        return cfg;
    }
};

TEST_F(ImageStoreTest, HasRoomForATreeThatIsGeneratedLater) {
    image_store store("store", with_image(950 << 10));
    store.set_device_tree(std::vector<std::uint8_t>(image_store::max_tree, 1));
    EXPECT_EQ(store.bytes().data()[(4 << 10) + (952 << 10)], 1);
}

TEST_F(ImageStoreTest, NamesTheMachineAfterTheTree) {
    image_store store("store", with_image(950 << 10));
    store.set_machine({"trn2.48xlarge", std::string(100, 'i')});
    const auto* const bytes = store.bytes().data();
    std::uint32_t offset = 0;
    std::memcpy(&offset, bytes + 0xc, sizeof offset);
    EXPECT_EQ(offset, (4u << 10) + (952u << 10) + image_store::max_tree);
    const std::string names(reinterpret_cast<const char*>(bytes) + offset + 0x20, 128);
    EXPECT_STREQ(names.c_str(), "trn2.48xlarge");
    EXPECT_EQ(names.substr(64), std::string(63, 'i') + '\0');
}

TEST_F(ImageStoreTest, RefusesImagesThatLeaveNoRoomForTheTree) {
    EXPECT_THROW(image_store::read_images(with_image(970 << 10)), boot_image_error);
}

TEST_F(ImageStoreTest, ImagesAndTreeMayFillItToTheLastByte) {
    constexpr std::uint64_t table = 4 << 10, machine = 4 << 10;
    constexpr std::uint64_t room = (1 << 20) - table - image_store::max_tree - machine;
    EXPECT_EQ(image_store::read_images(with_image(room)).size(), 2u);
    EXPECT_THROW(image_store::read_images(with_image(room + 1)), boot_image_error);
}

TEST_F(ImageStoreTest, InitrdIsOneFileBesideAnImageThatIsStarted) {
    auto cfg = with_image(4 << 10);
    const std::string file = folder / "image.bin";
    cfg.initrd = file + "@0x80100000";
    EXPECT_EQ(image_store::read_images(cfg).size(), 3u);
    for (const std::string& wrong :
         {file + "@0x80100000," + file + "@0x80200000", std::string(",")}) {
        cfg.initrd = wrong;
        EXPECT_THROW(image_store::read_images(cfg), boot_image_error) << wrong;
    }
    cfg.initrd = file + "@0x80100000";
    cfg.images = "";
    EXPECT_THROW(image_store::read_images(cfg), boot_image_error);
}

TEST_F(ImageStoreTest, ListWithoutANameIsNoImage) {
    image_store::config cfg;
    cfg.size = 1 << 20;
    cfg.images = ",";
    EXPECT_TRUE(image_store::read_images(cfg).empty());
}

TEST_F(ImageStoreTest, RefusesACommandLineThatATreeHasNoRoomFor) {
    auto cfg = with_image(4 << 10);
    cfg.bootargs = std::string(image_store::max_bootargs, 'a');
    EXPECT_EQ(image_store::read_images(cfg).size(), 2u);
    cfg.bootargs += 'a';
    EXPECT_THROW(image_store::read_images(cfg), boot_image_error);
}

TEST_F(ImageStoreTest, RefusesAnEmptyImage) {
    const auto cfg = with_image(0);
    try {
        image_store::read_images(cfg);
        FAIL() << "no error";
    } catch (const boot_image_error& why) {
        EXPECT_THAT(why.what(), testing::EndsWith("image.bin is empty"));
    }
}

TEST_F(ImageStoreTest, ReadsAFileOnceUntilItChanges) {
    const auto cfg = with_image(4 << 10);
    const auto first = image_store::read_images(cfg).front().content;
    EXPECT_EQ(image_store::read_images(cfg).front().content, first);
    const auto changed = image_store::read_images(with_image(8 << 10)).front();
    EXPECT_NE(changed.content, first);
    EXPECT_EQ(changed.size(), 8u << 10);
}

TEST_F(ImageStoreTest, KeepsItsOwnTableAndTreeBesideSharedImages) {
    image_store one("one", with_image(4 << 10)), other("other", one.choices());
    const std::vector<std::uint8_t> tree(100, 1);
    one.set_device_tree(tree);
    const std::uint8_t* const mine = one.bytes().data();
    const std::uint8_t* const theirs = other.bytes().data();
    EXPECT_EQ(mine[4 << 10], 'x');
    EXPECT_EQ(theirs[4 << 10], 'x');
    EXPECT_EQ(mine[8 << 10], 1);
    EXPECT_EQ(theirs[8 << 10], 0);
}

struct ProgramImageTest : testing::Test {
    test::scratch_folder folder;
    /// A program linked for 0x80000000, named with `place`.
    std::vector<boot_image> read(std::uint16_t type, const std::string& place) {
        auto program = test::elf_image({1, 2, 3, 4});
        std::memcpy(&program[offsetof(Elf64_Ehdr, e_type)], &type, sizeof type);
        const std::string file = folder / "program.elf";
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char*>(program.data()),
                   static_cast<std::streamsize>(program.size()));
        return read_boot_images(file + place, {0x8000'0000, 1 << 20});
    }
    std::string refused(std::uint16_t type, const std::string& place) try {
        read(type, place);
        return {};
    } catch (const boot_image_error& why) {
        return why.what();
    }
};

TEST_F(ProgramImageTest, PositionIndependentProgramIsLoadedAtTheAddressThatIsNamed) {
    const auto images = read(ET_DYN, "@0x80001000");
    EXPECT_EQ(images.at(0).address, 0x8000'1000u);
    EXPECT_EQ(bytes_of(images.at(0)), (std::vector<std::uint8_t>{1, 2, 3, 4}));
    EXPECT_EQ(read(ET_DYN, "").at(0).address, 0x8000'0000u);
}

TEST_F(ProgramImageTest, ProgramThatIsLinkedForAnotherAddressIsRefused) {
    EXPECT_EQ(read(ET_EXEC, "@0x80000000").at(0).size(), 4u);
    EXPECT_THAT(refused(ET_EXEC, "@0x80001000"), testing::HasSubstr("is linked for 0x80000000"));
}

}  // namespace

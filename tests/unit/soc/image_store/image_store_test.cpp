// SPDX-License-Identifier: Apache-2.0
#include "models/soc/image_store/image_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;

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

TEST_F(ImageStoreTest, RefusesImagesThatLeaveNoRoomForTheTree) {
    EXPECT_THROW(image_store::read_images(with_image(970 << 10)), boot_image_error);
}

TEST_F(ImageStoreTest, RefusesACommandLineThatATreeHasNoRoomFor) {
    auto cfg = with_image(4 << 10);
    cfg.bootargs = std::string(image_store::max_bootargs, 'a');
    EXPECT_EQ(image_store::read_images(cfg).size(), 2u);
    cfg.bootargs += 'a';
    EXPECT_THROW(image_store::read_images(cfg), boot_image_error);
}

}  // namespace

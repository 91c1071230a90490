// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/kallsyms.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using trn::kallsyms;
using trn::kernel_image_error;

/// An image with symbols f0, f1, ... of type 't', 16 bytes apart. The token 0xff is "f" with the
/// type before it.
class made_image {
public:
    explicit made_image(std::uint32_t count) {
        bytes.resize(64, 0xaa);
        add(count);
        align();
        std::vector<std::uint32_t> markers;
        const auto names = bytes.size();
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i % 256 == 0) markers.push_back(static_cast<std::uint32_t>(bytes.size() - names));
            const auto digits = std::to_string(i);
            bytes.push_back(static_cast<std::uint8_t>(digits.size() + 1));
            bytes.push_back(0xff);
            bytes.insert(bytes.end(), digits.begin(), digits.end());
        }
        align();
        for (const auto marker : markers) add(marker);
        align();
        const auto table = bytes.size();
        std::vector<std::uint16_t> index;
        for (int token = 0; token < 256; ++token) {
            index.push_back(static_cast<std::uint16_t>(bytes.size() - table));
            if (token == 0xff)
                for (const char c : {'t', 'f'}) bytes.push_back(static_cast<std::uint8_t>(c));
            else if (token > 0x20 && token < 0x7f)
                bytes.push_back(static_cast<std::uint8_t>(token));
            bytes.push_back(0);
        }
        align();
        token_index = bytes.size();
        for (const auto each : index) add(each);
        align();
        for (std::uint32_t i = 0; i < count; ++i) add(i * 16);
        align();
        add(base);
    }

    static constexpr std::uint64_t base = 0xffffffff80000000;
    std::vector<std::uint8_t> bytes;
    std::size_t token_index = 0;

private:
    template <typename Number>
    void add(Number value) {
        std::uint8_t raw[sizeof value];
        std::memcpy(raw, &value, sizeof value);
        bytes.insert(bytes.end(), raw, raw + sizeof value);
    }
    void align() {
        while (bytes.size() % 8 != 0) bytes.push_back(0);
    }
};

TEST(Kallsyms, NamesTypesAndAddressesAreThoseOfTheTables) {
    const kallsyms read(made_image(600).bytes);
    ASSERT_EQ(read.all().size(), 600u);
    EXPECT_EQ(read.find("f599"), made_image::base + 599 * 16);
    EXPECT_EQ(read.find("f600"), std::nullopt);
    EXPECT_TRUE(read.all()[5].is_function());
    ASSERT_NE(read.at(made_image::base + 33), nullptr);
    EXPECT_EQ(read.at(made_image::base + 33)->name, "f2");
    EXPECT_EQ(read.at(made_image::base - 1), nullptr);
    EXPECT_EQ(read.at(made_image::base + 600 * 16), nullptr);
}

TEST(Kallsyms, AddressesMoveWithTheKernel) {
    kallsyms read(made_image(3).bytes);
    read.move(0x200000);
    EXPECT_EQ(read.find("f2"), made_image::base + 0x200020);
}

TEST(Kallsyms, NumbersOfSymbolsAtTheEndOfABlockAreRead) {
    for (const std::uint32_t count : {257u, 511u, 512u, 513u, 769u})
        EXPECT_EQ(kallsyms(made_image(count).bytes).all().size(), count);
}

TEST(Kallsyms, ImagesWithoutTablesAreRefused) {
    EXPECT_THROW(kallsyms({}), kernel_image_error);
    EXPECT_THROW(kallsyms(std::vector<std::uint8_t>(4096)), kernel_image_error);
    auto wrong = made_image(600);
    wrong.bytes[wrong.token_index + 2] ^= 1;
    EXPECT_THROW(kallsyms(wrong.bytes), kernel_image_error);
}

TEST(Kallsyms, TruncatedImagesAreRefused) {
    const auto whole = made_image(600).bytes;
    for (std::size_t size = 0; size < whole.size(); size += 97)
        EXPECT_THROW(kallsyms({whole.data(), size}), kernel_image_error);
}

TEST(Kallsyms, DamagedImagesAreReadOrRefused) {
    std::mt19937 random(1);
    const auto whole = made_image(600).bytes;
    for (int trial = 0; trial < 300; ++trial) {
        auto damaged = whole;
        for (int i = 0; i < 4; ++i)
            damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(random());
        try {
            EXPECT_LE(kallsyms(damaged).all().size(), kallsyms::max_symbols);
        } catch (const kernel_image_error&) {  // refused
        }
    }
}

}  // namespace

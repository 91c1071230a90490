// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#define _Static_assert static_assert
#include "firmware/lib/crc32c.h"
#include "firmware/lib/image.h"
}

namespace {

constexpr image_limits limits{.slot_size = 0x1000, .first = 0x40000000, .end = 0x40002000};

struct ImageTest : testing::Test {
    std::vector<char> payload = std::vector<char>(100, 'p');
    image_header header{};

    ImageTest() {
        header.magic = IMAGE_MAGIC;
        header.format = IMAGE_FORMAT;
        header.length = 100;
        header.payload_crc = crc32c(payload.data(), payload.size());
        header.load_address = header.entry = 0x40000000;
        std::strcpy(header.version, "1.2.3");
        seal();
    }
    void seal() { header.header_crc = crc32c(&header, offsetof(image_header, header_crc)); }
    image_fault check() {
        seal();
        return image_check_header(&header, &limits);
    }
};

TEST(Crc32c, MatchesThePublishedCheckValue) {
    EXPECT_EQ(crc32c("123456789", 9), 0xe3069283u);  // RFC 3720 appendix B.4's polynomial
    EXPECT_EQ(crc32c("", 0), 0u);
    const std::vector<unsigned char> zeroes(32, 0);
    EXPECT_EQ(crc32c(zeroes.data(), zeroes.size()), 0x8a9136aau);  // RFC 3720 appendix B.4
}

TEST(Crc32c, CanBeComputedInPieces) {
    const std::string text = "the management processor";
    std::uint32_t crc = crc32c_update(CRC32C_START, text.data(), 7);
    crc = crc32c_update(crc, text.data() + 7, text.size() - 7);
    EXPECT_EQ(crc32c_finish(crc), crc32c(text.data(), text.size()));
}

TEST_F(ImageTest, AcceptsAValidImage) {
    EXPECT_EQ(check(), IMAGE_OK);
    EXPECT_EQ(image_check_payload(&header, payload.data()), IMAGE_OK);
}

TEST_F(ImageTest, RefusesEveryChangedByte) {
    auto* bytes = reinterpret_cast<unsigned char*>(&header);
    for (std::size_t i = 0; i < sizeof header; ++i) {
        bytes[i] ^= 0x10;
        EXPECT_NE(image_check_header(&header, &limits), IMAGE_OK) << "byte " << i;
        bytes[i] ^= 0x10;
    }
    for (char& byte : payload) {
        byte ^= 1;
        EXPECT_EQ(image_check_payload(&header, payload.data()), IMAGE_BAD_PAYLOAD_CRC);
        byte ^= 1;
    }
}

TEST_F(ImageTest, RefusesLengthsThatDoNotFitTheSlot) {
    for (const std::uint32_t length : {0u, 0x1000u, 0xfc1u, 0xffffffffu}) {
        header.length = length;
        EXPECT_EQ(check(), IMAGE_BAD_LENGTH) << length;
    }
    header.length = 0xfc0;
    EXPECT_EQ(check(), IMAGE_OK);
}

TEST_F(ImageTest, RefusesLoadAddressesOutsideImageMemory) {
    const auto place = [this](std::uint64_t load, std::uint64_t entry) {
        header.load_address = load;
        header.entry = entry;
        return check();
    };
    EXPECT_EQ(place(0x3ffffff8, 0x40000000), IMAGE_BAD_PLACE);
    EXPECT_EQ(place(0x40001fa0, 0x40001fa0), IMAGE_BAD_PLACE);  // the end is outside
    EXPECT_EQ(place(0xfffffffffffffff8, 0xfffffffffffffff8), IMAGE_BAD_PLACE);
    EXPECT_EQ(place(0x40000004, 0x40000004), IMAGE_BAD_PLACE);
    EXPECT_EQ(place(0x40000000, 0x40000064), IMAGE_BAD_PLACE);  // past the last byte
    EXPECT_EQ(place(0x40000000, 0x40000001), IMAGE_BAD_PLACE);
    EXPECT_EQ(place(0x40001f98, 0x40001f9a), IMAGE_OK);
}

TEST_F(ImageTest, RefusesAnUnterminatedVersionString) {
    std::memset(header.version, 'x', sizeof header.version);
    EXPECT_EQ(check(), IMAGE_BAD_FORMAT);
}

}  // namespace

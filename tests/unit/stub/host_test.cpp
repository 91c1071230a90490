// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "platform/app/host_options/location_text.h"
#include "sw-stubs/host/values/pattern.h"
#include "tests/unit/stub/fake_device.h"

namespace trn::test {
namespace {

std::string parsed(std::string_view text) {
    const auto result = parse_location(text);
    const auto* place = std::get_if<location>(&result);
    return place ? place->text() : "wrong";
}

TEST(Location, AcceptsTheDocumentedSpellings) {
    EXPECT_EQ(parsed("host"), "host");
    EXPECT_EQ(parsed("host@7"), "host@0x7");
    EXPECT_EQ(parsed("hbm2@16 MiB"), "hbm2@0x1000000");
    EXPECT_EQ(parsed("hbm2@16MiB"), "hbm2@0x1000000");
    EXPECT_EQ(parsed("hbm0"), "hbm0@0x0");
    EXPECT_EQ(parsed("sbuf7@0x40"), "sbuf7@0x40");
    EXPECT_EQ(parsed("axi@0x900000000000"), "axi@0x900000000000");
    for (const auto* text : {"", "hbm", "hbmx", "hbm-1", "axi", "disk", "hbm0@", "hbm0@1 s", "@4"})
        EXPECT_EQ(parsed(text), "wrong") << text;
}

TEST(Location, OutsideTheChipIsRefusedWithAMessage) {
    fake_device chip;
    const device d(chip.transport());
    d.check(trn_probe(d));
    const auto at = [&](std::string_view text, std::uint64_t size) {
        return std::get<location>(parse_location(text)).address(d, size);
    };
    EXPECT_EQ(at("hbm3@4096", 1), 0x804000001000u);
    EXPECT_EQ(at("sbuf5@16", 1), 0x803000000010u);
    EXPECT_THROW(at("hbm4", 1), device_error);
    EXPECT_THROW(at("hbm0@36 GiB", 1), device_error);
    EXPECT_THROW(at("sbuf0@32 MiB", 1), device_error);
    EXPECT_THROW(at("host", 1), device_error);
}

TEST(Location, PastTheEndOfTheAddressSpaceIsRefused) {
    fake_device chip;
    const device d(chip.transport());
    d.check(trn_probe(d));
    const auto end = std::get<location>(parse_location("axi@0xfffffffffffffff0"));
    EXPECT_EQ(end.address(d, 16), 0xfffffffffffffff0u);
    EXPECT_THROW(end.address(d, 17), device_error);
    EXPECT_EQ(end.plus(15).offset, UINT64_MAX);
    EXPECT_THROW(end.plus(16), device_error);
    for (const auto* place : {"hbm0@0xfffffffffffffff0", "sbuf0@0xfffffffffffffff0"})
        EXPECT_THROW(std::get<location>(parse_location(place)).address(d, 64), device_error);
    for (const auto size : {16u, 17u, 4096u})
        EXPECT_THROW(host_buffer(d, size, 0xfffffffffffffff0), device_error) << size;
}

TEST(Pattern, DoesNotDependOnItsChunks) {
    const pattern p(7, "a");
    std::vector<std::uint8_t> whole(1000), parts(1000);
    p.fill(whole);
    for (std::size_t at = 0; at < 1000; at += 37)
        p.fill(std::span(parts).subspan(at, std::min<std::size_t>(37, 1000 - at)), at);
    EXPECT_EQ(whole, parts);
    EXPECT_FALSE(p.check(std::span(whole).subspan(3), 3));
    EXPECT_TRUE(pattern(8, "a").check(whole));
    EXPECT_TRUE(pattern(7, "b").check(whole));
}

TEST(Pattern, NamesTheFirstWrongByte) {
    const pattern p(7);
    std::vector<std::uint8_t> bytes(100);
    p.fill(bytes, 5);
    bytes[61] ^= 1;
    const auto found = p.check(bytes, 5);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->position, 66u);
    EXPECT_EQ(found->found, found->expected ^ 1);
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/btf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using trn::btf;
using trn::btf_error;

/// Types are numbered from 1 in the order in which they are added.
class made_btf {
public:
    static constexpr std::uint32_t integer = 1, array = 3, structure = 4, unite = 5,
                                   enumeration = 6, type_name = 8, constant = 10;

    std::uint32_t text(const std::string& added) {
        const auto offset = static_cast<std::uint32_t>(strings_.size());
        strings_ += added + '\0';
        return offset;
    }
    std::uint32_t add(const std::string& name, std::uint32_t kind, std::uint32_t size_or_type,
                      const std::vector<std::uint32_t>& details, std::uint32_t count = 0,
                      bool has_bit_fields = false) {
        for (const auto word : {name.empty() ? 0 : text(name),
                                kind << 24 | count | (has_bit_fields ? 1u << 31 : 0), size_or_type})
            types_.push_back(word);
        types_.insert(types_.end(), details.begin(), details.end());
        return ++number_;
    }
    std::vector<std::uint8_t> bytes() const {
        std::vector<std::uint8_t> all(24 + types_.size() * 4 + strings_.size());
        const auto types = static_cast<std::uint32_t>(types_.size() * 4);
        const std::uint32_t head[] = {0x1eb9f, 24,    0,
                                      types,   types, static_cast<std::uint32_t>(strings_.size())};
        std::memcpy(all.data(), head, sizeof head);
        std::memcpy(all.data() + 24, types_.data(), types);
        std::memcpy(all.data() + 24 + types, strings_.data(), strings_.size());
        return all;
    }

private:
    std::string strings_ = std::string(1, '\0');
    std::vector<std::uint32_t> types_;
    std::uint32_t number_ = 0;
};

/// struct outer { int a; union { int b; const struct inner c; }; inner_t d[3]; int e:3, f:5; };
std::vector<std::uint8_t> example() {
    made_btf all;
    const auto number = all.add("int", made_btf::integer, 4, {32});
    const auto inner = all.add("inner", made_btf::structure, 8,
                               {all.text("x"), number, 0, all.text("y"), number, 32}, 2);
    const auto named = all.add("inner_t", made_btf::type_name, inner, {});
    const auto fixed = all.add("", made_btf::constant, inner, {});
    const auto unite =
        all.add("", made_btf::unite, 8, {all.text("b"), number, 0, all.text("c"), fixed, 0}, 2);
    const auto list = all.add("", made_btf::array, 0, {named, number, 3});
    all.add("outer", made_btf::structure, 40,
            {all.text("a"), number, 0, 0, unite, 32, all.text("d"), list, 96, all.text("e"), number,
             3u << 24 | 288, all.text("f"), number, 5u << 24 | 291},
            5, true);
    all.add("states", made_btf::enumeration, 4, {all.text("IDLE"), 0, all.text("GONE"), 7}, 2);
    return all.bytes();
}

TEST(Btf, MembersHaveTheirOffsetsAndSizes) {
    const btf types(example());
    EXPECT_EQ(types.find("outer", "a")->offset, 0u);
    EXPECT_EQ(types.find("outer", "d")->offset, 12u);
    EXPECT_EQ(types.find("outer", "d")->size, 8u);
    EXPECT_EQ(types.find("outer", "d")->count, 3u);
    EXPECT_EQ(types.size_of("outer"), 40u);
    EXPECT_EQ(types.find("outer", "z"), std::nullopt);
    EXPECT_EQ(types.find("other", "a"), std::nullopt);
}

TEST(Btf, PathsPassUnnamedUnionsAndQualifiers) {
    const btf types(example());
    EXPECT_EQ(types.find("outer", "b")->offset, 4u);
    EXPECT_EQ(types.find("outer", "c.y")->offset, 8u);
    EXPECT_EQ(types.find("outer", "a.y"), std::nullopt);
}

TEST(Btf, BitFieldsHaveTheirFirstBit) {
    const btf types(example());
    EXPECT_EQ(types.find("outer", "f")->offset, 36u);
    EXPECT_EQ(types.find("outer", "f")->bit, 3u);
    EXPECT_EQ(types.find("outer", "a")->bit, std::nullopt);
}

TEST(Btf, EnumeratorsHaveTheirValues) {
    EXPECT_EQ(btf(example()).enumerator("GONE"), 7);
    EXPECT_EQ(btf(example()).enumerator("OTHER"), std::nullopt);
}

TEST(Btf, OtherDataIsRefused) {
    EXPECT_THROW(btf({}), btf_error);
    EXPECT_THROW(btf(std::vector<std::uint8_t>(64)), btf_error);
    auto longer = example();
    longer[16] = 0xff;  // the types end later
    longer[17] = 0xff;
    EXPECT_THROW(btf{longer}, btf_error);
}

TEST(Btf, TypesThatContainThemselvesEnd) {
    made_btf all;
    all.add("a", made_btf::type_name, 1, {});
    all.add("", made_btf::structure, 8, {0, 2, 0}, 1);
    all.add("s", made_btf::structure, 8, {0, 2, 0, all.text("m"), 1, 0}, 2);
    all.add("", made_btf::array, 0, {4, 1, 1000});
    all.add("t", made_btf::structure, 8, {all.text("m"), 4, 0}, 1);
    all.add("", made_btf::structure, 8, {0, 6, 0, 0, 6, 0, 0, 6, 0}, 3);
    all.add("u", made_btf::structure, 8, {0, 6, 0, all.text("m"), 4, 0}, 2);
    const btf types(all.bytes());
    EXPECT_EQ(types.find("u", "z"), std::nullopt);
    EXPECT_EQ(types.find("s", "z"), std::nullopt);
    EXPECT_TRUE(types.find("s", "m").has_value());
    EXPECT_TRUE(types.find("t", "m").has_value());
}

TEST(Btf, DamagedTypesAreReadOrRefused) {
    std::mt19937 random(1);
    const auto whole = example();
    for (int trial = 0; trial < 2000; ++trial) {
        auto damaged = whole;
        for (int i = 0; i < 4; ++i)
            damaged[24 + random() % (damaged.size() - 24)] ^= static_cast<std::uint8_t>(random());
        try {
            const btf types(damaged);
            types.find("outer", "c.y");
            types.find("outer", "d");
            types.enumerator("GONE");
        } catch (const btf_error&) {  // refused
        }
    }
}

}  // namespace

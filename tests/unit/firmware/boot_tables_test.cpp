// SPDX-License-Identifier: Apache-2.0
// Tables of a server's boot ROM, read as an operating system reads them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "platform/app/device_tree/device_tree.h"

extern "C" {
#include "firmware/host/boot_tables.h"
#include "firmware/host/chosen.h"
#include "firmware/host/smbios.h"
}

namespace {

using bytes = std::vector<std::uint8_t>;

template <typename T>
T at(std::uint64_t address) {
    T value{};
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
}

/// The value of a property that is in /chosen only.
std::uint64_t property(const bytes& tree, const std::string& name) {
    const auto word = [&](std::size_t place) {
        return static_cast<std::uint64_t>(tree[place]) << 24 | tree[place + 1] << 16 |
               tree[place + 2] << 8 | tree[place + 3];
    };
    const auto strings = word(12);
    for (auto place = word(8); place + 12 <= strings; place += 4) {
        if (word(place) != 3 || word(place + 8) > tree.size() - strings) continue;
        if (name != reinterpret_cast<const char*>(&tree[strings + word(place + 8)])) continue;
        return word(place + 4) == 8 ? word(place + 12) << 32 | word(place + 16) : word(place + 12);
    }
    ADD_FAILURE() << name;
    return 0;
}

struct smbios_structure {
    bytes area;
    std::vector<std::string> strings;
    std::string text(std::size_t offset) const {
        return area[offset] == 0 ? "" : strings.at(area[offset] - 1u);
    }
};

/// By type.
std::map<int, smbios_structure> structures(std::uint64_t entry) {
    EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(entry), "_SM3_", 5), 0);
    std::uint8_t sum = 0;
    for (unsigned i = 0; i < 24; ++i)
        sum = static_cast<std::uint8_t>(sum + at<std::uint8_t>(entry + i));
    EXPECT_EQ(sum, 0);
    std::map<int, smbios_structure> found;
    auto next = at<std::uint64_t>(entry + 16);
    const auto end = next + at<std::uint32_t>(entry + 12);
    while (next < end) {
        const auto* const first = reinterpret_cast<const std::uint8_t*>(next);
        smbios_structure one{bytes(first, first + first[1]), {}};
        const char* text = reinterpret_cast<const char*>(first) + first[1];
        for (; *text != 0; text += one.strings.back().size() + 1) one.strings.emplace_back(text);
        next = reinterpret_cast<std::uint64_t>(text) + (one.strings.empty() ? 2 : 1);
        found.emplace(first[0], one);
    }
    EXPECT_EQ(next, end);
    return found;
}

struct BootTables : testing::Test {
    alignas(4096) std::array<std::uint8_t, 4096> room{};
    bytes tree;
    image_store_machine machine{.ram_base = 0x1000,
                                .ram_size = 0,
                                .tables = reinterpret_cast<std::uint64_t>(room.data()),
                                .tables_size = room.size(),
                                .product = "trn2u.48xlarge",
                                .instance_id = "i-0123456789abcdef0"};
    BootTables() {
        machine.ram_size = machine.tables + room.size() + 0x2000 - machine.ram_base;
        trn::machine_description described{};
        described.model = "test";
        described.ram = {0x8000'0000, 1 << 30};
        described.aclint = described.plic = described.finisher = {0x1000, 0x1000};
        described.isa = "rv64imac";
        described.has_boot_tables = true;
        tree = trn::make_device_tree(described);
    }
    std::map<int, smbios_structure> written_smbios() {
        EXPECT_TRUE(boot_tables_write(&machine, 0x5000, tree.data()));
        const auto configuration =
            at<std::uint64_t>(property(tree, "linux,uefi-system-table") + 112);
        EXPECT_EQ(at<std::uint32_t>(configuration), 0xf2fd1544);  // SMBIOS 3
        return structures(at<std::uint64_t>(configuration + 16));
    }
};

TEST_F(BootTables, SystemTableNamesSmbiosAndNoRuntimeService) {
    ASSERT_TRUE(boot_tables_write(&machine, 0x5000, tree.data()));
    const auto system = property(tree, "linux,uefi-system-table");
    EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(system), "IBI SYST", 8), 0);
    EXPECT_EQ(at<std::uint32_t>(system + 8), 0x20064u);
    EXPECT_EQ(at<char16_t>(at<std::uint64_t>(system + 24)), u't');
    EXPECT_EQ(at<std::uint64_t>(system + 88), 0u);
    EXPECT_EQ(at<std::uint64_t>(system + 104), 2u);
    const auto properties = at<std::uint64_t>(at<std::uint64_t>(system + 112) + 24 + 16);
    EXPECT_EQ(at<std::uint64_t>(properties), 0x8'0001u);  // version 1, 8 bytes, nothing supported
    EXPECT_EQ(property(tree, "linux,uefi-secure-boot"), 2u);
}

TEST_F(BootTables, MemoryMapCoversTheRamOnce) {
    ASSERT_TRUE(boot_tables_write(&machine, 0x5000, tree.data()));
    const auto map = property(tree, "linux,uefi-mmap-start");
    const auto size = property(tree, "linux,uefi-mmap-desc-size");
    ASSERT_EQ(property(tree, "linux,uefi-mmap-size"), 4 * size);
    EXPECT_EQ(property(tree, "linux,uefi-mmap-desc-ver"), 1u);
    auto next = machine.ram_base;
    std::vector<std::uint32_t> types;
    for (auto one = map; one < map + 4 * size; one += size) {
        types.push_back(at<std::uint32_t>(one));
        EXPECT_EQ(at<std::uint64_t>(one + 8), next);
        next += at<std::uint64_t>(one + 24) * 4096;
        EXPECT_EQ(at<std::uint64_t>(one + 32), 8u);  // write-back
    }
    EXPECT_EQ(next, machine.ram_base + machine.ram_size);
    EXPECT_EQ(types, (std::vector<std::uint32_t>{0, 7, 6, 7}));
}

TEST_F(BootTables, SmbiosHasTheNamesOfAnInstance) {
    auto found = written_smbios();
    EXPECT_EQ(found.size(), 5u);
    EXPECT_EQ(found[0].text(4), "Amazon EC2");
    EXPECT_EQ(found[0].text(5), "1.0");
    EXPECT_EQ(found[1].text(4), "Amazon EC2");
    EXPECT_EQ(found[1].text(5), "trn2u.48xlarge");
    EXPECT_EQ(found[1].text(7), "ec201234-5678-9abc-def0-0123456789ab");
    EXPECT_EQ(found[1].area[8], 0x34);  // fields of the UUID are little-endian
    EXPECT_EQ(found[1].area[16], 0xde);
    EXPECT_EQ(found[2].text(8), "i-0123456789abcdef0");
    EXPECT_EQ(found[2].area[0xb], found[3].area[2]);
    EXPECT_EQ(found[3].text(8), "Amazon EC2");
    EXPECT_EQ(found.count(127), 1u);
}

TEST_F(BootTables, ServerWithoutNamesHasTablesToo) {
    machine.product[0] = machine.instance_id[0] = 0;
    auto found = written_smbios();
    EXPECT_EQ(found[1].text(5), "");
    EXPECT_EQ(found[1].text(7), "");
    EXPECT_EQ(found.count(2), 0u);
}

TEST_F(BootTables, TreeWithoutPropertiesIsUnchanged) {
    const auto place = std::search(tree.begin(), tree.end(), std::begin("linux,uefi-mmap-size"),
                                   std::end("linux,uefi-mmap-size"));
    ASSERT_NE(place, tree.end());
    *place = 'X';
    const auto before = tree;
    EXPECT_FALSE(boot_tables_write(&machine, 0x5000, tree.data()));
    EXPECT_EQ(tree, before);
}

TEST(Chosen, PropertyOfFourBytesTakesNoLongerValue) {
    bytes tree;
    const auto add = [&](std::initializer_list<std::uint32_t> words) {
        for (const auto word : words)
            for (int shift = 24; shift >= 0; shift -= 8)
                tree.push_back(static_cast<std::uint8_t>(word >> shift));
    };
    add({0xd00dfeed, 88, 16, 80});           // magic, size, structure, strings
    add({1, 0, 1, 0x63686f73, 0x656e0000});  // the root, "chosen"
    add({3, 4, 0, 7, 3, 8, 2, 0, 7, 2, 2});  // a, b; ends of both nodes
    add({0x61006200, 0});                    // "a", "b"
    auto before = tree;
    const chosen_value wide[] = {{"b", 1ull << 40}, {"a", 1ull << 32}},
                       fits[] = {{"a", 0xffffffff}};
    EXPECT_FALSE(chosen_set(tree.data(), wide, 2));
    EXPECT_EQ(tree, before);
    EXPECT_TRUE(chosen_set(tree.data(), fits, 1));
    EXPECT_EQ(tree[48], 0xff);
}

TEST_F(BootTables, DamagedTreesAreNotReadBeyondTheirEnds) {
    for (std::size_t i = 0; i < tree.size(); i += 4) {
        auto damaged = tree;
        damaged[i] ^= 0x7f;
        if (i != 4) boot_tables_write(&machine, 0x5000, damaged.data());
    }
}

TEST_F(BootTables, TablesWithoutRoomAreRefused) {
    for (const std::uint64_t size : {0, 300, 400, 450, 500, 550}) {
        machine.tables_size = size;
        EXPECT_FALSE(boot_tables_write(&machine, 0x5000, tree.data())) << size;
    }
}

}  // namespace

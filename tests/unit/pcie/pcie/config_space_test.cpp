// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/config_space.h"

#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <vector>

namespace {

using trn::pcie::config_space;

template <typename T>
void write(config_space& space, std::uint32_t offset, T value) {
    std::uint8_t bytes[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i)
        bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
    space.write(offset, bytes);
}

TEST(ConfigSpaceTest, SoftwareWritesOnlyWritableBits) {
    config_space space;
    space.define<std::uint32_t>(0x40, 0x1234'5678, 0x0000'ff0f);
    write<std::uint32_t>(space, 0x40, 0xffff'ffff);
    EXPECT_EQ(space.get<std::uint32_t>(0x40), 0x1234'ff7fu);
    write<std::uint8_t>(space, 0x41, 0x21);
    EXPECT_EQ(space.get<std::uint32_t>(0x40), 0x1234'217fu);
}

TEST(ConfigSpaceTest, WritingOneClearsStatusBitsAndZeroKeepsThem) {
    config_space space;
    space.define<std::uint16_t>(0x06, 0x0010, 0, 0xf900);
    space.set<std::uint16_t>(0x06, 0x3010);
    write<std::uint16_t>(space, 0x06, 0x1000);
    EXPECT_EQ(space.get<std::uint16_t>(0x06), 0x2010);
    write<std::uint16_t>(space, 0x06, 0x0000);
    EXPECT_EQ(space.get<std::uint16_t>(0x06), 0x2010);
}

TEST(ConfigSpaceTest, CapabilitiesAreLinkedInOrder) {
    config_space space;
    const auto first = space.add_capability(PCI_CAP_ID_PM, 7);
    const auto second = space.add_capability(PCI_CAP_ID_MSIX, 12);
    EXPECT_EQ(space.get<std::uint8_t>(PCI_CAPABILITY_LIST), first);
    EXPECT_EQ(space.get<std::uint8_t>(first), PCI_CAP_ID_PM);
    EXPECT_EQ(space.get<std::uint8_t>(first + 1u), second);
    EXPECT_EQ(second, first + 8);  // dword aligned
    EXPECT_EQ(space.get<std::uint8_t>(second + 1u), 0);

    const auto aer = space.add_extended_capability(PCI_EXT_CAP_ID_ERR, 2, 0x48);
    const auto serial = space.add_extended_capability(PCI_EXT_CAP_ID_DSN, 1, 12);
    EXPECT_EQ(space.get<std::uint32_t>(aer), 0x0002'0001u | static_cast<unsigned>(serial) << 20);
    EXPECT_EQ(space.get<std::uint32_t>(serial), 0x0001'0003u);
}

TEST(ConfigSpaceTest, HookIsCalledForEveryWriteToItsRegister) {
    config_space space;
    int received = 0;
    space.on_write(0x44, 2, [&] { ++received; });
    write<std::uint16_t>(space, 0x42, 0);
    EXPECT_EQ(received, 0);
    write<std::uint32_t>(space, 0x42, 0);
    write<std::uint8_t>(space, 0x45, 0);
    write<std::uint8_t>(space, 0x46, 0);
    EXPECT_EQ(received, 2);
}

TEST(ConfigSpaceTest, EachKindOfResetKeepsItsBits) {
    config_space space;
    for (const std::uint32_t at : {0x40u, 0x44u, 0x48u}) space.define<std::uint32_t>(at, 1, ~0u);
    space.keep_over_reset(0x44, ~0u);
    space.keep_over_function_level_reset(0x48, 0xff00u);
    for (const std::uint32_t at : {0x40u, 0x44u, 0x48u})
        write<std::uint32_t>(space, at, 0xaaaa'aaaa);
    space.reset(config_space::reset_kind::function_level);
    EXPECT_EQ(space.get<std::uint32_t>(0x40), 1u);
    EXPECT_EQ(space.get<std::uint32_t>(0x44), 0xaaaa'aaaau);
    EXPECT_EQ(space.get<std::uint32_t>(0x48), 0xaa01u);
    space.reset(config_space::reset_kind::conventional);
    EXPECT_EQ(space.get<std::uint32_t>(0x44), 0xaaaa'aaaau);
    EXPECT_EQ(space.get<std::uint32_t>(0x48), 1u);
    space.forget();
    EXPECT_EQ(space.get<std::uint32_t>(0x44), 1u);
}

TEST(ConfigSpaceTest, AccessesPastTheEndHaveNoEffect) {
    config_space space;
    std::vector<std::uint8_t> bytes(64, 0xee);
    space.read(4090, bytes);
    EXPECT_EQ(bytes, std::vector<std::uint8_t>(64, 0));
    bytes.assign(64, 0xff);
    space.write(4090, bytes);
    space.write(0xffff'fff0, bytes);
    EXPECT_EQ(space.get<std::uint16_t>(4094), 0);
}

}  // namespace

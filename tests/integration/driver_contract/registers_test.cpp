// SPDX-License-Identifier: Apache-2.0
// Contract 6.1 to 6.4: the registers of an engine through the register BAR.
#include "tests/integration/driver_contract/contract_fixture.h"

namespace trn::test {
namespace {

struct written {
    std::uint64_t offset;
    std::uint32_t value;
};

/// Register values written by the driver to every engine, Trainium2 and later.
const written engine_registers[] = {
    {0x118, 0x00010008},    {0x11C, 0x00010008},   {0x124, 0x20808080},
    {0x254, 0x010FFFFF},    {0x258, 0x00000102},   {0x304, 0x00010041},
    {0x308, 0x00004181},    {0x310, 0x010008F8},   {0x408, 0},
    {0x2011C, 0x00010008},  {0x20124, 0x00400080}, {0x20128, 0x40804080},
    {0x20308, 0x00004181},  {0x20380, 0x00001004}, {0x2038C, 0},
    {0x3A300, 100'000'000}, {0x380E8, 0x28},       {0x3A028, 0x28},
    {0x3A068, 0x28},        {0x3A0B0, 0xFFFFF03F}, {0x4001C, 1},
    {0x40020, 1},           {0x40000, 1},          {0x40800, 0x26},
};

TEST_P(DriverContract, EngineRegistersKeepTheDriversValues) {
    if (!map().has_neighbours) GTEST_SKIP() << "the values are those of Trainium2 and later";
    drive([&](device& chip) {
        const std::uint64_t engines[] = {0x8200'0000, 0x83F0'0000, 0x9400'0000, 0xB5F0'0000,
                                         0x0680'0000, 0x0690'0000, 0x4680'0000, 0x4690'0000};
        for (const auto engine : engines) {
            for (const auto& [offset, value] : engine_registers)
                EXPECT_EQ(word(chip, engine + offset), value)
                    << std::hex << engine << " + " << offset;
            for (std::uint64_t queue = 0; queue < 16; ++queue) {
                for (std::uint64_t selector = 0; selector < 4; ++selector)
                    EXPECT_EQ(word(chip, engine + 0x3C400 + queue * 0x40 + selector * 4),
                              0xFFFF'FFFFu);
                if (engine < 0x8000'0000 && queue < 2) continue;  // the driver's own rings
                EXPECT_EQ(word(chip, engine + 0x1020 + queue * 0x1000), 0x30000u);
                EXPECT_EQ(word(chip, engine + 0x21020 + queue * 0x1000), 0x30000u);
            }
            EXPECT_EQ(word(chip, engine + 0x3B460) & 1, 0u);
            if (board().device_id == 0x7564) {
                EXPECT_EQ(word(chip, engine + 0x2012C) & 0xffff, 256u);
            }
            // Ring id errors are masked in the engines of the cores (6.3 step 7).
            const bool masked = engine >= 0x8000'0000;
            EXPECT_EQ((word(chip, engine + 0x3A030) & 1u << 17) != 0, masked);
            EXPECT_EQ((word(chip, engine + 0x3A070) & 1u << 11) != 0, masked);
            EXPECT_EQ((word(chip, engine + 0x20C) & 1u << 17) != 0, masked);
            EXPECT_EQ((word(chip, engine + 0x2020C) & 1u << 11) != 0, masked);
        }
        for (const std::uint64_t errors : {0x8C00'0000, 0x9C40'0000, 0xAC3E'0000, 0xBC7E'0000}) {
            EXPECT_NE(word(chip, errors + 0x90) & 1u << 11, 0u);
            EXPECT_NE(word(chip, errors + 0xD0) & 1u << 2, 0u);
        }
    });
}

TEST_P(DriverContract, SetsUpQueuesPerTheContract) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 8192);
        const auto m2s = map().engine_0 + 0x1000, s2m = map().engine_0 + 0x21000;
        chip.check(trn_ring_init(chip, 0, 0, rings.address(), 48, rings.address() + 4096, 32));
        EXPECT_EQ(word(chip, m2s + 0x74), 3u);  // descriptor barriers are enabled
        for (const auto queue : {m2s, s2m}) {
            EXPECT_EQ(word(chip, queue + 0x20), 0x0303'0000u);
            EXPECT_EQ(word(chip, queue + 0x34), 0x4000'0000u);  // ring id 1
            EXPECT_EQ(word(chip, queue + 0x3c), 0x4000'0000u);
            EXPECT_EQ(word(chip, queue + 0x4c), 0x4000'0000u);
        }
        EXPECT_EQ(word(chip, m2s + 0x28), rings.address() & 0xffff'ffff);
        EXPECT_EQ(word(chip, m2s + 0x2c), rings.address() >> 32);
        EXPECT_EQ(word(chip, m2s + 0x30), 48u);
        EXPECT_EQ(word(chip, s2m + 0x30), 32u);
        EXPECT_EQ(word(chip, m2s + 0xb0), 0u);  // the reset bit clears itself
        EXPECT_EQ(word(chip, s2m + 0x64), 0u);
        chip.check(trn_ring_release(chip, 0, 0));
    });
}

TEST_P(DriverContract, SetsAndClearsInterruptCauses) {
    drive([&](device& chip) {
        for (const std::uint64_t group : {0x38000 + 0xC0, 0x3A000, 0x3A040, 0x3A080}) {
            const auto at = map().engine_0 + group;
            const auto before = word(chip, at);
            set_word(chip, at + 0x08, 1u << 20);  // set
            EXPECT_EQ(word(chip, at), before | 1u << 20);
            EXPECT_EQ(word(chip, at + 0x20), before | 1u << 20);  // status
            set_word(chip, at, ~(1u << 20));                      // writing 0 clears
            EXPECT_EQ(word(chip, at), before);
            const auto mask = word(chip, at + 0x10);
            set_word(chip, at + 0x18, ~(1u << 3));  // mask clear
            EXPECT_EQ(word(chip, at + 0x10), mask & ~(1u << 3));
        }
    });
}

}  // namespace
}  // namespace trn::test

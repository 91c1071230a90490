// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "platform/framework/tlm/armed_errors.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "platform/framework/tlm/streaming_copy.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using sc_core::SC_NS;
using sc_core::sc_start;
using sc_core::sc_time;
using sc_core::SC_ZERO_TIME;

/// driver -> outer router -> memory a, and inner router at 0x4000'0000 -> memory b.
struct RouterTest : testing::Test {
    test::tlm_driver cpu{"cpu"};
    router outer{"outer", {sc_time(2, SC_NS)}};
    router inner{"inner", {sc_time(3, SC_NS)}};
    memory a{"a", {.size = 0x1000, .access_latency = sc_time(10, SC_NS)}};
    memory b{"b", {.size = 0x2000, .access_latency = sc_time(20, SC_NS)}};

    RouterTest() {
        cpu.out.bind(outer.target);
        outer.initiator.bind(a.in);
        outer.initiator.bind(inner.target);
        inner.initiator.bind(b.in);
        outer.map({.base = 0x1000, .size = 0x1000, .target_base = 0, .port = 0});
        outer.map({.base = 0x4000'0000, .size = 0x1000, .target_base = 0x8000'1000, .port = 1});
        inner.map({.base = 0x8000'0000, .size = 0x2000, .target_base = 0, .port = 0});
        sc_start(SC_ZERO_TIME);
    }
};

TEST_F(RouterTest, TranslatesAddressesOnEveryHopAndAddsItsLatency) {
    EXPECT_EQ(cpu.write<std::uint32_t>(0x4000'0010, 0xcafe), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.delay, sc_time(2 + 3 + 20, SC_NS));
    EXPECT_EQ(b.bytes().data()[0x1010], 0xfe);
    EXPECT_EQ(cpu.read(0x4000'0010), 0xcafeu);
    std::uint32_t seen = 0;
    EXPECT_EQ(cpu.debug_read(0x4000'0010, seen), 4u);
    EXPECT_EQ(seen, 0xcafeu);
}

TEST_F(RouterTest, AnswersHolesAndBurstsAcrossARangeEndWithAddressErrors) {
    EXPECT_EQ(cpu.write<std::uint32_t>(0x0, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(cpu.write<std::uint64_t>(0x1ffc, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(cpu.write<std::uint32_t>(0x1ffc, 1), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.write<std::uint32_t>(0xffff'ffff'ffff'fffc, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

/// A payload with other attributes than those of a plain access.
struct unusual {
    tlm::tlm_generic_payload payload;
    std::array<std::uint8_t, 64> bytes{};
    std::array<std::uint8_t, 64> enables{};

    unusual(tlm::tlm_command command, std::uint64_t address, unsigned length) {
        bytes.fill(0xab);
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(bytes.data());
        payload.set_data_length(length);
        payload.set_streaming_width(length);
    }
    /// Enables [first, last) only.
    void enable(unsigned first, unsigned last) {
        std::fill(enables.begin() + first, enables.begin() + last, 0xff);
        payload.set_byte_enable_ptr(enables.data());
        payload.set_byte_enable_length(payload.get_data_length());
    }
    tlm::tlm_response_status send(test::tlm_driver& cpu) {
        sc_time delay;
        payload.set_dmi_allowed(false);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        cpu.out->b_transport(payload, delay);
        return payload.get_response_status();
    }
};

TEST_F(RouterTest, StreamingBurstOccupiesItsWidthOnly) {
    unusual burst(tlm::TLM_WRITE_COMMAND, 0x1ffc, 16);
    burst.payload.set_streaming_width(4);
    burst.bytes[12] = 0x77;
    EXPECT_EQ(burst.send(cpu), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.read(0x1ffc), 0xababab77u);
    burst.payload.set_streaming_width(8);
    EXPECT_EQ(burst.send(cpu), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(RouterTest, DebugAccessHasNoStreamingWidthAndNoByteEnables) {
    cpu.write<std::uint32_t>(0x4000'0010, 0xcafe);
    unusual seen(tlm::TLM_READ_COMMAND, 0x4000'0010, 4);
    seen.payload.set_streaming_width(0);
    seen.enable(1, 2);
    EXPECT_EQ(cpu.out->transport_dbg(seen.payload), 4u);
    EXPECT_EQ(seen.bytes[0], 0xfe);
    EXPECT_EQ(seen.bytes[3], 0);
    seen.payload.set_command(tlm::TLM_IGNORE_COMMAND);
    EXPECT_EQ(cpu.out->transport_dbg(seen.payload), 0u);
}

TEST(ArmedErrors, OnlyEnabledBytesOfTheStreamedRangeAreAccessed) {
    armed_errors errors(4096, [](auto) {});
    unsigned met = 0;
    const auto passes = [&](const unusual& access) {
        met = 0;
        return errors.pass(access.payload, [&](auto, auto) { ++met; });
    };
    errors.arm(memory_error::uncorrected, 32);
    const auto is_armed = [&] { return !passes(unusual(tlm::TLM_READ_COMMAND, 32, 4)); };

    unusual partial(tlm::TLM_WRITE_COMMAND, 32, 32);
    partial.enable(0, 31);
    EXPECT_TRUE(passes(partial));
    EXPECT_TRUE(is_armed()) << "a write of 31 bytes of the atom";
    unusual streamed(tlm::TLM_WRITE_COMMAND, 32, 64);
    streamed.payload.set_streaming_width(16);
    EXPECT_TRUE(passes(streamed));
    EXPECT_TRUE(is_armed()) << "a write of its first half, four times";
    EXPECT_TRUE(passes(unusual(tlm::TLM_IGNORE_COMMAND, 32, 32)));
    EXPECT_TRUE(is_armed());

    unusual beside(tlm::TLM_READ_COMMAND, 0, 64);
    beside.enable(0, 32);
    EXPECT_TRUE(passes(beside));
    EXPECT_EQ(met, 0u);
    unusual before(tlm::TLM_READ_COMMAND, 0, 64);
    before.payload.set_streaming_width(32);
    EXPECT_TRUE(passes(before));
    unusual inside(tlm::TLM_READ_COMMAND, 0, 64);
    inside.enable(40, 41);
    EXPECT_FALSE(passes(inside));
    EXPECT_EQ(met, 1u);

    unusual whole(tlm::TLM_WRITE_COMMAND, 0, 64);
    whole.enable(32, 64);
    EXPECT_TRUE(passes(whole));
    EXPECT_FALSE(is_armed());
}

TEST_F(RouterTest, RefusesRangesThatOverlap) {
    EXPECT_NE(outer.map({.base = 0x1800, .size = 8, .target_base = 0, .port = 0}), nullptr);
    EXPECT_NE(outer.map({.base = 0x0, .size = 0x1001, .target_base = 0, .port = 0}), nullptr);
    EXPECT_EQ(outer.map({.base = 0x0, .size = 0x1000, .target_base = 0, .port = 0}), nullptr);
    EXPECT_EQ(outer.ranges().size(), 3u);
}

TEST_F(RouterTest, ClipsAndTranslatesDirectMemoryPointers) {
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(cpu.request_dmi(0x4000'0800, dmi));
    EXPECT_EQ(dmi.get_start_address(), 0x4000'0000u);
    EXPECT_EQ(dmi.get_end_address(), 0x4000'0fffu);
    EXPECT_EQ(dmi.get_dmi_ptr(), b.bytes().data() + 0x1000);
    EXPECT_FALSE(cpu.request_dmi(0x3000, dmi));  // refused for the whole hole
    EXPECT_EQ(dmi.get_start_address(), 0x2000u);
    EXPECT_EQ(dmi.get_end_address(), 0x3fff'ffffu);
    EXPECT_TRUE(dmi.is_read_write_allowed());  // both are refused

    b.in->invalidate_direct_mem_ptr(0x1800, 0xffff);
    EXPECT_EQ(cpu.invalidations, 1u);
    EXPECT_EQ(cpu.invalidated_first, 0x4000'0800u);
    EXPECT_EQ(cpu.invalidated_last, 0x4000'0fffu);
}

TEST(MemoryTest, RomIsReadOnlyToGuestsButNotToTheLoader) {
    test::tlm_driver cpu{"cpu"};
    memory rom{"rom", {.size = 16, .read_only = true}};
    cpu.out.bind(rom.in);
    sc_start(SC_ZERO_TIME);
    const std::array<std::uint8_t, 4> image{1, 2, 3, 4};
    EXPECT_TRUE(rom.load(12, image));
    EXPECT_FALSE(rom.load(13, image));
    EXPECT_EQ(cpu.read(12), 0x04030201u);
    EXPECT_EQ(cpu.write<std::uint32_t>(12, 0), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(cpu.read(12), 0x04030201u);
}

TEST(MemoryTest, ReturnsTheDescriptorOfSharedMemory) {
    test::tlm_driver cpu{"cpu"};
    memory hbm{"hbm", {.size = 0x10000, .shared = true}};
    cpu.out.bind(hbm.in);
    sc_start(SC_ZERO_TIME);
    memory_descriptor asked;
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_extension(&asked);
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(cpu.out->get_direct_mem_ptr(payload, dmi));
    payload.clear_extension(&asked);
    EXPECT_EQ(asked.descriptor, hbm.bytes().descriptor());
    EXPECT_GE(asked.descriptor, 0);
    EXPECT_EQ(asked.bytes, hbm.bytes().data());
}

TEST(BackingStoreTest, SharedStoresAreAdjacentInOneFile) {
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    const auto shared = backing_store::sharing::file_descriptor;
    backing_store first{36 * gib, shared}, second{36 * gib, shared}, small{100, shared};
    EXPECT_EQ(first.descriptor(), second.descriptor());
    EXPECT_EQ(first.descriptor_offset(), 0u);
    EXPECT_EQ(second.descriptor_offset(), 64 * gib);
    EXPECT_EQ(small.descriptor_offset() % 4096, 0u);
    second.data()[5] = 7;
    EXPECT_EQ(first.resident(), 0u);
    EXPECT_EQ(second.resident(), 4096u);
    std::uint8_t byte = 0;
    EXPECT_EQ(pread(first.descriptor(), &byte, 1, static_cast<off_t>(64 * gib + 5)), 1);
    EXPECT_EQ(byte, 7);
    second.clear();
    EXPECT_EQ(second.data()[5], 0);
}

TEST(BackingStoreTest, SharedFileCannotBeMadeShorterByItsReaders) {
    const auto shared = backing_store::sharing::file_descriptor;
    const backing_store first{4096, shared, "sealed"};
    EXPECT_EQ(ftruncate(first.descriptor(), 0), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(fcntl(first.descriptor(), F_ADD_SEALS, F_SEAL_GROW), -1);
    EXPECT_EQ(ftruncate(first.descriptor(), 1 << 20), 0);  // harmless
    const backing_store second{4096, shared, "sealed"};
    EXPECT_EQ(second.data()[0], 0);
}

TEST(BackingStoreTest, EachGroupHasItsOwnFile) {
    const auto shared = backing_store::sharing::file_descriptor;
    backing_store mine{1 << 20, shared, "chip0"}, theirs{1 << 20, shared, "chip1"};
    backing_store also_mine{1 << 20, shared, "chip0"};
    EXPECT_NE(mine.descriptor(), theirs.descriptor());
    EXPECT_EQ(theirs.descriptor_offset(), 0u);
    EXPECT_EQ(also_mine.descriptor(), mine.descriptor());
    EXPECT_EQ(also_mine.descriptor_offset(), 1u << 20);
    mine.data()[5] = 7;
    EXPECT_EQ(theirs.resident(), 0u);
    EXPECT_EQ(theirs.data()[5], 0);
}

TEST(BackingStoreTest, StoresOfOneContentKeepTheirOwnWrites) {
    const std::vector<std::uint8_t> bytes(1 << 20, 0xff);
    const auto content = std::make_shared<const initial_content>(bytes);
    backing_store mine{content}, theirs{content};
    EXPECT_EQ(mine.size(), bytes.size());
    EXPECT_EQ(mine.resident(), 0u);
    EXPECT_FALSE(mine.untouched(mine.data(), mine.size()));  // not all zero
    mine.data()[5] = 7;
    EXPECT_EQ(theirs.data()[5], 0xff);
    EXPECT_EQ(theirs.data()[(1 << 20) - 1], 0xff);
    mine.clear();
    EXPECT_EQ(mine.data()[5], 0xff);
}

TEST(BackingStoreTest, ContentIsPartOfAStore) {
    const std::vector<std::uint8_t> bytes(70'000, 0xff);
    const auto content = std::make_shared<const initial_content>(bytes);
    backing_store store{1 << 20};
    store.data()[69'999 + 65536] = 3;
    store.show(65536, content);
    EXPECT_EQ(store.data()[65535], 0);
    EXPECT_EQ(store.data()[65536], 0xff);
    EXPECT_EQ(store.data()[65536 + 69'999], 0xff);
    EXPECT_EQ(store.data()[65536 + 70'000], 0);
    EXPECT_FALSE(store.untouched(store.data() + 100'000, 65536));
    EXPECT_TRUE(store.untouched(store.data() + 262'144, 65536));
    store.data()[65536] = 7;
    store.data()[0] = 7;
    store.clear();
    EXPECT_EQ(store.data()[65536], 0xff);
    EXPECT_EQ(store.data()[0], 0);
}

TEST(BackingStoreTest, PagesThatAreZeroAgainGoBackToTheHost) {
    const auto content =
        std::make_shared<const initial_content>(std::vector<std::uint8_t>(8192, 0xff));
    backing_store store{(1 << 20) + 100};
    store.show(65536, content);
    std::memset(store.data(), 5, 65536 + 4096);
    std::memset(store.data() + 4096, 0, 3 * 4096);
    std::memset(store.data() + 65536, 0, 4096);  // differs from the content
    store.data()[1 << 20] = 5;
    store.data()[1 << 20] = 0;
    const auto before = store.resident();
    store.release_zeroes();
    EXPECT_EQ(store.resident(), before - 4 * 4096u);
    EXPECT_EQ(store.data()[4095], 5);
    EXPECT_EQ(store.data()[4096], 0);
    EXPECT_EQ(store.data()[4 * 4096], 5);
    EXPECT_EQ(store.data()[65536], 0);
    EXPECT_EQ(store.data()[65536 + 4096], 0xff);
    store.release_zeroes();
}

/// Kernel mappings in which these stores begin.
std::size_t mappings_of(const std::vector<std::unique_ptr<backing_store>>& all) {
    std::set<std::string> found;
    std::ifstream mappings("/proc/self/maps");
    for (std::string line; std::getline(mappings, line);) {
        std::uint64_t first = 0, end = 0;
        char minus = 0;
        std::istringstream(line) >> std::hex >> first >> minus >> end;
        for (const auto& store : all)
            if (const auto at = reinterpret_cast<std::uint64_t>(store->data());
                at >= first && at < end)
                found.insert(line);
    }
    return found.size();
}

TEST(BackingStoreTest, StoresWithContentDoNotDivideTheMappingsOfOthers) {
    const auto content =
        std::make_shared<const initial_content>(std::vector<std::uint8_t>(1 << 20, 0xff));
    std::vector<std::unique_ptr<backing_store>> empty, filled;
    for (int n = 0; n < 64; ++n) {
        empty.push_back(std::make_unique<backing_store>(1 << 20));
        filled.push_back(std::make_unique<backing_store>(content));
        EXPECT_EQ(filled.back()->data()[(1 << 20) - 1], 0xff);
    }
    EXPECT_EQ(mappings_of(filled), filled.size());
    // Few: stores may fill gaps between mappings of the allocator, of which a sanitizer has more.
    EXPECT_LE(mappings_of(empty), empty.size() / 4);
}

class BackingStoreZeroes : public testing::TestWithParam<backing_store::sharing> {};

TEST_P(BackingStoreZeroes, CopiesOfUntouchedMemoryAllocateNothing) {
    backing_store store{1 << 20, GetParam()};
    EXPECT_TRUE(store.untouched(store.data(), store.size()));
    EXPECT_TRUE(copied_as_zeroes(store.data() + (512 << 10), store.data(), 256 << 10));
    EXPECT_EQ(store.resident(), 0u);
}

TEST_P(BackingStoreZeroes, OnlyLargeWritesProvideBlocksAndOnlyOfPrivateStores) {
    backing_store store{1 << 20, GetParam()};
    provide_pages(store.data() + 5, 4096);
    EXPECT_EQ(store.resident(), 0u);
    provide_pages(store.data() + 65536 + 100, 65536);  // in two blocks
    const bool shared = GetParam() == backing_store::sharing::file_descriptor;
    EXPECT_EQ(store.resident(), shared ? 0u : 131072u);
    EXPECT_TRUE(store.untouched(store.data(), 65536));
    EXPECT_EQ(store.untouched(store.data() + 65536, 4096), shared);
    EXPECT_EQ(std::count(store.data(), store.data() + store.size(), 0), 1 << 20);
}

TEST(BackingStoreTest, ProvidedPagesEndWithTheStoreAndLeaveWithItsContent) {
    backing_store store{65536 + 4096};
    store.data()[65536] = 1;
    provide_pages(store.data() + 40'000, 29'000);
    EXPECT_EQ(store.data()[65536], 1);
    EXPECT_EQ(store.resident(), 65536u + 4096);
    store.clear();
    EXPECT_EQ(store.resident(), 0u);
    provide_pages(store.data() + 40'000, 29'000);  // needed again
    EXPECT_EQ(store.resident(), 65536u + 4096);
}

TEST(BackingStoreTest, BlocksKnownToBeInUseAreCountedUntilTheyAreCleared) {
    const auto before = backing_store::known_in_use();
    {
        backing_store store{1 << 20}, other{1 << 20};
        EXPECT_EQ(backing_store::known_in_use(), before);
        provide_pages(store.data() + 65536 + 100, 65536);
        provide_pages(store.data() + 65536, 65536);  // counted already
        other.data()[0] = 1;
        EXPECT_FALSE(other.untouched(other.data(), 65536));
        EXPECT_EQ(backing_store::known_in_use(), before + 3 * 65536);
        store.clear();
        EXPECT_EQ(backing_store::known_in_use(), before + 65536);
    }
    EXPECT_EQ(backing_store::known_in_use(), before);
}

TEST(StreamingCopy, CopiesExactlyTheBytesOfAnyAlignment) {
    constexpr std::size_t most = 4096, margin = 64;
    std::vector<std::uint8_t> from(most + 2 * margin);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i * 7 + 1);
    for (const std::size_t size : {0, 1, 63, 64, 65, 127, 128, 191, 1000, 4095, 4096})
        for (std::size_t shift = 0; shift < margin; shift += 7)
            for (const std::size_t skew : {0, 1, 32, 63}) {
                std::vector<std::uint8_t> to(most + 3 * margin, 0xee), expected = to;
                std::copy_n(from.data() + skew, size, expected.data() + margin + shift);
                streaming_copy(to.data() + margin + shift, from.data() + skew, size);
                EXPECT_EQ(to, expected) << size << " bytes, offsets " << shift << ", " << skew;
            }
}

TEST_P(BackingStoreZeroes, ZeroesOverwriteOldContent) {
    backing_store store{1 << 20, GetParam()};
    std::memset(store.data() + 100'000, 0x5a, 50'000);
    EXPECT_TRUE(copied_as_zeroes(store.data() + 90'000, store.data() + (512 << 10), 65536));
    EXPECT_EQ(std::count(store.data(), store.data() + 150'000, 0), 150'000);
}

TEST_P(BackingStoreZeroes, ZeroesFromOutsideLeaveUntouchedMemoryUnallocated) {
    backing_store store{1 << 20, GetParam()};
    const std::vector<std::uint8_t> zeroes(65536);
    EXPECT_TRUE(copied_as_zeroes(store.data() + 7, zeroes.data(), zeroes.size()));
    EXPECT_EQ(store.resident(), 0u);
}

TEST_P(BackingStoreZeroes, BlockWithOneNonZeroByteIsNotZero) {
    backing_store store{1 << 20, GetParam()};
    std::vector<std::uint8_t> nearly(65536);
    nearly.back() = 1;
    EXPECT_FALSE(copied_as_zeroes(store.data(), nearly.data(), nearly.size()));
    store.data()[70'000] = 1;
    EXPECT_FALSE(copied_as_zeroes(store.data() + (512 << 10), store.data() + 65536, 65536));
    EXPECT_FALSE(store.untouched(store.data() + 65536, 65536));
    EXPECT_FALSE(store.untouched(store.data() + 65536, 4096));  // tracked per block
    EXPECT_TRUE(store.untouched(store.data() + 2 * 65536, 65536));
}

TEST_P(BackingStoreZeroes, ZeroesAreWrittenToMemoryInUse) {
    backing_store store{1 << 20, GetParam()};
    std::memset(store.data(), 0x5a, store.size());
    const std::vector<std::uint8_t> zeroes(65536);
    EXPECT_FALSE(copied_as_zeroes(store.data(), zeroes.data(), zeroes.size()));
}

INSTANTIATE_TEST_SUITE_P(OfBothKinds, BackingStoreZeroes,
                         testing::Values(backing_store::sharing::private_pages,
                                         backing_store::sharing::file_descriptor),
                         [](const auto& kind) {
                             return kind.param == backing_store::sharing::private_pages ? "Private"
                                                                                        : "Shared";
                         });

TEST(MemoryTest, AllocatesNothingUntilTouched) {
    memory hbm{"hbm", {.size = std::uint64_t{36} << 30}};
    EXPECT_EQ(hbm.bytes().size(), std::uint64_t{36} << 30);
    backing_store small{1 << 20};
    EXPECT_EQ(small.resident(), 0u);
    small.data()[5000] = 1;
    EXPECT_EQ(small.resident(), 4096u);
    backing_store shared{1 << 20, backing_store::sharing::file_descriptor};
    EXPECT_EQ(shared.resident(), 0u);
    shared.data()[5000] = 1;
    EXPECT_EQ(shared.resident(), 4096u);
    shared.clear();
    EXPECT_EQ(shared.data()[5000], 0);
}

TEST(BandwidthResourceTest, QueuesTransfersOneAfterAnother) {
    bandwidth_resource link({.bytes_per_second = 1'000'000'000, .latency = sc_time(50, SC_NS)});
    sc_time first = SC_ZERO_TIME, second = SC_ZERO_TIME;
    link.transfer(100, first);   // 100 ns on the wire + 50 ns
    link.transfer(100, second);  // waits for the first, latency overlaps
    EXPECT_EQ(first, sc_time(150, SC_NS));
    EXPECT_EQ(second, sc_time(250, SC_NS));
    sc_time later = sc_time(1000, SC_NS);
    link.transfer(1, later);
    EXPECT_EQ(later, sc_time(1051, SC_NS));
    EXPECT_EQ(link.busy(), sc_time(201, SC_NS));
    EXPECT_EQ(link.bytes(), 201u);
}

/// 1 byte takes 1 ns. Times in nanoseconds.
struct BandwidthGaps : testing::Test {
    bandwidth_resource link{{.bytes_per_second = 1'000'000'000, .latency = SC_ZERO_TIME}};
    double reserve(std::uint64_t bytes, double start) {
        return link.reserve(bytes, sc_time(start, SC_NS)) / sc_time(1, SC_NS);
    }
};

TEST_F(BandwidthGaps, InitiatorThatIsAheadDoesNotDelayEarlierTransfers) {
    EXPECT_EQ(reserve(10, 5000), 5010);  // by a hart, 5 us ahead
    EXPECT_EQ(reserve(1000, 0), 1000);   // DMA at the present
    EXPECT_EQ(reserve(1000, 0), 2000);
    EXPECT_EQ(reserve(10, 5000), 5020);
}

TEST_F(BandwidthGaps, TransferLongerThanAGapContinuesAfterTheReservation) {
    reserve(10, 100);
    reserve(10, 200);
    EXPECT_EQ(reserve(250, 50), 320) << "50 ns, 90 ns, and 110 ns after both reservations";
    EXPECT_EQ(reserve(50, 0), 50) << "the part before its start was left free";
    EXPECT_EQ(reserve(1, 0), 321);
}

TEST_F(BandwidthGaps, GapEndsExactlyWithTheTransfer) {
    reserve(10, 100);
    EXPECT_EQ(reserve(100, 0), 100);
    EXPECT_EQ(reserve(1, 0), 111);
}

TEST_F(BandwidthGaps, NoCapacityIsLostOrUsedTwice) {
    for (int n = 1; n <= 100; ++n) reserve(10, n * 100);  // more gaps than the resource remembers
    constexpr unsigned unused = 100 + 99 * 90;
    EXPECT_EQ(reserve(unused - 1, 0), 9999);
    EXPECT_EQ(reserve(1, 0), 10'000);
    EXPECT_EQ(reserve(1, 0), 10'011) << "after the last reservation";
    EXPECT_EQ(link.busy(), sc_time(100 * 10 + unused + 1, SC_NS));
}

/// All free time of a resource, in nanoseconds.
class exact_resource {
public:
    unsigned reserve(unsigned bytes, unsigned start) {
        unsigned end = start;
        for (unsigned left = bytes; left > 0; ++end) {
            if (end == used_.size()) used_.push_back(false);
            if (used_[end]) continue;
            used_[end] = true;
            --left;
        }
        return end;
    }

private:
    std::vector<bool> used_ = std::vector<bool>(20'000);
};

TEST_F(BandwidthGaps, BytesAreNotEarlyWithMoreGapsThanAreKept) {
    std::mt19937 random(7);
    const auto draw = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
    for (unsigned round = 0; round < 200; ++round) {
        bandwidth_resource resource{{.bytes_per_second = 1'000'000'000, .latency = SC_ZERO_TIME}};
        exact_resource exact;
        unsigned ahead = 0;
        for (unsigned n = 0; n < 200; ++n) {
            const unsigned bytes = 1 + draw(30);
            const bool is_ahead = draw(3) != 0;
            const unsigned start = is_ahead ? ahead : draw(1 + ahead);
            const auto end = resource.reserve(bytes, sc_time(start, SC_NS));
            ASSERT_GE(end, sc_time(exact.reserve(bytes, start), SC_NS)) << round << ' ' << n;
            if (is_ahead) ahead = start + draw(100);
        }
    }
}

TEST_F(BandwidthGaps, BytesInAJoinedGapAreLateByItsReservationsAtMost) {
    for (int n = 1; n <= 9; ++n) reserve(n == 5 ? 5 : 10, n * 100);  // one gap before 500 and after
    EXPECT_EQ(reserve(50, 450), 505) << "free from 450 to 500";
    EXPECT_EQ(reserve(20, 360), 380);
}

TEST_F(BandwidthGaps, PastIsNotFree) {
    reserve(10, 100);
    sc_start(sc_time(90, SC_NS));
    EXPECT_EQ(reserve(5, 90), 95);
    EXPECT_EQ(reserve(10, 90), 115);
}

TEST_F(BandwidthGaps, HoldLeavesNoGapBeforeItsEnd) {
    reserve(10, 100);
    link.hold_until(sc_time(500, SC_NS));
    EXPECT_EQ(reserve(10, 0), 510);
}

TEST(BandwidthResourceTest, TakesNoTimeInFunctionalMode) {
    set_timing(timing_mode::functional);
    bandwidth_resource link({.bytes_per_second = 1, .latency = sc_time(50, SC_NS)});
    sc_time delay = sc_time(7, SC_NS);
    link.transfer(1'000'000, delay);
    EXPECT_EQ(delay, sc_time(7, SC_NS));
    EXPECT_EQ(link.bytes(), 1'000'000u);
}

TEST(IrqTest, LineIsHighWhileAnyOutputDrivesIt) {
    std::vector<std::pair<unsigned, bool>> received;
    irq_in in{"in", 4, [&](unsigned line, bool level) { received.emplace_back(line, level); }};
    irq_out one{"one"}, two{"two"};
    EXPECT_FALSE(one.bound());
    one.bind(in, 2);
    two.bind(in, 2);
    one.set(true);
    one.set(true);
    two.set(true);
    one.set(false);
    EXPECT_TRUE(in.level(2));
    two.set(false);
    EXPECT_FALSE(in.level(2));
    EXPECT_EQ(received, (std::vector<std::pair<unsigned, bool>>{{2, true}, {2, false}}));
}

/// Records the edges of a line with their times in nanoseconds.
struct DelayedIrqTest : testing::Test {
    using edges = std::vector<std::pair<double, bool>>;
    irq_out line{"line"};
    edges seen;
    irq_in in{"in", 1, [this](unsigned, bool level) {
                  seen.emplace_back(sc_core::sc_time_stamp() / sc_time(1, SC_NS), level);
              }};

    DelayedIrqTest() {
        line.bind(in);
        sc_start(SC_ZERO_TIME);
    }
    static sc_time ns(double time) { return {time, SC_NS}; }
};

TEST_F(DelayedIrqTest, LineChangesAtTheAnnotatedTime) {
    const auto scheduled = irq_out::scheduled();
    line.set(true, ns(30));
    EXPECT_FALSE(line.level());
    EXPECT_TRUE(line.next_level());
    line.set(true, ns(10));  // it is going to be high already
    EXPECT_EQ(irq_out::scheduled(), scheduled + 1);
    sc_start(ns(100));
    EXPECT_EQ(seen, (edges{{30, true}}));
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(DelayedIrqTest, WithoutDelayNothingIsScheduled) {
    const auto scheduled = irq_out::scheduled();
    line.set(true);
    EXPECT_EQ(seen, (edges{{0, true}}));
    line.pulse();
    EXPECT_FALSE(line.level());
    EXPECT_EQ(irq_out::scheduled(), scheduled);
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(DelayedIrqTest, ChangesKeepTheOrderOfTheirCalls) {
    line.set(true, ns(30));   // by a hart that is ahead
    line.set(false, ns(10));  // by one that is less so, which has seen the first one's registers
    line.set(true);           // by an event of the device
    sc_start(ns(100));
    EXPECT_EQ(seen, (edges{{30, true}, {30, false}, {30, true}}));
}

TEST_F(DelayedIrqTest, ChangesOfSeveralLinesAreInTheOrderOfTime) {
    irq_out late{"late"}, early{"early"};
    std::vector<std::string> order;
    irq_in late_in{"late_in", 1, [&](unsigned, bool) { order.emplace_back("late"); }};
    irq_in early_in{"early_in", 1, [&](unsigned, bool) { order.emplace_back("early"); }};
    late.bind(late_in);
    early.bind(early_in);
    late.set(true, ns(30));
    early.set(true, ns(20));
    line.set(true, ns(30));
    sc_start(ns(100));
    EXPECT_EQ(order, (std::vector<std::string>{"early", "late"}));
    EXPECT_EQ(seen, (edges{{30, true}}));
}

TEST_F(DelayedIrqTest, ResetCancelsChangesToCome) {
    line.set(true, ns(30));
    line.set(false, ns(40));
    line.cancel();
    EXPECT_FALSE(line.next_level());
    line.set(true);
    line.set(false);
    line.set(true, ns(20));
    line.cancel();
    EXPECT_FALSE(line.next_level());
    sc_start(ns(100));
    EXPECT_EQ(seen, (edges{{0, true}, {0, false}}));
}

TEST_F(DelayedIrqTest, FallOfAHighLineIsImmediate) {
    line.set(true);
    line.set(false, ns(20));  // by a hart that waits for an interrupt next
    EXPECT_FALSE(line.level());
    sc_start(ns(100));
    EXPECT_EQ(seen, (edges{{0, true}, {0, false}}));
}

TEST_F(DelayedIrqTest, SinkMayChangeAndCancelLines) {
    irq_out answer{"answer"}, dropped{"dropped"};
    irq_in watcher{"watcher", 1, [&](unsigned, bool level) {
                       dropped.cancel();
                       answer.set(level, ns(5));
                   }};
    line.bind(watcher);
    irq_in answers{"answers", 1, [&](unsigned, bool level) {
                       seen.emplace_back(sc_core::sc_time_stamp() / ns(1), level);
                   }};
    answer.bind(answers);
    dropped.bind(answers);
    line.set(true, ns(10));
    dropped.set(true, ns(10));
    sc_start(ns(100));
    EXPECT_EQ(seen, (edges{{10, true}, {15, true}}));
}

TEST_F(DelayedIrqTest, LineThatEndsTakesItsChangesAlong) {
    {
        irq_out other{"other"};
        other.bind(in);
        other.set(true, ns(10));
    }
    sc_start(ns(100));
    EXPECT_TRUE(seen.empty());
}

}  // namespace

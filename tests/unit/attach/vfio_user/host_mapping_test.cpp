// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/host_mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/memfd.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <system_error>

#include "platform/framework/unique_fd.h"

namespace trn {
namespace {

/// User-mode processor time of this process, in seconds.
double user_time() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_utime.tv_sec) +
           static_cast<double>(used.ru_utime.tv_usec) / 1e6;
}

TEST(HostMapping, TimePerMappingDoesNotGrowWithTheirNumber) {
    constexpr std::size_t count = 45'000;  // the kernel's default allows 49,147
    const unique_fd file(memfd_create("pages", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(file.get(), 4096), 0);
    const auto begin = user_time();
    std::deque<host_mapping> all;
    for (std::size_t n = 0; n < count; ++n) all.emplace_back(file.get(), 0, 4096, true);
    while (!all.empty()) all.pop_front();
    EXPECT_LT(user_time() - begin, 1.2);
}

std::uint64_t count_of(int event) {
    std::uint64_t count = 0;
    return read(event, &count, sizeof count) == sizeof count ? count : 0;
}

int refusal(int file, std::uint64_t offset, std::uint64_t size) {
    try {
        const host_mapping mapping(file, offset, size, true);
    } catch (const mapping_refused&) {
        return EINVAL;
    } catch (const std::system_error& failed) {
        return failed.code().value();
    }
    return 0;
}

TEST(HostMapping, AccessBeyondATruncatedFileLosesTheRange) {
    constexpr std::uint64_t size = std::uint64_t{1} << 30;
    const unique_fd file(memfd_create("shrinks", MFD_CLOEXEC));
    const unique_fd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    ASSERT_EQ(ftruncate(file.get(), size), 0);
    const host_mapping mapping(file.get(), 0, size, true, event.get());
    volatile std::uint8_t* const bytes = mapping.bytes();
    bytes[0] = 7;
    ASSERT_EQ(ftruncate(file.get(), 4096), 0);
    EXPECT_EQ(bytes[0], 7);
    EXPECT_FALSE(mapping.lost());
    EXPECT_EQ(bytes[4096], 0);
    EXPECT_TRUE(mapping.lost());
    EXPECT_EQ(bytes[0], 0);
    // Every other page: more areas than the kernel allows if each was replaced alone.
    for (std::uint64_t at = 8192; at < size; at += 8192) ASSERT_EQ(bytes[at], 0);
    bytes[8192] = 1;
    EXPECT_EQ(bytes[8192], 1);
    EXPECT_EQ(count_of(event.get()), 1u);
    std::uint8_t first = 0;
    ASSERT_EQ(pread(file.get(), &first, 1, 0), 1);
    EXPECT_EQ(first, 7);
}

TEST(HostMapping, MissingHugePagesLoseTheRange) {
    constexpr std::uint64_t huge = 2 << 20;
    const unique_fd file(memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB | 21u << MFD_HUGE_SHIFT));
    if (file.get() < 0) GTEST_SKIP() << "no huge pages in this kernel";
    constexpr std::uint64_t many = 1 << 14;  // 32 GiB: more than there are
    ASSERT_EQ(ftruncate(file.get(), many * huge), 0);
    EXPECT_EQ(refusal(file.get(), 4096, huge), EINVAL);
    {
        // The last huge page is used in part, and unmapped whole.
        const host_mapping mapping(file.get(), 0, (many - 1) * huge + 4096, true);
        volatile std::uint8_t* const bytes = mapping.bytes();
        for (std::uint64_t page = 0; page < many && !mapping.lost(); ++page)
            ASSERT_EQ(bytes[page * huge], 0);
        EXPECT_TRUE(mapping.lost());
        EXPECT_EQ(bytes[huge + 4096], 0);
    }
    EXPECT_EQ(refusal(file.get(), 0, huge), 0);
}

TEST(HostMapping, OtherBusErrorsEndTheProcess) {
    const unique_fd file(memfd_create("pages", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(file.get(), 8192), 0);
    const host_mapping mapped(file.get(), 0, 4096, true);
    auto* const other = static_cast<volatile std::uint8_t*>(
        mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    ASSERT_EQ(ftruncate(file.get(), 0), 0);
    EXPECT_EXIT(other[0] = 1, testing::KilledBySignal(SIGBUS), "");
    EXPECT_EXIT(raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
    mapped.bytes()[0] = 1;
    EXPECT_TRUE(mapped.lost());
    EXPECT_EXIT(other[4096] = 1, testing::KilledBySignal(SIGBUS), "");
}

TEST(HostMapping, RefusesWhatTheFileDoesNotHave) {
    const unique_fd file(memfd_create("file", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(file.get(), 8192), 0);
    EXPECT_EQ(refusal(file.get(), 0, 8192), 0);
    EXPECT_EQ(refusal(file.get(), 0, 0), EINVAL);
    EXPECT_EQ(refusal(file.get(), 0, 8193), EINVAL);
    EXPECT_EQ(refusal(file.get(), 4096, 8192), EINVAL);
    EXPECT_EQ(refusal(file.get(), 12288, 4096), EINVAL);
    EXPECT_EQ(refusal(file.get(), 100, 4096), EINVAL);
    EXPECT_EQ(refusal(file.get(), ~std::uint64_t{0}, 4096), EINVAL);
    EXPECT_EQ(refusal(file.get(), 4096, ~std::uint64_t{0} - 4095), EINVAL);
    const unique_fd folder(open("/tmp", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(refusal(folder.get(), 0, 4096), EINVAL);
}

TEST(HostMapping, LeavesAreasAndAddressesToTheSimulator) {
    const unique_fd file(memfd_create("large", MFD_CLOEXEC));
    constexpr std::uint64_t size = std::uint64_t{1} << 42;
    ASSERT_EQ(ftruncate(file.get(), size), 0);
    std::deque<host_mapping> all;
    for (std::uint64_t n = 0; n < host_mapping::max_bytes / size; ++n)
        all.emplace_back(file.get(), 0, size, true);
    EXPECT_EQ(refusal(file.get(), 0, 4096), ENOSPC);
    all.clear();
    for (std::size_t n = 0; n < host_mapping::max_mappings(); ++n)
        all.emplace_back(file.get(), 0, 4096, true);
    EXPECT_EQ(refusal(file.get(), 0, 4096), ENOSPC);
    all.pop_back();
    EXPECT_EQ(refusal(file.get(), 0, 4096), 0);
}

}  // namespace
}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/host_mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <deque>

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
    constexpr std::size_t count = 60'000;  // the kernel allows 65,530
    const unique_fd file(memfd_create("pages", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(file.get(), 4096), 0);
    const auto begin = user_time();
    std::deque<host_mapping> all;
    for (std::size_t n = 0; n < count; ++n) all.emplace_back(file.get(), 0, 4096, true);
    while (!all.empty()) all.pop_front();
    EXPECT_LT(user_time() - begin, 1.5);
}

}  // namespace
}  // namespace trn

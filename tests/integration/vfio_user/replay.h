// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/driver_trace.h"
#include "tests/support/vfio_user_peer.h"

namespace trn::test {

/// Sends every request of a recorded driver; all must succeed. With `like_ram`, registers read the
/// last value written, as in the recording's prototype.
inline void replay(const std::string& trace, const std::string& path, bool like_ram) {
    using kind = driver_request::kind;
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    raw_peer driver(path);
    ASSERT_TRUE(driver.hello().ok());
    const int ram = memfd_create("guest", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(ram, off_t{4} << 30), 0);
    std::map<u64, u64> written;
    unsigned accesses = 0;
    for (const auto& at : read_driver_trace("tests/data/driver-traces/" + trace)) {
        const auto size = static_cast<u32>(at.size);
        switch (at.operation) {
        case kind::read: {
            const auto reply = driver.request(9, packed(at.offset, at.region, size));
            ASSERT_TRUE(reply.ok()) << "read " << at.region << ":" << at.offset;
            if (at.region == 0 && like_ram) {
                EXPECT_EQ(reply.at<u32>(16), written[at.offset]);
            }
            ++accesses;
            break;
        }
        case kind::write: {
            auto message = packed(at.offset, at.region, size, at.value);
            message.resize(16 + size);
            ASSERT_TRUE(driver.request(10, message).ok())
                << "write " << at.region << ":" << at.offset;
            if (at.region == 0) written[at.offset] = at.value;
            ++accesses;
            break;
        }
        case kind::map:
            ASSERT_TRUE(driver
                            .request(2,
                                     packed(u32{32}, u32{at.flags}, at.in_file, at.offset, at.size),
                                     at.descriptor ? std::vector<int>{ram} : std::vector<int>{})
                            .ok())
                << "map " << at.offset;
            break;
        case kind::unmap:
            ASSERT_TRUE(driver.request(3, packed(u32{24}, u32{0}, at.offset, at.size)).ok());
            break;
        case kind::reset:
            ASSERT_TRUE(driver.request(13, {}).ok());
            break;
        }
    }
    EXPECT_GT(accesses, 19'000u);
    close(ram);
}

}  // namespace trn::test

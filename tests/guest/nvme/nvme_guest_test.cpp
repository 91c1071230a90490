// SPDX-License-Identifier: Apache-2.0
// A Linux guest with an NVMe disk and no chip: the driver that is built into Debian's cloud kernel,
// fio and e2fsprogs as platform/app/guest/get_nvme.sh unpacks them. Skipped where these are not
// available.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/guest/tooled_guest.h"
#include "tests/support/program.h"

namespace trn::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class NvmeGuest : public tooled_guest {
protected:
    NvmeGuest() : tooled_guest("nvme", "nvme/root", "disk tools") {}
    ended start(const std::string& script, const std::string& options = {}) {
        return run(std::string(TRNVP) + " guest tests/guest/nvme/nvme_disk.yaml" + running(script) +
                   options + " </dev/null");
    }
};

TEST_F(NvmeGuest, FioVerifiesWhatItWrote) {
    const auto how = start(R"sh(verified() {
    fio --name=v --filename=/dev/nvme0n1 --direct=1 --verify=crc32c --minimal "$@" >/tmp/log 2>&1 || {
        cat /tmp/log; exit 1; }
}
verified --rw=randwrite --bsrange=512-256k --blockalign=512 --size=24m --ioengine=psync
verified --rw=randrw --bs=4k --offset=64m --size=4m --ioengine=libaio --iodepth=32
dmesg | grep nvme0
cat /sys/block/nvme0n1/queue/write_cache
)sh");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("default/read/poll queues"));
    EXPECT_THAT(how.output, HasSubstr("write back"));
    EXPECT_THAT(how.output, Not(HasSubstr("I/O")));
}

TEST_F(NvmeGuest, FileSystemInAnImageLastsOverTwoRuns) {
    const auto image = "--set image=" + (folder / "disk.img");
    const auto first = start(R"sh(mkfs.ext4 -q /dev/nvme0n1 && mkdir /mnt || exit 1
mount -t ext4 -o discard /dev/nvme0n1 /mnt || exit 2
dd if=/dev/urandom of=/mnt/gone bs=1M count=8 2>/dev/null
echo kept over runs >/mnt/kept
rm /mnt/gone && fstrim /mnt && umount /mnt || exit 3
)sh",
                             image);
    ASSERT_EQ(first.status, 0) << first.output;
    const auto second = start(R"sh(fsck.ext4 -f -n /dev/nvme0n1 || exit 1
mkdir /mnt && mount -t ext4 /dev/nvme0n1 /mnt || exit 2
cat /mnt/kept
)sh",
                              image);
    ASSERT_EQ(second.status, 0) << second.output;
    EXPECT_THAT(second.output, HasSubstr("kept over runs"));
}

TEST_F(NvmeGuest, ImageOfAnotherSizeIsRefused) {
    std::ofstream(folder / "disk.img") << "short";
    const auto how = start("true\n", "--set image=" + (folder / "disk.img"));
    EXPECT_EQ(how.status, 2) << how.output;
    EXPECT_THAT(how.output, HasSubstr("has 5 bytes, the disk 268435456"));
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
// A Linux guest with an NVMe disk and no chip: the driver built into Debian's cloud kernel, fio and
// e2fsprogs as unpacked by platform/app/guest/get_nvme.sh. Skipped if these are not available.
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
    /// Shell command that starts a guest.
    std::string command(const std::string& script, const std::string& options) const {
        return std::string(TRNVP) + " guest tests/guest/nvme/nvme_disk.yaml" + running(script) +
               options + " </dev/null";
    }
    ended start(const std::string& script, const std::string& options = {}) {
        return run(command(script, options));
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

/// The driver logs each fault, and fio verifies data during recovery.
TEST_F(NvmeGuest, DriverRecoversFromFaultsOfTheDisk) {
    const auto start =
        command(seen + std::string(R"sh(verified() {
    fio --name=v --filename=/dev/nvme0n1 --direct=1 --verify=crc32c --ioengine=libaio --iodepth=8 \
        --bs=4k --minimal "$@" >/tmp/log 2>&1 || { cat /tmp/log; dmesg | tail; exit 1; }
}
# Verifies until the kernel has said it.
verified_until() {
    for try in $(seq 60); do
        verified --rw=randrw --size=1m --offset=32m
        dmesg | grep -q "$1" && return 0
    done
    echo "no message: $1"; dmesg | tail -n 20; exit 9
}
good() { dd if=/dev/nvme0n1 of=/dev/null bs=4096 skip=1000 count=1 iflag=direct 2>/dev/null; }
good || exit 2
echo ready for a media error
for try in $(seq 100); do good || break; sleep 0.2; done
good && exit 3
seen 'critical medium error, dev nvme0n1, sector 8000'
verified --rw=write --offset=4000k --size=64k
good || exit 4
dmesg -c >/dev/null
echo ready for a lost command
verified_until 'timeout, aborting'
seen 'Abort status: 0x0'
dmesg -c >/dev/null
echo ready for a lost interrupt
verified_until 'timeout, completion polled'
dmesg -c >/dev/null
echo ready for a stuck command
verified_until 'timeout, reset controller'
dmesg -c >/dev/null
echo ready for a lost completion
verified_until 'timeout, reset controller'
dmesg -c >/dev/null
echo ready for a fatal error
verified_until 'controller is down; will reset'
verified --rw=randwrite --offset=64m --size=4m
echo recovered
)sh"),
                "--listen " + (folder / "") + " --append 'loglevel=7 nvme_core.io_timeout=2'");
    const std::string disk = "disk.engine";
    const auto how = run_with_faults(
        start, {{"ready for a media error", disk, "media_error", ", block=8000, blocks=8"},
                {"ready for a lost command", disk, "lost_command"},
                // The faults affect all commands in flight: a completed one would reveal the lost
                // ones.
                {"ready for a lost interrupt", "disk.pcie", "lost_interrupt", ", count=8"},
                {"ready for a stuck command", disk, "stuck_command"},
                {"ready for a lost completion", disk, "lost_completion"},
                {"ready for a fatal error", disk, "fatal_error"}});
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("\nrecovered"));
}

/// The kernel's drivers receive errors of the function, and the events of its slot.
TEST_F(NvmeGuest, BusErrorIsRecoveredAndAPulledDiskReturns) {
    const auto start = command(
        seen +
            std::string(
                R"sh(good() { dd if=/dev/nvme0n1 of=/dev/null bs=4096 count=1 iflag=direct 2>/dev/null; }
good || exit 2
echo ready for a lost completion
error='nvme 0000:01:00.0: PCIe Bus Error'
for try in $(seq 200); do dmesg | grep -q "$error" && break; good; sleep 0.3; done
seen "$error"
seen 'CmpltTO'
seen 'device recovery successful'
good || exit 3
dmesg -c >/dev/null
echo ready without a disk
seen 'Powering off due to button press\|will power off'
for try in $(seq 100); do [ -e /sys/block/nvme0n1 ] || break; sleep 0.3; done
[ -e /sys/block/nvme0n1 ] && exit 4
echo ready for a disk
seen 'Link Up'
for try in $(seq 100); do [ -b /dev/nvme0n1 ] && good && exit 0; sleep 0.3; done
exit 5
)sh"),
        "--listen " + (folder / "") + " --append 'loglevel=7 nvme_core.io_timeout=2'");
    const auto how =
        run_with_faults(start, {{"ready for a lost completion", "host", "lost_completion"},
                                {"ready without a disk", "host", "card_removed"},
                                {"ready for a disk", "host", "card_inserted"}});
    EXPECT_EQ(how.status, 0) << how.output;
}

TEST_F(NvmeGuest, ImageOfAnotherSizeIsRefused) {
    std::ofstream(folder / "disk.img") << "short";
    const auto how = start("true\n", "--set image=" + (folder / "disk.img"));
    EXPECT_EQ(how.status, 2) << how.output;
    EXPECT_THAT(how.output, HasSubstr("has 5 bytes, the disk 268435456"));
}

}  // namespace
}  // namespace trn::test

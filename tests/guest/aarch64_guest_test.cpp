// SPDX-License-Identifier: Apache-2.0
// A guest of aarch64 with a chip, a disk and network cards, one boot for all: the architecture of
// the servers of Trainium2 and Trainium3. The nightly tests repeat those of guest_test.cpp on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "platform/app/guest/machine.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Loads the drivers of the cards, the unmodified ones of Debian's kernel and of its source; the
/// stub drives the chip through sysfs, with huge pages for DMA.
TEST(Aarch64Guest, DrivesAChipADiskAndNetworkCards) {
    const auto& aarch64 = architecture("aarch64");
    const auto program = fs::path(TRNVP).parent_path() / aarch64.program;
    if (!fs::exists(program)) GTEST_SKIP() << "no " << program << ": no aarch64-linux-gnu-gcc";
    fs::path modules, efa;
    try {
        guest_tools::find(aarch64.qemu(), aarch64);
        modules = guest_tools::find("modules", aarch64) / "kernel/drivers";
        efa = guest_tools::find("efa.ko", aarch64);
    } catch (const tools_missing& why) {
        GTEST_SKIP() << why.what();
    }
    const scratch_folder folder;
    std::ofstream(folder / "script") << R"sh(#!/bin/sh
echo 8 >/proc/sys/vm/nr_overcommit_hugepages
dd if=/dev/urandom of=/tmp/sent bs=64k count=16 2>/dev/null
dd if=/tmp/sent of=/dev/nvme0n1 bs=64k seek=8 oflag=direct 2>/dev/null
dd if=/dev/nvme0n1 of=/tmp/back bs=64k skip=8 count=16 iflag=direct 2>/dev/null
cmp /tmp/sent /tmp/back && echo the disk returns what was written
ip link set eth0 up
udhcpc -i eth0 -q -n -f 2>&1 | tail -n 1
cat /sys/class/infiniband/*/ports/1/state
grep ITS-MSI /proc/interrupts
cat /sys/class/dmi/id/product_name
uname -m
)sh";
    std::string command = std::string(TRNVP) + " guest trn1-2xl --arch aarch64";
    for (const auto& module :
         {modules / "net/ethernet/amazon/ena/ena.ko", modules / "infiniband/core/ib_core.ko",
          modules / "infiniband/core/ib_uverbs.ko", efa})
        command += " --module " + module.string();
    const auto how = run(command + " --run " + (folder / "script") + " --run " + program.string() +
                         " </dev/null");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("the disk returns what was written"));
    EXPECT_THAT(how.output, HasSubstr("lease of 172.31.0.5 obtained"));
    EXPECT_THAT(how.output, HasSubstr("4: ACTIVE"));
    for (const char* interrupt : {"nvme0q1", "eth0-Tx-Rx-0", "efa-mgmnt"})
        EXPECT_THAT(how.output, HasSubstr(interrupt));
    EXPECT_THAT(how.output, HasSubstr("trn1.2xlarge\r\naarch64"));
    EXPECT_THAT(how.output, HasSubstr("came back as sent"));
    EXPECT_THAT(how.output, HasSubstr("the guest ended with status 0"));
}

}  // namespace
}  // namespace trn::test

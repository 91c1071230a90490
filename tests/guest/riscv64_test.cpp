// SPDX-License-Identifier: Apache-2.0
// The software of a riscv64 Linux machine (platform/app/guest/get_riscv64.sh) and its initramfs, on
// QEMU's own machine. Skipped if one of these is not available.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "platform/app/guest/image.h"
#include "platform/app/guest/machine.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Riscv64Machine : public testing::Test {
protected:
    void SetUp() override {
        if (run("command -v qemu-system-riscv64").status != 0)
            GTEST_SKIP() << "no qemu-system-riscv64: run ./dev setup";
        if (fs::exists(tools / "release")) return;
        std::string why = "run ./dev setup";
        std::ifstream reason(guest_tools::folder() / "riscv64-missing");
        std::getline(reason, why);
        GTEST_SKIP() << "no software for riscv64 machines: " << why;
    }

    guest_image image() const {
        guest_image made{.machine = guest_image::architecture::riscv64,
                         .busybox = tools / "busybox",
                         .kernel_modules = tools / "modules"};
        if (fs::exists(TRN_GUEST_RISCV64)) made.own_program = TRN_GUEST_RISCV64;
        return made;
    }

    /// Boots with an NVMe disk, and types `lines` when the machine is ready for them. QEMU before
    /// 10 loses interrupts that its APLIC sends as messages.
    ended boot(const guest_image& image, const std::string& parameters,
               const std::string& lines = "") const {
        std::ofstream(folder / "initrd", std::ios::binary) << image.initramfs();
        const auto disk = folder / "disk", log = folder / "log";
        std::ofstream(disk) << "first words of a disk\n";
        fs::resize_file(disk, 64 << 20);
        std::ofstream(folder / "lines") << lines;
        const auto typed = lines.empty()
                               ? std::string("true")
                               : "for try in $(seq 1000); do grep -qs 'trnvp: ready' " + log +
                                     " && break; sleep 0.2; done; cat " + (folder / "lines");
        return run("(" + typed +
                   ") | timeout 250 qemu-system-riscv64 -M virt$(qemu-system-riscv64 --version | "
                   "grep -q 'version [1-9][0-9]' && echo ,aia=aplic-imsic) -smp 2 -m 1G -nographic "
                   "-no-reboot -kernel " +
                   (tools / "vmlinuz").string() + " -initrd " + (folder / "initrd") +
                   " -append 'console=ttyS0 quiet panic=-1 " + parameters +
                   "' -drive if=none,id=disk,file=" + disk +
                   ",format=raw -device nvme,serial=1,drive=disk >" + log + " 2>&1; cat " + log);
    }

    const fs::path tools = guest_tools::folder() / "riscv64";
    scratch_folder folder;
};

TEST_F(Riscv64Machine, LoadsEveryModuleReadsADiskAndRunsTheTools) {
    std::ofstream(folder / "script") << R"sh(#!/bin/sh
set -e
for module in $(cut -d : -f 1 /lib/modules/*/modules.dep); do modprobe ${module%.ko}; done
for try in $(seq 50); do [ ! -e /dev/nvme0n1 ] || break; sleep 0.1; done
head -n 1 /dev/nvme0n1
mkfs.ext4 -q /dev/nvme0n1
mkdir /disk
mount -t ext4 /dev/nvme0n1 /disk
echo text >/disk/file
umount /disk
fsck.ext4 -f -p /dev/nvme0n1
ibv_devinfo --list
ib_send_bw --version || true
fi_info --version
iperf3 --version
dropbear -V || true
[ ! -e /bin/trn-guest ] || trn-guest count 0
exit 7
)sh";
    auto made = image();
    made.roots = {tools / "root", tools / "net", tools / "disk"};
    made.programs = {{folder / "script", {}}};
    const auto driver = tools / "neuron.ko";  // the user's
    if (fs::exists(driver)) made.modules = {{driver, {}}};
    const auto how = boot(made, "trn.modules=nvme,efa");
    for (const char* line :
         {"first words of a disk", "/dev/nvme0n1: 13/", "0 HCAs found", "Version: 6.",
          "libfabric: ", "iperf 3.", "Dropbear v", "trnvp: status 7", "reboot: Power down"})
        EXPECT_THAT(how.output, HasSubstr(line));
    if (fs::exists(driver)) {
        EXPECT_THAT(how.output, HasSubstr("Neuron Driver Started"));
    }
}

TEST_F(Riscv64Machine, ExecutesLinesOfTheConsoleAndEnds) {
    auto made = image();
    made.commands = true;
    const auto how = boot(made, "", "uname -m\nexit 4\nfalse\nend 5\n");
    EXPECT_THAT(how.output, HasSubstr("trnvp: ready\r\nriscv64\r\ntrnvp: status 0\r\n"
                                      "trnvp: status 4\r\ntrnvp: status 1\r\ntrnvp: status 5\r\n"));
}

TEST_F(Riscv64Machine, ModuleThatIsMissingEndsItWithAStatus) {
    const auto how = boot(image(), "trn.modules=none_such");
    EXPECT_THAT(how.output, HasSubstr("modprobe: module none_such not found"));
    EXPECT_THAT(how.output, HasSubstr("trnvp: status 1\r\n"));
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "platform/app/guest/image.h"
#include "platform/app/guest/initramfs.h"
#include "platform/app/guest/machine.h"
#include "platform/app/guest/shared_libraries.h"
#include "platform/framework/config/file.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn {
namespace {

using testing::HasSubstr;

const guest_architecture& aarch64() {
    return architecture("aarch64");
}

TEST(GuestMachine, CommandLineIsQuotedForAShell) {
    const std::vector<std::string> words{"printf", "%s|", "plain",  "two words",
                                         "it's",   "",    "a$b\"c", "{\"x\":1}"};
    const auto how = test::run(shell_text(words));
    EXPECT_EQ(how.output, "plain|two words|it's||a$b\"c|{\"x\":1}|");
    EXPECT_EQ(shell_text({"-append", "console=ttyS0"}), "-append console=ttyS0");
}

TEST(GuestMachine, HasRoomForLargeBarsWhenTheKernelPlacesThem) {
    guest_machine m;
    EXPECT_THAT(shell_text(m.command()), testing::Not(HasSubstr("-bios")));
    m.minimal_firmware = true;
    EXPECT_THAT(shell_text(m.command()),
                HasSubstr("-bios qboot.rom -global q35-pcihost.pci-hole64-size=32T"));
}

TEST(GuestMachine, HasFunctionsInOrderAndTheStringsOfAnInstance) {
    const guest_machine m{.qemu = "q",
                          .kernel = "k",
                          .initrd = "i",
                          .append = "quiet",
                          .memory_mib = 4096,
                          .product = "trn3.48xlarge",
                          .functions = {{"chip0", "/a/chip0.sock"}, {"chip1", "/a/\"1\".sock"}},
                          .extra = {"-S"}};
    const auto line = shell_text(m.command());
    EXPECT_LT(line.find("/a/chip0.sock"), line.find(R"(/a/\"1\".sock)"));
    EXPECT_THAT(line, HasSubstr("size=4096M,share=on"));
    EXPECT_THAT(line, HasSubstr("type=1,manufacturer=Amazon EC2,product=trn3.48xlarge"));
    EXPECT_TRUE(line.ends_with(" -S"));
}

TEST(GuestMachine, CommasOfNamesDoNotEndOptions) {
    guest_machine m;
    m.product = "a,serial=1";
    m.monitor = "/tmp/a,b/qmp";
    const auto line = shell_text(m.command());
    EXPECT_THAT(line, HasSubstr("product=a,,serial=1"));
    EXPECT_THAT(line, HasSubstr("unix:/tmp/a,,b/qmp,server=on"));
}

TEST(GuestImage, RefusesLinksToFoldersWhichWouldBeEmpty) {
    const test::scratch_folder folder;
    std::filesystem::create_directories(folder / "run/inner");
    std::filesystem::create_directories(folder / "other");
    std::ofstream(folder / "file") << "x";
    guest_image image{.busybox = folder / "file", .own_program = folder / "file"};
    image.folders = {folder / "run"};
    EXPECT_NO_THROW(image.initramfs());
    std::filesystem::create_directory_symlink(folder / "other", folder / "run/link");
    EXPECT_THROW(image.initramfs(), file_error);
}

class Riscv64Image : public testing::Test {
protected:
    Riscv64Image() {
        std::ofstream(folder / "busybox") << "x";
        image.architecture = &architecture("riscv64");
        image.busybox = folder / "busybox";
    }
    std::string refusal() const {
        try {
            image.initramfs();
        } catch (const file_error& why) {
            return why.what();
        }
        return "";
    }
    const test::scratch_folder folder;
    guest_image image;
};

TEST_F(Riscv64Image, HasTheKernelsModulesWhereModprobeFindsThem) {
    std::filesystem::create_directory(folder / "modules");
    std::ofstream(folder / "release") << "6.12-riscv64\n";
    std::ofstream(folder / "modules/modules.dep") << "nvme.ko:\n";
    image.kernel_modules = folder / "modules";
    EXPECT_THAT(image.initramfs(),
                HasSubstr(std::string("lib/modules/6.12-riscv64/modules.dep\0", 37)));
    std::filesystem::remove(folder / "release");
    EXPECT_THAT(refusal(), HasSubstr("release: "));
}

TEST_F(Riscv64Image, CopiesRootsToTheTop) {
    std::filesystem::create_directories(folder / "root/usr/lib");
    std::ofstream(folder / "root/usr/lib/libx.so") << "x";
    image.roots = {folder / "root"};
    EXPECT_THAT(image.initramfs(), HasSubstr(std::string("\0usr/lib/libx.so\0", 17).substr(1)));
    EXPECT_THAT(image.initramfs(), testing::Not(HasSubstr("root/usr")));
}

std::string content_of(const std::filesystem::path& file) {
    const auto bytes = read_file(file, 1 << 30);
    return {bytes.begin(), bytes.end()};
}

TEST(GuestImage, OfAHostHasModulesForModprobeAndAnAgentBesideTheShell) {
    const test::scratch_folder folder;
    std::filesystem::create_directories(folder / "modules");
    std::filesystem::create_directories(folder / "root/etc");
    std::ofstream(folder / "release") << "6.12-riscv64\n";
    for (const char* file : {"busybox", "modules/nvme.ko", "modules/modules.dep", "root/etc/motd"})
        std::ofstream(folder / file) << "x";
    const guest_image image{.architecture = &architecture("riscv64"),
                            .busybox = folder / "busybox",
                            .kernel_modules = folder / "modules",
                            .roots = {folder / "root"},
                            .agent = "#!/bin/busybox sh\necho agent\n"};
    const auto bytes = image.initramfs();  // names are in it as they are
    for (const char* part :
         {"lib/modules/6.12-riscv64/nvme.ko", "etc/motd", "echo agent\n",
          "lib/modules/6.12-riscv64/modules.dep",
          "while setsid /agent; do sleep 1; done &\nwhile :; do setsid cttyhack sh; done\n"})
        EXPECT_THAT(bytes, HasSubstr(part));
    EXPECT_THAT(bytes, testing::Not(HasSubstr(std::string("bin/trn-guest\0", 14))));
}

std::filesystem::path own_program() {
    return std::filesystem::read_symlink("/proc/self/exe");
}

TEST(SharedLibraries, OfAProgramAreThoseThatItsLoaderFinds) {
    const auto program = own_program();
    const auto needed = shared_libraries_of(program, content_of(program));
    EXPECT_EQ(needed.loader, "/lib64/ld-linux-x86-64.so.2");
    ASSERT_TRUE(needed.files.contains("libc.so.6"));
    EXPECT_TRUE(std::filesystem::exists(needed.files.at("libc.so.6")));
    EXPECT_TRUE(needed.files.contains("libm.so.6"));  // that libstdc++ needs
}

TEST(SharedLibraries, ScriptsAndBrokenFilesHaveNone) {
    const auto program = content_of(own_program());
    for (const auto& bytes : {std::string("#!/bin/sh\n"), std::string(), program.substr(0, 16),
                              program.substr(0, 63), program.substr(0, 70)})
        EXPECT_EQ(shared_libraries_of(own_program(), bytes).loader, "");
}

TEST(SharedLibraries, NamesTheLibraryThatIsMissing) {
    const test::scratch_folder folder;
    auto program = content_of(own_program());
    const auto place = program.find(std::string("libc.so.6\0", 10));
    ASSERT_NE(place, std::string::npos);
    program.replace(place, 9, "libc.so.9");
    std::ofstream(folder / "program", std::ios::binary) << program;
    std::filesystem::permissions(folder / "program", std::filesystem::perms::owner_all);
    try {
        shared_libraries_of(folder / "program", program);
        ADD_FAILURE() << "no error";
    } catch (const file_error& why) {
        EXPECT_THAT(why.what(),
                    HasSubstr("program needs libc.so.9, which this machine does not have"));
    }
}

TEST(SharedLibraries, DoNotStartAnotherLoader) {
    auto program = content_of(own_program());
    const std::string loader = "/lib64/ld-linux-x86-64.so.2";
    program.replace(program.find(loader), loader.size(), "/bin/../bin/./././././touch");
    EXPECT_THROW(shared_libraries_of(own_program(), program), file_error);
}

TEST(GuestMachine, PutsFunctionsBehindThePortsOfTheBoard) {
    // Root port 0, a switch with an upstream port on bus 1 and two downstream ports on bus 2.
    const auto line =
        shell_text(pci_tree_arguments({{"chip0", "/a", 0x300, {0x0000, 0x0100, 0x0200}},
                                       {"nic0", "/b", 0x400, {0x0000, 0x0100, 0x0208}},
                                       {"chip1", "/c", 0x500, {0x0008}}}));
    EXPECT_THAT(line, HasSubstr("pcie-root-port,id=port00.00.0,"));
    EXPECT_THAT(line, HasSubstr("x3130-upstream,id=port01.00.0,bus=port00.00.0 "));
    EXPECT_THAT(line, HasSubstr("id=port02.01.0,bus=port01.00.0,addr=0x1.0,"));
    EXPECT_THAT(line, HasSubstr(R"("id":"nic0","bus":"port02.01.0")"));
    EXPECT_THAT(line, HasSubstr(R"("id":"chip1","bus":"port00.01.0")"));
    EXPECT_EQ(line.find("x3130-upstream"), line.rfind("x3130-upstream")) << "one switch";
}

TEST(GuestMachine, NodesHaveEqualPartsOfTheProcessorsAndTheRootPorts) {
    const guest_machine m{.qemu = "q",
                          .kernel = "k",
                          .initrd = "i",
                          .append = "quiet",
                          .cpus = 4,
                          .nodes = 2,
                          .functions = {{"chip0", "/a", 0x100, {0x0000}},
                                        {"chip1", "/b", 0x200, {0x0008}},
                                        {"nic0", "/c", 0x300, {0x0010}}},
                          .extra = {}};
    const auto line = shell_text(m.command());
    EXPECT_THAT(line, HasSubstr("-M q35,accel=tcg -cpu"));
    EXPECT_THAT(line, HasSubstr("-numa node,nodeid=0,cpus=0-1,memdev=ram "));
    EXPECT_THAT(line, HasSubstr("-numa node,nodeid=1,cpus=2-3 "));
    EXPECT_THAT(line, HasSubstr("pxb-pcie,id=node0,bus=pcie.0,bus_nr=85,numa_node=0 "));
    EXPECT_THAT(line, HasSubstr("pxb-pcie,id=node1,bus=pcie.0,bus_nr=170,numa_node=1 "));
    EXPECT_THAT(
        line, HasSubstr("id=port00.00.0,chassis=0,slot=1,power_controller_present=off,bus=node0 "));
    EXPECT_THAT(
        line, HasSubstr("id=port00.01.0,chassis=0,slot=2,power_controller_present=off,bus=node0 "));
    EXPECT_THAT(
        line, HasSubstr("id=port00.02.0,chassis=0,slot=3,power_controller_present=off,bus=node1 "));
}

TEST(GuestMachine, RefusesMoreFunctionsThanTheRootBusHolds) {
    std::vector<guest_function> functions(30, {.name = "chip", .socket = "/a"});
    EXPECT_NO_THROW(pci_tree_arguments(functions));
    functions.push_back(functions.back());
    EXPECT_THROW(pci_tree_arguments(functions), std::invalid_argument);
}

TEST(GuestMachine, PassesTheCounterRateToTheGuest) {
    guest_machine m;
    const auto reported = m.clock_arguments();
    EXPECT_THAT(reported, HasSubstr("no_timer_check"));
#ifdef __x86_64__
    const auto at = reported.find("tsc_early_khz=");
    ASSERT_NE(at, std::string::npos) << reported;
    const double first = std::stod(reported.substr(at + 14));
    EXPECT_GT(first, 500'000);  // lower than the rate of any supported machine
    const auto again = m.clock_arguments();
    EXPECT_NEAR(std::stod(again.substr(again.find("khz=") + 4)), first, first / 100);
#endif
    EXPECT_THAT(shell_text(m.command()), testing::Not(HasSubstr("-icount")));
    m.runs_by = guest_machine::clock::instructions;
    EXPECT_THAT(shell_text(m.command()), HasSubstr("-icount shift=2,sleep=on"));
    EXPECT_THAT(m.clock_arguments(), HasSubstr("tsc_early_khz=1000000"));
}

TEST(GuestMachine, DistinguishesGuestStatusFromQemuStatus) {
    const guest_machine m;
    EXPECT_EQ(m.guest_status(3), 0);
    EXPECT_EQ(m.guest_status(17), 7);
    EXPECT_EQ(m.guest_status(255), 126);
    EXPECT_EQ(m.guest_status(0), std::nullopt) << "powered off";
    EXPECT_EQ(m.guest_status(1), std::nullopt) << "QEMU's own failure";
}

TEST(GuestMachine, StatusOfAnAarch64GuestIsTheLastOneOfItsConsole) {
    const test::scratch_folder folder;
    guest_machine m;
    m.architecture = &aarch64();
    m.status_file = folder / "status";
    const auto status_after = [&](const std::string& text) {
        std::ofstream(m.status_file, std::ios::binary) << text;
        return m.guest_status(0);
    };
    EXPECT_EQ(m.guest_status(0), std::nullopt) << "no file";
    EXPECT_EQ(status_after("UEFI firmware\r\n\nstatus 7\r\n"), 7);
    EXPECT_EQ(m.guest_status(1), std::nullopt) << "QEMU's own failure";
    EXPECT_EQ(status_after("status 7\nstatus 0\n" + std::string(3000, '.') + "\nDown\n"), 0);
    for (const char* wrong : {"", "status \n", "status 7x\n", "status 127\n", "status -1\n",
                              "status 99999999999\n", "no status 1\n"})
        EXPECT_EQ(status_after(wrong), std::nullopt) << wrong;
}

TEST(GuestMachine, Aarch64IsTheVirtMachineWithFirmwareAndASecondConsole) {
    guest_machine m;
    m.architecture = &aarch64();
    m.firmware = "/f";
    m.product = "trn3.48xlarge";
    m.status_file = "/s";
    const auto line = shell_text(m.command());
    EXPECT_THAT(line, HasSubstr("-M virt,gic-version=3,its=on,highmem-mmio-size=32T,"));
    EXPECT_THAT(line, HasSubstr("-serial file:/s -serial stdio"));
    EXPECT_THAT(line, HasSubstr("-bios /f"));
    EXPECT_THAT(line, HasSubstr("product=trn3.48xlarge"));
    EXPECT_THAT(line, testing::Not(HasSubstr("isa-debug-exit")));
    EXPECT_EQ(m.clock_arguments(), "");
}

TEST(GuestMachine, NodesOfAarch64ShareOneRootBus) {
    guest_machine m;
    m.architecture = &architecture("aarch64");
    m.cpus = m.nodes = 2;
    m.functions = {{"chip0", "/a", 0x100, {0x0000}}};
    const auto line = shell_text(m.command());
    EXPECT_THAT(line, HasSubstr("-numa node,nodeid=1,cpus=1-1"));
    EXPECT_THAT(line, testing::Not(HasSubstr("pxb-pcie")));
}

TEST(GuestImage, VersionChangesWithItsFilesAndScripts) {
    const test::scratch_folder folder;
    std::filesystem::create_directories(folder / "root/usr");
    std::ofstream(folder / "busybox") << "b";
    std::ofstream(folder / "root/usr/x") << "1";
    guest_image image{.busybox = folder / "busybox", .roots = {folder / "root"}, .agent = "a"};
    const auto first = image.version();
    EXPECT_EQ(image.version(), first);
    image.agent = "b";
    EXPECT_NE(image.version(), first);
    image.agent = "a";
    std::ofstream(folder / "root/usr/x") << "22";
    const auto changed = image.version();
    EXPECT_NE(changed, first);
    std::ofstream(folder / "root/usr/y") << "";
    EXPECT_NE(image.version(), changed);
}

TEST(GuestMachine, FilesOfAnotherArchitectureAreRecognized) {
    const test::scratch_folder folder;
    const auto& x86 = guest_architectures().front();
    const auto why = [&](const std::string& bytes, const guest_architecture& wanted) {
        std::ofstream(folder / "file", std::ios::binary) << bytes;
        return other_architecture(folder / "file", wanted);
    };
    const auto elf = [](char machine) {
        std::string bytes = "\177ELF\2\1\1" + std::string(57, '\0');
        bytes[18] = machine;
        return bytes;
    };
    EXPECT_EQ(why(elf('\x3e'), x86), "");
    EXPECT_EQ(why(elf('\xb7'), aarch64()), "");
    EXPECT_THAT(why(elf('\xb7'), x86), HasSubstr("file is for aarch64, and the guest is x86_64"));
    EXPECT_THAT(why(elf('\x3e'), aarch64()), HasSubstr("file is for x86_64"));
    EXPECT_THAT(why(elf('\xf3'), aarch64()), HasSubstr("file is for riscv64"));
    EXPECT_THAT(why(elf('\x08'), aarch64()), HasSubstr("another machine (ELF machine 8)"));
    const std::string x86_kernel = std::string(0x202, '\0') + "HdrS";
    const std::string arm_kernel = std::string(0x38, '\0') + "ARM\x64";
    EXPECT_EQ(why(x86_kernel, x86), "");
    EXPECT_THAT(why(x86_kernel, aarch64()), HasSubstr("file is for x86_64"));
    EXPECT_THAT(why(arm_kernel, x86), HasSubstr("file is for aarch64"));
    for (const auto& text : {std::string(), std::string("#!/bin/sh\n"), std::string("\177ELF")})
        EXPECT_EQ(why(text.substr(0, 3), aarch64()), "");
}

TEST(GuestTools, MissingToolsAreReportedWithTheirReason) {
    const test::scratch_folder folder;
    setenv("TRNVP_GUEST_TOOLS", folder.text().c_str(), 1);
    std::ofstream(folder / "missing") << "the mirror is asleep\n";
    try {
        guest_tools::find("vmlinuz");
        FAIL();
    } catch (const tools_missing& why) {
        EXPECT_THAT(why.what(), HasSubstr("the mirror is asleep"));
        EXPECT_THAT(why.what(), HasSubstr("./dev setup"));
    }
    std::ofstream(folder / "vmlinuz") << "x";
    EXPECT_EQ(guest_tools::find("vmlinuz"), folder / "vmlinuz");
    std::ofstream(folder / "aarch64-missing") << "no disk\n";
    try {
        guest_tools::find("vmlinuz", aarch64());
        FAIL();
    } catch (const tools_missing& why) {
        EXPECT_THAT(why.what(), HasSubstr("aarch64: run './dev setup'; last time: no disk"));
    }
}

TEST(Initramfs, IsReadableByCpio) {
    std::string cpio = "cpio";
    try {
        cpio = guest_tools::find("busybox").string() + " cpio";
    } catch (const tools_missing&) {
        if (test::run("command -v cpio").status != 0) GTEST_SKIP() << "no cpio on this machine";
    }
    const test::scratch_folder folder;
    initramfs made;
    made.folder("bin");
    made.file("bin/program", "#!/bin/sh\necho hello\n", true);
    made.file("odd", std::string(4097, 'x'));
    made.link("bin/sh", "program");
    std::ofstream(folder / "archive", std::ios::binary) << made.bytes();
    const auto how =
        test::run("cd " + folder.text() + " && " + cpio + " -idm < archive && bin/program");
    EXPECT_THAT(how.output, HasSubstr("hello"));
    EXPECT_EQ(std::filesystem::file_size(folder / "odd"), 4097u);
    EXPECT_EQ(std::filesystem::read_symlink(folder / "bin/sh"), "program");
}

}  // namespace
}  // namespace trn

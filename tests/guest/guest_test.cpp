// SPDX-License-Identifier: Apache-2.0
// Linux guests: QEMU under TCG with devices of the platform over vfio-user, Debian's kernel, and
// the project's guest program (sw-stubs/guest). Skipped if this QEMU is not available.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "platform/app/guest/machine.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int no_tools = 77;
const std::string trnvp = TRNVP;

/// The architecture of the guests: the default, or that of TRNVP_TEST_ARCH. The nightly tests
/// repeat these tests on the other one.
const guest_architecture& tested() {
    const char* const name = std::getenv("TRNVP_TEST_ARCH");
    return name == nullptr ? guest_architectures().front() : architecture(name);
}

/// Returns a process with a command line word that ends so; 0: none.
pid_t process_with(const std::string& word) {
    for (const auto& process : fs::directory_iterator("/proc")) {
        std::ifstream in(process.path() / "cmdline", std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        if (text.find(word + '\0') != std::string::npos)
            return std::stoi(process.path().filename().string());
    }
    return 0;
}

bool runs_with(const std::string& word) {
    return process_with(word) != 0;
}

class Guest : public testing::Test {
protected:
    void SetUp() override {
        try {
            for (const auto& tool :
                 {tested().qemu(), std::string("vmlinuz"), std::string("busybox")})
                guest_tools::find(tool, tested());
        } catch (const tools_missing& why) {
            GTEST_SKIP() << why.what();
        }
    }
    static ended start(const std::string& arguments) {
        return run(trnvp + " guest --arch " + std::string(tested().name) + " " + arguments +
                   " </dev/null");
    }
    /// The guest program's line about `step` of the `n`th device; each device is below a root port.
    static std::string line(const ended& how, unsigned n, const std::string& step) {
        std::istringstream in(how.output);
        char function[16];
        std::snprintf(function, sizeof function, "0000:%02x:00.0", n + 1);
        for (std::string text; std::getline(in, text);)
            if (text.starts_with(function) && text.find(" " + step + " ") != std::string::npos)
                return text;
        return "no line '" + step + "' of " + function + " in:\n" + how.output;
    }
    /// Path of the guest program, in the folder of the platform's program.
    static std::string own_program() { return fs::path(trnvp).parent_path() / tested().program; }
    /// Writes a script for busybox to this test's folder.
    std::string script(const std::string& text) {
        std::ofstream(folder / "script") << "#!/bin/sh\n" << text;
        return folder / "script";
    }
    /// Options that run add.trn by `command` of the guest program: y = x + x, of 128 x 512 FP32;
    /// small whole numbers are exact.
    std::string running_add(const std::string& command) {
        fs::create_directory(folder / "add");
        std::ofstream x(folder / "add/x", std::ios::binary), y(folder / "add/y", std::ios::binary);
        for (int i = 0; i < 128 * 512; ++i) {
            const float number = static_cast<float>(i % 1000 - 500), sum = number + number;
            x.write(reinterpret_cast<const char*>(&number), 4);
            y.write(reinterpret_cast<const char*>(&sum), 4);
        }
        const auto set = folder / "add/set";
        EXPECT_EQ(run(ASSEMBLER " " SCENARIOS "/programs/add.trn -o " + set).status, 0);
        return " --run " + (folder / "add") + " --run '" + own_program() + " " + command +
               " /program/add/set x=/program/add/x y=/program/add/y'";
    }
    scratch_folder folder;
};

TEST_F(Guest, DrivesASiliconChipThroughSysfs) {
    const auto how = start("trn3-chip");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(line(how, 0, "function"), HasSubstr("1d0f:7564 revision 1"));
    EXPECT_THAT(how.output, HasSubstr("MSI-X: 32 vectors"));
    EXPECT_THAT(how.output, HasSubstr("device serial number 54524e3300000001"));
    EXPECT_THAT(line(how, 0, "reset"), HasSubstr("the handshake with firmware"));
    EXPECT_THAT(line(how, 0, "mailbox"), HasSubstr("firmware API 7"));
    EXPECT_THAT(line(how, 0, "copy"), HasSubstr("each of 4 stacks: came back as sent"));
    EXPECT_THAT(how.output, HasSubstr("1 device: all is well"));
}

TEST_F(Guest, BreaksNoRuleAndNeedsNothingInvented) {
    const auto report = folder / "report.json";
    const auto how = start("trn3-chip --misuse fail --fidelity-report " + report);
    ASSERT_EQ(how.status, 0) << how.output;
    std::ifstream in(report);
    const auto touched = nlohmann::json::parse(in);
    unsigned by_host = 0;
    for (const auto& one : touched["registers"]) {
        const auto& host = one["host"];
        if (host["reads"].get<int>() + host["writes"].get<int>() == 0) continue;
        ++by_host;
        EXPECT_NE(one["known_by"], "invented") << one;
    }
    EXPECT_GT(by_host, 50u);
}

TEST_F(Guest, DrivesASimulatorChipThroughSysfs) {
    const auto how = start("trn3-chip-sim --set shared_hbm=false");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(line(how, 0, "function"), HasSubstr("revision 255"));
    EXPECT_THAT(line(how, 0, "reset"), HasSubstr("the simulator's reset register"));
    EXPECT_THAT(line(how, 0, "copy"), HasSubstr("each of 4 stacks: came back as sent"));
}

TEST_F(Guest, RunsAProgramOfNeuronCoresOnEveryDeviceAndItReplays) {
    const auto how = start("trn3-chip --devices 2 --record " + (folder / "recording") +
                           running_add("program 3"));
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(line(how, 0, "program"), HasSubstr("on core 3: 2 tensors written and compared"));
    EXPECT_THAT(line(how, 1, "program"), HasSubstr("on core 3: 2 tensors written and compared"));
    const auto replay = run(trnvp + " replay " + (folder / "recording"));
    EXPECT_EQ(replay.status, 0) << replay.output;
    EXPECT_THAT(replay.output, HasSubstr("as recorded"));
}

/// The module is not part of this project: doc/guide-driver.md describes how to build it.
TEST_F(Guest, RunsAProgramThroughThePublicDriverAndItReplays) {
    const char* const named =
        std::getenv(tested().tools.empty() ? "TRNVP_NEURON_MODULE" : "TRNVP_NEURON_MODULE_AARCH64");
    const std::string module =
        named != nullptr ? named : guest_tools::folder() / tested().tools / "neuron.ko";
    if (!fs::exists(module))
        GTEST_SKIP() << "no public driver in " << module
                     << ": build it (doc/guide-driver.md), or name it in TRNVP_NEURON_MODULE";
    const auto how =
        start("trn3-chip --devices 2 --record " + (folder / "recording") + " --module '" + module +
              " dup_helper_enable=0'" + running_add("program --via neuron 3"));
    ASSERT_EQ(how.status, 0) << how.output;
    for (const char* device : {"neuron0", "neuron1"})
        EXPECT_THAT(how.output,
                    HasSubstr(std::string(device) + " program      /program/add/set on core 3: 2 "
                                                    "tensors written and compared"));
    const auto replay = run(trnvp + " replay " + (folder / "recording"));
    EXPECT_EQ(replay.status, 0) << replay.output;
    EXPECT_THAT(replay.output, HasSubstr("as recorded"));
}

TEST_F(Guest, ProgramsWithoutThePublicDriverSayThatItIsNotLoaded) {
    const auto how = start("trn3-chip --run '" + own_program() + " program --via neuron 3 set'");
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("no /dev/neuron0: the public driver is not loaded"));
}

/// A sum of scenarios/kernels compiled by trn-nki; the guest does not need Python.
TEST_F(Guest, RunsACompiledKernelOnEveryDevice) {
    fs::create_directory(folder / "kernel");
    const auto file = [&](const std::string& name) { return folder / ("kernel/" + name); };
    ASSERT_EQ(
        run("/usr/bin/python3 -c 'import numpy, sys; x = numpy.arange(65536, dtype=numpy.float32)"
            ".reshape(128, 512) % 7; numpy.save(sys.argv[1] + \"/x.npy\", x); "
            "x.tofile(sys.argv[1] + \"/x\"); (x + x).tofile(sys.argv[1] + \"/y\")' " +
            (folder / "kernel"))
            .status,
        0);
    const auto compiled = run(
        (fs::path(trnvp).parent_path() / "trn-nki").string() +
        " compile " SCENARIOS "/kernels/tiles.py:add --generation trn3 --in a=" + file("x.npy") +
        " --in b=" + file("x.npy") + " -o " + file("set"));
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    const auto how = start("trn3-chip --run " + (folder / "kernel") + " --run '" + own_program() +
                           " program 3 /program/kernel/set a=/program/kernel/x b=/program/kernel/x"
                           " shared0=/program/kernel/y'");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(line(how, 0, "program"), HasSubstr("on core 3: 3 tensors written and compared"));
}

TEST_F(Guest, RecordedGuestReplaysToTheSameTraceWithoutQemu) {
    const auto recording = folder / "recording", trace = folder / "trace", again = folder / "again";
    const auto how = start("trn3-chip --devices 2 --record " + recording + " --trace " + trace);
    ASSERT_EQ(how.status, 0) << how.output;
    const auto replay = run(trnvp + " replay " + recording + " --trace " + again);
    EXPECT_EQ(replay.status, 0) << replay.output;
    EXPECT_THAT(replay.output, HasSubstr("as recorded"));
    EXPECT_EQ(run("cmp " + trace + " " + again).status, 0);
    EXPECT_GT(fs::file_size(trace), 1000u);
}

TEST_F(Guest, FourChipsAreNumberedInBusOrder) {
    const auto how = start("trn3-chip --devices 4");
    ASSERT_EQ(how.status, 0) << how.output;
    for (unsigned i = 0; i < 4; ++i) {
        EXPECT_THAT(line(how, i, "probe"), HasSubstr("/dev/neuron" + std::to_string(i) + ","));
        EXPECT_THAT(line(how, i, "copy"), HasSubstr("came back as sent"));
    }
}

TEST_F(Guest, SixteenChipsWithSmallBar4WorkInOneGuest) {
    const auto how = start("trn3-chip-sim --devices 16");
    ASSERT_EQ(how.status, 0) << how.output;
    for (unsigned i = 0; i < 16; ++i) {
        EXPECT_THAT(line(how, i, "probe"), HasSubstr("/dev/neuron" + std::to_string(i) + ","));
        EXPECT_THAT(line(how, i, "copy"), HasSubstr("came back as sent"));
    }
    EXPECT_THAT(how.output, HasSubstr("16 devices: all is well"));
}

/// The sled's switch is on its only root port: bus 1 is above it, bus 2 inside; the chips are on
/// buses 3 to 6, the cards on 7 and 8.
TEST_F(Guest, SeesEveryFunctionOfTheServerBehindTheBoardsPortsAndReplays) {
    const auto recording = folder / "recording";
    const auto how = start(
        "trn3-sled --record " + recording + " --run " +
        script("cd /sys/bus/pci/devices; for d in 0000:03:00.0 0000:08:00.0; do readlink $d; done\n"
               "cat 0000:07:00.0/vendor /sys/class/dmi/id/sys_vendor "
               "/sys/class/dmi/id/board_asset_tag\n") +
        " --run " + own_program());
    ASSERT_EQ(how.status, 0) << how.output;
    const std::string above = "/0000:00:01.0/0000:01:00.0/0000:02:0";
    EXPECT_THAT(how.output, HasSubstr(above + "0.0/0000:03:00.0"));
    EXPECT_THAT(how.output, HasSubstr(above + "5.0/0000:08:00.0"));
    EXPECT_THAT(how.output, HasSubstr("0x1d0f\r\nAmazon EC2\r\ni-054524e3300000001"));
    for (unsigned i = 2; i < 6; ++i)
        EXPECT_THAT(line(how, i, "copy"), HasSubstr("came back as sent"));
    EXPECT_THAT(how.output, HasSubstr("4 devices: all is well"));
    const auto replay = run(trnvp + " replay " + recording);
    EXPECT_EQ(replay.status, 0) << replay.output;
    EXPECT_THAT(replay.output, HasSubstr("as recorded"));
}

/// Guests of all servers run at once, with the driver's 4 ms time limit for a neighbour's read.
TEST_F(Guest, ServersOfAPodElectTheirNodeIds) {
    const auto how =
        start("trn2-ultraserver --servers all --devices 2 --run '" + own_program() + " elect'");
    ASSERT_EQ(how.status, 0) << how.output;
    for (int node = 0; node < 4; ++node) {
        const auto n = std::to_string(node);
        EXPECT_THAT(how.output, HasSubstr("[server" + n + "] 0000:03:00.0 elect        node " + n +
                                          " of 4, links 3, pod 54524e3200000001"));
        EXPECT_THAT(how.output, HasSubstr("the guest server" + n + " ended with status 0"));
    }
}

TEST_F(Guest, FirstFailureOfSeveralServersIsTheExitStatus) {
    const auto how = start(
        "tests/integration/control/two_servers.yaml --servers 1,server0 "
        "--devices 1 --run " +
        script("echo I am $TRNVP_SERVER\n[ $TRNVP_SERVER = server1 ] || exit 9\n"));
    EXPECT_EQ(how.status, 9) << how.output;
    EXPECT_THAT(how.output, HasSubstr("[server0] I am server0\n"));
    EXPECT_THAT(how.output, HasSubstr("[server1] I am server1\n"));
    EXPECT_THAT(how.output, HasSubstr("the guest server0 ended with status 9"));
    EXPECT_THAT(how.output, HasSubstr("the guest server1 ended with status 0"));
}

TEST_F(Guest, KilledQemuLeavesTheOtherGuestRunning) {
    const auto log = folder / "log";
    const background platform(
        {trnvp, "guest", "--arch", std::string(tested().name),
         "tests/integration/control/two_servers.yaml", "--servers", "0,1", "--devices", "1",
         "--listen", folder.text(), "--run",
         script("echo up $TRNVP_SERVER\n[ $TRNVP_SERVER = server0 ] || sleep 1000\n"
                "sleep 5\nexit 5\n")},
        log);
    const auto has = [&](const std::string& text) {
        return !run("grep '" + text + "' " + log).output.empty();
    };
    ASSERT_TRUE(eventually([&] { return has("up server0") && has("up server1"); },
                           std::chrono::minutes(2)));
    const auto qemu = process_with(R"(/server1.chip0.sock","type":"unix"}})");
    ASSERT_GT(qemu, 0);
    kill(qemu, SIGKILL);
    EXPECT_TRUE(eventually([&] { return has("killed by signal"); }, std::chrono::minutes(1)));
    EXPECT_TRUE(has("the guest server0 ended with status 5"));
    EXPECT_TRUE(has("QEMU of the guest server1 was killed by signal 9"));
}

/// Passes the TSC rate to the kernel, which mismeasures it on a busy machine; compares for 1 s.
TEST_F(Guest, GuestClockRunsAtTheHostsRate) {
    if (!tested().measures_clock) GTEST_SKIP() << "the counter has a register with its rate";
    const auto how = start("trn3-chip --run " + script("sleep 3\ndmesg | grep -i tsc\n"));
    ASSERT_EQ(how.status, 0) << how.output;
    const auto mhz = [&](const std::string& before) -> std::optional<double> {
        const auto at = how.output.rfind(before);
        if (at == std::string::npos) return std::nullopt;
        return std::stod(how.output.substr(at + before.size()));
    };
    // The kernel logs the processor's rate first if it can measure it, then the counter's.
    const auto used = mhz("tsc: Detected ");
    ASSERT_TRUE(used) << how.output;
    EXPECT_THAT(how.output,
                HasSubstr("tsc_early_khz=" + std::to_string(std::lround(*used * 1000))));
    const auto measured = mhz("Refined TSC clocksource calibration: ");
    EXPECT_NEAR(*used, measured.value_or(*used), *used / 100);
}

TEST_F(Guest, GuestClockCanCountInstructions) {
    const auto how = start("trn3-chip --clock instructions");
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("-icount"));
    EXPECT_THAT(line(how, 0, "copy"), HasSubstr("each of 4 stacks: came back as sent"));
}

TEST_F(Guest, LoadsAModuleWithParametersAndExitsWithTheProgramsStatus) {
    fs::path dummy;  // any module that needs no hardware
    for (const auto& f : fs::recursive_directory_iterator(guest_tools::find("modules", tested())))
        if (f.path().filename() == "dummy.ko") dummy = f.path();
    ASSERT_FALSE(dummy.empty());
    const auto how = start("trn3-chip --module '" + dummy.string() +
                           " numdummies=3' --append 'word=\"a b\"' " + "--run '" +
                           script("ls -d /sys/class/net/dummy2 && cat /proc/cmdline\n"
                                  "cat /sys/class/dmi/id/product_name; echo $1\nexit 7\n") +
                           " argument'");
    EXPECT_EQ(how.status, 7) << how.output;
    EXPECT_THAT(how.output, HasSubstr("/sys/class/net/dummy2"));
    EXPECT_THAT(how.output, HasSubstr("word=\"a b\""));
    EXPECT_THAT(how.output, HasSubstr("\ntrn3.48xlarge"));
    EXPECT_THAT(how.output, HasSubstr("\nargument"));
}

TEST_F(Guest, RunsSeveralProgramsUntilOneFails) {
    fs::create_directories(folder / "data/inner");
    std::ofstream(folder / "data/inner/word") << "from a folder";
    const auto program = [&](const std::string& name, const std::string& text) {
        std::ofstream(folder / name) << "#!/bin/sh\n" << text;
        return " --run '" + (folder / name) + "'";
    };
    const auto how =
        start("trn3-chip --run " + (folder / "data") +
              program("first", "cat /program/data/inner/word; echo\n") +
              program("second", "echo second; exit 5\n") + program("third", "echo the last\n"));
    EXPECT_EQ(how.status, 5) << how.output;
    EXPECT_THAT(how.output, HasSubstr("\nfrom a folder"));
    EXPECT_THAT(how.output, HasSubstr("\nsecond"));
    EXPECT_THAT(how.output, testing::Not(HasSubstr("the last")));
}

TEST_F(Guest, ModuleQemuAndBootFailuresAreReported) {
    std::ofstream(folder / "bad.ko") << "no module";
    auto how = start("trn3-chip --module " + (folder / "bad.ko"));
    EXPECT_EQ(how.status, ENOEXEC) << how.output;  // exit status of insmod
    EXPECT_THAT(how.output, HasSubstr("insmod"));
    how = start("trn3-chip -- -device no-such-device");
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("QEMU failed with status 1"));
    how = start("trn3-chip --append rdinit=/nothing");
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("without a status"));
}

TEST_F(Guest, AcceptsTheUsersKernelAndInitramfs) {
    // The initramfs left by an earlier guest serves as the user's.
    auto how = start("trn3-chip --listen " + folder.text() + " --run " + script("exit 0\n"));
    ASSERT_EQ(how.status, 0) << how.output;
    how = start("trn3-chip --kernel " + guest_tools::find("vmlinuz", tested()).string() +
                " --initrd " + (folder / "initramfs"));
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("-initrd " + (folder / "initramfs")));
}

TEST_F(Guest, SigintEndsQemuToo) {
    const auto log = folder / "log";
    background platform({trnvp, "guest", "--arch", std::string(tested().name), "trn3-chip",
                         "--listen", folder.text(), "--run", script("echo up; sleep 1000\n")},
                        log);
    ASSERT_TRUE(eventually([&] { return !run("grep -x up. " + log).output.empty(); },
                           std::chrono::minutes(2)));
    EXPECT_TRUE(runs_with(folder / "initramfs"));
    EXPECT_EQ(platform.end(), 128 + SIGTERM);
    EXPECT_FALSE(runs_with(folder / "initramfs"));
}

TEST(GuestCommandLine, UsageErrorsExitWithStatus2) {
    EXPECT_EQ(run(trnvp + " guest").status, 2);
    EXPECT_EQ(
        run(trnvp + " guest trn3-chip --initrd /no/such/file --kernel /dev/null --qemu /x").status,
        2);
    const auto how = run(trnvp + " guest trn3-chip --initrd /dev/null --module a.ko");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--module"));
}

TEST(GuestCommandLine, TooManyDevicesForTheBoardAreRefused) {
    scratch_folder folder;
    std::ofstream(folder / "image") << "never started";
    const auto file = [&](const std::string& option) { return option + (folder / "image"); };
    const auto start = [&](const std::string& board, int devices) {
        return run(trnvp + " guest " + board + file(" --qemu ") + file(" --kernel ") +
                   file(" --initrd ") + " --devices " + std::to_string(devices));
    };
    std::ofstream(folder / "one.yaml") << R"(board: one
modules:
  host: {type: root_complex}
  chip: {type: chips/trainium3}
bind:
  - host.port[0] <-> chip.link
)";
    auto how = start(folder / "one.yaml", 2);
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--devices 2: board 'one' has 1 PCIe function"));
    how = start("trn3-chip", 17);
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("devices is 1 to 16; here it is 17"));
}

TEST(GuestCommandLine, UnknownFunctionsAreRefusedWithThoseOfTheServer) {
    scratch_folder folder;
    std::ofstream(folder / "image") << "never started";
    const auto file = [&](const std::string& option) { return option + (folder / "image"); };
    const auto start = [&](const std::string& words) {
        return run(trnvp + " guest " + words + file(" --qemu ") + file(" --kernel ") +
                   file(" --initrd "));
    };
    auto how = start("trn3-sled --functions chip0,nic9");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--functions nic9: the server has no such function  (known: "
                                      "chip0, chip1, chip2, chip3, nic0, nic1, ena)"));
    EXPECT_EQ(start("trn3-sled --functions chips --devices 2").status, 2);
    how = start("trn2-48xl --flat");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("room for 30 functions"));
}

TEST(GuestCommandLine, MoreProcessorsThanServerCoresAndMoreNodesThanProcessorsAreRefused) {
    scratch_folder folder;
    std::ofstream(folder / "image") << "never started";
    const auto start = [&](const std::string& cores, int cpus, const std::string& more = {}) {
        std::ofstream(folder / "small.yaml")
            << "board: small\nmodules:\n  host: {type: root_complex" << cores
            << "}\n  chip: {type: chips/trainium3}\nbind:\n  - host.port[0] <-> chip.link\n";
        const auto file = [&](const std::string& option) { return option + (folder / "image"); };
        return run(trnvp + " guest " + (folder / "small.yaml") + file(" --qemu ") +
                   file(" --kernel ") + file(" --initrd ") + " --cpus " + std::to_string(cpus) +
                   more);
    };
    auto how = start(", cores: 2", 3);
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--cpus 3: the server has 2 cores"));
    how = start("", 65);
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--cpus 65: the server has 64 cores"));
    how = start("", 2, " --nodes 3");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--nodes 3: the guest has 2 processors"));
    // The maximum is accepted: the start fails later, as the QEMU image is not a program.
    how = start(", cores: 2", 2);
    EXPECT_NE(how.status, 0);
    EXPECT_THAT(how.output, testing::Not(HasSubstr("--cpus")));
}

TEST(GuestCommandLine, UnknownServerIsNamed) {
    scratch_folder folder;
    std::ofstream(folder / "image") << "never started";
    const auto file = [&](const std::string& option) { return option + (folder / "image"); };
    const auto how =
        run(trnvp + " guest tests/integration/control/two_servers.yaml" + file(" --qemu ") +
            file(" --kernel ") + file(" --initrd ") + " --server server7");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--server server7: board 'two-servers' has no such server"));
    EXPECT_THAT(how.output, HasSubstr("server0, server1"));
}

TEST(GuestCommandLine, RepeatedServerIsRefused) {
    scratch_folder folder;
    std::ofstream(folder / "image") << "never started";
    const auto file = [&](const std::string& option) { return option + (folder / "image"); };
    const auto start = [&](const std::string& servers) {
        return run(trnvp + " guest tests/integration/control/two_servers.yaml" + file(" --qemu ") +
                   file(" --kernel ") + file(" --initrd ") + " " + servers);
    };
    auto how = start("--servers server0,server7");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--servers server7: board 'two-servers' has no such server"));
    how = start("--servers server0,server0");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--servers: server0 is given twice"));
    how = start("--server server0 --servers all");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--server excludes --servers"));
    how = start("--clock sun");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--clock"));
}

TEST(GuestCommandLine, UnknownArchitecturesAreRefusedWithTheChoices) {
    const auto how = run(trnvp + " guest trn3-chip --arch sparc");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("--arch"));
    EXPECT_THAT(how.output, HasSubstr("x86_64, aarch64"));
}

TEST(GuestCommandLine, FilesOfAnotherArchitectureAreRefused) {
    scratch_folder tools;
    fs::create_directory(tools / "aarch64");
    for (const char* file : {"busybox", "aarch64/busybox"}) std::ofstream(tools / file) << "x";
    const auto start = [&](const std::string& words) {
        return run("TRNVP_GUEST_TOOLS=" + tools.text() + " " + trnvp + " guest trn3-chip " + words);
    };
    const auto x86 = (fs::path(trnvp).parent_path() / "trn-guest").string();
    if (!fs::exists(fs::path(trnvp).parent_path() / "trn-guest-aarch64"))
        GTEST_SKIP() << "no aarch64-linux-gnu-gcc";
    for (const char* option : {"--module ", "--run "}) {
        const auto how = start("--arch aarch64 " + (option + x86));
        EXPECT_EQ(how.status, 2) << how.output;
        EXPECT_THAT(how.output, HasSubstr("trn-guest is for x86_64, and the guest is aarch64"));
    }
}

TEST(GuestCommandLine, MissingToolsAreDistinguishedFromFailures) {
    scratch_folder tools;
    std::ofstream(tools / "missing") << "the mirror is asleep\n";
    const auto how = run("TRNVP_GUEST_TOOLS=" + tools.text() + " " + trnvp + " guest trn3-chip");
    EXPECT_EQ(how.status, no_tools);
    EXPECT_THAT(how.output, HasSubstr("./dev setup"));
    EXPECT_THAT(how.output, HasSubstr("the mirror is asleep"));
}

}  // namespace
}  // namespace trn::test

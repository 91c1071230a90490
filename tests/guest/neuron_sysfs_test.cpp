// SPDX-License-Identifier: Apache-2.0
// What the sysfs of the public Neuron driver shows in a guest: faults that are injected outside,
// programs and memory of a process, and what a device plug-in reads. The module is not part of this
// project: doc/guide-driver.md describes how to build it.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/guest/tooled_guest.h"

namespace trn::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class NeuronSysfs : public tooled_guest {
protected:
    NeuronSysfs() : tooled_guest("neuron", "neuron.ko", "public driver") {}

    void SetUp() override {
        try {
            for (const char* tool : {"qemu-system-x86_64", "vmlinuz", "busybox"})
                guest_tools::find(tool);
        } catch (const tools_missing& why) {
            GTEST_SKIP() << why.what();
        }
        if (!fs::exists(module()))
            GTEST_SKIP() << "no public driver in " << module()
                         << ": build it (doc/guide-driver.md), or name it in TRNVP_NEURON_MODULE";
    }
    static std::string module() {
        const char* const named = std::getenv("TRNVP_NEURON_MODULE");
        return named != nullptr ? named : guest_tools::folder() / "neuron.ko";
    }
    /// A command that runs `text` in a guest when the driver has reset its devices.
    std::string guest(const std::string& board, const std::string& text,
                      const std::string& parameters = {}) const {
        std::ofstream(folder / "script") << "#!/bin/sh\n" << ready << text;
        return TRNVP " guest " + board + " --module '" + module() + " dup_helper_enable=0 " +
               parameters + "' --run " + (folder / "script") + " </dev/null";
    }
    static constexpr const char* ready = R"sh(
for try in $(seq 2400); do
    case "$(cat /sys/class/neuron_device/neuron*/reset)" in *0*|*2*) sleep 0.1 ;; *) break ;; esac
done
cd /sys/class/neuron_device/neuron0
)sh";
};

/// The guest reads faulty bytes through the BARs until a counter changes. The samples of power in
/// misc RAM count 50 ms of simulated time each: fewer than 20 from a read to the changed file are
/// less than a second.
TEST_F(NeuronSysfs, InjectedMemoryErrorsAppearWithinASecondOfSimulatedTime) {
    const std::string command =
        guest("trn3-chip --set shared_hbm=false --append iomem=relaxed --listen " + folder.text(),
              R"sh(
set -- $(sed -n '1p;5p' /sys/bus/pci/devices/0000:01:00.0/resource)
bar0=$1 bar4=$4
sample() { echo $(($(devmem $((bar0 + 0x06c84054)) 32) >> 16)); }
watch() {
    old=$(cat stats/hardware/$1)
    echo inject $1
    for try in $(seq 1000); do
        before=$(sample)
        devmem $2 32 >/dev/null
        sleep 0.1
        new=$(cat stats/hardware/$1)
        [ $new = $old ] || break
    done
    echo $1 was $old is $new after $((($(sample) - before) & 0xffff)) samples
}
devmem $((bar4 + 0x10000000)) 32 0x12345678
watch sram_ecc_uncorrected $((bar0 + 0xd0010000))
watch mem_ecc_uncorrected $((bar4 + 0x10000000))
)sh");
    const auto how = run_with_faults(
        command,
        {{"inject sram_ecc_uncorrected", "chip0.nc0", "sram_parity", ", offset=65536"},
         {"inject mem_ecc_uncorrected", "chip0.hbm0", "hbm_uncorrected", ", offset=0x10000000"}});
    ASSERT_EQ(how.status, 0) << how.output;
    for (const char* counter : {"sram_ecc_uncorrected", "mem_ecc_uncorrected"})
        EXPECT_THAT(how.output,
                    testing::ContainsRegex(std::string(counter) +
                                           " was 0 is [1-9][0-9]* after 1?[0-9] samples"));
}

/// What trn-ls and trn-monitor show by sysfs alone, to root and to another user: "ROOT", "USER" and
/// "MONITOR" precede it.
void expect_tools(const std::string& output) {
    const auto part = [&](const std::string& begin, const std::string& end) {
        const auto first = output.find("\n" + begin);
        return output.substr(first, output.find("\n" + end, first) - first);
    };
    const auto root = part("ROOT", "USER"), user = part("USER", "MONITOR");
    for (const auto& text : {root, user}) {
        EXPECT_THAT(text, HasSubstr("\"memory_size\":154618822656"));
        EXPECT_THAT(text, HasSubstr("\"nc_count\":4"));
        EXPECT_THAT(text, HasSubstr("\"status\":\"ready\""));
    }
    EXPECT_THAT(root, HasSubstr("\"bdf\":\"0000:01:00.0\""));
    EXPECT_THAT(user, HasSubstr("\"bdf\":null"));  // only root opens the node
    EXPECT_THAT(user, HasSubstr("\"neuron_processes\":null"));
    EXPECT_THAT(
        user, HasSubstr("processes: n/a (processes of other users are not visible without root)"));
    const auto report = part("MONITOR", "END");
    EXPECT_THAT(report, HasSubstr("\"neuron_device_type\":\"trainium3\""));
    EXPECT_THAT(report, HasSubstr("\"mem_ecc_uncorrected\":0"));
    // The driver has no such entries.
    EXPECT_THAT(report,
                HasSubstr("\"error\":\"not known: mem_ecc_corrected, sram_ecc_corrected\""));
    EXPECT_THAT(report, Not(HasSubstr("\"mem_ecc_corrected\":")));
}

/// add.trn on core 3, once with the right sum and once with a wrong one. The driver adds up what a
/// process did when it ends. The tools are programs with shared libraries.
TEST_F(NeuronSysfs, ProgramsAndMemoryOfAProcessAreAccountedFor) {
    fs::create_directory(folder / "add");
    std::ofstream x(folder / "add/x", std::ios::binary);
    for (int i = 0; i < 128 * 512; ++i) {
        const float number = static_cast<float>(i % 100);
        x.write(reinterpret_cast<const char*>(&number), 4);
    }
    x.close();
    ASSERT_EQ(run(ASSEMBLER " " SCENARIOS "/programs/add.trn -o " + (folder / "add/set")).status,
              0);
    const auto how = run(guest("trn3-chip --run " TRN_LS " --run '" TRN_MONITOR
                               " --count 1 --period 0.1' --run " +
                                   (folder / "add"),
                               R"sh(
for run in 1 2; do trn-guest program --via neuron 3 /program/add/set x=/program/add/x; done
for each in status/success status/failure status/timeout other_info/model_load_count \
    other_info/inference_count other_info/nc_time_in_use; do
    echo $each $(cat neuron_core3/stats/$each/total) $(cat neuron_core2/stats/$each/total)
done
for kind in model_code tensors dma_rings uncategorized; do
    echo $kind $(cat neuron_core3/stats/memory_usage/device_mem/$kind/total) \
        peak $(cat neuron_core3/stats/memory_usage/device_mem/$kind/peak)
done
echo dma_buffers $(cat stats/memory_usage/host_mem/dma_buffers/total)
echo $(cat info/architecture/*) and $(ls -d neuron_core* | wc -l) cores
mkdir -p /etc
echo 'user:x:1000:1000::/:/bin/sh' >/etc/passwd
echo ROOT; /program/trn-ls --json
echo USER; su user -c '/program/trn-ls --json; /program/trn-ls'
echo MONITOR; su user -c '/program/trn-monitor --count 1 --period 0.1'
echo END
)sh"));
    ASSERT_EQ(how.status, 0) << how.output;
    for (const char* line :
         {"status/success 2 0", "status/failure 0 0", "status/timeout 0 0",
          "other_info/model_load_count 2 0", "other_info/inference_count 2 0", "dma_buffers 0"})
        EXPECT_THAT(how.output, HasSubstr(std::string("\n") + line + "\r"));
    EXPECT_THAT(how.output, testing::ContainsRegex("nc_time_in_use [1-9][0-9]+ 0"));
    for (const char* kind : {"model_code", "tensors", "dma_rings"})
        EXPECT_THAT(how.output, testing::ContainsRegex(std::string(kind) + " 0 peak [1-9][0-9]+"));
    EXPECT_THAT(how.output, HasSubstr("uncategorized 0 peak 0"));
    EXPECT_THAT(how.output, HasSubstr("NDv4 Trainium3 Trn3 and 8 cores"));
    expect_tools(how.output);
}

/// What a device plug-in reads: nodes, cores, neighbours of the server's torus.
TEST_F(NeuronSysfs, DevicePlugInFindsNodesCoresAndNeighbours) {
    const auto how = run(guest("trn3-chip-sim --devices 16", R"sh(
ls /dev/neuron* | wc -l
for n in 0 5; do
    device=/sys/class/neuron_device/neuron$n
    echo $n cores $(cat $device/core_count) connected $(cat $device/connected_devices)
done
)sh",
                               "mempool_host_memory_size=4194304"));
    ASSERT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("\n16\r\n0 cores 8 connected 12, 1, 3, 4\r\n"
                                      "5 cores 8 connected 4, 9, 1, 6\r\n"));
}

}  // namespace
}  // namespace trn::test

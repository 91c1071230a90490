// SPDX-License-Identifier: Apache-2.0
// Random programs on our hart and on Debian's qemu-system-riscv64 must record the same traps,
// registers and memory.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "models/riscv/hart.h"
#include "tests/integration/riscv_diff/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::riscv::test {

namespace {

namespace fs = std::filesystem;
using bytes = std::vector<u8>;

// Of QEMU's virt machine.
constexpr u64 ram_base = 0x8000'0000, ram_size = u64{32} << 20;
constexpr u64 uart = 0x1000'0000, power = 0x10'0000;

/// What of the virt machine the monitor uses: RAM, a UART's transmit register, the power switch.
class virt_machine : public hart_bus {
public:
    explicit virt_machine(const bytes& image) : ram_(ram_size) {
        std::copy(image.begin(), image.end(), ram_.begin());
    }

    bytes run() {
        hart cpu({.reset_vector = ram_base}, *this, std::make_shared<code_cache>());
        constexpr u64 limit = 20'000'000;
        while (!off_ && cpu.ticks() < limit) cpu.run(10'000);
        EXPECT_TRUE(off_) << "did not end; pc " << std::hex << cpu.pc();
        return printed_;
    }

    bool read(u64, std::span<u8>) override { return false; }
    bool write(u64 pa, std::span<const u8> data) override {
        if (pa == uart) printed_.push_back(data[0]);
        if (pa == power) off_ = true;
        return pa == uart || pa == power;
    }
    bool debug_read(u64, std::span<u8>) override { return false; }
    bool debug_write(u64, std::span<const u8>) override { return false; }
    std::optional<direct_memory> direct(u64 pa) override {
        if (pa - ram_base >= ram_size) return std::nullopt;
        return direct_memory{ram_base, ram_base + ram_size - 1, ram_.data(), true, true};
    }
    u64 time() override { return 0; }

private:
    bytes ram_;
    bytes printed_;
    bool off_ = false;
};

bytes contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Waits for a child, with a time limit.
std::optional<int> wait_for(pid_t child) {
    constexpr int max_seconds = 300;
    for (int i = 0; i < max_seconds * 200; ++i) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) return WEXITSTATUS(status);
        usleep(5000);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return std::nullopt;
}

bytes run_in_qemu(const bytes& image) {
    const trn::test::scratch_folder folder;
    const auto program = folder / "program.bin", output = folder / "output.bin";
    std::ofstream(program, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.data()),
               static_cast<std::streamsize>(image.size()));
    const std::string serial = "file:" + output;
    const std::string loader = "loader,addr=0x80000000,file=" + program;
    const pid_t child = fork();
    if (child == 0) {
        execlp("qemu-system-riscv64", "qemu-system-riscv64", "-M", "virt", "-m", "32", "-cpu",
               "rv64,f=false,d=false,h=false,zbc=false,sstc=false", "-bios", "none", "-display",
               "none", "-monitor", "none", "-serial", serial.c_str(), "-device", loader.c_str(),
               nullptr);
        _exit(127);
    }
    const auto status = wait_for(child);
    const bytes result = contents(output);
    EXPECT_TRUE(status) << "qemu-system-riscv64 did not end";
    EXPECT_NE(status.value_or(0), 127) << "qemu-system-riscv64 is missing: ./dev setup installs it "
                                          "(package qemu-system-misc)";
    return result;
}

u64 word_at(const bytes& text, std::size_t at) {
    u64 value = 0;
    if (at + 8 <= text.size()) std::memcpy(&value, &text[at], 8);
    return value;
}

/// The trap that differs first, for a person. Output is registers at the end, the hash of S mode,
/// the data, then a record per trap.
std::string difference(const bytes& ours, const bytes& theirs) {
    constexpr std::size_t trace = 32 * 8 + 8 + 0x4000, words = 4 + 31, record = words * 8;
    constexpr const char* names[] = {"cause", "pc", "value", "status"};
    if (ours == theirs) return "";
    for (std::size_t at = trace; at < std::max(ours.size(), theirs.size()); at += record) {
        std::ostringstream text;
        for (std::size_t i = 0; i < words; ++i) {
            const u64 a = word_at(ours, at + 8 * i), b = word_at(theirs, at + 8 * i);
            if (a == b) continue;
            text << (i < 4 ? std::string(names[i]) : "x" + std::to_string(i - 3)) << std::hex << " "
                 << a << ", qemu " << b << std::dec << "; ";
        }
        if (!text.str().empty())
            return "trap " + std::to_string((at - trace) / record) + ": " + text.str() + "at pc " +
                   fmt::format("{:#x}", word_at(ours, at + 8));
    }
    return "the data or what S mode saw differs";
}

class RandomProgram : public testing::TestWithParam<u64> {};

}  // namespace

TEST_P(RandomProgram, MatchesQemu) {
    constexpr u64 seeds_per_test = 8;
    const elf_program monitor = read_elf(MONITOR);
    for (u64 i = 0; i < seeds_per_test; ++i) {
        const u64 seed = GetParam() * 1000 + i;
        const random_program program(monitor, seed);
        const bytes ours = virt_machine(program.image).run();
        const bytes theirs = run_in_qemu(program.image);
        ASSERT_GT(ours.size(), 20000u);
        ASSERT_EQ(difference(ours, theirs), "") << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgram, testing::Range<u64>(1, 9));

}  // namespace trn::riscv::test

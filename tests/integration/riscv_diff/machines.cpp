// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/riscv_diff/machines.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>

#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/hart/hart.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::riscv::test {

namespace {

namespace fs = std::filesystem;

/// The part of QEMU's virt machine used by the monitor: RAM, a UART's transmit register, the power
/// switch.
class virt_machine : public hart_bus {
public:
    explicit virt_machine(const bytes& image) : ram_(ram_size) {
        std::copy(image.begin(), image.end(), ram_.begin());
    }

    bytes run(isa extensions) {
        hart cpu({.extensions = extensions, .reset_vector = ram_base}, *this, make_code_cache());
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

/// Waits for a child process, with a time limit.
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

}  // namespace

bytes run_in_hart(const bytes& image, isa extensions) {
    return virt_machine(image).run(extensions);
}

namespace {

/// Extensions that later releases add to `rv64`, and that need what the argument disables.
std::string with_later_extensions_disabled(const std::string& cpu) {
    constexpr int first = 9;
    int major = 0;
    const auto version = trn::test::run("qemu-system-riscv64 --version").output;
    std::sscanf(version.c_str(), "QEMU emulator version %d", &major);
    return major >= first ? cpu + ",zfa=false" : cpu;
}

}  // namespace

bytes run_in_qemu(const bytes& image, const std::string& machine) {
    const std::string cpu = with_later_extensions_disabled(machine);
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
               cpu.c_str(), "-bios", "none", "-display", "none", "-monitor", "none", "-serial",
               serial.c_str(), "-device", loader.c_str(), nullptr);
        _exit(127);
    }
    const auto status = wait_for(child);
    const bytes result = contents(output);
    EXPECT_TRUE(status) << "qemu-system-riscv64 did not end";
    EXPECT_NE(status.value_or(0), 127) << "qemu-system-riscv64 is missing: ./dev setup installs it "
                                          "(package qemu-system-misc)";
    return result;
}

}  // namespace trn::riscv::test

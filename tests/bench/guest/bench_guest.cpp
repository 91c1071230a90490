// SPDX-License-Identifier: Apache-2.0
// Cost of the chip for a Linux guest: register reads compared with a trivial device over the same
// protocol in the same guest, the driver's writes after a reset, copies compared with memcpy,
// sixteen devices.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>

#include "tests/bench/guest/trivial_device.h"
#include "tests/bench/rows.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn::test;

constexpr int no_tools = 77;

struct guest_run {
    int status = -1;
    std::string output;
    double resident_mib = 0;  ///< maximum of the simulator process
};

double peak_resident_mib(pid_t pid) {
    std::ifstream in(fmt::format("/proc/{}/status", pid));
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
    return 0;
}

guest_run run_guest(std::vector<std::string> words) {
    words.insert(words.begin(), {TRNVP, "guest"});
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (!std::freopen("/dev/null", "r", stdin)) _exit(127);
        dup2(ends[1], STDOUT_FILENO);
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    close(ends[1]);
    guest_run how;
    char bytes[4096];
    for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;) {
        how.output.append(bytes, static_cast<std::size_t>(got));
        how.resident_mib = std::max(how.resident_mib, peak_resident_mib(pid));
    }
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    how.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (how.status != 0 && how.status != no_tools)
        std::cerr << "the guest ended with " << how.status << ":\n" << how.output;
    return how;
}

/// Parses the rows "bench NAME VALUE UNIT" of the guest program.
std::map<std::string, double> values_of(const std::string& output) {
    std::map<std::string, double> values;
    std::istringstream in(output);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string mark, name;
        double value = 0;
        if (words >> mark >> name >> value && mark == "bench") values[name] = value;
    }
    return values;
}

/// GB/s of memcpy in this process, with buffers of the guest's size.
double memcpy_speed() {
    constexpr std::size_t size = 64 << 20;
    const auto from = std::make_unique<char[]>(size), to = std::make_unique<char[]>(size);
    std::memset(from.get(), 0x5a, size);
    std::memset(to.get(), 1, size);
    const double ns = nanoseconds_each(1, [&] { std::memcpy(to.get(), from.get(), size); });
    return to[size / 2] == 0x5a ? size / ns : 0;
}

bool one_guest(std::vector<bench_row>& rows, int& status) {
    const scratch_folder folder;
    const auto socket = folder / "peer.sock";
    const int listening = listen_on(socket);
    const pid_t peer = fork();
    if (peer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve_trivial_device(listening);
        _exit(0);
    }
    const auto how = run_guest(
        {"trn3-chip", "--memory", "4096", "--append", "hugepagesz=1G hugepages=1", "--run",
         TRN_GUEST " bench", "--", "-device",
         R"({"driver":"vfio-user-pci","socket":{"path":")" + socket + R"(","type":"unix"}})"});
    kill(peer, SIGKILL);
    waitpid(peer, nullptr, 0);
    status = how.status;
    if (how.status != 0) return false;
    const auto values = values_of(how.output);
    std::map<std::string_view, double> v;
    for (const char* name :
         {"mmio_read", "peer_mmio_read", "reset", "reset_writes", "ring_copy", "guest_memcpy"}) {
        if (!values.contains(name)) {
            std::cerr << "the guest did not measure " << name << ":\n" << how.output;
            return false;
        }
        v[name] = values.at(name);
    }
    rows.push_back({.name = "guest: MMIO read",
                    .value = v["mmio_read"],
                    .unit = "us",
                    .goal = "at most 1.5 x the peer",
                    .met = v["mmio_read"] <= 1.5 * v["peer_mmio_read"],
                    .peer = "trivial vfio-user device in the same guest",
                    .peer_value = v["peer_mmio_read"]});
    rows.push_back(
        {.name = fmt::format("guest: device reset with its {} register writes", v["reset_writes"]),
         .value = v["reset"],
         .unit = "s",
         .goal = "18,500 writes in less than 1.5 s",
         .met = v["reset"] < 1.5});
    const double plain = memcpy_speed();
    rows.push_back({.name = "guest: copy to HBM through a host-transfer ring",
                    .value = v["ring_copy"],
                    .unit = "GB/s",
                    .goal = "at least 0.5 x the peer",
                    .met = v["ring_copy"] >= 0.5 * plain,
                    .peer = "memcpy on this machine",
                    .peer_value = plain});
    rows.push_back({.name = "guest: memcpy inside it", .value = v["guest_memcpy"], .unit = "GB/s"});
    return true;
}

bool sixteen_devices(std::vector<bench_row>& rows) {
    const auto how = run_guest({"trn3-chip-sim", "--devices", "16"});
    const auto end = how.output.find("16 devices: all is well in ");
    if (how.status != 0 || end == std::string::npos) return false;
    const double seconds = std::stod(how.output.substr(end + 27));
    rows.push_back({.name = "guest: 16 devices probed, reset, copied through",
                    .value = seconds,
                    .unit = "s",
                    .goal = "< 30 s",
                    .met = seconds < 30});
    rows.push_back({.name = "guest: 16 devices, resident",
                    .value = how.resident_mib,
                    .unit = "MiB",
                    .goal = "< 1200 MiB",
                    .met = how.resident_mib < 1200});
    return true;
}

/// Seconds until a guest with these PCI functions has booted and ended.
double boot_seconds(const std::string& functions) {
    const auto start = std::chrono::steady_clock::now();
    const auto how =
        run_guest({"trn3-sled", "--functions", functions, "--run", TRN_GUEST " end 0 0xf4"});
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return how.status == 0 ? passed.count() : std::numeric_limits<double>::infinity();
}

/// The two kinds of guest alternate, so that the load of the machine affects both.
bool boots(std::vector<bench_row>& rows) {
    constexpr int rounds = 3;
    std::array<double, rounds> all{}, none{};
    for (int i = 0; i < rounds; ++i) {
        none[i] = boot_seconds("none");
        all[i] = boot_seconds("all");
    }
    const double with = *std::ranges::min_element(all), without = *std::ranges::min_element(none);
    if (!std::isfinite(with) || !std::isfinite(without)) return false;
    rows.push_back({.name = "guest: boot with a sled's chips and cards",
                    .value = with,
                    .unit = "s",
                    .goal = "at most 1.3 x the peer",
                    .met = with <= 1.3 * without,
                    .peer = "a guest without functions",
                    .peer_value = without});
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<bench_row> rows;
    int status = 0;
    if (!one_guest(rows, status) && status != no_tools) return 1;
    if (status == no_tools)
        std::cerr << "no guest here: these rows are left out\n";
    else if (!sixteen_devices(rows) || !boots(rows))
        return 1;
    return report(rows, argc, argv);
}

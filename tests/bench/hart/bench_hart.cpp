// SPDX-License-Identifier: Apache-2.0
// Speed of a hart compared with qemu-system-riscv64 (TCG) in the same run, and the cost of its
// parts. Speed is guest instructions per second of processor time without start-up; median of five
// interleaved runs.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "models/misuse_rules.h"
#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/riscv_hart.h"
#include "models/processor/riscv/translate/translate.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/bench/rows.h"

namespace {

using trn::test::bench_row;
using trn::test::median;
using words = std::vector<std::string>;

constexpr int runs = 5;

/// Runs a program to its end, with its output in `output`; returns its processor time in seconds.
double processor_time(const words& command, const std::string& output = "/dev/null") {
    const pid_t child = fork();
    if (child == 0) {
        const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        for (const int descriptor : {1, 2}) dup2(out, descriptor);
        dup2(open("/dev/null", O_RDONLY), 0);
        std::vector<char*> arguments;
        for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    int status = 0;
    rusage used{};
    wait4(child, &status, 0, &used);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error(command[0] + " failed on " + command.back());
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::string guest(const std::string& name, const std::string& length) {
    return std::string(GUESTS) + "/" + name + "-" + length + ".elf";
}
words ours(const std::string& quantum, const std::string& how = "interpret") {
    return {TRNVP, "exec", "--hart", how, "--quantum", quantum};
}
words qemu() {
    return {"qemu-system-riscv64",
            "-M",
            "spike",
            "-m",
            "128",
            "-bios",
            "none",
            "-display",
            "none",
            "-kernel"};
}

/// Processor time of the long (or medium) run minus that of the short run, in seconds.
double net_time(words command, const std::string& name, const std::string& length = "long") {
    command.push_back(guest(name, length));
    const double whole = processor_time(command);
    command.back() = guest(name, "short");
    return whole - processor_time(command);
}

double instructions(const std::string& name, const std::string& length) {
    const std::string report = std::string(GUESTS) + "/statistics.txt";
    processor_time({TRNVP, "exec", "--statistics", guest(name, length)}, report);
    std::ifstream in(report);
    std::string word;
    double count = 0;
    in >> word >> count;  // "executed N instructions in …"
    if (word != "executed") throw std::runtime_error("no statistics from trnvp exec");
    return count;
}

/// Of the runs made in turns, the pair with the median ratio: other work of the machine lasts
/// longer than a pair.
std::pair<double, double> median_pair(const std::vector<double>& mine,
                                      const std::vector<double>& peer) {
    std::vector<std::pair<double, double>> pairs;
    for (std::size_t run = 0; run < mine.size(); ++run) pairs.emplace_back(mine[run], peer[run]);
    std::ranges::sort(pairs, {}, [](const auto& pair) { return pair.first / pair.second; });
    return pairs[pairs.size() / 2];
}

/// Loss of speed in percent.
double loss(const std::vector<double>& times, const std::vector<double>& slower) {
    const auto [time, slow] = median_pair(times, slower);
    return 100 * (1 - time / slow);
}

void speed(std::vector<bench_row>& rows) {
    constexpr std::array<std::pair<const char*, const char*>, 3> workloads{
        {{"integer", "integer and branches"},
         {"streaming", "memory streaming"},
         {"crc_sort", "CRC-32 and quicksort"}}};
    double product = 1, worst_loss = 0;
    for (const auto& [name, title] : workloads) {
        const double count = instructions(name, "long") - instructions(name, "short");
        std::vector<double> here, small_quantum, there;
        for (int run = 0; run < runs; ++run) {
            here.push_back(net_time(ours("100000"), name));
            small_quantum.push_back(net_time(ours("1000"), name));
            there.push_back(net_time(qemu(), name));
        }
        const double mine = count / median(here) * 1e-6, peer = count / median(there) * 1e-6;
        rows.push_back({std::string("hart, ") + title, mine, "MIPS", ">= 0.45 x",
                        mine >= 0.45 * peer, "qemu-system-riscv64", peer});
        product *= mine / peer;
        worst_loss = std::max(worst_loss, loss(here, small_quantum));
    }
    const double mean = std::cbrt(product);
    rows.push_back(
        {"hart, geometric mean of the three ratios", mean, "x", ">= 0.65", mean >= 0.65, "", {}});
    rows.push_back({"hart, worst loss with a quantum of 1,000 instructions",
                    worst_loss,
                    "%",
                    "<= 5",
                    worst_loss <= 5,
                    "",
                    {}});
}

/// With translation of hot blocks; the slowest ratio is compared with the goal.
void translated_speed(std::vector<bench_row>& rows) {
    constexpr std::array<std::pair<const char*, const char*>, 9> workloads{
        {{"integer", "integer and branches"},
         {"streaming", "memory streaming"},
         {"crc_sort", "CRC-32 and quicksort"},
         {"sha256", "SHA-256"},
         {"sha256_zbb", "SHA-256 with Zbb"},
         {"procedures", "small procedures and strings"},
         {"chase", "pointer chase"},
         {"bytecode", "byte code interpreter"},
         {"matrix", "integer matrix product"}}};
    double slowest = 1e9;
    for (const auto& [name, title] : workloads) {
        const double count = instructions(name, "long") - instructions(name, "short");
        std::vector<double> here, there;
        for (int run = 0; run < runs; ++run) {
            here.push_back(net_time(ours("100000", "translate"), name));
            there.push_back(net_time(qemu(), name));
        }
        const double mine = count / median(here) * 1e-6, peer = count / median(there) * 1e-6;
        rows.push_back({std::string("translated hart, ") + title, mine, "MIPS", ">= 1.4 x",
                        mine >= 1.4 * peer, "qemu-system-riscv64", peer});
        slowest = std::min(slowest, mine / peer);
    }
    rows.push_back(
        {"translated hart, slowest of the ratios", slowest, "x", ">= 1.4", slowest >= 1.4, "", {}});
}

void translated_quantum(std::vector<bench_row>& rows) {
    std::vector<double> large, small;
    for (int run = 0; run < runs; ++run) {
        large.push_back(net_time(ours("100000", "translate"), "integer"));
        small.push_back(net_time(ours("1000", "translate"), "integer"));
    }
    const double lost = loss(large, small);
    rows.push_back({"translated hart, loss with a quantum of 1,000 instructions",
                    lost,
                    "%",
                    "<= 5",
                    lost <= 5,
                    "",
                    {}});
}

/// In check mode, beside harts that interpret; the slowest is compared with the goal.
void checked_speed(std::vector<bench_row>& rows) {
    constexpr std::array<const char*, 10> workloads{
        "integer",    "streaming", "crc_sort", "sha256", "sha256_zbb",
        "procedures", "chase",     "bytecode", "matrix", "kernel"};
    constexpr double goal = 60;
    double slowest = 1e9;
    for (const std::string name : workloads) {
        const double count = instructions(name, "medium") - instructions(name, "short");
        std::vector<double> checked, interpreted;
        for (int run = 0; run < runs; ++run) {
            checked.push_back(net_time(ours("100000", "check"), name, "medium"));
            interpreted.push_back(net_time(ours("100000"), name, "medium"));
        }
        const auto [mine, peer] = median_pair(checked, interpreted);
        const double speed = count / mine * 1e-6;
        rows.push_back({"checked hart, " + name, speed, "MIPS", ">= 60", speed >= goal,
                        "interpreted", count / peer * 1e-6});
        slowest = std::min(slowest, speed);
    }
    rows.push_back({"checked hart, slowest", slowest, "MIPS", ">= 60", slowest >= goal, "", {}});
}

/// A bus with memory from address 0 and no devices.
class flat_memory final : public trn::riscv::hart_bus {
public:
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(1 << 20);

    bool read(std::uint64_t, std::span<std::uint8_t>) override { return false; }
    bool write(std::uint64_t, std::span<const std::uint8_t>) override { return false; }
    bool debug_read(std::uint64_t, std::span<std::uint8_t>) override { return false; }
    bool debug_write(std::uint64_t, std::span<const std::uint8_t>) override { return false; }
    std::optional<trn::riscv::direct_memory> direct(std::uint64_t pa) override {
        if (pa >= bytes.size()) return std::nullopt;
        return trn::riscv::direct_memory{0, bytes.size() - 1, bytes.data(), true, true};
    }
    std::uint64_t time() override { return 0; }
};

/// A guest in memory where its linker script puts it, without devices.
class loaded_guest final : public trn::riscv::hart_bus {
public:
    explicit loaded_guest(const std::string& name)
        : program_(trn::read_elf(guest(name, "long"))), bytes_(16 << 20) {
        for (const auto& segment : program_.segments)
            std::ranges::copy(segment.bytes, &bytes_[segment.address - base]);
    }

    bool read(std::uint64_t, std::span<std::uint8_t>) override { return false; }
    bool write(std::uint64_t, std::span<const std::uint8_t>) override { return false; }
    bool debug_read(std::uint64_t, std::span<std::uint8_t>) override { return false; }
    bool debug_write(std::uint64_t, std::span<const std::uint8_t>) override { return false; }
    std::optional<trn::riscv::direct_memory> direct(std::uint64_t pa) override {
        if (pa - base >= bytes_.size()) return std::nullopt;
        return trn::riscv::direct_memory{base, base + bytes_.size() - 1, bytes_.data(), true, true};
    }
    std::uint64_t time() override { return 0; }

    std::uint64_t address(const std::string& symbol) const {
        const auto found = program_.symbol(symbol);
        if (!found) throw std::runtime_error("no symbol " + symbol);
        return *found;
    }
    std::uint64_t entry() const { return program_.entry; }

private:
    static constexpr std::uint64_t base = 0x8000'0000;
    trn::elf_program program_;
    std::vector<std::uint8_t> bytes_;
};

/// A translated hart with a breakpoint that is not reached, or a watched word that is not accessed,
/// beside one without.
void watched_speed(std::vector<bench_row>& rows) {
    using trn::riscv::hart;
    enum class means { watchpoint, trigger, breakpoint };
    struct place {
        const char* title;
        const char* symbol;
        std::int64_t offset;
        means by = means::watchpoint;
    };
    constexpr std::array<place, 7> places{
        {{"watchpoint on a global that is not written", "fromhost", 0},
         {"watchpoint on the page of the stack", "stack_top", -1024},
         {"watchpoint on the page of hot data", "second", 44},
         {"watchpoint on a global that is not written, by a trigger", "fromhost", 0,
          means::trigger},
         {"watchpoint on the page of the stack, by a trigger", "stack_top", -1024, means::trigger},
         {"watchpoint on the page of hot data, by a trigger", "second", 44, means::trigger},
         {"breakpoint on the page of hot code", "_start", 0, means::breakpoint}}};
    constexpr std::uint64_t instructions = 200'000'000, quantum = 100'000;
    constexpr std::uint64_t mcontrol6 = std::uint64_t{6} << 60, in_machine_mode = 1 << 6,
                            on_store = 2;
    const auto time_of = [&](const place* where) {
        trn::riscv::translate::choose(trn::riscv::translate::mode::translate);
        loaded_guest bus("procedures");
        hart dut({.reset_vector = bus.entry()}, bus, trn::riscv::make_code_cache());
        dut.run(1'000, quantum);
        if (where != nullptr) {
            const auto at = bus.address(where->symbol) + static_cast<std::uint64_t>(where->offset);
            if (where->by == means::watchpoint) dut.add_watchpoint({at, 4, false, true});
            if (where->by == means::breakpoint) dut.add_breakpoint(at);
            if (where->by == means::trigger) {
                dut.write_csr(0x7a2, at);  // tdata2, tdata1
                dut.write_csr(0x7a1, mcontrol6 | in_machine_mode | on_store);
            }
        }
        dut.run(1'000'000, quantum);  // until the code is translated
        const std::clock_t begin = std::clock();
        for (std::uint64_t done = 0; done < instructions;) done += dut.run(quantum, quantum);
        if (dut.halted()) throw std::runtime_error("the hart was stopped");
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    if (!trn::riscv::translate::choose(trn::riscv::translate::mode::translate)) return;
    constexpr double goal = 0.4;
    for (const auto& where : places) {
        std::vector<double> watched, plain;
        for (int run = 0; run < runs; ++run) {
            watched.push_back(time_of(&where));
            plain.push_back(time_of(nullptr));
        }
        const auto [mine, peer] = median_pair(watched, plain);
        rows.push_back({std::string("translated hart, ") + where.title, instructions / mine * 1e-6,
                        "MIPS", ">= 0.4 x", peer >= goal * mine, "without",
                        instructions / peer * 1e-6});
    }
}

constexpr std::uint64_t first_block = 0x10000;

/// Writes a program of blocks of 20 instructions, each executed once.
void put_blocks(flat_memory& ram, unsigned blocks) {
    std::array<std::uint32_t, 20> block{0x05030313};          // addi x6, x6, 80
    constexpr std::array<std::uint32_t, 6> body{0x00b50533,   // add  a0, a0, a1
                                                0x0006b603,   // ld   a2, 0(a3)
                                                0x00c585bb,   // addw a1, a1, a2
                                                0x00d5c733,   // xor  a4, a1, a3
                                                0x0075581b,   // srliw a6, a0, 7
                                                0x00b6b023};  // sd   a1, 0(a3)
    for (std::size_t i = 1; i + 1 < block.size(); ++i) block[i] = body[i % body.size()];
    block.back() = 0x00030067;  // jr x6
    for (std::uint32_t i = 0; i < blocks; ++i) {
        // Lui a7, i: makes the page unique, as equal pages share their translated code.
        block[1] = i << 12 | 0x8b7;
        std::memcpy(&ram.bytes[first_block + i * sizeof block], block.data(), sizeof block);
    }
}

double time_of_blocks(flat_memory& ram, unsigned blocks) {
    trn::riscv::hart dut({.reset_vector = first_block}, ram, trn::riscv::make_code_cache());
    dut.write_x(6, first_block);
    const std::clock_t begin = std::clock();
    dut.run(std::uint64_t{20} * blocks);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Cost of translating a block, compared with interpreting it once.
void translation(std::vector<bench_row>& rows) {
    using trn::riscv::translate::mode;
    constexpr unsigned blocks = 4000;
    flat_memory ram;
    put_blocks(ram, blocks);
    std::vector<double> times;
    for (int run = 0; run < runs; ++run) {
        if (!trn::riscv::translate::choose(mode::translate, {.threshold = 1})) return;
        const double translated = time_of_blocks(ram, blocks);
        trn::riscv::translate::choose(mode::interpret);
        times.push_back((translated - time_of_blocks(ram, blocks)) / blocks * 1e6);
    }
    const double each = median(times);
    rows.push_back({"translated hart, translation of a block of 20 instructions",
                    each,
                    "us",
                    "<= 30",
                    each <= 30,
                    "",
                    {}});
}

/// The path from a hart to a device register, written by hand with tlm_utils' sockets: an
/// initiator, a bus with as many ranges as that of `trnvp exec`, and a device with one array.
class plain_bus : public sc_core::sc_module {
public:
    tlm_utils::multi_passthrough_target_socket<plain_bus, 64> in{"in"};
    tlm_utils::multi_passthrough_initiator_socket<plain_bus, 64> out{"out"};

    explicit plain_bus(const sc_core::sc_module_name&) {
        in.register_b_transport(this, &plain_bus::b_transport);
    }

private:
    struct range {
        std::uint64_t first, size;
        int port;
    };
    void b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const std::uint64_t address = payload.get_address();
        for (const auto& range : ranges_)
            if (address - range.first < range.size) {
                payload.set_address(address - range.first);
                out[range.port]->b_transport(payload, delay);
                payload.set_address(address);
                return;
            }
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    const std::array<range, 6> ranges_{{{0x1000, 0xf000, 0},
                                        {0x10'0000, 0x1000, 0},
                                        {0x200'0000, 0xc000, 0},
                                        {0xc00'0000, 0x400'0000, 0},
                                        {0x1000'0000, 0x100, 0},
                                        {0x8000'0000, 0x1000'0000, 0}}};
};

class plain_device : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<plain_device, 64> in{"in"};

    explicit plain_device(const sc_core::sc_module_name&) {
        in.register_b_transport(this, &plain_device::b_transport);
    }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        const std::uint64_t number = payload.get_address() / 4;
        if (number >= registers_.size() || payload.get_data_length() != 4)
            return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        if (payload.is_write())
            std::memcpy(&registers_[number], payload.get_data_ptr(), 4);
        else
            std::memcpy(payload.get_data_ptr(), &registers_[number], 4);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    std::array<std::uint32_t, 64> registers_{};
};

class plain_initiator : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<plain_initiator, 64> out{"out"};

    explicit plain_initiator(const sc_core::sc_module_name&) {}

    /// Reads the register `times` times; returns the sum, so that no read is optimised away.
    std::uint64_t read(std::uint64_t address, unsigned times) {
        std::uint64_t sum = 0;
        for (unsigned n = 0; n < times; ++n) {
            std::uint32_t word = 0;
            sc_core::sc_time delay;
            payload_.set_read();
            payload_.set_address(address);
            payload_.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
            payload_.set_data_length(4);
            payload_.set_streaming_width(4);
            payload_.set_byte_enable_ptr(nullptr);
            payload_.set_dmi_allowed(false);
            payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            out->b_transport(payload_, delay);
            if (!payload_.is_response_ok()) throw std::runtime_error("the chain failed");
            sum += word + 1;
        }
        return sum;
    }

private:
    tlm::tlm_generic_payload payload_;
};

struct plain_chain {
    plain_chain() {
        initiator.out.bind(bus.in);
        bus.out.bind(device.in);
    }
    plain_initiator initiator{"plain_initiator"};
    plain_bus bus{"plain_bus"};
    plain_device device{"plain_device"};
};

void device_access(std::vector<bench_row>& rows, plain_chain& chain) {
    constexpr unsigned accesses = 10'000'000;
    constexpr std::uint64_t device = 0x200'0000;
    std::vector<double> times, by_hand;
    for (int run = 0; run < runs; ++run) {
        times.push_back(net_time(ours("100000"), "mmio"));
        const std::clock_t begin = std::clock();
        if (chain.initiator.read(device, accesses) < accesses)
            throw std::runtime_error("the chain left out reads");
        by_hand.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    const auto [here, plain] = median_pair(times, by_hand);
    const double each = here / accesses * 1e9, peer = plain / accesses * 1e9;
    rows.push_back({"hart to device register and back, loop included", each, "ns", "at most 2 x",
                    each <= 2 * peer, "b_transport through the same hops by hand", peer});
}

/// A trap whose cause is found by a bus access, compared with one caused by the instruction.
void traps(std::vector<bench_row>& rows) {
    constexpr double count = 10'000'000;
    std::vector<double> illegal, unmapped;
    for (int run = 0; run < runs; ++run) {
        illegal.push_back(net_time(ours("100000"), "traps"));
        unmapped.push_back(net_time(ours("100000"), "unmapped"));
    }
    const double mine = count / median(unmapped) * 1e-6, peer = count / median(illegal) * 1e-6;
    rows.push_back({"hart, traps on fetches from where nothing is", mine, "million/s", ">= 0.1 x",
                    mine >= 0.1 * peer, "illegal instructions", peer});
}

double resident_kib() {
    std::ifstream statm("/proc/self/statm");
    double size = 0, resident = 0;
    statm >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

/// As many harts as a rack has, on one memory. Each has a seed and 256 bytes, which it reads,
/// writes and uses for branch decisions.
class rack_of_harts {
public:
    static constexpr unsigned count = 3024;  // 144 chips of 21

    rack_of_harts() {
        constexpr std::array<std::uint32_t, 20> program{0xf1402473,   // csrr s0, mhartid
                                                        0x00841493,   // slli s1, s0, 8
                                                        0x00020937,   // lui  s2, 0x20
                                                        0x012484b3,   // add  s1, s1, s2
                                                        0x00140413,   // addi s0, s0, 1
                                                        0x00d41593,   // slli a1, s0, 13  <- again
                                                        0x00b44433,   // xor  s0, s0, a1
                                                        0x00745593,   // srli a1, s0, 7
                                                        0x00b44433,   // xor  s0, s0, a1
                                                        0x01141593,   // slli a1, s0, 17
                                                        0x00b44433,   // xor  s0, s0, a1
                                                        0x0f847593,   // andi a1, s0, 0xf8
                                                        0x009585b3,   // add  a1, a1, s1
                                                        0x0005b603,   // ld   a2, 0(a1)
                                                        0x00147693,   // andi a3, s0, 1
                                                        0x00068463,   // beqz a3, .+8
                                                        0x00860633,   // add  a2, a2, s0
                                                        0x00160613,   // addi a2, a2, 1
                                                        0x00c5b023,   // sd   a2, 0(a1)
                                                        0xfc9ff06f};  // j    again
        bus_.initiator.bind(ram_.in);
        bus_.map({0, 1 << 20, 0, 0});
        std::memcpy(ram_.bytes().data() + 0x1000, program.data(), sizeof program);
        for (unsigned i = 0; i < count; ++i) {
            const std::string name = "hart" + std::to_string(i);
            harts_.push_back(std::make_unique<trn::riscv_hart>(
                name.c_str(), trn::riscv_hart::config{.hart_id = i}, shared_));
            resets_.push_back(std::make_unique<trn::irq_out>((name + "_reset").c_str()));
            harts_.back()->bus.bind(bus_.target);
            resets_.back()->bind(harts_.back()->reset);
            harts_.back()->core();  // as after reset
        }
    }

    /// Processor time of one instruction in nanoseconds with only the first `busy` harts running.
    double time_of_instruction(unsigned busy, const sc_core::sc_time& simulated) {
        for (unsigned i = 0; i < count; ++i) resets_[i]->set(true);
        for (unsigned i = 0; i < busy; ++i) resets_[i]->set(false);
        // Until the code of the harts is translated.
        sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_US));
        const double before = done(busy);
        const std::clock_t begin = std::clock();
        sc_core::sc_start(simulated);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        return seconds * 1e9 / (done(busy) - before);
    }

private:
    double done(unsigned busy) {
        double ticks = 0;
        for (unsigned i = 0; i < busy; ++i) ticks += static_cast<double>(harts_[i]->core().ticks());
        return ticks;
    }

    trn::memory ram_{"ram", {.size = 1 << 20}};
    trn::router bus_{"bus", {}};
    trn::hart_common shared_;
    std::vector<std::unique_ptr<trn::riscv_hart>> harts_;
    std::vector<std::unique_ptr<trn::irq_out>> resets_;
};

/// Harts that all run instructions, compared with a single hart.
void busy_harts(std::vector<bench_row>& rows, rack_of_harts& rack) {
    const auto measure = [&](unsigned busy, const char* name) {
        const sc_core::sc_time each(60, sc_core::SC_MS);  // shared by all harts
        std::vector<double> together, alone;
        for (int run = 0; run < runs; ++run) {
            alone.push_back(rack.time_of_instruction(1, each));
            together.push_back(rack.time_of_instruction(busy, each / busy));
        }
        const auto [mine, peer] = median_pair(together, alone);
        rows.push_back(
            {name, mine, "ns per instruction", "at most 1.2 x", mine <= 1.2 * peer, "one", peer});
    };
    measure(21, "translated harts, 21 that are busy");
    measure(2880, "translated harts, 2,880 that are busy");
}

void cost_of_a_hart(std::vector<bench_row>& rows) {
    constexpr unsigned count = rack_of_harts::count;
    trn::riscv::translate::choose(trn::riscv::translate::mode::translate);
    const double before = resident_kib();
    const std::clock_t begin = std::clock();
    rack_of_harts rack;
    const double micros = static_cast<double>(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC / count;
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
    const double all = (resident_kib() - before) / 1024, each = all * 1024 / count;
    rows.push_back(
        {"translated harts, 3,024 with one image", all, "MiB", "<= 256", all <= 256, "", {}});
    rows.push_back({"hart, memory each after running", each, "KiB", "<= 32", each <= 32, "", {}});
    rows.push_back(
        {"hart, processor time to create each", micros, "us", "<= 50", micros <= 50, "", {}});
    busy_harts(rows, rack);
}

}  // namespace

int sc_main(int argc, char** argv) {
    trn::misuse::set_rules(trn::misuse::all_rules);
    std::vector<bench_row> rows;
    plain_chain chain;
    try {
        speed(rows);
        translated_speed(rows);
        translated_quantum(rows);
        checked_speed(rows);
        watched_speed(rows);
        translation(rows);
        traps(rows);
        cost_of_a_hart(rows);
        device_access(rows, chain);  // the chain was elaborated together with the harts
    } catch (const std::runtime_error& e) {
        std::fprintf(stderr, "bench_hart: %s\n", e.what());
        return 1;
    }
    return trn::test::report(rows, argc, argv);
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

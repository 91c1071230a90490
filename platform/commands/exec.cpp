// SPDX-License-Identifier: Apache-2.0
#include "platform/commands/exec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>

#include "models/interrupts/aclint.h"
#include "models/interrupts/plic.h"
#include "models/riscv/commit_log.h"
#include "models/riscv/riscv_hart.h"
#include "platform/commands/coverage_option.h"
#include "platform/commands/guarded.h"
#include "platform/commands/htif.h"
#include "platform/commands/misuse_option.h"
#include "platform/commands/report_file.h"
#include "platform/loader/elf.h"
#include "platform/tlm/memory.h"
#include "platform/tlm/router.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t rom_base = 0x1000, rom_size = 0x1000;
constexpr std::uint64_t ram_base = 0x8000'0000, ram_size = std::uint64_t{128} << 20;
constexpr std::uint64_t aclint_base = 0x0200'0000, aclint_size = 0xc000;
constexpr std::uint64_t plic_base = 0x0c00'0000, plic_size = 0x0400'0000;

struct exec_options {
    std::string program;
    std::string commit_log;
    std::filesystem::path coverage;
    std::string signature;
    unsigned signature_granularity = 4;
    std::uint64_t max_instructions = ~std::uint64_t{0};
    std::string isa = riscv::isa::full().name();
    std::uint64_t quantum = 10'000;  // instructions
    bool statistics = false;
    std::vector<misuse::policy_choice> misuse;
};

/// The machine that Spike presents to a bare-metal program.
class machine : public sc_core::sc_module {
public:
    machine(sc_core::sc_module_name name, const elf_program& program, const riscv_hart::config& cfg)
        : sc_module(name), hart_("hart", cfg) {
        hart_.bus.bind(bus_.target);
        hart_.set_time_source(aclint_);
        aclint_.software[0].bind(hart_.irq, riscv_hart::machine_software);
        aclint_.timer[0].bind(hart_.irq, riscv_hart::machine_timer);
        plic_.out[0].bind(hart_.irq, riscv_hart::machine_external);
        plic_.out[1].bind(hart_.irq, riscv_hart::supervisor_external);
        connect(rom_.in, {rom_base, rom_size, 0});
        connect(aclint_.in, {aclint_base, aclint_size, 0});
        connect(plic_.in, {plic_base, plic_size, 0});
        attach_ram(program);
        load(program);
    }

    riscv_hart& hart() { return hart_; }
    memory& ram() { return ram_; }
    std::optional<int> exit_code() const { return exit_code_; }

private:
    struct place {
        std::uint64_t base, size, target_base;
    };

    template <typename Socket>
    void connect(Socket& target, const place& at) {
        bus_.initiator.bind(target);
        map(at);
        ++port_;
    }
    void map(const place& at) {
        if (at.size > 0) bus_.map({at.base, at.size, at.target_base, port_});
    }

    void attach_ram(const elf_program& program) {
        const auto tohost = program.symbol("tohost");
        const bool inside = tohost && *tohost - ram_base <= ram_size - 8;
        if (!inside) return connect(ram_.in, {ram_base, ram_size, 0});
        htif_ = std::make_unique<htif>("htif", ram_,
                                       htif::config{ram_base, *tohost, program.symbol("fromhost"),
                                                    [this](int code) { on_exit(code); }});
        const std::uint64_t page = htif_->page(), after = page + htif::page_size;
        map({ram_base, page, 0});
        connect(ram_.in, {ram_base + after, ram_size - after, after});
        connect(htif_->in, {ram_base + page, htif::page_size, page});
    }

    void on_exit(int code) {
        if (exit_code_) return;
        exit_code_ = code;
        hart_.core().request_halt();
        sc_core::sc_stop();
    }

    void load(const elf_program& program) {
        for (const auto& segment : program.segments) {
            const std::uint64_t offset = segment.address - ram_base;
            if (offset > ram_size || segment.size > ram_size - offset)
                throw user_error(fmt::format(
                    "segment {:#x}..{:#x} is outside the RAM, {:#x}..{:#x}", segment.address,
                    segment.address + segment.size - 1, ram_base, ram_base + ram_size - 1));
            ram_.load(offset, segment.bytes);
        }
        // Spike's reset vector: a0 = hart id, a1 = device tree (none here), jump to the entry.
        std::array<std::uint32_t, 8> code{0x00000297,  // auipc t0, 0
                                          0x02028593,  // addi  a1, t0, 32
                                          0xf1402573,  // csrr  a0, mhartid
                                          0x0182b283,  // ld    t0, 24(t0)
                                          0x00028067,  // jr    t0
                                          0,
                                          static_cast<std::uint32_t>(program.entry),
                                          static_cast<std::uint32_t>(program.entry >> 32)};
        std::array<std::uint8_t, sizeof code> bytes;
        std::memcpy(bytes.data(), code.data(), sizeof code);
        rom_.load(0, bytes);
    }

    riscv_hart hart_;
    router bus_{"bus", {}};
    aclint aclint_{"aclint", {.harts = 1}};
    plic plic_{"plic", {.sources = 31, .contexts = 2}};
    memory rom_{"rom", {.size = rom_size, .read_only = true}};
    memory ram_{"ram", {.size = ram_size}};
    std::unique_ptr<htif> htif_;
    unsigned port_ = 0;
    std::optional<int> exit_code_;
};

/// The bytes between begin_signature and end_signature, as lines of `granularity` bytes in
/// hexadecimal, the lowest address at the right end of its line (RISC-V architecture tests).
void write_signature(const exec_options& chosen, const elf_program& program, memory& ram) {
    const auto begin = program.symbol("begin_signature"), end = program.symbol("end_signature");
    if (!begin || !end)
        throw user_error(chosen.program + ": has no symbols begin_signature and end_signature");
    const std::uint64_t first = *begin - ram_base, last = *end - ram_base;
    if (first > last || last > ram_size)
        throw user_error(chosen.program + ": the signature is not in the RAM");
    std::ofstream out(chosen.signature);
    const unsigned line = chosen.signature_granularity;
    for (std::uint64_t at = first; at < last; at += line) {
        std::string text;
        for (unsigned i = line; i-- > 0;)
            text += fmt::format("{:02x}", at + i < last ? ram.bytes().data()[at + i] : 0);
        out << text << '\n';
    }
    if (!out.flush()) throw user_error(chosen.signature + ": " + std::strerror(errno));
}

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

file open_log(const std::string& path) {
    file log(path.empty() ? nullptr : std::fopen(path.c_str(), "w"), std::fclose);
    if (!path.empty() && log == nullptr) throw user_error(path + ": " + std::strerror(errno));
    return log;
}

void print_statistics(machine& m, std::clock_t took) {
    const double seconds = static_cast<double>(took) / CLOCKS_PER_SEC;
    const std::uint64_t executed = m.hart().core().ticks();
    fmt::print(stderr, "executed {} instructions in {:.3f} s of processor time: {:.1f} MIPS\n",
               executed, seconds, static_cast<double>(executed) / seconds * 1e-6);
}

riscv::isa isa_option(const std::string& text) try {
    return riscv::isa::parse(text);
} catch (const std::invalid_argument& wrong) {
    throw user_error(wrong.what());
}

int exec(const exec_options& chosen) {
    const elf_program program = read_elf(chosen.program);
    check_report(chosen.coverage);
    std::optional<coverage> executed;
    if (!chosen.coverage.empty()) executed.emplace(std::vector<fs::path>{chosen.program});
    machine m("machine", program,
              {.isa = isa_option(chosen.isa),
               .quantum_instructions = chosen.quantum,
               .instruction_limit = chosen.max_instructions});
    const file log = open_log(chosen.commit_log);
    riscv::commit_log commits(log.get());
    if (log != nullptr) m.hart().core().log_commits(&commits);

    // A bare-metal program may well want its access faults: rules count when they are asked for.
    misuse::set_policy_of_all(misuse::policy::count);
    apply(chosen.misuse);
    const std::clock_t begin = std::clock();
    // The kernel announces every sc_stop(); here it is the normal end.
    sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO,
                                            sc_core::SC_DO_NOTHING);
    sc_core::sc_start();
    std::fflush(stdout);
    if (chosen.statistics) print_statistics(m, std::clock() - begin);
    if (executed) write_coverage(*executed, chosen.coverage);
    if (!chosen.signature.empty()) write_signature(chosen, program, m.ram());
    if (!chosen.misuse.empty()) print_misuse({});
    if (m.exit_code()) {
        const int code = std::min(*m.exit_code(), 255);
        return code == 0 && misuse::failed() ? 1 : code;
    }
    const riscv::hart& core = m.hart().core();
    const char* const why = core.waiting() ? "it waits for an interrupt that never comes"
                                           : "--max-instructions was reached";
    fmt::print(stderr, "trnvp: {}: did not end: {} (pc {:#x}, {} instructions)\n", chosen.program,
               why, core.pc(), core.ticks());
    return 1;
}

}  // namespace

void add_exec(CLI::App& app, int& status) {
    auto chosen = std::make_shared<exec_options>();
    CLI::App* command = app.add_subcommand("exec", "run a bare-metal RISC-V program on one hart");
    command->add_option("program", chosen->program, "RV64 ELF executable")->required();
    command->add_option("--commit-log", chosen->commit_log,
                        "write each retired instruction, in Spike's format, to this file");
    add_coverage_option(*command, chosen->coverage);
    command->add_option("--signature", chosen->signature,
                        "write the memory between begin_signature and end_signature to this file");
    command
        ->add_option("--signature-granularity", chosen->signature_granularity,
                     "bytes per line of the signature")
        ->check(CLI::IsMember({1, 2, 4, 8, 16}));
    command
        ->add_option("--max-instructions", chosen->max_instructions,
                     "fail when the program has not ended after so many")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50));
    command->add_option("--isa", chosen->isa, "such as rv64imac_zba_zbb_zbs");
    command->add_option("--quantum", chosen->quantum, "instructions between two looks at the rest")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30));
    add_misuse_option(*command, chosen->misuse);
    command->add_flag("--statistics", chosen->statistics,
                      "print the number of instructions and the speed");
    command->callback([chosen, &status] { status = guarded([&] { return exec(*chosen); }); });
}

}  // namespace trn

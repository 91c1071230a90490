// SPDX-License-Identifier: Apache-2.0
// What a register access costs inside the target: decode, checks, value, hook.
#include "platform/framework/registers/register_bank.h"
#include "tests/support/bench.h"
#include "tests/unit/registers/example_regs.h"

namespace {

using namespace trn;
using example_regs::reg;

constexpr std::uint32_t accesses = 2'000'000;
constexpr double goal_ns = 10;

double time_accesses(register_bank& bank, tlm::tlm_command command, reg to) {
    std::uint32_t word = 1;
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    p.set_data_length(4);
    p.set_streaming_width(4);
    sc_core::sc_time delay;
    // Walk engines and queues, so that neither cache nor branch predictor sees one address.
    std::array<std::uint64_t, 1024> addresses;
    for (std::uint32_t i = 0; i < addresses.size(); ++i)
        addresses[i] = i * 7 % 32 * 0x100000ull + example_regs::offset(to, i * 5 % 3);
    return test::nanoseconds_each(accesses, [&] {
        for (std::uint32_t i = 0; i < accesses; ++i) {
            p.set_address(addresses[i % addresses.size()]);
            p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            bank.access(p, delay);
        }
    });
}

}  // namespace

int sc_main(int argc, char** argv) {
    register_bank bank(example_regs::table, {.instances = 32, .stride = 0x100000});
    std::uint64_t sum = 0;
    bank.on_write(reg::q_tail, [&](register_access& a) { sum += a.written; });
    std::vector<test::bench_row> rows;
    auto row = [&](const char* name, double ns) {
        rows.push_back({name, ns, "ns", "at most 10 ns", ns <= goal_ns});
    };
    row("register read, 32 instances", time_accesses(bank, tlm::TLM_READ_COMMAND, reg::q_base));
    row("register write, 32 instances", time_accesses(bank, tlm::TLM_WRITE_COMMAND, reg::q_base));
    row("register write with hook", time_accesses(bank, tlm::TLM_WRITE_COMMAND, reg::q_tail));
    return sum == 0 ? 1 : test::report(rows, argc, argv);
}

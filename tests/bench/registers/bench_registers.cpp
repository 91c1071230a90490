// SPDX-License-Identifier: Apache-2.0
// Cost of a register access inside the target: decode, checks, value, hook. The peer is minimal
// decoding: a table look-up and a call through the function pointer found there. A hook adds the
// value to a sum, as does the peer's function for that register.
#include <array>
#include <cstdint>
#include <ctime>
#include <vector>

#include "platform/framework/registers/register_bank.h"
#include "tests/bench/rows.h"
#include "tests/unit/registers/example_regs.h"

namespace {

using namespace trn;
using example_regs::reg;

constexpr std::uint32_t accesses = 2'000'000, instances = 32;
constexpr std::uint64_t stride = 0x100000;
constexpr double goal_ratio = 3;

/// Maps offsets to a function and the location of the value in an instance.
class plain_registers {
public:
    plain_registers() : entries_(example_regs::table.size / 4), values_(instances * slots) {
        std::uint32_t slot = 0;
        for (const auto& row : example_regs::table.rows) {
            const bool hooked = &row == &example_regs::table.rows[std::size_t(reg::q_tail)];
            for (std::uint32_t i = 0; i < row.count; ++i)
                entries_[row.element(i) / 4] = {{read, hooked ? write_and_add : write}, slot++};
        }
    }
    static std::uint64_t sum() { return sum_; }

    void access(tlm::tlm_generic_payload& payload) {
        const std::uint64_t instance = payload.get_address() / stride,
                            offset = payload.get_address() % stride;
        const entry& at = entries_[offset / 4];
        auto* word = reinterpret_cast<std::uint32_t*>(payload.get_data_ptr());
        at.calls[payload.is_write() ? 1 : 0](values_[instance * slots + at.slot], *word);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

private:
    using function = void (*)(std::uint32_t& value, std::uint32_t& word);
    struct entry {
        std::array<function, 2> calls;
        std::uint32_t slot;
    };
    static constexpr std::uint32_t slots = example_regs::table.slots;

    static void read(std::uint32_t& value, std::uint32_t& word) { word = value; }
    static void write(std::uint32_t& value, std::uint32_t& word) { value = word; }
    static void write_and_add(std::uint32_t& value, std::uint32_t& word) {
        value = word;
        sum_ += word;
    }

    static inline std::uint64_t sum_ = 0;
    std::vector<entry> entries_;
    std::vector<std::uint32_t> values_;
};

/// Nanoseconds of processor time per access.
template <class Access>
double time_accesses(tlm::tlm_command command, reg to, Access access) {
    std::uint32_t word = 1;
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    p.set_data_length(4);
    p.set_streaming_width(4);
    // Iterates over engines and queues, so that caches and branch predictor do not see a single
    // address.
    std::array<std::uint64_t, 1024> addresses;
    for (std::uint32_t i = 0; i < addresses.size(); ++i)
        addresses[i] = i * 7 % instances * stride + example_regs::offset(to, i * 5 % 3);
    const std::clock_t begin = std::clock();
    for (std::uint32_t i = 0; i < accesses; ++i) {
        p.set_address(addresses[i % addresses.size()]);
        p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        access(p);
    }
    return static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC / accesses;
}

}  // namespace

int sc_main(int argc, char** argv) {
    register_bank bank(example_regs::table, {.instances = instances, .stride = stride});
    plain_registers plain;
    std::uint64_t sum = 0;
    bank.on_write(reg::q_tail, [&](register_access& a) { sum += a.written; });
    std::vector<test::bench_row> rows;
    auto row = [&](const char* name, tlm::tlm_command command, reg to) {
        std::vector<double> mine, peer;
        sc_core::sc_time delay;
        for (int round = 0; round < 15; ++round) {  // alternating
            mine.push_back(time_accesses(command, to, [&](auto& p) { bank.access(p, delay); }));
            peer.push_back(time_accesses(command, to, [&](auto& p) { plain.access(p); }));
        }
        const double ns = test::median(mine), least = test::median(peer);
        rows.push_back({name, ns, "ns", "at most 3 x", ns <= goal_ratio * least,
                        "table and function pointer", least});
    };
    row("register read, 32 instances", tlm::TLM_READ_COMMAND, reg::q_base);
    row("register write, 32 instances", tlm::TLM_WRITE_COMMAND, reg::q_base);
    row("register write with hook", tlm::TLM_WRITE_COMMAND, reg::q_tail);
    return sum == 0 || sum != plain.sum() ? 1 : test::report(rows, argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
// A register access that fails once, anywhere in an operation: the operation reports it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "models/neuron_isa/assembler/assembler.h"
#include "sw-stubs/programs/include/trn_program.h"
#include "tests/unit/stub/fake_device.h"
#include "trn/sequencer_regs.h"

namespace trn::test {
namespace {

constexpr std::uint64_t mib = 1 << 20;

/// A device that is ready, with a program on core 0 and a copy of core 0 that does not end.
struct ready_device {
    fake_device chip;
    trn_device* device = nullptr;
    trn_program* program = nullptr;
    trn_notification_ring notifications{};

    ready_device() {
        const auto transport = chip.transport();
        device = trn_create(&transport, nullptr);
        chip.answer_resets();
        EXPECT_EQ(trn_probe(device), TRN_OK) << trn_last_error(device);
        EXPECT_EQ(trn_reset_device(device), TRN_OK) << trn_last_error(device);
    }
    ~ready_device() { trn_destroy(device); }

    void load_program() {
        const auto set = isa::write_program_set(
            isa::assemble_set(".engine scalar\nhalt\n.engine vector\nhalt\n", "test.trn"));
        EXPECT_EQ(trn_program_load(device, set.data(), set.size(), nullptr, &program), TRN_OK);
    }
    void start_program(trn_core_engine_mode end) {
        load_program();
        chip.recording = true;
        EXPECT_EQ(trn_program_start(program), TRN_OK) << trn_last_error(device);
        chip.recording = false;
        for (const auto& access : chip.log)
            if (access.write && access.value == TRN_SEQUENCER_CONTROL_START_MASK)
                chip.bar0[access.offset - TRN_SEQUENCER_CONTROL_OFFSET +
                          TRN_SEQUENCER_STATUS_OFFSET] = end;
    }
    void start_copy() {
        chip.rings_run = false;
        trn_job job = 0;
        EXPECT_EQ(trn_submit(device, 0, trn_hbm_address(device, 0, 64 * mib),
                             trn_hbm_address(device, 0, 32 * mib), 4096, &job),
                  TRN_OK);
    }
    trn_ring_request ring() const {
        const auto base = trn_hbm_address(device, 0, 96 * mib);
        return {2, 3, base, 64, base + 4096, 64};
    }
};

/// A call that succeeds on a device in the state that `prepare` leaves.
struct operation {
    const char* name;
    std::function<trn_status(ready_device&)> call;
    std::function<void(ready_device&)> prepare = [](auto&) {};
};

const operation operations[]{
    {"probe", [](auto& d) { return trn_probe(d.device); }},
    {"reset of a device", [](auto& d) { return trn_reset_device(d.device); }},
    {"reset of cores", [](auto& d) { return trn_reset_cores(d.device, 1); },
     [](auto& d) {
         d.start_copy();
         EXPECT_EQ(trn_notification_set(d.device, TRN_NOTIFY_CORE, 0, 3, 0, 4096), TRN_OK);
     }},
    {"scrub", [](auto& d) { return trn_scrub(d.device, 1, 16 * mib, mib, 7); }},
    {"memset",
     [](auto& d) {
         return trn_memset(d.device, 0, trn_hbm_address(d.device, 0, 32 * mib), 1, mib);
     }},
    {"restart of a queue", [](auto& d) { return trn_restart_queue(d.device, 0); }},
    {"opening of a queue",
     [](auto& d) {
         std::uint32_t queue = 0;
         return trn_host_queue_open(d.device, 0, &queue);
     }},
    {"state of an engine",
     [](auto& d) {
         trn_engine_state state;
         return trn_engine_get_state(d.device, 0, &state);
     }},
    {"state of a queue",
     [](auto& d) {
         trn_queue_state state;
         return trn_queue_get_state(d.device, 0, 0, &state);
     }},
    {"rings",
     [](auto& d) {
         const auto request = d.ring();
         return trn_ring_init_batch(d.device, &request, 1);
     }},
    {"end of a process", [](auto& d) { return trn_process_exit(d.device); },
     [](auto& d) {
         const auto request = d.ring();
         EXPECT_EQ(trn_ring_init_batch(d.device, &request, 1), TRN_OK);
     }},
    {"topology",
     [](auto& d) {
         trn_topology topology;
         return trn_get_topology(d.device, &topology);
     }},
    {"opening of the pod's links", [](auto& d) { return trn_pod_open(d.device); }},
    {"closing of the pod's links", [](auto& d) { return trn_pod_close(d.device); },
     [](auto& d) { EXPECT_EQ(trn_pod_open(d.device), TRN_OK); }},
    {"status of the pod",
     [](auto& d) {
         trn_pod pod;
         return trn_pod_status(d.device, &pod);
     }},
    {"opening of notifications",
     [](auto& d) {
         return trn_notifications_open(d.device, TRN_NOTIFY_CORE, 0, 3, 4096, &d.notifications);
     }},
    {"start of a program", [](auto& d) { return trn_program_start(d.program); },
     [](auto& d) { d.load_program(); }},
    {"poll of a program whose engines failed",
     [](auto& d) {
         trn_program_result result;
         return trn_program_poll(d.program, &result);
     },
     [](auto& d) { d.start_program(TRN_CORE_ENGINE_FAILED); }},
    {"unloading of a program that runs", [](auto& d) { return trn_program_unload(d.program); },
     [](auto& d) { d.start_program(TRN_CORE_ENGINE_RUNNING); }},
};

/// Numbers of 1 to `total`: the first and the last ones, and some between them.
std::set<std::size_t> sample(std::size_t total) {
    std::set<std::size_t> numbers;
    for (std::size_t n = 0; n < std::min<std::size_t>(total, 8); ++n) {
        numbers.insert(1 + n);
        numbers.insert(total - n);
        numbers.insert(1 + n * total / 8);
    }
    return numbers;
}

TEST(StubLostAccess, IsReportedByTheOperationThatMadeIt) {
    for (const auto& one : operations) {
        SCOPED_TRACE(one.name);
        std::size_t total = 0;
        {
            ready_device working;
            one.prepare(working);
            working.chip.accesses = 0;
            ASSERT_EQ(one.call(working), TRN_OK) << trn_last_error(working.device);
            total = working.chip.accesses;
        }
        ASSERT_GT(total, 0u);
        for (const auto number : sample(total)) {
            ready_device failing;
            one.prepare(failing);
            failing.chip.accesses = 0;
            failing.chip.failing_access = number;
            EXPECT_EQ(one.call(failing), TRN_TRANSPORT_ERROR)
                << "access " << number << " of " << total;
        }
    }
}

}  // namespace
}  // namespace trn::test

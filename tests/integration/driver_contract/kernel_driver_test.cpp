// SPDX-License-Identifier: Apache-2.0
// The stub as a user process of a kernel driver: another driver of the same device performs the
// privileged operations (trn_kernel_driver), and blocks registers as ioctl 12 does (contract 13.2).
#include <gmock/gmock.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "models/neuron_isa/assembler/assembler.h"
#include "sw-stubs/host/programs/loaded_program.h"
#include "tests/integration/driver_contract/contract_fixture.h"

namespace trn::test {
namespace {

/// A kernel driver with one user process.
class kernel_side {
public:
    explicit kernel_side(device& driver) : driver_(driver) {}

    trn_transport transport() {
        static constexpr trn_kernel_driver kernel{
            .reset = [](void* c, std::uint32_t map) { return self(c).reset(map); },
            .memory_alloc =
                [](void* c, const trn_kernel_memory* wanted, std::uint64_t* address) {
                    *address = self(c).allocate(wanted->stack, wanted->size, wanted->alignment);
                    self(c).memory[wanted->purpose] += wanted->size;
                    return 0;
                },
            .memory_free = [](void* c, std::uint64_t) { --self(c).allocated; },
            .write =
                [](void* c, std::uint32_t core, std::uint64_t address, const void* bytes,
                   std::uint64_t size) {
                    return result(trn_write(self(c).driver_, core, address, bytes, size));
                },
            .read =
                [](void* c, std::uint32_t core, std::uint64_t address, void* bytes,
                   std::uint64_t size) {
                    return result(trn_read(self(c).driver_, core, bytes, address, size));
                },
            .ring_init = [](void* c, const trn_kernel_ring* r) { return self(c).give(*r); },
            .notifications =
                [](void* c, int is_top_sp, std::uint32_t number, std::uint32_t slot,
                   std::uint32_t size, trn_dma_memory* ring) {
                    return self(c).open(is_top_sp != 0 ? TRN_NOTIFY_TOP_SP : TRN_NOTIFY_CORE,
                                        number, slot, size, *ring);
                }};
        trn_transport t{};
        t.context = this;
        t.name = "kernel driver";
        t.bar_size = [](void* c, std::uint32_t bar) {
            const auto info = self(c).driver_.info();
            return bar == info.register_bar ? info.register_bar_size
                                            : (bar == 4 ? info.bar4_size : std::uint64_t{0});
        };
        t.bar_read32 = [](void* c, std::uint32_t, std::uint64_t offset, std::uint32_t* value) {
            return result(trn_bar_read(self(c).driver_, offset, value));
        };
        t.bar_write32 = [](void* c, std::uint32_t, std::uint64_t offset, std::uint32_t value) {
            return result(trn_bar_write(self(c).driver_, offset, value));
        };
        t.config_read = [](void* c, std::uint32_t offset, std::uint32_t, std::uint32_t* value) {
            const auto info = self(c).driver_.info();
            *value = offset == 0   ? info.vendor_id | std::uint32_t{info.device_id} << 16
                     : offset == 8 ? info.revision
                                   : 0;
            return 0;
        };
        t.config_write = [](void*, std::uint32_t, std::uint32_t, std::uint32_t) { return 0; };
        t.dma_alloc = [](void* c, std::uint64_t size, trn_dma_memory* memory) {
            trn_buffer buffer{};
            const trn_status status = trn_buffer_alloc(self(c).driver_, size, &buffer);
            *memory = buffer.memory;
            return result(status);
        };
        t.dma_free = [](void* c, const trn_dma_memory* memory) { self(c).close(*memory); };
        t.wait = [](void* c, std::uint64_t ns) { return result(trn_sleep(self(c).driver_, ns)); };
        t.now = [](void* c) { return trn_now(self(c).driver_); };
        t.kernel = &kernel;
        t.account = [](void* c, const trn_accounts* now) { self(c).accounts = *now; };
        t.close = [](void*) {};
        return t;
    }

    unsigned resets = 0, rings = 0;
    int allocated = 0;
    std::map<trn_memory_purpose, std::uint64_t> memory;  // bytes allocated
    trn_accounts accounts{};

private:
    static kernel_side& self(void* context) { return *static_cast<kernel_side*>(context); }
    static int result(trn_status status) {
        if (status == TRN_OK) return 0;
        return status == TRN_INVALID_ARGUMENT ? -EINVAL : -EIO;
    }

    int reset(std::uint32_t map) {
        ++resets;
        return result(map == ~0u ? trn_reset_device(driver_) : trn_reset_cores(driver_, map));
    }
    std::uint64_t allocate(std::uint32_t stack, std::uint64_t size, std::uint64_t alignment) {
        ++allocated;
        next_ = (next_ + alignment - 1) / alignment * alignment;
        const std::uint64_t at = next_;
        next_ += size;
        return trn_hbm_address(driver_, stack, at);
    }
    /// Places a ring at another address than the process does.
    int give(const trn_kernel_ring& r) {
        ++rings;
        const auto moved = [&](std::uint64_t from, std::uint32_t length) {
            const std::uint64_t bytes = 16ull * length, to = allocate(0, bytes, 4096);
            --allocated;
            driver_.check(trn_copy(driver_, r.core, to, from, bytes));
            return to;
        };
        return result(trn_ring_init(driver_, r.engine, r.queue, moved(r.m2s_base, r.m2s_length),
                                    r.m2s_length, moved(r.s2m_base, r.s2m_length), r.s2m_length));
    }
    int open(trn_notifier block, std::uint32_t number, std::uint32_t slot, std::uint32_t size,
             trn_dma_memory& ring) {
        trn_notification_ring own;
        const trn_status status = trn_notifications_open(driver_, block, number, slot, size, &own);
        if (status != TRN_OK) return result(status);
        const auto skipped = static_cast<std::uint64_t>(
            own.entries - static_cast<const std::uint8_t*>(own.memory.host));
        ring = {const_cast<std::uint8_t*>(own.entries), own.memory.iova + skipped, size};
        open_.emplace(ring.iova, own);
        return 0;
    }
    void close(const trn_dma_memory& memory) {
        const auto found = open_.find(memory.iova);
        if (found == open_.end()) {
            trn_buffer buffer{memory};
            return trn_buffer_free(driver_, &buffer);
        }
        trn_notifications_close(driver_, &found->second);
        open_.erase(found);
    }

    device& driver_;
    std::uint64_t next_ = 1 << 30;
    std::map<std::uint64_t, trn_notification_ring> open_;
};

const auto set_of_sums = isa::write_program_set(isa::assemble_set(R"(
.tensor x int32 [64, 8] in
.tensor y int32 [64, 8] out align=65536
.transfer load x -> sbuf[0:64, 0] queue=3 S[4]
.transfer store sbuf[0:64, 512] -> y queue=3 S[5]
.engine sync
    dma_start load
    wait S[6]>=1 dma_start store
    wait S[5]>=16 halt code=11
.engine gpsimd
    wait S[4]>=16 update S[6]+=1 tensor_tensor op0=add dst=sbuf[0:64, 512] int32 [8:1] a=sbuf[0:64, 0] int32 [8:1] b=sbuf[0:64, 0] int32 [8:1]
    halt
)",
                                                                  "test.trn"));

std::vector<std::uint8_t> numbers(std::int32_t factor) {
    std::vector<std::uint8_t> bytes(64 * 8 * 4);
    for (std::int32_t i = 0; i < 64 * 8; ++i) {
        const std::int32_t value = factor * (i - 100);
        std::memcpy(bytes.data() + 4 * i, &value, sizeof value);
    }
    return bytes;
}

/// Uses the device as a user process of the kernel driver `driver`.
void on_process(device& driver, const std::function<void(device&, kernel_side&)>& work) {
    kernel_side kernel(driver);
    device process(kernel.transport());
    process.check(trn_probe(process));
    process.check(trn_reset_device(process));
    work(process, kernel);
}

TEST_P(DriverContract, RunsAProgramOfAProcessInMemoryOfTheKernelDriver) {
    drive([](device& driver) {
        on_process(driver, [](device& process, kernel_side& kernel) {
            EXPECT_EQ(kernel.resets, 1u);
            trn_program_options options{};
            options.core = 1;
            {
                const loaded_program program(process, set_of_sums, options);
                EXPECT_EQ(kernel.allocated, 2);
                EXPECT_GE(kernel.memory[TRN_MEMORY_TENSORS], 65536u);
                EXPECT_GT(kernel.memory[TRN_MEMORY_CODE], 0u);
                const auto& core = kernel.accounts.cores[1];
                EXPECT_EQ(core.loads, 1u);
                EXPECT_EQ(core.memory[TRN_KIND_TENSORS], 2u * 64 * 8 * 4);
                EXPECT_GT(core.memory[TRN_KIND_CODE], 0u);
                EXPECT_GT(core.memory[TRN_KIND_RUNTIME], 0u);
                EXPECT_EQ(program.find("y").address % 65536, 0u);
                for (int run = 1; run <= 2; ++run) {
                    program.write(program.find("x"), numbers(run));
                    const trn_program_result result = program.run(100'000'000);
                    EXPECT_EQ(result.codes[0][TRN_SYNC_ENGINE], 11u);
                    EXPECT_EQ(program.read(program.find("y")), numbers(2 * run));
                }
                EXPECT_EQ(kernel.rings, 2u * 16u);
                EXPECT_EQ(core.runs, 2u);
                EXPECT_EQ(core.outcomes[TRN_RUN_COMPLETED], 2u);
                EXPECT_GT(core.busy_ns, 0u);
                EXPECT_EQ(kernel.accounts.completed, 2u);
                EXPECT_GT(kernel.accounts.latencies_ns[1], 0u);
                EXPECT_GT(kernel.accounts.host_memory, 0u);
                EXPECT_EQ(kernel.accounts.cores[0].loads, 0u);
            }
            EXPECT_EQ(kernel.allocated, 0);
            EXPECT_EQ(kernel.accounts.cores[1].memory[TRN_KIND_TENSORS], 0u);  // unloaded
        });
    });
}

const auto set_with_a_wrap = isa::write_program_set(isa::assemble_set(R"(
.engine sync
    event_semaphore update S[9]=2147483647 update S[9]+=1
    halt
)",
                                                                      "test.trn"));

TEST_P(DriverContract, AccountsForAnErrorAfterWhichTheProgramCompletes) {
    expect_misuse("semaphore-wrap");
    drive([](device& driver) {
        on_process(driver, [](device& process, kernel_side& kernel) {
            const loaded_program program(process, set_with_a_wrap, {});
            EXPECT_TRUE(program.run(100'000'000).done);
            EXPECT_EQ(kernel.accounts.cores[0].runs, 1u);
            EXPECT_EQ(kernel.accounts.cores[0].outcomes[TRN_RUN_SEMAPHORE_ERROR], 1u);
        });
    });
}

TEST_P(DriverContract, ResetsCoresForAProcessOfTheKernelDriver) {
    drive([](device& driver) {
        on_process(driver, [](device& process, kernel_side& kernel) {
            process.check(trn_reset_cores(process, 1));
            EXPECT_EQ(kernel.resets, 2u);
            const std::uint32_t word = 0x12345678;
            std::uint32_t back = 0;
            const std::uint64_t address = trn_hbm_address(process, 0, 64 << 20);
            process.check(trn_write(process, 0, address, &word, sizeof word));
            process.check(trn_read(process, 0, &back, address, sizeof back));
            EXPECT_EQ(back, word);
        });
    });
}

TEST_P(DriverContract, KeepsTheCopyQueuesOfTheKernelDriverFromItsProcess) {
    drive([](device& driver) {
        on_process(driver, [](device& process, kernel_side&) {
            const std::uint64_t address = trn_hbm_address(process, 0, 64 << 20);
            EXPECT_EQ(trn_copy(process, 0, address, address + 4096, 64), TRN_NOT_SUPPORTED);
            EXPECT_THAT(trn_last_error(process), testing::HasSubstr("kernel driver's"));
            std::uint32_t queue = 0;
            EXPECT_EQ(trn_restart_queue(process, 0), TRN_NOT_SUPPORTED);
            EXPECT_EQ(trn_host_queue_open(process, 0, &queue), TRN_NOT_SUPPORTED);
            EXPECT_EQ(trn_scrub(process, 0, 64 << 20, 1 << 20, 0), TRN_NOT_SUPPORTED);
        });
    });
}

}  // namespace
}  // namespace trn::test

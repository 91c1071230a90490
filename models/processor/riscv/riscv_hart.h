// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/processor/riscv/atomic_claims.h"
#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/hart/hart.h"
#include "models/processor/riscv/interrupt_files.h"
#include "models/processor/riscv/mtime_source.h"
#include "models/processor/riscv/quantum_queue.h"
#include "platform/framework/kernel/debug_target.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/misuse/initiator.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// What the harts of a simulation can share.
struct hart_common {
    std::shared_ptr<riscv::code_cache> code = riscv::make_code_cache();  ///< predecoded code
    std::shared_ptr<quantum_queue> quanta = std::make_shared<quantum_queue>();
    std::shared_ptr<riscv::reservations> reservations = std::make_shared<riscv::reservations>();
    std::shared_ptr<atomic_claims> claims = std::make_shared<atomic_claims>();
};

/// A RISC-V hart on a TLM bus: executes one quantum per activation; accesses memory through DMI,
/// and devices through b_transport with annotated delay. It schedules no events in WFI and reset,
/// and allocates no state before it first leaves reset. Design: doc/models/processor/hart.md.
class riscv_hart : public sc_core::sc_module,
                   public debug_target,
                   public caches_code,
                   public initiator,
                   public accepts_faults,
                   public describes_wait,
                   public publishes_signals,
                   private riscv::hart_bus,
                   private quantum_queue::client,
                   private atomic_claims::client {
public:
    struct config {
        std::uint64_t hart_id = 0;
        sc_core::sc_time clock{1, sc_core::SC_NS};  ///< time per instruction
        std::uint64_t reset_vector = 0x1000;
        riscv::isa isa = riscv::isa::usual();
        std::uint64_t quantum_instructions = 10'000;
        std::uint64_t instruction_limit =
            ~std::uint64_t{0};  ///< halts after this number of instructions
    };
    /// Indices of the lines of `irq`.
    enum line : unsigned {
        machine_software,
        machine_timer,
        machine_external,
        supervisor_software,
        supervisor_timer,
        supervisor_external,
        line_count,
    };

    tlm_utils::simple_initiator_socket<riscv_hart, 64> bus{"bus"};
    irq_in irq;
    irq_in reset;            ///< held in reset while high
    irq_out awake{"awake"};  ///< neither in WFI nor in reset

    riscv_hart(sc_core::sc_module_name name, const config& cfg, const hart_common& shared = {});
    ~riscv_hart() override;

    /// The source of the time CSR; without one it reads 0.
    void set_time_source(const riscv::mtime_source& source);
    /// Its IMSIC, for harts with Smaia or Ssaia; without one their CSRs of it do not exist.
    void set_interrupt_files(riscv::interrupt_files& files) { files_ = &files; }

    /// The core, created on first use.
    riscv::hart& core();
    /// From within a bus access: ends the quantum with the basic block, so that effects of the
    /// access happen at the hart's local time.
    void end_quantum();
    /// `reached` is called when the hart halts at its instruction limit.
    void on_limit(std::function<void()> reached) { limit_reached_ = std::move(reached); }
    /// Code in [first, last] of the physical address space was rewritten.
    void invalidate_code(std::uint64_t first, std::uint64_t last);
    const config& settings() const { return cfg_; }

    // initiator
    std::string describe() const override { return name(); }
    std::optional<std::uint64_t> instruction() const override { return core_->access_pc(); }
    // caches_code
    void invalidate_code() override {
        if (core_ != nullptr) core_->invalidate_code();
    }
    // accepts_faults
    std::vector<fault> faults() override;
    // describes_wait
    std::optional<std::string> describe_wait() const override;
    // publishes_signals
    void publish_signals(signal_list& out) const override;
    // debug_target
    std::string state() const override;
    bool sleeps() const override;
    bool halted() const override { return core_ != nullptr && core_->halted(); }
    void halt() override;
    void resume(bool single_step) override;
    void end_wait() override;
    bool leads_to(std::uint64_t pc) override;
    stop last_stop() const override;
    void on_stop(std::function<void()> stopped) override { stopped_ = std::move(stopped); }
    std::optional<std::uint64_t> read_register(unsigned number) override;
    bool write_register(unsigned number, std::uint64_t value) override;
    address_space& memory() override { return view_; }
    void add_breakpoint(std::uint64_t pc) override { core().add_breakpoint(pc); }
    void remove_breakpoint(std::uint64_t pc) override { core().remove_breakpoint(pc); }
    void add_watchpoint(const watchpoint& w) override;
    void remove_watchpoint(const watchpoint& w) override;

private:
    /// Memory through the current translation.
    struct view final : address_space {
        explicit view(riscv_hart& hart) : owner(hart) {}
        std::size_t peek(std::uint64_t address, std::span<std::byte> bytes) override;
        std::size_t deposit(std::uint64_t address, std::span<const std::byte> bytes) override;
        std::size_t poke(std::uint64_t address, std::span<const std::byte> bytes) override;
        riscv_hart& owner;
    };

    void start_of_simulation() override;
    void execute();
    void wake();
    void quantum_ended() override { execute(); }
    bool continues() const override;
    void on_irq(unsigned line, bool level);
    void on_reset(bool level);
    void serve(trace::operation asked);
    void stop_serving();
    void begin_quantum();
    void say_parked();
    std::uint64_t run_quanta(riscv::hart& core);
    std::uint64_t undisturbed_quanta(std::uint64_t limit) const;
    std::uint64_t local_time() const;
    sc_core::sc_time ahead() const;

    const std::string& describe_failed();
    bool transport(tlm::tlm_command command, std::uint64_t pa, std::uint8_t* data,
                   std::size_t size);
    bool transport_and_keep();
    bool send();
    bool not_answered(std::uint64_t earlier_reports, std::uint64_t delay);
    void wait_for_memory();
    void keep_responses() override;
    void begin_atomic(std::uint64_t pa, unsigned size) override;
    void end_atomic() override;
    void leave_atomic();
    void finish_atomic_write();
    void claims_changed() override;
    bool waits_for_claim();
    bool repeats();
    void responded();
    std::uint64_t instruction_number() const { return core_->ticks() - stalled_; }
    void stall(std::uint64_t delay);
    bool debug_transport(tlm::tlm_command command, std::uint64_t pa, std::uint8_t* data,
                         std::size_t size);
    bool read(std::uint64_t pa, std::span<std::uint8_t> data) override;
    bool write(std::uint64_t pa, std::span<const std::uint8_t> data) override;
    bool debug_read(std::uint64_t pa, std::span<std::uint8_t> data) override;
    bool debug_write(std::uint64_t pa, std::span<const std::uint8_t> data) override;
    bool poke(std::uint64_t pa, std::span<const std::uint8_t> data) override;
    std::optional<riscv::direct_memory> direct(std::uint64_t pa) override;
    bool is_memory(std::uint64_t pa) override;
    std::uint64_t time() override;
    void wake_at(std::uint64_t time) override;
    bool has_interrupt_files() const override { return files_ != nullptr; }
    std::uint64_t read_interrupt_file(riscv::privilege mode, unsigned number) override;
    void write_interrupt_file(riscv::privilege mode, unsigned number, std::uint64_t value) override;
    std::uint64_t top_external(riscv::privilege mode) override;
    void claim_external(riscv::privilege mode) override;
    void check_timer();
    void entered(const std::string& function) override;
    void on_invalidate(sc_dt::uint64 first, sc_dt::uint64 last);

    const config cfg_;
    const std::uint64_t clock_;  // integer times, for speed: used in each quantum
    const time_multiples& cycles_;
    std::shared_ptr<riscv::code_cache> code_;
    std::shared_ptr<riscv::reservations> reservations_;
    std::unique_ptr<riscv::hart> core_;
    const riscv::mtime_source* time_source_ = nullptr;
    riscv::interrupt_files* files_ = nullptr;
    tlm::tlm_generic_payload payload_;
    tlm::tlm_blocking_transport_if<>* target_ = nullptr;  // of the bus
    sc_core::sc_event wake_;                              // starts a quantum
    // With Sstc: notified when the time reaches stimecmp.
    std::unique_ptr<sc_core::sc_event> alarm_;
    view view_{*this};
    std::function<void()> stopped_, limit_reached_;
    bool hangs_ = false;
    bool is_initialized_ = false;    // the initialization phase is over
    bool said_parked_ = false;       // since its last reset
    std::uint64_t local_start_ = 0;  // local time at which ticks_start_ instructions were done
    std::uint64_t ticks_start_ = 0;
    std::uint64_t quantum_end_ = 0;  // in instructions since ticks_start_
    bool is_limited_ = false;        // the quantum, by the global one
    std::uint64_t unpaid_ = 0;       // remainder of annotated delays below one instruction
    std::uint64_t stalled_ = 0;      // instructions spent for annotated delays, since the reset
    struct {
        tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
        std::uint64_t address = 0;
        std::size_t size = 0;
        std::string text;
    } failed_;  // description of the last failed access: avoids repeated reports in loops
    /// An instruction that memory has deferred, or may defer after its first access. It is executed
    /// again; those of its accesses that have a response are not made again.
    struct kept_instruction {
        struct access {
            tlm::tlm_command command;
            std::uint64_t address;
            std::size_t size;
            std::array<std::uint8_t, 8> read;
        };
        std::uint64_t number = 0;  // instruction_number()
        std::vector<access> done = {};
        std::size_t next = 0;  // access of this attempt
    };
    pending_access pending_{wake_};
    kept_instruction kept_;
    bool keeps_ = false;          // kept_ is in use, or words are claimed
    bool is_withheld_ = false;    // until a claim ends
    atomic_claims::word atomic_;  // of the instruction
    bool defers_write_ = false;   // its write, not its read; the bytes are kept
    std::array<std::uint8_t, 8> atomic_write_{};
    trace::slice serves_;  // operation that last woke or interrupted the hart
};

}  // namespace trn

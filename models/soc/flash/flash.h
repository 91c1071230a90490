// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// A serial NOR flash behind its controller: a read window, and commands that erase sectors and
/// program pages. Contents survive resets. Spec: doc/models/soc/flash.md.
class flash : public sc_core::sc_module {
public:
    struct config {
        std::uint64_t size = 1 << 20;  ///< bytes, a power of two of at least one sector
        std::string image = {};  ///< initial contents (find_firmware): a flash image, or an ELF
                                 ///< for both slots; empty: an erased flash
        sc_core::sc_time read_latency{100, sc_core::SC_NS};   ///< per read through the window
        sc_core::sc_time access_latency{20, sc_core::SC_NS};  ///< per register access
        sc_core::sc_time program_time{700, sc_core::SC_US};   ///< per page
        sc_core::sc_time erase_time{45, sc_core::SC_MS};      ///< per sector
    };
    static constexpr std::uint64_t sector = 4096;
    static constexpr std::uint64_t page = 256;
    /// Offsets and size of the two slots in which the boot ROM searches for images
    /// (doc/guide-firmware.md).
    static constexpr std::uint64_t slot_a = 0, slot_b = 0x60000, slot_size = 0x60000;
    /// Limit of a program's file, which may contain debug information besides its loaded segments.
    static constexpr std::uint64_t max_program_bytes = 64 << 20;

    target_socket<flash> window{"window"};  ///< the content, read-only
    register_socket in{"in", regs_};        ///< flash.regs.yaml
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) clear();
                 }};
    irq_out irq{"irq"};

    /// Throws std::runtime_error when the image cannot be read or does not fit.
    flash(sc_core::sc_module_name name, const config& cfg);

    /// Writes bytes at `offset` like an external programmer; returns false when they do not fit.
    bool load(std::uint64_t offset, std::span<const std::uint8_t> bytes);
    backing_store& bytes() { return bytes_; }
    const config& settings() const { return cfg_; }

private:
    enum class opcode : std::uint8_t { none, program, erase };
    /// The running command, with the registers at its start.
    struct job {
        opcode operation = opcode::none;
        std::uint64_t address = 0, length = 0;
        std::array<std::uint8_t, page> bytes{};
    };

    void read_window(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_window(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void finish();

    void clear();
    void command(std::uint64_t written, const sc_core::sc_time& delay);
    bool acceptable(opcode wanted) const;
    void program();
    void end_command();
    void raise(std::uint64_t events, const sc_core::sc_time& delay);
    void update_irq(const sc_core::sc_time& delay);

    const config cfg_;
    register_bank regs_;
    backing_store bytes_;
    job running_;
    sc_core::sc_event finished_;
};

}  // namespace trn

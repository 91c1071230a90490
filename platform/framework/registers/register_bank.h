// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/framework/misuse/initiator.h"
#include "platform/framework/registers/table.h"

namespace trn {

/// Argument of a hook. `index` counts the elements of a register array (row-major).
struct register_access {
    unsigned instance;
    unsigned index;
    std::uint64_t old;      ///< stored value before the access
    std::uint64_t written;  ///< bus value of a write; 0 for a read
    /// Write: value stored now; read: value for the bus, which a hook may change.
    std::uint64_t value;
    sc_core::sc_time& delay;
    /// A hook sets it to refuse the access.
    tlm::tlm_response_status response = tlm::TLM_OK_RESPONSE;
};

/// Number of bus accesses to a register, by initiator.
struct register_use {
    struct counts {
        std::uint64_t reads = 0, writes = 0;
        bool any() const { return reads != 0 || writes != 0; }
    };
    std::array<counts, static_cast<std::size_t>(initiator::kind::tool) + 1> by_initiator{};

    const counts& counts_of(initiator::kind source) const {
        return by_initiator[static_cast<std::size_t>(source)];
    }
    bool any() const;
};

/// Maps offsets of a table to registers: pages of entries, built once per table and shared by its
/// banks.
class register_index {
public:
    static constexpr std::uint32_t hole = ~0u;
    struct entry {
        std::uint32_t slot;  ///< index of the value in an instance, or `hole`
        std::uint32_t row;   ///< row in the table; for a hole, the number of rows
    };
    /// The constants of a row used by each access, in few cache lines.
    struct constants {
        bit_access bits;
        std::uint64_t reset;
        std::uint32_t slot;  ///< of the row's first register
    };
    static const register_index& for_table(const register_table& table);
    explicit register_index(const register_table& table);
    register_index(const register_index&) = delete;  // contains pointers to its own page of holes
    register_index& operator=(const register_index&) = delete;

    /// The entry of the register at `offset`. Precondition: `offset` is below the table's size.
    const entry& find(std::uint64_t offset) const { return at(offset >> width_shift_); }
    /// The entry of the `number`th word, counted in register widths.
    const entry& at(std::uint64_t number) const { return at(pages_.data(), number); }
    /// Like at(), for a bank that has cached the address of the pages.
    static const entry& at(const entry* const* pages, std::uint64_t number) {
        return pages[number >> page_shift][number & page_mask];
    }
    const entry* const* pages() const { return pages_.data(); }

    /// All zero for the row of a hole.
    const constants& row(std::size_t number) const { return rows_[number]; }

private:
    static constexpr unsigned page_shift = 10;  // registers per page
    static constexpr std::uint64_t page_mask = (1u << page_shift) - 1;

    using page = std::array<entry, page_mask + 1>;
    entry& writable(std::uint64_t number);

    unsigned width_shift_;
    std::vector<constants> rows_;
    page holes_;
    std::vector<std::unique_ptr<page>> own_pages_;  // pages with at least one register
    std::vector<const entry*> pages_;
};

/// The registers of one block, or of several equal instances at a stride. Decodes; checks width,
/// alignment, byte enables and access kind; stores values; calls hooks (house style R3). An
/// instance takes no memory before its first write. Illegal accesses are reported as misuse.
///
/// Responses: outside the aperture or a hole -> ADDRESS_ERROR; write of a register without writable
/// bits, read of one without readable bits -> COMMAND_ERROR; narrower than a register or misaligned
/// -> BURST_ERROR; byte enables that split a register -> BYTE_ENABLE_ERROR. A longer payload is
/// executed register by register and ends at the first error.
class register_bank {
public:
    using hook = std::function<void(register_access&)>;
    /// A value computed from state, without side effects, for an access at the present plus
    /// `delay`: that of its initiator, which may be ahead; zero for a debug read and get().
    using view_function = std::function<std::uint64_t(unsigned instance, unsigned index,
                                                      const sc_core::sc_time& delay)>;

    struct options {
        std::string name = {};  ///< for messages; default: the module under construction
        unsigned instances = 1;
        std::uint64_t stride = 0;  ///< bytes between instances; default: the aperture's size
        sc_core::sc_time latency = sc_core::SC_ZERO_TIME;  ///< of each register access
    };

    explicit register_bank(const register_table& table) : register_bank(table, options{}) {}
    register_bank(const register_table& table, options opts);
    ~register_bank();
    register_bank(const register_bank&) = delete;  // hooks and tools keep its address
    register_bank& operator=(const register_bank&) = delete;

    /// Implements a target's b_transport.
    void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    /// Implements a target's transport_dbg: raw stored values (views are computed), no hooks, no
    /// time. Returns the number of bytes transferred, in whole registers.
    unsigned debug_access(tlm::tlm_generic_payload& payload);

    /// Sets a hook that is called after the value has been stored.
    template <class Reg>
    void on_write(Reg reg, const hook& call) {
        hooks_of(row(reg)).on_write = call;
    }
    /// Sets a hook that is called before a read completes, after its read_action, and may change
    /// its value. Not called by debug reads.
    template <class Reg>
    void on_read(Reg reg, const hook& call) {
        hooks_of(row(reg)).on_read = call;
    }
    /// Reads of `reg`, including debug reads and get(), return the result of `compute`: a
    /// view_function, or one without `delay` if the value does not depend on time.
    template <class Reg, class Compute>
    void view(Reg reg, Compute compute) {
        view_function& kept = hooks_of(row(reg)).view;
        if constexpr (std::is_invocable_v<Compute&, unsigned, unsigned, const sc_core::sc_time&>)
            kept = std::move(compute);
        else
            kept = [compute = std::move(compute)](unsigned instance, unsigned index,
                                                  const sc_core::sc_time&) -> std::uint64_t {
                return compute(instance, index);
            };
    }

    /// Calls `changed` after each access and each change by the model; for tools. Accesses to an
    /// observed bank take longer. What a view computes may change without a call.
    void observe(std::function<void()> changed);

    /// Access by the model: any bit, no hooks, no time.
    template <class Reg>
    std::uint64_t get(Reg reg, unsigned index = 0, unsigned instance = 0) const {
        return peek(row(reg), index, instance);
    }
    template <class Reg>
    void set(Reg reg, std::uint64_t value, unsigned index = 0, unsigned instance = 0) {
        poke(row(reg), value, index, instance);
    }
    std::uint64_t get(register_field field, unsigned index = 0, unsigned instance = 0) const {
        return field.get(peek(field.reg, index, instance));
    }
    void set(register_field field, std::uint64_t value, unsigned index = 0, unsigned instance = 0) {
        poke(field.reg, field.set(peek(field.reg, index, instance), value), index, instance);
    }
    /// `regs[reg::status]`, `regs[reg::status] = 3` for plain registers of a single block.
    template <class Reg>
    auto operator[](Reg reg) {
        return reference{*this, row(reg)};
    }
    template <class Reg>
    std::uint64_t operator[](Reg reg) const {
        return peek(row(reg), 0, 0);
    }

    /// Resets all registers; RAM in the holes keeps its content.
    void reset();
    void reset(unsigned instance);

    const register_table& table() const { return table_; }
    const std::string& name() const { return name_; }
    unsigned instances() const { return instances_; }
    std::uint64_t stride() const { return stride_; }
    /// Whether the instance has stored values.
    bool allocated(unsigned instance) const { return values_[instance].bytes != nullptr; }
    /// Version of the instance's stored values, from 1. It increases with every possible change, so
    /// that users of derived values can detect one.
    std::uint64_t changes(unsigned instance) const { return values_[instance].changes; }
    /// The value of a debug read.
    std::uint64_t value(std::size_t row, unsigned index = 0, unsigned instance = 0) const {
        return peek(row, index, instance);
    }
    /// Number of accesses to all registers of this row.
    register_use use(std::size_t row) const { return rows_ ? rows_[row].use : register_use{}; }
    bool touched(std::size_t row) const { return use(row).any(); }

private:
    class listing;
    struct reference {
        register_bank& bank;
        std::size_t row;
        operator std::uint64_t() const { return bank.peek(row, 0, 0); }
        reference& operator=(std::uint64_t value) {
            bank.poke(row, value, 0, 0);
            return *this;
        }
        std::uint64_t field(register_field f) const { return f.get(bank.peek(row, 0, 0)); }
    };
    struct stored {
        // `width_` bytes per slot, allocated by the first write.
        std::unique_ptr<unsigned char[]> bytes;
        std::uint64_t changes = 1;
    };
    static constexpr unsigned word = 4;  // bytes
    struct location {
        std::uint64_t instance;
        std::uint64_t offset;  // within the instance
    };
    struct hooks {
        hook on_write, on_read;
        view_function view;
    };
    /// State and constants of a row used by accesses, in few cache lines. Plain accesses, which
    /// only move the value (a write may call a hook), use nothing else of the row.
    struct prepared_row {
        const hook* on_write;  // called after plain writes; may be null
        std::uint32_t readable, stored, reset;
        std::uint32_t slot;                                   // of the row's first register
        std::array<bool, tlm::TLM_IGNORE_COMMAND + 1> plain;  // by command
        register_use use;
    };

    friend void for_each_bank(
        const std::function<void(const sc_core::sc_object&, register_bank&)>& visit);

    template <class Reg>
    static std::size_t row(Reg reg) {
        static_assert(std::is_enum_v<Reg>, "name the register: <block>_regs::reg::<name>");
        return static_cast<std::size_t>(reg);
    }

    bool locate(std::uint64_t address, location& place) const;
    void access_by_rules(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                         unsigned instance, const register_index::entry& entry);
    void write_with_hook(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                         prepared_row& row, unsigned instance, std::uint32_t slot);
    struct plain_write {
        std::uint32_t old, written, value;  // stored before, on the bus, stored after
    };
    plain_write write_plainly(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                              prepared_row& row, stored& own, std::uint32_t slot);
    void add_latency(sc_core::sc_time& delay) const;
    void access_any(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    tlm::tlm_response_status beat(bool write, unsigned instance, const register_index::entry& entry,
                                  unsigned char* data, sc_core::sc_time& delay);
    tlm::tlm_response_status read(unsigned instance, const register_index::entry& entry,
                                  unsigned char* data, sc_core::sc_time& delay);
    tlm::tlm_response_status write(unsigned instance, const register_index::entry& entry,
                                   std::uint64_t value, sc_core::sc_time& delay);
    tlm::tlm_response_status hole(bool write, const location& place, unsigned char* data,
                                  unsigned length);
    unsigned char* ram(std::uint64_t instance);
    tlm::tlm_response_status refuse(tlm::tlm_response_status status, bool write,
                                    std::uint64_t address, unsigned length) const;

    std::uint64_t peek(std::size_t row, unsigned index, unsigned instance) const;
    void poke(std::size_t row, std::uint64_t value, unsigned index, unsigned instance);
    std::uint64_t load(unsigned instance, std::uint32_t slot,
                       const register_index::constants& row) const;
    std::uint64_t protect(std::uint64_t value, std::uint64_t old, std::uint64_t once,
                          unsigned instance, std::uint32_t slot);
    hooks& hooks_of(std::size_t row);
    /// nullptr if the row has no hooks.
    const hooks* find_hooks(std::size_t row) const {
        const unsigned number = hook_numbers_.empty() ? 0 : hook_numbers_[row];
        return number == 0 ? nullptr : &hooks_[number - 1];
    }
    static register_use::counts& count(prepared_row& row);
    void prepare();
    std::uint64_t fetch(const unsigned char* bytes) const;
    void put(unsigned char* bytes, std::uint64_t value) const;
    void store(unsigned instance, std::uint32_t slot, std::uint64_t value);
    void allocate(stored& own);
    void notify_observers() const {
        if (observers_ != nullptr) [[unlikely]]
            for (const auto& changed : *observers_) changed();
    }

    const register_table& table_;
    const register_index& index_;
    const register_index::entry* const* const pages_;  // cached from index_
    const std::string name_;
    const std::uint64_t stride_;
    const unsigned stride_shift_;      // 63: the stride is not a power of two
    const std::uint64_t offset_mask_;  // selects the bits of an address below stride_shift_
    const std::uint64_t size_;         // of the aperture, bytes
    std::uint64_t words_ = 0;          // of the aperture; 0: no access is plain, or not prepared
    const unsigned instances_;
    const unsigned width_;
    const sc_core::sc_time latency_;
    std::unique_ptr<listing> listing_;  // for for_each_bank()
    // Most rows have no hooks, and a rack has thousands of banks.
    std::vector<std::uint16_t> hook_numbers_;  // by row: 1 + index in hooks_, or 0
    std::vector<hooks> hooks_;
    std::unique_ptr<std::vector<std::function<void()>>> observers_;  // few banks have any
    bool prepared_ = false;  // rows_ is up to date with the hooks
    // Allocated by the first access; the additional last one is for holes.
    std::unique_ptr<prepared_row[]> rows_;
    std::vector<stored> values_;                                                // by instance
    std::map<std::pair<unsigned, std::uint32_t>, std::uint64_t> written_once_;  // bits, by slot
    std::vector<std::unique_ptr<unsigned char[]>> ram_;  // by instance, for hole_policy::ram
};

/// Calls `visit` with the register banks of all modules, in construction order. A module's banks
/// are attributes of the module (sc_object::add_attribute).
void for_each_bank(
    const std::function<void(const sc_core::sc_object& owner, register_bank&)>& visit);

/// A register that the guest accessed, and the fidelity of its model.
struct touched_register {
    std::string module;
    std::string_view block, name;
    knowledge known_by;
    trn::fidelity fidelity;
    register_use use;
};
/// All touched registers of the system, those with the lowest fidelity first.
std::vector<touched_register> touched_registers();

}  // namespace trn

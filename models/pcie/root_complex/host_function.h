// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/pcie/pcie/tlp.h"
#include "models/pcie/root_complex/host_memory.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::pcie {

/// Interface of the root complex for the host side of a function.
class host_bus {
public:
    /// Routes a request of the host; the payload has a tlp extension with the target. A read
    /// without completion returns all ones.
    virtual void send(tlm::tlm_generic_payload& request, tlp& header, sc_core::sc_time& delay) = 0;
    virtual bool direct_pointer(tlm::tlm_generic_payload& request, tlm::tlm_dmi& dmi) = 0;
    /// Like send(), without time and side effects; returns the number of bytes read or written.
    virtual unsigned peek(tlm::tlm_generic_payload& request, const tlp& header) = 0;
    /// Invalidates the function's direct pointers into [first, last] of host memory.
    virtual void forget_pointers(function_id function, std::uint64_t first, std::uint64_t last) = 0;
    /// Invalidates all functions' pointers into [first, last] of the server's memory.
    virtual void forget_memory(std::uint64_t first, std::uint64_t last) = 0;
    virtual server_memory* memory() = 0;
    /// To be notified when a host_function should repeat() an access that waits.
    virtual sc_core::sc_event& repetition() = 0;
    /// Time after which a request without completion fails.
    virtual const sc_core::sc_time& completion_timeout() const = 0;
    /// Records that a request to the function has failed for that reason: a read, which has no
    /// completion, or a write that was not taken.
    virtual void time_out(function_id target, tlm::tlm_command command) = 0;

protected:
    ~host_bus() = default;
};

/// The host's side of one function that a root complex has found. It sends the host's accesses to
/// the function as TLPs, and is memory and interrupt target for the function's upstream requests.
/// Links and switches may be in between.
///
/// The host sees a view of the configuration space: as in VFIO, BAR registers and the MSI-X enable
/// bit are the host's own copies, because the real ones belong to the root complex. The same holds
/// for the MSI-X table, except for entries whose message goes to the BAR of another function: these
/// take effect while the host has MSI-X enabled. A reset, also one by the host's write of device
/// control, clears MSI-X enable and table; BAR registers keep the host's values.
class host_function final : public function_port {
public:
    /// Target address of MSI-X messages; it is outside a chip's host window.
    static constexpr std::uint64_t message_address = std::uint64_t{0xfee0'0000} << 32;

    struct bar_window {
        std::uint64_t base = 0, size = 0;  // address on the server's bus; size 0: no BAR
        std::uint32_t flags = 0;           // low four bits of the register
        bool wide() const;
    };

    /// `device`: the module of the function. Reads the sizes of its BARs and its MSI-X capability.
    host_function(host_bus& bus, function_id id, const sc_core::sc_object& device);
    ~host_function() override;

    void join(std::uint64_t host) override { host_ = host; }
    bar_info bar(unsigned index) override;
    void config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) override;
    void config_write(std::uint32_t offset, std::span<const std::uint8_t> bytes) override;
    bool bar_read(unsigned index, std::uint64_t offset, std::span<std::uint8_t> bytes,
                  sc_core::sc_time& delay) override;
    bool bar_write(unsigned index, std::uint64_t offset, std::span<const std::uint8_t> bytes,
                   sc_core::sc_time& delay) override;
    void await_accesses(access_waiter* waiter) override;
    bool map_host(const host_range& range) override;
    bool unmap_host(std::uint64_t iova, std::uint64_t size,
                    const std::function<void(const host_range&)>& forgotten) override;
    void watch_host_memory(traffic_watcher* watcher) override;
    void carry_host_messages(host_messages* carrier) override { memory_.carry(carrier); }
    server_memory* memory_of_server() override { return bus_.memory(); }
    void host_messages_ready() override { memory_.carrier_ready(); }
    unsigned interrupt_vectors() const override { return static_cast<unsigned>(raised_.size()); }
    void on_interrupt(unsigned vector, std::function<void()> raised) override;
    void reset() override;
    void detach() override;

    function_id id() const { return id_; }
    std::uint64_t host() const { return host_; }  ///< 0: no host attached
    /// Translates the address of a BAR in the host's address space to the server's bus, if `length`
    /// bytes at `address` are inside a BAR.
    std::optional<std::uint64_t> on_bus(std::uint64_t address, std::uint64_t length) const;
    const sc_core::sc_object& device() const { return device_; }
    /// Whether the function is there now, with a link: its vendor id can be read. Without time and
    /// side effects.
    bool answers() const;
    /// Values at enumeration, also for a card that was removed.
    std::uint32_t class_code() const { return class_code_; }
    std::uint32_t pci_id() const { return pci_id_; }
    host_memory& memory() { return memory_; }
    const host_memory& memory() const { return memory_; }
    /// The BARs, for address assignment; write_bars() then programs the function.
    std::array<bar_window, bar_count>& bars() { return bars_; }
    void write_bars();
    /// Handles an MSI-X message of the function.
    void message(std::uint32_t vector);
    /// Programs addresses and vectors again, after the card was reset or replaced.
    void restore();
    /// Repeats the access that waits, or ends it if it is late. Returns the time at which it is; no
    /// time if none waits.
    std::optional<sc_core::sc_time> repeat();
    /// The access that waits: "a read of 4 bytes at BAR0 0x10".
    std::optional<std::string> describe_wait() const;

private:
    using payload = tlm::tlm_generic_payload;

    /// An access of the host to a BAR, of which `done` bytes have their response.
    struct bar_access {
        tlm::tlm_command command;
        unsigned index;
        std::uint64_t offset;
        std::span<std::uint8_t> bytes;
        std::size_t done = 0;
    };
    /// A deferred access. Its next request is at the target at `arrival`, and fails at `deadline`.
    struct waiting_access {
        bar_access access;
        std::vector<std::uint8_t> written{};  // the bytes of a write
        trace::operation operation = 0;       // that it belongs to
        sc_core::sc_time arrival{}, deadline{};
    };

    /// An entry of the MSI-X table, as written by the host.
    struct table_entry {
        std::array<std::uint32_t, 4> words;
        std::uint64_t address() const { return std::uint64_t{words[1]} << 32 | words[0]; }
        /// Whether the entry is unmasked and its address is in a BAR of another function.
        bool is_for_peer() const;
    };

    class framed_request;

    void forget_pointers(const host_range& range);
    void size_bars();
    void find_capabilities();
    void program_interrupts();
    void program_vectors();
    void program_enable();
    void enable_messages(std::uint8_t& written);
    void with_memory_space(const std::function<void()>& call);
    void write_vector(std::uint32_t vector);
    bool uses_messages() const;
    bool is_reset(std::uint32_t offset, std::span<const std::uint8_t> bytes) const;
    bool memory_enabled();
    void table_read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
    void table_written(std::uint64_t offset, std::span<const std::uint8_t> bytes);
    void forget_table();
    void add_mappable_areas(unsigned index, bar_info& info);

    /// Returns whether the function has completed the request. The target may defer it if there is
    /// a `pending`.
    bool send(tlm::tlm_command command, tlp::space space, std::uint64_t address,
              std::span<std::uint8_t> bytes, sc_core::sc_time& delay,
              pending_access* pending = nullptr);
    std::uint32_t config_word(std::uint32_t offset);
    void set_config_word(std::uint32_t offset, std::uint32_t value);
    void set_config_half(std::uint32_t offset, std::uint16_t value);
    void write_table(std::uint64_t offset, std::uint32_t value);
    void config_write_dword(std::uint32_t offset, std::span<std::uint8_t> bytes);
    bool access(tlm::tlm_command command, unsigned index, std::uint64_t offset,
                std::span<std::uint8_t> bytes, sc_core::sc_time& delay);
    bool advance(bar_access& access, pending_access* pending, sc_core::sc_time& delay);
    void defer(const bar_access& access, const sc_core::sc_time& delay);
    void expect_response(const sc_core::sc_time& delay);
    void give_up();
    void end(const sc_core::sc_time& delay);
    void cancel();

    host_bus& bus_;
    const function_id id_;
    const sc_core::sc_object& device_;
    std::unique_ptr<framed_request> request_;  // nullptr while one is sent, and before the first
    std::uint32_t class_code_ = 0;
    std::uint32_t pci_id_ = 0;
    std::uint64_t host_ = 0;
    std::array<bar_window, bar_count> bars_{};
    std::array<std::uint8_t, 24> view_{};               // BAR registers as written by the host
    std::array<std::uint8_t, 24> view_mask_{};          // their writable bits
    std::uint32_t express_ = 0, power_ = 0, msix_ = 0;  // capability offsets; 0 = none
    std::uint8_t msix_bar_ = 0;
    std::uint64_t msix_table_ = 0;       // offset in that BAR
    std::uint8_t host_msix_enable_ = 0;  // enable bit as written by the host
    // The host has set a handler since it last cleared its enable bit: vectors without one are
    // masked.
    bool had_handler_ = false;
    std::vector<std::function<void()>> raised_;  // per vector; empty = disabled
    std::vector<table_entry> written_;           // per vector
    host_memory memory_;
    pending_access pending_;
    access_waiter* waiter_ = nullptr;
    std::optional<waiting_access> waiting_;
    bool leaving_ = false;  // during the write by which detach() disables the function
};

}  // namespace trn::pcie

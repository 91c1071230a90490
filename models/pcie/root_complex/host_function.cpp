// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_complex/host_function.h"

#include <fmt/format.h>
#include <linux/pci_regs.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::pcie {

using sc_core::sc_time;

namespace {

constexpr std::uint32_t bar_registers = PCI_BASE_ADDRESS_0;
constexpr std::uint32_t bar_registers_end = PCI_BASE_ADDRESS_0 + 24;
constexpr std::uint64_t largest_request = 4096;  // bytes: the largest TLP payload (2.2.2)
// bytes; the largest access of a CPU to uncached memory
constexpr std::uint64_t register_width = 8;
constexpr std::uint8_t enable_byte = PCI_MSIX_FLAGS_ENABLE >> 8;

bool is_bar(std::uint32_t offset) {
    return offset >= bar_registers && offset < bar_registers_end;
}

}  // namespace

bool host_function::bar_window::wide() const {
    return (flags & PCI_BASE_ADDRESS_MEM_TYPE_64) != 0;
}

host_function::host_function(host_bus& bus, function_id id, const sc_core::sc_object& device)
    : bus_(bus), id_(id), device_(device), pending_(bus.repetition()) {
    class_code_ = config_word(PCI_CLASS_REVISION) >> 8;
    pci_id_ = config_word(PCI_VENDOR_ID);
    size_bars();
    find_capabilities();
}

host_function::~host_function() = default;

// --- Requests toward the function

/// A request with its header, which requests share: to make one takes longer than an access.
class host_function::framed_request {
public:
    framed_request() { request_.set_extension(&header_); }
    ~framed_request() {
        request_.clear_extension<tlp>();
        request_.clear_extension<pending_access>();
    }
    framed_request(const framed_request&) = delete;
    framed_request& operator=(const framed_request&) = delete;

    /// Returns whether the function has completed it.
    bool send(host_bus& bus, tlm::tlm_command command, std::uint64_t address,
              std::span<std::uint8_t> bytes, const tlp& header, pending_access* pending,
              sc_time& delay) {
        set_access(request_, command, address, bytes.data(), bytes.size());
        request_.set_dmi_allowed(false);
        request_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        header_ = header;
        request_.set_extension(pending);
        const bool is_repeated = pending != nullptr && pending->is_repeated();
        if (is_repeated) pending->attempt(request_);
        bus.send(request_, header_, delay);
        if (request_.is_response_ok()) return true;
        if (!is_repeated && is_deferred(request_)) pending->begin(request_);
        return false;
    }

private:
    payload request_;
    tlp header_;
};

bool host_function::send(tlm::tlm_command command, tlp::space space, std::uint64_t address,
                         std::span<std::uint8_t> bytes, sc_time& delay, pending_access* pending) {
    tlp header;
    header.destination = space;
    header.target = id_;
    header.host_left = leaving_;
    // An interrupt may let the host send one inside another.
    auto use = request_ != nullptr ? std::move(request_) : std::make_unique<framed_request>();
    const bool ok = use->send(bus_, command, address, bytes, header, pending, delay);
    request_ = std::move(use);
    return ok;
}

bool host_function::answers() const {
    std::uint32_t id = 0;
    payload request;
    framed framed(request, 0);
    framed.header.destination = tlp::space::config;
    framed.header.target = id_;
    set_access(request, tlm::TLM_READ_COMMAND, 0, &id, sizeof id);
    return bus_.peek(request, framed.header) == sizeof id;
}

std::uint32_t host_function::config_word(std::uint32_t offset) {
    std::uint8_t bytes[4];
    sc_time untimed;
    send(tlm::TLM_READ_COMMAND, tlp::space::config, offset, bytes, untimed);
    std::uint32_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

void host_function::set_config_word(std::uint32_t offset, std::uint32_t value) {
    std::uint8_t bytes[4];
    std::memcpy(bytes, &value, sizeof value);
    sc_time untimed;
    send(tlm::TLM_WRITE_COMMAND, tlp::space::config, offset, bytes, untimed);
}

void host_function::set_config_half(std::uint32_t offset, std::uint16_t value) {
    std::uint8_t bytes[2];
    std::memcpy(bytes, &value, sizeof value);
    sc_time untimed;
    send(tlm::TLM_WRITE_COMMAND, tlp::space::config, offset, bytes, untimed);
}

// --- Discovery of the function's properties

void host_function::size_bars() {
    for (unsigned i = 0; i < bar_count; ++i) {
        const std::uint32_t offset = bar_registers + 4 * i;
        set_config_word(offset, ~0u);
        const std::uint32_t answer = config_word(offset);
        bar_window& bar = bars_[i] = {.base = 0, .size = 0, .flags = answer & 0xf};
        std::uint64_t mask = answer & ~0xfu;
        const bool wide = (answer & PCI_BASE_ADDRESS_MEM_TYPE_64) != 0;
        if (wide) {
            set_config_word(offset + 4, ~0u);
            mask |= static_cast<std::uint64_t>(config_word(offset + 4)) << 32;
        } else if (mask != 0) {
            mask |= ~std::uint64_t{0} << 32;
        }
        bar.size = ~mask + 1;
        std::memcpy(&view_mask_[4 * i], &mask, wide ? 8 : 4);
        std::memcpy(&view_[4 * i], &bar.flags, 4);
        if (wide) bars_[++i] = {};
    }
}

void host_function::write_bars() {
    for (unsigned i = 0; i < bar_count; ++i) {
        const bar_window& bar = bars_[i];
        if (bar.size == 0) continue;
        set_config_word(bar_registers + 4 * i, static_cast<std::uint32_t>(bar.base));
        if (bar.wide()) {
            set_config_word(bar_registers + 4 * i + 4, static_cast<std::uint32_t>(bar.base >> 32));
        }
    }
}

void host_function::find_capabilities() {
    std::uint32_t offset = config_word(PCI_CAPABILITY_LIST) & 0xfc;
    // At most 48 capabilities fit into the space.
    for (unsigned seen = 0; offset != 0 && seen < 48; ++seen) {
        const std::uint32_t header = config_word(offset);
        if ((header & 0xff) == PCI_CAP_ID_EXP) express_ = offset;
        if ((header & 0xff) == PCI_CAP_ID_PM) power_ = offset;
        if ((header & 0xff) == PCI_CAP_ID_MSIX) {
            const std::uint32_t table = config_word(offset + PCI_MSIX_TABLE);
            msix_ = offset;
            msix_bar_ = table & PCI_MSIX_TABLE_BIR;
            msix_table_ = table & PCI_MSIX_TABLE_OFFSET;
            raised_.resize((header >> 16 & PCI_MSIX_FLAGS_QSIZE) + 1);
            forget_table();
        }
        offset = header >> 8 & 0xfc;
    }
}

// --- Interrupts

void host_function::on_interrupt(unsigned vector, std::function<void()> raised) {
    if (vector >= raised_.size()) return;
    raised_[vector] = std::move(raised);
    if (raised_[vector]) had_handler_ = true;
    with_memory_space([&] { write_vector(vector); });
    program_enable();
}

bool host_function::table_entry::is_for_peer() const {
    constexpr std::uint64_t x86_interrupts = 0xfee;  // bits 31:20 of interrupt addresses
    const bool unmasked = (words[3] & PCI_MSIX_ENTRY_CTRL_MASKBIT) == 0;
    return unmasked && address() != 0 && address() < message_address &&
           address() >> 20 != x86_interrupts;
}

/// Whether MSI-X of the function is enabled. An interrupt of a vector without handler is pending
/// then, and lost otherwise.
bool host_function::uses_messages() const {
    return had_handler_ || host_msix_enable_ != 0 ||
           std::ranges::any_of(raised_, [](auto& raised) { return bool(raised); });
}

void host_function::program_vectors() {
    with_memory_space([this] {
        for (std::uint32_t vector = 0; vector < raised_.size(); ++vector) write_vector(vector);
    });
}

/// Programs all table entries and the enable bit according to the host's settings.
void host_function::program_interrupts() {
    program_vectors();
    program_enable();
}

void host_function::program_enable() {
    const auto control = static_cast<std::uint16_t>(config_word(msix_) >> 16);
    const auto off = static_cast<std::uint16_t>(control & ~PCI_MSIX_FLAGS_ENABLE);
    set_config_half(msix_ + PCI_MSIX_FLAGS, uses_messages() ? off | PCI_MSIX_FLAGS_ENABLE : off);
}

/// Enables memory space during the call: the table is in a BAR.
void host_function::with_memory_space(const std::function<void()>& call) {
    const auto command = static_cast<std::uint16_t>(config_word(PCI_COMMAND));
    set_config_half(PCI_COMMAND, command | PCI_COMMAND_MEMORY);
    call();
    set_config_half(PCI_COMMAND, command);
}

void host_function::write_vector(std::uint32_t vector) {
    table_entry entry{{static_cast<std::uint32_t>(message_address), message_address >> 32, vector,
                       raised_[vector] ? 0u : PCI_MSIX_ENTRY_CTRL_MASKBIT}};
    if (!raised_[vector] && host_msix_enable_ != 0 && written_[vector].is_for_peer())
        entry = written_[vector];
    const std::uint64_t entry_offset = msix_table_ + vector * PCI_MSIX_ENTRY_SIZE;
    for (std::uint32_t word = 0; word < entry.words.size(); ++word)
        write_table(entry_offset + 4 * word, entry.words[word]);
}

bool host_function::memory_enabled() {
    return (config_word(PCI_COMMAND) & PCI_COMMAND_MEMORY) != 0;
}

/// Replaces the bytes of the real table by those that the host has written.
void host_function::table_read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
    const std::uint64_t table_size = written_.size() * PCI_MSIX_ENTRY_SIZE;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        // Underflows below the table, so it is not < table_size.
        const std::uint64_t table_offset = offset + i - msix_table_;
        if (table_offset >= table_size) continue;
        const std::uint32_t word = written_[table_offset / PCI_MSIX_ENTRY_SIZE]
                                       .words[table_offset % PCI_MSIX_ENTRY_SIZE / 4];
        bytes[i] = static_cast<std::uint8_t>(word >> (8 * (table_offset % 4)));
    }
}

/// Handles a write of the host to the BAR with the table.
void host_function::table_written(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    const std::uint64_t table_size = written_.size() * PCI_MSIX_ENTRY_SIZE;
    for (std::size_t done = 0; done < bytes.size();) {
        // Underflows below the table, so it is not < table_size.
        const std::uint64_t table_offset = offset + done - msix_table_;
        const std::uint64_t in_word = table_offset % 4;
        const std::size_t count = std::min<std::size_t>(4 - in_word, bytes.size() - done);
        if (table_offset < table_size) {
            const auto vector = static_cast<std::uint32_t>(table_offset / PCI_MSIX_ENTRY_SIZE);
            table_entry& entry = written_[vector];
            const bool was = entry.is_for_peer();
            auto* const word = &entry.words[table_offset % PCI_MSIX_ENTRY_SIZE / 4];
            std::memcpy(reinterpret_cast<std::uint8_t*>(word) + in_word, &bytes[done], count);
            entry.words[0] &= ~3u;
            entry.words[3] &= PCI_MSIX_ENTRY_CTRL_MASKBIT;
            if (was != entry.is_for_peer())
                program_interrupts();
            else if (was)
                with_memory_space([&] { write_vector(vector); });
        }
        done += count;
    }
}

void host_function::forget_table() {
    written_.assign(raised_.size(), {{0, 0, 0, PCI_MSIX_ENTRY_CTRL_MASKBIT}});
}

void host_function::write_table(std::uint64_t offset, std::uint32_t value) {
    std::uint8_t bytes[4];
    std::memcpy(bytes, &value, sizeof value);
    sc_time untimed;
    send(tlm::TLM_WRITE_COMMAND, tlp::space::memory, bars_[msix_bar_].base + offset, bytes,
         untimed);
}

// --- The host's view of the configuration space

void host_function::config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const std::uint32_t position = offset + static_cast<std::uint32_t>(done);
        std::uint32_t word = position < config_size ? config_word(position & ~3u) : 0;
        if (is_bar(position)) std::memcpy(&word, &view_[(position & ~3u) - bar_registers], 4);
        if (msix_ != 0 && (position & ~3u) == msix_) {
            word = (word & ~(std::uint32_t{enable_byte} << 24)) |
                   static_cast<std::uint32_t>(host_msix_enable_) << 24;
        }
        const std::size_t count = std::min<std::size_t>(4 - position % 4, bytes.size() - done);
        std::memcpy(&bytes[done], reinterpret_cast<std::uint8_t*>(&word) + position % 4, count);
        done += count;
    }
}

void host_function::config_write(std::uint32_t offset, std::span<const std::uint8_t> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const std::uint32_t position = offset + static_cast<std::uint32_t>(done);
        if (position >= config_size) return;
        const std::size_t count = std::min<std::size_t>(4 - position % 4, bytes.size() - done);
        std::uint8_t part[4];
        std::memcpy(part, &bytes[done], count);
        config_write_dword(position, {part, count});
        done += count;
    }
}

/// A write inside one dword.
void host_function::config_write_dword(std::uint32_t offset, std::span<std::uint8_t> bytes) {
    if (is_bar(offset)) {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const std::size_t index = offset - bar_registers + i;
            view_[index] = static_cast<std::uint8_t>((view_[index] & ~view_mask_[index]) |
                                                     (bytes[i] & view_mask_[index]));
        }
        return;
    }
    // Underflows unless the write contains this byte.
    const std::size_t enable_at = msix_ + 3 - offset;
    if (msix_ != 0 && enable_at < bytes.size()) enable_messages(bytes[enable_at]);
    sc_time untimed;
    send(tlm::TLM_WRITE_COMMAND, tlp::space::config, offset, bytes, untimed);
    if (is_reset(offset, bytes)) restore();
}

/// Takes over the enable bit of the host's write, and replaces it by the function's.
void host_function::enable_messages(std::uint8_t& written) {
    const std::uint8_t before = std::exchange(host_msix_enable_, written & enable_byte);
    if (before != host_msix_enable_) {
        if (before != 0) had_handler_ = false;
        program_vectors();  // entries for peers depend on the bit
    }
    written =
        static_cast<std::uint8_t>((written & ~enable_byte) | (uses_messages() ? enable_byte : 0));
}

/// Whether this write starts a function-level reset: the last bit of device control.
bool host_function::is_reset(std::uint32_t offset, std::span<const std::uint8_t> bytes) const {
    const std::size_t index = express_ + PCI_EXP_DEVCTL + 1 - offset;  // underflows, as above
    return express_ != 0 && index < bytes.size() &&
           (bytes[index] & PCI_EXP_DEVCTL_BCR_FLR >> 8) != 0;
}

// --- BARs

function_port::bar_info host_function::bar(unsigned index) {
    bar_info info;
    if (index >= bar_count) return info;
    info.size = bars_[index].size;
    info.bus_address = bars_[index].base;
    info.prefetchable = (bars_[index].flags & PCI_BASE_ADDRESS_MEM_PREFETCH) != 0;
    if (info.size != 0 && info.prefetchable)
        with_memory_space([&] { add_mappable_areas(index, info); });
    return info;
}

/// Finds the parts of a BAR that can be mapped, by requests for direct memory pointers. A part must
/// be in one descriptor with the same layout as in the BAR, since a client maps a region from one
/// descriptor. Precondition: memory space is enabled.
void host_function::add_mappable_areas(unsigned index, bar_info& info) {
    constexpr std::uint64_t page = 4096;
    constexpr unsigned max_areas = 64;
    std::uint64_t offset = 0;
    for (unsigned i = 0; i < max_areas && offset < info.size; ++i) {
        memory_descriptor backing;
        payload query;
        query.set_read();
        query.set_address(bars_[index].base + offset);
        query.set_extension(&backing);
        tlm::tlm_dmi dmi;
        const bool granted = bus_.direct_pointer(query, dmi);
        query.clear_extension(&backing);
        const std::uint64_t end =
            std::min<std::uint64_t>(dmi.get_end_address() - bars_[index].base, info.size - 1) + 1;
        if (end <= offset) break;
        if (granted && backing.descriptor >= 0 && dmi.is_read_write_allowed()) {
            const std::uint64_t start = dmi.get_start_address() - bars_[index].base;
            const std::uint64_t in_file =
                static_cast<std::uint64_t>(dmi.get_dmi_ptr() - backing.bytes) + backing.offset;
            if (info.descriptor < 0 && in_file >= start) {
                info.descriptor = backing.descriptor;
                info.descriptor_offset = in_file - start;
            }
            const bool same =
                info.descriptor == backing.descriptor && info.descriptor_offset + start == in_file;
            if (same && start % page == 0 && end % page == 0 && in_file % page == 0) {
                info.areas.push_back({.offset = start, .size = end - start});
            }
        }
        offset = end;
    }
    if (info.areas.empty()) info.descriptor = -1;
}

bool host_function::bar_read(unsigned index, std::uint64_t offset, std::span<std::uint8_t> bytes,
                             sc_time& delay) {
    return access(tlm::TLM_READ_COMMAND, index, offset, bytes, delay);
}

bool host_function::bar_write(unsigned index, std::uint64_t offset,
                              std::span<const std::uint8_t> bytes, sc_time& delay) {
    // The payload of a write is not modified; TLM-2.0 has only non-const pointers.
    const std::span<std::uint8_t> data(const_cast<std::uint8_t*>(bytes.data()), bytes.size());
    return access(tlm::TLM_WRITE_COMMAND, index, offset, data, delay);
}

bool host_function::access(tlm::tlm_command command, unsigned index, std::uint64_t offset,
                           std::span<std::uint8_t> bytes, sc_time& delay) {
    if (index >= bar_count || offset > bars_[index].size ||
        bytes.size() > bars_[index].size - offset) {
        return false;
    }
    // The function's table contains messages to this port. The host's own entries are kept here, as
    // in VFIO; the host selects vectors with on_interrupt().
    const bool of_table = index == msix_bar_ && msix_ != 0;
    if (of_table && command == tlm::TLM_WRITE_COMMAND && memory_enabled()) {
        table_written(offset, bytes);
        return true;
    }
    bar_access asked{command, index, offset, bytes};
    // Behind an access that waits, where transports make none, there is no second one to wait for.
    auto* const pending = waiter_ != nullptr && !waiting_ ? &pending_ : nullptr;
    if (!advance(asked, pending, delay)) defer(asked, delay);
    return true;
}

/// Splits a host access into naturally aligned requests: of register size where reads may have side
/// effects, whole TLPs where the BAR is prefetchable. False: the target has deferred one.
bool host_function::advance(bar_access& access, pending_access* pending, sc_time& delay) {
    const bar_window& bar = bars_[access.index];
    const bool of_table = access.index == msix_bar_ && msix_ != 0;
    const bool prefetchable = (bar.flags & PCI_BASE_ADDRESS_MEM_PREFETCH) != 0;
    const std::uint64_t widest = prefetchable ? largest_request : register_width;
    const auto bytes = access.bytes;
    for (std::size_t& done = access.done; done < bytes.size();) {
        const std::uint64_t position = access.offset + done;
        std::uint64_t count = std::min(widest - position % widest, bytes.size() - done);
        if (!prefetchable) {  // 1, 2, 4 or 8 bytes, like accesses of a CPU
            const std::uint64_t alignment =
                position % widest == 0 ? widest : position & (~position + 1);
            count = std::bit_floor(std::min(count, alignment));
        }
        const auto piece = bytes.subspan(done, count);
        const bool ok =
            send(access.command, tlp::space::memory, bar.base + position, piece, delay, pending);
        if (pending != nullptr) {
            if (pending->is_deferred()) return false;
            pending->abandon();  // it has its response
        }
        if (of_table && ok) table_read(position, piece);
        done += count;
    }
    return true;
}

// --- Accesses that wait

void host_function::await_accesses(access_waiter* waiter) {
    cancel();
    waiter_ = waiter;
}

void host_function::defer(const bar_access& access, const sc_time& delay) {
    waiting_access& waits =
        waiting_.emplace(waiting_access{.access = access, .operation = trace::current_operation()});
    if (access.command == tlm::TLM_WRITE_COMMAND) {  // the host's bytes need not stay
        waits.written.assign(access.bytes.begin(), access.bytes.end());
        waits.access.bytes = waits.written;
    }
    expect_response(delay);
    bus_.repetition().notify(bus_.completion_timeout());
    waiter_->deferred();
}

void host_function::expect_response(const sc_time& delay) {
    const sc_time& now = sc_core::sc_time_stamp();
    waiting_->arrival = now + delay;
    waiting_->deadline = now + bus_.completion_timeout();
}

std::optional<sc_time> host_function::repeat() {
    if (!waiting_) return std::nullopt;
    const sc_time& now = sc_core::sc_time_stamp();
    const trace::on_behalf_of it(waiting_->operation);
    const std::size_t done = waiting_->access.done;
    sc_time delay = waiting_->arrival > now ? waiting_->arrival - now : sc_core::SC_ZERO_TIME;
    if (advance(waiting_->access, &pending_, delay)) {
        end(delay);
    } else if (waiting_->access.done != done) {
        expect_response(delay);
    } else if (now >= waiting_->deadline) {
        bus_.time_out(id_, waiting_->access.command);
        give_up();
    }
    return waiting_ ? std::optional(waiting_->deadline) : std::nullopt;
}

/// The rest of the access has no completion.
void host_function::give_up() {
    const bar_access& access = waiting_->access;
    if (access.command == tlm::TLM_READ_COMMAND)
        std::ranges::fill(access.bytes.subspan(access.done), std::uint8_t{0xff});
    end(sc_core::SC_ZERO_TIME);
}

void host_function::end(const sc_time& delay) {
    waiting_.reset();
    pending_.abandon();
    waiter_->ended(delay);
}

/// Ends the access that waits, if there is one.
void host_function::cancel() {
    if (!waiting_) return;
    bus_.repetition().notify(sc_core::SC_ZERO_TIME);  // its deadline is void
    give_up();
}

std::optional<std::string> host_function::describe_wait() const {
    if (!waiting_) return std::nullopt;
    const bar_access& access = waiting_->access;
    return fmt::format("a {} of {} bytes at BAR{} {:#x}",
                       access.command == tlm::TLM_READ_COMMAND ? "read" : "write",
                       access.bytes.size(), access.index, access.offset);
}

std::optional<std::uint64_t> host_function::on_bus(std::uint64_t address,
                                                   std::uint64_t length) const {
    for (unsigned i = 0; i < bar_count; ++i) {
        const bar_window& bar = bars_[i];
        if (length > bar.size) continue;
        std::uint64_t base = 0;
        std::memcpy(&base, &view_[4 * i], bar.wide() ? 8 : 4);
        base &= ~std::uint64_t{0xf};
        if (base != 0 && address >= base && address - base <= bar.size - length)
            return bar.base + (address - base);
    }
    return std::nullopt;
}

// --- Requests of the function

bool host_function::map_host(const host_range& range) {
    if (!memory_.map(range)) return false;
    if (range.bytes != nullptr) forget_pointers(range);  // an initiator may keep a refusal
    return true;
}

bool host_function::unmap_host(std::uint64_t iova, std::uint64_t size,
                               const std::function<void(const host_range&)>& forgotten) {
    const auto gone = [&](const host_range& range) {
        if (range.bytes != nullptr) forget_pointers(range);
        forgotten(range);
    };
    return memory_.unmap(iova, size, gone);
}

void host_function::forget_pointers(const host_range& range) {
    bus_.forget_pointers(id_, range.iova, range.iova + (range.size - 1));
}

void host_function::watch_host_memory(traffic_watcher* watcher) {
    memory_.watch(watcher);
    bus_.forget_pointers(id_, 0, ~std::uint64_t{0});  // accesses through pointers are not observed
}

void host_function::message(std::uint32_t vector) {
    if (vector < raised_.size() && raised_[vector]) raised_[vector]();
}

// --- Reset

/// As an operating system does, restores what it has saved before.
void host_function::reset() {
    cancel();
    if (express_ == 0) return restore();
    const auto command = static_cast<std::uint16_t>(config_word(PCI_COMMAND));
    const auto control = static_cast<std::uint16_t>(config_word(express_ + PCI_EXP_DEVCTL));
    const auto control2 = static_cast<std::uint16_t>(config_word(express_ + PCI_EXP_DEVCTL2));
    set_config_half(express_ + PCI_EXP_DEVCTL, control | PCI_EXP_DEVCTL_BCR_FLR);
    set_config_half(express_ + PCI_EXP_DEVCTL, control);
    set_config_half(express_ + PCI_EXP_DEVCTL2, control2);
    restore();
    set_config_half(PCI_COMMAND, command);
}

void host_function::restore() {
    write_bars();
    forget_table();
    host_msix_enable_ = 0;
    had_handler_ = std::ranges::any_of(raised_, [](auto& raised) { return bool(raised); });
    if (msix_ != 0) program_interrupts();
}

void host_function::detach() {
    cancel();
    host_ = 0;
    leaving_ = true;
    set_config_half(PCI_COMMAND, 0);
    leaving_ = false;
    for (auto& raised : raised_) raised = nullptr;
    forget_table();
    host_msix_enable_ = 0;
    had_handler_ = false;
    // The next host finds the function in D0, and its vectors not masked all at once.
    if (power_ != 0) set_config_half(power_ + PCI_PM_CTRL, 0);
    if (msix_ != 0) set_config_half(msix_ + PCI_MSIX_FLAGS, 0);
    if (msix_ != 0) program_interrupts();
    for (std::size_t i = 0; i < view_.size(); ++i) {
        view_[i] = static_cast<std::uint8_t>(view_[i] & ~view_mask_[i]);
    }
}

}  // namespace trn::pcie

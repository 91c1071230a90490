// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/pcie_endpoint.h"

#include <fmt/format.h>
#include <linux/pci_regs.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "models/misuse_rules.h"
#include "models/pcie/pcie/capabilities.h"
#include "models/pcie/pcie/link_rate.h"
#include "models/pcie/pcie/payload_form.h"
#include "platform/framework/misuse/hardware_failed.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

using pcie::framed;
using reset_kind = pcie::config_space::reset_kind;
using pcie::function_id;
using pcie::tlp;
using sc_core::sc_time;

namespace {

/// Text for a misuse report.
std::string where(const tlm::tlm_generic_payload& payload) {
    return fmt::format("{} bytes at {:#x}", payload.get_data_length(), payload.get_address());
}

/// A hart of a host inside, as the host: reports name its instruction.
class host_hart final : public initiator {
public:
    explicit host_hart(const initiator& hart) : initiator(kind::host), hart_(hart) {}
    std::string describe() const override { return hart_.describe(); }
    std::optional<std::uint64_t> instruction() const override { return hart_.instruction(); }

private:
    const initiator& hart_;
};

/// `host`, or its hart that makes the access, if the host is inside. Harts live as long as the
/// process.
const initiator& as_host(const initiator& host) {
    if (initiator::current_kind() != initiator::kind::firmware) return host;
    static std::unordered_map<const initiator*, std::unique_ptr<const host_hart>> harts;
    auto& known = harts[initiator::current()];
    if (known == nullptr) known = std::make_unique<const host_hart>(*initiator::current());
    return *known;
}

std::span<std::uint8_t> bytes_of(tlm::tlm_generic_payload& payload) {
    return {payload.get_data_ptr(), payload.get_data_length()};
}

}  // namespace

pcie_endpoint::pcie_endpoint(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      msix("msix", cfg.msix_vectors,
           [this](unsigned line, bool level) {
               if (level) interrupt(line);
           }),
      cfg_(cfg),
      vectors_(cfg.msix_vectors,
               [this](std::uint64_t address, std::uint32_t data) {
                   return send_message(address, data);
               }),
      lanes_(*this, pcie::payload_bytes_per_second(cfg.link_generation, cfg.link_width)),
      peers_(lanes_) {
    dma.register_b_transport(this, &pcie_endpoint::b_transport_dma);
    dma.register_transport_dbg(this, &pcie_endpoint::transport_dbg_dma);
    dma.register_get_direct_mem_ptr(this, &pcie_endpoint::get_direct_mem_ptr_dma);
    bar0.register_invalidate_direct_mem_ptr(this, &pcie_endpoint::invalidate_direct_mem_ptr,
                                            static_cast<int>(room::chip0));
    bar4.register_invalidate_direct_mem_ptr(this, &pcie_endpoint::invalidate_direct_mem_ptr,
                                            static_cast<int>(room::chip4));
    SC_HAS_PROCESS(pcie_endpoint);
    SC_METHOD(execute_postponed);
    sensitive << access_over_;
    dont_initialize();
    build_header();
    build_pcie_capability();
    build_power_management();
    build_msix();
    build_extended_capabilities();
}

// --- Configuration space

void pcie_endpoint::build_header() {
    constexpr std::uint16_t status_errors =
        PCI_STATUS_PARITY | PCI_STATUS_SIG_TARGET_ABORT | PCI_STATUS_REC_TARGET_ABORT |
        PCI_STATUS_REC_MASTER_ABORT | PCI_STATUS_SIG_SYSTEM_ERROR | PCI_STATUS_DETECTED_PARITY;
    pcie::define_header(space_, cfg_.vendor_id, cfg_.device_id,
                        cfg_.class_code << 8 | cfg_.revision);
    space_.define<std::uint16_t>(PCI_STATUS, PCI_STATUS_CAP_LIST, 0, status_errors);
    space_.define<std::uint16_t>(PCI_SUBSYSTEM_VENDOR_ID, cfg_.subsystem_vendor_id);
    space_.define<std::uint16_t>(PCI_SUBSYSTEM_ID, cfg_.subsystem_id);
    space_.on_write(PCI_COMMAND, 2, [this] { command_changed(); });

    const std::uint32_t bit = cfg_.bar0_prefetchable ? PCI_BASE_ADDRESS_MEM_PREFETCH : 0;
    define_bar(cfg_.register_bar, cfg_.bar0_size, PCI_BASE_ADDRESS_MEM_TYPE_64 | bit, room::chip0);
    define_bar(vector_bar(), pcie::msix_table::bar_size, PCI_BASE_ADDRESS_MEM_TYPE_32,
               room::vectors);
    define_bar(cfg_.memory_bar, cfg_.bar4_size,
               PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH, room::chip4);
    space_.on_write(PCI_BASE_ADDRESS_0, 24, [this] { bars_changed(); });
}

void pcie_endpoint::define_bar(unsigned index, std::uint64_t size, std::uint32_t flags,
                               room contents) {
    windows_[index / 2] = {.base = 0, .size = size, .contents = size == 0 ? room::none : contents};
    if (size == 0) return;
    sc_assert((size & (size - 1)) == 0 && size >= 16);
    const std::uint64_t writable = ~(size - 1);
    const std::uint32_t offset = PCI_BASE_ADDRESS_0 + 4 * index;
    space_.define<std::uint32_t>(offset, flags, static_cast<std::uint32_t>(writable) & ~0xfu);
    if ((flags & PCI_BASE_ADDRESS_MEM_TYPE_64) != 0) {
        space_.define<std::uint32_t>(offset + 4, 0, static_cast<std::uint32_t>(writable >> 32));
    }
}

void pcie_endpoint::build_pcie_capability() {
    pcie_ = pcie::add_pcie_capability(space_, PCI_EXP_TYPE_ENDPOINT << 4, true,
                                      cfg_.link_generation, cfg_.link_width);
    space_.keep_over_function_level_reset<std::uint16_t>(pcie_ + PCI_EXP_DEVCTL,
                                                         PCI_EXP_DEVCTL_PAYLOAD);
    space_.on_write(pcie_ + PCI_EXP_DEVCTL, 2, [this] { device_control_changed(); });
}

void pcie_endpoint::build_power_management() {
    power_ = pcie::add_power_management(space_);
    space_.on_write(power_ + PCI_PM_CTRL, 2, [this] { power_changed(); });
}

void pcie_endpoint::build_msix() {
    const std::uint32_t bar = vector_bar();
    msix_ = space_.add_capability(PCI_CAP_ID_MSIX, PCI_CAP_MSIX_SIZEOF);
    space_.define<std::uint16_t>(msix_ + PCI_MSIX_FLAGS,
                                 static_cast<std::uint16_t>(cfg_.msix_vectors - 1),
                                 PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
    space_.define<std::uint32_t>(msix_ + PCI_MSIX_TABLE, bar);
    space_.define<std::uint32_t>(msix_ + PCI_MSIX_PBA, pcie::msix_table::pending_offset | bar);
    space_.on_write(msix_ + PCI_MSIX_FLAGS, 2, [this] { msix_control_changed(); });
}

void pcie_endpoint::build_extended_capabilities() {
    errors_.add_capability(pcie_);
    const auto serial =
        space_.add_extended_capability(PCI_EXT_CAP_ID_DSN, 1, PCI_EXT_CAP_DSN_SIZEOF);
    space_.define<std::uint64_t>(serial + 4u, cfg_.serial_number);
}

// --- Effects of configuration writes

void pcie_endpoint::bars_changed() {
    for (unsigned i = 0; i < windows_.size(); ++i) {
        const std::uint32_t offset = PCI_BASE_ADDRESS_0 + 8 * i;
        std::uint64_t base = space_.get<std::uint32_t>(offset);
        if ((base & PCI_BASE_ADDRESS_MEM_TYPE_64) != 0) base = space_.get<std::uint64_t>(offset);
        windows_[i].base = base & ~std::uint64_t{0xf};
    }
}

void pcie_endpoint::command_changed() {
    const bool was = std::exchange(
        bus_master_, !in_d3_ && (space_.get<std::uint16_t>(PCI_COMMAND) & PCI_COMMAND_MASTER) != 0);
    // Pointers end, or the refusals do.
    if (was != bus_master_) dma->invalidate_direct_mem_ptr(0, ~sc_dt::uint64{0});
    const bool memory_space =
        !in_d3_ && (space_.get<std::uint16_t>(PCI_COMMAND) & PCI_COMMAND_MEMORY) != 0;
    if (std::exchange(memory_space_, memory_space) && !memory_space) forget_peers();
    if (bus_master_) host_left_ = cut_off_ = false;
    if (!was && bus_master_) vectors_.deliver_pending();
}

void pcie_endpoint::power_changed() {
    // 7.5.2.2: a write of an unsupported state is ignored; the function supports D0 and D3hot.
    const auto control = space_.get<std::uint16_t>(power_ + PCI_PM_CTRL);
    const auto state = control & PCI_PM_CTRL_STATE_MASK;
    if (state == 1 || state == 2) {
        const int previous = in_d3_ ? 3 : 0;
        space_.set(power_ + PCI_PM_CTRL,
                   static_cast<std::uint16_t>((control & ~PCI_PM_CTRL_STATE_MASK) | previous));
    }
    in_d3_ = (space_.get<std::uint16_t>(power_ + PCI_PM_CTRL) & PCI_PM_CTRL_STATE_MASK) == 3;
    command_changed();
}

void pcie_endpoint::device_control_changed() {
    const auto offset = pcie_ + PCI_EXP_DEVCTL;
    if ((space_.get<std::uint16_t>(offset) & PCI_EXP_DEVCTL_BCR_FLR) != 0)
        reset_function(reset_kind::function_level);
}

void pcie_endpoint::msix_control_changed() {
    const auto control = space_.get<std::uint16_t>(msix_ + PCI_MSIX_FLAGS);
    vectors_.control((control & PCI_MSIX_FLAGS_ENABLE) != 0,
                     (control & PCI_MSIX_FLAGS_MASKALL) != 0);
}

/// The function needs power from both the board and the slot; `source` is the supply that changes.
/// Without power the function does nothing; with power it starts from its initial state.
void pcie_endpoint::supply(bool& source, bool on) {
    const bool was = this->on();
    source = on;
    if (this->on() == was) return;
    if (was) space_.forget();
    no_power.set(was);
    reset_function(reset_kind::conventional);
    if (auto* wire = link.link(); wire != nullptr) {
        if (was)
            wire->disable();
        else
            wire->train(0);
    } else {
        link.report_link_change();  // the port then detects whether a device responds
    }
}

void pcie_endpoint::reset_function(reset_kind kind) {
    postponed_.clear();
    posted_.abandon();
    room_.wake();
    space_.reset(kind);
    vectors_.reset();
    bars_changed();
    power_changed();
    function_reset.set(true);
    function_reset.set(!on());
}

// --- Requests from the link

void pcie_endpoint::received(plug&, payload& request, sc_time& delay) {
    auto* header = request.get_extension<tlp>();
    if (header != nullptr && header->destination == tlp::space::slot_power) {
        request.set_response_status(tlm::TLM_OK_RESPONSE);
        supply(in_slot_, request.get_address() != 0);
        return no_slot_power.set(!in_slot_);
    }
    if (!on()) return pcie::refuse(request);
    if (header != nullptr && header->destination == tlp::space::hot_reset) {
        cut_off_ = cut_off_ || request.get_address() != 0;
        request.set_response_status(tlm::TLM_OK_RESPONSE);
        return reset_function(reset_kind::conventional);
    }
    // Redirected; the requester has the data already.
    if (header != nullptr && header->destination == tlp::space::completion)
        return request.set_response_status(tlm::TLM_OK_RESPONSE);
    if (pcie::complete_by_form(request,
                               header == nullptr ? tlp::space::memory : header->destination))
        return;
    const bool of_host = header == nullptr || pcie::bus_of(header->requester) == 0;
    if (request.get_extension<pending_access>() != &posted_) {
        if (accesses_ == 0) execute_postponed();  // nothing overtakes them, unless one is deferred
        const bool must_wait = accesses_ != 0 || is_executing_ || !postponed_.empty();
        if (must_wait && !of_host && header->destination == tlp::space::memory &&
            request.is_write())
            return postpone(request, header->requester);
    }
    // Only accesses of the host are attributed to it; other devices have set their own initiator.
    std::optional<acting> acting_host;
    if (of_host) acting_host.emplace(as_host(host_));
    const sc_time start = sc_core::sc_time_stamp() + delay;
    const bool is_new = !pcie::is_repeated(request);
    if (is_new) {
        delay += cfg_.request_latency;
        ++counters_.requests;
    }
    if (header != nullptr && lose_ > 0 && request.is_read()) {
        --lose_;
        return pcie::lose(request);
    }
    if (header != nullptr && header->destination == tlp::space::config)
        return configure(request, *header);

    const window* hit = decode(request.get_address(), request.get_data_length());
    if (hit == nullptr) {
        misuse::report(misuse::host_access_refused, *this, where(request));
        return refuse_request(request);
    }
    const std::uint64_t address = request.get_address();
    const std::uint64_t offset = address - hit->base;
    request.set_address(offset);
    if (hit->contents == room::vectors) {
        access_vectors(request);
    } else {
        const auto reports = misuse::reports();
        if (hit->contents == room::chip0)
            bridge_.access(*bar0.operator->(), request, delay);
        else
            bridge_.access_memory(*bar4.operator->(), request, delay);
        if (booting.level() && is_new && !may_be_polled(*hit, request) &&
            misuse::reports() == reports)
            misuse::report(misuse::access_while_booting, *this, where(request));
    }
    request.set_address(address);
    if (!of_host && !pcie::is_deferred(request))
        delay = std::max(delay, peers_.reserve(request.get_command(), address,
                                               request.get_data_length(), start) -
                                    sc_core::sc_time_stamp());
}

/// Accesses the MSI-X table or the PBA; the address is the offset in their BAR.
void pcie_endpoint::access_vectors(payload& request) {
    if (!pcie::is_linear(request))
        return request.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    request.set_response_status(tlm::TLM_OK_RESPONSE);
    pcie::for_enabled_bytes(request, request.get_address(),
                            [&](std::uint64_t offset, std::span<std::uint8_t> bytes) {
                                if (request.is_write())
                                    vectors_.write(offset, bytes);
                                else
                                    vectors_.read(offset, bytes);
                            });
}

void pcie_endpoint::postpone(payload& request, function_id requester) {
    if (postponed_.size() >= max_postponed) return room_.hold(request);
    const auto bytes = bytes_of(request);
    postponed_.push_back({request.get_address(), {bytes.begin(), bytes.end()}, requester});
    access_over_.notify(sc_core::SC_ZERO_TIME);
    request.set_response_status(tlm::TLM_OK_RESPONSE);
}

/// One after the other: a write that the chip defers is repeated when the chip can respond.
void pcie_endpoint::execute_postponed() {
    if (is_executing_) return;
    while (!postponed_.empty()) {
        posted_write next = std::move(postponed_.front());
        postponed_.pop_front();
        payload request;
        const framed header(request, next.requester);
        set_access(request, tlm::TLM_WRITE_COMMAND, next.address, next.bytes.data(),
                   next.bytes.size());
        request.set_extension(&posted_);
        posted_.attempt(request);
        sc_time delay;
        is_executing_ = true;
        received(link, request, delay);
        is_executing_ = false;
        request.clear_extension<pending_access>();
        if (posted_.is_deferred()) return postponed_.push_front(std::move(next));
        posted_.abandon();
        room_.wake();
    }
}

unsigned pcie_endpoint::peeked(plug&, payload& request) {
    const auto* header = request.get_extension<tlp>();
    if (header != nullptr && header->destination == tlp::space::config)
        return on() && request.is_read() && pcie::answer(space_, request)
                   ? request.get_data_length()
                   : 0;
    const window* hit = decode(request.get_address(), request.get_data_length());
    if (hit == nullptr || hit->contents == room::vectors) return 0;
    const std::uint64_t address = request.get_address();
    request.set_address(address - hit->base);
    auto& socket = hit->contents == room::chip0 ? bar0 : bar4;
    const unsigned done = socket->transport_dbg(request);
    request.set_address(address);
    return done;
}

bool pcie_endpoint::asked_for_pointer(plug&, payload& request, tlm::tlm_dmi& dmi) {
    const window* hit = decode(request.get_address(), 1);
    if (hit == nullptr || hit->contents == room::vectors) return refuse_pointer(request, dmi);
    const std::uint64_t address = request.get_address();
    route::add(request, peers_);  // only peers use the route
    request.set_address(address - hit->base);
    auto& socket = hit->contents == room::chip0 ? bar0 : bar4;
    const bool granted = socket->get_direct_mem_ptr(request, dmi);
    request.set_address(address);
    // The BAR maps the first `size` bytes of the target.
    const sc_dt::uint64 last = std::min<sc_dt::uint64>(dmi.get_end_address(), hit->size - 1);
    dmi.set_start_address(dmi.get_start_address() + hit->base);
    dmi.set_end_address(last + hit->base);
    return granted;
}

/// Reads of the words that a driver polls until firmware is ready (contract 1.3 step 4).
bool pcie_endpoint::may_be_polled(const window& hit, const payload& request) const {
    constexpr std::uint64_t size = 4096;
    return hit.contents == room::chip0 && request.is_read() &&
           request.get_address() - cfg_.boot_words < size;
}

void pcie_endpoint::configure(payload& request, tlp& header) {
    header.completer = this;
    // Only device 0, function 0 exists on the link.
    const bool mine = (header.target & 0xff) == 0;
    if (mine && request.is_write()) id_ = header.target;
    host_left_ = host_left_ || header.host_left;
    if (!mine || !pcie::answer(space_, request)) return refuse_request(request);
    request.set_response_status(tlm::TLM_OK_RESPONSE);
}

const pcie_endpoint::window* pcie_endpoint::decode(std::uint64_t address,
                                                   std::uint64_t length) const {
    if (!memory_space_ || length == 0) return nullptr;
    for (const window& bar : windows_) {
        if (bar.contents != room::none && address >= bar.base && length <= bar.size &&
            address - bar.base <= bar.size - length) {
            return &bar;
        }
    }
    return nullptr;
}

void pcie_endpoint::refuse_request(payload& request) {
    ++counters_.unsupported_requests;
    report(errors_.uncorrectable(PCI_ERR_UNC_UNSUP, &request));
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

// --- Accesses of the chip to the host

void pcie_endpoint::refuse_dma(payload& request) {
    ++counters_.refused_dma;
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    // Software, or the next host, has set the function up again since.
    const bool renewed = memory_space_;
    // Software does not know yet that the card was pulled, or its link cut.
    if (!on() || (cut_off_ && !renewed)) return misuse::hardware_failed();
    misuse::report(
        host_left_ && !renewed ? misuse::host_left_during_dma : misuse::dma_without_bus_master,
        *this, where(request));
}

void pcie_endpoint::b_transport_dma(payload& request, sc_time& delay) {
    if (!bus_master_) return refuse_dma(request);
    framed header(request, id_);
    const sc_time start = sc_core::sc_time_stamp() + delay;
    ++accesses_;
    link.send(request, delay);
    --accesses_;
    if (header.header.lost) {
        if (timing() == timing_mode::contended) delay += cfg_.completion_timeout;
        report(errors_.uncorrectable(PCI_ERR_UNC_COMP_TIME));
        ++counters_.timeouts;
        misuse::hardware_failed();
        return request.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    if (request.is_response_ok())  // except while the host's answer is outstanding
        delay = std::max(delay, lanes_.pass(request.get_command(), request.get_address(),
                                            request.get_data_length(), start) -
                                    sc_core::sc_time_stamp());
    if (request.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE) {
        misuse::report(
            misuse::dma_outside_host_memory, *this,
            where(request) + (header.header.freed ? ": the host has freed this memory" : ""));
        space_.raise<std::uint16_t>(PCI_STATUS, PCI_STATUS_REC_MASTER_ABORT);
    }
}

unsigned pcie_endpoint::transport_dbg_dma(payload& request) {
    const framed header(request, id_);
    return link.peek(request);
}

bool pcie_endpoint::get_direct_mem_ptr_dma(payload& request, tlm::tlm_dmi& dmi) {
    if (!bus_master_) {
        dmi.allow_read_write();
        dmi.set_start_address(0);
        dmi.set_end_address(~sc_dt::uint64{0});
        return false;
    }
    const framed header(request, id_);
    route::add(request, lanes_);
    return link.ask_for_pointer(request, dmi);
}

void pcie_endpoint::pointers_revoked(plug&, std::uint64_t first, std::uint64_t last) {
    dma->invalidate_direct_mem_ptr(first, last);
}

/// 2.9.1: devices on a link that goes down are reset.
void pcie_endpoint::link_changed(plug&) {
    if (!on() || link.up()) return;
    cut_off_ = true;
    reset_function(reset_kind::conventional);
}

void pcie_endpoint::link_erred(plug&, link_error error) {
    report(errors_.correctable(error));
}

/// Sends an error message to the root port, if software has enabled one.
void pcie_endpoint::report(std::optional<pcie::error_class> severity) {
    if (!severity) return;
    payload message;
    framed framed(message, id_);
    framed.header.destination = tlp::space::error;
    set_message(message, static_cast<std::uint64_t>(*severity));
    sc_time untimed;
    link.send(message, untimed);
    ++counters_.error_messages;
}

void pcie_endpoint::invalidate_direct_mem_ptr(int contents, sc_dt::uint64 first,
                                              sc_dt::uint64 last) {
    for (const window& bar : windows_) {
        if (bar.contents != static_cast<room>(contents) || first >= bar.size) continue;
        link.revoke_pointers(bar.base + first,
                             bar.base + std::min<std::uint64_t>(last, bar.size - 1));
    }
}

/// Peers may have pointers to memory in the BARs.
void pcie_endpoint::forget_peers() {
    link.revoke_pointers();
}

bool pcie_endpoint::send_message(std::uint64_t address, std::uint32_t data) {
    if (!bus_master_) return false;
    if (lose_messages_ > 0) {
        --lose_messages_;
        ++counters_.lost_interrupts;
        return true;
    }
    payload message;
    set_access(message, tlm::TLM_WRITE_COMMAND, address, &data, sizeof data);
    const framed header(message, id_);
    sc_time delay = sc_core::SC_ZERO_TIME;
    ++accesses_;
    link.send(message, delay);
    --accesses_;
    if (trace::on()) trace::event(name(), "interrupt", {trace::hex("data", data)});
    ++counters_.interrupts;
    return true;
}

void pcie_endpoint::publish(statistics& out) const {
    out.count("host_requests", counters_.requests);
    out.count("unsupported_requests", counters_.unsupported_requests);
    out.count("failed_reads", bridge_.counters().failed_reads);
    out.count("dropped_writes", bridge_.counters().dropped_writes);
    out.count("refused_dma", counters_.refused_dma);
    out.count("interrupts", counters_.interrupts);
    out.count("lost_interrupts", counters_.lost_interrupts);
    out.count("completion_timeouts", counters_.timeouts);
    out.count("error_messages", counters_.error_messages);
    out.count("dma_bytes_read", lanes_.directions[0].bytes());
    out.count("dma_bytes_written", lanes_.directions[1].bytes());
}

std::vector<accepts_faults::fault> pcie_endpoint::faults() {
    return {{"lost_completion",
             "the next reads of the host get no completion",
             {fault_argument::count()},
             [this](const fault_values& given) { lose_ += given.number("count"); }},
            {"lost_interrupt",
             "the next interrupt messages are lost",
             {fault_argument::count()},
             [this](const fault_values& given) { lose_messages_ += given.number("count"); }}};
}

}  // namespace trn

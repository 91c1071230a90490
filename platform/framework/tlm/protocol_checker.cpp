// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/protocol_checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/framework/kernel/time_text.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

namespace rules = base_protocol::rules;
using sc_core::sc_time;
using tlm::tlm_generic_payload;
using tlm::tlm_phase;

namespace {

constexpr std::string_view forward_call = "nb_transport_fw", backward_call = "nb_transport_bw";

bool has_begun() {
    return (sc_core::sc_get_status() &
            (sc_core::SC_ELABORATION | sc_core::SC_BEFORE_END_OF_ELABORATION |
             sc_core::SC_END_OF_ELABORATION | sc_core::SC_START_OF_SIMULATION)) == 0;
}

bool called_by_method() {
    const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
    return process.valid() && process.proc_kind() == sc_core::SC_METHOD_PROC_;
}

/// Outside of processes there is one caller: hosts and tools between two slices.
bool are_same(const sc_core::sc_process_handle& first, const sc_core::sc_process_handle& second) {
    return first.valid() ? first == second : !second.valid();
}

/// The answer of the restricted protocol to an access that is not complete.
bool is_deferred(const tlm_generic_payload& payload) {
    const auto* const pending = payload.get_extension<pending_access>();
    return pending != nullptr && pending->is_deferred();
}

}  // namespace

/// The checked interface of a target.
class protocol_checker::forward_calls final : public tlm::tlm_fw_transport_if<> {
public:
    forward_calls(protocol_checker& owner, tlm::tlm_fw_transport_if<>& target)
        : owner_(owner), target_(target) {}

    void b_transport(tlm_generic_payload& payload, sc_time& delay) override {
        owner_.check_begin("b_transport", payload);
        owner_.transport("b_transport", payload, delay,
                         [&] { target_.b_transport(payload, delay); });
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm_generic_payload& payload, tlm_phase& phase,
                                       sc_time& delay) override {
        owner_.check_begin(forward_call, payload);
        return owner_.forward(target_, payload, phase, delay);
    }
    unsigned transport_dbg(tlm_generic_payload& payload) override {
        return owner_.debug("transport_dbg", payload,
                            [&] { return target_.transport_dbg(payload); });
    }
    bool get_direct_mem_ptr(tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
        return owner_.pointer("get_direct_mem_ptr", payload, dmi,
                              [&] { return target_.get_direct_mem_ptr(payload, dmi); });
    }
    bool calls(const tlm::tlm_fw_transport_if<>* target) const { return &target_ == target; }

private:
    protocol_checker& owner_;
    tlm::tlm_fw_transport_if<>& target_;
};

/// The checked interface of an initiator.
class protocol_checker::backward_calls final : public tlm::tlm_bw_transport_if<> {
public:
    backward_calls(protocol_checker& owner, tlm::tlm_bw_transport_if<>& initiator)
        : owner_(owner), initiator_(initiator) {}

    tlm::tlm_sync_enum nb_transport_bw(tlm_generic_payload& payload, tlm_phase& phase,
                                       sc_time& delay) override {
        return owner_.backward(initiator_, payload, phase, delay);
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
        owner_.invalidation("invalidate_direct_mem_ptr", first, last,
                            [&] { initiator_.invalidate_direct_mem_ptr(first, last); });
    }
    bool calls(const tlm::tlm_bw_transport_if<>* initiator) const {
        return &initiator_ == initiator;
    }

private:
    protocol_checker& owner_;
    tlm::tlm_bw_transport_if<>& initiator_;
};

protocol_checks::protocol_checks(const sc_core::sc_object& socket, protocol rules)
    : checker_(base_protocol::current_policy() == base_protocol::policy::off
                   ? nullptr
                   : std::make_unique<protocol_checker>(socket, rules)) {}

protocol_checks::~protocol_checks() = default;

tlm::tlm_fw_transport_if<>* protocol_checks::checked(tlm::tlm_fw_transport_if<>* target) const {
    return checker_->around(target);
}

tlm::tlm_bw_transport_if<>* protocol_checks::checked(tlm::tlm_bw_transport_if<>* initiator) const {
    return checker_->around(initiator);
}

protocol_checker::protocol_checker(const sc_core::sc_object& socket, protocol rules)
    : socket_(socket), rules_(rules) {}

protocol_checker::~protocol_checker() = default;

namespace {

/// The element for `called`, which is added if there is none.
template <class Calls, class Interface>
Calls* find_or_add(std::list<std::unique_ptr<Calls>>& all, protocol_checker& owner,
                   Interface* called) {
    if (called == nullptr) return nullptr;
    const auto known =
        std::ranges::find_if(all, [&](const auto& each) { return each->calls(called); });
    if (known != all.end()) return known->get();
    return all.emplace_back(std::make_unique<Calls>(owner, *called)).get();
}

}  // namespace

tlm::tlm_fw_transport_if<>* protocol_checker::around(tlm::tlm_fw_transport_if<>* target) {
    return find_or_add(targets_, *this, target);
}

tlm::tlm_bw_transport_if<>* protocol_checker::around(tlm::tlm_bw_transport_if<>* initiator) {
    return find_or_add(initiators_, *this, initiator);
}

void protocol_checker::report(const base_protocol::rule& broken, std::string_view call,
                              const tlm_generic_payload* payload, std::string_view detail) const {
    base_protocol::report(broken, socket_.name(), call, payload, detail);
}

void protocol_checker::report_range(std::string_view call, std::uint64_t first,
                                    std::uint64_t last) const {
    report(rules::invalidation_range, call, nullptr, fmt::format("{:#x} to {:#x}", first, last));
}

// --- Attributes

protocol_checker::attributes::attributes(const tlm_generic_payload& payload, bool has_data)
    : command(payload.get_command()),
      address(payload.get_address()),
      data(payload.get_data_ptr()),
      length(payload.get_data_length()),
      enables(payload.get_byte_enable_ptr()),
      enables_length(payload.get_byte_enable_length()),
      streaming_width(payload.get_streaming_width()),
      option(payload.get_gp_option()),
      status(payload.get_response_status()),
      is_managed(payload.has_mm()) {
    const std::size_t count = std::min<std::size_t>(tlm::max_num_extensions(), max_extensions);
    for (unsigned i = 0; i < count; ++i) extensions[i] = payload.get_extension(i);
    if (!has_data || payload.is_read() || data == nullptr) return;
    kept = std::min<std::size_t>(length, max_bytes);
    std::copy_n(data, kept, bytes.begin());
}

/// What an initiator sets before a transaction.
void protocol_checker::check_request(std::string_view call, const tlm_generic_payload& payload,
                                     const sc_time& delay) const {
    const tlm::tlm_command command = payload.get_command();
    const bool has_data = command != tlm::TLM_IGNORE_COMMAND;
    if (has_data && command != tlm::TLM_READ_COMMAND && command != tlm::TLM_WRITE_COMMAND)
        report(rules::command, call, &payload);
    if (has_data && payload.get_data_ptr() == nullptr) report(rules::data_pointer, call, &payload);
    if (has_data && payload.get_data_length() == 0) report(rules::data_length, call, &payload);
    if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
        report(rules::byte_enables, call, &payload);
    if (payload.get_streaming_width() == 0) report(rules::streaming_width, call, &payload);
    if (payload.is_dmi_allowed()) report(rules::dmi_hint, call, &payload);
    if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
        report(rules::request_status, call, &payload, payload.get_response_string());
    if (payload.get_gp_option() != tlm::TLM_MIN_PAYLOAD) report(rules::option, call, &payload);
    if (payload.has_mm() && payload.get_ref_count() == 0)
        report(rules::reference_count, call, &payload);
    if (sc_core::sc_max_time() - sc_core::sc_time_stamp() < delay)
        report(rules::delay_range, call, &payload, to_text(delay));
}

/// Sockets carry no transaction before the simulation.
void protocol_checker::check_begin(std::string_view call,
                                   const tlm_generic_payload& payload) const {
    if (!has_begun()) report(rules::before_simulation, call, &payload);
}

void protocol_checker::check_unchanged(std::string_view call, const tlm_generic_payload& payload,
                                       const attributes& before, bool is_address_restored) const {
    const auto expect = [&](bool is_same, std::string_view name) {
        if (!is_same) report(rules::attributes, call, &payload, name);
    };
    expect(payload.get_command() == before.command, "command");
    expect(payload.get_data_ptr() == before.data, "data pointer");
    expect(payload.get_data_length() == before.length, "data length");
    expect(payload.get_byte_enable_ptr() == before.enables, "byte enable pointer");
    expect(payload.get_byte_enable_length() == before.enables_length, "byte enable length");
    expect(payload.get_streaming_width() == before.streaming_width, "streaming width");
    // A target may accept the full payload in debug transport and DMI (14.8).
    expect(payload.get_gp_option() == before.option ||
               (before.option == tlm::TLM_FULL_PAYLOAD &&
                payload.get_gp_option() == tlm::TLM_FULL_PAYLOAD_ACCEPTED),
           "option");
    if (is_address_restored && payload.get_address() != before.address)
        report(rules::address, call, &payload, fmt::format("was {:#x}", before.address));
    if (payload.get_data_ptr() == before.data &&
        !std::equal(before.data, before.data + before.kept, before.bytes.begin()))
        report(rules::data, call, &payload);
    if (!before.is_managed) check_extensions(call, payload, before);
}

/// A payload without memory manager is its initiator's when the call returns.
void protocol_checker::check_extensions(std::string_view call, const tlm_generic_payload& payload,
                                        const attributes& before) const {
    if (payload.has_mm()) report(rules::extensions, call, &payload, "memory manager");
    const std::size_t count =
        std::min<std::size_t>(tlm::max_num_extensions(), attributes::max_extensions);
    for (unsigned i = 0; i < count; ++i)
        if (payload.get_extension(i) != before.extensions[i])
            report(rules::extensions, call, &payload, fmt::format("index {}", i));
}

// --- Blocking transport

protocol_checker::blocking_call::blocking_call(protocol_checker& owner, std::string_view call,
                                               tlm_generic_payload& payload, const sc_time& delay)
    : owner_(owner),
      call_(call),
      payload_(payload),
      before_(payload),
      now_(sc_core::sc_time_stamp()),
      local_(now_ + delay),
      delta_(sc_core::sc_delta_count()) {
    const sc_core::sc_process_handle caller = sc_core::sc_get_current_process_handle();
    owner.check_request(call, payload, delay);
    if (owner.rules_ == protocol::base && called_by_method())
        owner.report(rules::method_process, call, &payload);
    // An interconnect may forward an access to itself: then the caller is the same process.
    if (std::ranges::any_of(owner.active_, [&](const active& each) {
            return each.payload == &payload && !are_same(each.caller, caller);
        }))
        owner.report(rules::payload_in_use, call, &payload);
    if (owner.exchanges_.contains(&payload)) owner.report(rules::mixed_transport, call, &payload);
    owner.active_.push_back({&payload, caller});
}

protocol_checker::blocking_call::~blocking_call() {
    auto& all = owner_.active_;
    const auto own = std::find_if(all.rbegin(), all.rend(),
                                  [this](const active& each) { return each.payload == &payload_; });
    all.erase(std::next(own).base());
}

void protocol_checker::blocking_call::end(const sc_time& delay) const {
    const bool is_restricted = owner_.rules_ == protocol::restricted;
    if (payload_.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE &&
        (owner_.rules_ == protocol::base || !is_deferred(payload_)))
        owner_.report(rules::response_status, call_, &payload_);
    owner_.check_unchanged(call_, payload_, before_, is_restricted);
    const sc_time& now = sc_core::sc_time_stamp();
    if (now + delay < local_)
        owner_.report(rules::delay, call_, &payload_,
                      fmt::format("from {} to {}", to_text(local_), to_text(now + delay)));
    if (is_restricted && (now != now_ || sc_core::sc_delta_count() != delta_))
        owner_.report(rules::wait, call_, &payload_);
}

// --- Debug transport and DMI

void protocol_checker::begin_debug(std::string_view call,
                                   const tlm_generic_payload& payload) const {
    if (payload.get_data_length() > 0 && payload.get_data_ptr() == nullptr)
        report(rules::debug_data, call, &payload);
}

void protocol_checker::end_debug(std::string_view call, const tlm_generic_payload& payload,
                                 const attributes& before, const sc_time& begin,
                                 unsigned count) const {
    check_unchanged(call, payload, before, rules_ == protocol::restricted);
    if (count > payload.get_data_length())
        report(rules::debug_count, call, &payload, fmt::format("{}", count));
    if (rules_ == protocol::restricted && before.option == tlm::TLM_MIN_PAYLOAD &&
        payload.get_response_status() != before.status)
        report(rules::debug_response, call, &payload);
    if (sc_core::sc_time_stamp() != begin) report(rules::debug_time, call, &payload);
}

void protocol_checker::begin_pointer(std::string_view call, const tlm_generic_payload& payload,
                                     const tlm::tlm_dmi& dmi) const {
    if (!payload.is_read() && !payload.is_write()) report(rules::dmi_command, call, &payload);
    const sc_time& none = sc_core::SC_ZERO_TIME;
    if (dmi.get_dmi_ptr() != nullptr || !dmi.is_none_allowed() || dmi.get_start_address() != 0 ||
        dmi.get_end_address() != ~sc_dt::uint64{0} || dmi.get_read_latency() != none ||
        dmi.get_write_latency() != none)
        report(rules::dmi_request, call, &payload);
    if (inside_invalidation::depth > 0) report(rules::dmi_in_invalidation, call, &payload);
}

void protocol_checker::end_pointer(std::string_view call, const tlm_generic_payload& payload,
                                   const attributes& before, const tlm::tlm_dmi& dmi,
                                   bool is_granted) const {
    check_unchanged(call, payload, before, rules_ == protocol::restricted);
    const std::uint64_t first = dmi.get_start_address(), last = dmi.get_end_address();
    if (first > last || before.address < first || before.address > last)
        report(rules::dmi_range, call, &payload,
               fmt::format("{} {:#x} to {:#x}", is_granted ? "granted" : "refused", first, last));
    const bool is_named =
        before.command == tlm::TLM_WRITE_COMMAND ? dmi.is_write_allowed() : dmi.is_read_allowed();
    if (!is_named)
        report(rules::dmi_access, call, &payload,
               fmt::format("{} {}", is_granted ? "granted" : "refused",
                           dmi.is_none_allowed()   ? "none"
                           : dmi.is_read_allowed() ? "reads"
                                                   : "writes"));
    if (is_granted && dmi.get_dmi_ptr() == nullptr) report(rules::dmi_pointer, call, &payload);
}

// --- Non-blocking transport

void protocol_checker::check_managed(std::string_view call,
                                     const tlm_generic_payload& payload) const {
    if (!payload.has_mm())
        report(rules::memory_manager, call, &payload);
    else if (payload.get_ref_count() == 0)
        report(rules::reference_count, call, &payload);
}

/// The annotated time of a transaction never decreases.
void protocol_checker::advance(std::string_view call, const tlm_generic_payload& payload,
                               const sc_time& delay) {
    const auto found = exchanges_.find(&payload);
    if (found == exchanges_.end()) return;
    const sc_time local = sc_core::sc_time_stamp() + delay;
    if (local < found->second.local)
        report(rules::phase_time, call, &payload,
               fmt::format("from {} to {}", to_text(found->second.local), to_text(local)));
    found->second.local = local;
}

void protocol_checker::check_exchange(std::string_view call,
                                      const tlm_generic_payload& payload) const {
    const auto found = exchanges_.find(&payload);
    if (found != exchanges_.end()) check_unchanged(call, payload, found->second.begin, false);
}

void protocol_checker::begin_request(std::string_view call, const tlm_generic_payload& payload,
                                     const sc_time& delay) {
    check_request(call, payload, delay);
    if (std::ranges::any_of(active_, [&](const active& each) { return each.payload == &payload; }))
        report(rules::mixed_transport, call, &payload);
    if (exchanges_.contains(&payload)) report(rules::payload_in_use, call, &payload);
    if (request_ != nullptr) report(rules::request_exclusion, call, &payload);
    request_ = &payload;
    exchanges_.insert_or_assign(
        &payload, exchange{attributes(payload), tlm::BEGIN_REQ, sc_core::sc_time_stamp() + delay});
}

void protocol_checker::end_response(std::string_view call, const tlm_generic_payload& payload) {
    const auto found = exchanges_.find(&payload);
    if (found == exchanges_.end() || found->second.phase != tlm::BEGIN_RESP)
        report(rules::phase_order, call, &payload, "END_RESP");
    complete(payload);
}

/// The transaction has ended.
void protocol_checker::complete(const tlm_generic_payload& payload) {
    exchanges_.erase(&payload);
    if (request_ == &payload) request_ = nullptr;
    if (response_ == &payload) response_ = nullptr;
}

/// A phase of the target: an argument of nb_transport_bw, or what nb_transport_fw returns.
void protocol_checker::take_answer(std::string_view call, const tlm_generic_payload& payload,
                                   const tlm_phase& phase, const sc_time& delay) {
    if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP || phase == tlm::UNINITIALIZED_PHASE)
        return report(rules::phase_direction, call, &payload, phase.get_name());
    if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return;  // an ignorable phase
    advance(call, payload, delay);
    const auto found = exchanges_.find(&payload);
    const bool follows = found != exchanges_.end() &&
                         (found->second.phase == tlm::BEGIN_REQ ||
                          (phase == tlm::BEGIN_RESP && found->second.phase == tlm::END_REQ));
    if (!follows) return report(rules::phase_order, call, &payload, phase.get_name());
    found->second.phase = phase;
    if (request_ == &payload) request_ = nullptr;
    if (phase == tlm::END_REQ) return;
    if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
        report(rules::response_status, call, &payload);
    if (response_ != nullptr) report(rules::response_exclusion, call, &payload);
    response_ = &payload;
}

/// Calls the target. A transaction ends if the target throws.
tlm::tlm_sync_enum protocol_checker::call_forward(tlm::tlm_fw_transport_if<>& target,
                                                  tlm_generic_payload& payload, tlm_phase& phase,
                                                  sc_time& delay) {
    const sc_dt::uint64 delta = sc_core::sc_delta_count();
    try {
        const tlm::tlm_sync_enum progress = target.nb_transport_fw(payload, phase, delay);
        if (sc_core::sc_delta_count() != delta)
            report(rules::nonblocking_wait, forward_call, nullptr);
        return progress;
    } catch (...) {
        complete(payload);
        throw;
    }
}

tlm::tlm_sync_enum protocol_checker::forward(tlm::tlm_fw_transport_if<>& target,
                                             tlm_generic_payload& payload, tlm_phase& phase,
                                             sc_time& delay) {
    const tlm_phase sent = phase;
    check_managed(forward_call, payload);
    if (sent == tlm::BEGIN_REQ) {
        begin_request(forward_call, payload, delay);
    } else if (sent == tlm::END_RESP) {
        advance(forward_call, payload, delay);
        end_response(forward_call, payload);
    } else if (sent == tlm::END_REQ || sent == tlm::BEGIN_RESP ||
               sent == tlm::UNINITIALIZED_PHASE) {
        report(rules::phase_direction, forward_call, &payload, sent.get_name());
    }
    const tlm::tlm_sync_enum progress = call_forward(target, payload, phase, delay);
    // The payload of a transaction that has ended may be another one already.
    if (sent == tlm::END_RESP) return progress;
    if (!exchanges_.contains(&payload)) {
        if (sent == tlm::BEGIN_REQ && progress != tlm::TLM_ACCEPTED)
            report(rules::phase_order, forward_call, nullptr, "a response has ended it already");
        return progress;
    }
    check_exchange(forward_call, payload);
    if (progress == tlm::TLM_UPDATED) {
        take_answer(forward_call, payload, phase, delay);
    } else if (progress == tlm::TLM_COMPLETED) {
        advance(forward_call, payload, delay);
        if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
            report(rules::response_status, forward_call, &payload);
        complete(payload);
    }
    return progress;
}

tlm::tlm_sync_enum protocol_checker::backward(tlm::tlm_bw_transport_if<>& initiator,
                                              tlm_generic_payload& payload, tlm_phase& phase,
                                              sc_time& delay) {
    check_managed(backward_call, payload);
    check_exchange(backward_call, payload);
    take_answer(backward_call, payload, phase, delay);
    const sc_dt::uint64 delta = sc_core::sc_delta_count();
    const tlm::tlm_sync_enum progress = initiator.nb_transport_bw(payload, phase, delay);
    if (sc_core::sc_delta_count() != delta) report(rules::nonblocking_wait, backward_call, nullptr);
    if (!exchanges_.contains(&payload)) return progress;
    if (progress == tlm::TLM_COMPLETED) {
        complete(payload);
    } else if (progress == tlm::TLM_UPDATED) {
        advance(backward_call, payload, delay);
        if (phase == tlm::END_RESP)
            end_response(backward_call, payload);
        else if (phase == tlm::BEGIN_REQ || phase == tlm::END_REQ || phase == tlm::BEGIN_RESP ||
                 phase == tlm::UNINITIALIZED_PHASE)
            report(rules::phase_direction, backward_call, &payload, phase.get_name());
    }
    return progress;
}

}  // namespace trn

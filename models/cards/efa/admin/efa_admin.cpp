// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/admin/efa_admin.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace trn {

using namespace efa_objects;
using nitro::answered;
using nitro::done;
using nitro::refuse;
using nitro::status;
using nitro::step;
namespace regs = efa_admin_regs;
using regs::reg;

namespace {

using opcode = std::uint32_t;

gid gid_at(const efa_admin::entry& command, reg first) {
    gid value;
    std::memcpy(value.data(),
                reinterpret_cast<const std::uint8_t*>(command.words().data()) +
                    efa_admin::entry::byte(first),
                value.size());
    return value;
}

constexpr std::uint32_t event_groups = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4;  // EFA contract 6, step 6
constexpr std::uint32_t host_info_bytes = 180;

}  // namespace

efa_admin::efa_admin(const config& cfg, efa_objects::objects& objects, listener& engine)
    : cfg_(cfg), objects_(objects), engine_(engine), driver_(event_groups) {}

void efa_admin::reset() {
    objects_.clear();
    // Packets for queue pairs from before the reset may still arrive: their numbers differ in the
    // upper bits from those of the next ones.
    created_ = (created_ + limits::max_qp - 1) / limits::max_qp * limits::max_qp;
    list_.reset();
    driver_.forget();
}

step efa_admin::begin(const nitro::admin_entry& header) {
    const entry command(header.words());
    switch (command.get(regs::opcodes::opcode)) {
    case regs::opcodes::opcode_create_qp:
        return create_qp(command);
    case regs::opcodes::opcode_modify_qp:
        return modify_qp(command);
    case regs::opcodes::opcode_query_qp:
        return query_qp(command);
    case regs::opcodes::opcode_destroy_qp:
        return destroy_qp(command);
    case regs::opcodes::opcode_create_ah:
        return create_ah(command);
    case regs::opcodes::opcode_destroy_ah:
        return destroy_ah(command);
    case regs::opcodes::opcode_reg_mr:
        return reg_mr(header, command);
    case regs::opcodes::opcode_dereg_mr:
        return dereg_mr(command);
    case regs::opcodes::opcode_create_cq:
        return create_cq(command);
    case regs::opcodes::opcode_destroy_cq:
        return destroy_cq(command);
    case regs::opcodes::opcode_get_feature:
        return get_feature(command);
    case regs::opcodes::opcode_set_feature:
        return set_feature(command);
    case regs::opcodes::opcode_get_stats:
        return get_stats(command);
    case regs::opcodes::opcode_alloc_pd:
        return alloc_pd();
    case regs::opcodes::opcode_dealloc_pd:
        return dealloc_pd(command);
    case regs::opcodes::opcode_alloc_uar:
        return alloc_uar();
    case regs::opcodes::opcode_dealloc_uar:
        return dealloc_uar(command);
    case regs::opcodes::opcode_create_eq:
        return create_eq(command);
    case regs::opcodes::opcode_destroy_eq:
        return destroy_eq(command);
    case regs::opcodes::opcode_alloc_mr:
        return alloc_mr(command);
    default:
        return refuse(status::bad_opcode);
    }
}

step efa_admin::resume(std::span<const std::uint8_t> bytes) {
    if (list_) return continue_list(bytes);
    return driver_.set_kernel(bytes) ? done() : refuse(status::illegal_parameter);
}

// --- features ---

step efa_admin::get_feature(const entry& command) {
    entry words;
    switch (command.get(regs::feature::id)) {
    case regs::feature::id_device_attr:
        return device_attributes();
    case regs::feature::id_aenq_config:
        words.set(reg::aenq_supported, driver_.offered_events());
        words.set(reg::aenq_enabled, driver_.wanted_events());
        return answered(words);
    case regs::feature::id_network_attr:
        return network_attributes();
    case regs::feature::id_queue_attr_1:
        return queue_attributes(cfg_);
    case regs::feature::id_hw_hints:
        return answered(words);  // zeros: the driver uses its own timeouts (EFA contract 21)
    case regs::feature::id_event_queue_attr:
        words.set(reg::event_queues_max, cfg_.max_eq);
        words.set(reg::event_queues_max_depth, limits::max_eq_depth);
        words.set(regs::event_queues_events::completion, 1);
        return answered(words);
    case regs::feature::id_queue_attr_2:
        words.set(regs::queues_2::long_inline, limits::long_inline_bytes);
        return answered(words);
    default:
        return refuse(status::unsupported_opcode);
    }
}

step efa_admin::set_feature(const entry& command) {
    switch (command.get(regs::feature::id)) {
    case regs::feature::id_aenq_config:
        driver_.want_events(command.get(reg::feature_aenq_enabled));
        engine_.events_enabled(driver_.wanted_events());
        return done();
    case regs::feature::id_host_info:
        if (command.get(reg::feature_buffer_length) < host_info_bytes)
            return refuse(status::illegal_parameter);
        return nitro::memory_request{.address = command.get_wide(reg::feature_buffer_lo),
                                     .bytes = host_info_bytes};
    default:
        return refuse(status::unsupported_opcode);
    }
}

step efa_admin::device_attributes() const {
    const auto bit = [](std::uint64_t feature) { return std::uint64_t{1} << feature; };
    std::uint64_t features = bit(regs::feature::id_device_attr) |
                             bit(regs::feature::id_aenq_config) |
                             bit(regs::feature::id_network_attr) |
                             bit(regs::feature::id_queue_attr_1) | bit(regs::feature::id_hw_hints) |
                             bit(regs::feature::id_host_info) | bit(regs::feature::id_queue_attr_2);
    if (cfg_.max_eq != 0) features |= bit(regs::feature::id_event_queue_attr);
    std::uint64_t page_sizes = 0;
    for (unsigned shift = limits::min_page_shift; shift <= limits::max_page_shift; ++shift)
        page_sizes |= bit(shift);
    entry words;
    words.set_wide(reg::device_features_lo, features);
    words.set_wide(reg::device_page_sizes_lo, page_sizes);
    words.set(reg::device_firmware_version, 1);
    words.set(reg::device_admin_api, 1);
    words.set(reg::device_version, 1);
    words.set(regs::device_addresses::doorbell_bar, cfg_.doorbell_bar);
    words.set(regs::device_addresses::physical_width, 64);
    words.set(regs::device_addresses::virtual_width, 64);
    words.set(regs::device_caps::rdma_read, cfg_.rdma_read);
    words.set(regs::device_caps::rnr_retry, 1);
    words.set(regs::device_caps::rdma_write, cfg_.rdma_write);
    words.set(regs::device_caps::unsolicited_write_receive, cfg_.rdma_write);
    words.set(reg::device_max_rdma, cfg_.rdma_read ? limits::max_rdma : 0);
    words.set_wide(reg::device_guid_lo, cfg_.guid);
    words.set(regs::device_link::gigabits, cfg_.gigabits);
    return answered(words);
}

step efa_admin::network_attributes() const {
    const gid own = engine_.own_gid();
    entry words;
    std::memcpy(&words.words()[entry::byte(reg::network_gid_0) / 4], own.data(), own.size());
    words.set(reg::network_mtu, cfg_.mtu);
    return answered(words);
}

step efa_admin::queue_attributes(const config& cfg) {
    entry words;
    words.set(reg::queues_max_qp, limits::max_qp);
    words.set(reg::queues_max_sq_depth, limits::max_sq_depth);
    words.set(reg::queues_inline, limits::inline_bytes);
    words.set(reg::queues_max_rq_depth, limits::max_rq_depth);
    words.set(reg::queues_max_cq, limits::max_cq);
    words.set(reg::queues_max_cq_depth, limits::max_cq_depth);
    words.set(regs::queues_sizes::sub_cqs, limits::sub_cqs);
    words.set(regs::queues_sges::send, limits::send_elements);
    words.set(regs::queues_sges::receive, limits::receive_elements);
    words.set(reg::queues_max_mr, limits::max_mr);
    words.set(reg::queues_max_mr_pages, limits::max_mr_pages);
    words.set(reg::queues_max_pd, limits::max_pd);
    words.set(reg::queues_max_ah, limits::max_ah);
    words.set(reg::queues_llq_bytes, limits::send_ring_bytes);
    words.set(regs::queues_rdma::sges, cfg.rdma_read ? limits::rdma_elements : 0);
    return answered(words);
}

step efa_admin::get_stats(const entry& command) const {
    const auto scope = command.get(regs::get_stats::scope);
    if (scope > regs::get_stats::scope_queue) return refuse(status::illegal_parameter);
    const queue_pair* const qp =
        scope == regs::get_stats::scope_all
            ? nullptr
            : objects_.by_number(static_cast<std::uint16_t>(command.get(regs::get_stats::queue)));
    if (scope == regs::get_stats::scope_queue && qp == nullptr)
        return refuse(status::illegal_parameter);
    const traffic_counters& of = qp == nullptr ? objects_.counters : qp->counters;
    entry words;
    const auto counters = [&words](std::initializer_list<std::uint64_t> values) {
        std::memcpy(&words.words()[entry::byte(reg::stats_first_lo) / 4], values.begin(),
                    values.size() * sizeof(std::uint64_t));
        return answered(words);
    };
    switch (command.get(regs::get_stats::type)) {
    case regs::get_stats::type_basic:
        return counters({of.basic.tx_bytes, of.basic.tx_packets, of.basic.rx_bytes,
                         of.basic.rx_packets, of.basic.rx_drops, of.basic.qkey_violations});
    case regs::get_stats::type_messages:
        return counters({of.messages.send_bytes, of.messages.sends, of.messages.receive_bytes,
                         of.messages.receives});
    case regs::get_stats::type_rdma_read:
        return counters({of.rdma_read.requests, of.rdma_read.bytes, of.rdma_read.errors,
                         of.rdma_read.response_bytes});
    case regs::get_stats::type_rdma_write:
        return counters({of.rdma_write.requests, of.rdma_write.bytes, of.rdma_write.errors,
                         of.rdma_write.received_bytes});
    case regs::get_stats::type_network:
        return counters({of.network.retransmitted_bytes, of.network.retransmitted_packets,
                         of.network.timeouts, of.network.unresponsive_remotes,
                         of.network.impaired_connections});
    default:
        return refuse(status::illegal_parameter);
    }
}

// --- protection domains, user access regions ---

step efa_admin::alloc_pd() {
    const auto number = objects_.domains.add({});
    if (!number) return refuse(status::no_resources);
    entry words;
    words.set(regs::pd::number, *number);
    return answered(words);
}

step efa_admin::dealloc_pd(const entry& command) {
    const auto number = command.get(regs::dealloc_pd::number);
    const domain* found = objects_.domains.find(number);
    if (found == nullptr) return refuse(status::illegal_parameter);
    if (found->users != 0) return refuse(status::busy);
    objects_.domains.remove(number);
    return done();
}

step efa_admin::alloc_uar() {
    const auto number = objects_.uars.add(0);
    if (!number) return refuse(status::no_resources);
    entry words;
    words.set(regs::uar::number, *number);
    return answered(words);
}

step efa_admin::dealloc_uar(const entry& command) {
    const auto number = command.get(regs::dealloc_uar::number);
    const unsigned* users = objects_.uars.find(number);
    if (users == nullptr) return refuse(status::illegal_parameter);
    if (*users != 0) return refuse(status::busy);
    objects_.uars.remove(number);
    return done();
}

// --- event and completion queues ---

step efa_admin::create_eq(const entry& command) {
    const auto depth = command.get(regs::create_eq::depth);
    const auto vector = command.get(regs::create_eq::vector);
    if (depth == 0 || depth > limits::max_eq_depth || vector == 0 || vector >= cfg_.vectors ||
        command.get(regs::create_eq::entry_words) * 4 != limits::event_bytes)
        return refuse(status::illegal_parameter);
    const auto number = objects_.event_queues.add(
        {.ring = host_ring(command.get_wide(reg::create_eq_base_lo), depth, limits::event_bytes),
         .vector = vector});
    if (!number) return refuse(status::no_resources);
    entry words;
    words.set(regs::eq::number, *number);
    return answered(words);
}

step efa_admin::destroy_eq(const entry& command) {
    const auto number = command.get(regs::destroy_eq::number);
    const event_queue* found = objects_.event_queues.find(number);
    if (found == nullptr) return refuse(status::illegal_parameter);
    if (found->users != 0) return refuse(status::busy);
    engine_.ring_removed(found->ring);
    objects_.event_queues.remove(number);
    return done();
}

step efa_admin::create_cq(const entry& command) {
    const auto depth = command.get(regs::create_cq::depth);
    const auto bytes = command.get(regs::create_cq::entry_words) * 4;
    const bool events = command.get(regs::create_cq::interrupt) != 0;
    const auto uar = command.get(regs::create_cq_shape::uar);
    event_queue* const eq = objects_.event_queues.find(command.get(regs::create_cq_eq::eq));
    unsigned* const uar_users = objects_.uars.find(uar);
    const bool power_of_two = depth != 0 && (depth & (depth - 1)) == 0;
    if (!power_of_two || depth > limits::max_cq_depth || (bytes != 16 && bytes != 32) ||
        command.get(regs::create_cq_shape::sub_cqs) != limits::sub_cqs ||
        command.get(regs::create_cq::is_virtual) != 0 || uar_users == nullptr ||
        (events && eq == nullptr))
        return refuse(status::illegal_parameter);
    const auto number = objects_.completion_queues.add({});
    if (!number) return refuse(status::no_resources);
    auto& made = *objects_.completion_queues.find(*number);
    made.ring = host_ring(command.get_wide(reg::create_cq_base_lo), depth, bytes);
    made.source_gid = command.get(regs::create_cq::source_gid) != 0 && bytes == 32;
    made.uar = static_cast<std::uint16_t>(uar);
    made.event_queue = static_cast<std::uint16_t>(command.get(regs::create_cq_eq::eq));
    made.events = events;
    made.doorbell = objects_.bells.add(made.uar, {doorbells::purpose::completion, *number});
    if (!made.doorbell) {
        objects_.completion_queues.remove(*number);
        return refuse(status::no_resources);
    }
    ++*uar_users;
    if (events) ++eq->users;
    entry words;
    words.set(regs::cq::number, *number);
    words.set(regs::cq::depth, depth);
    words.set(reg::cq_doorbell, *made.doorbell);
    words.set(regs::cq_flags::has_doorbell, 1);
    return answered(words);
}

step efa_admin::destroy_cq(const entry& command) {
    const auto number = command.get(regs::destroy_cq::number);
    const completion_queue* found = objects_.completion_queues.find(number);
    if (found == nullptr) return refuse(status::illegal_parameter);
    if (found->users != 0) return refuse(status::busy);
    objects_.bells.remove(*found->doorbell);
    --*objects_.uars.find(found->uar);
    if (found->events) --objects_.event_queues.find(found->event_queue)->users;
    engine_.ring_removed(found->ring);
    objects_.completion_queues.remove(number);
    return done();
}

// --- address handles ---

step efa_admin::create_ah(const entry& command) {
    const auto number_of_domain = command.get(regs::create_ah::pd);
    domain* const owner = objects_.domains.find(number_of_domain);
    if (owner == nullptr) return refuse(status::illegal_parameter);
    const gid destination = gid_at(command, reg::create_ah_gid_0);
    const auto number = objects_.address_handles.add(
        {.destination = destination, .domain = static_cast<std::uint16_t>(number_of_domain)});
    if (!number) return refuse(status::no_resources);
    objects_.known_cards.emplace(destination, static_cast<std::uint16_t>(*number));
    ++owner->users;
    entry words;
    words.set(regs::ah::number, *number);
    return answered(words);
}

step efa_admin::destroy_ah(const entry& command) {
    const auto number = command.get(regs::destroy_ah::number);
    const address_handle* found = objects_.address_handles.find(number);
    if (found == nullptr || found->domain != command.get(regs::destroy_ah::pd))
        return refuse(status::illegal_parameter);
    objects_.known_cards.erase({found->destination, static_cast<std::uint16_t>(number)});
    --objects_.domains.find(found->domain)->users;
    objects_.address_handles.remove(number);
    engine_.address_handle_removed(static_cast<std::uint16_t>(number));
    return done();
}

// --- queue pairs ---

step efa_admin::create_qp(const entry& command) {
    const auto pd = command.get(regs::create_qp::pd);
    const auto type = command.get(regs::create_qp::type);
    const auto uar = command.get(regs::create_qp_uar::uar);
    const auto send_cq = command.get(reg::create_qp_send_cq);
    const auto receive_cq = command.get(reg::create_qp_receive_cq);
    const auto send_depth = command.get(reg::create_qp_sq_depth);
    const auto send_bytes = command.get(reg::create_qp_sq_bytes);
    const auto receive_bytes = command.get(reg::create_qp_rq_bytes);
    const std::uint32_t receive_depth = receive_bytes / limits::receive_bytes;
    domain* const owner = objects_.domains.find(pd);
    unsigned* const uar_users = objects_.uars.find(uar);
    completion_queue* const sends = objects_.completion_queues.find(send_cq);
    completion_queue* const receives = objects_.completion_queues.find(receive_cq);
    const auto is_ring = [](std::uint32_t depth, std::uint32_t max) {
        return depth != 0 && depth <= max && (depth & (depth - 1)) == 0;
    };
    // The size of a work request is the ring's bytes divided by its depth.
    const bool is_long = send_bytes == send_depth * limits::long_work_request_bytes;
    const std::uint32_t entry_bytes =
        is_long ? limits::long_work_request_bytes : limits::work_request_bytes;
    const bool rings = is_ring(send_depth, limits::send_ring_bytes / entry_bytes) &&
                       send_bytes == send_depth * entry_bytes &&
                       (receive_bytes == 0 || is_ring(receive_depth, limits::max_rq_depth));
    const bool is_virtual = command.get(regs::create_qp::sq_virtual) != 0 ||
                            command.get(regs::create_qp::rq_virtual) != 0;
    if (owner == nullptr || uar_users == nullptr || sends == nullptr || receives == nullptr ||
        !rings || is_virtual ||
        (type != regs::create_qp::type_ud && type != regs::create_qp::type_srd))
        return refuse(status::illegal_parameter);

    const auto handle = objects_.queue_pairs.add({});
    if (!handle) return refuse(status::no_resources);
    const auto bell = [&](doorbells::purpose purpose) {
        return objects_.bells.add(static_cast<std::uint16_t>(uar), {purpose, *handle});
    };
    const auto send_bell = bell(doorbells::purpose::send);
    const auto receive_bell = bell(doorbells::purpose::receive);
    if (!send_bell || !receive_bell) {
        if (send_bell) objects_.bells.remove(*send_bell);
        objects_.queue_pairs.remove(*handle);
        return refuse(status::no_resources);
    }
    queue_pair& made = *objects_.queue_pairs.find(*handle);
    const std::uint32_t generation = ++created_ / limits::max_qp + 1;
    made.number = static_cast<std::uint16_t>(generation * limits::max_qp + *handle);
    made.domain = static_cast<std::uint16_t>(pd);
    made.type = static_cast<transport>(type);
    made.unsolicited = command.get(regs::create_qp::unsolicited_write_receive) != 0;
    made.send_cq = static_cast<std::uint16_t>(send_cq);
    made.receive_cq = static_cast<std::uint16_t>(receive_cq);
    made.uar = static_cast<std::uint16_t>(uar);
    made.send_ring = *handle * limits::send_ring_bytes;
    made.send_depth = send_depth;
    made.work_request_bytes = entry_bytes;
    made.receive_ring = command.get_wide(reg::create_qp_rq_lo);
    made.receive_depth = receive_depth;
    made.send_doorbell = *send_bell;
    made.receive_doorbell = *receive_bell;
    ++owner->users;
    ++*uar_users;
    ++sends->users;
    ++receives->users;
    entry words;
    words.set(reg::qp_handle, *handle);
    words.set(regs::qp_number::number, made.number);
    words.set(reg::qp_sq_doorbell, made.send_doorbell);
    words.set(reg::qp_rq_doorbell, made.receive_doorbell);
    words.set(reg::qp_sq_ring, made.send_ring);
    return answered(words);
}

/// Whether the change of state is legal (contract 8).
bool efa_admin::may_move(qp_state from, qp_state to) const {
    switch (to) {
    case qp_state::reset:
        return true;
    case qp_state::error:
        return from != qp_state::reset;
    case qp_state::init:
        return from == qp_state::reset || from == qp_state::init;
    case qp_state::rtr:
        return from == qp_state::init;
    case qp_state::rts:
        return from == qp_state::rtr || from == qp_state::rts || from == qp_state::sqd ||
               from == qp_state::sqe;
    case qp_state::sqd:
        return from == qp_state::rts || from == qp_state::sqd;
    case qp_state::sqe:
        break;
    }
    return false;
}

step efa_admin::modify_qp(const entry& command) {
    const auto handle = command.get(reg::modify_qp_handle);
    queue_pair* const qp = objects_.queue_pairs.find(handle);
    const auto asked = command.get(regs::modify_qp_state::state);
    const bool moves = command.get(regs::modify_qp_mask::state) != 0;
    const bool expects = command.get(regs::modify_qp_mask::current_state) != 0;
    if (qp == nullptr || (moves && asked > static_cast<unsigned>(qp_state::error)) ||
        (expects &&
         command.get(reg::modify_qp_current_state) != static_cast<std::uint32_t>(qp->state)))
        return refuse(status::illegal_parameter);
    const auto to = static_cast<qp_state>(asked);
    const auto retries = command.get(regs::modify_qp_details::rnr_retry);
    const bool sets_retries = command.get(regs::modify_qp_mask::rnr_retry) != 0;
    if ((moves && !may_move(qp->state, to)) || (sets_retries && retries > queue_pair::rnr_for_ever))
        return refuse(status::illegal_parameter);
    if (command.get(regs::modify_qp_mask::qkey) != 0) qp->qkey = command.get(reg::modify_qp_qkey);
    if (command.get(regs::modify_qp_mask::psn) != 0) qp->psn = command.get(reg::modify_qp_psn);
    if (sets_retries) qp->rnr_retry = static_cast<std::uint8_t>(retries);
    if (!moves) return done();
    qp->state = to;
    if (to == qp_state::reset || to == qp_state::error)
        engine_.queue_pair_stopped(handle, to == qp_state::error);
    if (to == qp_state::rts) engine_.queue_pair_started(handle);
    if (to == qp_state::reset)
        qp->sends_posted = qp->sends_fetched = qp->receives_posted = qp->receives_taken = 0;
    return done();
}

step efa_admin::query_qp(const entry& command) const {
    const queue_pair* const qp = objects_.queue_pairs.find(command.get(reg::query_qp_handle));
    if (qp == nullptr) return refuse(status::illegal_parameter);
    entry words;
    words.set(reg::qp_state, static_cast<std::uint64_t>(qp->state));
    words.set(reg::qp_qkey, qp->qkey);
    words.set(reg::qp_psn, qp->psn);
    words.set(regs::qp_details::rnr_retry, qp->rnr_retry);
    return answered(words);
}

step efa_admin::destroy_qp(const entry& command) {
    const auto handle = command.get(reg::destroy_qp_handle);
    const queue_pair* const qp = objects_.queue_pairs.find(handle);
    if (qp == nullptr) return refuse(status::illegal_parameter);
    engine_.queue_pair_stopped(handle, false);
    objects_.bells.remove(qp->send_doorbell);
    objects_.bells.remove(qp->receive_doorbell);
    --objects_.domains.find(qp->domain)->users;
    --*objects_.uars.find(qp->uar);
    --objects_.completion_queues.find(qp->send_cq)->users;
    --objects_.completion_queues.find(qp->receive_cq)->users;
    objects_.queue_pairs.remove(handle);
    return done();
}

// --- memory regions ---

memory_region::permissions efa_admin::allowed(const entry& command) const {
    return {.local_write = command.get(regs::reg_mr_flags::local_write) != 0,
            .remote_write = cfg_.rdma_write && command.get(regs::reg_mr_flags::remote_write) != 0,
            .remote_read = cfg_.rdma_read && command.get(regs::reg_mr_flags::remote_read) != 0};
}

step efa_admin::reg_mr(const nitro::admin_entry& header, const entry& command) {
    const auto shift = command.get(regs::reg_mr_flags::page_shift);
    const auto start = command.get_wide(reg::reg_mr_start_lo);
    const auto length = command.get_wide(reg::reg_mr_length_lo);
    if (objects_.domains.find(command.get(regs::reg_mr::pd)) == nullptr)
        return refuse(status::illegal_parameter);
    command_ = command;
    if (command.get(regs::reg_mr_flags::physical) != 0)
        return finish_region(
            memory_region::make_physical(static_cast<std::uint16_t>(command.get(regs::reg_mr::pd)),
                                         start, length, allowed(command)));
    if (shift < limits::min_page_shift || shift > limits::max_page_shift)
        return refuse(status::illegal_parameter);
    // Drivers may leave out the number of pages: compute it from the range.
    const auto needed = memory_region::pages_of(start, length, shift);
    if (needed == 0 || needed > limits::max_mr_pages) return refuse(status::illegal_parameter);
    if (needed > limits::max_pages - objects_.pages) return refuse(status::no_resources);
    const auto pages = static_cast<std::uint32_t>(needed);
    constexpr std::uint32_t inline_pages = 4;
    const std::uint64_t list = command.get_wide(reg::reg_mr_list_lo);
    if (header.get(nitro_admin_regs::command::control_data) == 0) {
        if (pages > inline_pages) return refuse(status::illegal_parameter);
        list_ = page_list::direct(0, pages);
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(command_.words().data());
        return continue_list({bytes + entry::byte(reg::reg_mr_page_0_lo), pages * 8});
    }
    list_ = header.get(nitro_admin_regs::command::indirect) != 0 ? page_list::indirect(list, pages)
                                                                 : page_list::direct(list, pages);
    const auto first = list_->next();
    return nitro::memory_request{.address = first.address, .bytes = first.bytes};
}

step efa_admin::continue_list(std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) {
        list_.reset();
        return refuse(status::illegal_parameter);
    }
    list_->take(bytes);
    if (!list_->complete()) {
        const auto next = list_->next();
        return nitro::memory_request{.address = next.address, .bytes = next.bytes};
    }
    auto pages = std::move(*list_).pages();
    list_.reset();
    return finish_region(memory_region::make(
        static_cast<std::uint16_t>(command_.get(regs::reg_mr::pd)),
        command_.get_wide(reg::reg_mr_start_lo), command_.get_wide(reg::reg_mr_length_lo),
        command_.get(regs::reg_mr_flags::page_shift), std::move(pages), allowed(command_)));
}

step efa_admin::finish_region(std::optional<memory_region> made) {
    // Commands are executed one at a time, so the domain still exists.
    if (!made) return refuse(status::illegal_parameter);
    domain& owner = *objects_.domains.find(made->domain());
    const std::uint64_t pages = made->page_count();
    const auto key = objects_.regions.add(std::move(*made));
    if (!key) return refuse(status::no_resources);
    objects_.pages += pages;
    ++owner.users;
    entry words;
    words.set(reg::mr_lkey, *key);
    words.set(reg::mr_rkey, *key);
    return answered(words);
}

/// Allocates a region without pages; a work request registers its pages.
step efa_admin::alloc_mr(const entry& command) {
    const auto pd = command.get(regs::alloc_mr::pd);
    const auto pages = command.get(reg::alloc_mr_max_pages);
    if (objects_.domains.find(pd) == nullptr || pages == 0 || pages > limits::max_fast_pages)
        return refuse(status::illegal_parameter);
    if (pages > limits::max_pages - objects_.pages) return refuse(status::no_resources);
    return finish_region(memory_region::make_free(static_cast<std::uint16_t>(pd), pages));
}

step efa_admin::dereg_mr(const entry& command) {
    const auto key = command.get(reg::dereg_mr_lkey);
    const memory_region* const found = objects_.regions.find(key);
    if (found == nullptr) return refuse(status::illegal_parameter);
    --objects_.domains.find(found->domain())->users;
    objects_.pages -= found->page_count();
    objects_.regions.remove(key);
    return done();
}

}  // namespace trn

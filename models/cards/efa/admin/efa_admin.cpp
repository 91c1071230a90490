// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/admin/efa_admin.h"

#include <algorithm>
#include <bit>

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

gid gid_at(const efa_admin::entry& command, reg first) {
    gid value;
    std::ranges::copy(command.bytes().subspan(efa_admin::entry::byte(first), value.size()),
                      value.begin());
    return value;
}

constexpr std::uint32_t event_groups = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4;  // EFA contract 6, step 6
constexpr std::uint32_t host_info_bytes = 180;

}  // namespace

efa_admin::efa_admin(const config& cfg, efa_objects::objects& objects, listener& engine)
    : cfg_(cfg),
      objects_(objects),
      engine_(engine),
      queue_pairs_(objects, engine),
      regions_(objects, {.rdma_read = cfg.rdma_read, .rdma_write = cfg.rdma_write}),
      driver_(event_groups) {}

void efa_admin::reset() {
    objects_.clear();
    queue_pairs_.reset();
    regions_.reset();
    driver_.forget();
}

step efa_admin::begin(const nitro::admin_entry& header) {
    const entry command(header.words());
    switch (command.get(regs::opcodes::opcode)) {
    case regs::opcodes::opcode_create_qp:
        return queue_pairs_.create(command);
    case regs::opcodes::opcode_modify_qp:
        return queue_pairs_.modify(command);
    case regs::opcodes::opcode_query_qp:
        return queue_pairs_.query(command);
    case regs::opcodes::opcode_destroy_qp:
        return queue_pairs_.destroy(command);
    case regs::opcodes::opcode_create_ah:
        return create_ah(command);
    case regs::opcodes::opcode_destroy_ah:
        return destroy_ah(command);
    case regs::opcodes::opcode_reg_mr:
        return regions_.enroll(header, command);
    case regs::opcodes::opcode_dereg_mr:
        return regions_.remove(command);
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
        return regions_.allocate(command);
    default:
        return refuse(status::bad_opcode);
    }
}

step efa_admin::resume(std::span<const std::uint8_t> bytes) {
    if (regions_.is_waiting()) return regions_.resume(bytes);
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
        return queue_attributes();
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
    entry words;
    words.set_array(reg::network_gid_0, engine_.own_gid());
    words.set(reg::network_mtu, cfg_.mtu);
    return answered(words);
}

step efa_admin::queue_attributes() const {
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
    words.set(regs::queues_rdma::sges, cfg_.rdma_read ? limits::rdma_elements : 0);
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
    const traffic_counters& traffic = qp == nullptr ? objects_.counters : qp->counters;
    entry words;
    const auto counters = [&words](std::initializer_list<std::uint64_t> values) {
        words.set_array(reg::stats_first_lo, values);
        return answered(words);
    };
    switch (command.get(regs::get_stats::type)) {
    case regs::get_stats::type_basic:
        return counters({traffic.basic.tx_bytes, traffic.basic.tx_packets, traffic.basic.rx_bytes,
                         traffic.basic.rx_packets, traffic.basic.rx_drops,
                         traffic.basic.qkey_violations});
    case regs::get_stats::type_messages:
        return counters({traffic.messages.send_bytes, traffic.messages.sends,
                         traffic.messages.receive_bytes, traffic.messages.receives});
    case regs::get_stats::type_rdma_read:
        return counters({traffic.rdma_read.requests, traffic.rdma_read.bytes,
                         traffic.rdma_read.errors, traffic.rdma_read.response_bytes});
    case regs::get_stats::type_rdma_write:
        return counters({traffic.rdma_write.requests, traffic.rdma_write.bytes,
                         traffic.rdma_write.errors, traffic.rdma_write.received_bytes});
    case regs::get_stats::type_network:
        return counters({traffic.network.retransmitted_bytes, traffic.network.retransmitted_packets,
                         traffic.network.timeouts, traffic.network.unresponsive_remotes,
                         traffic.network.impaired_connections});
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
    if (!std::has_single_bit(depth) || depth > limits::max_eq_depth || vector == 0 ||
        vector >= cfg_.vectors ||
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
    if (!std::has_single_bit(depth) || depth > limits::max_cq_depth ||
        (bytes != 16 && bytes != 32) ||
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

}  // namespace trn

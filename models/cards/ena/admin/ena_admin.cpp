// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/admin/ena_admin.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>

namespace trn {

using ena_queues::direction;
using ena_queues::find;
using ena_queues::limits;
using nitro::answered;
using nitro::done;
using nitro::refuse;
using nitro::status;
using nitro::step;
namespace regs = ena_admin_regs;
using regs::reg;

namespace {

constexpr std::uint32_t bit(std::uint32_t number) {
    return 1u << number;
}

/// Link change, fatal error, warning, notification, keep-alive.
constexpr std::uint32_t event_groups = bit(0) | bit(1) | bit(2) | bit(3) | bit(4);
constexpr std::uint32_t min_mtu = 128;
// Host information: u32 system, then the kernel release as text.
constexpr std::uint32_t release_at = 4;
constexpr std::uint32_t host_information_bytes = release_at + nitro::driver_profile::release_bytes;
// RSS. Table entry: u16 queue, 2 bytes reserved. Key: u32 number of parts, 4 bytes reserved, key.
constexpr std::uint32_t table_entry_bytes = 4, whole_table = 0xffff'ffff;
constexpr std::uint32_t toeplitz = bit(1);
constexpr std::size_t key_at = 8;
constexpr std::uint32_t eni_statistics = 1;  // capability bit
// Checksums of IPv4, TCP and UDP, partial or full, over IPv4 and IPv6; segmentation with ECN.
constexpr std::uint32_t send_offloads_offered = 0xff;
constexpr std::uint32_t receive_offloads_offered = 0xf;  // the same checksums, and the hash

/// A 48-bit bus address; the register of its high half has other fields too.
template <class Entry, class Low, class High>
std::uint64_t address_in(const Entry& command, Low low, High high) {
    return command.get(low) | std::uint64_t{command.get(high)} << 32;
}

/// The lowest free number.
template <class Queue>
std::optional<std::uint16_t> free_number(const std::map<std::uint16_t, Queue>& queues) {
    std::uint16_t number = 0;
    for (const auto& [used, queue] : queues) {
        if (used != number) break;
        ++number;
    }
    return number < limits::max_queues ? std::optional(number) : std::nullopt;
}

}  // namespace

ena_admin::ena_admin(const config& cfg, ena_queues::queues& queues, listener& engine)
    : cfg_(cfg), queues_(queues), engine_(engine), driver_(event_groups) {}

void ena_admin::reset() {
    queues_.clear();
    driver_.forget();
}

step ena_admin::begin(const nitro::admin_entry& header) {
    const entry command(header.words());
    switch (command.get(regs::opcodes::opcode)) {
    case regs::opcodes::opcode_create_sq:
        return create_sq(command);
    case regs::opcodes::opcode_destroy_sq:
        return destroy_sq(command);
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
    default:
        return refuse(status::bad_opcode);
    }
}

/// Resumes the command that requested memory. `bytes` is empty if the read failed.
step ena_admin::resume(std::span<const std::uint8_t> bytes) {
    return (this->*awaits_)(bytes);
}

step ena_admin::take_host_information(std::span<const std::uint8_t> bytes) {
    if (bytes.empty() || !driver_.set_kernel(bytes.subspan(release_at)))
        return refuse(status::illegal_parameter);
    return done();
}

// --- features ---

step ena_admin::get_feature(const entry& command) const {
    entry words;
    switch (command.get(regs::feature::id)) {
    case regs::feature::id_device_attributes:
        return device_attributes();
    case regs::feature::id_max_queues_ext:
        return queue_numbers();
    case regs::feature::id_llq:
        return low_latency();
    case regs::feature::id_hw_hints:
        return answered(words);  // zeros: the driver uses its own timeouts
    case regs::feature::id_offloads:
        words.set(reg::offloads_tx, send_offloads_offered);
        words.set(reg::offloads_rx, receive_offloads_offered);
        words.set(reg::offloads_rx_enabled, receive_offloads_offered);
        return answered(words);
    case regs::feature::id_interrupt_moderation:
        words.set(regs::moderation::resolution, 1);
        return answered(words);
    case regs::feature::id_aenq_config:
        words.set(reg::aenq_supported, driver_.offered_events());
        words.set(reg::aenq_enabled, driver_.wanted_events());
        return answered(words);
    case regs::feature::id_link:
        return link();
    case regs::feature::id_rss_table:
        words.set(regs::rss_table_sizes::max, limits::max_table_log2);
        return answered(words);
    case regs::feature::id_rss_hash_function:
        words.set(regs::rss_hash_supported::functions, toeplitz);
        return answered(words);
    default:
        return refuse(status::unsupported_opcode);
    }
}

step ena_admin::set_feature(const entry& command) {
    switch (command.get(regs::feature::id)) {
    case regs::feature::id_aenq_config:
        driver_.want_events(command.get(reg::feature_aenq_enabled));
        engine_.events_enabled(driver_.wanted_events());
        return done();
    case regs::feature::id_mtu: {
        const std::uint32_t mtu = command.get(reg::feature_mtu);
        if (mtu < min_mtu || mtu > limits::max_mtu) return refuse(status::illegal_parameter);
        queues_.mtu = mtu;
        return done();
    }
    case regs::feature::id_llq:
        return set_low_latency(command);
    case regs::feature::id_rss_table:
        return set_rss_table(command);
    case regs::feature::id_rss_hash_function:
        return set_hash_function(command);
    case regs::feature::id_host_attributes:
        awaits_ = &ena_admin::take_host_information;
        return nitro::memory_request{
            .address = address_in(command, reg::host_info_lo, regs::host_info_hi::address),
            .bytes = host_information_bytes};
    default:
        return refuse(status::unsupported_opcode);
    }
}

step ena_admin::set_rss_table(const entry& command) {
    const auto log2 = command.get(regs::rss_table_size::log2);
    if (log2 > limits::max_table_log2 || command.get(reg::rss_table_inline) != whole_table ||
        command.get(reg::rss_buffer_length) != table_entry_bytes << log2)
        return refuse(status::illegal_parameter);
    awaits_ = &ena_admin::take_rss_table;
    return nitro::memory_request{
        .address = address_in(command, reg::rss_buffer_lo, regs::rss_buffer_hi::address),
        .bytes = table_entry_bytes << log2};
}

step ena_admin::take_rss_table(std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) return refuse(status::illegal_parameter);
    auto& table = queues_.rss.table;
    table.resize(bytes.size() / table_entry_bytes);
    for (std::size_t i = 0; i < table.size(); ++i)
        std::memcpy(&table[i], &bytes[i * table_entry_bytes], sizeof table[i]);
    return done();
}

step ena_admin::set_hash_function(const entry& command) {
    if (command.get(regs::rss_hash::selected) != toeplitz ||
        command.get(reg::rss_buffer_length) != key_at + sizeof(ena_queues::hash_key))
        return refuse(status::illegal_parameter);
    awaits_ = &ena_admin::take_hash_key;
    return nitro::memory_request{
        .address = address_in(command, reg::rss_buffer_lo, regs::rss_buffer_hi::address),
        .bytes = static_cast<std::uint32_t>(key_at + sizeof(ena_queues::hash_key))};
}

step ena_admin::take_hash_key(std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) return refuse(status::illegal_parameter);
    auto& key = queues_.rss.key.emplace();
    std::memcpy(key.data(), &bytes[key_at], key.size());
    return done();
}

step ena_admin::device_attributes() const {
    entry words;
    words.set(reg::device_implementation, 1);
    words.set(reg::device_version, 1);
    words.set(reg::device_features,
              bit(regs::feature::id_device_attributes) | bit(regs::feature::id_hw_hints) |
                  bit(regs::feature::id_llq) | bit(regs::feature::id_max_queues_ext) |
                  bit(regs::feature::id_offloads) | bit(regs::feature::id_rss_table) |
                  bit(regs::feature::id_rss_hash_function) | bit(regs::feature::id_mtu) |
                  bit(regs::feature::id_interrupt_moderation) | bit(regs::feature::id_aenq_config) |
                  bit(regs::feature::id_link) | bit(regs::feature::id_host_attributes));
    words.set(reg::device_capabilities, eni_statistics);
    words.set(reg::device_physical_width, 48);
    words.set(reg::device_virtual_width, 48);
    words.set_array(reg::device_mac_0, cfg_.mac);
    words.set(reg::device_max_mtu, limits::max_mtu);
    return answered(words);
}

step ena_admin::queue_numbers() const {
    entry words;
    words.set(regs::queues_version::version, 1);
    for (const auto number :
         {reg::queues_tx_sq, reg::queues_tx_cq, reg::queues_rx_sq, reg::queues_rx_cq})
        words.set(number, cfg_.queues);
    for (const auto depth : {reg::queues_tx_sq_depth, reg::queues_tx_cq_depth,
                             reg::queues_rx_sq_depth, reg::queues_rx_cq_depth})
        words.set(depth, limits::max_depth);
    words.set(reg::queues_header, 128);
    words.set(regs::queues_descriptors::tx, limits::max_tx_descriptors);
    words.set(regs::queues_descriptors::rx, limits::max_rx_descriptors);
    return answered(words);
}

step ena_admin::low_latency() const {
    entry words;
    words.set(reg::llq_queues, std::min(cfg_.queues, cfg_.card_rings));
    words.set(reg::llq_depth, limits::max_depth);
    words.set(regs::llq_header::supported, regs::llq_header::supported_inline);
    words.set(regs::llq_entry::supported, regs::llq_entry::supported_bytes_128);
    words.set(regs::llq_before_header::supported, regs::llq_before_header::supported_two);
    words.set(regs::llq_stride::supported, regs::llq_stride::supported_many);
    return answered(words);
}

/// Ignores shortcuts, which the driver requests even if they are not announced.
step ena_admin::set_low_latency(const entry& command) {
    const bool valid =
        command.get(regs::set_llq_header::enabled) == regs::llq_header::supported_inline &&
        command.get(regs::set_llq_entry::enabled) == regs::llq_entry::supported_bytes_128 &&
        command.get(regs::set_llq_before_header::enabled) ==
            regs::llq_before_header::supported_two &&
        command.get(regs::set_llq_stride::enabled) == regs::llq_stride::supported_many;
    if (!valid || cfg_.card_rings == 0) return refuse(status::illegal_parameter);
    queues_.low_latency = true;
    return done();
}

step ena_admin::link() const {
    entry words;
    words.set(reg::link_speed, cfg_.megabits);
    words.set(regs::link_flags::full_duplex, 1);
    return answered(words);
}

step ena_admin::get_stats(const entry& command) const {
    const auto type = command.get(regs::get_stats::type);
    entry words;
    // Counts packets beyond an instance's allowances: zeros, since only the link limits the card.
    if (type == regs::get_stats::type_eni) return answered(words);
    if (type != regs::get_stats::type_basic) return refuse(status::unsupported_opcode);
    const auto& counters = queues_.counters;
    words.set_array(reg::stats_first_lo,
                    std::array{counters.tx_bytes, counters.tx_packets, counters.rx_bytes,
                               counters.rx_packets, counters.rx_drops, counters.tx_drops});
    return answered(words);
}

// --- queues ---

step ena_admin::create_cq(const entry& command) {
    const auto depth = command.get(regs::create_cq::depth);
    const auto entry_words = command.get(regs::create_cq::entry_words);
    const auto vector = command.get(reg::create_cq_vector);
    const bool valid = std::has_single_bit(depth) && depth <= limits::max_depth &&
                       (entry_words == 2 || entry_words == 4 || entry_words == 8) &&
                       vector < cfg_.vectors;
    if (!valid) return refuse(status::illegal_parameter);
    if (queues_.completions.size() >= 2 * std::size_t{cfg_.queues})
        return refuse(status::no_resources);
    const auto number = free_number(queues_.completions);
    if (!number) return refuse(status::no_resources);
    const std::uint64_t base =
        address_in(command, reg::create_cq_ring_lo, regs::create_cq_ring_hi::address);
    queues_.completions[*number] = {.ring = host_ring(base, depth, entry_words * 4),
                                    .vector = vector,
                                    .interrupts = command.get(regs::create_cq::interrupts) != 0};
    entry words;
    words.set(regs::cq::number, *number);
    words.set(regs::cq::depth, depth);
    words.set(reg::cq_unmask, engine_.interrupt_of(*number));
    return answered(words);
}

step ena_admin::destroy_cq(const entry& command) {
    const auto number = command.get(regs::destroy_cq::number);
    const auto* const found = find(queues_.completions, number);
    if (found == nullptr) return refuse(status::illegal_parameter);
    if (found->users != 0) return refuse(status::busy);
    engine_.ring_removed(found->ring);
    queues_.completions.erase(static_cast<std::uint16_t>(number));
    return done();
}

/// Address of a new queue's ring: in host memory, from the command; in the card's memory, the first
/// free place. Nothing if all places are in use.
std::optional<std::uint64_t> ena_admin::ring_of(const entry& command) const {
    if (command.get(regs::create_sq::placement) == regs::create_sq::placement_host)
        return address_in(command, reg::create_sq_ring_lo, regs::create_sq_ring_hi::address);
    constexpr std::uint64_t step = ena_queues::card_entry::ring_bytes;
    for (std::uint64_t place = 0; place < cfg_.card_rings * step; place += step)
        if (std::ranges::none_of(queues_.submissions, [&](const auto& each) {
                return each.second.in_card && each.second.ring == place;
            }))
            return place;
    return std::nullopt;
}

step ena_admin::create_sq(const entry& command) {
    const auto way = command.get(regs::create_sq::direction);
    const auto depth = command.get(regs::create_sq_shape::depth);
    auto* const target = find(queues_.completions, command.get(regs::create_sq_shape::cq));
    const bool transmits = way == regs::create_sq::direction_tx;
    const bool valid = (transmits || way == regs::create_sq::direction_rx) && target != nullptr &&
                       std::has_single_bit(depth) && depth <= limits::max_depth &&
                       command.get(regs::create_sq::completion_policy) == 0 &&
                       command.get(regs::create_sq::contiguous) != 0 &&
                       target->ring.entry_size() >= (transmits ? 8u : 16u);
    if (!valid) return refuse(status::illegal_parameter);
    const bool in_card =
        command.get(regs::create_sq::placement) == regs::create_sq::placement_device;
    if (in_card ? !transmits || !queues_.low_latency
                : command.get(regs::create_sq::placement) != regs::create_sq::placement_host)
        return refuse(status::illegal_parameter);
    const auto direction_of = transmits ? direction::transmit : direction::receive;
    const auto same_way = std::ranges::count_if(
        queues_.submissions, [&](const auto& each) { return each.second.way == direction_of; });
    const auto number = free_number(queues_.submissions);
    const auto ring = ring_of(command);
    if (same_way >= static_cast<std::ptrdiff_t>(cfg_.queues) || !number || !ring)
        return refuse(status::no_resources);
    queues_.submissions[*number] = {
        .way = direction_of,
        .completions = static_cast<std::uint16_t>(command.get(regs::create_sq_shape::cq)),
        .in_card = in_card,
        .ring = *ring,
        .depth = static_cast<std::uint16_t>(depth)};
    ++target->users;
    entry words;
    words.set(regs::sq::number, *number);
    words.set(reg::sq_doorbell, engine_.doorbell_of(*number));
    if (in_card) words.set(reg::sq_entries, *ring);
    return answered(words);
}

step ena_admin::destroy_sq(const entry& command) {
    const auto number = command.get(regs::destroy_sq::number);
    const auto* const found = find(queues_.submissions, number);
    const auto way = command.get(regs::destroy_sq::direction);
    if (found == nullptr ||
        (way == regs::destroy_sq::direction_tx) != (found->way == direction::transmit))
        return refuse(status::illegal_parameter);
    --find(queues_.completions, found->completions)->users;
    engine_.queue_removed(static_cast<std::uint16_t>(number));
    queues_.submissions.erase(static_cast<std::uint16_t>(number));
    return done();
}

}  // namespace trn

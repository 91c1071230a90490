// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/admin_commands.h"

#include <algorithm>

namespace trn::nvme {

namespace words = nvme_entry_regs;
namespace queue_words = nvme_entry_regs::queue;

namespace {

constexpr std::uint64_t page = 4096;

std::uint16_t queue_of(const job& of) {
    return static_cast<std::uint16_t>(of.request.words.get(queue_words::id));
}

}  // namespace

void admin_commands::begin(job& of) {
    if (timing() == timing_mode::contended) of.after = command_time_;
    switch (of.request.opcode()) {
    case words::admin::opcode_create_cq:
        return create_completions(of);
    case words::admin::opcode_create_sq:
        return create_submission(of);
    case words::admin::opcode_delete_sq:
        return delete_submission(of);
    case words::admin::opcode_delete_cq:
        of.how = of_.queues.remove_completions(queue_of(of));
        return;
    case words::admin::opcode_identify:
        return identify(of);
    case words::admin::opcode_get_log_page:
        return log_page(of);
    case words::admin::opcode_set_features:
        return set_feature(of);
    case words::admin::opcode_get_features:
        of.how = of_.settings.get(of.request.words, of.result);
        return;
    case words::admin::opcode_abort:
        return abort(of);
    case words::admin::opcode_async_event:
        return request_event(of);
    default:
        of.how = status::invalid_opcode;
    }
}

/// The host has the log page: its event can be reported again.
void admin_commands::moved(job& of) {
    const entry& w = of.request.words;
    if (of.request.opcode() == words::admin::opcode_get_log_page &&
        w.get(words::log::retain_event) == 0)
        of_.events.has_read(static_cast<std::uint8_t>(w.get(words::log::page)));
}

// --- queues ---

void admin_commands::create_completions(job& of) {
    const entry& w = of.request.words;
    const std::uint64_t base = w.get_wide(words::reg::prp1_lo);
    const std::uint32_t vector = w.get(words::create_cq::vector);
    if (w.get(words::create_cq::contiguous) == 0 || base % page != 0) {
        of.how = base % page != 0 ? status::invalid_prp_offset : status::invalid_field;
        return;
    }
    if (vector >= vectors_) {
        of.how = status::invalid_vector;
        return;
    }
    of.how = of_.queues.create(
        queue_of(of), completion_queue{.base = base,
                                       .size = w.get(queue_words::size_) + 1,
                                       .interrupts = w.get(words::create_cq::interrupts) != 0,
                                       .vector = static_cast<std::uint16_t>(vector)});
}

void admin_commands::create_submission(job& of) {
    const entry& w = of.request.words;
    const std::uint64_t base = w.get_wide(words::reg::prp1_lo);
    if (w.get(words::create_sq::contiguous) == 0 || base % page != 0) {
        of.how = base % page != 0 ? status::invalid_prp_offset : status::invalid_field;
        return;
    }
    of.how = of_.queues.create(
        queue_of(of),
        submission_queue{.base = base,
                         .size = w.get(queue_words::size_) + 1,
                         .completions = static_cast<std::uint16_t>(w.get(words::create_sq::cq))});
}

/// Deletes a submission queue after completing its commands.
void admin_commands::delete_submission(job& of) {
    const std::uint16_t number = queue_of(of);
    if (number != 0 && of_.queues.submission(number) != nullptr) engine_().abort_all(number);
    of.how = of_.queues.remove_submission(number);
}

// --- data to the host ---

void admin_commands::answer(job& of, std::vector<std::uint8_t> bytes) {
    of.moves = job::data::to_host;
    of.length = static_cast<std::uint32_t>(bytes.size());
    of.bytes = std::move(bytes);
}

void admin_commands::identify(job& of) {
    const std::uint32_t name = of.request.words.get(words::reg::namespace_);
    switch (of.request.words.get(words::identify::cns)) {
    case words::identify::cns_controller:
        return answer(of, identity_.controller_page());
    case words::identify::cns_namespace:
        if (name != the_namespace) break;
        return answer(of, identity_.namespace_page(of_.content.used() / identity_.block_bytes));
    case words::identify::cns_active_namespaces:
        if (name >= all_namespaces - 1) break;
        return answer(of, identity_.active_namespaces(name));
    case words::identify::cns_namespace_descriptors:
        if (name != the_namespace) break;
        return answer(of, identity_.descriptors());
    default:
        of.how = status::invalid_field;
        return;
    }
    of.how = status::invalid_namespace;
}

void admin_commands::log_page(job& of) {
    const entry& w = of.request.words;
    const auto number = static_cast<std::uint8_t>(w.get(words::log::page));
    const std::uint64_t count =
        (std::uint64_t{w.get(words::log_length::dwords_hi)} << 16 | w.get(words::log::dwords_lo)) +
        1;
    const std::uint64_t offset = w.get_wide(words::reg::log_offset_lo);
    const std::uint32_t name = w.get(words::reg::namespace_);
    if (name != 0 && name != all_namespaces) {  // LPA: no log of a single namespace
        of.how = status::invalid_field;
        return;
    }
    std::vector<std::uint8_t> bytes;
    switch (number) {
    case words::log::page_errors:
        bytes = of_.state.error_page();
        break;
    case words::log::page_health:
        bytes = of_.state.health_page(of_.settings);
        break;
    case words::log::page_firmware:
        bytes = health::firmware_page();
        break;
    default:
        of.how = status::invalid_log_page;
        return;
    }
    if (offset % 4 != 0 || offset > bytes.size() || count > max_transfer / 4) {
        of.how = status::invalid_field;
        return;
    }
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    bytes.resize(static_cast<std::size_t>(count * 4));  // zeroes after the page
    answer(of, std::move(bytes));
}

// --- features ---

/// The number of queues is settled before the first I/O queue. What the write cache holds becomes
/// durable when it is switched off.
void admin_commands::set_feature(job& of) {
    if (of.request.words.get(words::feature::id) == words::feature::id_queues &&
        of_.queues.has_io_queues()) {
        of.how = status::command_sequence_error;
        return;
    }
    const bool had_cache = of_.settings.write_cache();
    of.how = of_.settings.set(of.request.words, of.result);
    if (had_cache && !of_.settings.write_cache()) {
        of_.content.flush();
        of.after += of_.content.time_of_flush();
    }
    check_temperature();
}

// --- abort, events ---

/// Aborts a command. Bit 0 of the result: not aborted.
void admin_commands::abort(job& of) {
    const auto queue = static_cast<std::uint16_t>(of.request.words.get(words::abort::queue));
    const auto id = static_cast<std::uint16_t>(of.request.words.get(words::abort::id));
    if (queue == 0 && of_.events.withdraw(id))
        engine_().complete({.queue = 0, .id = id, .how = status::abort_requested});
    else
        of.result = engine_().abort(queue, id) ? 0 : 1;
}

void admin_commands::request_event(job& of) {
    of.is_held = of_.events.request(of.request.id());
    if (!of.is_held) of.how = status::event_limit;
    check_temperature();
}

void admin_commands::check_temperature() {
    if ((of_.state.warnings(of_.settings) & of_.settings.reported_warnings()) != 0)
        of_.events.report(async_events::type::health, async_events::temperature);
}

}  // namespace trn::nvme

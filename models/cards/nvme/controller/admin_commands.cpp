// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/admin_commands.h"

#include <algorithm>

namespace trn::nvme {

namespace words = nvme_entry_regs;
namespace queue_words = nvme_entry_regs::queue;

namespace {

constexpr std::uint64_t page = 4096;

std::uint16_t queue_of(const job& task) {
    return static_cast<std::uint16_t>(task.request.words.get(queue_words::id));
}

}  // namespace

void admin_commands::begin(job& task) {
    if (timing() == timing_mode::contended) task.after = command_time_;
    switch (task.request.opcode()) {
    case words::admin::opcode_create_cq:
        return create_completions(task);
    case words::admin::opcode_create_sq:
        return create_submission(task);
    case words::admin::opcode_delete_sq:
        return delete_submission(task);
    case words::admin::opcode_delete_cq:
        task.outcome = parts_.queues.remove_completions(queue_of(task));
        return;
    case words::admin::opcode_identify:
        return identify(task);
    case words::admin::opcode_get_log_page:
        return log_page(task);
    case words::admin::opcode_set_features:
        return set_feature(task);
    case words::admin::opcode_get_features:
        task.outcome = parts_.settings.get(task.request.words, task.result);
        return;
    case words::admin::opcode_abort:
        return abort(task);
    case words::admin::opcode_async_event:
        return request_event(task);
    default:
        task.outcome = status::invalid_opcode;
    }
}

/// The host has the log page: its event can be reported again.
void admin_commands::moved(job& task) {
    const entry& w = task.request.words;
    if (task.request.opcode() == words::admin::opcode_get_log_page &&
        w.get(words::log::retain_event) == 0)
        parts_.events.has_read(static_cast<std::uint8_t>(w.get(words::log::page)));
}

// --- queues ---

void admin_commands::create_completions(job& task) {
    const entry& w = task.request.words;
    const std::uint64_t base = w.get_wide(words::reg::prp1_lo);
    const std::uint32_t vector = w.get(words::create_cq::vector);
    if (w.get(words::create_cq::contiguous) == 0 || base % page != 0)
        return task.fail(base % page != 0 ? status::invalid_prp_offset : status::invalid_field);
    if (vector >= vectors_) return task.fail(status::invalid_vector);
    task.outcome = parts_.queues.create(
        queue_of(task), completion_queue{.base = base,
                                         .size = w.get(queue_words::size_) + 1,
                                         .interrupts = w.get(words::create_cq::interrupts) != 0,
                                         .vector = static_cast<std::uint16_t>(vector)});
}

void admin_commands::create_submission(job& task) {
    const entry& w = task.request.words;
    const std::uint64_t base = w.get_wide(words::reg::prp1_lo);
    if (w.get(words::create_sq::contiguous) == 0 || base % page != 0)
        return task.fail(base % page != 0 ? status::invalid_prp_offset : status::invalid_field);
    task.outcome = parts_.queues.create(
        queue_of(task),
        submission_queue{.base = base,
                         .size = w.get(queue_words::size_) + 1,
                         .completions = static_cast<std::uint16_t>(w.get(words::create_sq::cq))});
}

/// Deletes a submission queue after completing its commands.
void admin_commands::delete_submission(job& task) {
    const std::uint16_t number = queue_of(task);
    if (number != 0 && parts_.queues.submission(number) != nullptr) engine_().abort_all(number);
    task.outcome = parts_.queues.remove_submission(number);
}

// --- data to the host ---

void admin_commands::answer(job& task, std::vector<std::uint8_t> bytes) {
    task.moves = job::data::to_host;
    task.length = static_cast<std::uint32_t>(bytes.size());
    task.bytes = std::move(bytes);
}

void admin_commands::identify(job& task) {
    const std::uint32_t name = task.request.words.get(words::reg::namespace_);
    switch (task.request.words.get(words::identify::cns)) {
    case words::identify::cns_controller:
        return answer(task, identity_.controller_page());
    case words::identify::cns_namespace:
        if (name != the_namespace) break;
        return answer(task,
                      identity_.namespace_page(parts_.content.used() / identity_.block_bytes));
    case words::identify::cns_active_namespaces:
        if (name >= all_namespaces - 1) break;
        return answer(task, identity_.active_namespaces(name));
    case words::identify::cns_namespace_descriptors:
        if (name != the_namespace) break;
        return answer(task, identity_.descriptors());
    default:
        return task.fail(status::invalid_field);
    }
    task.outcome = status::invalid_namespace;
}

void admin_commands::log_page(job& task) {
    const entry& w = task.request.words;
    const auto number = static_cast<std::uint8_t>(w.get(words::log::page));
    const std::uint64_t count =
        (std::uint64_t{w.get(words::log_length::dwords_hi)} << 16 | w.get(words::log::dwords_lo)) +
        1;
    const std::uint64_t offset = w.get_wide(words::reg::log_offset_lo);
    const std::uint32_t name = w.get(words::reg::namespace_);
    if (name != 0 && name != all_namespaces)  // LPA: no log of a single namespace
        return task.fail(status::invalid_field);
    std::vector<std::uint8_t> bytes;
    switch (number) {
    case words::log::page_errors:
        bytes = parts_.state.error_page();
        break;
    case words::log::page_health:
        bytes = parts_.state.health_page(parts_.settings);
        break;
    case words::log::page_firmware:
        bytes = health::firmware_page();
        break;
    default:
        return task.fail(status::invalid_log_page);
    }
    if (offset % 4 != 0 || offset > bytes.size() || count > max_transfer / 4)
        return task.fail(status::invalid_field);
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    bytes.resize(static_cast<std::size_t>(count * 4));  // zeroes after the page
    answer(task, std::move(bytes));
}

// --- features ---

/// The number of queues is settled before the first I/O queue. What the write cache holds becomes
/// durable when it is switched off.
void admin_commands::set_feature(job& task) {
    if (task.request.words.get(words::feature::id) == words::feature::id_queues &&
        parts_.queues.has_io_queues())
        return task.fail(status::command_sequence_error);
    const bool had_cache = parts_.settings.write_cache();
    task.outcome = parts_.settings.set(task.request.words, task.result);
    if (had_cache && !parts_.settings.write_cache()) {
        parts_.content.flush();
        task.after += parts_.content.time_of_flush();
    }
    check_temperature();
}

// --- abort, events ---

/// Aborts a command. Bit 0 of the result: not aborted.
void admin_commands::abort(job& task) {
    const auto queue = static_cast<std::uint16_t>(task.request.words.get(words::abort::queue));
    const auto id = static_cast<std::uint16_t>(task.request.words.get(words::abort::id));
    if (queue == 0 && parts_.events.withdraw(id))
        engine_().complete({.queue = 0, .id = id, .outcome = status::abort_requested});
    else
        task.result = engine_().abort(queue, id) ? 0 : 1;
}

void admin_commands::request_event(job& task) {
    task.is_held = parts_.events.request(task.request.id());
    if (!task.is_held) task.outcome = status::event_limit;
    check_temperature();
}

void admin_commands::check_temperature() {
    if ((parts_.state.warnings(parts_.settings) & parts_.settings.reported_warnings()) != 0)
        parts_.events.report(async_events::type::health, async_events::temperature);
}

}  // namespace trn::nvme

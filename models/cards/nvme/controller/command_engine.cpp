// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/command_engine.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "platform/framework/kernel/trace.h"

namespace trn::nvme {

using sc_core::sc_time;
namespace words = nvme_entry_regs;

namespace {

/// Whether a waiting command has done its work, or failed, and only its completion is due.
bool has_taken_effect(const job& task) {
    return task.moves == job::data::none && task.clears.empty();
}

}  // namespace

command_engine::command_engine(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus,
                               queue_set& queues, medium& content, command_set& admin,
                               command_set& io, listener& owner)
    : sc_module(name),
      queues_(queues),
      content_(content),
      admin_(admin),
      io_(io),
      owner_(owner),
      memory_(bus),
      writer_("writer", bus) {
    SC_METHOD(run);
    sensitive << work_;
    dont_initialize();
}

void command_engine::start() {
    is_started_ = true;
    work_.notify(sc_core::SC_ZERO_TIME);
}

void command_engine::forget() {
    is_started_ = false;
    fetching_.reset();
    waiting_.clear();
    lost_.clear();
    moving_.reset();
    pending_.abandon();
    writer_.abandon();
    work_.cancel();
}

void command_engine::invalidate(std::uint64_t first, std::uint64_t last) {
    memory_.invalidate(first, last);
    writer_.invalidate(first, last);
}

/// Advances until blocked or idle. The state selects each step; events only wake the process.
void command_engine::run() {
    while (is_started_) {
        const progress reached = advance();
        if (reached == progress::blocked) return;
        if (reached == progress::idle) break;
    }
    if (is_started_ && !waiting_.empty())
        work_.notify(waiting_.begin()->first - sc_core::sc_time_stamp());
}

command_engine::progress command_engine::advance() {
    if (moving_) return move();
    if (fetching_) return fetch();
    if (!waiting_.empty() && waiting_.begin()->first <= sc_core::sc_time_stamp()) {
        job due = std::move(waiting_.extract(waiting_.begin()).mapped());
        if (!due.clears.empty()) {
            set_of(due).clear(due);
            waiting_.emplace(sc_core::sc_time_stamp() + due.after, std::move(due));
            return progress::moved;
        }
        if (due.moves == job::data::none) {
            finish(due);
            return progress::moved;
        }
        prps_ = prp_list(due.request.words.get_wide(words::reg::prp1_lo),
                         due.request.words.get_wide(words::reg::prp2_lo), due.length);
        moved_ = 0;
        arrival_ = sc_core::sc_time_stamp();
        moving_ = std::move(due);
        return progress::moved;
    }
    unsigned number = 0;
    const bool is_full = outstanding() >= max_outstanding;
    if (outstanding() >= max_outstanding + max_admin_beyond ||
        queues_.next(number, is_full) == nullptr)
        return progress::idle;
    fetching_ = number;
    return fetch();
}

// --- commands ---

command_engine::progress command_engine::fetch() {
    submission_queue* const source = queues_.submission(*fetching_);
    if (source == nullptr) {
        fetching_.reset();
        return progress::moved;
    }
    sc_time delay;
    switch (memory_.access(tlm::TLM_READ_COMMAND,
                           source->base + std::uint64_t{source->head} * queue_set::submission_bytes,
                           fetched_.data(), queue_set::submission_bytes, pending_, delay)) {
    case memory_port::outcome::deferred:
        return progress::blocked;
    case memory_port::outcome::failed:
        fetching_.reset();
        is_started_ = false;
        owner_.fail();
        return progress::idle;
    case memory_port::outcome::done:
        break;
    }
    source->head = (source->head + 1) % source->size;
    const auto queue = static_cast<std::uint16_t>(*std::exchange(fetching_, std::nullopt));
    begin({.words = entry(fetched_), .queue = queue});
    return progress::moved;
}

void command_engine::begin(const command& request) {
    job task{.request = request};
    ++(request.is_admin() ? counters_.admin_commands : counters_.commands);
    if (trace::on())
        trace::event(
            name(), "command",
            {{"queue", request.queue}, {"id", request.id()}, {"opcode", request.opcode()}});
    if (!request.is_admin() && (lose_ > 0 || stick_ > 0)) {
        ++counters_.lost;
        if (stick_ > 0) {
            --stick_;
        } else {
            --lose_;
            lost_.push_back(std::move(task));
        }
        return;
    }
    if (request.words.get(words::command::psdt) != 0 ||
        request.words.get(words::command::fuse) != 0)
        task.outcome = status::invalid_field;
    else
        set_of(task).begin(task);
    if (task.is_held) return;
    if (task.outcome != status::success) task.moves = job::data::none;
    waiting_.emplace(sc_core::sc_time_stamp() + task.after, std::move(task));
}

bool command_engine::abort(std::uint16_t queue, std::uint16_t id) {
    const auto matches = [&](const job& j) {
        return j.request.queue == queue && j.request.id() == id;
    };
    const auto end = [&](job task) {
        task.outcome = status::abort_requested;
        finish(task);
        return true;
    };
    if (const auto found = std::ranges::find_if(lost_, matches); found != lost_.end()) {
        job task = std::move(*found);
        lost_.erase(found);
        return end(std::move(task));
    }
    for (auto place = waiting_.begin(); place != waiting_.end(); ++place)
        if (matches(place->second) && !has_taken_effect(place->second))
            return end(std::move(waiting_.extract(place).mapped()));
    return false;
}

void command_engine::abort_all(std::uint16_t queue) {
    std::vector<job> removed;
    const auto take = [&](job& task, bool is_over) {
        if (task.request.queue != queue) return false;
        if (!is_over) task.outcome = status::aborted_sq_deletion;
        removed.push_back(std::move(task));
        return true;
    };
    for (auto place = waiting_.begin(); place != waiting_.end();)
        place =
            take(place->second, has_taken_effect(place->second)) ? waiting_.erase(place) : ++place;
    for (auto place = lost_.begin(); place != lost_.end();)
        place = take(*place, false) ? lost_.erase(place) : ++place;
    for (const job& each : removed) finish(each);
}

// --- data ---

command_engine::progress command_engine::move() {
    if (prps_.outcome() != status::success) moving_->outcome = prps_.outcome();
    if (moving_->outcome == status::success) {
        if (const auto part = prps_.needs()) return read_list(*part);
        if (const auto part = prps_.next(); part.length != 0) return move_part(part);
    }
    end_move();
    return progress::moved;
}

command_engine::progress command_engine::read_list(prp_list::piece part) {
    std::array<std::uint64_t, prp_list::page / sizeof(std::uint64_t)> entries;
    sc_time delay;
    switch (memory_.access(tlm::TLM_READ_COMMAND, part.address, entries.data(),
                           static_cast<unsigned>(part.length), pending_, delay)) {
    case memory_port::outcome::deferred:
        return progress::blocked;
    case memory_port::outcome::failed:
        moving_->outcome = status::data_transfer_error;
        return progress::moved;
    case memory_port::outcome::done:
        break;
    }
    prps_.take(std::span(entries).first(part.length / sizeof(std::uint64_t)));
    return progress::moved;
}

command_engine::progress command_engine::move_part(prp_list::piece part) {
    const bool to_host = moving_->moves == job::data::to_host;
    const auto command = to_host ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    const auto* const direct =
        pending_.is_deferred() ? nullptr : memory_.find(command, part.address);
    const auto moved = [&](std::uint64_t bytes) {
        moved_ += bytes;
        prps_.advance(bytes);
        return progress::moved;
    };
    if (direct != nullptr) {
        const std::uint64_t count = direct->room(part.address, part.length);
        auto* const memory = direct->at(part.address);
        const auto now = sc_core::sc_time_stamp();
        const auto watched = direct->watched_at(part.address);
        if (!to_host && watched.watcher != nullptr) {
            // A watcher may replace the bytes, so they are stored after it.
            std::vector<std::uint8_t> bytes(memory, memory + count);
            watched.report_read(bytes.data(), count);
            if (!copy(bytes.data(), count)) return progress::moved;
        } else if (!copy(memory, count)) {
            return progress::moved;
        }
        if (to_host) watched.report_write(memory, count);
        arrival_ = std::max(arrival_, direct->reserve(command, part.address, count, now) +
                                          direct->latency(command));
        return moved(count);
    }
    const auto count =
        std::min<std::uint64_t>(part.length, buffer_.size() - part.address % buffer_.size());
    const bool is_read = pending_.is_repeated();  // buffer_ has the data since the first attempt
    if (to_host && !is_read && !copy(buffer_.data(), count)) return progress::moved;
    sc_time delay;
    switch (memory_.access(command, part.address, buffer_.data(), static_cast<unsigned>(count),
                           pending_, delay)) {
    case memory_port::outcome::deferred:
        return progress::blocked;
    case memory_port::outcome::failed:
        moving_->outcome = status::data_transfer_error;
        return progress::moved;
    case memory_port::outcome::done:
        break;
    }
    arrival_ = std::max(arrival_, sc_core::sc_time_stamp() + delay);
    if (!to_host && !copy(buffer_.data(), count)) return progress::moved;
    return moved(count);
}

/// Copies the next bytes of the data between `bytes` and the medium or the job's buffer. False if
/// the medium failed.
bool command_engine::copy(std::uint8_t* bytes, std::uint64_t length) {
    job& task = *moving_;
    const bool to_host = task.moves == job::data::to_host;
    const std::span part(bytes, static_cast<std::size_t>(length));
    if (task.medium) {
        const std::uint64_t offset = *task.medium + moved_;
        const bool held = to_host ? content_.read(offset, part) : content_.write(offset, part);
        if (!held) task.outcome = to_host ? status::unrecovered_read_error : status::write_fault;
        (to_host ? counters_.bytes_read : counters_.bytes_written) += held ? length : 0;
        return held;
    }
    const std::span stored = std::span(task.bytes).subspan(moved_, part.size());
    if (to_host)
        std::ranges::copy(stored, part.begin());
    else
        std::ranges::copy(part, stored.begin());
    return true;
}

void command_engine::end_move() {
    job task = std::move(*std::exchange(moving_, std::nullopt));
    task.after = sc_core::SC_ZERO_TIME;
    if (task.outcome == status::success) set_of(task).moved(task);
    task.moves = job::data::none;
    const bool timed = timing() == timing_mode::contended;
    const sc_time now = sc_core::sc_time_stamp();
    waiting_.emplace((timed ? std::max(arrival_, now) : now) + task.after, std::move(task));
}

// --- completions ---

void command_engine::finish(const job& done) {
    const completion result{done.request.queue, done.request.id(), done.outcome, done.result};
    if (done.outcome != status::success) {
        ++counters_.failed;
        owner_.failed(result, done.request);
    }
    if (!done.request.is_admin() && lose_completions_ > 0) {
        --lose_completions_;
        ++counters_.lost;
        return;
    }
    complete(result);
}

void command_engine::complete(const completion& done) {
    if (!is_started_) return;
    const submission_queue* const source = queues_.submission(done.queue);
    completion_queue* const target =
        source == nullptr ? nullptr : queues_.completions(source->completions);
    if (target == nullptr) return;
    if (target->is_full() || !target->waiting.empty())
        target->waiting.push_back(done);
    else
        write(*target, done);
}

void command_engine::head_moved(unsigned number) {
    completion_queue* const queue = queues_.completions(number);
    if (!is_started_ || queue == nullptr || queue->waiting.empty()) return;
    while (!queue->waiting.empty() && !queue->is_full()) {
        write(*queue, queue->waiting.front());
        queue->waiting.pop_front();
    }
    work_.notify(sc_core::SC_ZERO_TIME);  // the queue's commands can be fetched again
}

/// Writes a completion in two halves: the second has the phase bit. NVM Express 1.4, 9.5: a
/// controller that cannot reach a completion queue reports that by CSTS.CFS only.
void command_engine::write(completion_queue& queue, const completion& done) {
    constexpr std::size_t half = 8;
    const submission_queue* const source = queues_.submission(done.queue);
    entry made;
    made.set(words::reg::result, done.result);
    made.set(words::completion_queue::head, source == nullptr ? 0 : source->head);
    made.set(words::completion_queue::id, done.queue);
    made.set(words::completion::id, done.id);
    made.set(words::completion::phase, queue.phase);
    made.set(words::completion::status, static_cast<std::uint64_t>(done.outcome));
    const auto bytes = made.bytes().first(queue_set::completion_bytes);
    const std::uint64_t address =
        queue.base + std::uint64_t{queue.tail} * queue_set::completion_bytes;
    queue.tail = (queue.tail + 1) % queue.size;
    if (queue.tail == 0) queue.phase = !queue.phase;
    const sc_time now = sc_core::sc_time_stamp();
    writer_.post(now, address, bytes.first(half), [this](bool written) {
        if (!written) owner_.fail();
    });
    writer_.post(now, address + half, bytes.subspan(half),
                 [this, vector = queue.vector, wanted = queue.interrupts](bool written) {
                     if (!written)
                         owner_.fail();
                     else if (wanted)
                         owner_.raise(vector);
                 });
}

}  // namespace trn::nvme

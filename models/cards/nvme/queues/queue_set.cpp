// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/queues/queue_set.h"

#include <algorithm>
#include <ranges>

namespace trn::nvme {

void queue_set::open(const submission_queue& admin, const completion_queue& admin_completions) {
    close();
    submissions_.resize(pairs_ + 1);
    completions_.resize(pairs_ + 1);
    submissions_[0] = admin;
    completions_[0] = admin_completions;
    completions_[0].users = 1;
}

void queue_set::close() {
    submissions_.clear();
    completions_.clear();
    turn_ = 0;
}

submission_queue* queue_set::submission(unsigned number) {
    const bool exists = number < submissions_.size() && submissions_[number].size != 0;
    return exists ? &submissions_[number] : nullptr;
}

completion_queue* queue_set::completions(unsigned number) {
    const bool exists = number < completions_.size() && completions_[number].size != 0;
    return exists ? &completions_[number] : nullptr;
}

bool queue_set::has_io_queues() const {
    const auto exists = [](const auto& queue) { return queue.size != 0; };
    return std::ranges::any_of(submissions_ | std::views::drop(1), exists) ||
           std::ranges::any_of(completions_ | std::views::drop(1), exists);
}

status queue_set::create(unsigned number, const submission_queue& made) {
    if (!is_io_number(number) || submission(number) != nullptr) return status::invalid_queue_id;
    if (made.size < 2 || made.size > max_entries) return status::invalid_queue_size;
    if (!is_io_number(made.completions)) return status::invalid_queue_id;
    completion_queue* const target = completions(made.completions);
    if (target == nullptr) return status::invalid_completion_queue;
    ++target->users;
    submissions_[number] = made;
    return status::success;
}

status queue_set::create(unsigned number, const completion_queue& made) {
    if (!is_io_number(number) || completions(number) != nullptr) return status::invalid_queue_id;
    if (made.size < 2 || made.size > max_entries) return status::invalid_queue_size;
    completions_[number] = made;
    return status::success;
}

status queue_set::remove_submission(unsigned number) {
    const submission_queue* const queue = submission(number);
    if (number == 0 || queue == nullptr) return status::invalid_queue_id;
    --completions_[queue->completions].users;
    submissions_[number] = {};
    return status::success;
}

status queue_set::remove_completions(unsigned number) {
    const completion_queue* const queue = completions(number);
    if (number == 0 || queue == nullptr) return status::invalid_queue_id;
    if (queue->users != 0) return status::invalid_queue_deletion;
    completions_[number] = {};
    return status::success;
}

bool queue_set::set_tail(unsigned number, std::uint32_t tail) {
    submission_queue* const queue = submission(number);
    if (queue == nullptr || tail >= queue->size) return false;
    // A doorbell write adds at least one command, and at most as many commands as fit.
    const auto added = (tail + queue->size - queue->tail) % queue->size;
    const auto used = (queue->tail + queue->size - queue->head) % queue->size;
    if (added == 0 || used + added >= queue->size) return false;
    queue->tail = tail;
    return true;
}

bool queue_set::set_head(unsigned number, std::uint32_t head) {
    completion_queue* const queue = completions(number);
    if (queue == nullptr || head >= queue->size) return false;
    // A doorbell write consumes at least one entry, and only written entries.
    const auto unread = (queue->tail + queue->size - queue->head) % queue->size;
    const auto consumed = (head + queue->size - queue->head) % queue->size;
    if (consumed == 0 || consumed > unread) return false;
    queue->head = head;
    return true;
}

/// Whether a command can be fetched: its completion can wait if the completion queue is full.
bool queue_set::has_command(unsigned number) const {
    const submission_queue& queue = submissions_[number];
    return queue.head != queue.tail && completions_[queue.completions].waiting.size() < max_entries;
}

submission_queue* queue_set::next(unsigned& number, bool admin_only) {
    if (admin_only) {
        number = 0;
        return !submissions_.empty() && has_command(0) ? &submissions_[0] : nullptr;
    }
    for (std::size_t tried = 0; tried < submissions_.size(); ++tried) {
        number = turn_;
        turn_ = (turn_ + 1) % static_cast<unsigned>(submissions_.size());
        if (has_command(number)) return &submissions_[number];
    }
    return nullptr;
}

}  // namespace trn::nvme

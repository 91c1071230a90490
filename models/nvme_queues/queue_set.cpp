// SPDX-License-Identifier: Apache-2.0
#include "models/nvme_queues/queue_set.h"

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

status queue_set::create(unsigned number, const submission_queue& made) {
    if (!is_free_number(number) || submission(number) != nullptr) return status::invalid_queue_id;
    if (made.size < 2 || made.size > max_entries) return status::invalid_queue_size;
    completion_queue* const to = completions(made.completions);
    if (made.completions == 0 || to == nullptr) return status::invalid_completion_queue;
    ++to->users;
    submissions_[number] = made;
    return status::success;
}

status queue_set::create(unsigned number, const completion_queue& made) {
    if (!is_free_number(number) || completions(number) != nullptr) return status::invalid_queue_id;
    if (made.size < 2 || made.size > max_entries) return status::invalid_queue_size;
    completions_[number] = made;
    return status::success;
}

status queue_set::remove_submission(unsigned number) {
    const submission_queue* const gone = submission(number);
    if (number == 0 || gone == nullptr) return status::invalid_queue_id;
    --completions_[gone->completions].users;
    submissions_[number] = {};
    return status::success;
}

status queue_set::remove_completions(unsigned number) {
    const completion_queue* const gone = completions(number);
    if (number == 0 || gone == nullptr) return status::invalid_queue_id;
    if (gone->users != 0) return status::invalid_queue_deletion;
    completions_[number] = {};
    return status::success;
}

bool queue_set::set_tail(unsigned number, std::uint32_t tail) {
    submission_queue* const queue = submission(number);
    if (queue == nullptr || tail >= queue->size) return false;
    queue->tail = tail;
    return true;
}

bool queue_set::set_head(unsigned number, std::uint32_t head) {
    completion_queue* const queue = completions(number);
    if (queue == nullptr || head >= queue->size) return false;
    // The host can only consume written entries.
    const auto unread = (queue->tail + queue->size - queue->head) % queue->size;
    if ((head + queue->size - queue->head) % queue->size > unread) return false;
    queue->head = head;
    return true;
}

submission_queue* queue_set::next(unsigned& number) {
    for (std::size_t tried = 0; tried < submissions_.size(); ++tried) {
        number = turn_;
        turn_ = (turn_ + 1) % static_cast<unsigned>(submissions_.size());
        submission_queue& queue = submissions_[number];
        if (queue.head != queue.tail &&
            completions_[queue.completions].waiting.size() < max_entries)
            return &queue;
    }
    return nullptr;
}

}  // namespace trn::nvme

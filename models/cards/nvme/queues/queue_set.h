// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/cards/nvme/queues/command.h"

namespace trn::nvme {

/// A completion to write to its queue.
struct completion {
    std::uint16_t queue = 0;  ///< submission queue
    std::uint16_t id = 0;     ///< id of the command
    status outcome = status::success;
    std::uint32_t result = 0;
};

struct submission_queue {
    std::uint64_t base = 0;
    std::uint32_t size = 0;  ///< entries; 0: the queue does not exist
    std::uint32_t head = 0, tail = 0;
    std::uint16_t completions = 0;  ///< number of its completion queue
};

struct completion_queue {
    std::uint64_t base = 0;
    std::uint32_t size = 0;            ///< entries; 0: the queue does not exist
    std::uint32_t head = 0, tail = 0;  ///< head: set by the host; tail: by the controller
    bool phase = true, interrupts = false;
    std::uint16_t vector = 0;
    unsigned users = 0;                   ///< submission queues that use it
    std::deque<completion> waiting = {};  ///< until the ring has room

    bool is_full() const { return (tail + 1) % size == head; }
};

/// The queues of a controller by number; number 0 are the admin queues. Empty until open() is
/// called.
class queue_set {
public:
    static constexpr std::uint32_t max_entries = 1024;  ///< of an I/O queue; admin: 4096
    static constexpr std::uint32_t submission_bytes = 64, completion_bytes = 16;

    explicit queue_set(unsigned pairs) : pairs_(pairs) {}

    void open(const submission_queue& admin, const completion_queue& admin_completions);
    void close();

    /// Null if the queue does not exist.
    submission_queue* submission(unsigned number);
    completion_queue* completions(unsigned number);
    unsigned pairs() const { return pairs_; }
    /// Commands that the host has posted and the controller has not fetched, and completions that
    /// the host has not read.
    std::uint32_t commands(unsigned number) const { return entries(submissions_, number); }
    std::uint32_t unread(unsigned number) const { return entries(completions_, number); }
    bool has_io_queues() const;

    status create(unsigned number, const submission_queue& made);
    status create(unsigned number, const completion_queue& made);
    status remove_submission(unsigned number);
    status remove_completions(unsigned number);

    /// Doorbell writes. False if the queue does not exist, or the value is invalid (NVM Express
    /// 5.2: no change, or more entries than there are).
    bool set_tail(unsigned number, std::uint32_t tail);
    bool set_head(unsigned number, std::uint32_t head);

    /// The next submission queue with a command, in round-robin order; null if there is none. Skips
    /// queues whose completion queue has max_entries waiting completions.
    submission_queue* next(unsigned& number, bool admin_only);

private:
    template <class Queue>
    static std::uint32_t entries(const std::vector<Queue>& all, unsigned number) {
        if (number >= all.size() || all[number].size == 0) return 0;
        const auto& queue = all[number];
        return (queue.tail + queue.size - queue.head) % queue.size;
    }
    bool has_command(unsigned number) const;
    bool is_io_number(unsigned number) const { return number != 0 && number <= pairs_; }

    const unsigned pairs_;  // I/O queues per direction
    std::vector<submission_queue> submissions_;
    std::vector<completion_queue> completions_;
    unsigned turn_ = 0;
};

}  // namespace trn::nvme

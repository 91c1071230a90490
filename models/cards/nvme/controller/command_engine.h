// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cards/host_ring/host_writer.h"
#include "models/cards/nvme/media/medium.h"
#include "models/cards/nvme/queues/command.h"
#include "models/cards/nvme/queues/prp_list.h"
#include "models/cards/nvme/queues/queue_set.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::nvme {

/// A command from its fetch to its completion.
struct job {
    enum class data : std::uint8_t { none, to_host, from_host };
    struct range {
        std::uint64_t offset = 0, length = 0;  // bytes of the medium
    };

    command request;
    status outcome = status::success;
    std::uint32_t result = 0;
    data moves = data::none;
    std::uint32_t length = 0;                  ///< bytes of data
    std::optional<std::uint64_t> medium = {};  ///< offset of the data on the medium
    std::vector<std::uint8_t> bytes = {};      ///< otherwise the data; `length` bytes
    std::vector<range> clears = {};            ///< ranges to clear before the completion
    sc_core::sc_time after = {};  ///< delay before data moves to the host, the ranges are cleared
                                  ///< further, or the completion
    bool is_held = false;         ///< the command set completes it later

    void fail(status reason) { outcome = reason; }
};

/// Executes commands.
class command_set {
public:
    /// Sets the command's status, or the data to move if it has succeeded so far. The command's
    /// words locate the host's side of the data.
    virtual void begin(job& task) = 0;
    /// All data has moved, in the job's direction: sets `outcome` and `after`.
    virtual void moved(job& task) = 0;
    /// Clears the job's next ranges, as many as bounded work allows, and sets `outcome` and
    /// `after`.
    virtual void clear(job& task) = 0;

protected:
    ~command_set() = default;
};

/// Fetches commands, moves their data, and writes their completions.
class command_engine : public sc_core::sc_module {
public:
    /// I/O commands that are not completed. Admin commands are fetched beyond it: an abort must
    /// reach commands that do not complete.
    static constexpr std::size_t max_outstanding = 2048;
    static constexpr std::size_t max_admin_beyond = 64;

    class listener {
    public:
        virtual void raise(unsigned vector) = 0;
        /// A submission queue cannot be read: the controller recovers only by a reset.
        virtual void fail() = 0;
        virtual void failed(const completion& result, const command& request) = 0;

    protected:
        ~listener() = default;
    };
    struct counts {
        std::uint64_t admin_commands = 0, commands = 0, failed = 0, lost = 0;
        std::uint64_t bytes_read = 0, bytes_written = 0;
    };

    SC_HAS_PROCESS(command_engine);
    command_engine(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus,
                   queue_set& queues, medium& content, command_set& admin, command_set& io,
                   listener& owner);

    /// start(): the controller is ready. forget(): it is not ready, or shut down; discards all
    /// commands.
    void start();
    void forget();
    void tail_moved() { work_.notify(sc_core::SC_ZERO_TIME); }
    /// The host has advanced a completion queue's head. No effect unless started.
    void head_moved(unsigned completion_queue);
    void invalidate(std::uint64_t first, std::uint64_t last);

    /// Completes a command with abort_requested; false if there is none with this id that can be
    /// aborted: a command that has taken effect cannot.
    bool abort(std::uint16_t queue, std::uint16_t id);
    /// Completes all commands of a submission queue, before it is deleted: those that have taken
    /// effect with their own status, the others as aborted.
    void abort_all(std::uint16_t queue);
    /// Writes a completion, when its queue has room. No effect unless started.
    void complete(const completion& done);

    /// Faults: the next `count` I/O commands are not completed; a stuck one cannot be aborted
    /// either.
    void lose(std::uint64_t count) { lose_ += count; }
    void stick(std::uint64_t count) { stick_ += count; }
    /// Fault: the next `count` I/O commands take effect, but their completions are not written.
    void lose_completions(std::uint64_t count) { lose_completions_ += count; }

    std::size_t outstanding() const { return waiting_.size() + lost_.size() + (moving_ ? 1 : 0); }
    const counts& counters() const { return counters_; }

private:
    enum class progress { idle, moved, blocked };

    void run();
    progress advance();
    progress fetch();
    void begin(const command& request);
    progress move();
    progress move_part(prp_list::piece part);
    progress read_list(prp_list::piece part);
    bool copy(std::uint8_t* bytes, std::uint64_t length);
    void end_move();
    void finish(const job& done);
    void write(completion_queue& queue, const completion& done);
    command_set& set_of(const job& task) { return task.request.is_admin() ? admin_ : io_; }

    queue_set& queues_;
    medium& content_;
    command_set &admin_, &io_;
    listener& owner_;
    memory_port memory_;
    host_writer writer_;
    bool is_started_ = false;
    std::optional<unsigned> fetching_;  // submission queue
    std::array<std::uint32_t, 16> fetched_{};
    std::multimap<sc_core::sc_time, job> waiting_;  // by the time at which they continue
    std::list<job> lost_;
    std::optional<job> moving_;
    prp_list prps_;
    std::uint64_t moved_ = 0;   // bytes of moving_ that have moved
    sc_core::sc_time arrival_;  // time at which its last byte arrives
    std::array<std::uint8_t, prp_list::page> buffer_{};
    std::uint64_t lose_ = 0, stick_ = 0, lose_completions_ = 0;
    sc_core::sc_event work_;
    pending_access pending_{work_};
    counts counters_;
};

}  // namespace trn::nvme

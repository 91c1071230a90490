// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace trn {

/// Tracks work that a host's access starts and models finish later, e.g. the descriptors that a
/// doorbell posts. A model holds a share until the work is finished or cannot continue without the
/// host. The host gets its reply when no share is left (run_loop::host_wrote).
class started_work {
public:
    using share = std::shared_ptr<const void>;

    /// No work: finished.
    started_work() = default;
    bool finished() const { return shares_.expired(); }

    /// A share of the work of the current access; null when no client waits for it.
    static share current() { return collecting_ == nullptr ? nullptr : collecting_->give(); }

    /// Collects the work of one access. It must exist during the access, which does not wait.
    class collector {
    public:
        collector() : before_(std::exchange(collecting_, this)) {}
        /// Work of a call that is made later for an access belongs to the access's `share`; to
        /// none if that is null.
        explicit collector(share share_of_access)
            : before_(std::exchange(collecting_, share_of_access ? this : nullptr)),
              share_(std::move(share_of_access)) {}
        ~collector() { collecting_ = before_; }
        collector(const collector&) = delete;
        collector& operator=(const collector&) = delete;

        started_work collected() {
            started_work all;
            all.shares_ = std::exchange(share_, nullptr);
            return all;
        }

    private:
        friend started_work;
        share give() {
            if (!share_) share_ = std::make_shared<char>();
            return share_;
        }

        collector* const before_;
        share share_;  // made when the first model needs it
    };

private:
    static inline collector* collecting_ = nullptr;

    std::weak_ptr<const void> shares_;
};

}  // namespace trn

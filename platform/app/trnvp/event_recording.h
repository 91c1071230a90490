// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "platform/framework/attach/control/control.h"
#include "platform/framework/unique_fd.h"

namespace trn {

/// The control method `trace` (doc/control-socket.md): a client starts and stops the event trace of
/// a running platform. Events go to an unnamed file that the client reads through the method, so a
/// client cannot name a path on the platform's machine.
class event_recording {
public:
    static constexpr std::uint64_t max_read = 1 << 20;  ///< bytes per call

    /// Adds the method to `methods`, which must not call it after the destruction of this object.
    explicit event_recording(control& methods);
    ~event_recording();
    event_recording(const event_recording&) = delete;
    event_recording& operator=(const event_recording&) = delete;

    /// The recording, for the process that continues with another state of the platform. Adds a
    /// descriptor to `descriptors` if there is a file; the receiver's copy is its own.
    rpc::json hand_over(std::vector<int>& descriptors) const;
    /// Replaces this state's recording by one of hand_over(). `file`: its descriptor, or -1.
    void take_over(const rpc::json& state, int file);

private:
    rpc::json call(const rpc::parameters& p);
    void start();
    rpc::json read(std::uint64_t offset) const;
    rpc::json describe() const;
    /// Whether events are being written to the file of this object.
    bool is_open() const;

    unique_fd file_;
    bool started_ = false;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trn::recording {

/// A recording that cannot be read, written or replayed; what() is one sentence.
struct recording_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The operating system cannot store the recording, for example on a full disk.
struct write_error : recording_error {
    using recording_error::recording_error;
};

/// Throws write_error for a full disk, recording_error for a wrong path. `error`: errno.
[[noreturn]] void cannot_write(const std::string& file, int error);

/// Kinds of events in a recording. The numbers are the file format's (doc/recording.md).
enum class kind : std::uint8_t {
    // From outside: the replay repeats the event at the same time.
    inspect_bar = 1,
    config_read = 2,
    config_write = 3,
    bar_read = 4,
    bar_write = 5,
    map = 6,
    unmap = 7,
    carry = 8,           ///< a carrier of host memory messages attaches or detaches
    answer = 9,          ///< to a `question`
    messages_room = 10,  ///< the carrier accepts messages again
    set_vector = 11,     ///< an interrupt vector is enabled or disabled
    reset = 12,
    detach = 13,
    control = 14,  ///< a control method that changes something
    typed = 15,    ///< text typed at a console
    end = 16,      ///< the platform ended normally
    join = 17,     ///< a host attaches to the function
    // From inside: accesses of the platform to its hosts, which the replay compares.
    has_read = 32,
    has_written = 33,
    question = 34,      ///< a read of host memory by message
    post = 35,          ///< a write of host memory by message
    raised = 36,        ///< an interrupt
    access_ended = 37,  ///< of a BAR access that its target has deferred
};
constexpr kind first_from_inside = kind::has_read;
inline bool from_outside(kind type) {
    return type < first_from_inside;
}
/// Name for messages: "BAR read", "DMA read". Empty for an unknown kind.
std::string_view to_string(kind type);

/// One event of a recording. Fields that its kind does not use are zero.
struct event {
    /// Largest event in bytes. A transfer of the vfio-user protocol and a line of the control
    /// socket are limited to 4 MiB.
    static constexpr std::size_t largest = 8 << 20;

    kind type{};
    bool flag = false;           ///< result of the call, or whether it enables
    std::uint32_t function = 0;  ///< index in the manifest's list of functions or consoles
    std::uint32_t index = 0;     ///< BAR, vector, access rights of a map, or number of a question
    std::uint64_t time = 0;      ///< simulated, ps
    std::uint64_t deltas = 0;    ///< delta cycle count: orders events of the same time
    std::uint64_t address = 0;   ///< offset in a BAR, address in host memory
    std::uint64_t size = 0;      ///< bytes
    std::uint64_t delay = 0;     ///< annotated by the access, ps
    std::vector<std::uint8_t> bytes = {};

    bool operator==(const event&) const = default;
    std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
};

/// Bytes of the platform as they are stored for comparison: more than `max_kept` are replaced by a
/// digest. Bytes from the host are stored whole, since a replay repeats them.
constexpr std::size_t max_kept = 64;
std::vector<std::uint8_t> kept(std::span<const std::uint8_t> bytes);

/// Access rights of a map, in event::index.
namespace access {
constexpr std::uint32_t readable = 1, writable = 2, has_bytes = 4;
}

/// Encodes events as bytes. Times and delta cycles are stored as differences: encode and decode in
/// order.
class encoder {
public:
    void encode(const event& e, std::vector<std::uint8_t>& out);
    /// The same without the event's bytes, of which there are `size`, and which must follow.
    void encode_head(const event& e, std::size_t size, std::vector<std::uint8_t>& out);

private:
    std::uint64_t time_ = 0, deltas_ = 0;
};
class decoder {
public:
    /// Decodes and removes the first event of `input`; nothing when `input` ends inside the event.
    /// Throws recording_error for data that no encoder writes.
    std::optional<event> decode(std::span<const std::uint8_t>& input);

private:
    std::uint64_t time_ = 0, deltas_ = 0;
};

}  // namespace trn::recording

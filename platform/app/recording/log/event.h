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

/// A recording that cannot be read, written or replayed, in one sentence.
struct recording_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The operating system does not take what is recorded, such as on a full disk: no mistake of the
/// user's.
struct write_error : recording_error {
    using recording_error::recording_error;
};

/// Throws write_error when there is no room, recording_error when the place is wrong. `error` is an
/// errno.
[[noreturn]] void cannot_write(const std::string& file, int error);

/// What a recording consists of. The numbers are the file format's (doc/recording.md).
enum class kind : std::uint8_t {
    // From outside: the replay does it again, at the same time.
    look_at_bar = 1,
    config_read = 2,
    config_write = 3,
    bar_read = 4,
    bar_write = 5,
    map = 6,
    unmap = 7,
    carry = 8,           ///< somebody answers questions about host memory, or no longer does
    answer = 9,          ///< to a question
    messages_room = 10,  ///< the carrier takes questions again
    set_vector = 11,     ///< an interrupt vector is enabled or disabled
    reset = 12,
    detach = 13,
    control = 14,  ///< a control method that changes something
    typed = 15,    ///< at a console
    end = 16,      ///< the platform ended in order
    // From inside: what the platform does to its host; the replay compares it.
    has_read = 32,
    has_written = 33,
    question = 34,  ///< a read of host memory by message
    post = 35,      ///< a write of host memory by message
    raised = 36,    ///< an interrupt
};
constexpr kind first_from_inside = kind::has_read;
inline bool from_outside(kind what) {
    return what < first_from_inside;
}
/// "BAR read", "DMA read": for people. Empty when there is no such kind.
std::string_view to_string(kind what);

/// One line of a recording. Fields that a kind does not use are zero.
struct event {
    /// What one event may carry: a transfer of the vfio-user protocol or a line of the control
    /// socket is at most 4 MiB.
    static constexpr std::size_t largest = 8 << 20;

    kind what{};
    bool flag = false;           ///< what the call answered, or whether it enables
    std::uint32_t function = 0;  ///< number in the manifest's list of functions, or of consoles
    std::uint32_t index = 0;     ///< BAR, vector, access rights of a map, number of a question
    std::uint64_t time = 0;      ///< simulated, ps
    std::uint64_t deltas = 0;    ///< delta cycles that had run: the place among equal times
    std::uint64_t address = 0;   ///< offset in a BAR, address in host memory
    std::uint64_t size = 0;      ///< bytes
    std::uint64_t delay = 0;     ///< annotated by the access, ps
    std::vector<std::uint8_t> bytes = {};

    bool operator==(const event&) const = default;
    std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
};

/// The platform's bytes as they are stored to be compared: those of more than `most_kept` leave a
/// digest. What comes from the host is stored whole: a replay needs it.
constexpr std::size_t most_kept = 64;
std::vector<std::uint8_t> kept(std::span<const std::uint8_t> bytes);

/// Access rights of a map, in event::index.
namespace access {
constexpr std::uint32_t readable = 1, writable = 2, has_bytes = 4;
}

/// Events one after the other in bytes. Times and delta cycles are stored as differences: encode
/// and decode in order.
class encoder {
public:
    void encode(const event& e, std::vector<std::uint8_t>& to);

private:
    std::uint64_t time_ = 0, deltas_ = 0;
};
class decoder {
public:
    /// Takes one event from the front of `from`; nothing when `from` ends before the event does.
    /// Throws recording_error for what no encoder writes.
    std::optional<event> decode(std::span<const std::uint8_t>& from);

private:
    std::uint64_t time_ = 0, deltas_ = 0;
};

}  // namespace trn::recording

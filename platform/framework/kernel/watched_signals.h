// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trn {

/// A value that waveforms can show. Its function is called before simulated time advances, and only
/// while a waveform file shows the signal; it must have no side effects.
struct watched_signal {
    using number = std::function<std::uint64_t()>;
    /// Writes the value as 32-bit words, the least significant first.
    using words = std::function<void(std::span<std::uint32_t>)>;
    using real = std::function<double()>;
    static constexpr unsigned max_width = 8192;

    std::string path;  ///< scopes and a name separated by dots: "chip0.nc0.SEMAPHORE_READ_3"
    unsigned width;    ///< bits, 1 to max_width; a `number` has at most 64
    std::variant<number, words, real> value;
    std::vector<std::string> states = {};  ///< names of the values 0, 1, ...; empty: a number

    static watched_signal of_number(std::string path, unsigned width, number value) {
        return {std::move(path), width, std::move(value)};
    }
};

/// Receives the signals of a module, for waveforms and `list signals`. Names are those inside the
/// module; dots make scopes: "queue3.pending".
class signal_list {
public:
    /// At most 64 bits.
    void number(std::string name, unsigned width, watched_signal::number value) {
        all.push_back(watched_signal::of_number(std::move(name), width, std::move(value)));
    }
    void words(std::string name, unsigned width, watched_signal::words value) {
        all.push_back({std::move(name), width, std::move(value)});
    }
    /// A state machine, whose values 0, 1, ... have names; white space becomes '_'.
    void state(std::string name, std::vector<std::string> names, watched_signal::number value) {
        auto& added =
            all.emplace_back(watched_signal::of_number(std::move(name), 1, std::move(value)));
        while (added.width < 64 && names.size() > std::uint64_t{1} << added.width) ++added.width;
        for (auto& each : names) std::replace(each.begin(), each.end(), ' ', '_');
        added.states = std::move(names);
    }
    void real(std::string name, watched_signal::real value) {
        all.push_back({std::move(name), 64, std::move(value)});
    }
    /// The module writes events of this name inside it to the trace: "engine3" for
    /// trace::event("chip0.udma0.engine3", ...); "" for those of its own name.
    void transactions(std::string name) { tracks.push_back(std::move(name)); }

    std::vector<watched_signal> all;
    std::vector<std::string> tracks;
};

/// Interface of a module with state that waveforms can show, besides its registers and lines. It is
/// called when a user names or lists signals, after elaboration.
class publishes_signals {
public:
    virtual void publish_signals(signal_list& out) const = 0;

protected:
    ~publishes_signals() = default;
};

}  // namespace trn

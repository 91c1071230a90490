// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// Text of what is not known.
inline constexpr const char* not_known = "n/a";

/// Physical cores that software uses as one (logical NeuronCore configuration): 2 on Trainium2 and
/// Trainium3 unless NEURON_LOGICAL_NC_CONFIG says 1; otherwise 1.
unsigned cores_of_logical_core(const device& d);
/// Whether the device has logical cores.
bool has_logical_cores(const device& d);
unsigned logical_cores(const device& d);
/// Number of its first logical core in the instance; devices count as for first_core().
unsigned first_logical_core(const instance& machine, const device& d);

/// "ready", "booting", "resetting", "gone"; a ready device with a fault is "unhealthy".
std::string status_text(const device& d);
/// "hbm,link_intraserver"; "": none, or not known.
std::string faulty_text(const device& d);
/// "3-5"; "" for 0 numbers.
std::string range_text(unsigned first, unsigned count);
/// "96 GB", of 2^30 bytes, as neuron-ls writes it.
std::string gigabytes_text(const known<std::uint64_t>& bytes);
/// "12, 3, 4"
std::string list_text(const std::vector<unsigned>& numbers);
/// "0.0B", "256.0KB", "17.5GB", as neuron-top writes it.
std::string bytes_text(std::uint64_t bytes);
/// The text in one line of a terminal: names from outside neither control it nor begin a line.
std::string line_text(std::string_view text);
/// line_text() of at most `columns` columns; a cut text ends with "...".
std::string cut(const std::string& text, std::size_t columns);
/// Number of columns: of code points.
std::size_t columns_of(std::string_view text);

/// Numbers in the instance of logical cores of the device that the process holds. Nothing if they
/// are not known.
std::optional<std::vector<unsigned>> held_cores(const process& p, const instance& machine,
                                                const device& d);
/// Nothing of no values.
known<std::uint64_t> sum_of(const named_values& values);

/// Programs that only look at devices, which process lists leave out.
bool is_tool(const process& p);

/// Work between two states of the same machine.
class interval {
public:
    /// `before` may be null: since the start of the platform's time.
    interval(const machine_state* before, const machine_state& now);
    /// Seconds of the clock of busy times; 0: no time has passed, or it is not known.
    double seconds() const { return seconds_; }
    /// Busy part of the interval in percent, 0 to 100. Nothing if it is not known.
    known<double> utilisation(const instance& machine, const device& d, const core& c) const;
    /// Operations per second.
    known<double> flops(const instance& machine, const device& d, const core& c) const;
    /// The core in the earlier state; null if there is none.
    const core* before(const instance& machine, const device& d, const core& c) const;
    const device* before(const instance& machine, const device& d) const;
    const process* before(const instance& machine, const process& p) const;

private:
    const instance* before(const instance& machine) const;
    known<double> share(std::uint64_t busy, known<std::uint64_t> earlier) const;

    const machine_state* const before_;
    double seconds_ = 0;
};

}  // namespace trn::telemetry

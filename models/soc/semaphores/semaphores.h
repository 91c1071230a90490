// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/initiator.h"
#include "platform/framework/registers/register_bank.h"

namespace trn {

/// 256 events and 256 semaphores, accessed through the five windows of contract 3.3. Part of the
/// NeuronCore or TOP_SP that owns it. An element of a window is a 32-bit word; a burst may contain
/// several. Values are signed and wrap around; a wrap is reported as misuse.
class semaphores {
public:
    static constexpr unsigned count = 256;
    static constexpr std::uint64_t size = 0x2000;  ///< size of all windows

    explicit semaphores(const sc_core::sc_object& owner,
                        const sc_core::sc_time& latency = sc_core::SC_ZERO_TIME);

    void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_access(tlm::tlm_generic_payload& payload) { return regs_.debug_access(payload); }

    std::int32_t value(unsigned index) const;
    void set(unsigned index, std::int32_t value);
    void add(unsigned index, std::int64_t amount);
    std::uint32_t event(unsigned index) const;
    void set_event(unsigned index, std::uint32_t value);
    void reset() { regs_.reset(); }

    /// Notified at each change, for the next delta cycle: what a process sees does not depend on
    /// the order of processes. A process that waits for a value must read it again.
    const sc_core::sc_event& changed() const { return changed_; }
    /// The initiator and the operation of the last change of a semaphore or event.
    struct poster {
        trace::operation operation = 0;
        initiator::kind kind = initiator::kind::tool;

        /// "engine" (of a NeuronCore), "host", "firmware" or "dma".
        std::string_view name() const;
    };
    /// Starts recording for poster_of().
    void note_posters() { posters_.resize(count); }
    poster poster_of(unsigned index) const { return posters_.empty() ? poster{} : posters_[index]; }
    /// Sets a function that is called immediately at each change.
    void on_change(std::function<void()> callback) { on_change_ = std::move(callback); }

private:
    void event_changed(unsigned index);
    void note_poster(unsigned index);

    const sc_core::sc_object& owner_;
    register_bank regs_;
    sc_core::sc_event changed_{"changed"};
    std::function<void()> on_change_;
    std::vector<poster> posters_;  // empty: not recorded
};

}  // namespace trn

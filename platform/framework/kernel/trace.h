// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>
#include <vector>

#include "platform/framework/kernel/trace_record.h"

/// The event trace of a run: what happened, where, at which simulated time. Two runs of the same
/// board, firmware, scenario and seed write the same bytes. While tracing is off an event costs one
/// test of a flag, if it is written like this:
///
///     if (trace::on()) trace::event(name(), "doorbell", {{"queue", queue}, {"tail", tail}});
///
/// Events of one operation (a copy, a request to firmware) carry its number, from the host's
/// submission to the completion that the host sees: doc/timeline.md.
namespace trn::trace {

namespace detail {
inline bool on = false;
inline operation current = 0;
}  // namespace detail
inline bool on() {
    return detail::on;
}

/// A number that no operation has had; 0 while tracing is off.
operation new_operation();
/// The operation for which the code that runs now was called: the events it reports are that
/// operation's. A call of b_transport hands it on; a model that defers work (an engine
/// its descriptors, a queue its entries) keeps it and says so again with on_behalf_of.
inline operation current_operation() {
    return detail::current;
}
/// The same where an operation begins unless one has begun: at a doorbell.
operation current_or_new_operation();

/// Names the operation for as long as it lives: around code that does not wait.
class on_behalf_of {
public:
    explicit on_behalf_of(operation which) : before_(std::exchange(detail::current, which)) {}
    ~on_behalf_of() { detail::current = before_; }
    on_behalf_of(const on_behalf_of&) = delete;
    on_behalf_of& operator=(const on_behalf_of&) = delete;

private:
    const operation before_;
};

/// Writes the trace to `path`: for Perfetto when it ends in ".perfetto-trace", else as text, one
/// line per event: time in ps, module, event, name=value... No path: only the digest of the text is
/// computed. A write that fails later ends the trace: failure() has the reason.
/// \throws std::system_error when the file cannot be written
void open(const std::string& path);
/// Whether the trace is drawn by a viewer, which also shows names that do not come from the
/// platform but from files beside its firmware. The text trace is the same with and without those.
bool for_viewer();
/// Why the trace ends before the run does, in a sentence with its file; empty: it does not.
const std::string& failure();
/// The modules that are shown as processes, with all that is in them: chips. The rest of the board
/// is one more.
void set_processes(std::vector<std::string> modules);
/// CRC-64 (ECMA-182) of the bytes of the text trace so far; 0 of another, and of none.
std::uint64_t digest();
/// Makes the trace of this process, made by fork(), a file of its own that begins with what was
/// traced so far. flush() must have been called before the fork.
void continue_in(const std::string& path);
/// Writes out what is still in this process.
void flush();
/// Completes the file. Safe when no trace is open; happens by itself at a normal exit.
void close();

position where();
/// Simulated time goes back: the trace goes on behind `from`, in tracks of its own.
void go_on_behind(const position& from);

/// Something happened in `module` now, plus `delay` (the annotated delay of a b_transport).
void event(std::string_view module, std::string_view what, fields with = {},
           const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);
/// Something that took time: from `start` for `duration`. Written when it is reported.
void span(std::string_view module, std::string_view what, const sc_core::sc_time& start,
          const sc_core::sc_time& duration, fields with = {});

/// Something that takes time and whose end is not known: the event that begins it and the one that
/// ends it. Several may be under way in a module.
struct slice {
    std::uint32_t track = 0;  ///< which one it is drawn on; 0: it has not begun
    operation of = 0;
};
slice begin(std::string_view module, std::string_view what, fields with = {},
            const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);
/// Nothing, when it has not begun.
void end(slice& which, std::string_view module, std::string_view what, fields with = {},
         const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);

}  // namespace trn::trace

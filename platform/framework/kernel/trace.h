// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>
#include <vector>

#include "platform/framework/kernel/trace_record.h"

/// The event trace of a run: event, module and simulated time. Runs with the same board, firmware,
/// scenario and seed write the same bytes. When written as follows, an event costs only the test
/// of a flag while tracing is off:
///
///     if (trace::on()) trace::event(name(), "doorbell", {{"queue", queue}, {"tail", tail}});
///
/// Events of one operation (a copy, a request to firmware) have its number, from the host's
/// submission to the completion that the host sees: doc/timeline.md.
namespace trn::trace {

namespace detail {
inline bool on = false;
inline operation current = 0;
}  // namespace detail
inline bool on() {
    return detail::on;
}

/// A new operation number; 0 while tracing is off.
operation new_operation();
/// The operation of the code that runs now; events get its number. A call of b_transport passes it
/// on. A model that defers work (a DMA engine, a queue) must store it, and set it again with
/// on_behalf_of.
inline operation current_operation() {
    return detail::current;
}
/// Like current_operation(), but starts a new operation if there is none; for doorbells.
operation current_or_new_operation();

/// Sets the current operation during its lifetime, around code that does not wait.
class on_behalf_of {
public:
    explicit on_behalf_of(operation number) : before_(std::exchange(detail::current, number)) {}
    ~on_behalf_of() { detail::current = before_; }
    on_behalf_of(const on_behalf_of&) = delete;
    on_behalf_of& operator=(const on_behalf_of&) = delete;

private:
    const operation before_;
};

/// Starts writing the trace to `path`: in Perfetto's format when it ends in ".perfetto-trace", else
/// as text with one line per event: time in ps, module, event, name=value... With an empty path,
/// only the digest of the text is computed. A later write error ends the trace; failure() returns
/// the reason. \p with_digest: computes this digest beside any format. \throws std::system_error
/// when the file cannot be created
void open(const std::string& path, bool with_digest = false);
/// Whether the trace is for a viewer. Such a trace also contains names from ELF files beside the
/// firmware images; the text trace does not depend on them.
bool for_viewer();
/// The reason why the trace is incomplete, with its file; "" when it is complete.
const std::string& failure();
/// Sets the modules that are shown as processes with everything inside them: chips. The rest of the
/// board is one more process.
void set_processes(std::vector<std::string> modules);
/// CRC-64 (ECMA-182) of the text trace so far; 0 without a trace, and for other formats unless
/// open() was asked for it.
std::uint64_t digest();
/// Continues the trace of a process made by fork() in its own file, which begins with a copy of the
/// trace so far. Precondition: flush() was called before the fork.
void continue_in(const std::string& path);
/// Writes buffered events to the file.
void flush();
/// Completes the file; also called at a normal exit. Does nothing without an open trace.
void close();

position current_position();
/// Simulated time goes back: later events follow the position `last`, in tracks of their own.
void resume_after(const position& last);

/// Records an event in `module` at the current time plus `delay` (the annotated delay of a
/// b_transport).
void event(std::string_view module, std::string_view name, fields values = {},
           const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);
/// Records an event only in a trace for a viewer: its digest does not contain the event.
void event_for_viewer(std::string_view module, std::string_view name,
                      const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);
/// Records an activity with known begin and duration.
void span(std::string_view module, std::string_view name, const sc_core::sc_time& start,
          const sc_core::sc_time& duration, fields values = {});

/// An activity whose end is not known when it begins; recorded as a begin and an end event. A
/// module may have several at the same time.
struct slice {
    std::uint32_t track = 0;  ///< track on which it is drawn; 0: it has not begun
    trace::operation operation = 0;
};
slice begin(std::string_view module, std::string_view name, fields values = {},
            const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);
/// Records the end; does nothing if the slice has not begun.
void end(slice& activity, std::string_view module, std::string_view name, fields values = {},
         const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);

}  // namespace trn::trace

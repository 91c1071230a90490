// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/trace.h"

#include <memory>
#include <utility>
#include <vector>

#include "platform/framework/kernel/perfetto_writer.h"
#include "platform/framework/kernel/text_writer.h"
#include "platform/framework/kernel/trace_append.h"
#include "platform/framework/kernel/trace_observer.h"
#include "platform/framework/log.h"

namespace trn::trace {
namespace {

std::unique_ptr<writer> sink;
std::unique_ptr<writer> sum;  // of a sink without a digest, when one is wanted
std::string failed;
position now;  // its digest is computed by the writer

std::uint32_t write_to_sink(const record& r) {
    const auto track = sink->write(r);
    if (!sink->file().failure().empty()) close();
    return track;
}

std::uint32_t write_to_files(const record& r) {
    if (!sink) return 0;
    if (sum) sum->write(r);
    return write_to_sink(r);
}

/// Passes events to the files and to an observer. A slice has a track of its own in each of them.
class observation {
public:
    explicit observation(observer& added) : observer_(&added) {}

    std::uint32_t write(const record& r) {
        if (r.type != record::kind::end) {
            const tracks added{write_to_files(r), observer_->observe(r)};
            return r.type == record::kind::begin ? keep(added) : 0;
        }
        auto ends = r;
        if (r.track < first) {
            write_to_files(r);
            ends.track = 0;
            return observer_->observe(ends);
        }
        const auto number = r.track - first;
        ends.track = open_[number].in_file;
        write_to_files(ends);
        ends.track = open_[number].observed;
        observer_->observe(ends);
        unused_.push_back(number);
        return 0;
    }

private:
    struct tracks {
        std::uint32_t in_file, observed;
    };
    /// Slices that began before the observation have lower numbers.
    static constexpr std::uint32_t first = 1u << 31;

    std::uint32_t keep(const tracks& added) {
        if (unused_.empty()) {
            open_.push_back(added);
            return first + static_cast<std::uint32_t>(open_.size() - 1);
        }
        const auto number = unused_.back();
        unused_.pop_back();
        open_[number] = added;
        return first + number;
    }

    observer* observer_;
    std::vector<tracks> open_;
    std::vector<std::uint32_t> unused_;
};

std::unique_ptr<observation> observed;

std::uint32_t write(const record& r) {
    return observed ? observed->write(r) : write_to_files(r);
}

}  // namespace

void open(const std::string& path, bool with_digest) {
    close();
    failed.clear();
    now = {};
    sink = path.ends_with(".perfetto-trace") ? make_perfetto_writer(path) : make_text_writer(path);
    if (with_digest && sink->for_viewer()) sum = make_text_writer({});
    detail::on = true;
}

void append_to(const std::string& path) {
    close();
    failed.clear();
    sink = make_text_writer(path, streamed_file::mode::append);
    detail::on = true;
}

void observe(observer* added) {
    observed = added != nullptr ? std::make_unique<observation>(*added) : nullptr;
    detail::on = sink || observed;
}

bool for_viewer() {
    return sink && sink->for_viewer();
}

const std::string& failure() {
    return failed;
}

void set_processes(std::vector<std::string> modules) {
    if (sink) sink->set_processes(std::move(modules));
}

std::uint64_t digest() {
    if (sum) return sum->digest();
    return sink ? sink->digest() : 0;
}

position current_position() {
    return {digest(), now.operations, now.returns};
}

void resume_after(const position& last) {
    now = last;
    ++now.returns;
    if (sink) sink->resume_after(now);
}

operation new_operation() {
    return on() ? ++now.operations : 0;
}

operation current_or_new_operation() {
    return detail::current != 0 ? detail::current : new_operation();
}

void flush() {
    if (sink) sink->file().flush();
}

void continue_in(const std::string& path) {
    if (sink) sink->file().continue_in(path);
}

void close() {
    detail::on = observed != nullptr;
    if (!sink) return;
    sink->finish();
    sink->file().flush();
    failed = sink->file().failure();
    sink.reset();
    sum.reset();
    if (!failed.empty()) log::error("trace", "{}", failed);
}

void event(std::string_view module, std::string_view name, fields values,
           const sc_core::sc_time& delay) {
    write({record::kind::event, sc_core::sc_time_stamp() + delay, sc_core::SC_ZERO_TIME, module,
           name, detail::current, values});
}

void event_for_viewer(std::string_view module, std::string_view name,
                      const sc_core::sc_time& delay) {
    if (!for_viewer()) return;
    const fields none;
    write_to_sink({record::kind::event, sc_core::sc_time_stamp() + delay, sc_core::SC_ZERO_TIME,
                   module, name, detail::current, none});
}

void span(std::string_view module, std::string_view name, const sc_core::sc_time& start,
          const sc_core::sc_time& duration, fields values) {
    write({record::kind::span, start, duration, module, name, detail::current, values});
}

slice begin(std::string_view module, std::string_view name, fields values,
            const sc_core::sc_time& delay) {
    const record r{record::kind::begin,
                   sc_core::sc_time_stamp() + delay,
                   sc_core::SC_ZERO_TIME,
                   module,
                   name,
                   detail::current,
                   values};
    return {write(r) + 1, detail::current};
}

void end(slice& activity, std::string_view module, std::string_view name, fields values,
         const sc_core::sc_time& delay) {
    const auto ended = std::exchange(activity, {});
    if (ended.track == 0) return;
    write({record::kind::end, sc_core::sc_time_stamp() + delay, sc_core::SC_ZERO_TIME, module, name,
           ended.operation, values, ended.track - 1});
}

}  // namespace trn::trace

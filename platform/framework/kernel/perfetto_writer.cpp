// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/perfetto_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "platform/framework/config/mix_in.h"
#include "platform/framework/kernel/protobuf.h"
#include "platform/framework/kernel/time_value.h"

namespace trn::trace {

namespace {

// Numbers of fields and values of Perfetto's trace format, from its public documentation
// (https://perfetto.dev/docs/reference/trace-packet-proto and .../synthetic-track-event).
namespace trace_file {
constexpr unsigned packet = 1;
}
namespace packet {
constexpr unsigned timestamp = 8, sequence_id = 10, track_event = 11, sequence_flags = 13,
                   track_descriptor = 60;
constexpr unsigned state_cleared = 1;  // value of sequence_flags
}  // namespace packet
namespace descriptor {
constexpr unsigned uuid = 1, name = 2, process = 3, parent_uuid = 5;
constexpr unsigned process_pid = 1, process_name = 6;
}  // namespace descriptor
namespace track_event {
constexpr unsigned debug_annotation = 4, type = 9, track_uuid = 11, name = 23, flow_id = 47;
constexpr unsigned slice_begin = 1, slice_end = 2, instant = 3;  // values of type
}  // namespace track_event
namespace annotation {
constexpr unsigned unsigned_value = 3, signed_value = 4, text = 6, pointer = 7, name = 10;
}

constexpr unsigned sequence = 1;  // all packets belong to one sequence
constexpr std::string_view everything_else = "board";

std::uint64_t nanoseconds(const sc_core::sc_time& time) {
    return in_picoseconds(time) / 1000;
}

struct text_hash : std::hash<std::string_view> {
    using is_transparent = void;
};

/// A row of the timeline: a module. Overlapping slices go to several tracks of the same name.
struct row {
    std::string process, name;
    std::vector<std::uint32_t> tracks = {};
};

/// Viewers show only the name of a slice: that of a wait contains its reason.
std::string name_of_wait(const record& r) {
    std::string name(r.name);
    for (const auto& f : r.values)
        if (const auto* text = std::get_if<std::string_view>(&f.value); text && f.name == "reason")
            name += fmt::format(" {}", *text);
    return name;
}

class perfetto_writer final : public writer {
public:
    explicit perfetto_writer(const std::string& path) : writer(path) {}

    void set_processes(std::vector<std::string>&& modules) override {
        processes_ = std::move(modules);
    }
    /// Simulated time went back: later events get new tracks.
    void resume_after(const position& last) override {
        returns_ = last.returns;
        announced_.clear();
        for (auto& each : tracks_) announce(each);
    }
    std::uint32_t write(const record& r) override {
        using kind = record::kind;
        const auto start = nanoseconds(r.start);
        if (r.type == kind::event) {
            write_event(r, track_event::instant, first_track(row_of(r.module)), start);
            return 0;
        }
        if (r.type == kind::end) {
            write_event(r, track_event::instant, tracks_[r.track].uuid, start);
            write_end(r.track, start);
            return 0;
        }
        const bool whole = r.type == kind::span;
        const auto track = free_track(row_of(r.module), start);
        write_event(r, track_event::slice_begin, tracks_[track].uuid, start);
        if (whole) write_end(track, nanoseconds(r.start + r.duration));
        return track;
    }

private:
    struct track {
        const row* owner;
        std::size_t number;  // number within its row
        std::uint64_t uuid = 0;
        std::uint64_t free_at = 0;  // end of the last slice, ns
    };
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    row& row_of(std::string_view module) {
        const auto known = rows_.find(module);
        if (known != rows_.end()) return known->second;
        row made{std::string(everything_else), std::string(module)};
        for (const auto& process : processes_)
            if (module.size() > process.size() && module.starts_with(process) &&
                module[process.size()] == '.')
                made = {process, std::string(module.substr(process.size() + 1))};
        return rows_.emplace(module, std::move(made)).first->second;
    }

    std::uint64_t first_track(row& owner) {
        if (owner.tracks.empty()) add_track(owner);
        return tracks_[owner.tracks.front()].uuid;
    }
    std::uint32_t free_track(row& owner, std::uint64_t start) {
        const auto found = std::ranges::find_if(
            owner.tracks, [&](std::uint32_t n) { return tracks_[n].free_at <= start; });
        const auto track = found != owner.tracks.end() ? *found : add_track(owner);
        tracks_[track].free_at = never;
        return track;
    }
    std::uint32_t add_track(row& owner) {
        const auto number = static_cast<std::uint32_t>(tracks_.size());
        announce(tracks_.emplace_back(track{&owner, owner.tracks.size()}));
        owner.tracks.push_back(number);
        return number;
    }
    void announce(track& added) {
        const auto parent = process(added.owner->process);
        added.uuid =
            uuid(fmt::format("{}.{}.{}", added.owner->process, added.owner->name, added.number));
        message_.clear();
        message_.number(descriptor::uuid, added.uuid);
        message_.number(descriptor::parent_uuid, parent);
        message_.bytes(descriptor::name, added.owner->name);
        write_descriptor();
    }

    /// Id of the process's own track, the parent of its other tracks.
    std::uint64_t process(const std::string& name) {
        const auto id = uuid(name);
        if (std::ranges::find(announced_, id) != announced_.end()) return id;
        announced_.push_back(id);
        // pid 0 is reserved for the idle task.
        const auto index = std::ranges::find(processes_, name) - processes_.begin();
        const auto pid = static_cast<std::uint64_t>(index) + 1 + returns_ * (processes_.size() + 1);
        part_.clear();
        part_.number(descriptor::process_pid, pid);
        part_.bytes(descriptor::process_name,
                    returns_ == 0 ? name : fmt::format("{}, restored {}", name, returns_));
        message_.clear();
        message_.number(descriptor::uuid, id);
        message_.bytes(descriptor::process, part_.view());
        write_descriptor();
        return id;
    }

    /// Gives the same ids in every run.
    std::uint64_t uuid(std::string_view name) const {
        return mix_in(first_mix ^ returns_, name) | 1;  // 0 means no track
    }

    void annotate(const field& f) {
        part_.clear();
        part_.bytes(annotation::name, f.name);
        if (const auto* text = std::get_if<std::string_view>(&f.value))
            part_.bytes(annotation::text, *text);
        else if (const auto* value = std::get_if<std::int64_t>(&f.value))
            part_.number(annotation::signed_value, static_cast<std::uint64_t>(*value));
        else
            part_.number(f.hex ? annotation::pointer : annotation::unsigned_value,
                         std::get<std::uint64_t>(f.value));
        message_.bytes(track_event::debug_annotation, part_.view());
    }

    void write_event(const record& r, unsigned type, std::uint64_t track, std::uint64_t time) {
        message_.clear();
        message_.number(track_event::type, type);
        message_.number(track_event::track_uuid, track);
        if (r.name == "wait")
            message_.bytes(track_event::name, name_of_wait(r));
        else
            message_.bytes(track_event::name, r.name);
        for (const field& f : r.values) annotate(f);
        if (r.operation != 0) {
            annotate({"operation", r.operation});
            message_.fixed64(track_event::flow_id, r.operation);
        }
        write_packet(time);
    }

    void write_end(std::uint32_t track, std::uint64_t time) {
        tracks_[track].free_at = time;
        message_.clear();
        message_.number(track_event::type, track_event::slice_end);
        message_.number(track_event::track_uuid, tracks_[track].uuid);
        write_packet(time);
    }

    void write_packet(std::uint64_t time) {
        packet_.clear();
        packet_.number(packet::timestamp, time);
        packet_.bytes(packet::track_event, message_.view());
        write_rest();
    }
    void write_descriptor() {
        packet_.clear();
        packet_.bytes(packet::track_descriptor, message_.view());
        if (!std::exchange(begun_, true))
            packet_.number(packet::sequence_flags, packet::state_cleared);
        write_rest();
    }
    void write_rest() {
        packet_.number(packet::sequence_id, sequence);
        whole_.clear();
        whole_.bytes(trace_file::packet, packet_.view());
        put(whole_.view());
    }

    std::vector<std::string> processes_;
    std::unordered_map<std::string, row, text_hash, std::equal_to<>> rows_;
    std::vector<track> tracks_;
    std::vector<std::uint64_t> announced_;  // ids of processes whose tracks were written
    std::uint64_t returns_ = 0;
    bool begun_ = false;
    // Buffers of nested messages, from the outermost to the innermost.
    protobuf whole_, packet_, message_, part_;
};

}  // namespace

std::unique_ptr<writer> make_perfetto_writer(const std::string& path) {
    return std::make_unique<perfetto_writer>(path);
}

}  // namespace trn::trace

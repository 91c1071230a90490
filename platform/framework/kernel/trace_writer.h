// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "platform/framework/kernel/streamed_file.h"
#include "platform/framework/kernel/trace.h"

namespace trn::trace {

struct record {
    enum class kind : std::uint8_t { event, span, begin, end };

    kind what_it_is;
    sc_core::sc_time start;
    sc_core::sc_time duration;  ///< of a span
    std::string_view module, what;
    operation of;
    fields with;
    std::uint32_t track = 0;  ///< of what ends
};

/// A file of records, in some format.
class writer {
public:
    /// No path: nothing is written. \throws std::system_error
    explicit writer(const std::string& path) : file_(path) {}
    virtual ~writer() = default;
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    /// Which track, of what begins; else 0.
    virtual std::uint32_t write(const record& r) = 0;
    /// Completes the file; no record follows.
    virtual void finish() {}
    virtual std::uint64_t digest() const { return 0; }
    virtual bool for_viewer() const { return true; }
    virtual void go_on_behind(const position&) {}
    virtual void set_processes(std::vector<std::string>&&) {}
    streamed_file& file() { return file_; }

protected:
    void put(std::string_view bytes) { file_.put(bytes); }

private:
    streamed_file file_;
};

std::unique_ptr<writer> make_perfetto_writer(const std::string& path);

}  // namespace trn::trace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/kernel/streamed_file.h"
#include "platform/framework/kernel/trace_record.h"

namespace trn::trace {

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

}  // namespace trn::trace

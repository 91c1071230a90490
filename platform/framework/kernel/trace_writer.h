// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/kernel/streamed_file.h"
#include "platform/framework/kernel/trace_record.h"

namespace trn::trace {

/// Writes records to a file; base class of the formats.
class writer {
public:
    /// "": writes nothing. \throws std::system_error
    explicit writer(const std::string& path,
                    streamed_file::mode opening = streamed_file::mode::replace)
        : file_(path, opening) {}
    virtual ~writer() = default;
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    /// Returns the track of a slice that begins; 0 for other records.
    virtual std::uint32_t write(const record& r) = 0;
    /// Completes the file; no record may follow.
    virtual void finish() {}
    virtual std::uint64_t digest() const { return 0; }
    virtual bool for_viewer() const { return true; }
    virtual void resume_after(const position&) {}
    virtual void set_processes(std::vector<std::string>&&) {}
    streamed_file& file() { return file_; }

protected:
    void put(std::string_view bytes) { file_.put(bytes); }

private:
    streamed_file file_;
};

}  // namespace trn::trace

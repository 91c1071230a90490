// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/waves/wave_writer.h"

namespace trn {

/// Writes GTKWave's Fast Signal Trace by fstapi, which Debian's package verilator contains in
/// source. It keeps up to 128 MiB of changes in memory, and the file is complete after finish()
/// only.
class fst_writer final : public wave_writer {
public:
    /// \throws std::system_error, file_error (check_not_read())
    explicit fst_writer(const std::string& path);
    ~fst_writer() override;

    void declare(std::span<const wave_variable> all) override;
    void time(std::uint64_t picoseconds) override;
    void number(std::size_t variable, std::uint64_t value) override;
    void words(std::size_t variable, std::span<const std::uint32_t> value) override;
    void real(std::size_t variable, double value) override;
    void text(std::size_t variable, std::string_view value) override;
    void unknown(std::size_t variable) override;
    void finish() override;
    const std::string& failure() const override { return failure_; }

private:
    struct row {
        std::uint32_t handle;
        unsigned width;
    };
    void declare(const wave_variable& added, const std::string& name);
    void close();
    void note_failure();

    const std::string path_;
    void* file_ = nullptr;
    std::vector<row> rows_;
    std::string digits_, failure_;
};

}  // namespace trn

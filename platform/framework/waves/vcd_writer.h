// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/framework/kernel/streamed_file.h"
#include "platform/framework/waves/wave_writer.h"

namespace trn {

/// Writes a value change dump (IEEE 1364-2001, 18). States and texts are string variables, an
/// extension that GTKWave and Surfer read.
class vcd_writer final : public wave_writer {
public:
    /// \throws std::system_error
    explicit vcd_writer(const std::string& path) : file_(path) {}

    void declare(std::span<const wave_variable> all) override;
    void begin(section s) override;
    void end_section() override { file_.put("$end\n"); }
    void time(std::uint64_t picoseconds) override;
    void number(std::size_t variable, std::uint64_t value) override;
    void words(std::size_t variable, std::span<const std::uint32_t> value) override;
    void real(std::size_t variable, double value) override;
    void text(std::size_t variable, std::string_view value) override;
    void unknown(std::size_t variable) override;
    void finish() override { file_.flush(); }
    const std::string& failure() const override { return file_.failure(); }

private:
    struct row {
        std::string id;
        unsigned width;
        std::vector<std::string> states;
    };
    streamed_file file_;
    std::vector<row> rows_;
};

}  // namespace trn

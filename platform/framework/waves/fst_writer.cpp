// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/waves/fst_writer.h"

#include <fmt/format.h>
#include <fstapi.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "platform/framework/config/file.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/waves/fst_io.h"
#include "platform/framework/waves/scopes.h"

namespace trn {

namespace {

fstVarType type_of(wave_variable::kind type) {
    switch (type) {
    case wave_variable::kind::real:
        return FST_VT_VCD_REAL;
    case wave_variable::kind::text:
        return FST_VT_GEN_STRING;
    case wave_variable::kind::bits:
    case wave_variable::kind::state:
        break;
    }
    return FST_VT_VCD_WIRE;
}

/// The writer seeks, and reads what it has written.
void refuse_pipe(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode)))
        throw file_error(fmt::format("cannot write {}: FST needs a file, not a pipe", path));
}

}  // namespace

fst_writer::fst_writer(const std::string& path) : path_(path) {
    check_not_read(path);
    refuse_pipe(path);
    trn_fst_clear_failure();
    errno = 0;
    file_ = fstWriterCreate(path.c_str(), 1);
    if (file_ == nullptr)
        throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), path);
    fstWriterSetDate(file_, "");  // the same run, the same bytes
    fstWriterSetVersion(file_, "trnvp");
    fstWriterSetTimescale(file_, -12);
    fstWriterSetPackType(file_, FST_WR_PT_LZ4);
}

fst_writer::~fst_writer() {
    close();
}

void fst_writer::declare(std::span<const wave_variable> all) {
    scopes inside(
        [this](const auto& name) {
            fstWriterSetScope(file_, FST_ST_VCD_MODULE, name.c_str(), nullptr);
        },
        [this] { fstWriterSetUpscope(file_); });
    for (const auto& each : all) declare(each, inside.enter(each.path));
    inside.leave_all();
}

void fst_writer::declare(const wave_variable& added, const std::string& name) {
    if (!added.states.empty()) {
        std::vector<std::string> values;
        for (std::size_t state = 0; state < added.states.size(); ++state)
            values.push_back(fmt::format("{:0{}b}", state, added.width));
        std::vector<const char*> names, texts;
        for (const auto& state : added.states) names.push_back(state.c_str());
        for (const auto& value : values) texts.push_back(value.c_str());
        const auto table =
            fstWriterCreateEnumTable(file_, name.c_str(), static_cast<std::uint32_t>(names.size()),
                                     added.width, names.data(), texts.data());
        fstWriterEmitEnumTableRef(file_, table);
    }
    rows_.push_back({fstWriterCreateVar(file_, type_of(added.type), FST_VD_IMPLICIT, added.width,
                                        name.c_str(), 0),
                     added.width});
}

void fst_writer::time(std::uint64_t picoseconds) {
    fstWriterEmitTimeChange(file_, picoseconds);
    if (trn_fst_failure() != 0) note_failure();
}

void fst_writer::number(std::size_t variable, std::uint64_t value) {
    const auto& row = rows_[variable];
    fstWriterEmitValueChange64(file_, row.handle, row.width, value);
}

/// fstWriterEmitValueChangeVec32() reads beyond the end of a whole number of words.
void fst_writer::words(std::size_t variable, std::span<const std::uint32_t> value) {
    const auto& row = rows_[variable];
    digits_.resize(row.width);
    for (unsigned bit = 0; bit < row.width; ++bit)
        digits_[row.width - 1 - bit] = (value[bit / 32] >> bit % 32 & 1) != 0 ? '1' : '0';
    fstWriterEmitValueChange(file_, row.handle, digits_.c_str());
}

void fst_writer::real(std::size_t variable, double value) {
    fstWriterEmitValueChange(file_, rows_[variable].handle, &value);
}

void fst_writer::text(std::size_t variable, std::string_view value) {
    fstWriterEmitVariableLengthValueChange(file_, rows_[variable].handle, value.data(),
                                           static_cast<std::uint32_t>(value.size()));
}

void fst_writer::unknown(std::size_t variable) {
    digits_.assign(rows_[variable].width, 'x');
    fstWriterEmitValueChange(file_, rows_[variable].handle, digits_.c_str());
}

void fst_writer::finish() {
    close();
}

void fst_writer::close() {
    if (file_ == nullptr) return;
    fstWriterClose(std::exchange(file_, nullptr));
    if (failure_.empty() && trn_fst_failure() != 0) note_failure();
}

/// The calls that follow do nothing: fstapi accepts a null file.
void fst_writer::note_failure() {
    failure_ = fmt::format("{} ends before {}: {}", path_, to_text(sc_core::sc_time_stamp()),
                           std::strerror(trn_fst_failure()));
    if (file_ != nullptr) fstWriterClose(std::exchange(file_, nullptr));
}

}  // namespace trn

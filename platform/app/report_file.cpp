// SPDX-License-Identifier: Apache-2.0
#include "platform/app/report_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/file.h"
#include "platform/framework/output.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& file, std::string_view why) {
    diagnostic wrong;
    wrong.code = mistake::unreadable_file;
    wrong.file = file.string();
    wrong.message = fmt::format("cannot write this file: {}", why);
    throw config_error(wrong);
}

fs::path folder_of(const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

bool is_regular_or_new(const fs::path& file) {
    std::error_code unreadable;
    const auto found = fs::status(file, unreadable);
    return !fs::exists(found) || fs::is_regular_file(found);
}

/// Returns 0, or the errno of the failure.
int write_all(const fs::path& file, std::string_view text) {
    std::FILE* const out = std::fopen(file.c_str(), "wb");
    if (out == nullptr) return errno;
    errno = 0;
    const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
    const int why = errno;
    const bool closed = std::fclose(out) == 0;
    if (written && closed) return 0;
    return !written && why != 0 ? why : errno != 0 ? errno : EIO;
}

}  // namespace

void check_report(const fs::path& file) {
    if (file.empty()) return;
    check_not_read(file);
    std::error_code unreadable;
    if (fs::is_directory(file, unreadable)) refuse(file, std::strerror(EISDIR));
    const auto checked = is_regular_or_new(file) ? folder_of(file) : file;
    if (access(checked.c_str(), W_OK) != 0) refuse(file, std::strerror(errno));
}

void write_report(const fs::path& file, std::string_view text) {
    const bool direct = !is_regular_or_new(file);
    auto first = file;
    if (!direct) first += fmt::format(".{}.part", getpid());
    int why = write_all(first, text);
    if (!direct && why == 0 && std::rename(first.c_str(), file.c_str()) != 0) why = errno;
    if (why == 0) return;
    if (!direct) std::remove(first.c_str());
    throw output_error(
        fmt::format("{}: cannot write this file: {}", file.string(), std::strerror(why)));
}

void finish_standard_output() {
    if (std::ferror(stderr) != 0) throw output_error("cannot write to standard error");
    const bool lost_before = std::ferror(stdout) != 0;
    errno = 0;
    if (std::fflush(stdout) == 0 && !lost_before) return;
    const int why = lost_output != 0 ? lost_output : errno;
    throw output_error(fmt::format("cannot write to standard output{}{}", why != 0 ? ": " : "",
                                   why != 0 ? std::strerror(why) : ""));
}

}  // namespace trn

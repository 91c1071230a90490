// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/design.h"

#include <fmt/format.h>

#include <cstdarg>
#include <cstdio>
#include <utility>

#include "platform/framework/rtl/verilator_hooks.h"

namespace trn::rtl {

namespace {

constexpr std::size_t longest_line = 4096;

/// The message of "[12] %Error: uart.v:7: Assertion failed in uart: text", which is "%Fatal:" of
/// $fatal since Verilator 5.0; nothing of other lines.
std::string_view error_of(std::string_view line) {
    for (const std::string_view mark : {"%Error: ", "%Fatal: "})
        if (const auto place = line.find(mark); place != line.npos)
            return line.substr(place + mark.size());
    return {};
}

[[noreturn]] void stop(const char* reason, const char* file, int line) {
    std::string error = display_scope::taken_error();
    if (!error.empty()) throw design_stopped(error);
    if (file == nullptr || *file == '\0') throw design_stopped(reason);
    throw design_stopped(fmt::format("{}:{}: {}", file, line, reason));
}

}  // namespace

display_scope* display_scope::current_ = nullptr;

display_scope::display_scope(sink receiver, void* owner)
    : receiver_(receiver), owner_(owner), outer_(std::exchange(current_, this)) {}

display_scope::~display_scope() {
    if (!line_.empty()) receiver_(owner_, line_);
    current_ = outer_;
}

void display_scope::print(std::string_view text) {
    if (current_ == nullptr) return;
    std::string& line = current_->line_;
    for (const char c : text) {
        if (c != '\n' && line.size() < longest_line) {
            line += c;
            continue;
        }
        if (const auto error = error_of(line); !error.empty())
            current_->error_ = error;
        else
            current_->receiver_(current_->owner_, line);
        line.clear();
        if (c != '\n') line += c;
    }
}

std::string display_scope::taken_error() {
    return current_ == nullptr ? std::string() : std::exchange(current_->error_, {});
}

}  // namespace trn::rtl

// Verilator's names.

int trn_rtl_print(const char* format, ...) {
    std::string text(256, '\0');
    for (;;) {
        va_list arguments;
        va_start(arguments, format);
        const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
        va_end(arguments);
        if (length < 0) return length;
        const auto size = static_cast<std::size_t>(length);
        if (size < text.size()) {
            trn::rtl::display_scope::print({text.data(), size});
            return length;
        }
        text.resize(size + 1);
    }
}

void vl_finish(const char* file, int line, const char* scope);
void vl_stop(const char* file, int line, const char* scope);
void vl_fatal(const char* file, int line, const char* scope, const char* message);
void vl_warn(const char* file, int line, const char* scope, const char* message);

void vl_finish(const char* file, int line, const char*) {
    trn::rtl::stop("$finish", file, line);
}
void vl_stop(const char* file, int line, const char*) {
    trn::rtl::stop("$stop", file, line);
}
void vl_fatal(const char* file, int line, const char*, const char* message) {
    trn::rtl::stop(message, file, line);
}
void vl_warn(const char* file, int line, const char*, const char* message) {
    trn::rtl::display_scope::print(fmt::format("{}:{}: {}\n", file, line, message));
}

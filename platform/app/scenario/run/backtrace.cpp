// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/backtrace.h"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "platform/framework/sanitized.h"

namespace trn::scenario {

namespace {

int report_pipe = -1;

/// Formats a line in a signal handler: allocates no memory.
class line {
public:
    void add(const char* text) {
        while (*text != '\0' && size_ < text_.size()) text_[size_++] = *text++;
    }
    void add(std::uint64_t value) {
        const auto [end, error] =
            std::to_chars(text_.data() + size_, text_.data() + text_.size(), value);
        if (error == std::errc()) size_ = static_cast<std::size_t>(end - text_.data());
    }
    void send(int file) const {
        [[maybe_unused]] const auto sent = write(file, text_.data(), size_);
    }

private:
    std::array<char, 2048> text_;
    std::size_t size_ = 0;
};

void die(int signal) {
    std::array<void*, 48> frames;
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    line message;
    message.add("\n{\"backtrace\":[");  // the process may have been writing another message
    for (int i = 1; i < count; ++i) {   // frame 0 is this function
        if (i > 1) message.add(",");
        message.add(reinterpret_cast<std::uint64_t>(frames[static_cast<std::size_t>(i)]));
    }
    message.add("]}\n");
    message.send(report_pipe);
    raise(signal);  // SA_RESETHAND: the default action now kills the process
}

std::string demangled(const char* name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    return status == 0 ? text.get() : name;
}

}  // namespace

void install_crash_report(int pipe) {
    if (sanitized) return;
    report_pipe = pipe;
    std::array<void*, 1> first;
    backtrace(first.data(), 1);  // loads libgcc, which a signal handler must not do
    // The handler needs a stack of its own in case of a stack overflow.
    static std::array<unsigned char, 64 * 1024> space;
    const stack_t stack{.ss_sp = space.data(), .ss_flags = 0, .ss_size = space.size()};
    sigaltstack(&stack, nullptr);
    struct sigaction act {};
    act.sa_handler = die;
    act.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
    for (const int each : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
        sigaction(each, &act, nullptr);
}

std::string source_of(const std::vector<std::uint64_t>& addresses) {
    static const Dwfl_Callbacks callbacks{.find_elf = dwfl_linux_proc_find_elf,
                                          .find_debuginfo = dwfl_standard_find_debuginfo,
                                          .section_address = nullptr,
                                          .debuginfo_path = nullptr};
    const std::unique_ptr<Dwfl, decltype(&dwfl_end)> all(dwfl_begin(&callbacks), &dwfl_end);
    if (!all || dwfl_linux_proc_report(all.get(), getpid()) != 0) return {};
    dwfl_report_end(all.get(), nullptr, nullptr);
    std::string text;
    for (const auto address : addresses) {
        const auto call = address - 1;  // a return address is the address after the call
        Dwfl_Module* const module = dwfl_addrmodule(all.get(), call);
        const char* const name = module ? dwfl_module_addrname(module, call) : nullptr;
        const auto function = name ? demangled(name) : "?";
        text += fmt::format("    {:#x} {}", address, function);
        Dwfl_Line* const found = module ? dwfl_module_getsrc(module, call) : nullptr;
        int number = 0;
        if (const char* const file =
                found ? dwfl_lineinfo(found, nullptr, &number, nullptr, nullptr, nullptr) : nullptr)
            text +=
                fmt::format(" ({}:{})", std::filesystem::path(file).filename().string(), number);
        text += '\n';
        if (function.starts_with("trn::scenario::execute(")) break;  // its callers are the program
    }
    return text;
}

}  // namespace trn::scenario

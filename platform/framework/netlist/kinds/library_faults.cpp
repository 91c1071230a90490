// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/library_faults.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>

#include "platform/framework/sanitized.h"
#include "platform/framework/terminal_text.h"

namespace trn {

namespace {

/// Where a library is in memory. A signal handler reads it, so that the list has a constant place.
struct loaded_range {
    std::uintptr_t first = 0, last = 0, base = 0;
    std::string name, path;  // as they are printed
};
std::array<loaded_range, 64> ranges;  // further libraries are not named
std::size_t count = 0;
std::string loading;  // the library whose constructors run; its place is not known yet

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
std::array<struct sigaction, crashes.size()> earlier_actions;

/// A line that is formatted without memory of the heap.
class line {
public:
    line& operator<<(std::string_view text) {
        const auto length = std::min(text.size(), text_.size() - size_);
        std::copy_n(text.begin(), length, text_.begin() + size_);
        size_ += length;
        return *this;
    }
    line& operator<<(std::uintptr_t address) {
        std::array<char, 16> digits;
        const auto end = std::to_chars(digits.begin(), digits.end(), address, 16).ptr;
        return *this << "0x" << std::string_view(digits.begin(), end);
    }
    void print() {
        *this << "\n";
        [[maybe_unused]] const auto written = write(STDERR_FILENO, text_.data(), size_);
    }

private:
    std::array<char, 1024> text_;
    std::size_t size_ = 0;
};

struct place {
    const loaded_range* library = nullptr;  // nullptr: no library is on the stack
    std::uintptr_t offset = 0;
};

/// The innermost code of a library on the stack of the caller.
place find_place() {
    std::array<void*, 64> frames;
    const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 0; i < depth; ++i) {
        const auto pc = reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]);
        for (std::size_t n = 0; n < count; ++n)
            if (ranges[n].first <= pc && pc <= ranges[n].last)
                return {&ranges[n], pc - ranges[n].base};
    }
    return {};
}

void add_place(line& text, const place& found) {
    if (sc_core::sc_is_running()) {
        const auto process = sc_core::sc_get_current_process_handle();
        if (process.valid()) text << ", process " << process.name();
    }
    text << "; addr2line -Cfie '" << found.library->path << "' " << found.offset;
}

std::string_view name_of(int signal) {
    constexpr std::array<std::string_view, crashes.size()> names{"SIGSEGV", "SIGBUS", "SIGILL",
                                                                 "SIGFPE", "SIGABRT"};
    const auto found = std::ranges::find(crashes, signal);
    return found == crashes.end() ? "a signal"
                                  : names[static_cast<std::size_t>(found - crashes.begin())];
}

void report_crash(int signal) {
    const auto found = find_place();
    if (found.library != nullptr) {
        line text;
        text << "trnvp: " << found.library->name << " crashes (" << name_of(signal) << ")";
        add_place(text, found);
        text.print();
    } else if (!loading.empty()) {
        line text;
        text << "trnvp: " << loading << " crashes (" << name_of(signal) << ") while it is loaded";
        text.print();
    }
    for (std::size_t i = 0; i < crashes.size(); ++i)
        if (crashes[i] == signal) sigaction(signal, &earlier_actions[i], nullptr);
    raise(signal);  // is delivered after this handler, as if it had not been there
}

void report_exit() {
    const auto found = find_place();
    if (found.library == nullptr && loading.empty()) return;
    line text;
    text << "trnvp: " << (found.library != nullptr ? found.library->name : loading)
         << " ends the program by exit()";
    if (found.library != nullptr) add_place(text, found);
    std::fflush(nullptr);
    text.print();
    _exit(1);
}

void install() {
    static bool is_installed = false;
    if (std::exchange(is_installed, true)) return;
    std::array<void*, 1> first;
    backtrace(first.data(), 1);  // loads libgcc, which a signal handler must not do
    // A stack of its own in case of a stack overflow.
    static std::array<unsigned char, 64 * 1024> space;
    stack_t present{};
    if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) != 0) {
        const stack_t stack{.ss_sp = space.data(), .ss_flags = 0, .ss_size = space.size()};
        sigaltstack(&stack, nullptr);
    }
    struct sigaction act {};
    act.sa_handler = report_crash;
    act.sa_flags = SA_ONSTACK;
    for (std::size_t i = 0; i < crashes.size(); ++i)
        sigaction(crashes[i], &act, &earlier_actions[i]);
    std::atexit(report_exit);
}

int add_range(dl_phdr_info* object, std::size_t, void* data) {
    auto& range = *static_cast<loaded_range*>(data);
    std::uintptr_t first = ~std::uintptr_t{0}, last = 0;
    for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
        const auto& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
        first = std::min(first, begin);
        last = std::max(last, begin + segment.p_memsz - 1);
    }
    if (range.first < first || range.first > last) return 0;
    range.first = first;
    range.last = last;
    range.base = object->dlpi_addr;
    return 1;
}

}  // namespace

void report_faults_of(const std::filesystem::path& library, const void* inside) {
    if (sanitized || count == ranges.size()) return;
    loaded_range& range = ranges[count];
    range.first = reinterpret_cast<std::uintptr_t>(inside);
    if (dl_iterate_phdr(add_range, &range) == 0) return;
    const auto is_known = [&](const loaded_range& each) { return each.base == range.base; };
    if (std::any_of(ranges.begin(), ranges.begin() + count, is_known)) return;
    range.name = terminal_text(library.filename().string());
    range.path = terminal_text(library.string());
    ++count;
    install();
}

library_loading::library_loading(const std::filesystem::path& library) {
    if (sanitized) return;
    loading = terminal_text(library.filename().string());
    install();
}

library_loading::~library_loading() {
    loading.clear();
}

}  // namespace trn

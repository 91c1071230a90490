// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "platform/framework/kernel/introspection.h"

namespace trn {

/// Stores the last 64 KiB of output of each console, and passes new output to listeners. Construct
/// it after the modules.
class console_log {
public:
    static constexpr std::size_t kept = 64 * 1024;  ///< bytes per console

    using listener = std::function<void(std::string_view module, std::string_view text)>;

    console_log();
    console_log(const console_log&) = delete;
    console_log& operator=(const console_log&) = delete;

    void listen(listener added) { listeners_.push_back(std::move(added)); }

    struct output {
        console* device = nullptr;
        std::string tail;
        std::uint64_t printed = 0;  ///< total number of bytes printed; `tail` ends there
        /// The last 64 KiB; `tail` may have more.
        std::string_view recent() const {
            return std::string_view(tail).substr(tail.size() - std::min(tail.size(), kept));
        }
    };
    /// Null when there is no such console.
    const output* find(std::string_view module) const;
    const std::map<std::string, output, std::less<>>& all() const { return outputs_; }

    /// Types at an existing console; returns the number of accepted bytes. All input uses this
    /// function.
    std::size_t type(std::string_view module, std::string_view text);
    using typing =
        std::function<void(std::string_view module, std::string_view text, std::size_t taken)>;
    /// Sets the listener for all typed input.
    void on_typing(typing listener) { listener_ = std::move(listener); }

    /// A condition: `module` has printed `text` at or after byte `since`. Repeated calls are cheap.
    std::function<bool()> printed(std::string_view module, std::string text,
                                  std::uint64_t since) const;

private:
    void take(const std::string& module, output& output, std::string_view text);

    std::map<std::string, output, std::less<>> outputs_;
    std::vector<listener> listeners_;
    typing listener_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace trn {

/// Opens and closes the scopes of variables that are declared in the order of their paths.
class scopes {
public:
    scopes(std::function<void(const std::string& name)> open, std::function<void()> close)
        : open_(std::move(open)), close_(std::move(close)) {}

    /// Enters the scopes of `path`, and returns its last part.
    std::string enter(const std::string& path) {
        const auto parts = parts_of(path);
        std::size_t common = 0;
        while (common < inside_.size() && common + 1 < parts.size() &&
               inside_[common] == parts[common])
            ++common;
        for (; inside_.size() > common; inside_.pop_back()) close_();
        for (; inside_.size() + 1 < parts.size(); inside_.push_back(parts[inside_.size()]))
            open_(parts[inside_.size()]);
        return parts.back();
    }
    void leave_all() {
        for (; !inside_.empty(); inside_.pop_back()) close_();
    }

private:
    static std::vector<std::string> parts_of(const std::string& path) {
        std::vector<std::string> parts;
        std::istringstream text(path);
        for (std::string part; std::getline(text, part, '.');) parts.push_back(part);
        return parts;
    }

    std::function<void(const std::string&)> open_;
    std::function<void()> close_;
    std::vector<std::string> inside_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace trn::efa_objects {

/// Objects by number. Reuses numbers as late as possible, because software may still hold entries
/// with an old number.
template <class T>
class object_table {
public:
    /// Numbers from `first` on, at most `max` objects.
    explicit object_table(std::uint32_t max, std::uint32_t first = 0)
        : max_(max), first_(first), fresh_(first) {}

    /// Returns the object's number; nothing if the table is full.
    std::optional<std::uint32_t> add(T object) {
        std::uint32_t number = 0;
        if (fresh_ - first_ < max_) {
            number = fresh_++;
        } else if (!free_.empty()) {
            number = free_.front();
            free_.pop_front();
        } else {
            return std::nullopt;
        }
        objects_.emplace(number, std::move(object));
        return number;
    }
    T* find(std::uint32_t number) {
        const auto found = objects_.find(number);
        return found == objects_.end() ? nullptr : &found->second;
    }
    const T* find(std::uint32_t number) const {
        return const_cast<object_table*>(this)->find(number);
    }
    /// Precondition: there is an object with this number.
    void remove(std::uint32_t number) {
        objects_.erase(number);
        free_.push_back(number);
    }
    void clear() {
        objects_.clear();
        free_.clear();
        fresh_ = first_;
    }
    std::size_t size() const { return objects_.size(); }

private:
    std::uint32_t max_, first_, fresh_;  // fresh_: lowest number never used
    std::deque<std::uint32_t> free_;
    std::map<std::uint32_t, T> objects_;
};

}  // namespace trn::efa_objects

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace trn::scenario {

/// Objects that steps keep for later steps, such as opened cards: one of each type. Each file of
/// steps defines the types of its objects. The youngest object is destroyed first.
class kept_objects {
public:
    kept_objects() = default;
    ~kept_objects() {
        while (!objects_.empty()) objects_.pop_back();
    }
    kept_objects(const kept_objects&) = delete;
    kept_objects& operator=(const kept_objects&) = delete;

    /// The object of type T; null: none was made.
    template <class T>
    T* find() const {
        const auto found = std::ranges::find(objects_, std::type_index(typeid(T)), &entry::first);
        return found == objects_.end() ? nullptr : static_cast<T*>(found->second.get());
    }
    /// The object of type T. The first call makes it of `arguments`.
    template <class T, class... Arguments>
    T& get(Arguments&&... arguments) {
        if (auto* known = find<T>()) return *known;
        auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
        objects_.emplace_back(typeid(T), made);
        return *made;
    }

private:
    using entry = std::pair<std::type_index, std::shared_ptr<void>>;
    std::vector<entry> objects_;
};

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "platform/framework/config/document.h"
#include "sw-stubs/host/text/names.h"

/// Makes every enumeration of hosts/ that has names readable from YAML and the command line.
template <class E>
requires requires {
    trn::names_of<E>::list;
}
struct trn::config::choices<E> {
    static constexpr auto list = [] {
        std::array<choice<E>, names_of<E>::list.size()> all{};
        std::ranges::transform(names_of<E>::list, all.begin(), [](const named<E>& known) {
            return choice<E>{known.name, known.value};
        });
        return all;
    }();
};

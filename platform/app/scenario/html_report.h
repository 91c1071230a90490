// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>

#include "platform/app/scenario/runner.h"

namespace trn::scenario {

/// One page of HTML that needs nothing else: a table of the scenarios that can be filtered, of each
/// its steps over simulated time and the end of its log, and the boards' pictures. Whatever a guest
/// printed or a file says is text in it. `pictures`: SVG by board.
std::string to_html(std::span<const scenario> all, std::span<const outcome> how,
                    const std::map<std::string, std::string>& pictures);

}  // namespace trn::scenario

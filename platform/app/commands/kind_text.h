// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

/// Parameters, ports, statistics and events of a kind, for a terminal.
std::string kind_text(const kind& k);
/// The same as a chapter in Markdown.
std::string kind_markdown(const kind& k);

}  // namespace trn

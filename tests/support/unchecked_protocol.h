// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/tlm/base_protocol.h"

namespace trn::test {

/// For a test that breaks rules of the base protocol: declared before its modules.
struct unchecked_protocol {
    unchecked_protocol() { base_protocol::set_policy(base_protocol::policy::off); }
};

}  // namespace trn::test

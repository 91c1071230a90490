// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trn::test {

/// The least that QEMU's vfio-user-pci takes for a device, one client, blocking system calls: every
/// register of BAR0 reads the same. What a register access costs at best on this protocol. Returns
/// when the client has gone.
void serve_trivial_device(int listening_socket);

/// Bound and listening, so that a client can come at once; -1 when it cannot be made.
int listen_on(const std::string& path);

}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trn::test {

/// The minimal device that QEMU's vfio-user-pci accepts: one client, blocking system calls, every
/// register of BAR0 reads the same. Measures the lowest cost of a register access. Returns
/// when the client has gone.
void serve_trivial_device(int listening_socket);

/// A bound, listening socket, so that a client can connect at once; -1 on failure.
int listen_on(const std::string& path);

}  // namespace trn::test

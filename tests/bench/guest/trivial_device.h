// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trn::test {

/// The minimal device accepted by QEMU's vfio-user-pci, to measure the lowest cost of a register
/// access: one client, blocking system calls, all registers of BAR0 read the same value. Returns
/// when the client disconnects.
void serve_trivial_device(int listening_socket);

/// Returns a bound and listening socket, so that a client can connect at once; -1 on failure.
int listen_on(const std::string& path);

}  // namespace trn::test

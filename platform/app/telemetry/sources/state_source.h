// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// A source cannot be opened or has ended; what() is the message for the user.
struct source_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A wrong choice of the user: exit status 2.
struct source_usage : source_error {
    using source_error::source_error;
};

enum class detail {
    devices,  ///< devices, links and processes: what trn-ls prints
    all,      ///< also of each core
};

class state_source {
public:
    virtual ~state_source() = default;
    /// The state now; of a recording its next one. \throws source_error when there is none: the
    /// platform has ended, the driver was unloaded, the recording is over
    virtual machine_state read(detail wanted) = 0;
    /// Whether states come as fast as they are read: of a recording.
    virtual bool is_recorded() const { return false; }
    /// Folder /proc of the machine that has the devices; "": it is another machine, or was earlier.
    virtual std::string proc() const { return "/proc"; }
};

/// Where states come from, as options name it. At most one of connect, sysfs and file.
struct source_choice {
    std::string connect = {};     ///< folder of a platform's sockets, or its control address
    std::string token_file = {};  ///< of a remote control address
    std::string sysfs = {};       ///< root folder of a machine with the driver
    std::string file = {};        ///< recording: a state per line
    std::string time = {};  ///< time in it: "12.5" (s since its start), "10 ms" (simulated), ""
};

/// Without a choice: the driver's sysfs of this machine, if it has one.
/// \throws source_error, source_usage
std::unique_ptr<state_source> open_source(const source_choice& choice);

std::unique_ptr<state_source> control_source(const std::string& address,
                                             const std::string& token_file);
std::unique_ptr<state_source> sysfs_source(const std::string& root);
std::unique_ptr<state_source> file_source(const std::string& file, const std::string& time);

/// Milliseconds of Unix time.
std::uint64_t wall_ms_now();

}  // namespace trn::telemetry

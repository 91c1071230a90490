// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <tlm>

#include "models/pcie/pcie/config_space.h"
#include "models/pcie/pcie/tlp.h"
#include "platform/framework/tlm/link_end.h"

namespace trn::pcie {

/// Advanced error reporting of one function or port: records an error in the device status and in
/// the capability, and returns the message to send if software has enabled one (PCIe 6.0 6.2.5,
/// 7.8.4). Errors are bits of PCI_ERR_UNC_* and PCI_ERR_COR_*.
class error_reporting {
public:
    explicit error_reporting(config_space& space) : space_(space) {}

    /// Adds the capability, all of it sticky. `pcie`: offset of the PCI Express capability; `root`:
    /// includes the registers of root ports.
    void add_capability(std::uint16_t pcie, bool root = false);
    std::uint16_t offset() const { return aer_; }

    /// `request`: the request that this receiver does not execute, for the header log; nullptr for
    /// errors without a header. A nonfatal error of a non-posted request is advisory, because its
    /// completion reports it (6.2.3.2.4.1).
    std::optional<error_class> uncorrectable(std::uint32_t error,
                                             const tlm::tlm_generic_payload* request = nullptr);
    std::optional<error_class> correctable(std::uint32_t error);
    std::optional<error_class> correctable(link_error error);

private:
    std::uint16_t control() const;
    void detected(std::uint16_t status_bits);
    void record(std::uint32_t error, const tlm::tlm_generic_payload* request);

    config_space& space_;
    std::uint16_t pcie_ = 0, aer_ = 0;
};

/// The header of a request as the header log presents it (2.2.4, 7.8.4.8), without flit mode: four
/// words, unused ones zero. A payload of several packets is shown as one; configuration requests
/// are of type 0, as functions receive them.
std::array<std::uint32_t, 4> header_of(const tlm::tlm_generic_payload& request);

}  // namespace trn::pcie

// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/error_reporting.h"

#include <linux/pci_regs.h>

#include <algorithm>
#include <bit>

namespace trn::pcie {

namespace {

constexpr std::uint32_t header_log_words = 4;

/// Whether the requester gets a completion.
bool non_posted(const tlm::tlm_generic_payload& request) {
    const auto* header = request.get_extension<tlp>();
    return request.is_read() || (header != nullptr && header->destination == tlp::space::config);
}

}  // namespace

void error_reporting::add_capability(std::uint16_t pcie, bool root) {
    constexpr std::uint32_t uncorrectable =
        PCI_ERR_UNC_DLP | PCI_ERR_UNC_SURPDN | PCI_ERR_UNC_POISON_TLP | PCI_ERR_UNC_FCP |
        PCI_ERR_UNC_COMP_TIME | PCI_ERR_UNC_COMP_ABORT | PCI_ERR_UNC_UNX_COMP |
        PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP | PCI_ERR_UNC_UNSUP | PCI_ERR_UNC_ACSV |
        PCI_ERR_UNC_INTN;
    constexpr std::uint32_t correctable = PCI_ERR_COR_RCVR | PCI_ERR_COR_BAD_TLP |
                                          PCI_ERR_COR_BAD_DLLP | PCI_ERR_COR_REP_ROLL |
                                          PCI_ERR_COR_REP_TIMER | PCI_ERR_COR_ADV_NFAT;
    constexpr std::uint32_t fatal = PCI_ERR_UNC_DLP | PCI_ERR_UNC_SURPDN | PCI_ERR_UNC_FCP |
                                    PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP | PCI_ERR_UNC_INTN;
    constexpr std::uint16_t length = 0x48;
    const std::uint16_t offset = space_.add_extended_capability(PCI_EXT_CAP_ID_ERR, 2, length);
    space_.define<std::uint32_t>(offset + PCI_ERR_UNCOR_STATUS, 0, 0, uncorrectable);
    space_.define<std::uint32_t>(offset + PCI_ERR_UNCOR_MASK, PCI_ERR_UNC_INTN, uncorrectable);
    space_.define<std::uint32_t>(offset + PCI_ERR_UNCOR_SEVER, fatal, uncorrectable);
    space_.define<std::uint32_t>(offset + PCI_ERR_COR_STATUS, 0, 0, correctable);
    space_.define<std::uint32_t>(offset + PCI_ERR_COR_MASK, PCI_ERR_COR_ADV_NFAT, correctable);
    if (root) {
        space_.define<std::uint32_t>(offset + PCI_ERR_ROOT_COMMAND, 0, 0x7);
        space_.define<std::uint32_t>(offset + PCI_ERR_ROOT_STATUS, 0, 0, 0x7f);
        // Source of the first correctable error.
        space_.define<std::uint16_t>(offset + PCI_ERR_ROOT_ERR_SRC, 0);
        // Source of the first uncorrectable error.
        space_.define<std::uint16_t>(offset + PCI_ERR_ROOT_ERR_SRC + 2, 0);
    }
    for (std::uint32_t word = 4; word < length; word += 4)
        space_.keep_over_reset(offset + word, ~std::uint32_t{0});
    pcie_ = pcie;
    aer_ = offset;
}

std::uint16_t error_reporting::control() const {
    return space_.get<std::uint16_t>(pcie_ + PCI_EXP_DEVCTL);
}

void error_reporting::detected(std::uint16_t status_bits) {
    space_.raise<std::uint16_t>(pcie_ + PCI_EXP_DEVSTA, status_bits);
}

std::optional<error_class> error_reporting::uncorrectable(std::uint32_t error,
                                                          const tlm::tlm_generic_payload* request) {
    const bool fatal = (space_.get<std::uint32_t>(aer_ + PCI_ERR_UNCOR_SEVER) & error) != 0;
    const bool unsupported = error == PCI_ERR_UNC_UNSUP;
    if (unsupported) detected(PCI_EXP_DEVSTA_URD);
    if (!fatal && request != nullptr && non_posted(*request)) {
        detected(PCI_EXP_DEVSTA_CED);
        space_.raise<std::uint32_t>(aer_ + PCI_ERR_COR_STATUS, PCI_ERR_COR_ADV_NFAT);
        if ((space_.get<std::uint32_t>(aer_ + PCI_ERR_COR_MASK) & PCI_ERR_COR_ADV_NFAT) != 0)
            return std::nullopt;
        record(error, request);
        if (unsupported && (control() & PCI_EXP_DEVCTL_URRE) == 0) return std::nullopt;
        if ((control() & PCI_EXP_DEVCTL_CERE) == 0) return std::nullopt;
        return error_class::correctable;
    }
    detected(fatal ? PCI_EXP_DEVSTA_FED : PCI_EXP_DEVSTA_NFED);
    record(error, request);
    if ((space_.get<std::uint32_t>(aer_ + PCI_ERR_UNCOR_MASK) & error) != 0) return std::nullopt;
    if ((space_.get<std::uint16_t>(PCI_COMMAND) & PCI_COMMAND_SERR) != 0) {
        space_.raise<std::uint16_t>(PCI_STATUS, PCI_STATUS_SIG_SYSTEM_ERROR);
    } else {
        if (unsupported && (control() & PCI_EXP_DEVCTL_URRE) == 0) return std::nullopt;
        if ((control() & (fatal ? PCI_EXP_DEVCTL_FERE : PCI_EXP_DEVCTL_NFERE)) == 0)
            return std::nullopt;
    }
    return fatal ? error_class::fatal : error_class::nonfatal;
}

/// Sets the status bit. The first unmasked error also sets First Error Pointer and Header Log,
/// which belong to it until software clears its status bit (6.2.4.2).
void error_reporting::record(std::uint32_t error, const tlm::tlm_generic_payload* request) {
    const auto recorded = space_.get<std::uint32_t>(aer_ + PCI_ERR_UNCOR_STATUS);
    const auto capabilities = space_.get<std::uint32_t>(aer_ + PCI_ERR_CAP);
    const bool occupied = (recorded >> PCI_ERR_CAP_FEP(capabilities) & 1) != 0;
    const bool masked = (space_.get<std::uint32_t>(aer_ + PCI_ERR_UNCOR_MASK) & error) != 0;
    space_.set(aer_ + PCI_ERR_UNCOR_STATUS, recorded | error);
    if (masked || occupied) return;
    const auto pointer = static_cast<std::uint32_t>(std::countr_zero(error));
    space_.set(aer_ + PCI_ERR_CAP, (capabilities & ~PCI_ERR_CAP_FEP(~0u)) | pointer);
    std::array<std::uint32_t, header_log_words> header{};
    if (request != nullptr) header = header_of(*request);
    for (std::uint32_t i = 0; i < header.size(); ++i)
        space_.set(aer_ + PCI_ERR_HEADER_LOG + 4 * i, header[i]);
}

std::optional<error_class> error_reporting::correctable(std::uint32_t error) {
    detected(PCI_EXP_DEVSTA_CED);  // whether masked or not (7.5.3.5)
    space_.raise<std::uint32_t>(aer_ + PCI_ERR_COR_STATUS, error);
    const bool masked = (space_.get<std::uint32_t>(aer_ + PCI_ERR_COR_MASK) & error) != 0;
    if (masked || (control() & PCI_EXP_DEVCTL_CERE) == 0) return std::nullopt;
    return error_class::correctable;
}

std::optional<error_class> error_reporting::correctable(link_error error) {
    return correctable(error == link_error::bad_packet ? PCI_ERR_COR_BAD_TLP
                                                       : PCI_ERR_COR_REP_ROLL);
}

std::array<std::uint32_t, 4> header_of(const tlm::tlm_generic_payload& request) {
    const auto* found = request.get_extension<tlp>();
    const tlp& header = found != nullptr ? *found : tlp{};
    const bool configures = header.destination == tlp::space::config;
    const std::uint64_t address = request.get_address();
    const std::uint64_t length = std::max<std::uint64_t>(request.get_data_length(), 1);
    const std::uint64_t first = address & 3, last = (address + length - 1) & 3;
    const std::uint64_t words = (first + length + 3) / 4;
    constexpr std::uint32_t all_bytes = 0xf, max_words = 1024;  // a length of 0 is 1024 words
    auto first_enables = static_cast<std::uint32_t>(all_bytes << first & all_bytes);
    auto last_enables = static_cast<std::uint32_t>(all_bytes >> (3 - last));
    if (words == 1) {
        first_enables &= last_enables;
        last_enables = 0;
    }
    const bool wide = !configures && address >> 32 != 0;
    constexpr std::uint32_t four_words = 1u << 29, with_data = 1u << 30;
    constexpr std::uint32_t configuration_type_0 = 4u << 24;
    std::array<std::uint32_t, 4> log{};
    log[0] = (wide ? four_words : 0) | (request.is_write() ? with_data : 0) |
             (configures ? configuration_type_0 : 0) | (header.relaxed_ordering ? 1u << 13 : 0) |
             (header.no_snoop ? 1u << 12 : 0) | static_cast<std::uint32_t>(words % max_words);
    log[1] = std::uint32_t{header.requester} << 16 | last_enables << 4 | first_enables;
    const auto low = static_cast<std::uint32_t>(address) & ~3u;
    if (configures)
        log[2] = std::uint32_t{header.target} << 16 | (low & 0xffc);
    else if (wide)
        log[2] = static_cast<std::uint32_t>(address >> 32);
    else
        log[2] = low;
    if (wide) log[3] = low;
    return log;
}

}  // namespace trn::pcie

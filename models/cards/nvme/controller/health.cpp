// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/health.h"

#include <systemc>

#include "models/cards/nvme/controller/features.h"
#include "models/cards/nvme/controller/identify.h"

namespace trn::nvme {

namespace words = nvme_entry_regs;

namespace {

/// Thousands of 512-byte units, rounded up.
std::uint64_t data_units(std::uint64_t bytes) {
    return (bytes + 511'999) / 512'000;
}

}  // namespace

void health::note_error(const completion& result, const command& request) {
    const bool has_block = !request.is_admin() && request.opcode() != words::nvm::opcode_flush &&
                           request.opcode() != words::nvm::opcode_dataset_management;
    constexpr unsigned of_media = 2;  // status code type
    if (static_cast<unsigned>(result.outcome) >> 8 == of_media) ++media_errors;
    errors_.push_front({++failures_, result,
                        has_block ? request.words.get_wide(words::reg::block_lo) : 0,
                        request.words.get(words::reg::namespace_)});
    if (errors_.size() > max_error_entries) errors_.pop_back();
}

std::uint8_t health::warnings(const features& limits) const {
    constexpr std::uint8_t of_temperature = 2;
    const bool bad = temperature >= limits.hot() || temperature <= limits.cold();
    return bad ? of_temperature : 0;
}

std::vector<std::uint8_t> health::error_page() const {
    constexpr std::size_t size = 64;
    std::vector<std::uint8_t> page(max_error_entries * size);
    std::size_t offset = 0;
    for (const failure& each : errors_) {
        put(page, offset, each.number);
        put(page, offset + 8, each.result.queue);
        put(page, offset + 10, each.result.id);
        put(page, offset + 12,
            static_cast<std::uint16_t>(static_cast<unsigned>(each.result.outcome) << 1));
        put<std::uint16_t>(page, offset + 14, 0xffff);  // parameter location: not in the command
        put(page, offset + 16, each.block);
        put(page, offset + 24, each.name);
        offset += size;
    }
    return page;
}

std::vector<std::uint8_t> health::health_page(const features& limits) const {
    std::vector<std::uint8_t> page(512);
    page[0] = warnings(limits);
    put(page, 1, temperature);
    page[3] = 100;  // spare capacity in percent
    page[4] = 10;   // threshold of spare capacity, percent
    put(page, 32, data_units(bytes_read_));
    put(page, 48, data_units(bytes_written_));
    put(page, 64, reads_);
    put(page, 80, writes_);
    put(page, 112, power_cycles);
    const double seconds = sc_core::sc_time_stamp().to_seconds();
    put(page, 128, static_cast<std::uint64_t>(seconds / 3600));
    put(page, 144, unsafe_shutdowns);
    put(page, 160, media_errors);
    put(page, 176, failures_);
    return page;
}

std::vector<std::uint8_t> health::firmware_page() {
    std::vector<std::uint8_t> page(512);
    page[0] = 1;  // slot 1 is active
    put_text(page, 8, 8, firmware_revision);
    return page;
}

}  // namespace trn::nvme

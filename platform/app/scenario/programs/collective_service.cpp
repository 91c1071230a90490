// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/programs/collective_service.h"

#include <cstddef>
#include <numeric>
#include <vector>

#include "platform/app/host_options/collective_firmware.h"

namespace trn::scenario {

collective_group& collective_service::with_image(const std::string& image) {
    if (group_ && image_ == image) return *group_;
    const auto bytes = read_collective_firmware(image);
    if (group_) {
        group_->use_image(bytes);
    } else {
        std::vector<std::size_t> all(hosts_.chips().size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        group_.emplace(hosts_, all, bytes);
    }
    image_ = image;
    return *group_;
}

collective_service& collectives_of(scenario_context& ctx) {
    return ctx.kept.get<collective_service>(ctx.hosts);
}

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "platform/app/recording/log/event.h"
#include "platform/app/recording/log/manifest.h"

namespace trn::test {

/// One event of every type, ordered by time.
inline std::vector<recording::event> sample_events() {
    using namespace recording;
    const std::string call = R"({"method":"poke","params":{"value":1},"answer":{}})";
    std::vector<event> all{
        {.type = kind::inspect_bar, .index = 4, .size = std::uint64_t{1} << 38},
        {.type = kind::config_read, .address = 4, .size = 2, .bytes = {6, 1}},
        {.type = kind::config_write, .address = 4, .size = 1, .bytes = {6}},
        {.type = kind::bar_read,
         .flag = true,
         .address = 0x6c8'4000,
         .size = 4,
         .delay = 100'000,
         .bytes = {7, 0, 0, 0}},
        {.type = kind::bar_write, .flag = true, .index = 4, .size = 3, .bytes = {1, 2, 3}},
        {.type = kind::map, .flag = true, .index = 7, .address = 1 << 20, .size = 1 << 20},
        {.type = kind::unmap, .flag = true, .address = 1 << 20, .size = 1 << 20},
        {.type = kind::carry, .flag = true},
        {.type = kind::question, .flag = true, .index = 5, .address = 64, .size = 2},
        {.type = kind::answer, .index = 5, .bytes = {8, 9}},
        {.type = kind::messages_room},
        {.type = kind::set_vector, .flag = true, .index = 3},
        {.type = kind::has_read, .address = 0x1000, .size = 4, .bytes = {1, 2, 3, 4}},
        {.type = kind::has_written, .address = 0x1000, .size = 1, .bytes = {1}},
        {.type = kind::post, .flag = true, .address = 0x1000, .size = 1, .bytes = {1}},
        {.type = kind::raised, .index = 3},
        {.type = kind::reset},
        {.type = kind::control, .bytes = {call.begin(), call.end()}},
        {.type = kind::typed, .size = 2, .bytes = {'l', 's'}},
        {.type = kind::detach},
        {.type = kind::end},
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].time = i / 3 * 1'000'000'007;
        all[i].deltas = i * 200;
    }
    return all;
}

inline recording::manifest sample_manifest() {
    return {.version = "0.1.0",
            .board = "trn3-chip",
            .digest = "1f46edc37331a824",
            .file = "boards/trn3-chip.yaml",
            .set = {"recovery=true"},
            .firmware = "",
            .images = {{"flash.img", "firmware/0-flash.img"}},
            .disks = {{"./disk.img", "disks/0-disk.img"}},
            .contended = false,
            .time_policy = "free",
            .seed = ~std::uint64_t{0},
            .misuse = {"fail:TRN-DMA-003"},
            .misuse_allow = {"rule=TRN-MBX-004,reason=a test"},
            .hart = "check",
            .functions = {"host"},
            .consoles = {"chip.uart"}};
}

}  // namespace trn::test

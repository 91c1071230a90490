/* SPDX-License-Identifier: Apache-2.0 */
#include "generation.h"

#include <stddef.h>

#define KIB(n) (UINT64_C(n) << 10)
#define MIB(n) (UINT64_C(n) << 20)
#define GIB(n) (UINT64_C(n) << 30)
#define DIE_1 (UINT64_C(1) << 47)

/* Contract 3: four SENGs of 32 engines, the I/O of two dies. Trainium2's is the same (14). */
static const trn_map two_dies = {
    .cores = 8,
    .dies = 2,
    .top_sps = 16,
    .stacks = 4,
    .user_engines = 128,
    .engines = 132,
    .cores_per_host_engine = 2,
    .host_window = UINT64_C(1) << 46,
    .stack = {{{2, 0, 0x4000000000}, {2, DIE_1, 0x4000000000}}},
    .core = {{{2, 0x2000000000, 0x1000000000},
              {2, 0x6000000000, 0x1000000000},
              {2, DIE_1 + 0x2000000000, 0x1000000000},
              {2, DIE_1 + 0x6000000000, 0x1000000000}}},
    .core_engine = {{{32, 0x1002000000, MIB(1)},
                     {32, 0x5004000000, MIB(1)},
                     {32, DIE_1 + 0x1002000000, MIB(1)},
                     {32, DIE_1 + 0x5004000000, MIB(1)}}},
    .programmable = {{{{{2, 0x2000000000, 0x1000000000},
                        {2, 0x6000000000, 0x1000000000},
                        {2, DIE_1 + 0x2000000000, 0x1000000000},
                        {2, DIE_1 + 0x6000000000, 0x1000000000}}},
                      0x804000000},
                     {{{{10, 0x8280000000, GIB(1)}, {10, DIE_1 + 0x8280000000, GIB(1)}}}, MIB(4)},
                     {{{{2, 0, 0x4000000000}, {2, DIE_1, 0x4000000000}}}, 0},
                     {{{{2, 0x1200000000, 0x4000000000}, {2, DIE_1 + 0x1200000000, 0x4000000000}}},
                      0x34C0000}},
    .register_bar = {0, 0, 0},
    .register_bar_bytes = GIB(4),
    .engine = {{{32, 0x82000000, MIB(1)},
                {32, 0x94000000, MIB(1)},
                {32, 0xA2000000, MIB(1)},
                {32, 0xB4000000, MIB(1)},
                {2, 0x06800000, MIB(1)},
                {2, 0x46800000, MIB(1)}}},
    .engine_misc = {{{32, 0x82040000, MIB(1)},
                     {32, 0x94040000, MIB(1)},
                     {32, 0xA2040000, MIB(1)},
                     {32, 0xB4040000, MIB(1)},
                     {2, 0x06840000, MIB(1)},
                     {2, 0x46840000, MIB(1)}}},
    .engine_errors = {{{32, 0x8C000000, KIB(128)},
                       {32, 0x9C400000, KIB(128)},
                       {32, 0xAC000000, KIB(128)},
                       {32, 0xBC400000, KIB(128)}}},
    .core_sync = {{{8, 0xD2700000, MIB(64)}}},
    .top_sp_sync = {{{8, 0xF0000000, MIB(4)}, {8, 0xF2800000, MIB(4)}}}, /* 8: hardware 10 */
    .core_notifiers = {{{2, 0x06001000, KIB(1536)},
                        {2, 0x06401000, KIB(1536)},
                        {2, 0x46001000, KIB(1536)},
                        {2, 0x46401000, KIB(1536)}}},
    .top_sp_notifiers = {{{8, 0x06A00000, KIB(256)}, {8, 0x46A00000, KIB(256)}}},
    .misc_ram = 0x06C84000,
    .simulator_reset = 0x06300000,
    .window_slice = GIB(64),
    .windows_follow_bar4 = true,
    .reset_map = {{0, 1}, {8, 1}, {16, 1}},
    .scrub_engines = {4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31},
};

/* Contract 15.1 */
static const trn_map one_die = {
    .cores = 2,
    .dies = 1,
    .top_sps = 6,
    .stacks = 2,
    .user_engines = 32,
    .engines = 34,
    .cores_per_host_engine = 1,
    .host_window = UINT64_C(1) << 44,
    .stack = {{{2, 0, 0x1000000000}}},
    .core = {{{2, 0xFFFC0000000, MIB(64)}}},
    .core_engine = {{{16, 0xFFFF0000000, KIB(256)}, {16, 0xFFFF0700000, KIB(256)}}},
    .programmable = {{{{{2, 0xFFFC0000000, MIB(64)}}}, MIB(64)},
                     {{{{6, 0xFFFD0000000, MIB(4)}}}, MIB(4)},
                     {{{{2, 0, 0x1000000000}}}, 0}},
    .register_bar = {0, 2, 0},
    .register_bar_bytes = 0x31000000,
    .engine = {{{16, 0x30000000, KIB(256)},
                {16, 0x30700000, KIB(256)},
                {1, 0x30600000, 0},
                {1, 0x30D00000, 0}}},
    .engine_misc = {{{16, 0x30400000, KIB(28)},
                     {16, 0x30B00000, KIB(28)},
                     {1, 0x30640000, 0},
                     {1, 0x30D40000, 0}}},
    .core_sync = {{{2, 0x02700000, MIB(64)}}},
    .top_sp_sync = {{{6, 0x10000000, MIB(4)}}},
    .core_notifiers = {{{2, 0x30535000, MIB(7)}}},
    .top_sp_notifiers = {{{6, 0x30E04000, KIB(256)}}},
    .misc_ram = 0x30FA0000,
    .simulator_reset = 0x30647000,
    .window_slice = GIB(16),
    .reset_map = {{0, 1}, {8, 3}},
    .scrub_engines = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

static const trn_generation v4 = {
    .architecture = 4,
    .map = &two_dies,
    .stack_bytes = GIB(36),
    .state_buffer_bytes = MIB(32),
    .reset_limit_s = 480,
    .simulator_reset_limit_s = 500,
    .m2s_data_cfg = 0x010008F8,
    .m2s_outstanding = 0x20808080,
    .s2m_outstanding_read = 0x00400080,
    .has_outstanding_write_2 = true,
    .has_backpressure = true,
    .has_strong_order = true,
    .pod_engines = {40, 72, 8, 104},
    .limit_us_per_descriptor = 80000,
};

static const trn_generation v3 = {
    .architecture = 3,
    .map = &two_dies,
    .stack_bytes = GIB(24),
    .state_buffer_bytes = MIB(28),
    .reset_limit_s = 480,
    .simulator_reset_limit_s = 500,
    .emulator_is_reset = true,
    .m2s_data_cfg = 0x010008F8,
    .m2s_outstanding = 0x20808080,
    .s2m_outstanding_read = 0x00400080,
    .has_backpressure = true,
    .has_strong_order = true,
    .pod_engines = {36, 68, 4, 100},
    .limit_us_per_descriptor = 80000,
};

static const trn_generation v2 = {
    .architecture = 2,
    .map = &one_die,
    .stack_bytes = GIB(16),
    .state_buffer_bytes = MIB(24),
    .index_continues = true,
    .reset_limit_s = 120,
    .simulator_reset_limit_s = 11,
    .simulator_asks_firmware = true,
    .emulator_is_reset = true,
    .m2s_data_cfg = 0x01000400,
    .m2s_outstanding = 0x0000086F,
    .s2m_outstanding_read = 0x00400008,
    .has_broadcast = true,
    .aborts_on_axi_errors = true,
    .limit_us_per_descriptor = 40000,
};

static const uint8_t torus_of_v3_and_v4[16] = {0, 3, 4, 7, 12, 15, 8, 11,
                                               1, 2, 5, 6, 13, 14, 9, 10};
static const uint8_t torus_of_v2[16] = {0, 4, 1, 5, 3, 7, 2, 6, 12, 8, 13, 9, 15, 11, 14, 10};
static const uint8_t in_order[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static const trn_part parts[] = {
    {0x7564, "Trainium3", &v4, torus_of_v3_and_v4}, {0x7565, "Trainium3", &v4, torus_of_v3_and_v4},
    {0x7364, "Trainium2", &v3, torus_of_v3_and_v4}, {0x7164, "Trainium1", &v2, torus_of_v2},
    {0x7264, "Inferentia2", &v2, in_order},
};

const trn_part* trn_part_find(uint16_t device_id) {
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        if (parts[i].device_id == device_id) return &parts[i];
    return NULL;
}

uint64_t trn_block_address(const trn_blocks* blocks, uint32_t number) {
    for (size_t i = 0; i < sizeof blocks->runs / sizeof blocks->runs[0]; ++i) {
        if (number < blocks->runs[i].count)
            return blocks->runs[i].base + number * blocks->runs[i].stride;
        number -= blocks->runs[i].count;
    }
    return 0;
}

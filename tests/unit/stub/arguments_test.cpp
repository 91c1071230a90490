// SPDX-License-Identifier: Apache-2.0
// Every function of the stub's headers with missing, extreme and meaningless arguments: it refuses
// them or does nothing, and never crashes. A function without a row here fails the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sw-stubs/driver/include/trn_rdma.h"
#include "sw-stubs/programs/include/trn_program.h"
#include "tests/unit/stub/fake_device.h"

namespace trn::test {
namespace {

constexpr std::uint64_t extremes[]{0,          1,          3,          16,         255,
                                   4096,       0x7fffffff, 0x80000000, 0xffffffff, 1ull << 45,
                                   1ull << 63, ~0ull - 15, ~0ull};
/// Addresses of no memory: a copy there fails at its first descriptor.
constexpr std::uint64_t nowhere = 1ull << 45;

trn_status no(bool refused) {
    return refused ? TRN_INVALID_ARGUMENT : TRN_OK;
}
std::uint32_t narrow(std::uint64_t n) {
    return static_cast<std::uint32_t>(n);
}

/// A value that the enumeration need not have.
template <class E>
E outside(int number) {
    return static_cast<E>(number);
}

/// A call with one number in the place of each number that it has.
struct row {
    const char* function;
    std::function<trn_status(trn_device*, std::uint64_t)> call;
    /// Does not need a device that was probed.
    bool works_at_once = false;
};

std::array<std::uint8_t, 4096> bytes;  // of the caller

const row device_calls[]{
    {"trn_last_error", [](auto* d, auto) { return no(*trn_last_error(d) == 0); }, true},
    {"trn_probe", [](auto* d, auto) { return trn_probe(d); }, true},
    {"trn_lost_probe", [](auto* d, auto) { return no(!trn_lost_probe(d)); }},
    {"trn_reset_device", [](auto* d, auto) { return trn_reset_device(d); }},
    {"trn_reset_cores", [](auto* d, auto n) { return trn_reset_cores(d, narrow(n)); }},
    {"trn_core_resets", [](auto* d, auto n) { return no(trn_core_resets(d, narrow(n)) == 0); }},
    {"trn_limit_firmware",
     [](auto* d, auto n) {
         trn_limit_firmware(d, n);
         trn_limit_firmware(d, 0);
         return TRN_INVALID_ARGUMENT;
     }},
    {"trn_get_info",
     [](auto* d, auto) {
         trn_device_info info;
         return trn_get_info(d, &info);
     }},
    {"trn_get_serial",
     [](auto* d, auto) {
         std::uint64_t serial;
         return trn_get_serial(d, &serial);
     }},
    {"trn_hbm_address", [](auto* d, auto n) { return no(trn_hbm_address(d, narrow(n), n) == 0); }},
    {"trn_sbuf_address",
     [](auto* d, auto n) { return no(trn_sbuf_address(d, narrow(n), n) == 0); }},
    {"trn_buffer_alloc",
     [](auto* d, auto n) {
         trn_buffer buffer{};
         const auto status = trn_buffer_alloc(d, n < (1 << 20) || n > nowhere ? n : ~n, &buffer);
         if (status == TRN_OK) trn_buffer_free(d, &buffer);
         return status;
     }},
    {"trn_buffer_free",
     [](auto* d, auto) {
         trn_buffer none{};
         trn_buffer_free(d, &none);
         return TRN_INVALID_ARGUMENT;
     }},
    {"trn_buffer_address",
     [](auto* d, auto n) {
         const trn_buffer none{};
         return no(trn_buffer_address(d, &none, n) == 0);
     }},
    {"trn_copy", [](auto* d, auto n) { return trn_copy(d, narrow(n), nowhere, n, n); }},
    {"trn_write", [](auto* d, auto n) { return trn_write(d, narrow(n), n, bytes.data(), 16); }},
    {"trn_read", [](auto* d, auto n) { return trn_read(d, narrow(n), bytes.data(), n, 16); }},
    {"trn_memset", [](auto* d, auto n) { return trn_memset(d, narrow(n), nowhere, 1, n); }},
    {"trn_program_engine",
     [](auto* d, auto n) { return trn_program_engine(d, narrow(n), n, bytes.data(), 16); }},
    {"trn_host_queue_open",
     [](auto* d, auto n) {
         std::uint32_t queue;
         return trn_host_queue_open(d, narrow(n), &queue);
     }},
    {"trn_host_queue_close",
     [](auto* d, auto n) { return trn_host_queue_close(d, narrow(n), narrow(n)); }},
    {"trn_zero_copy",
     [](auto* d, auto n) {
         trn_buffer none{};
         return trn_zero_copy(d, narrow(n), narrow(n), n, &none, n, n,
                              static_cast<trn_direction>(narrow(n)));
     }},
    {"trn_submit",
     [](auto* d, auto n) {
         trn_job job;
         return trn_submit(d, narrow(n), nowhere, n, n, &job);
     }},
    {"trn_poll",
     [](auto* d, auto n) {
         bool done;
         return trn_poll(d, n, &done);
     }},
    {"trn_wait", [](auto* d, auto n) { return trn_wait(d, n); }},
    {"trn_scrub", [](auto* d, auto n) { return trn_scrub(d, narrow(n), n, n, narrow(n)); }},
    {"trn_scrub_start",
     [](auto* d, auto n) {
         trn_scrubbing* scrubbing;
         return trn_scrub_start(d, narrow(n), n, n, 0, &scrubbing);
     }},
    {"trn_scrub_wait", [](auto* d, auto) { return trn_scrub_wait(d, nullptr); }},
    {"trn_last_failure",
     [](auto* d, auto) {
         trn_failure failure;
         return no(!trn_last_failure(d, &failure));
     }},
    {"trn_restart_queue", [](auto* d, auto n) { return trn_restart_queue(d, narrow(n)); }},
    {"trn_engine_init", [](auto* d, auto n) { return trn_engine_init(d, narrow(n)); }},
    {"trn_engine_get_state",
     [](auto* d, auto n) {
         trn_engine_state state;
         return trn_engine_get_state(d, narrow(n), &state);
     }},
    {"trn_engine_set_state",
     [](auto* d, auto n) {
         return trn_engine_set_state(d, narrow(n), static_cast<trn_engine_command>(narrow(n)));
     }},
    {"trn_ring_init",
     [](auto* d, auto n) {
         return trn_ring_init(d, narrow(n), narrow(n), n, narrow(n), n, narrow(n));
     }},
    {"trn_ring_init_batch",
     [](auto* d, auto n) {
         const std::vector<trn_ring_request> requests(256);
         return trn_ring_init_batch(d, requests.data(), narrow(n) < 256 ? 0 : narrow(n));
     }},
    {"trn_ring_start",
     [](auto* d, auto n) { return trn_ring_start(d, narrow(n), narrow(n), narrow(n), narrow(n)); }},
    {"trn_ring_release", [](auto* d, auto n) { return trn_ring_release(d, narrow(n), narrow(n)); }},
    {"trn_queue_get_state",
     [](auto* d, auto n) {
         trn_queue_state state;
         return trn_queue_get_state(d, narrow(n), narrow(n), &state);
     }},
    {"trn_process_exit", [](auto* d, auto) { return trn_process_exit(d); }},
    {"trn_descriptors_write",
     [](auto* d, auto n) {
         const trn_descriptor one{};
         return trn_descriptors_write(d, narrow(n), n, narrow(n), &one, 1);
     }},
    {"trn_descriptors_read",
     [](auto* d, auto n) {
         trn_descriptor one{};
         return trn_descriptors_read(d, narrow(n), narrow(n), narrow(n),
                                     static_cast<trn_ring_kind>(narrow(n)), narrow(n), &one, 1);
     }},
    {"trn_compute",
     [](auto* d, auto n) {
         trn_compute_packet packet{};
         packet.operands = packet.source_count = packet.destination_count = narrow(n);
         return trn_compute(d, narrow(n), narrow(n), &packet);
     }},
    {"trn_dma_reduce",
     [](auto* d, auto n) {
         const std::uint64_t sources[16]{n, n, n, n};
         return trn_dma_reduce(d, narrow(n), 0, TRN_COMPUTE_ADD, TRN_FP32, sources, narrow(n),
                               nowhere, n);
     }},
    {"trn_semaphore_read",
     [](auto* d, auto n) {
         std::int32_t value;
         return trn_semaphore_read(d, static_cast<trn_sync_block>(narrow(n)), narrow(n), narrow(n),
                                   &value);
     }},
    {"trn_semaphore_set",
     [](auto* d, auto n) {
         return trn_semaphore_set(d, TRN_SYNC_CORE, narrow(n), narrow(n),
                                  static_cast<std::int32_t>(narrow(n)));
     }},
    {"trn_semaphore_increment",
     [](auto* d, auto n) {
         return trn_semaphore_increment(d, TRN_SYNC_TOP_SP, narrow(n), narrow(n), narrow(n));
     }},
    {"trn_semaphore_decrement",
     [](auto* d, auto n) {
         return trn_semaphore_decrement(d, TRN_SYNC_CORE, narrow(n), narrow(n), narrow(n));
     }},
    {"trn_semaphore_address",
     [](auto* d, auto n) { return no(trn_semaphore_address(d, narrow(n), narrow(n)) == 0); }},
    {"trn_event_get",
     [](auto* d, auto n) {
         std::uint32_t value;
         return trn_event_get(d, TRN_SYNC_CORE, narrow(n), narrow(n), &value);
     }},
    {"trn_event_set",
     [](auto* d, auto n) {
         return trn_event_set(d, TRN_SYNC_TOP_SP, narrow(n), narrow(n), narrow(n));
     }},
    {"trn_read_counters",
     [](auto* d, auto n) {
         std::uint64_t addresses[TRN_MAX_COUNTERS]{};
         std::uint32_t values[TRN_MAX_COUNTERS];
         return trn_read_counters(d, addresses, values, narrow(n) > 3 ? narrow(n) : 0);
     }},
    {"trn_post_metric",
     [](auto* d, auto n) {
         return trn_post_metric(d, bytes.data(), narrow(n) > 128 ? narrow(n) : 0);
     }},
    {"trn_set_power_profile",
     [](auto* d, auto n) { return trn_set_power_profile(d, static_cast<std::uint8_t>(n)); }},
    {"trn_set_throttling_notifications",
     [](auto* d, auto) { return trn_set_throttling_notifications(d, true); }},
    {"trn_get_data",
     [](auto* d, auto n) {
         std::uint32_t size = narrow(n) < bytes.size() ? narrow(n) : 0;
         return trn_get_data(d, narrow(n), bytes.data(), &size);
     }},
    {"trn_mailbox_request",
     [](auto* d, auto n) {
         std::uint32_t room = 16;
         return trn_mailbox_request(d, static_cast<std::uint8_t>(n), bytes.data(), narrow(n),
                                    bytes.data(), &room);
     }},
    {"trn_get_power",
     [](auto* d, auto n) {
         trn_power_sample sample;
         return trn_get_power(d, narrow(n), &sample);
     }},
    {"trn_get_ecc",
     [](auto* d, auto) {
         trn_ecc_counts counts;
         return trn_get_ecc(d, &counts);
     }},
    {"trn_get_api_version",
     [](auto* d, auto) {
         std::uint32_t version;
         return trn_get_api_version(d, &version);
     }},
    {"trn_notification_set",
     [](auto* d, auto n) {
         return trn_notification_set(d, static_cast<trn_notifier>(narrow(n) % 4), narrow(n),
                                     narrow(n), n, narrow(n));
     }},
    {"trn_notification_head",
     [](auto* d, auto n) {
         std::uint32_t head;
         return trn_notification_head(d, TRN_NOTIFY_DMA, narrow(n), narrow(n), &head);
     }},
    {"trn_notifications_open",
     [](auto* d, auto n) {
         trn_notification_ring ring;
         const auto status =
             trn_notifications_open(d, TRN_NOTIFY_CORE, narrow(n), narrow(n), narrow(n), &ring);
         if (status == TRN_OK) trn_notifications_close(d, &ring);
         return status;
     }},
    {"trn_notifications_open_at",
     [](auto* d, auto n) {
         trn_notification_ring ring;
         return trn_notifications_open_at(d, TRN_NOTIFY_CORE, narrow(n), narrow(n), nowhere,
                                          narrow(n), &ring);
     }},
    {"trn_notifications_next",
     [](auto* d, auto n) {
         trn_notification_ring ring{};
         trn_notification entry;
         bool there;
         ring.next = ring.phase = narrow(n);
         return trn_notifications_next(d, &ring, &entry, &there);
     }},
    {"trn_notifications_lost",
     [](auto* d, auto n) {
         trn_notification_ring ring{};
         bool lost;
         ring.number = ring.slot = narrow(n);
         return trn_notifications_lost(d, &ring, &lost);
     }},
    {"trn_notifications_close",
     [](auto* d, auto n) {
         trn_notification_ring ring{};
         ring.number = ring.slot = narrow(n);
         return trn_notifications_close(d, &ring);
     }},
    {"trn_pod_open", [](auto* d, auto) { return trn_pod_open(d); }},
    {"trn_pod_read",
     [](auto* d, auto n) {
         std::uint32_t words[4];
         return trn_pod_read(d, static_cast<trn_pod_link>(narrow(n)), narrow(n), words, narrow(n));
     }},
    {"trn_pod_close", [](auto* d, auto) { return trn_pod_close(d); }},
    {"trn_pod_status",
     [](auto* d, auto) {
         trn_pod pod;
         return trn_pod_status(d, &pod);
     }},
    {"trn_pod_elect",
     [](auto* d, auto n) {
         trn_pod pod;
         return trn_pod_elect(d, narrow(n), n < 4096 ? n : 4096, &pod);
     }},
    {"trn_pod_elect_node",
     [](auto* d, auto n) {
         trn_device* const devices[]{d};
         trn_pod pod;
         return trn_pod_elect_node(devices, narrow(n) == 1 ? 1 : 0, 1, &pod);
     }},
    {"trn_get_topology",
     [](auto* d, auto) {
         trn_topology topology;
         return trn_get_topology(d, &topology);
     }},
    {"trn_bar_read",
     [](auto* d, auto n) {
         std::uint32_t value;
         return trn_bar_read(d, n, &value);
     }},
    {"trn_bar_write", [](auto* d, auto n) { return trn_bar_write(d, n, 0); }},
    {"trn_bar_write_raw", [](auto* d, auto n) { return trn_bar_write_raw(d, n, 0); }},
    {"trn_bar_address",
     [](auto* d, auto n) {
         std::uint64_t address, size;
         return trn_bar_address(d, narrow(n), &address, &size);
     }},
    {"trn_window_read",
     [](auto* d, auto n) { return trn_window_read(d, narrow(n), n, bytes.data(), 16); }},
    {"trn_window_write",
     [](auto* d, auto n) { return trn_window_write(d, narrow(n), n, bytes.data(), 16); }},
    {"trn_sleep", [](auto* d, auto n) { return trn_sleep(d, n < 4096 ? n : 0); }, true},
    {"trn_now", [](auto* d, auto) { return no(trn_now(d) == 0); }, true},
    {"trn_simulated_now", [](auto* d, auto) { return no(trn_simulated_now(d) == 0); }, true},
    {"trn_core_engine_read",
     [](auto* d, auto n) {
         trn_core_engine_state state;
         return trn_core_engine_read(d, narrow(n), narrow(n), &state);
     }},
    {"trn_program_possible", [](auto* d, auto) { return no(!trn_program_possible(d)); }},
    {"trn_program_load",
     [](auto* d, auto n) {
         trn_program_options options{};
         options.core = options.notify_slot = narrow(n);
         options.memory = options.memory_bytes = n;
         trn_program* program;
         return trn_program_load(d, bytes.data(), n < bytes.size() ? n : bytes.size(), &options,
                                 &program);
     }},
};

/// Calls without a device, or with pointers that are missing. Each returns whether it refused.
struct missing {
    const char* function;
    std::function<bool(trn_device* ready)> refuses;
};

const missing missing_arguments[]{
    {"trn_status_text", [](auto*) { return *trn_status_text(outside<trn_status>(99)) != 0; }},
    {"trn_platform_of_product",
     [](auto*) { return trn_platform_of_product(nullptr) == TRN_HOST_STANDARD; }},
    {"trn_create", [](auto*) { return trn_create(nullptr, nullptr) == nullptr; }},
    {"trn_destroy",
     [](auto*) {
         trn_destroy(nullptr);
         return true;
     }},
    {"trn_get_info", [](auto* d) { return trn_get_info(d, nullptr) != TRN_OK; }},
    {"trn_get_serial", [](auto* d) { return trn_get_serial(d, nullptr) != TRN_OK; }},
    {"trn_buffer_alloc", [](auto* d) { return trn_buffer_alloc(d, 16, nullptr) != TRN_OK; }},
    {"trn_buffer_free",
     [](auto* d) {
         trn_buffer_free(d, nullptr);
         return true;
     }},
    {"trn_buffer_address", [](auto* d) { return trn_buffer_address(d, nullptr, 0) == 0; }},
    {"trn_write", [](auto* d) { return trn_write(d, 0, 0, nullptr, 1) != TRN_OK; }},
    {"trn_read", [](auto* d) { return trn_read(d, 0, nullptr, 0, 1) != TRN_OK; }},
    {"trn_program_engine",
     [](auto* d) { return trn_program_engine(d, 0, 0, nullptr, 1) != TRN_OK; }},
    {"trn_host_queue_open", [](auto* d) { return trn_host_queue_open(d, 0, nullptr) != TRN_OK; }},
    {"trn_zero_copy",
     [](auto* d) {
         return trn_zero_copy(d, 0, TRN_DEFAULT_QUEUE, 0, nullptr, 0, 1, TRN_TO_DEVICE) != TRN_OK;
     }},
    {"trn_submit", [](auto* d) { return trn_submit(d, 0, 0, 0, 1, nullptr) != TRN_OK; }},
    {"trn_poll", [](auto* d) { return trn_poll(d, 1, nullptr) != TRN_OK; }},
    {"trn_scrub_start",
     [](auto* d) { return trn_scrub_start(d, 0, 16 << 20, 1 << 20, 0, nullptr) != TRN_OK; }},
    {"trn_last_failure", [](auto* d) { return !trn_last_failure(d, nullptr); }},
    {"trn_engine_get_state", [](auto* d) { return trn_engine_get_state(d, 0, nullptr) != TRN_OK; }},
    {"trn_ring_init_batch", [](auto* d) { return trn_ring_init_batch(d, nullptr, 1) != TRN_OK; }},
    {"trn_queue_get_state",
     [](auto* d) { return trn_queue_get_state(d, 0, 0, nullptr) != TRN_OK; }},
    {"trn_m2s_descriptor",
     [](auto*) { return trn_m2s_descriptor(~0ull, ~0u, ~0u, ~0u).words[3] == ~0u; }},
    {"trn_s2m_descriptor",
     [](auto*) { return trn_s2m_descriptor(~0ull, ~0u, ~0u, ~0u).words[3] == ~0u; }},
    {"trn_descriptor_with_ring_id",
     [](auto*) { return trn_descriptor_with_ring_id({}, ~0u).words[0] == 3u << 24; }},
    {"trn_descriptors_write",
     [](auto* d) { return trn_descriptors_write(d, 0, 0, 0, nullptr, 1) != TRN_OK; }},
    {"trn_descriptors_read",
     [](auto* d) {
         return trn_descriptors_read(d, 0, 0, 0, TRN_RING_M2S, 0, nullptr, 1) != TRN_OK;
     }},
    {"trn_compute_build",
     [](auto*) {
         trn_descriptor m2s[TRN_COMPUTE_M2S], s2m[TRN_COMPUTE_PIECES];
         std::uint32_t from = 0, to = 0;
         trn_compute_packet packet{};
         bool refused = !trn_compute_build(nullptr, m2s, &from, s2m, &to);
         refused = refused && !trn_compute_build(&packet, nullptr, &from, s2m, &to);
         refused = refused && !trn_compute_build(&packet, m2s, nullptr, s2m, &to);
         refused = refused && !trn_compute_build(&packet, m2s, &from, nullptr, &to);
         refused = refused && !trn_compute_build(&packet, m2s, &from, s2m, nullptr);
         packet.source_count = 1;  // NULL
         return refused && !trn_compute_build(&packet, m2s, &from, s2m, &to);
     }},
    {"trn_compute", [](auto* d) { return trn_compute(d, 0, 0, nullptr) != TRN_OK; }},
    {"trn_dma_reduce",
     [](auto* d) {
         return trn_dma_reduce(d, 0, 0, TRN_COMPUTE_ADD, TRN_FP32, nullptr, 1, 0, 4) != TRN_OK;
     }},
    {"trn_semaphore_read",
     [](auto* d) { return trn_semaphore_read(d, TRN_SYNC_CORE, 0, 0, nullptr) != TRN_OK; }},
    {"trn_event_get",
     [](auto* d) { return trn_event_get(d, TRN_SYNC_CORE, 0, 0, nullptr) != TRN_OK; }},
    {"trn_read_counters",
     [](auto* d) {
         std::uint64_t address = 0;
         std::uint32_t value;
         return trn_read_counters(d, nullptr, &value, 1) != TRN_OK &&
                trn_read_counters(d, &address, nullptr, 1) != TRN_OK;
     }},
    {"trn_post_metric", [](auto* d) { return trn_post_metric(d, nullptr, 1) != TRN_OK; }},
    {"trn_get_data",
     [](auto* d) {
         std::uint32_t size = 4;
         return trn_get_data(d, 1, nullptr, &size) != TRN_OK &&
                trn_get_data(d, 1, bytes.data(), nullptr) != TRN_OK;
     }},
    {"trn_mailbox_request",
     [](auto* d) {
         std::uint32_t room = 16;
         return trn_mailbox_request(d, 4, nullptr, 1, bytes.data(), &room) != TRN_OK &&
                trn_mailbox_request(d, 4, bytes.data(), 1, nullptr, &room) != TRN_OK &&
                trn_mailbox_request(d, 4, bytes.data(), 1, bytes.data(), nullptr) != TRN_OK;
     }},
    {"trn_get_power", [](auto* d) { return trn_get_power(d, 0, nullptr) != TRN_OK; }},
    {"trn_get_ecc", [](auto* d) { return trn_get_ecc(d, nullptr) != TRN_OK; }},
    {"trn_get_api_version", [](auto* d) { return trn_get_api_version(d, nullptr) != TRN_OK; }},
    {"trn_notification_head",
     [](auto* d) { return trn_notification_head(d, TRN_NOTIFY_CORE, 0, 0, nullptr) != TRN_OK; }},
    {"trn_notifications_open",
     [](auto* d) {
         return trn_notifications_open(d, TRN_NOTIFY_CORE, 0, 0, 64, nullptr) != TRN_OK;
     }},
    {"trn_notifications_open_at",
     [](auto* d) {
         return trn_notifications_open_at(d, TRN_NOTIFY_CORE, 0, 0, 0, 64, nullptr) != TRN_OK;
     }},
    {"trn_notifications_next",
     [](auto* d) {
         trn_notification_ring ring{};
         trn_notification entry;
         bool there;
         return trn_notifications_next(d, nullptr, &entry, &there) != TRN_OK &&
                trn_notifications_next(d, &ring, nullptr, &there) != TRN_OK &&
                trn_notifications_next(d, &ring, &entry, nullptr) != TRN_OK;
     }},
    {"trn_notifications_lost",
     [](auto* d) {
         trn_notification_ring ring{};
         bool lost;
         return trn_notifications_lost(d, nullptr, &lost) != TRN_OK &&
                trn_notifications_lost(d, &ring, nullptr) != TRN_OK;
     }},
    {"trn_notifications_close",
     [](auto* d) { return trn_notifications_close(d, nullptr) != TRN_OK; }},
    {"trn_pod_read",
     [](auto* d) { return trn_pod_read(d, TRN_POD_LEFT_A, 0, nullptr, 1) != TRN_OK; }},
    {"trn_pod_status", [](auto* d) { return trn_pod_status(d, nullptr) != TRN_OK; }},
    {"trn_pod_elect", [](auto* d) { return trn_pod_elect(d, 3, 1, nullptr) != TRN_OK; }},
    {"trn_pod_elect_node",
     [](auto* d) {
         trn_device* const none[]{nullptr};
         trn_device* const one[]{d};
         trn_pod pod;
         return trn_pod_elect_node(nullptr, 1, 1, &pod) != TRN_OK &&
                trn_pod_elect_node(none, 1, 1, &pod) != TRN_OK &&
                trn_pod_elect_node(one, 1, 1, nullptr) != TRN_OK &&
                trn_pod_elect_node(one, ~0u, 1, &pod) != TRN_OK;
     }},
    {"trn_get_topology", [](auto* d) { return trn_get_topology(d, nullptr) != TRN_OK; }},
    {"trn_link_fault_text",
     [](auto*) { return *trn_link_fault_text(outside<trn_link_fault>(99)) != 0; }},
    {"trn_partner_text",
     [](auto*) { return *trn_partner_text(outside<trn_partner_kind>(99)) != 0; }},
    {"trn_remote_address", [](auto*) { return trn_remote_address(nullptr, ~0u, ~0ull) == 0; }},
    {"trn_topology_decode",
     [](auto*) {
         const std::uint32_t words[TRN_TOPOLOGY_WORDS]{};
         trn_topology topology;
         return !trn_topology_decode(nullptr, &topology) && !trn_topology_decode(words, nullptr);
     }},
    {"trn_bar_read", [](auto* d) { return trn_bar_read(d, 0, nullptr) != TRN_OK; }},
    {"trn_bar_address",
     [](auto* d) {
         std::uint64_t value;
         return trn_bar_address(d, 0, nullptr, &value) != TRN_OK &&
                trn_bar_address(d, 0, &value, nullptr) != TRN_OK;
     }},
    {"trn_window_read", [](auto* d) { return trn_window_read(d, 0, 0, nullptr, 1) != TRN_OK; }},
    {"trn_window_write", [](auto* d) { return trn_window_write(d, 0, 0, nullptr, 1) != TRN_OK; }},
    // Programs.
    {"trn_core_engine_name", [](auto*) { return *trn_core_engine_name(~0u) != 0; }},
    {"trn_core_engine_mode_name", [](auto*) { return *trn_core_engine_mode_name(~0u) != 0; }},
    {"trn_core_error_name", [](auto*) { return *trn_core_error_name(~0u) != 0; }},
    {"trn_core_engine_read",
     [](auto* d) { return trn_core_engine_read(d, 0, 0, nullptr) != TRN_OK; }},
    {"trn_program_load",
     [](auto* d) {
         trn_program* program;
         return trn_program_load(d, nullptr, 16, nullptr, &program) != TRN_OK &&
                trn_program_load(d, bytes.data(), 16, nullptr, nullptr) != TRN_OK;
     }},
    {"trn_program_unload", [](auto*) { return trn_program_unload(nullptr) == TRN_OK; }},
    {"trn_program_free",
     [](auto*) {
         trn_program_free(nullptr);
         return true;
     }},
    {"trn_tensor_type_name", [](auto*) { return *trn_tensor_type_name(~0u) != 0; }},
    {"trn_tensor_type_bytes", [](auto*) { return trn_tensor_type_bytes(~0u) == 0; }},
    {"trn_program_tensors", [](auto*) { return trn_program_tensors(nullptr) == 0; }},
    {"trn_program_tensor",
     [](auto*) {
         trn_tensor tensor;
         return !trn_program_tensor(nullptr, 0, &tensor);
     }},
    {"trn_program_find_tensor",
     [](auto*) {
         std::uint32_t number;
         return !trn_program_find_tensor(nullptr, "x", &number);
     }},
    {"trn_program_bind", [](auto*) { return trn_program_bind(nullptr, 0, 0) != TRN_OK; }},
    {"trn_program_write",
     [](auto*) { return trn_program_write(nullptr, 0, 0, bytes.data(), 1) != TRN_OK; }},
    {"trn_program_read",
     [](auto*) { return trn_program_read(nullptr, 0, 0, bytes.data(), 1) != TRN_OK; }},
    {"trn_program_prepare", [](auto*) { return trn_program_prepare(nullptr) != TRN_OK; }},
    {"trn_program_start", [](auto*) { return trn_program_start(nullptr) != TRN_OK; }},
    {"trn_program_poll",
     [](auto*) {
         trn_program_result result;
         return trn_program_poll(nullptr, &result) != TRN_OK;
     }},
    {"trn_program_wait",
     [](auto*) {
         trn_program_result result;
         return trn_program_wait(nullptr, ~0ull, &result) != TRN_OK;
     }},
    {"trn_program_cores", [](auto*) { return trn_program_cores(nullptr) == 0; }},
    {"trn_program_uses", [](auto*) { return !trn_program_uses(nullptr, 0, 0); }},
    {"trn_program_source",
     [](auto*) {
         const char* file;
         std::uint32_t line;
         return !trn_program_source(nullptr, 0, 0, 0, &file, &line);
     }},
    {"trn_program_device_core", [](auto*) { return trn_program_device_core(nullptr, 0) == 0; }},
    // RDMA cards, of which there is none.
    {"trn_rdma_open",
     [](auto*) {
         trn_rdma_card* card;
         const trn_transport none{};
         return trn_rdma_open(nullptr, &card) != 0 && trn_rdma_open(&none, nullptr) != 0;
     }},
    {"trn_rdma_close",
     [](auto*) {
         trn_rdma_close(nullptr);
         return true;
     }},
    {"trn_rdma_forget",
     [](auto*) {
         trn_rdma_forget(nullptr);
         return true;
     }},
    {"trn_rdma_reset", [](auto*) { return trn_rdma_reset(nullptr) != 0; }},
    {"trn_rdma_resets", [](auto*) { return trn_rdma_resets(nullptr) == 0; }},
    {"trn_rdma_state",
     [](auto*) {
         std::uint32_t state;
         return trn_rdma_state(nullptr, &state) != 0;
     }},
    {"trn_rdma_get_attributes",
     [](auto*) {
         trn_rdma_attributes attributes;
         return trn_rdma_get_attributes(nullptr, &attributes) != 0;
     }},
    {"trn_rdma_alloc_domain",
     [](auto*) {
         std::uint16_t domain;
         return trn_rdma_alloc_domain(nullptr, &domain) != 0;
     }},
    {"trn_rdma_alloc_uar",
     [](auto*) {
         std::uint16_t uar;
         return trn_rdma_alloc_uar(nullptr, &uar) != 0;
     }},
    {"trn_rdma_create_address_handle",
     [](auto*) {
         const trn_rdma_gid gid{};
         std::uint16_t handle;
         return trn_rdma_create_address_handle(nullptr, 0, &gid, &handle) != 0;
     }},
    {"trn_rdma_register",
     [](auto*) {
         std::uint32_t key;
         return trn_rdma_register(nullptr, 0, 0, 4096, 0, &key) != 0;
     }},
    {"trn_rdma_deregister", [](auto*) { return trn_rdma_deregister(nullptr, 0) != 0; }},
    {"trn_rdma_create_eq",
     [](auto*) {
         std::uint16_t eq;
         return trn_rdma_create_eq(nullptr, 0, 0, 16, &eq) != 0;
     }},
    {"trn_rdma_destroy_eq", [](auto*) { return trn_rdma_destroy_eq(nullptr, 0) != 0; }},
    {"trn_rdma_create_cq",
     [](auto*) {
         trn_rdma_cq cq;
         return trn_rdma_create_cq(nullptr, 0, 0, 16, nullptr, &cq) != 0;
     }},
    {"trn_rdma_destroy_cq", [](auto*) { return trn_rdma_destroy_cq(nullptr, 0) != 0; }},
    {"trn_rdma_create_qp",
     [](auto*) {
         trn_rdma_qp qp;
         return trn_rdma_create_qp(nullptr, 0, 0, 0, 16, 0, &qp) != 0;
     }},
    {"trn_rdma_destroy_qp",
     [](auto*) {
         const trn_rdma_qp qp{};
         return trn_rdma_destroy_qp(nullptr, &qp) != 0;
     }},
    {"trn_rdma_point_vector",
     [](auto*) { return trn_rdma_point_vector(nullptr, ~0u, ~0ull, ~0u) != 0; }},
    {"trn_rdma_bus_address",
     [](auto*) {
         std::uint64_t address;
         return trn_rdma_bus_address(nullptr, 0, 0, &address) != 0;
     }},
    {"trn_rdma_encode",
     [](auto*) {
         const trn_rdma_request request{};
         std::uint8_t entry[TRN_RDMA_REQUEST_BYTES];
         trn_rdma_encode(nullptr, entry);
         trn_rdma_encode(&request, nullptr);
         return true;
     }},
    {"trn_rdma_queue_open",
     [](auto*) {
         trn_rdma_queue* queue;
         return trn_rdma_queue_open(nullptr, 0, 16, 0, &queue) != 0;
     }},
    {"trn_rdma_queue_close",
     [](auto*) {
         trn_rdma_queue_close(nullptr);
         return true;
     }},
    {"trn_rdma_queue_number", [](auto*) { return trn_rdma_queue_number(nullptr) == 0; }},
    {"trn_rdma_post",
     [](auto*) {
         const trn_rdma_request request{};
         return trn_rdma_post(nullptr, &request) != 0;
     }},
    {"trn_rdma_wait",
     [](auto*) {
         trn_rdma_completion done;
         return trn_rdma_wait(nullptr, 0, &done) != 0;
     }},
    {"trn_range_wraps", [](auto*) { return trn_range_wraps(~0ull, 2); }},
};

struct StubArguments : testing::Test {
    fake_device chip;
    trn_device* device = nullptr;

    StubArguments() {
        const auto transport = chip.transport();
        device = trn_create(&transport, nullptr);
        chip.answer_resets();
    }
    ~StubArguments() override { trn_destroy(device); }
    void bring_up() {
        ASSERT_EQ(trn_probe(device), TRN_OK) << trn_last_error(device);
        ASSERT_EQ(trn_reset_device(device), TRN_OK) << trn_last_error(device);
    }
};

TEST_F(StubArguments, WithoutADeviceAreRefused) {
    for (const auto& one : device_calls)
        for (const auto n : extremes)
            EXPECT_NE(one.call(nullptr, n), TRN_OK) << one.function << ' ' << n;
}

TEST_F(StubArguments, AreRefusedBeforeTheProbe) {
    for (const auto& one : device_calls) {
        if (one.works_at_once) continue;
        for (const auto n : extremes)
            EXPECT_NE(one.call(device, n), TRN_OK) << one.function << ' ' << n;
    }
}

TEST(StubArgumentsOfAReadyDevice, OfAnySizeReturn) {
    for (const auto& one : device_calls) {
        SCOPED_TRACE(one.function);
        fake_device chip;  // of its own: a copy to no memory stops an engine
        const auto transport = chip.transport();
        trn_device* const device = trn_create(&transport, nullptr);
        chip.answer_resets();
        ASSERT_EQ(trn_probe(device), TRN_OK) << trn_last_error(device);
        ASSERT_EQ(trn_reset_device(device), TRN_OK) << trn_last_error(device);
        for (const auto n : extremes) one.call(device, n);
        trn_destroy(device);
        EXPECT_EQ(chip.allocated, 0u);
    }
}

TEST_F(StubArguments, OfAnySizeReturnWhenTheDeviceIsGone) {
    bring_up();
    chip.broken = -ENODEV;
    for (const auto& one : device_calls)
        for (const auto n : extremes) one.call(device, n);
}

TEST_F(StubArguments, ThatAreMissingAreRefused) {
    bring_up();
    for (const auto& one : missing_arguments) EXPECT_TRUE(one.refuses(device)) << one.function;
}

TEST(StubFunctions, OfTheHeadersAllHaveARow) {
    std::set<std::string> rows;
    for (const auto& one : device_calls) rows.insert(one.function);
    for (const auto& one : missing_arguments) rows.insert(one.function);
    std::set<std::string> functions;
    std::vector<std::filesystem::path> headers{"sw-stubs/programs/include/trn_program.h"};
    for (const auto& file : std::filesystem::directory_iterator("sw-stubs/driver/include"))
        headers.push_back(file.path());
    for (const auto& header : headers) {
        std::ifstream in(header);
        ASSERT_TRUE(in) << header;
        std::stringstream text;
        text << in.rdbuf();
        const std::string all = text.str();
        const std::regex declaration(
            "\n(?:static inline )?[a-z][a-z_0-9 *]*[ *](trn_[a-z_0-9]+)\\(");
        for (std::sregex_iterator i(all.begin(), all.end(), declaration), end; i != end; ++i)
            functions.insert((*i)[1]);
    }
    EXPECT_GT(functions.size(), 100u);
    EXPECT_EQ(functions, rows);
}

// --- Answers of a device that is wrong or late

struct StubNotificationHeads : StubArguments {
    trn_notification_ring ring{};

    void open() {
        bring_up();
        ASSERT_EQ(trn_notifications_open(device, TRN_NOTIFY_CORE, 0, 3, 64, &ring), TRN_OK);
        chip.recording = true;
        std::uint32_t head = 0;
        ASSERT_EQ(trn_notification_head(device, TRN_NOTIFY_CORE, 0, 3, &head), TRN_OK);
        head_register = chip.log.back().offset;
    }
    trn_status lost_at(std::uint32_t head) {
        chip.bar0[head_register] = head;
        bool lost = false;
        return trn_notifications_lost(device, &ring, &lost);
    }
    std::uint64_t head_register = 0;
};

TEST_F(StubNotificationHeads, OutsideTheRingAreRefused) {
    open();
    EXPECT_EQ(lost_at(64), TRN_PROTOCOL_ERROR);
    EXPECT_EQ(lost_at(0x8), TRN_PROTOCOL_ERROR);
    EXPECT_EQ(lost_at(0x7ffffff0), TRN_PROTOCOL_ERROR);
    EXPECT_EQ(lost_at(~0u), TRN_DEVICE_GONE);
    trn_notification entry;
    bool there = true;
    EXPECT_EQ(trn_notifications_next(device, &ring, &entry, &there), TRN_OK);
    EXPECT_FALSE(there);
    EXPECT_EQ(lost_at(48), TRN_OK);  // overwritten: the reader goes on there
    EXPECT_EQ(ring.next, 48u);
    EXPECT_EQ(trn_notifications_close(device, &ring), TRN_OK);
    EXPECT_EQ(trn_notifications_next(device, &ring, &entry, &there), TRN_INVALID_ARGUMENT);
}

TEST_F(StubArguments, FailedOpeningsKeepNoMemory) {
    bring_up();
    std::uint32_t queue = 0;
    ASSERT_EQ(trn_host_queue_open(device, 0, &queue), TRN_OK);
    const auto before = chip.allocated;
    chip.broken = -EIO;
    EXPECT_NE(trn_host_queue_open(device, 0, &queue), TRN_OK);
    trn_notification_ring ring;
    EXPECT_NE(trn_notifications_open(device, TRN_NOTIFY_CORE, 0, 0, 64, &ring), TRN_OK);
    chip.broken = 0;
    EXPECT_EQ(chip.allocated, before);
}

TEST_F(StubArguments, LateBytesOfAFailedReadReachNoLaterOne) {
    bring_up();
    const auto from = trn_hbm_address(device, 0, 32 << 20);
    std::vector<std::uint8_t> late(4096, 0xee), good(4096, 0x11), found(4096);
    chip.copy(from, late.data(), late.size(), true);
    chip.copy(from + 4096, good.data(), good.size(), true);
    // The engine of core 0 does the copy of a read that was given up.
    chip.rings_run = false;
    ASSERT_EQ(trn_read(device, 0, found.data(), from, found.size()), TRN_TIMED_OUT);
    chip.rings_run = true;
    // It ends just after that of the next read, on another core.
    constexpr unsigned other = 129;
    const auto doorbell = fake_device::engine_base(other) + TRN_UDMA_M2S_Q_TAIL_INCREMENT_OFFSET(0);
    chip.on_write[doorbell] = [&](std::uint32_t) {
        chip.at(2000, [&] { chip.at(0, [&] { chip.run_late(); }); });
    };
    ASSERT_EQ(trn_read(device, 2, found.data(), from + 4096, found.size()), TRN_OK)
        << trn_last_error(device);
    EXPECT_EQ(found, good);
}

TEST_F(StubArguments, WaitsForFirmwareAreAsShortAsTheCallerSays) {
    ASSERT_EQ(trn_probe(device), TRN_OK);
    chip.on_write.clear();  // firmware that takes no reset
    trn_limit_firmware(device, 20'000'000);
    const auto begin = chip.time;
    EXPECT_EQ(trn_reset_device(device), TRN_TIMED_OUT);
    EXPECT_LT(chip.time - begin, 25'000'000u);
    EXPECT_THAT(trn_last_error(device), testing::HasSubstr("did not take the reset request in 20 "
                                                           "ms: word +0x"));
    chip.bar0[fake_device::misc + TRN_MISC_RAM_ROUTING_ID_OFFSET] = 0xdeadbeef;
    EXPECT_EQ(trn_probe(device), TRN_TIMED_OUT);
    EXPECT_LT(chip.time - begin, 50'000'000u);
    EXPECT_THAT(trn_last_error(device), testing::HasSubstr("is still 0xdeadbeef"));
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

/// Every way of using the chip wrongly that the models notice. One numbered rule each, for good: a
/// number is never given to another rule. doc/misuse-rules.md has a section per rule.
namespace trn::misuse {

struct rule {
    unsigned number;
    const char* name;  ///< as written in a scenario: "doorbell-past-ring"
    const char* text;  ///< one sentence: what software did
};

// 100: DMA rings and descriptors
inline constexpr rule doorbell_past_ring{
    101, "doorbell-past-ring", "the doorbell posted more descriptors than the ring has room for"};
inline constexpr rule doorbell_without_ring{102, "doorbell-without-ring",
                                            "the doorbell of a queue whose ring has length zero"};
inline constexpr rule ring_id_mismatch{
    103, "ring-id-mismatch", "a descriptor carries the ring id of another pass over the ring"};
inline constexpr rule first_bit_error{104, "first-bit-error",
                                      "the first descriptor of a packet lacks the first bit"};
inline constexpr rule last_bit_error{105, "last-bit-error",
                                     "a packet starts before the one before it had its last bit"};
inline constexpr rule too_many_descriptors{106, "too-many-descriptors",
                                           "a packet has more descriptors than the engine's limit"};
inline constexpr rule packet_too_long{107, "packet-too-long",
                                      "a packet has more bytes than the engine's limit"};
inline constexpr rule length_mismatch{108, "length-mismatch",
                                      "a packet ends inside a destination descriptor"};
inline constexpr rule unmapped_descriptor{
    109, "unmapped-descriptor", "a descriptor was fetched from an address that does not answer"};
inline constexpr rule unmapped_source{110, "unmapped-source",
                                      "DMA read from an address that does not answer"};
inline constexpr rule unmapped_destination{111, "unmapped-destination",
                                           "DMA write to an address that does not answer"};
inline constexpr rule ring_shape{112, "ring-shape",
                                 "a ring base or length outside what the engine takes"};
inline constexpr rule unsupported_descriptor{
    113, "unsupported-descriptor", "a descriptor asks for an operation that this model lacks"};
inline constexpr rule doorbell_on_aborted_queue{114, "doorbell-on-aborted-queue",
                                                "the doorbell of a queue that stopped on an error"};
inline constexpr rule destination_starved{
    115, "destination-starved", "a packet has more bytes than the destinations posted for it"};

// 200: semaphores and events
inline constexpr rule semaphore_overflow{201, "semaphore-overflow",
                                         "a semaphore left the range of signed 32 bits"};

// 300: notification queues
inline constexpr rule notification_ring_shape{
    301, "notification-ring-shape", "a notification ring whose size or base is not legal"};
inline constexpr rule notification_overflow{
    302, "notification-overflow", "notifications were lost: the ring did not take them in time"};

// 400: memory
inline constexpr rule hbm_before_training{401, "hbm-before-training",
                                          "HBM was used before its training finished"};
inline constexpr rule link_before_training{402, "link-before-training",
                                           "the die-to-die link was used before it was up"};

// 500: PCI Express
inline constexpr rule host_read_of_nothing{
    501, "host-read-of-nothing", "the host read where the chip has nothing that can be read"};
inline constexpr rule host_write_to_nothing{
    502, "host-write-to-nothing", "the host wrote where the chip has nothing that can be written"};
inline constexpr rule host_access_refused{
    503, "host-access-refused",
    "the host used a BAR while memory space was off, or the function not in D0"};
inline constexpr rule dma_without_bus_master{
    504, "dma-without-bus-master", "DMA to the host before the driver allowed bus mastering"};
inline constexpr rule dma_outside_host_memory{
    505, "dma-outside-host-memory",
    "DMA to a host address that the host does not share, or not for that"};

inline constexpr std::array rules{doorbell_past_ring,      doorbell_without_ring,
                                  ring_id_mismatch,        first_bit_error,
                                  last_bit_error,          too_many_descriptors,
                                  packet_too_long,         length_mismatch,
                                  unmapped_descriptor,     unmapped_source,
                                  unmapped_destination,    ring_shape,
                                  unsupported_descriptor,  doorbell_on_aborted_queue,
                                  destination_starved,     semaphore_overflow,
                                  notification_ring_shape, notification_overflow,
                                  hbm_before_training,     link_before_training,
                                  host_read_of_nothing,    host_write_to_nothing,
                                  host_access_refused,     dma_without_bus_master,
                                  dma_outside_host_memory};

}  // namespace trn::misuse

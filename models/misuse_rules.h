// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "platform/framework/misuse/rule.h"
#include "platform/framework/registers/misuse_rules.h"

/// All rules that the models check; doc/rules.md has a section for each. A program installs the
/// list with misuse::set_rules().
namespace trn::misuse {

// DMA rings and descriptors
inline constexpr rule doorbell_past_ring{
    "TRN-DMA-001", "doorbell-past-ring",
    "the doorbell posted more descriptors than fit in the ring"};
inline constexpr rule doorbell_without_ring{"TRN-DMA-002", "doorbell-without-ring",
                                            "the doorbell of a queue whose ring has length zero"};
inline constexpr rule ring_id_mismatch{
    "TRN-DMA-003", "ring-id-mismatch",
    "a descriptor carries the ring id of another pass over the ring"};
inline constexpr rule first_bit_error{"TRN-DMA-004", "first-bit-error",
                                      "the first descriptor of a packet lacks the first bit"};
inline constexpr rule last_bit_error{"TRN-DMA-005", "last-bit-error",
                                     "a packet starts before the last bit of the previous packet"};
inline constexpr rule too_many_descriptors{"TRN-DMA-006", "too-many-descriptors",
                                           "a packet has more descriptors than the engine's limit"};
inline constexpr rule packet_too_long{"TRN-DMA-007", "packet-too-long",
                                      "a packet has more bytes than the engine's limit"};
inline constexpr rule length_mismatch{"TRN-DMA-008", "length-mismatch",
                                      "a packet ends inside a destination descriptor"};
inline constexpr rule unmapped_descriptor{
    "TRN-DMA-009", "unmapped-descriptor",
    "a descriptor was fetched from an address without a responding target"};
inline constexpr rule unmapped_source{"TRN-DMA-010", "unmapped-source",
                                      "DMA read from an address without a responding target"};
inline constexpr rule unmapped_destination{"TRN-DMA-011", "unmapped-destination",
                                           "DMA write to an address without a responding target"};
inline constexpr rule ring_shape{"TRN-DMA-012", "ring-shape", "an invalid ring length"};
inline constexpr rule unsupported_descriptor{"TRN-DMA-013", "unsupported-descriptor",
                                             "a descriptor has an unknown operation type"};
inline constexpr rule doorbell_on_aborted_queue{"TRN-DMA-014", "doorbell-on-aborted-queue",
                                                "the doorbell of a queue that stopped on an error"};
inline constexpr rule destination_starved{
    "TRN-DMA-015", "destination-starved",
    "a packet has more bytes than the destinations posted for it"};

inline constexpr rule ring_base_misaligned{"TRN-DMA-016", "ring-base-misaligned",
                                           "a ring base that is not aligned to 256 bytes"};
inline constexpr rule impossible_operation{"TRN-DMA-017", "impossible-operation",
                                           "a compute packet requests an unsupported operation"};
inline constexpr rule impossible_type{"TRN-DMA-018", "impossible-type",
                                      "a compute packet has incompatible element types"};
inline constexpr rule operand_length{
    "TRN-DMA-019", "operand-length",
    "the lengths of a compute packet's operands, elements and results do not fit"};
inline constexpr rule operand_overlap{"TRN-DMA-020", "operand-overlap",
                                      "a compute packet writes over its own operands or results"};
inline constexpr rule index_out_of_range{"TRN-DMA-021", "index-out-of-range",
                                         "a gather or scatter index is out of range"};
inline constexpr rule generator_command{"TRN-DMA-022", "generator-command",
                                        "an invalid descriptor generator command"};

// semaphores and events
inline constexpr rule semaphore_wrap{"TRN-SEM-001", "semaphore-wrap",
                                     "a semaphore left the range of signed 32 bits"};

inline constexpr rule semaphore_out_of_range{"TRN-SEM-002", "semaphore-out-of-range",
                                             "semaphore or event index out of range"};

// programs of NeuronCores
inline constexpr rule sram_read_unwritten{"TRN-NC-001", "sram-read-unwritten",
                                          "an engine read SBUF or PSUM that was never written"};
inline constexpr rule tile_race{
    "TRN-NC-002", "tile-race",
    "two agents use the same bytes of SBUF or PSUM, one writes, and no semaphore orders them",
    true};
inline constexpr rule psum_collision{
    "TRN-NC-003", "psum-collision",
    "Tensor and another engine write one PSUM bank at once, and no semaphore orders them", true};
inline constexpr rule psum_accumulate_undefined{
    "TRN-NC-004", "psum-accumulate-undefined",
    "a matmul accumulates on PSUM bytes that no matmul wrote"};
inline constexpr rule activation_out_of_range{
    "TRN-NC-005", "activation-out-of-range",
    "an activation function was given a value outside the range that it is specified for"};
inline constexpr rule reduce_without_reset{
    "TRN-NC-006", "reduce-without-reset",
    "a reduction continues on accumulators that are undefined"};

// notification queues
inline constexpr rule notification_ring_shape{
    "TRN-NQ-001", "notification-ring-shape", "a notification ring whose size or base is not legal"};
inline constexpr rule notification_overflow{
    "TRN-NQ-002", "notification-overflow",
    "notifications were lost: the ring's memory responded too late"};

// memories and links of a chip
inline constexpr rule hbm_before_training{"TRN-MEM-001", "hbm-before-training",
                                          "HBM was used before its training finished"};
inline constexpr rule link_before_training{"TRN-MEM-002", "link-before-training",
                                           "the die-to-die link was used before it was up"};
inline constexpr rule no_neighbour{"TRN-MEM-003", "no-neighbour",
                                   "an access through a neighbour window without a chip"};
inline constexpr rule not_of_the_neighbour{
    "TRN-MEM-004", "not-of-the-neighbour",
    "a neighbour window was used outside the neighbour's blocks"};
inline constexpr rule dma_from_unwritten_hbm{"TRN-MEM-005", "dma-from-unwritten-hbm",
                                             "DMA read unwritten HBM"};

// NeuronLink
inline constexpr rule no_route{"TRN-NLK-001", "no-route", "no route to a fabric address"};
inline constexpr rule hop_limit{"TRN-NLK-002", "hop-limit",
                                "an access exceeded the hop limit: the routes have a loop"};
inline constexpr rule port_down{"TRN-NLK-003", "port-down",
                                "an access through a NeuronLink port whose link is down"};

// PCI Express
inline constexpr rule host_read_of_nothing{"TRN-PCI-001", "host-read-of-nothing",
                                           "the host read an offset without a readable block"};
inline constexpr rule host_write_to_nothing{"TRN-PCI-002", "host-write-to-nothing",
                                            "the host wrote an offset without a writable block"};
inline constexpr rule host_access_refused{
    "TRN-PCI-003", "host-access-refused",
    "the host used a BAR while memory space was off, or the function not in D0"};
inline constexpr rule dma_without_bus_master{
    "TRN-PCI-004", "dma-without-bus-master",
    "DMA to the host before the driver allowed bus mastering"};
inline constexpr rule dma_outside_host_memory{
    "TRN-PCI-005", "dma-outside-host-memory",
    "DMA to a host address that is not mapped, or not in this direction"};
inline constexpr rule host_left_during_dma{"TRN-PCI-006", "host-left-during-dma",
                                           "the host left while DMA was active"};

// mailbox
inline constexpr rule mailbox_overrun{"TRN-MBX-001", "mailbox-overrun",
                                      "the host overwrote a request before firmware's response"};
inline constexpr rule mailbox_bad_crc{"TRN-MBX-002", "mailbox-bad-crc",
                                      "a request whose CRC does not match"};
inline constexpr rule mailbox_bad_request{
    "TRN-MBX-003", "mailbox-bad-request",
    "a request whose sequence or size is not legal, or that cannot be read"};
inline constexpr rule mailbox_unknown_command{"TRN-MBX-004", "mailbox-unknown-command",
                                              "unknown mailbox command"};

inline constexpr rule firmware_word_overwritten{
    "TRN-MBX-005", "firmware-word-overwritten",
    "a word of misc RAM that only firmware writes was overwritten"};

// resets and boot
inline constexpr rule reset_while_owned{
    "TRN-RST-001", "reset-while-owned",
    "software reset a host-transfer engine that still owned descriptors"};

inline constexpr rule access_while_booting{
    "TRN-RST-002", "access-while-booting",
    "the host used a chip whose firmware had not published its routing id"};
inline constexpr rule reset_unknown_request{"TRN-RST-003", "reset-unknown-request",
                                            "unknown kind of reset request"};

// firmware
inline constexpr rule firmware_bus_error{
    "TRN-FW-001", "firmware-bus-error", "firmware accessed an address without a responding target"};

inline constexpr rule firmware_watchdog_bite{"TRN-FW-002", "firmware-watchdog-bite",
                                             "firmware did not serve its watchdog"};

/// In the order of doc/rules.md.
inline constexpr std::array all_rules{doorbell_past_ring,
                                      doorbell_without_ring,
                                      ring_id_mismatch,
                                      first_bit_error,
                                      last_bit_error,
                                      too_many_descriptors,
                                      packet_too_long,
                                      length_mismatch,
                                      unmapped_descriptor,
                                      unmapped_source,
                                      unmapped_destination,
                                      ring_shape,
                                      unsupported_descriptor,
                                      doorbell_on_aborted_queue,
                                      destination_starved,
                                      ring_base_misaligned,
                                      impossible_operation,
                                      impossible_type,
                                      operand_length,
                                      operand_overlap,
                                      index_out_of_range,
                                      generator_command,
                                      semaphore_wrap,
                                      semaphore_out_of_range,
                                      sram_read_unwritten,
                                      tile_race,
                                      psum_collision,
                                      psum_accumulate_undefined,
                                      activation_out_of_range,
                                      reduce_without_reset,
                                      notification_ring_shape,
                                      notification_overflow,
                                      hbm_before_training,
                                      link_before_training,
                                      no_neighbour,
                                      not_of_the_neighbour,
                                      dma_from_unwritten_hbm,
                                      no_route,
                                      hop_limit,
                                      port_down,
                                      host_read_of_nothing,
                                      host_write_to_nothing,
                                      host_access_refused,
                                      dma_without_bus_master,
                                      dma_outside_host_memory,
                                      host_left_during_dma,
                                      mailbox_overrun,
                                      mailbox_bad_crc,
                                      mailbox_bad_request,
                                      mailbox_unknown_command,
                                      firmware_word_overwritten,
                                      reset_while_owned,
                                      access_while_booting,
                                      reset_unknown_request,
                                      firmware_bus_error,
                                      firmware_watchdog_bite,
                                      write_to_read_only,
                                      read_of_write_only,
                                      wrong_width,
                                      no_such_register};

}  // namespace trn::misuse

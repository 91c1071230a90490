// SPDX-License-Identifier: Apache-2.0
// A firmware image in flash: this header, then the payload. firmware/tools/pack_image.py writes it.
#pragma once

#include <stdint.h>

#define IMAGE_MAGIC 0x494e5254  // "TRNI"
#define IMAGE_FORMAT 1

struct image_header {
    uint32_t magic;
    uint32_t format;
    uint32_t length;       ///< bytes of the payload
    uint32_t payload_crc;  ///< CRC-32C
    uint64_t load_address;
    uint64_t entry;
    char version[28];     ///< NUL-terminated
    uint32_t header_crc;  ///< CRC-32C of everything before
};
_Static_assert(sizeof(struct image_header) == 64, "the packer writes 64 bytes");

enum image_fault {
    IMAGE_OK,
    IMAGE_BAD_MAGIC,
    IMAGE_BAD_HEADER_CRC,
    IMAGE_BAD_FORMAT,
    IMAGE_BAD_LENGTH,
    IMAGE_BAD_PLACE,
    IMAGE_BAD_PAYLOAD_CRC,
};
/// Where an image may go, and how long it may be.
struct image_limits {
    uint32_t slot_size;   ///< header included
    uint64_t first, end;  ///< memory that images may occupy
};

enum image_fault image_check_header(const struct image_header* header,
                                    const struct image_limits* limits);
/// `payload` has header->length bytes.
enum image_fault image_check_payload(const struct image_header* header, const void* payload);
const char* image_fault_text(enum image_fault fault);

// Flash layout.
#define IMAGE_SLOT_A 0x00000
#define IMAGE_SLOT_B 0x60000
#define IMAGE_SLOT_SIZE 0x60000

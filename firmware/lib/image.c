// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/image.h"

#include <stddef.h>
#include <string.h>

#include "firmware/lib/crc32c.h"

enum image_fault image_check_header(const struct image_header* header,
                                    const struct image_limits* limits) {
    if (header->magic != IMAGE_MAGIC) return IMAGE_BAD_MAGIC;
    if (crc32c(header, offsetof(struct image_header, header_crc)) != header->header_crc)
        return IMAGE_BAD_HEADER_CRC;
    if (header->format != IMAGE_FORMAT ||
        memchr(header->version, 0, sizeof header->version) == NULL)
        return IMAGE_BAD_FORMAT;
    if (header->length == 0 || header->length > limits->slot_size - sizeof *header)
        return IMAGE_BAD_LENGTH;
    if (header->load_address < limits->first || header->load_address > limits->end ||
        header->length > limits->end - header->load_address || header->load_address % 8 != 0 ||
        header->entry % 2 != 0 || header->entry < header->load_address ||
        header->entry - header->load_address >= header->length)
        return IMAGE_BAD_PLACE;
    return IMAGE_OK;
}

enum image_fault image_check_payload(const struct image_header* header, const void* payload) {
    return crc32c(payload, header->length) == header->payload_crc ? IMAGE_OK
                                                                  : IMAGE_BAD_PAYLOAD_CRC;
}

const char* image_fault_text(enum image_fault fault) {
    switch (fault) {
    case IMAGE_OK:
        return "ok";
    case IMAGE_BAD_MAGIC:
        return "no image (bad magic)";
    case IMAGE_BAD_HEADER_CRC:
        return "header CRC mismatch";
    case IMAGE_BAD_FORMAT:
        return "unknown header format";
    case IMAGE_BAD_LENGTH:
        return "length does not fit the slot";
    case IMAGE_BAD_PLACE:
        return "load address or entry outside SRAM";
    case IMAGE_BAD_PAYLOAD_CRC:
        return "payload CRC mismatch";
    }
    return "unknown fault";
}

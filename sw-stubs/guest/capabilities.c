/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of PCI Local Bus 3.0 section 6.7 and PCI Express Base 6.0 section 7.6, walked as lspci
 * -vv does. Numbers and offsets are those of <linux/pci_regs.h>. */
#include <linux/pci_regs.h>
#include <stdio.h>

#include "sw-stubs/guest/program.h"

static uint32_t config(const struct subject* subject, uint32_t offset, uint32_t width) {
    uint32_t value = ~0u;
    subject->transport.config_read(subject->transport.context, offset, width, &value);
    return value;
}

static bool msix(const struct subject* subject, uint32_t offset) {
    const uint32_t vectors =
        (config(subject, offset + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_QSIZE) + 1;
    const uint32_t table = config(subject, offset + PCI_MSIX_TABLE, 4);
    const uint32_t bar = table & PCI_MSIX_TABLE_BIR, table_offset = table & PCI_MSIX_TABLE_OFFSET;
    say(subject, "capability", "[%02x] MSI-X: %u vectors, table in BAR%u at %#x", offset, vectors,
        bar, table_offset);
    const uint64_t room =
        bar > 5 ? 0 : subject->transport.bar_size(subject->transport.context, bar);
    return table_offset + UINT64_C(16) * vectors <= room ||
           wrong(subject, "capability", "the MSI-X table is outside BAR%u", bar);
}

static bool express(const struct subject* subject, uint32_t offset) {
    const uint32_t flags = config(subject, offset + PCI_EXP_FLAGS, 2);
    const uint32_t link = config(subject, offset + PCI_EXP_LNKSTA, 2);
    const uint32_t able = config(subject, offset + PCI_EXP_DEVCAP, 4);
    say(subject, "capability", "[%02x] PCI Express: version %u, type %u, link x%u at speed %u%s",
        offset, flags & PCI_EXP_FLAGS_VERS, (flags & PCI_EXP_FLAGS_TYPE) >> 4,
        (link & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT, link & PCI_EXP_LNKSTA_CLS,
        (able & PCI_EXP_DEVCAP_FLR) != 0 ? ", FLR" : "");
    const uint32_t type = (flags & PCI_EXP_FLAGS_TYPE) >> 4;
    /* On a root bus QEMU turns every endpoint into an integrated endpoint without a link. */
    return type == PCI_EXP_TYPE_ENDPOINT || type == PCI_EXP_TYPE_RC_END ||
           wrong(subject, "capability", "type %u is not an endpoint", type);
}

static bool walk_list(const struct subject* subject) {
    bool has_express = false, ok = true;
    if ((config(subject, PCI_STATUS, 2) & PCI_STATUS_CAP_LIST) == 0)
        return wrong(subject, "capability", "no capability list");
    uint32_t offset = config(subject, PCI_CAPABILITY_LIST, 1);
    for (int steps = 0; offset != 0 && ok; ++steps) {
        if (steps == 48 || offset < 0x40 || offset % 4 != 0)
            return wrong(subject, "capability", "the list is broken at %02x", offset);
        const uint32_t id = config(subject, offset, 1);
        if (id == PCI_CAP_ID_MSIX) {
            ok = msix(subject, offset);
        } else if (id == PCI_CAP_ID_EXP) {
            has_express = true;
            ok = express(subject, offset);
        } else {
            say(subject, "capability", "[%02x] id %02x", offset, id);
        }
        offset = config(subject, offset + 1, 1);
    }
    return ok && (has_express || wrong(subject, "capability", "no PCI Express capability"));
}

static bool walk_extended_list(const struct subject* subject) {
    uint32_t offset = 0x100;
    for (int steps = 0; offset != 0; ++steps) {
        const uint32_t header = config(subject, offset, 4);
        if (header == 0 && offset == 0x100) break; /* none */
        if (steps == 960 || offset < 0x100 || offset % 4 != 0 || header == ~0u)
            return wrong(subject, "capability", "the extended list is broken at %03x", offset);
        if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_DSN)
            say(subject, "capability", "[%03x] device serial number %08x%08x", offset,
                config(subject, offset + 8, 4), config(subject, offset + 4, 4));
        else
            say(subject, "capability", "[%03x] extended id %04x version %u", offset,
                PCI_EXT_CAP_ID(header), PCI_EXT_CAP_VER(header));
        offset = PCI_EXT_CAP_NEXT(header);
    }
    return true;
}

bool walk_capabilities(const struct subject* subject) {
    say(subject, "function", "%04x:%04x revision %u, class %06x", config(subject, PCI_VENDOR_ID, 2),
        config(subject, PCI_DEVICE_ID, 2), config(subject, PCI_REVISION_ID, 1),
        config(subject, PCI_CLASS_REVISION, 4) >> 8);
    for (uint32_t bar = 0; bar < 6; ++bar) {
        const uint64_t size = subject->transport.bar_size(subject->transport.context, bar);
        if (size != 0)
            say(subject, "function", "BAR%u of %llu KiB", bar, (unsigned long long)size >> 10);
    }
    return walk_list(subject) && walk_extended_list(subject);
}

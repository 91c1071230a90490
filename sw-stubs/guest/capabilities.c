/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of PCI Local Bus 3.0 section 6.7 and PCI Express Base 6.0 section 7.6, walked as lspci
 * -vv does. Numbers and offsets are those of <linux/pci_regs.h>. */
#include <linux/pci_regs.h>
#include <stdio.h>

#include "sw-stubs/guest/program.h"

static uint32_t config(const struct subject* at, uint32_t offset, uint32_t width) {
    uint32_t value = ~0u;
    at->transport.config_read(at->transport.context, offset, width, &value);
    return value;
}

static bool msix(const struct subject* at, uint32_t where) {
    const uint32_t vectors = (config(at, where + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_QSIZE) + 1;
    const uint32_t table = config(at, where + PCI_MSIX_TABLE, 4);
    const uint32_t bar = table & PCI_MSIX_TABLE_BIR, offset = table & PCI_MSIX_TABLE_OFFSET;
    say(at, "capability", "[%02x] MSI-X: %u vectors, table in BAR%u at %#x", where, vectors, bar,
        offset);
    const uint64_t room = bar > 5 ? 0 : at->transport.bar_size(at->transport.context, bar);
    return offset + UINT64_C(16) * vectors <= room ||
           wrong(at, "capability", "the MSI-X table is outside BAR%u", bar);
}

static bool express(const struct subject* at, uint32_t where) {
    const uint32_t flags = config(at, where + PCI_EXP_FLAGS, 2);
    const uint32_t link = config(at, where + PCI_EXP_LNKSTA, 2);
    const uint32_t able = config(at, where + PCI_EXP_DEVCAP, 4);
    say(at, "capability", "[%02x] PCI Express: version %u, type %u, link x%u at speed %u%s", where,
        flags & PCI_EXP_FLAGS_VERS, (flags & PCI_EXP_FLAGS_TYPE) >> 4,
        (link & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT, link & PCI_EXP_LNKSTA_CLS,
        (able & PCI_EXP_DEVCAP_FLR) != 0 ? ", FLR" : "");
    const uint32_t type = (flags & PCI_EXP_FLAGS_TYPE) >> 4;
    /* On a root bus QEMU turns every endpoint into an integrated endpoint without a link. */
    return type == PCI_EXP_TYPE_ENDPOINT || type == PCI_EXP_TYPE_RC_END ||
           wrong(at, "capability", "type %u is not an endpoint", type);
}

static bool walk_list(const struct subject* at) {
    bool has_express = false, ok = true;
    if ((config(at, PCI_STATUS, 2) & PCI_STATUS_CAP_LIST) == 0)
        return wrong(at, "capability", "no capability list");
    uint32_t where = config(at, PCI_CAPABILITY_LIST, 1);
    for (int steps = 0; where != 0 && ok; ++steps) {
        if (steps == 48 || where < 0x40 || where % 4 != 0)
            return wrong(at, "capability", "the list is broken at %02x", where);
        const uint32_t id = config(at, where, 1);
        if (id == PCI_CAP_ID_MSIX) {
            ok = msix(at, where);
        } else if (id == PCI_CAP_ID_EXP) {
            has_express = true;
            ok = express(at, where);
        } else {
            say(at, "capability", "[%02x] id %02x", where, id);
        }
        where = config(at, where + 1, 1);
    }
    return ok && (has_express || wrong(at, "capability", "no PCI Express capability"));
}

static bool walk_extended_list(const struct subject* at) {
    uint32_t where = 0x100;
    for (int steps = 0; where != 0; ++steps) {
        const uint32_t header = config(at, where, 4);
        if (header == 0 && where == 0x100) break; /* none */
        if (steps == 960 || where < 0x100 || where % 4 != 0 || header == ~0u)
            return wrong(at, "capability", "the extended list is broken at %03x", where);
        if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_DSN)
            say(at, "capability", "[%03x] device serial number %08x%08x", where,
                config(at, where + 8, 4), config(at, where + 4, 4));
        else
            say(at, "capability", "[%03x] extended id %04x version %u", where,
                PCI_EXT_CAP_ID(header), PCI_EXT_CAP_VER(header));
        where = PCI_EXT_CAP_NEXT(header);
    }
    return true;
}

bool walk_capabilities(const struct subject* at) {
    say(at, "function", "%04x:%04x revision %u, class %06x", config(at, PCI_VENDOR_ID, 2),
        config(at, PCI_DEVICE_ID, 2), config(at, PCI_REVISION_ID, 1),
        config(at, PCI_CLASS_REVISION, 4) >> 8);
    for (uint32_t bar = 0; bar < 6; ++bar) {
        const uint64_t size = at->transport.bar_size(at->transport.context, bar);
        if (size != 0)
            say(at, "function", "BAR%u of %llu KiB", bar, (unsigned long long)size >> 10);
    }
    return walk_list(at) && walk_extended_list(at);
}

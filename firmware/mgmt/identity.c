// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/identity.h"

#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/lib/version.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/topology.h"

void identity_publish(void) {
    const struct boot_straps straps = boot_straps_read();
    misc_ram_write(MISC_RAM(API_VERSION), generation->api_version);
    misc_ram_write(MISC_RAM(SERIAL_LO), straps.serial_low);
    misc_ram_write(MISC_RAM(SERIAL_HI), straps.serial_high);
    const struct topology machine = topology_from_straps(straps.topology, straps.place);
    misc_ram_write(MISC_RAM(SERVER_ID), topology_server_id(&machine, straps.server));
    misc_ram_write(MISC_RAM(BUILD_NUMBER), firmware_build);
    misc_ram_write(MISC_RAM(INSTANCE), 0);  // no partitions, no reservation
    misc_ram_write(MISC_RAM(RESERVATION_HI), 0);
    misc_ram_write(MISC_RAM(RESERVATION_LO), 0);
}

void identity_publish_routing_id(void) {
    misc_ram_write(MISC_RAM(ROUTING_ID), boot_straps_read().routing_id);
}

// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/publication.h"

#include "firmware/mgmt/health.h"
#include "firmware/mgmt/identity.h"
#include "firmware/mgmt/links.h"
#include "firmware/mgmt/power.h"
#include "firmware/mgmt/reset_counts.h"

void publication_write(void) {
    identity_publish();
    health_publish();
    reset_counts_publish();
    power_sample();
    links_publish();
}

void publication_renew(void) {
    publication_write();
    identity_publish_routing_id();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Election of a pod's node ids, as by the driver of each server after all devices are reset
 * (contract 11), with the driver's time limits in the guest's time. */
#include "sw-stubs/guest/program.h"

static bool open_reset(struct subject* subject) {
    const trn_options options = {.platform = TRN_HOST_ULTRASERVER};
    return open_transport(subject) && create_device(subject, &options) &&
           good(subject, "probe", trn_probe(subject->device)) &&
           good(subject, "reset", trn_reset_device(subject->device));
}

bool elect(struct subject* subjects, int count) {
    const uint64_t limit = UINT64_C(600000000000); /* ns, as the driver */
    trn_device* devices[MAX_DEVICES];
    for (int i = 0; i < count; ++i) {
        if (!open_reset(&subjects[i])) return false;
        devices[i] = subjects[i].device;
    }
    const double start = seconds_now();
    trn_pod pod;
    if (!good(&subjects[0], "elect", trn_pod_elect_node(devices, (uint32_t)count, limit, &pod)))
        return false;
    say(&subjects[0], "elect", "node %u of %u, links %u, pod %016llx: %.1f s", pod.node, pod.nodes,
        pod.links, (unsigned long long)pod.serial, seconds_now() - start);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "sw-stubs/guest/program.h"

/* Opening of devices, output of results, and the clock of measurements. */

static void line(const struct subject* subject, const char* step, const char* mark,
                 const char* format, va_list values) {
    printf("%s %-12s %s", subject->function.name, step, mark);
    vprintf(format, values);
    printf("\n");
    fflush(stdout);
}

void say(const struct subject* subject, const char* step, const char* format, ...) {
    va_list values;
    va_start(values, format);
    line(subject, step, "", format, values);
    va_end(values);
}

bool wrong(const struct subject* subject, const char* step, const char* format, ...) {
    va_list values;
    va_start(values, format);
    line(subject, step, "WRONG: ", format, values);
    va_end(values);
    return false;
}

bool good(const struct subject* subject, const char* step, trn_status status) {
    if (status == TRN_OK) return true;
    return wrong(subject, step, "%s: %s", trn_status_text(status), trn_last_error(subject->device));
}

bool open_transport(struct subject* subject) {
    char why[160] = "";
    const int error =
        subject->via_driver
            ? trn_neuron_transport(subject->number, &subject->transport, why, sizeof why)
            : trn_sysfs_transport(subject->function.name, &subject->transport, why, sizeof why);
    return error == 0 || wrong(subject, "open", "%s", why);
}

bool create_device(struct subject* subject, const trn_options* options) {
    subject->device = trn_create(&subject->transport, options);
    return subject->device != NULL || wrong(subject, "open", "no memory");
}

double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

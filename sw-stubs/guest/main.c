/* SPDX-License-Identifier: Apache-2.0 */
/* Drives every Trainium function of the machine it runs on, as root, through PCI sysfs or the
 * public Neuron driver: the driver stub in a Linux guest. Exit status 0: all checks passed; 1: a
 * check failed; 2: usage. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif
#include <termios.h>
#include <unistd.h>

#include "sw-stubs/guest/program.h"

/* Platform from SMBIOS (contract 1.5); standard if the kernel does not provide it. */
static trn_host_platform platform_of_machine(void) {
    char product[128] = "";
    FILE* file = fopen("/sys/class/dmi/id/product_name", "r");
    if (file) {
        if (!fgets(product, sizeof product, file)) product[0] = 0;
        fclose(file);
    }
    return trn_platform_of_product(product);
}

static bool open_subject(struct subject* subject) {
    const trn_options options = {.platform = platform_of_machine()};
    return open_transport(subject) && create_device(subject, &options);
}

/* All devices stay open until the last one is done, as with a loaded driver. */
static bool check_all(struct subject* subjects, int count) {
    const double start = seconds_now();
    bool all = true;
    for (int i = 0; i < count; ++i)
        all = open_subject(&subjects[i]) && walk_capabilities(&subjects[i]) &&
              check_device(&subjects[i]) && all;
    printf("%d device%s: %s in %.1f s\n", count, count == 1 ? "" : "s",
           all ? "all is well" : "something is WRONG", seconds_now() - start);
    return all;
}

static bool run_on_all(struct subject* subjects, int count, uint32_t core, char** words,
                       int word_count) {
    bool all = true;
    for (int i = 0; i < count; ++i)
        all = open_subject(&subjects[i]) &&
              run_program(&subjects[i], core, words[0], words + 1, word_count - 1) && all;
    return all;
}

static bool read_core(const char* text, uint32_t* core) {
    char* end = NULL;
    const unsigned long number = strtoul(text, &end, 0);
    *core = (uint32_t)number;
    return *text >= '0' && *text <= '9' && *end == 0 && number < 256;
}

static int find_devices(struct subject* subjects) {
    const unsigned found = trn_neuron_count();
    const int count = (int)(found < MAX_DEVICES ? found : MAX_DEVICES);
    for (int i = 0; i < count; ++i) {
        subjects[i].via_driver = true;
        subjects[i].number = (unsigned)i;
        snprintf(subjects[i].function.name, sizeof subjects[i].function.name, "neuron%d", i);
    }
    return count;
}

/* Excludes the vendor's network cards and disks. */
static bool is_chip(const char* function) {
    char path[96];
    unsigned class_code = 0;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.15s/class", function);
    FILE* file = fopen(path, "r");
    if (file == NULL) return false;
    const bool known = fscanf(file, "%x", &class_code) == 1;
    fclose(file);
    return known && class_code >> 16 == 0x12; /* processing accelerator */
}

static int find_chips(struct subject* subjects) {
    trn_sysfs_function functions[MAX_FUNCTIONS];
    const int found = trn_sysfs_find(TRN_VENDOR, functions, MAX_FUNCTIONS);
    int count = 0;
    for (int i = 0; i < found && i < MAX_FUNCTIONS && count < MAX_DEVICES; ++i)
        if (is_chip(functions[i].name)) subjects[count++].function = functions[i];
    return count;
}

static int usage(void) {
    fprintf(
        stderr,
        "usage: trn-guest [check]   capabilities, reset, firmware, DMA of every device\n"
        "       trn-guest bench     measure the first device\n"
        "       trn-guest elect     find this machine's node id in its pod\n"
        "       trn-guest program [--via sysfs|neuron] CORE SET [TENSOR=FILE ...]\n"
        "                           run a program set on a core of every device: inputs from\n"
        "                           files, outputs compared with files; of an inout tensor\n"
        "                           the first file is written, a second one compared; `neuron`\n"
        "                           is the public driver, which must be loaded\n"
        "       trn-guest count N   nothing but whether there are N devices\n"
        "       trn-guest errors    let PCI functions and bridges report errors, as firmware does\n"
        "       trn-guest end STATUS PLACE  leave the status of the machine: by the port of "
        "QEMU's\n"
        "                           debug exit device, which ends QEMU, or on a console\n");
    return 2;
}

/* The byte is the status plus one, to distinguish it from QEMU's own failures. */
static void end_by_port(int status, unsigned long port) {
#ifdef __x86_64__
    if (port <= 0xffff && ioperm(port, 1, 1) == 0)
        outb((unsigned char)(status + 1), (unsigned short)port);
#else
    (void)status, (void)port; /* only x86 has ports */
#endif
}

/* Leaves the status with QEMU: by its debug exit device, which stops the machine, or as a line on a
 * second console, after which the caller powers off. Flushes the consoles first. */
static int end_machine(const char* status, const char* place) {
    tcdrain(STDOUT_FILENO);
    if (place[0] != '/') {
        end_by_port(atoi(status), strtoul(place, NULL, 0));
        return 1; /* not in a machine with an exit device */
    }
    const int console = open(place, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (console < 0) return 1;
    const bool ok = dprintf(console, "\nstatus %d\n", atoi(status)) > 0 && tcdrain(console) == 0;
    close(console);
    return ok ? 0 : 1;
}

int main(int argc, char** argv) {
    static struct subject subjects[MAX_DEVICES];
    const char* command = argc < 2 ? "check" : argv[1];
    const bool runs = strcmp(command, "program") == 0;
    bool via_driver = false;
    if (runs && argc > 3 && strcmp(argv[2], "--via") == 0) {
        via_driver = strcmp(argv[3], "neuron") == 0;
        if (!via_driver && strcmp(argv[3], "sysfs") != 0) return usage();
        argv += 2, argc -= 2;
    }
    if (argc == 2 && strcmp(command, "errors") == 0) return enable_error_messages() ? 0 : 1;
    const int count = via_driver ? find_devices(subjects) : find_chips(subjects);

    if (argc == 3 && strcmp(command, "count") == 0) {
        char text[16];
        snprintf(text, sizeof text, "%d", count);
        printf("%d devices\n", count);
        return strcmp(text, argv[2]) == 0 ? 0 : 1;
    }
    if (argc == 4 && strcmp(command, "end") == 0) return end_machine(argv[2], argv[3]);
    uint32_t core = 0;
    if (runs ? argc < 4 || !read_core(argv[2], &core) : argc > 2) return usage();
    if (count <= 0) {
        if (via_driver)
            fprintf(stderr, "trn-guest: no /dev/neuron0: the public driver is not loaded\n");
        else
            fprintf(stderr, "trn-guest: no accelerator of vendor %04x\n", TRN_VENDOR);
        return 1;
    }
    bool ok = false;
    if (runs)
        ok = run_on_all(subjects, count, core, argv + 3, argc - 3);
    else if (strcmp(command, "check") == 0)
        ok = check_all(subjects, count);
    else if (strcmp(command, "bench") == 0)
        ok = measure(&subjects[0]);
    else if (strcmp(command, "elect") == 0)
        ok = elect(subjects, count);
    else
        return usage();
    for (int i = 0; i < count; ++i) trn_destroy(subjects[i].device);
    return ok ? 0 : 1;
}

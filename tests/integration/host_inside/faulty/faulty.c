// SPDX-License-Identifier: Apache-2.0
/* A module that does what no driver should: insmod faulty.ko does=WORD. */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

static char* does = "";
module_param(does, charp, 0);

static int twice(void) {
    void* memory = kmalloc(64, GFP_KERNEL);

    kfree(memory);
    kfree(memory);
    return 0;
}

/* Reads and writes each register of the first function of the vendor's class. */
static int poke(void) {
    struct pci_dev* chip = pci_get_device(0x1d0f, PCI_ANY_ID, NULL);
    void __iomem* bar;
    unsigned long at;

    while (chip && chip->class >> 16 != 0x12) chip = pci_get_device(0x1d0f, PCI_ANY_ID, chip);
    if (!chip || pci_enable_device(chip)) return -ENODEV;
    pci_set_master(chip);
    bar = pci_iomap_range(chip, 0, 0, 1 << 20);
    if (!bar) return -ENOMEM;
    for (at = 0; at < 1 << 20; at += 1021 * 4) {
        writel(0xdeadbeef ^ at, bar + at);
        readl(bar + at);
        readb(bar + at + 3);
        writew(at, bar + at + 2);
    }
    pci_iounmap(chip, bar);
    pci_disable_device(chip);
    pci_dev_put(chip);
    return 0;
}

static int __init faulty_init(void) {
    if (!strcmp(does, "spin")) {
        local_irq_disable();
        for (;;) cpu_relax();
    }
    if (!strcmp(does, "panic")) panic("faulty");
    if (!strcmp(does, "null")) *(volatile int*)NULL = 1;
    if (!strcmp(does, "twice")) return twice();
    if (!strcmp(does, "poke")) return poke();
    return -EINVAL;
}
module_init(faulty_init);

MODULE_DESCRIPTION("What no driver should do");
MODULE_LICENSE("GPL"); /* for the kernel's symbols */

// SPDX-License-Identifier: Apache-2.0
// The first process of the kernel test: prints a message from user mode, uses floating point, and
// powers off.
static long call(long number, long a, long b, long c) {
    register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c,
                     a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}
enum { ioctl_call = 29, write_call = 64, reboot_call = 142 };
enum { wait_until_sent = 0x5409 /* TCSBRK */ };
static void say(const char* text) {
    long length = 0;
    while (text[length]) ++length;
    call(write_call, 1, (long)text, length);
}
void _start(void) {
    volatile double third = 1.0 / 3;
    say(third * 3 == 1.0 ? "hello from user mode\n" : "floating point is wrong\n");
    call(ioctl_call, 1, wait_until_sent, 1);
    call(reboot_call, (long)0xfee1dead, 672274793, 0x4321fedc);
    for (;;) {
    }
}

// SPDX-License-Identifier: Apache-2.0
// Prints what IMSIC, APLIC and the CSRs of a hart do, on QEMU's machine "virt" with
// aia=aplic-imsic, or with LINES the APLIC without IMSICs (aia=aplic), and on ours. Left out is
// what QEMU 7.2 does in another way (priorities of major interrupts can be written, software sets
// and clears pending bits of levels, target has reserved bits, sources that are not delegated can
// be configured) and what may differ (reserved registers of an interrupt file).
#include <stdint.h>

typedef volatile uint32_t word;
#define AT(address) (*(word*)(uintptr_t)(address))
#define TEXT(x) #x
#define READ(csr)                                       \
    ({                                                  \
        uint64_t v_;                                    \
        asm volatile("csrr %0, " TEXT(csr) : "=r"(v_)); \
        v_;                                             \
    })
#define WRITE(csr, value) asm volatile("csrw " TEXT(csr) ", %0" ::"r"((uint64_t)(value)))
#define SET(csr, value) asm volatile("csrs " TEXT(csr) ", %0" ::"r"((uint64_t)(value)))
#define CLEAR(csr, value) asm volatile("csrc " TEXT(csr) ", %0" ::"r"((uint64_t)(value)))
#define CLAIM(csr)                                              \
    ({                                                          \
        uint64_t v_;                                            \
        asm volatile("csrrw %0, " TEXT(csr) ", x0" : "=r"(v_)); \
        v_;                                                     \
    })

#define SISELECT 0x150
#define SIREG 0x151
#define STOPEI 0x15c
#define STOPI 0xdb0
#define MISELECT 0x350
#define MIREG 0x351
#define MTOPEI 0x35c
#define MTOPI 0xfb0

enum { EIDELIVERY = 0x70, EITHRESHOLD = 0x72, EIP = 0x80, EIE = 0xc0 };
enum { SEI = 1 << 9, MEI = 1 << 11, MIE = 1 << 3, SIE = 1 << 1 };
enum { MACHINE_FILES = 0x24000000, SUPERVISOR_FILES = 0x28000000, UART = 0x10000000 };
enum { M_DOMAIN = 0x0c000000, S_DOMAIN = 0x0d000000 };
enum {
    DOMAINCFG = 0,
    SOURCECFG = 0,  // + 4 * source
    MMSIADDRCFG = 0x1bc0,
    SMSIADDRCFG = 0x1bc8,
    SETIP = 0x1c00,
    SETIPNUM = 0x1cdc,
    IN_CLRIP = 0x1d00,
    CLRIPNUM = 0x1ddc,
    SETIE = 0x1e00,
    SETIENUM = 0x1edc,
    CLRIE = 0x1f00,
    CLRIENUM = 0x1fdc,
    SETIPNUM_LE = 0x2000,
    GENMSI = 0x3000,
    TARGET = 0x3000,  // + 4 * source
};

void in_supervisor_mode(void (*function)(void));

static volatile uint64_t illegal, machine_claimed, supervisor_claimed, answer;

// --- Output

static void put(char c) {
    while ((*(volatile uint8_t*)(UART + 5) & 0x20) == 0) {
    }
    *(volatile uint8_t*)UART = (uint8_t)c;
}
static void print(const char* text) {
    while (*text) put(*text++);
}
static void show(const char* name, uint64_t value) {
    print(name);
    for (int shift = 60; shift >= 0; shift -= 4) put("0123456789abcdef"[value >> shift & 15]);
    put('\n');
}

// --- Traps

__attribute__((interrupt("machine"), aligned(4))) void machine_trap(void) {
    const uint64_t cause = READ(mcause);
    if (cause >> 63) {
        machine_claimed = CLAIM(0x35c);
        return;
    }
    if (cause == 2) ++illegal;
    if (cause == 9) SET(mstatus, 0x1800);  // ecall: continues in machine mode
    WRITE(mepc, READ(mepc) + 4);
}

__attribute__((interrupt("supervisor"), aligned(4))) void supervisor_trap(void) {
    supervisor_claimed = CLAIM(0x15c);
}

// --- Windows

static void machine_write(uint64_t select, uint64_t value) {
    WRITE(0x350, select);
    WRITE(0x351, value);
}
static uint64_t machine_read(uint64_t select) {
    WRITE(0x350, select);
    return READ(0x351);
}
static void supervisor_write(uint64_t select, uint64_t value) {
    WRITE(0x150, select);
    WRITE(0x151, value);
}
static uint64_t supervisor_read(uint64_t select) {
    WRITE(0x150, select);
    return READ(0x151);
}

static uint64_t external_lines(void) {
    return READ(mip) & (MEI | SEI);
}

static void show_windows(void) {
    static const uint16_t selects[] = {0x00, 0x30, 0x31, 0x32, 0x3f, 0x40, 0x6f, 0x70, 0x72,
                                       0x80, 0x81, 0x82, 0x86, 0x87, 0xc0, 0xc1, 0xc6, 0xff};
    for (unsigned i = 0; i < sizeof selects / sizeof *selects; ++i) {
        show("select ", selects[i]);
        illegal = 0;
        const uint64_t m = machine_read(selects[i]);
        const int is_priority = selects[i] < 0x40;
        show("  machine ", illegal != 0 ? ~0ull : is_priority ? 0 : m);
        illegal = 0;
        const uint64_t s = supervisor_read(selects[i]);
        show("  supervisor ", illegal != 0 ? ~0ull : is_priority ? 0 : s);
    }
}

// --- IMSIC

static void show_machine_file(void) {
    machine_write(EIDELIVERY, 1);
    show("eidelivery ", machine_read(EIDELIVERY));
    machine_write(EIE, ~1ull);
    machine_write(EIE + 6, ~0ull);
    show("eie0 ", machine_read(EIE));
    show("eie6 ", machine_read(EIE + 6));
    for (unsigned i = 0; i < 3; ++i) AT(MACHINE_FILES) = (uint32_t[]){200, 9, 17}[i];
    AT(MACHINE_FILES) = 0;
    AT(MACHINE_FILES) = 256;
    show("seteipnum ", AT(MACHINE_FILES));
    show("eip0 ", machine_read(EIP));
    show("eip6 ", machine_read(EIP + 6));
    show("mip ", external_lines());
    show("mtopei ", READ(0x35c));
    show("mtopi ", READ(0xfb0) >> 16);
    SET(mie, MEI);
    show("mtopi ", READ(0xfb0) >> 16);
    machine_write(EITHRESHOLD, 9);
    show("below 9: mtopei ", READ(0x35c));
    show("mip ", external_lines());
    machine_write(EITHRESHOLD, 10);
    show("below 10: mtopei ", READ(0x35c));
    machine_write(EITHRESHOLD, 0);
    for (int i = 0; i < 4; ++i) show("claim ", CLAIM(0x35c));
    show("mip ", external_lines());
    machine_write(EIDELIVERY, 0);
    AT(MACHINE_FILES) = 3;
    show("not delivered: mip ", external_lines());
    show("mtopei ", READ(0x35c));
    SET(mstatus, MIE);
    machine_write(EIDELIVERY, 1);
    while (machine_claimed == 0) {
    }
    show("trap ", machine_claimed);
    CLEAR(mstatus, MIE);
    machine_write(EIP, 1 << 6);
    show("eip written: mtopei ", READ(0x35c));
    WRITE(0x35c, 0);
    show("mtopei ", READ(0x35c));
}

static void in_supervisor(void) {
    illegal = 0;
    (void)READ(0x351);
    (void)READ(0x35c);
    (void)READ(0xfb0);
    show("machine registers in supervisor mode: illegal ", illegal);
    supervisor_write(EIDELIVERY, 1);
    supervisor_write(EIE + 2, 2);
    AT(SUPERVISOR_FILES) = 65;
    show("sip ", READ(sip));
    show("stopi ", READ(0xdb0) >> 16);
    show("stopei ", READ(0x15c));
    WRITE(stvec, supervisor_trap);
    SET(sie, SEI);
    show("stopi ", READ(0xdb0) >> 16);
    SET(sstatus, SIE);
    while (supervisor_claimed == 0) {
    }
    CLEAR(sstatus, SIE);
    show("trap ", supervisor_claimed);
    show("scause ", READ(scause));
    show("sip ", READ(sip));
}

/// Hart 1: answers messages to its machine file.
void second(void) {
    machine_write(EIDELIVERY, 1);
    machine_write(EIE, 1 << 4);
    WRITE(mie, MEI);
    __atomic_store_n(&answer, 1, __ATOMIC_RELEASE);
    for (;;) {
        asm volatile("wfi");
        const uint64_t top = CLAIM(0x35c);
        if (top != 0) __atomic_store_n(&answer, top, __ATOMIC_RELEASE);
    }
}

static void show_other_hart(void) {
    while (__atomic_load_n(&answer, __ATOMIC_ACQUIRE) == 0) {
    }
    AT(MACHINE_FILES + 0x1000) = 4;
    while (__atomic_load_n(&answer, __ATOMIC_ACQUIRE) == 1) {
    }
    show("other hart ", answer);
}

// --- APLIC

static void m(uint32_t offset, uint32_t value) {
    AT(M_DOMAIN + offset) = value;
}
static void s(uint32_t offset, uint32_t value) {
    AT(S_DOMAIN + offset) = value;
}
static void show_m(const char* name, uint32_t offset) {
    show(name, AT(M_DOMAIN + offset));
}
static void show_s(const char* name, uint32_t offset) {
    show(name, AT(S_DOMAIN + offset));
}
/// QEMU 7.2 does not initialise the state of all others.
static void show_sources(const char* name, uint32_t bits) {
    show(name, bits & (1 << 10 | 1 << 20 | 1 << 21 | 1 << 22 | 1 << 25));
}
static void wait_for(uint64_t (*read)(uint64_t), unsigned identity) {
    while ((read(EIP + identity / 64 * 2) >> identity % 64 & 1) == 0) {
    }
}

static void show_machine_domain(void) {
    m(DOMAINCFG, 0x104);
    show_m("domaincfg ", DOMAINCFG);
    m(MMSIADDRCFG, MACHINE_FILES >> 12);
    m(MMSIADDRCFG + 4, 1 << 12);
    m(SMSIADDRCFG, SUPERVISOR_FILES >> 12);
    m(SMSIADDRCFG + 4, 0);
    static const uint16_t modes[] = {1, 4, 5, 6, 7, 0};
    for (unsigned i = 0; i < 6; ++i) {
        m(SOURCECFG + 4 * 20, modes[i]);
        show_m("sourcecfg ", SOURCECFG + 4 * 20);
        show_sources("in ", AT(M_DOMAIN + IN_CLRIP));
        if (modes[i] < 6) {
            m(SETIPNUM, 20);
            show_sources("setip ", AT(M_DOMAIN + SETIP));
            m(CLRIPNUM, 20);
            show_sources("clrip ", AT(M_DOMAIN + SETIP));
        }
        m(SETIENUM, 20);
        show_sources("setie ", AT(M_DOMAIN + SETIE));
        m(CLRIENUM, 20);
        show_sources("clrie ", AT(M_DOMAIN + SETIE));
    }
    m(SOURCECFG + 4 * 21, 1);
    m(TARGET + 4 * 21, 0xffffffff & ~(0x3fffu << 18));
    show("target ", AT(M_DOMAIN + TARGET + 4 * 21) & 0xfffc07ff);
    m(TARGET + 4 * 21, 30);
    m(SETIE, 1 << 21 | 1 << 22);
    show_sources("setie ", AT(M_DOMAIN + SETIE));
    m(SETIPNUM_LE, 21);
    wait_for(machine_read, 30);
    show_sources("sent: setip ", AT(M_DOMAIN + SETIP));
    show("claim ", CLAIM(0x35c));
    m(DOMAINCFG, 0x4);
    m(SETIP, 1 << 21);
    show_sources("domain off: setip ", AT(M_DOMAIN + SETIP));
    m(DOMAINCFG, 0x104);
    wait_for(machine_read, 30);
    show("claim ", CLAIM(0x35c));
    m(GENMSI, 31);
    wait_for(machine_read, 31);
    show("claim ", CLAIM(0x35c));
}

/// The UART's transmitter is source 10.
static void show_wire(void) {
    m(SOURCECFG + 4 * 10, 6);
    m(TARGET + 4 * 10, 40);
    m(SETIENUM, 10);
    show_sources("wire low: in ", AT(M_DOMAIN + IN_CLRIP));
    while ((*(volatile uint8_t*)(UART + 5) & 0x40) == 0) {
    }
    *(volatile uint8_t*)(UART + 1) = 2;
    wait_for(machine_read, 40);
    const uint32_t in = AT(M_DOMAIN + IN_CLRIP), pending = AT(M_DOMAIN + SETIP);
    const uint64_t claimed = CLAIM(0x35c);
    m(SETIPNUM, 10);  // the line is still high: again
    wait_for(machine_read, 40);
    const uint64_t again = CLAIM(0x35c);
    (void)*(volatile uint8_t*)(UART + 2);
    *(volatile uint8_t*)(UART + 1) = 0;
    show_sources("wire high: in ", in);
    show_sources("setip ", pending);
    show("claim ", claimed);
    show("claim ", again);
    show("claim ", CLAIM(0x35c));
    show_sources("wire low: in ", AT(M_DOMAIN + IN_CLRIP));
}

static void show_child_domain(void) {
    s(DOMAINCFG, 0x104);
    show_s("child: domaincfg ", DOMAINCFG);
    m(SOURCECFG + 4 * 25, 0x400);
    show_m("delegated: sourcecfg ", SOURCECFG + 4 * 25);
    m(SETIENUM, 25);
    show_sources("setie ", AT(M_DOMAIN + SETIE));
    s(SOURCECFG + 4 * 25, 0x400);
    show_s("leaf: sourcecfg ", SOURCECFG + 4 * 25);
    s(SOURCECFG + 4 * 25, 4);
    show_s("sourcecfg ", SOURCECFG + 4 * 25);
    s(TARGET + 4 * 25, 50);
    s(SETIENUM, 25);
    show_sources("setie ", AT(S_DOMAIN + SETIE));
    s(SETIPNUM, 25);
    wait_for(supervisor_read, 50);
    show("supervisor file: eip0 ", supervisor_read(EIP));
    show("machine file: eip0 ", machine_read(EIP));
    supervisor_write(EIE, 1ull << 50);
    show("stopei ", CLAIM(0x15c));
}

// --- Delivery by lines

enum { IDELIVERY = 0x4000, IFORCE = 0x4004, ITHRESHOLD = 0x4008, TOPI = 0x4018, CLAIMI = 0x401c };

/// QEMU 7.2 does not initialise the state of sources.
static void clear_sources(void) {
    for (unsigned i = 1; i <= 30; ++i) {
        m(SOURCECFG + 4 * i, 0x400);
        s(SOURCECFG + 4 * i, 1);
        s(SOURCECFG + 4 * i, 0);
        m(SOURCECFG + 4 * i, 1);
        m(SOURCECFG + 4 * i, 0);
    }
}

static void show_machine_lines(void) {
    clear_sources();
    m(DOMAINCFG, 0x100);
    show_m("lines: domaincfg ", DOMAINCFG);
    for (unsigned i = 20; i < 23; ++i) {
        m(SOURCECFG + 4 * i, 1);
        m(TARGET + 4 * i, i == 21 ? 3 : 7);
        m(SETIENUM, i);
        m(SETIPNUM, i);
    }
    show_m("topi ", TOPI);
    show("mip ", external_lines());
    m(IDELIVERY, 1);
    show("delivered: mip ", external_lines());
    m(ITHRESHOLD, 7);
    show_m("below 7: claimi ", CLAIMI);
    show_m("claimi ", CLAIMI);
    show("mip ", external_lines());
    m(ITHRESHOLD, 8);
    show("below 8: mip ", external_lines());
    m(TARGET + 4 * 20, 1 << 18 | 7);
    show_m("claimi ", CLAIMI);
    show_m("claimi ", CLAIMI);
    m(IDELIVERY + 0x20, 1);
    show_m("other hart: topi ", TOPI + 0x20);
    show_m("claimi ", CLAIMI + 0x20);
    m(IFORCE, 1);
    show("forced: mip ", external_lines());
    show_m("claimi ", CLAIMI);
    show_m("iforce ", IFORCE);
    m(TARGET + 4 * 20, 0);
    show_m("target ", TARGET + 4 * 20);
    show_m("genmsi ", GENMSI);
}

static void show_supervisor_lines(void) {
    s(DOMAINCFG, 0x100);
    m(SOURCECFG + 4 * 25, 0x400);
    s(SOURCECFG + 4 * 25, 4);
    s(TARGET + 4 * 25, 5);
    s(SETIENUM, 25);
    s(IDELIVERY, 1);
    show("mip ", external_lines());
    s(SETIPNUM, 25);
    show("mip ", external_lines());
    show_s("claimi ", CLAIMI);
    show("mip ", external_lines());
    s(SETIPNUM, 25);
    s(CLRIENUM, 25);
    show("disabled: mip ", external_lines());
    s(SETIENUM, 25);
    show("mip ", external_lines());
    s(DOMAINCFG, 0);
    show("domain off: mip ", external_lines());
    show_s("topi ", TOPI);
}

int main(void) {
#ifdef LINES
    show_machine_lines();
    show_supervisor_lines();
#else
    show_windows();
    show_machine_file();
    SET(mideleg, SEI);
    in_supervisor_mode(in_supervisor);
    CLEAR(mstatus, MIE);
    show_other_hart();
    show_machine_domain();
    show_wire();
    show_child_domain();
#endif
    AT(0x100000) = 0x5555;
    for (;;) {
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/registers.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

namespace trn::gdb {
namespace {

constexpr std::array<std::string_view, 32> integer_names{
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

constexpr std::array<std::string_view, 32> float_names{
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

struct csr {
    unsigned number;
    std::string name;
};

// RISC-V Privileged Architecture 1.12, tables 2.2 to 2.6.
std::vector<csr> standard_csrs() {
    std::vector<csr> all{
        {0x001, "fflags"},     {0x002, "frm"},        {0x003, "fcsr"},          {0xc00, "cycle"},
        {0xc01, "time"},       {0xc02, "instret"},    {0x100, "sstatus"},       {0x104, "sie"},
        {0x105, "stvec"},      {0x106, "scounteren"}, {0x10a, "senvcfg"},       {0x140, "sscratch"},
        {0x141, "sepc"},       {0x142, "scause"},     {0x143, "stval"},         {0x144, "sip"},
        {0x180, "satp"},       {0xf11, "mvendorid"},  {0xf12, "marchid"},       {0xf13, "mimpid"},
        {0xf14, "mhartid"},    {0xf15, "mconfigptr"}, {0x300, "mstatus"},       {0x301, "misa"},
        {0x302, "medeleg"},    {0x303, "mideleg"},    {0x304, "mie"},           {0x305, "mtvec"},
        {0x306, "mcounteren"}, {0x30a, "menvcfg"},    {0x320, "mcountinhibit"}, {0x340, "mscratch"},
        {0x341, "mepc"},       {0x342, "mcause"},     {0x343, "mtval"},         {0x344, "mip"},
        {0xb00, "mcycle"},     {0xb02, "minstret"},   {0x7a0, "tselect"},       {0x7a1, "tdata1"},
        {0x7a2, "tdata2"},     {0x7a3, "tdata3"},     {0x7a4, "tinfo"}};
    for (unsigned i = 0; i < 16; i += 2) all.push_back({0x3a0 + i, fmt::format("pmpcfg{}", i)});
    for (unsigned i = 0; i < 16; ++i) all.push_back({0x3b0 + i, fmt::format("pmpaddr{}", i)});
    return all;
}

}  // namespace

std::string target_description(debug_target& hart) {
    std::string xml =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
        "<target version=\"1.0\">\n<architecture>riscv:rv64</architecture>\n"
        // Without this, GDB assumes Linux for a program without an ABI note, and steps with
        // breakpoints.
        "<osabi>none</osabi>\n"
        "<feature name=\"org.gnu.gdb.riscv.cpu\">\n";
    for (unsigned i = 0; i < integer_names.size(); ++i)
        xml += fmt::format("<reg name=\"{}\" bitsize=\"64\" type=\"{}\" regnum=\"{}\"/>\n",
                           integer_names[i],
                           i == 1             ? "code_ptr"
                           : i >= 2 && i <= 4 ? "data_ptr"
                                              : "int",
                           i);
    xml += fmt::format(
        "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\" regnum=\"{}\"/>\n</feature>\n",
        static_cast<unsigned>(debug_target::pc));
    if (hart.read_register(debug_target::f0)) {
        xml += "<feature name=\"org.gnu.gdb.riscv.fpu\">\n";
        for (unsigned i = 0; i < float_names.size(); ++i)
            xml += fmt::format(
                "<reg name=\"{}\" bitsize=\"64\" type=\"ieee_double\" regnum=\"{}\"/>\n",
                float_names[i], debug_target::f0 + i);
        xml += "</feature>\n";
    }
    xml += "<feature name=\"org.gnu.gdb.riscv.csr\">\n";
    for (const auto& c : standard_csrs()) {
        const auto number = debug_target::first_csr + c.number;
        if (hart.read_register(number))
            xml += fmt::format(
                "<reg name=\"{}\" bitsize=\"64\" type=\"int\" regnum=\"{}\" group=\"csr\" "
                "save-restore=\"no\"/>\n",
                c.name, number);
    }
    xml += fmt::format(
        "</feature>\n<feature name=\"org.gnu.gdb.riscv.virtual\">\n"
        "<reg name=\"priv\" bitsize=\"64\" type=\"int\" regnum=\"{}\" "
        "save-restore=\"no\"/>\n</feature>\n</target>\n",
        static_cast<unsigned>(debug_target::priv));
    return xml;
}

}  // namespace trn::gdb

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that C++ uses only documented names of SystemC and TLM-2.0: those of IEEE 1666-2011 that IEEE 1666-2023 keeps, so that
everything compiles with SystemC 2.3.4 and 3. Looks at headers and at all names that begin with sc_, tlm_, SC_ or TLM_, or are
qualified by a namespace of the library; also at members of sc_simcontext, at classes derived from sc_trace_file, and at other names of
the library's namespaces, which a `using namespace` would hide. In models, also at immediate notifications of events.

    check_standard.py           prints file:line and the name; status 1 on violations
    check_standard.py --left    lists the names outside the standard that are left, each with its reason
"""
import pathlib
import re
import sys

from project_files import listed

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("platform", "models", "sw-stubs", "tests", "doc")

# By clause of IEEE 1666-2011. tlm_* names of the kit are in namespace tlm_utils.
STANDARD = {
    "4, elaboration and simulation": """sc_main sc_elab_and_sim sc_argc sc_argv sc_start sc_stop sc_pause sc_stop_mode sc_set_stop_mode
        sc_get_stop_mode SC_STOP_IMMEDIATE SC_STOP_FINISH_DELTA SC_RUN_TO_TIME SC_EXIT_ON_STARVATION sc_starvation_policy sc_status
        sc_get_status SC_ELABORATION SC_BEFORE_END_OF_ELABORATION SC_END_OF_ELABORATION SC_START_OF_SIMULATION SC_RUNNING SC_PAUSED
        SC_STOPPED SC_END_OF_SIMULATION sc_start_of_simulation_invoked sc_end_of_simulation_invoked sc_is_running sc_pending_activity
        sc_pending_activity_at_current_time sc_pending_activity_at_future_time sc_time_to_pending_activity sc_time_stamp
        sc_delta_count""",
    "5, core language": """sc_core sc_module sc_module_name sc_behavior sc_channel SC_MODULE SC_CTOR SC_HAS_PROCESS SC_METHOD SC_THREAD SC_CTHREAD
        sc_spawn sc_spawn_options SC_FORK SC_JOIN sc_bind sc_ref sc_cref sc_process_handle sc_get_current_process_handle
        sc_curr_proc_kind SC_NO_PROC_ SC_METHOD_PROC_ SC_THREAD_PROC_ SC_CTHREAD_PROC_ sc_unwind_exception sc_descendant_inclusion_info
        SC_NO_DESCENDANTS SC_INCLUDE_DESCENDANTS wait next_trigger halt dont_initialize sc_sensitive sc_event sc_event_finder
        sc_event_finder_t sc_event_and_list sc_event_or_list sc_event_and_expr sc_event_or_expr sc_find_event sc_get_top_level_events
        sc_time sc_time_unit SC_SEC SC_MS SC_US SC_NS SC_PS SC_FS SC_ZERO_TIME sc_max_time sc_set_time_resolution
        sc_get_time_resolution sc_port sc_port_b sc_port_base sc_port_policy SC_ONE_OR_MORE_BOUND SC_ZERO_OR_MORE_BOUND SC_ALL_BOUND
        sc_export sc_export_base sc_interface sc_prim_channel sc_object sc_hierarchical_name_exists sc_get_top_level_objects
        sc_find_object sc_gen_unique_name sc_attr_base sc_attribute sc_attr_cltn""",
    "6, channels": """sc_signal sc_signal_in_if sc_signal_write_if sc_signal_inout_if sc_writer_policy SC_ONE_WRITER SC_MANY_WRITERS sc_buffer
        sc_clock sc_in sc_inout sc_out sc_in_clk sc_fifo sc_fifo_in sc_fifo_out sc_fifo_in_if sc_fifo_out_if sc_mutex sc_mutex_if
        sc_semaphore sc_semaphore_if sc_event_queue sc_event_queue_if sc_event_queue_port""",
    "7, data types": """sc_dt int64 uint64 sc_int sc_uint sc_bigint sc_biguint sc_bv sc_lv sc_logic sc_logic_value_t SC_LOGIC_0 SC_LOGIC_1
        SC_LOGIC_X SC_LOGIC_Z sc_numrep SC_DEC SC_HEX SC_BIN""",
    "8, utilities": """sc_trace_file sc_create_vcd_trace_file sc_close_vcd_trace_file sc_write_comment sc_trace sc_report sc_report_handler
        sc_exception sc_actions sc_severity sc_verbosity SC_NONE SC_LOW SC_MEDIUM SC_HIGH SC_FULL SC_DEBUG SC_INFO SC_WARNING SC_ERROR
        SC_FATAL SC_UNSPECIFIED SC_DO_NOTHING SC_DEFAULT_INFO_ACTIONS SC_DEFAULT_WARNING_ACTIONS SC_DEFAULT_ERROR_ACTIONS
        SC_DEFAULT_FATAL_ACTIONS SC_DEFAULT_CATCH_ACTIONS SC_THROW SC_LOG SC_DISPLAY SC_CACHE_REPORT SC_INTERRUPT SC_STOP SC_ABORT SC_REPORT_INFO
        SC_REPORT_INFO_VERB SC_REPORT_WARNING SC_REPORT_ERROR SC_REPORT_FATAL sc_assert sc_vector sc_vector_base sc_assemble_vector
        sc_vector_assembly sc_version sc_release sc_copyright IEEE_1666_SYSTEMC SC_VERSION SC_VERSION_MAJOR SC_VERSION_MINOR""",
    "10 to 17, TLM-2.0": """tlm_utils tlm_generic_payload tlm_gp_option TLM_MIN_PAYLOAD TLM_FULL_PAYLOAD TLM_FULL_PAYLOAD_ACCEPTED tlm_command
        TLM_READ_COMMAND TLM_WRITE_COMMAND TLM_IGNORE_COMMAND tlm_response_status TLM_OK_RESPONSE TLM_INCOMPLETE_RESPONSE
        TLM_GENERIC_ERROR_RESPONSE TLM_ADDRESS_ERROR_RESPONSE TLM_COMMAND_ERROR_RESPONSE TLM_BURST_ERROR_RESPONSE
        TLM_BYTE_ENABLE_ERROR_RESPONSE TLM_BYTE_ENABLED TLM_BYTE_DISABLED tlm_mm_interface tlm_extension tlm_extension_base
        max_num_extensions tlm_dmi tlm_phase tlm_phase_enum UNINITIALIZED_PHASE BEGIN_REQ END_REQ BEGIN_RESP END_RESP
        TLM_DECLARE_EXTENDED_PHASE DECLARE_EXTENDED_PHASE tlm_sync_enum TLM_ACCEPTED TLM_UPDATED TLM_COMPLETED tlm_fw_transport_if
        tlm_bw_transport_if tlm_blocking_transport_if tlm_fw_nonblocking_transport_if tlm_bw_nonblocking_transport_if
        tlm_fw_direct_mem_if tlm_bw_direct_mem_if tlm_transport_dbg_if tlm_base_protocol_types tlm_base_socket_if tlm_initiator_socket
        tlm_target_socket tlm_base_initiator_socket tlm_base_initiator_socket_b tlm_base_target_socket tlm_base_target_socket_b
        tlm_global_quantum tlm_quantumkeeper tlm_endianness host_has_little_endianness has_host_endianness simple_initiator_socket
        simple_initiator_socket_tagged simple_target_socket simple_target_socket_tagged passthrough_target_socket
        passthrough_target_socket_tagged multi_passthrough_initiator_socket multi_passthrough_target_socket peq_with_get
        peq_with_cb_and_phase instance_specific_extension instance_specific_extension_accessor tlm_analysis_port tlm_analysis_if
        tlm_write_if tlm_version tlm_release""",
}
# Outside IEEE 1666-2011.
LEFT = {
    "simple_initiator_socket_optional": "a socket that a board may leave unbound: the kit of SystemC 2.3.4 and 3.0 has it",
    "simple_initiator_socket_tagged_optional": "as simple_initiator_socket_optional",
    "sc_time::from_value": "a time of 64 bits without rounding: the constructors of the standard take a double; SystemC from 2.3.1 has it",
}
# An immediate notification makes what a process sees depend on the order of processes.
IMMEDIATE = re.compile(r"[\w\])]\s*(?:\.|->)notify\(\)")
IMMEDIATE_FOLDERS = ("platform/", "models/")
IMMEDIATE_LEFT = {
    "platform/app/in_process/in_process.cpp": "gives work to an idle process, which then starts like one of sc_spawn(); nothing else waits for the event",
}
HEADERS = r"systemc(\.h)?|tlm(\.h)?|tlm_utils/\w+\.h"
# Members of sc_simcontext and sc_object that no standard has, which SystemC 3 has changed in part.
MEMBERS = """simcontext get_curr_simcontext active_object hierarchy_push hierarchy_pop hierarchy_curr add_trace_file remove_trace_file
    evaluation_phase update_phase notify_phase change_stamp get_object_manager get_module_registry prepare_to_simulate to_default_time_units""".split()
# Classes without the prefix of the library.
UNPREFIXED = "vcd_trace_file wif_trace_file process_base".split()

NO_CODE = re.compile(r"""\bR"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])'|//[^\n]*|/\*.*?\*/""", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]((?:systemc|sysc|tlm)[^>"]*)[>"]', re.M)
NAME = re.compile(
    r"\b(sc_time::(?:from|to)_\w+)"
    r"|\b(?:sc_core|sc_dt|tlm|tlm_utils)\s*::\s*(\w+)|(?<![\w:\"-])((?:sc|tlm)_[a-z]\w*|(?:SC|TLM)_[A-Z]\w*)"
    rf"|\b({'|'.join(MEMBERS)})\s*\(|\b({'|'.join(UNPREFIXED)})\b"
)
DERIVED = re.compile(r"[:,]\s*(?:(?:public|protected|private|virtual)\s+)*(?:sc_core::)?(sc_trace_file)\s*[,{]")
ALIAS = re.compile(r"\bnamespace\s+\w+\s*=\s*(?:::)?(sc_core|sc_dt|tlm|tlm_utils)\b")
# What this check must refuse.
REFUSED = """sc_core::sc_get_curr_simcontext();
simcontext()->x();
this->simcontext()->x();
struct x : sc_core::sc_trace_file {
class x : public y, private sc_trace_file {
char c = '"'; sc_simcontext* y; char d = '"';
auto text = R"(")"; sc_simcontext* y;
sc_core :: wait_for_it();
namespace sc = sc_core;
using namespace sc_core; vcd_trace_file file;
sc_time::from_seconds(1);
sc_unbound
#include <sysc/kernel/sc_simcontext.h>""".split(
    "\n"
)
# Names of the project that begin like those of the library.
OWN = re.compile(r"tlm_driver|sc_d_t2_t3|TLM_OK|TLM_GENERIC_ERROR|TLM_ADDRESS_ERROR")


def known() -> set[str]:
    return {name for names in STANDARD.values() for name in names.split()}


def names_of(source: str) -> list[tuple[int, str]]:
    """Line and name of each use of the library."""
    found = [(match.start(1), f"<{match[1]}>") for match in INCLUDE.finditer(source)]
    code = NO_CODE.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), source)
    found += [(match.start(), next(filter(None, match.groups()))) for match in NAME.finditer(code)]
    found += [(match.start(1), f"class derived from {match[1]}") for match in DERIVED.finditer(code)]
    found += [(match.start(1), f"alias of namespace {match[1]}") for match in ALIAS.finditer(code)]
    return sorted((code.count("\n", 0, place) + 1, name) for place, name in found)


def immediate_notifications(source: str) -> list[int]:
    """Lines that notify an event immediately."""
    code = NO_CODE.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), source)
    return [code.count("\n", 0, match.start()) + 1 for match in IMMEDIATE.finditer(code)]


def is_allowed(name: str, standard: set[str]) -> bool:
    if name.startswith("<"):
        return re.fullmatch(HEADERS, name[1:-1]) is not None
    return name in standard or name in LEFT or OWN.fullmatch(name) is not None


def main() -> int:
    standard = known()
    wrong, left = [], {name: 0 for name in LEFT}
    files = listed(ROOT, *(f"{folder}/*{suffix}" for folder in FOLDERS for suffix in (".h", ".cpp", ".h.in", ".cpp.in")))
    for file in files:
        source = (ROOT / file).read_text(encoding="utf-8", errors="replace")
        if file.startswith(IMMEDIATE_FOLDERS) and file not in IMMEDIATE_LEFT:
            wrong += [f"{file}:{line}: notify() is immediate: notify(SC_ZERO_TIME)" for line in immediate_notifications(source)]
        for line, name in names_of(source):
            if name in left:
                left[name] += 1
            if not is_allowed(name, standard):
                wrong.append(f"{file}:{line}: {name} is no name of IEEE 1666-2011 and -2023 (check_standard.py: STANDARD, LEFT)")
    refused = {line for line in REFUSED for _, name in names_of(line) if not is_allowed(name, standard)}
    wrong += [f"check_standard.py: does not refuse {line}" for line in REFUSED if line not in refused]
    wrong += [f"check_standard.py: {name} is not used any more: remove it from LEFT" for name, uses in left.items() if uses == 0]
    if "--left" in sys.argv:
        print("\n".join(f"{name} ({uses} uses): {LEFT[name]}" for name, uses in left.items()))
        print("\n".join(f"{file}: immediate notification: {why}" for file, why in IMMEDIATE_LEFT.items()))
    print("\n".join(wrong) if wrong else f"{len(files)} files use names of the standard only, except {len(LEFT)} with a reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Every check of the sources, documents and scenarios by a script fails when the rule is violated, and passes otherwise."""
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SUPPORT = ROOT / "tests/support"


class Checkers(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, files):
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text, encoding="utf-8")

    def copy(self, *scripts):
        """Scripts that find the project from their own place."""
        for script in scripts:
            (self.folder / "tests/support").mkdir(parents=True, exist_ok=True)
            shutil.copy(SUPPORT / script, self.folder / "tests/support")
        subprocess.run(["git", "init", "-q"], cwd=self.folder, check=True)

    def run_script(self, script, *words):
        done = subprocess.run([sys.executable, "-B", script, *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def passes(self, script, *words):
        status, output = self.run_script(script, *words)
        self.assertEqual(status, 0, output)
        return output

    def fails(self, expected, script, *words):
        status, output = self.run_script(script, *words)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def program(self, text):
        """A stand-in for trnvp."""
        file = self.folder / "trnvp"
        file.write_text(f"#!{sys.executable}\nimport json, sys\nwords = sys.argv[1:]\n{text}\n", encoding="utf-8")
        file.chmod(0o755)
        return file


class Documents(Checkers):
    def test_links_anchors_citations_and_lengths(self):
        script = "tests/support/check_docs.py"
        self.copy("check_docs.py", "project_files.py")
        good = {
            "doc/spec/device-contract.md": '# Contract\n<a id="s6.3"></a>\n',
            "doc/a.md": "# One\n[b](b.md#two) [contract 6.3](spec/device-contract.md#s6.3) `contract 7.1`\n",
            "doc/b.md": "## Two\n",
            "models/a.cpp": "// SPDX-License-Identifier: Apache-2.0\n// contract 6.3\n",
        }
        self.write(good)
        self.passes(script)
        for name, text, expected in (
            ("doc/a.md", "\n[b](c.md)\n", "doc/a.md:2: link to c.md, which does not exist"),
            ("doc/a.md", "[b](b.md#three)\n", "doc/a.md:1: link to doc/b.md#three, which has no such anchor"),
            ("doc/a.md", "as contract 6.3 says\n", "doc/a.md:1: 'contract 6.3' is not a link"),
            ("doc/a.md", "as contract 6.4 says\n", "doc/a.md:1: doc/spec/device-contract.md has no section 6.4"),
            ("models/a.cpp", "int x;\n", "models/a.cpp:1: does not begin with its license"),
            ("models/a.cpp", "// contract 7.1\n", "models/a.cpp:1: doc/spec/device-contract.md has no section 7.1"),
            ("doc/a.md", "```\nmodels/c.cpp\n```\nsee `models/a` and `models/c.cpp`\n", "doc/a.md:4: models/c.cpp does not exist"),
            ("models/a.cpp", "\n// see doc/c.md\n", "models/a.cpp:2: doc/c.md does not exist"),
            ("doc/a.md", "1. `models/a.cpp`: `contract`,\n   `pact`\n", "doc/a.md:2: models/a.cpp has no pact"),
            ("models/b/README.md", "read `c/d.h`\n", "models/b/README.md:1: c/d.h does not exist"),
            ("doc/README.md", "[a](a.md)\n", "doc/README.md:1: has no link to b.md"),
            ("doc/parts/c.md", "part\n", "doc/README.md:1: has no link to parts/c.md"),
            ("doc/a.md", "x" * 141 + "\n", "doc/a.md:1: 141 characters, more than 140"),
        ):
            with self.subTest(expected):
                self.write({**good, "doc/README.md": "[a](a.md) [b](b.md) [c](spec/device-contract.md)\n", name: text})
                self.fails(expected, script)
        (self.folder / "doc/parts/c.md").unlink()
        (self.folder / "models/b/README.md").unlink()
        self.write({**good, "doc/a.md": "x" * 140 + "\n"})
        self.passes(script)
        self.write(
            {
                **good,
                "doc/a.md": "`models/<block>.cpp` `doc/PAGE.md` `models/*.cpp` `models/a`\n"
                "- `models/a.cpp`: `contract`\n- `pact`, `models/a.cpp` and `pact`\n",
            }
        )
        self.passes(script)

    def test_words(self):
        script = "tests/support/check_words.py"
        self.copy("check_words.py", "project_files.py")
        entry = "# Glossary\n- **lorry, van**: it carries. Not: Truck,\n  big car.\n"
        good = {
            "doc/glossary.md": entry,
            "models/a.cpp": "int big_car; // Truckers\nbig car;",
            "doc/spec/a.md": "big car\n",
            "doc/a.md": "a truck <!-- registers: generated\nbig car <!-- registers: end -->\n",
            "models/a.yaml": "big car: 1\n",
        }
        self.write(good)
        self.passes(script)
        for name, text, expected in (
            (
                "doc/a.md",
                "<!-- registers: generated <!-- registers: end -->\nBig cars\n",
                "doc/a.md:2: 'big car': doc/glossary.md says 'lorry'",
            ),
            ("models/a.cpp", "int x;\n// a big\n// car\n", "models/a.cpp:2: 'big car'"),
            ("models/a.cpp", 'f("a Truck");\n', "models/a.cpp:1: 'Truck'"),
            ("models/a.cpp", "/* a\n   Truck */\n", "models/a.cpp:2: 'Truck'"),
            ("models/a.py", "x = 'big car'\n", "models/a.py:1: 'big car'"),
            ("models/a.yaml", "doc: 1  # big cars\n", "models/a.yaml:1: 'big car'"),
            ("doc/glossary.md", entry + "- **cart**: small. **van**: a cart\n", "doc/glossary.md:4: van is also defined in line 2"),
            ("doc/glossary.md", "- **lorry**: it carries.\n", "doc/glossary.md: no entry has 'Not: WORD'"),
        ):
            with self.subTest(expected):
                self.write({**good, "models/a.py": "", name: text})
                self.fails(expected, script)

    def test_names(self):
        script = "tests/support/check_names.py"
        self.copy("check_names.py", "project_files.py")
        good = {
            "models/a.cpp": "bool on = true;\nreturn at;\nauto x = map.at(1); // int to\nif (a.to == b.from) f(one);\n",
            "platform/a.h": '/* int to; */ std::string text = "int to;";\nvoid f(int destination);\n',
        }
        self.write(good)
        self.passes(script)
        for text, expected in (
            ("int x;\nint to = 0;\n", "models/a.cpp:2: 'int to'"),
            ("for (const auto& one : all) {}\n", "models/a.cpp:1: 'const auto& one'"),
            ("void f(std::uint64_t at, int x);\n", "models/a.cpp:1: 'std::uint64_t at'"),
            ("struct a { b::c* of; };\n", "models/a.cpp:1: 'b::c* of'"),
            ("int on = 1;\n", "models/a.cpp:1: 'int on'"),
        ):
            with self.subTest(text):
                self.write({**good, "models/a.cpp": text})
                self.fails(expected, script)

    def test_arrows_and_circles(self):
        script = SUPPORT / "check_arrows.py"
        self.copy()
        a, b = "models/soc/a", "models/dma/b"
        good = {
            f"{a}/a.h": "",
            f"{a}/a.cpp": f'#include "{a}/a.h"\n',
            f"{b}/b.h": f'#include "{a}/a.h"\n',
            "platform/app/c.cpp": f'#include "{b}/b.h"\n',
            "models/soc/README.md": "May include: no other wing",
            "models/dma/README.md": "May include: `neuron_isa`, `soc`",
        }
        self.write(good)
        self.passes(script)
        self.passes(script, "--draw", ".")
        self.passes(script, "--compare", ".")
        self.assertIn(">uses neuron_isa soc<", (self.folder / "wings.svg").read_text())
        for picture in ("architecture.svg", "wings.svg"):
            drawn = (self.folder / picture).read_text()
            self.write({picture: "<svg/>"})
            self.fails(f"{picture} is stale", script, "--compare", ".")
            self.write({picture: drawn})
        for files, expected in (
            (
                {"platform/app/d.h": "", f"{a}/a.h": '\n#include "platform/app/d.h"\n'},
                f"{a}/a.h:2: models/soc/ may not include platform/app/d.h",
            ),
            ({f"{a}/d.h": f'#include "{a}/a.h"\n', f"{a}/a.h": f'#include "{a}/d.h"\n'}, f"a circle of 2 units: {a}/a, {a}/d"),
            ({f"{a}/d.h": f'#include "{b}/b.h"\n'}, f"{a}/d.h:1: models/soc/ may not include {b}/b.h"),
            ({f"{a}/d.h": f'#include "{b}/b.h"\n'}, f"a circle of 2 folders: {b}, {a}"),
            ({"models/dma/README.md": "May include: `soc`"}, "models/dma/README.md: does not say 'May include: `neuron_isa`, `soc`'"),
            ({"models/attic/e.h": ""}, "models/attic/: no wing of this name"),
        ):
            with self.subTest(expected):
                self.write({**good, f"{a}/d.h": "", **files})
                self.fails(expected, script)

    def test_arrows_and_circles_of_python(self):
        script, package = SUPPORT / "check_arrows.py", "sw-stubs/python/trn_nki"
        self.copy()
        good = {
            f"{package}/__init__.py": "",
            f"{package}/values/a.py": "import os\n",
            f"{package}/tensors/b.py": "from trn_nki.values import a\n",
            f"{package}/trace/__init__.py": "from trn_nki.trace.c import d\n",
            f"{package}/trace/c.py": "from trn_nki.tensors.b import e\n",
            "sw-stubs/python/nki/__init__.py": "import trn_nki.run.f\n",
            f"{package}/run/f.py": "from trn_nki import trace\n",
            "tests/g.py": "import h, nki\n",
            "tests/h.py": "",
        }
        self.write(good)
        self.passes(script)
        hidden = "def f():\n    from trn_nki.tensors import b\n"
        for files, expected in (
            ({f"{package}/values/a.py": hidden}, f"{package}/values/a.py:2: {package}/values/ may not include {package}/tensors/b.py"),
            ({f"{package}/values/a.py": hidden}, f"a circle of 2 modules: {package}/tensors/b, {package}/values/a"),
            ({f"{package}/values/a.py": hidden}, f"a circle of 2 packages: {package}/tensors, {package}/values"),
            ({f"{package}/trace/c.py": "import trn_nki.run.f\n"}, f"{package}/trace/ may not include {package}/run/f.py"),
            ({f"{package}/trace/c.py": "from ..run import f\n"}, f"{package}/trace/ may not include {package}/run/f.py"),
            ({"sw-stubs/python/nki/i.py": "from trn_nki.run.f import g\n"}, f"sw-stubs/python/nki/ may not include {package}/run/f.py"),
            ({f"{package}/attic/j.py": "import trn_nki.values.a\n"}, f"sw-stubs/python/ may not include {package}/values/a.py"),
            ({"tests/h.py": "from g import k\n"}, "a circle of 2 modules: tests/g, tests/h"),
        ):
            with self.subTest(expected):
                self.write({**good, "sw-stubs/python/nki/i.py": "", f"{package}/attic/j.py": "", **files})
                self.fails(expected, script)

    def test_pages_that_are_stale(self):
        self.write({"page.md": "<!-- kinds: generated by ./dev docs, do not edit -->\n<!-- kinds: end -->\n"})
        kind = {
            "name": "ram",
            "doc": "Memory.",
            "ports": [],
            "statistics": [],
            "events": [],
            "parameters": [{"name": "size", "type": "size", "doc": "of it", "required": False, "default": "1 KiB"}],
        }
        script, page = SUPPORT / "kinds_page.py", self.folder / "page.md"
        program = self.program(f"print(json.dumps([{kind!r}]))")
        self.fails("page.md is stale", script, program, page, "--check")
        self.passes(script, program, page)
        self.passes(script, program, page, "--check")
        kind["parameters"][0]["default"] = "2 KiB"
        self.fails("+| `size` | size | 2 KiB | of it |", script, self.program(f"print(json.dumps([{kind!r}]))"), page, "--check")

        self.write(
            {
                "page.md": "<!-- steps: generated by ./dev docs, do not edit -->\n<!-- steps: end -->\n",
                "s/a.yaml": "steps:\n  - wait: 10 us  # a while\n",
            }
        )
        key = {
            "name": "at",
            "type": "place",
            "default": "required",
            "only_with": [],
            "not_with": [],
            "doc": "a|b, in a long meaning that is said once",
        }
        steps = [{"name": name, "doc": "waits", "value": "", "keys": [key]} for name in ("wait", "rest")]
        script, program = SUPPORT / "steps_page.py", self.program(f"print(json.dumps({steps!r}))")
        self.fails("page.md is stale", script, program, page, self.folder / "s", "--check")
        self.passes(script, program, page, self.folder / "s")
        self.passes(script, program, page, self.folder / "s", "--check")
        made = page.read_text(encoding="utf-8")
        for part in ("| `at` | place | required | a\\|b, in a", "which tests run\n- wait: 10 us\n```", "as in [wait](#wait)"):
            self.assertIn(part, made)

        self.write({"page.md": "<!-- faults: generated by ./dev docs, do not edit -->\n<!-- faults: end -->\n"})
        bit = {"name": "bit", "type": "number", "range": "0 to 7", "required": False, "default": "random", "meaning": "of it"}
        group = {"type": "ram", "modules": ["a.ram", "b.ram"], "faults": [{"fault": "flip", "description": "a|b", "arguments": [bit]}]}
        script, program = SUPPORT / "faults_page.py", self.program(f"print(json.dumps({group!r}))")
        self.fails("page.md is stale", script, program, page, "--check")
        self.passes(script, program, page)
        self.passes(script, program, page, "--check")
        self.assertIn("| `flip` | a\\|b | `bit` | number, 0 to 7 | random | of it |", page.read_text(encoding="utf-8"))

        self.write({"page.md": "<!-- commands: generated by ./dev docs, do not edit -->\n<!-- commands: end -->\n"})
        script = SUPPORT / "cli_page.py"
        program = self.program('print("runs" if "run" in words else "Usage: trnvp\\n\\nSubcommands:\\n  run  it")')
        self.fails("page.md is stale", script, page, program, "--check")
        self.passes(script, page, program)
        self.passes(script, page, program, "--check")
        self.assertIn("### trnvp run\n\n```text\nruns\n```", page.read_text(encoding="utf-8"))

        shutil.copy(ROOT / "doc/nki.md", page)
        self.passes(SUPPORT / "nki_page.py", page, "--check")
        page.write_text(page.read_text(encoding="utf-8").replace("| tensor_copy |", "| tensor_cpy |"), encoding="utf-8")
        self.fails("the table of functions is stale", SUPPORT / "nki_page.py", page, "--check")

        self.write({"page.md": "<!-- registers: generated by ./dev docs, do not edit -->\n<!-- registers: end -->\n"})
        register = {
            "known_by": "driver",
            "fidelity": "model",
            "block": "udma",
            "register": "TAIL",
            "host": {"reads": 1, "writes": 0},
            "firmware": {"reads": 0, "writes": 0},
        }

        def reports(register):
            return self.program(
                f'open(words[words.index("--fidelity-report") + 1], "w").write(json.dumps({{"registers": [{register!r}]}}))'
            )

        script, program = SUPPORT / "fidelity_page.py", reports(register)
        self.fails("the tables of registers are stale", script, program, page, "--check")
        self.passes(script, program, page)
        self.passes(script, program, page, "--check")
        self.fails("the tables of registers are stale", script, reports({**register, "known_by": "invented"}), page, "--check")


class Sources(Checkers):
    def test_rows_of_the_instruction_table(self):
        spec = importlib.util.spec_from_file_location("check_rows", SUPPORT / "check_rows.py")
        rows = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(rows)
        test = rows.ROWS["nop"]
        self.assertIsNone(rows.problem_of("nop", "nop", {test: ("EXPECT_EQ(1, 1);", "opcode::nop")}))
        for opcode, known, expected in (
            ("new", {}, "is not listed in check_rows.py"),
            ("nop", {}, f"there is no test {test}"),
            ("nop", {test: ("EXPECT_EQ(1, 1);", "opcode::halt")}, f"the file of {test} does not build it"),
            ("nop", {test: ("run();", "opcode::nop")}, f"{test} compares nothing"),
        ):
            self.assertIn(expected, rows.problem_of(opcode, opcode, known) or "")
        self.copy("check_rows.py")
        self.write({"models/neuron_isa/instructions/table.cpp": ""})
        self.fails("its rows were not found", "tests/support/check_rows.py")
        self.write({"models/neuron_isa/instructions/table.cpp": '{.number = 1, .opcode = o::nop, .mnemonic = "nop"'})
        self.fails("row 1 (nop): there is no test", "tests/support/check_rows.py")

    def test_symbols(self):
        script = SUPPORT / "check_symbols.py"

        def objects(**sources):
            for name, text in sources.items():
                self.write({f"{name}.c": text})
                subprocess.run(["cc", "-c", f"{name}.c"], cwd=self.folder, check=True)
            return [f"{name}.o" for name in sources]

        good = objects(a="int trn_b(void); int trn_a(void) { return trn_b(); }", b="int trn_b(void) { return 1; }")
        self.passes(script, "nm", "--prefix", "trn_", *good)
        self.fails("'other' has no prefix trn_", script, "nm", "--prefix", "trn_", *objects(c="int other(void) { return 1; }"))
        self.fails(
            "circle: a.o uses trn_b",
            script,
            "nm",
            *objects(a="int trn_b(void); int trn_a(void) { return trn_b(); }", b="int trn_a(void); int trn_b(void) { return trn_a(); }"),
        )
        self.fails("no external symbols found", script, "nm", *objects(d="static int x; int *y(void); static int z(void) { return x; }"))


class Scenarios(Checkers):
    FOLDER = ROOT / "tests/integration/scenarios"

    def test_schema(self):
        script = self.FOLDER / "check_schema.py"
        for n in range(40):
            self.write({f"scenarios/{n}.yaml": "{scenario: s, board: b, steps: [{wait: 10 us}]}"})
        self.fails("the schema takes {'wiat': '10 us'}", script, self.program("print('{}')"), "scenarios")
        strict = '{"properties": {"board": {"const": "trn3-chip"}}}'
        self.fails("scenarios/0.yaml: board: 'trn3-chip' was expected", script, self.program(f"print({strict!r})"), "scenarios")

    def test_independence(self):
        script = self.FOLDER / "check_independence.py"
        stand_in = """
files = [one for one in words if one.endswith(".yaml")]
if "--shard" in words:
    files = files[int(words[words.index("--shard") + 1][0]) - 1::2]
if "--list" in words:
    print("".join(f"{n} {one[:-5]}\\n" for n, one in enumerate(files)), end="")
else:
    keys = ("status", "step", "message", "place_file", "line", "column", "simulated_ns", "figures")
    print(json.dumps([{**dict.fromkeys(keys, ""), "file": one, "name": one[:-5], "trace_digest": DIGEST} for one in files]))
    if "--trace" in words:
        name, _, ending = words[words.index("--trace") + 1].rpartition(".")
        for n in range(len(files)):
            open(f"{name}.{n}.{ending}" if len(files) > 1 else f"{name}.{ending}", "w").close()
"""
        self.passes(script, self.program("DIGEST = 1" + stand_in), 1)
        self.fails("'trace_digest': (6, 1)", script, self.program("DIGEST = sum(one.endswith('.yaml') for one in words)" + stand_in), 1)
        self.fails("grouped, beside alone", script, self.program("DIGEST = 'trace' in ' '.join(words)" + stand_in), 1)

    def test_keys(self):
        script = self.FOLDER / "check_keys.py"
        schema = {
            "$defs": {
                "steps": {"items": {"properties": {"copy": {"properties": {"size": {}, "colour": {}}}}}},
                "condition": {"properties": {}},
            }
        }
        same = f"""
if "--schema" in words:
    print(json.dumps({schema!r}))
else:
    print(json.dumps([{{"file": one, "message": MESSAGE, "status": "passed", "simulated_ns": 1,
                        "figures": [{{"name": "f", "value": 1, "unit": "us", "at_least": n}}]}} for n, one in enumerate(words) if "/" in one]))
"""
        status, output = self.run_script(script, self.program('MESSAGE = ""' + same), ROOT / "scenarios")
        self.assertEqual(status, 1)
        for expected in (
            "copy: colour: no witness in key_witnesses.yaml",
            "copy: pattern: no such key",
            "copy: size: no effect",
            "figure: at_least: no effect",
        ):  # a bound that is only reported has none
            self.assertIn(expected, output)
        self.fails("copy: size: refused with E12", script, self.program('MESSAGE = "E12 "' + same), ROOT / "scenarios")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""./dev mutate: where it finds mutations, and what it says about those of a small project."""
import argparse
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "support/mutate"
sys.path.insert(0, str(TOOL))
import binaries  # noqa: E402
import campaign  # noqa: E402
import draw  # noqa: E402
import mutate  # noqa: E402
import places  # noqa: E402
import report  # noqa: E402
import suite  # noqa: E402


def found(source, file="x.cpp"):
    return [one.what for one in places.find(file, source)]


def body(statements, file="x.cpp"):
    return found("void f() {\n" + statements + "\n}\n", file)


def replacement(statements, what):
    source = "void f() {\n" + statements + "\n}\n"
    (one,) = (one for one in places.find("x.cpp", source) if one.what == what)
    return one.text


class Places(unittest.TestCase):
    def test_nothing_is_found_in_comments_strings_and_preprocessor_lines(self):
        self.assertEqual(
            body(
                """// a = b + 1;
            /* if (a < 2) */
            #define X(a) \\
                a = 3 + 4;
            auto s = "if (a < b) /* // \\" 1 + 2";
            auto r = R"x(a < b; " )" + 1)x";
            auto c = '"';"""
            ),
            [],
        )

    def test_nothing_is_found_in_declarations_tables_and_constant_expressions(self):
        self.assertEqual(
            found(
                """
            #include <vector>
            constexpr int size = 4 + 5;
            const row rows[] = {{1, 2}, {3, 4}};
            enum class e : int { a = 1, b = 2 };
            int f(int a = 3, bool b = 1 < 2);
            template <int N = 4, typename T = std::array<int, 5>> struct s { int x = 6; int bits : 7; int y[8]; };
            static_assert(sizeof(int) == 4);
            [[deprecated("1 + 2")]] void g();
            using t = std::array<int, 9>;"""
            ),
            [],
        )
        self.assertEqual(
            body(
                """
            constexpr int local = 1 + 2;
            static const int table[] = {1, 2};
            static_assert(1 < 2);
            assert(a < 3);
            std::array<int, 4> values;
            std::vector<std::array<int, 5>> lists;
            int array[6];
            using t = std::array<int, 7>;
            switch (x) { case 8: break; }
            if constexpr (N < 9) {}"""
            ),
            [],
        )

    def test_template_brackets_are_no_comparisons(self):
        self.assertEqual(
            body("return static_cast<unsigned>(a) < std::get<1>(b);"),
            ["return static_cast<unsigned>(a) < std::get<1>(b) becomes return {}", "< becomes <=", "< becomes >="],
        )
        self.assertEqual(body("map<int, vector<int>> m(a >> b);"), [])

    def test_operands_end_where_the_language_says(self):
        self.assertEqual(
            replacement("x = static_cast<int>(y) + z * 2u < w && v;", "< becomes <="),
            "(TRN_MUTATED ? (static_cast<int>(y) + z * 2u <= w) : (static_cast<int>(y) + z * 2u < w))",
        )
        self.assertEqual(replacement("x = a - b + c;", "+ becomes -"), "(TRN_MUTATED ? (a - b - c) : (a - b + c))")
        self.assertEqual(replacement("g(a, b == c ? d : e);", "== becomes !="), "(TRN_MUTATED ? (b != c) : (b == c))")
        self.assertEqual(
            replacement("return -(a[i + 1])->b % 7;", "% becomes *"), "(TRN_MUTATED ? (-(a[i + 1])->b * 7) : (-(a[i + 1])->b % 7))"
        )
        self.assertEqual(replacement("x = a ||  // why\n    b;", "|| becomes &&"), "(TRN_MUTATED ? (a && b) : (a ||  // why\n    b))")

    def test_statements_are_deleted_and_declarations_are_not(self):
        self.assertEqual(
            [
                what
                for what in body(
                    """
            int a = b;
            const auto [c, d] = e();
            T* p = q;
            lock guard(m);
            std::vector<int> v(n);
            x.y[2].z = b;
            *p = b;
            ++n;
            n += m;
            call(b);
            this->call().then([] { inner(); });
            if (auto* one = find()) use(one);"""
                )
                if what.startswith("deleted")
            ],
            [
                "deleted: x.y[2].z = b;",
                "deleted: *p = b;",
                "deleted: ++n;",
                "deleted: n += m;",
                "deleted: call(b);",
                "deleted: this->call().then([] { inner(); });",
                "deleted: inner();",
                "deleted: use(one);",
            ],
        )

    def test_a_deleted_statement_keeps_its_else(self):
        self.assertEqual(replacement("if (a) b(); else c();", "deleted: b();"), "{ if (!TRN_MUTATED) { b(); } }")

    def test_conditions_are_negated_unless_they_declare_or_compare(self):
        def negations(statements):
            return [what for what in body(statements) if "negated" in what]

        self.assertEqual(negations("if (a.b() && !c) {} while (d) {}"), ["if condition is negated", "while condition is negated"])
        self.assertEqual(negations("if (const auto x = f()) {} if (a < b) {} if constexpr (c) {}"), [])
        self.assertEqual(replacement("if (const auto x = f(); x) {}", "if condition is negated"), "(TRN_MUTATED != !!(x))")

    def test_bodies_are_found_after_initialisers_of_constructors_and_in_lambdas_of_tables(self):
        self.assertEqual(
            found("s::s(int a) noexcept : a_{a + 1}, b_(2), c_([] { d(); }) { e(); }"),
            ["+ becomes -", "1 becomes 1 + 1", "1 becomes 1 - 1", "2 becomes 2 + 1", "2 becomes 2 - 1", "deleted: d();", "deleted: e();"],
        )
        self.assertEqual(
            found('const row rows[] = {{"a", 1, [](int x) { f(x); }}, {"b", 2, [] { g(); }}};'), ["deleted: f(x);", "deleted: g();"]
        )
        self.assertEqual(
            found("struct s { bool operator<(const s& o) const { return a < o.a; } int a = 1; };"),
            ["return a < o.a becomes return {}", "< becomes <=", "< becomes >="],
        )

    def test_integers_of_every_form_are_constants_and_other_numbers_are_not(self):
        self.assertEqual(
            [what for what in body("f(0x1'00u, 0b1, 10ull, 1.5, 2e3, 0x1p3, 3_us, 1s);") if what.endswith("+ 1")],
            [f"{n} becomes {n} + 1" for n in ("0x1'00u", "0b1", "10ull")],
        )

    def test_c_returns_zero_instead_of_empty_braces(self):
        self.assertEqual(body("return a;", "x.c"), ["return a becomes return 0"])
        self.assertEqual(body("return TRN_OK;", "x.c"), [])

    def test_a_mutated_source_keeps_the_numbers_of_its_lines(self):
        source = "int f(int a,\n      int b) {\n    return a <\n           b;\n}\n"
        (one,) = (one for one in places.find("x.cpp", source) if one.what == "< becomes <=")
        self.assertEqual(one.line, 3)
        _, _, after = draw.mutated(source, {3: one}, "s.h").partition("#line 1\n")
        self.assertEqual(after, "int f(int a,\n      int b) {\n    return (TRN_MUTATION(3u) ? (a <= b) : (a <\n           b));\n}\n")


class Draws(unittest.TestCase):
    def candidates(self, *files):
        return [one for file in files for one in places.find(file, "void f() { a(b < 1, c + 2); d(); e = g; }")]

    def test_a_seed_gives_the_same_draw_and_another_seed_another(self):
        files = [f"models/{n}.cpp" for n in range(50)]
        keys = [[one.key for one in draw.draw(self.candidates(*files), 20, seed).chosen] for seed in (1, 1, 2)]
        self.assertEqual(keys[0], keys[1])
        self.assertNotEqual(keys[0], keys[2])

    def test_each_folder_has_its_share(self):
        files = [f"models/{n}.cpp" for n in range(30)] + [f"platform/{n}.cpp" for n in range(10)]
        drawn = draw.draw(self.candidates(*files), 8, 3)
        self.assertEqual([one.file.split("/")[0] for one in drawn.chosen], ["models"] * 6 + ["platform"] * 2)

    def test_a_replaced_place_is_of_the_same_stratum_and_never_overlaps_another(self):
        drawn = draw.draw(self.candidates("a.cpp", "b.cpp"), 2, 1)
        before = drawn.chosen[0]
        drawn.replace(0)
        self.assertEqual((drawn.chosen[0].file, drawn.chosen[0] == before), ("a.cpp", False))
        all_of_one = draw.draw(self.candidates("a.cpp"), 9, 1).chosen
        taken = [one for one in all_of_one if one]
        self.assertFalse(any(draw.overlap(one, other) for one in taken for other in taken if one is not other))


class Report(unittest.TestCase):
    def test_the_interval_is_wilsons(self):
        low, high = report.wilson(28, 39)
        self.assertEqual((round(low, 3), round(high, 3)), (0.562, 0.835))
        self.assertEqual(report.wilson(0, 0), (0.0, 1.0))
        self.assertEqual(report.rate("killed", 28, 39), "killed: 28 of 39, 72 % (95 % interval 56 to 83 %)")


class Keys(unittest.TestCase):
    """Results of an earlier run hold as long as the key of their test is the same."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name).resolve()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, content):
        file = self.root / name
        before = file.stat().st_mtime_ns if file.exists() else 0
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        os.utime(file, ns=(before + 1, before + 1))

    def key(self, *command, labels=("integration",), **environment):
        one = suite.test("t", list(command), str(self.root), environment, set(labels), set(), [], None)
        return binaries.programs(self.root / "build").digest(one)

    def changes(self, file, *command, content=b"other", **rest):
        before = self.key(*command, **rest)
        self.write(file, content)
        return self.key(*command, **rest) != before

    def test_a_key_depends_on_all_files_that_decide_the_result(self):
        elf = b"\x7fELF"
        for name, content in (
            ("scenarios/a.yaml", b"a"),
            ("scenarios/b.yaml", b"b"),
            ("tests/x/x_test.py", b"x"),
            ("tests/x/lib/y.py", b"y"),
            ("sw-stubs/python/z.py", b"z"),
            ("build/trnvp", elf),
            ("build/.ninja_log", b"log"),
            ("build/firmware/mgmt.elf", elf),
        ):
            self.write(name, content)
        build, script = str(self.root / "build"), str(self.root / "tests/x/x_test.py")
        runs = (f"{build}/trnvp", "test", "scenarios/a.yaml")
        self.assertTrue(self.changes("scenarios/a.yaml", *runs))
        self.assertTrue(self.changes("build/trnvp", *runs, content=elf + b"2"))
        self.assertFalse(self.changes("scenarios/b.yaml", *runs))
        self.assertTrue(self.changes("scenarios/b.yaml", f"{build}/trnvp", "test", "scenarios"))
        self.assertTrue(self.changes("tests/x/lib/y.py", "python3", script))
        self.assertTrue(self.changes("build/trnvp", "python3", script, build, content=elf + b"3"))
        self.assertFalse(self.changes("build/.ninja_log", "python3", script, build))
        self.assertFalse(self.changes("scenarios/b.yaml", "objects", f"{build}/a.o;" * 1000))
        self.assertTrue(self.changes("sw-stubs/python/z.py", "python3", script, PYTHONPATH=f"{self.root}/sw-stubs/python"))

    def test_firmware_counts_by_its_bytes_because_it_is_built_for_each_mutation(self):
        self.write("build/firmware/mgmt.elf", b"\x7fELF")
        runs = ("true", f"{self.root}/build/firmware/mgmt.elf")
        self.assertFalse(self.changes("build/firmware/mgmt.elf", *runs, content=b"\x7fELF"))
        self.assertTrue(self.changes("build/firmware/mgmt.elf", *runs, content=b"\x7fELF2"))
        self.assertFalse(self.changes("build/firmware/mgmt.elf", *runs, labels=("unit",), content=b"\x7fELF3"))


class Project(unittest.TestCase):
    """A project of one source, whose unit test sees some of its mutations."""

    FILES = {
        ".gitignore": "build*/",
        "CMakePresets.json": """{"version": 6,
            "configurePresets": [{"name": "default", "generator": "Ninja", "binaryDir": "${sourceDir}/build"}],
            "testPresets": [{"name": "default", "configurePreset": "default"}]}""",
        "CMakeLists.txt": """
            cmake_minimum_required(VERSION 3.25)
            set(CMAKE_CXX_COMPILER_WORKS TRUE)
            project(trnvp LANGUAGES CXX)
            enable_testing()
            add_compile_options(-Wall -Wextra -Wconversion -Werror)
            add_executable(test_it models/a.cpp tests/test.cpp)
            add_executable(other tests/other.cpp)
            foreach(name quick idle)
                add_test(NAME ${name} COMMAND test_it ${name})
            endforeach()
            add_test(NAME other COMMAND other)
            add_test(NAME whole COMMAND prlimit --cpu=60 ${CMAKE_BINARY_DIR}/test_it whole)
            set_tests_properties(quick idle other PROPERTIES LABELS unit)
            set_tests_properties(whole PROPERTIES LABELS integration)""",
        "models/a.cpp": """
            #include <string>
            unsigned checked(unsigned n) {
                while (n > 0) --n;
                return n;
            }
            unsigned checked_by_the_whole(unsigned n) {
                return n + 3;
            }
            void unchecked(unsigned* n) {
                *n = 4;
            }
            void unreached(unsigned* n) {
                *n = 5;
            }
            struct refused {
                refused(std::string a, std::string b) : both(a + b) {}
                std::string both;
            };
            refused use(std::string("a"), "b");""",
        "tests/test.cpp": """
            #include <cstring>
            unsigned checked(unsigned n);
            unsigned checked_by_the_whole(unsigned n);
            void unchecked(unsigned* n);
            int main(int, char** words) {
                unsigned n = 4;
                unchecked(&n);
                if (std::strcmp(words[1], "quick") == 0) return checked(9) != 0;
                return std::strcmp(words[1], "whole") == 0 && checked_by_the_whole(2) != 5;
            }""",
        "tests/other.cpp": "int main() {}",
    }

    VERDICTS = {3: ("killed", "quick"), 4: ("survived", None), 7: ("killed", "whole"), 10: ("survived", None), 13: ("unreached", None)}

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name, text in self.FILES.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(textwrap.dedent(text).strip() + "\n")
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)

    def tearDown(self):
        self.folder.cleanup()

    def run_all(self):
        wanted = argparse.Namespace(count=100, seed=1, only=[], jobs=2, unit_tests=False, json=self.root / "results.json")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            return mutate.run(self.root, wanted), said.getvalue()

    def test_each_mutation_gets_its_verdict(self):
        campaign.SPARE_SECONDS = 1.0
        results, said = self.run_all()
        self.assertEqual({one["line"]: (one["verdict"], one["test"]) for one in results}, self.VERDICTS)
        self.assertTrue(all((one["verdict"], one["test"]) == self.VERDICTS[one["line"]] for one in results))
        self.assertIn("time limit", [one["why"] for one in results if one["what"] == "deleted: --n;"])
        self.assertIn("models/a.cpp:16: + becomes -: does not compile, replaced", said)
        self.assertIn("2 of 3 unit tests run once", said)  # `other` has no mutated code
        self.assertEqual(json.loads((self.root / "results.json").read_text())["mutations"], results)
        self.assertEqual({one["unit"] for one in results if one["test"] == "whole"}, {False})

        results_again, said = self.run_all()
        self.assertEqual(results_again, results)
        self.assertIn("0 of 3 unit tests run once", said)
        self.assertNotIn("does not compile", said)


if __name__ == "__main__":
    unittest.main()

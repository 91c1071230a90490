# SPDX-License-Identifier: Apache-2.0
"""The tables of statistics in doc/kinds.md have every counter that modules publish, and no other."""
import json
import os
import re
import subprocess
import unittest

from running_platform import platform

PLACEHOLDER = re.compile("[A-Z]+")  # in the name of a statistic, a number or a name


def kinds() -> dict[str, list[str]]:
    text = subprocess.run([os.environ["TRNVP"], "inspect", "--list-kinds", "--json"], check=True, capture_output=True).stdout
    return {kind["name"]: [one["name"] for one in kind["statistics"]] for kind in json.loads(text)}


def matches(name: str, counter: str) -> bool:
    return re.fullmatch(PLACEHOLDER.sub(".+", name), counter) is not None


class StatisticsTest(unittest.TestCase):
    def published(self, board: str, tables: dict[str, list[str]]) -> dict[str, set[str]]:
        """Counters of the first chip and the first module of each kind, by kind, after a transfer by DMA."""
        with platform("--uart", "none", board=board) as running, running.connect() as p:
            p.wait(condition="ready")
            types = {module["name"]: module["type"] for module in p.list("modules")}
            core = next(name for name, kind in types.items() if kind == "neuron_core")
            subprocess.run(
                [
                    os.environ["TRNCTL"],
                    "--connect",
                    running.folder,
                    "--chip",
                    core.rpartition(".")[0],
                    "memset",
                    "hbm0@16MiB",
                    "64KiB",
                    "7",
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            p.engine_control(engine=core + ".vector", command="break", pc=1)
            found: dict[str, set[str]] = {}
            asked = {kind: name for name, kind in reversed(types.items()) if tables.get(kind)}
            for prefix in (core.rpartition(".")[0], *asked.values()):
                for module, counters in p.statistics(module=prefix).items():
                    found.setdefault(types[module], set()).update(counters)
            p.quit()
        return found

    def test_every_counter_is_in_the_table_of_its_kind_and_every_row_is_published(self):
        tables, met = kinds(), {}
        for board in ("trn3-gen1", "trn1-2xl"):
            for kind, counters in self.published(board, tables).items():
                met.setdefault(kind, set()).update(counters)
                unknown = [one for one in counters if not any(matches(name, one) for name in tables[kind])]
                self.assertEqual(unknown, [], f"counters of {kind} that its table lacks")
        for kind, names in tables.items():
            absent = [name for name in names if not any(matches(name, one) for one in met.get(kind, ()))]
            self.assertEqual(
                [one for one in absent if one not in ("ENGINE_wait_semaphore_N_cycles", "PORT_bytes_in", "PORT_bytes_out")],
                [],
                f"statistics of {kind} that no module publishes",
            )


if __name__ == "__main__":
    unittest.main()

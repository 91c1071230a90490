# SPDX-License-Identifier: Apache-2.0
"""What --help of the project's programs lists."""
import re


def commands_in(text: str) -> list[str]:
    """Names of the subcommands that a --help lists."""
    groups = re.findall(r"^(?:Subcommands|[A-Z][a-z ]*commands):\n((?:  .*\n|\n(?=  ))*)", text, re.M)
    python = re.search(r"^  COMMAND\n((?:    .*\n)*)", text, re.M)
    lines = "".join(groups) if groups else python[1] if python else ""
    return [line.split()[0] for line in lines.splitlines() if re.match(r" {2}(?: {2})?[a-z]", line)]

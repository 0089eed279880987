"""The official MCP conformance suite against Parley's link to MCP servers: every scenario for clients of both eras."""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from harness import BUILD, MCP, PATIENCE, node

SUITE = MCP / "node_modules/@modelcontextprotocol/conformance"
VERSIONS = ("2025-11-25", "2026-07-28")
# In the suite, though not in its lists of what is required.
BESIDES = ("json-schema-2020-12-preservation",)

# The suite takes a client that was killed for one that ended well.
WRAPPER = """#!/bin/sh
"{client}" "$@"
code=$?
echo $code >"{status}"
exit $code
"""


def required(version):
    """The scenarios for clients in the suite's list of what a version requires."""
    scenarios, here = [], False
    for line in (SUITE / f"requirements/{version}.yaml").read_text().splitlines():
        if line and not line.startswith((" ", "#")):
            here = line == "client:"
        elif here and line.startswith("  - "):
            scenarios.append(line[4:].strip())
    return scenarios


def run(version, scenario, client=BUILD / "mcp_conformance_client"):
    """What went wrong; empty: nothing."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        status = directory / "status"
        wrapper = directory / "client"
        wrapper.write_text(WRAPPER.format(client=client, status=status))
        wrapper.chmod(0o755)
        suite = subprocess.run(
            [node(), SUITE / "dist/index.js", "client", "--command", wrapper, "--scenario", scenario, "--spec-version",
             version, "--timeout", str(PATIENCE * 1000), "-o", directory / "out"],
            capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
            env={**os.environ, "no_proxy": "127.0.0.1,localhost"})
        wrong = []
        if suite.returncode != 0:
            wrong.append(f"the suite ended with {suite.returncode}: {suite.stderr[-500:]}")
        if not status.exists() or status.read_text().strip() != "0":
            ended = status.read_text().strip() if status.exists() else "nothing"
            wrong.append(f"the client ended with {ended}: {suite.stderr[-500:]}")
        checks = [check for file in directory.rglob("checks.json") for check in json.loads(file.read_text())]
        counts = collections.Counter(check["status"] for check in checks)
        if not counts["SUCCESS"]:
            wrong.append(f"nothing was checked: {dict(counts)}")
        wrong += [f"{check['status']} {check['id']}: {check.get('errorMessage')}" for check in checks
                  if check["status"] in ("FAILURE", "WARNING")]
        return wrong


class ConformanceTest(unittest.TestCase):
    def test_every_scenario(self):
        wanted = [(version, scenario) for version in VERSIONS for scenario in (*required(version), *BESIDES)]
        wanted = list(dict.fromkeys(wanted))
        for version in VERSIONS:
            self.assertIn((version, "tools_call"), wanted, "the suite's lists were not understood")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            outcomes = pool.map(lambda one: run(*one), wanted)
            for (version, scenario), wrong in zip(wanted, outcomes):
                with self.subTest(version=version, scenario=scenario):
                    self.assertEqual(wrong, [])

    def test_a_client_that_does_nothing_does_not_pass(self):
        self.assertTrue(run("2026-07-28", "json-schema-ref-no-deref", client="/bin/true"))
        self.assertTrue(run("2025-11-25", "tools_call", client="/bin/false"))


if __name__ == "__main__":
    unittest.main()

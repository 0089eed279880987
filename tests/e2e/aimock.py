"""aimock, an independent imitation of OpenAI and ElevenLabs."""

import json
import pathlib
import re
import subprocess
import tempfile
import urllib.request

from harness import NPM, PATIENCE

# The CommonJS build: it also runs with the Node.js of Debian 12.
PROGRAM = NPM / "node_modules/@copilotkit/aimock/dist/cli.cjs"


class Aimock:
    """A running aimock."""

    def __init__(self, fixtures, *arguments):
        if not PROGRAM.exists():
            raise AssertionError(f"{PROGRAM} is missing: run scripts/deps --test")
        self.directory = tempfile.TemporaryDirectory()
        file = pathlib.Path(self.directory.name) / "fixtures.json"
        file.write_text(json.dumps({"fixtures": fixtures}))
        self.process = subprocess.Popen(
            ["node", PROGRAM, "-p", "0", "-f", file, "-l", "5", "-c", "7", *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            listening = re.search(r"listening on (http://\S+:\d+)", line)
            if listening:
                self.url = listening.group(1)
                return
        raise AssertionError("aimock did not start")

    def asked(self, path):
        """The requests to `path`, as aimock took them down."""
        with urllib.request.urlopen(self.url + "/__aimock/journal", timeout=PATIENCE) as answer:
            journal = json.load(answer)
        entries = journal if isinstance(journal, list) else journal["entries"]
        return [entry for entry in entries if entry["path"].split("?")[0] == path]

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.directory.cleanup()

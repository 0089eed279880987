"""Shows scripts/check-layers trees that keep the rules and trees that break each of them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-layers"


def run(files):
    """The exit code and the lines printed for a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in {"src/core/base.cpp": "", **files}.items():
            file = Path(root, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()


class CheckLayers(unittest.TestCase):
    def expect(self, files, *lines):
        self.assertEqual(run(files), (1 if lines else 0, list(lines)))

    def test_downward_is_fine(self):
        self.expect({
            "src/session/s.cpp": '#include <vector>\n#include "parley/core/error.hpp"\n#include "session/own.hpp"\n',
            "src/session/own.hpp": '#include "parley/session/s.hpp"\n#include "parley/turn/machine.hpp"\n',
            "src/server/app.cpp": '#include "parley/providers/flite_tts.hpp"\n',
            "src/providers/openai/llm.cpp": '#include "providers/openai/wire.hpp"\n#include "wire.hpp"\n',
            "src/providers/openai/wire.hpp": '#include "parley/net/http_client.hpp"\n',
            "src/providers/flite_tts.cpp": '#include "parley/providers/flite_tts.hpp"\n',
            "src/main.cpp": '#include "parley/server/app.hpp"\n// #include "parley/providers/flite_tts.hpp"\n',
        })

    def test_upward_is_not(self):
        self.expect({"include/parley/core/x.hpp": '#pragma once\n#include "parley/config/node.hpp"\n'},
                    "include/parley/core/x.hpp:2: core is below config")
        self.expect({"src/engine/x.cpp": '#  include <parley/server/app.hpp>\n'},
                    "src/engine/x.cpp:1: engine is below server")
        self.expect({"src/mcp/x.cpp": '#include "parley/dialogue/history.hpp"\n'},
                    "src/mcp/x.cpp:1: mcp is below dialogue")

    def test_providers_do_not_know_each_other(self):
        self.expect({"src/providers/flite_tts.cpp": '#include "parley/providers/intents_llm.hpp"\n'},
                    "src/providers/flite_tts.cpp:1: the provider flite_tts does not know the provider intents_llm")
        self.expect({"src/providers/a/x.cpp": '#include "../b/y.hpp"\n', "src/providers/b/y.hpp": ""},
                    "src/providers/a/x.cpp:1: the provider a does not know the provider b")

    def test_only_app_knows_providers(self):
        include = '#include "parley/providers/flite_tts.hpp"\n'
        for name in ("src/server/listener.cpp", "src/session/s.cpp", "src/main.cpp", "include/parley/turn/t.hpp"):
            self.expect({name: include}, f"{name}:1: only server/app knows concrete providers")

    def test_private_headers_stay_in_their_room(self):
        header = {"src/net/curl.hpp": ""}
        self.expect({**header, "src/mcp/x.cpp": '#include "net/curl.hpp"\n'},
                    "src/mcp/x.cpp:1: a header in src/net belongs to that room alone")
        self.expect({**header, "include/parley/net/x.hpp": '#include "net/curl.hpp"\n'},
                    "include/parley/net/x.hpp:1: a header in src/net belongs to that room alone")

    def test_rooms_are_known(self):
        self.expect({"src/util/x.cpp": ""}, "src/util/x.cpp:1: there is no room util")
        self.expect({"src/core/x.cpp": '#include "parley/util/x.hpp"\n'}, "src/core/x.cpp:1: there is no room util")

    def test_files_are_short(self):
        self.expect({"tests/core/x_test.cpp": "\n" * 500})
        self.expect({"tests/core/x_test.cpp": "\n" * 501}, "tests/core/x_test.cpp:501: more than 500 lines")

    def test_an_empty_tree_is_a_mistake(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(subprocess.run([sys.executable, SCRIPT, root], capture_output=True, check=False).returncode, 2)


if __name__ == "__main__":
    unittest.main()

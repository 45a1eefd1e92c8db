"""Reads trajectory-v1, and ATIF as trajectory-v1, as agent-trajectory does. Runs in `agent_trajectory`, needs Node."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import trajectory

RUNTIME = Path(trajectory.__file__).parent / "_vendor" / "trajectory-cli.mjs"
CHECK = """
const said = [];
for (const {records, partial} of JSON.parse(readFileSync(0, "utf8"))) {
  try { validateTranscript(records, {partial}); said.push(null); } catch (error) { said.push(error.message); }
}
process.stdout.write(JSON.stringify(said));
"""


def validated(chats):
    """What its own validator, which it does not offer by itself, has against each list of records."""
    source = RUNTIME.read_text(encoding="utf-8")
    library, found, _ = source.partition("\nmain().catch(")
    assert found
    with tempfile.NamedTemporaryFile("w", suffix=".mjs", encoding="utf-8") as file:
        file.write('import {readFileSync} from "node:fs";\n' * ("readFileSync" not in library) + library + CHECK)
        file.flush()
        asked = subprocess.run(["node", file.name], input=json.dumps(chats), capture_output=True, text=True, check=True)
    return json.loads(asked.stdout)


def converted(texts):
    """Each ATIF document as it makes records of it, nothing shortened, system text kept; None where it refuses one."""
    return [records(text) for text in texts]


def records(text):
    bounds = {"toolArguments": {"maxCharacters": None}, "toolResults": {"maxCharacters": None}}
    try:
        found = trajectory.normalize_transcript(
            source="atif",
            transcript=text,
            bounds=bounds,
            filters={"systemMessages": "include"},
            source_context={"partial": True},
        )
    except trajectory.NormalizationError as error:
        print(error, file=sys.stderr)
        return None
    return found["records"]


request = json.load(sys.stdin)
print(json.dumps({"validate": validated, "convert": converted}[request["kind"]](request["chats"])))

"""Reads training files as LLaMA-Factory does, from the columns to a template. Runs in the environment `llamafactory`.

The package itself loads torch. What reads a data set needs none of it, so those modules are loaded by themselves.
"""

import importlib.machinery
import json
import sys
import types
from importlib.util import find_spec
from pathlib import Path


def stand_in(name, **members):
    """A module that is there to be imported from, and does nothing."""
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    vars(module).update(members)
    sys.modules[name] = module
    return module


HOME = Path(find_spec("llamafactory").submodule_search_locations[0])
stand_in("llamafactory").__path__ = [str(HOME)]
stand_in("llamafactory.data").__path__ = [str(HOME / "data")]
stand_in("llamafactory.extras").__path__ = [str(HOME / "extras")]
stand_in("llamafactory.extras.constants", RUNNING_LOG="running_log.txt", DATA_CONFIG="dataset_info.json")
stand_in("llamafactory.extras.misc", use_modelscope=lambda: False, use_openmind=lambda: False)

import datasets  # noqa: E402
from llamafactory.data.converter import get_dataset_converter  # noqa: E402
from llamafactory.data.formatter import FunctionFormatter, ToolFormatter  # noqa: E402
from llamafactory.data.parser import DatasetAttr, get_dataset_list  # noqa: E402

OPENAI = {
    "formatting": "openai",
    "columns": {"messages": "messages", "tools": "tools"},
    "tags": {
        "role_tag": "role",
        "content_tag": "content",
        "user_tag": "user",
        "assistant_tag": "assistant",
        "observation_tag": "tool",
        "function_tag": "function",
        "system_tag": "system",
    },
}
WORDS = {"thought_words": ("<think>\n", "\n</think>\n\n"), "tool_call_words": ("<tool_call>", "</tool_call>")}


def attributes(request):
    """How a file is described, and where it lies: by its `dataset_info.json`, else as an OpenAI file."""
    if "info" in request:
        folder = Path(request["info"])
        (name,) = json.loads((folder / "dataset_info.json").read_text(encoding="utf-8"))
        (described,) = get_dataset_list([name], str(folder))
        return described, folder / described.dataset_name
    described = DatasetAttr("file", dataset_name=request["path"])
    described.join(OPENAI)
    return described, Path(request["path"])


def examples(request):
    """Each line as the examples that would be trained on."""
    described, path = attributes(request)
    table = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=request["cache"])
    if described.tools and described.tools not in table.column_names:
        table = table.add_column(described.tools, [""] * len(table))
    convert = get_dataset_converter(described.formatting, described, None)
    return [{key: value for key, value in convert(row).items() if value is not None} for row in table]


def rendered(example):
    """The calls of an example as Qwen's template has them, and its tools."""
    calls = FunctionFormatter(slots=["{{content}}"], tool_format="qwen")
    turns = [*example["_prompt"], *example["_response"]]
    told = [calls.apply(content=turn["content"], **WORDS)[0] for turn in turns if turn["role"] == "function"]
    tools = ToolFormatter(tool_format="qwen").apply(content=example.get("_tools") or "[]")[0]
    return {"calls": told, "tools": tools}


def answer(request):
    return [{**example, **rendered(example)} for example in examples(request)]


print(json.dumps([answer(request) for request in json.load(sys.stdin)]))

"""Runs the blocks of a page one after the other, as `python -m asyncio` or a notebook would.

Reads a list of blocks as JSON, and prints a list of what each has printed.
"""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import sys

import model  # noqa: F401


async def main():
    names = {"__name__": "__main__"}
    printed = []
    for number, block in enumerate(json.load(sys.stdin), start=1):
        code = compile(block, f"block {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with contextlib.redirect_stdout(io.StringIO()) as output:
            result = eval(code, names)
            if inspect.iscoroutine(result):
                await result
        printed.append(output.getvalue())
    print(json.dumps(printed))


asyncio.run(main())

"""Runs a program of a page as it is, with another model: program.py FILE."""

import runpy
import sys

import model  # noqa: F401

runpy.run_path(sys.argv[1], run_name="__main__")

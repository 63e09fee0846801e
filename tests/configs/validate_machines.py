#!/usr/bin/env python3
"""Validates machine files against the committed JSON Schema.

    validate_machines.py SCHEMA FILE...    exit 1 with a line a fault, 77 (skipped) where a module is absent
"""

import json
import sys

SKIPPED = 77

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}; install python3-jsonschema and python3-yaml")
    sys.exit(SKIPPED)


def main(schema_path, paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    faults = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            machine = yaml.safe_load(file)
        for fault in validator.iter_errors(machine):
            place = "/".join(str(part) for part in fault.absolute_path)
            print(f"{path}: {place}: {fault.message}")
            faults += 1
        machine["unknown_key"] = 1
        if validator.is_valid(machine):
            print(f"{schema_path}: the schema lets unknown keys pass")
            faults += 1
    print(f"{len(paths)} files, {faults} faults")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""The job on standard input, checked by job.schema.json, which also has the defaults of what a short job leaves out."""

import json
from pathlib import Path

SCHEMA = json.loads(Path(__file__).with_name("job.schema.json").read_text(encoding="utf-8"))
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list,
         "null": type(None)}


class InvalidJob(ValueError):
    """Names the member and what it must be."""


def complete(job):
    """The job with every member; raises InvalidJob."""
    return checked(job, SCHEMA, "the job")


def checked(value, schema, name):
    if "enum" in schema:
        if value not in schema["enum"]:
            raise InvalidJob(f"{name} '{value}' is not one of {', '.join(map(str, schema['enum']))}")
        return value
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(is_a(value, kind) for kind in kinds):
        raise InvalidJob(f"{name} must be a{'n' if kinds[0][0] in 'aio' else ''} {kinds[0]}, not {value!r:.80}")
    if isinstance(value, dict):
        return checked_object(value, schema, name)
    if isinstance(value, list):
        count = len(value)
        if not schema["minItems"] <= count <= schema["maxItems"]:
            raise InvalidJob(f"{name} must have {schema['minItems']} elements, not {count}")
        return [checked(each, schema["items"], f"{name}[{index}]") for index, each in enumerate(value)]
    if value is not None:
        check_range(value, schema, name)
    return value


def is_a(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def checked_object(value, schema, name):
    members = schema.get("properties")
    if members is None:
        return value
    inner = "" if schema is SCHEMA else f"{name}."
    for key in value:
        if key not in members:
            raise InvalidJob(f"{inner}{key} is not known")
    for key in schema.get("required", []):
        if key not in value:
            raise InvalidJob(f"{inner}{key} is missing")
    result = {}
    for key, member in members.items():
        if key in value:
            result[key] = checked(value[key], member, inner + key)
        elif "default" in member:
            result[key] = member["default"]
        elif "properties" in member:
            result[key] = checked({}, member, inner + key)
    return result


def check_range(value, schema, name):
    for word, holds, says in (("minimum", lambda limit: value >= limit, "at least"),
                              ("maximum", lambda limit: value <= limit, "at most")):
        if word in schema and not holds(schema[word]):
            raise InvalidJob(f"{name} must be {says} {schema[word]}, not {value}")

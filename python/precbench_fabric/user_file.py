"""file.py:name of --model and --dataset: loads the file, and tells its mistakes with file and line."""

import difflib
import importlib.util
import inspect
import sys
import traceback
from functools import lru_cache
from pathlib import Path


class UserError(RuntimeError):
    """A mistake in the user's file; the text names the place."""


PACKAGE = Path(__file__).absolute().parent
FOLDERS = set()  # of the files that were loaded


@lru_cache(maxsize=None)
def load(path):
    """The module; --model and --dataset of one file share it. What the file imports from its folder is found."""
    file = Path(path).absolute()
    if not file.is_file():
        raise UserError(f"'{path}' does not exist")
    FOLDERS.add(file.parent)
    sys.path.insert(0, str(file.parent))
    name = file.stem if file.stem not in sys.modules else f"user_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def function_of(place, option):
    """What `file.py:name` names."""
    path, _, name = place.rpartition(":")
    module = load(path)
    found = getattr(module, name, None)
    if found is None:
        names = [each for each, value in vars(module).items()
                 if callable(value) and getattr(value, "__module__", None) == module.__name__]
        near = difflib.get_close_matches(name, names, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise UserError(f"{Path(path).name} has no '{name}' ({option}){hint} It has: {', '.join(names) or 'no function'}")
    if not callable(found) or not (inspect.isfunction(found) or inspect.isclass(found)):
        raise UserError(f"'{name}' in {Path(path).name} is {described(found)}; {option} needs a function that makes one")
    return found


def module_of(function):
    return sys.modules[function.__module__]


def call(function, options=None):
    """function(**options); options that it does not take are told before it runs."""
    options = options or {}
    parameters = inspect.signature(function).parameters.values()
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    unknown = [] if takes_any else [name for name in options if name not in names]
    if unknown:
        raise UserError(f"{place_of(function)} has no option '{unknown[0]}'; its options are: {', '.join(names) or 'none'}")
    missing = [each.name for each in parameters if each.name in names and each.default is each.empty and each.name not in options]
    if missing:
        raise UserError(f"{place_of(function)} needs '{missing[0]}'; give it with --model-options {missing[0]}=..., "
                        "or give the parameter a default")
    return function(**options)


def place_of(function):
    """"model.py:12 (name)" """
    try:
        line = inspect.getsourcelines(function)[1]
        return f"{Path(inspect.getsourcefile(function)).name}:{line} ({function.__name__})"
    except (OSError, TypeError):
        return getattr(function, "__name__", str(function))


def described(value):
    return "None" if value is None else f"a {type(value).__name__}"


def told(error):
    """(the reason of the row, the traceback cut to the user's files); None where nothing of them was running."""
    if isinstance(error, SyntaxError) and is_theirs(error.filename or ""):
        text = "".join(traceback.format_exception_only(type(error), error))
        return f"{Path(error.filename).name}:{error.lineno}: {type(error).__name__}: {error.msg}", text
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_theirs(frame.filename)]
    if not frames:
        return None
    last = frames[-1]
    what = "sys.exit() was called" if isinstance(error, SystemExit) else type(error).__name__
    message = str(error).strip()
    reason = f"{Path(last.filename).name}:{last.lineno} in {last.name}: {what}{': ' + message if message else ''}"
    lines = traceback.format_list(frames) + traceback.format_exception_only(type(error), error)
    return reason, "Traceback of your file:\n" + "".join(lines)


def place_in_library(error):
    """"ValueError, transformers/models/bert/modeling_bert.py:120": where it came from in a package; ours is the last."""
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if PACKAGE not in Path(frame.filename).parents]
    frame = (outside or frames)[-1]
    parts = Path(frame.filename).parts
    installed = parts.index("site-packages") + 1 if "site-packages" in parts else len(parts) - 1
    return f"{type(error).__name__}, {'/'.join(parts[installed:])}:{frame.lineno}"


def is_theirs(filename):
    """In the folder of a file of theirs, but not of the packages of an environment that lies there."""
    path = Path(filename).absolute()
    is_installed = any(part in ("site-packages", "dist-packages") for part in path.parts)
    return not is_installed and PACKAGE not in path.parents and any(folder in path.parents for folder in FOLDERS)

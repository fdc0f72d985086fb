"""The options of precbench that ask for what a job of a cell (grid.py) asks for."""

# Members of the job's `train`, by their path, that have another name as an option.
RENAMED = {
    "mode": "modes",
    "optimizer.name": "optimizer",
    "optimizer.impl": "optimizer_impl",
    "schedule.name": "schedule",
    "schedule.on_skip": "schedule_on_skip",
    "dataset.name": "dataset",
    "dataset.dir": "data_dir",
}
# What precbench sets by itself (the files of each run, what the model says), and what no file may ask for.
OWN = {"dump_trace", "save_weights", "dataset.context", "inject_inf_at_step"}
ADAMS = {"beta1", "beta2", "eps"}
SGDS = {"momentum", "nesterov"}


def flattened(settings, prefix=""):
    for key, value in settings.items():
        if isinstance(value, dict) and key != "model_options":
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def config_of(job):
    """A configuration file for --config (docs/cli.md)."""
    settings = job["train"]
    foreign = SGDS if settings["optimizer"]["name"].startswith("adam") else ADAMS
    config = {"threads": job["threads"], "device": job["device"]}
    for path, value in flattened(settings):
        name = RENAMED.get(path, path.rpartition(".")[2])
        if path in OWN or name in foreign or value in (None, "", {}):
            continue
        config[name] = value
    if settings["model_options"]:
        config["model_options"] = ",".join(f"{key}={value}" for key, value in settings["model_options"].items())
    if settings["dataset"]["name"] in ("bundle", "text"):  # a file is a data set
        config["dataset"] = config.pop("data_dir")
    return config

"""What are the library's parameters called on the command line?"""

import re

OPTIONS = {
    "n_clusters": "-k",
    "n_components": "-k",
    "c_prime": "--c-prime",
    "n_init": "--restarts",
    "max_iter": "--max-iter",
    "max_clusters": "--max-clusters",
    "shapes": "--shapes",
    "criterion": "--criterion",
    "covariance_type": "--covariance",
    "init_params": "--init",
    "random_state": "--seed",
    "columns": "--columns",
    "header": "--header",
    "memory": "--memory",
    "scratch": "--scratch",
    "tol": "--tol",
    "init": "--init",
    "resume": "--resume",
    "drop": "--drop",
    "missing": "--missing",
    "sample_weight": "--weights",
}
ADVICE = "add --missing drop to leave those rows out, or impute them first"
# Advice about Python, in terms of options.
PHRASES = {
    " of cprime.open_data": "",
    "AutoMixture (cprime choose)": "cprime choose",
    "drop those rows or impute them first": ADVICE,
    "drop those rows or fill them in first": ADVICE,
    "set missing='marginalize'": "add --missing marginalize",
    "a simpler covariance_type or another reg_covar may": "or a simpler shape may",
}
# Names of columns and files are in quotation marks: they are not ours to change.
ASSIGNED = re.compile(rf"(?<!['\"\w])({'|'.join(OPTIONS)})=(None|True|False)?")
QUOTED = re.compile(rf"`({'|'.join(OPTIONS)})`")
BARE = re.compile(
    rf"(?<!['\"\w])({'|'.join(name for name in OPTIONS if '_' in name)})(?!['\"\w])"
)


def use_option_names(text: str) -> str:
    """Return a message of the library with options in place of parameters."""

    def option_of(found: re.Match[str]) -> str:
        option = OPTIONS[found[1]]
        if found[2] == "False":
            return f"--no-{option.removeprefix('--')}"
        return option + {"None": " all", "True": "", None: " "}[found[2]]

    for phrase, ours in PHRASES.items():
        text = text.replace(phrase, ours)
    text = ASSIGNED.sub(option_of, text)
    for pattern in (QUOTED, BARE):
        text = pattern.sub(lambda found: OPTIONS[found[1]], text)
    return text

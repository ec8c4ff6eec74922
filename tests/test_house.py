"""The house keeps its order: imports go one way, heavy packages live in one place."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "cprime"

# A room may import rooms of its own or a lower storey, never of a higher one.
STOREYS = [
    [
        "typing",
        "version",
        "theta",
        "truncation",
        "stats",
        "summation",
        "blocks",
        "draws",
        "ordering",
    ],
    ["blas", "extras"],
    ["models", "search"],
    ["kernels"],
    ["sources", "storage"],
    ["rows"],
    [
        "problem",
        "spread",
        "sampling",
        "keyed_rows",
        "coresets",
        "seeding",
        "parallel_seeding",
        "relocation",
        "extrapolation",
    ],
    ["seeding_line"],
    ["convergence", "em", "lloyd"],
    ["stepwise", "bounds"],
    ["selection"],
    ["advice", "overlap"],
    ["notebook", "plots"],
    ["report"],
    ["checking"],
    ["fitting"],
    ["checkpointing", "model_files"],
    ["datasets", "estimators"],
    ["experiments"],
    ["__init__"],
    ["cli"],
    ["__main__"],
]
STOREY_OF = {room: i for i, rooms in enumerate(STOREYS) for room in rooms}

DOORS = {"checking", "fitting", "checkpointing", "model_files", "estimators"}
ADDRESSES = {
    "sklearn": {*DOORS, "experiments", "cli"},
    "scipy": {*DOORS, "experiments", "models", "plots"},
    "matplotlib": {"experiments", "plots", "report"},
    "PIL": {"report"},
    "jinja2": {"report"},
    "torch": {"kernels"},
    "triton": {"kernels"},
    "dask": {"sources", "rows"},
    "distributed": {"sources"},
    "pyarrow": {"sources", "datasets", "cli"},
    "pandas": {"estimators"},
    "rich": {"cli"},
    "typer": {"cli"},
}

FILES = sorted(SOURCE.rglob("*.py"))


def room_of(file):
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_modules(source):
    """Return every module a source file imports, as dotted names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module == "cprime":
                yield from (f"cprime.{alias.name}" for alias in node.names)
            else:
                yield node.module


def wrong_imports(room, source):
    """Return the imports of a file in this room that the house does not allow."""
    wrong = []
    for module in imported_modules(source):
        package, _, rest = module.partition(".")
        if package == "cprime":
            # The package itself has all rooms.
            other = rest.split(".")[0] or "__init__"
            if STOREY_OF[other] > STOREY_OF[room]:
                wrong.append(module)
        elif package in ADDRESSES and room not in ADDRESSES[package]:
            wrong.append(module)
    return wrong


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_imports_go_one_way(file):
    assert wrong_imports(room_of(file), file.read_text()) == []


def test_every_room_has_a_storey():
    assert {room_of(file) for file in FILES} == set(STOREY_OF)


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("kernels", "from cprime.rows import MemoryRows"),
        ("theta", "import cprime.models.isotropic"),
        ("em", "from cprime import estimators"),
        ("bounds", "import sklearn.base"),
        ("storage", "import cprime"),
    ],
)
def test_a_wrong_import_is_noticed(room, source):
    assert wrong_imports(room, source) != []


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_a_file_is_one_idea_long(file):
    limit = 400 if room_of(file) == "estimators" else 280
    assert len(file.read_text().splitlines()) <= limit


def test_tests_of_rooms_lie_where_the_rooms_do():
    rooms = SOURCE.parent.parent / "tests" / "rooms"
    folders = {file.parent.relative_to(rooms) for file in rooms.rglob("test_*.py")}
    assert [f for f in folders if not (SOURCE / f).is_dir()] == []
    at_the_top = {file.stem.removeprefix("test_") for file in rooms.glob("test_*.py")}
    assert at_the_top <= set(STOREY_OF)

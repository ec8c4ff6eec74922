"""Is the first line of a CSV file names or a row? Awkward ones, and the decisions."""

import gzip

import numpy as np
import pandas as pd
import pytest
from command_line import done, run

from cprime import KMeans, open_data
from cprime.sources.passthrough import passthrough

RNG = np.random.default_rng(0)
N = 40
# As little as there can be: rows are read in blocks from disk.
LITTLE = 2**20


def lines(values, form="{}", delimiter=","):
    return "".join(delimiter.join(map(form.format, row)) + "\n" for row in values)


DECIMALS = lines(RNG.normal(size=(N, 3)), "{:.4f}")
PAIRS = lines(RNG.normal(size=(N, 2)), "{:.4f}")
ONE = lines(RNG.normal(size=(N, 1)), "{:.4f}")
LARGE = lines(RNG.integers(100, 1000, (N, 3)))
BITS = lines(RNG.integers(0, 2, (N, 3)))
PIXELS = lines(RNG.integers(0, 2, (N, 64)) * RNG.integers(0, 256, (N, 64)))
KINDS = ["setosa", "virginica"]
FLOWERS = "".join(f"{row},{KINDS[i % 2]}\n" for i, row in enumerate(PAIRS.split()))
DATED = "".join(f"2020-01-{i % 28 + 1:02},{x}\n" for i, x in enumerate(ONE.split()))
PLACES = "".join(f"place {i},{row}\n" for i, row in enumerate(PAIRS.split()))
COUNTED = "".join(f"{i},{row}\n" for i, row in enumerate(DECIMALS.split()))
MIXED = "".join(f"{i % 5 + 7},{row}\n" for i, row in enumerate(PAIRS.split()))
QUOTED = '"' + DECIMALS.replace(",", '","').replace("\n", '"\n"')[:-1]

# What was decided: names or a row, plainly or by a guess that is said aloud; or that it
# is open, which is an error with both readings.
NAMES, ROW, GUESSED_NAMES, GUESSED_ROW = "names", "row", "names?", "row?"
OPEN = "open"

CASES = {
    # Plain: text above numbers, decimals above decimals, integers above integers.
    "text": ("x,y,z\n" + DECIMALS, NAMES),
    "text above integers": ("x,y,z\n" + LARGE, NAMES),
    "quoted text": ('"x","y","z"\n' + DECIMALS, NAMES),
    "text in a file of quotes": ('"x","y","z"\n' + QUOTED, NAMES),
    "text with spaces": ("x, y, z\n" + DECIMALS, NAMES),
    "text, and a byte order mark": ("\ufeffx,y,z\n" + DECIMALS, NAMES),
    "text, and an index": (",x,y,z\n" + COUNTED, NAMES),
    "text with digits": ("x1,2nd,3\u00b5\n" + DECIMALS, NAMES),
    "dates": ("2020-01-01,2020-01-02,2020-01-03\n" + DECIMALS, NAMES),
    "text that often means no value": ("missing,unknown,x\n" + DECIMALS, NAMES),
    "text, one of it a sign": ("#,x,y\n" + DECIMALS, NAMES),
    "text, then nothing": ("x,y,z\n", NAMES),
    "decimals": (DECIMALS, ROW),
    "decimals, the ordinary ones": ("1.5,2.25\n" + PAIRS, ROW),
    "decimals, one row": ("1.5,2.25\n", ROW),
    "decimals in quotes": (QUOTED, ROW),
    "decimals, and a byte order mark": ("\ufeff" + DECIMALS, ROW),
    "scientific": (lines(RNG.normal(size=(N, 3)), "{:.18e}"), ROW),
    "scientific above decimals": ("1e3,2e3,3e3\n" + DECIMALS, OPEN),
    "wavelengths above decimals": ("400.0,400.5,401.0\n" + DECIMALS, OPEN),
    "censuses above integers": ("1990,2000,2010\n" + LARGE, OPEN),
    "years that fall, above integers": ("2021,2020,2019\n" + LARGE, OPEN),
    "equal steps amid the columns below": ("200,300,400\n" + LARGE, ROW),
    "negative decimals": ("-1.5,-2.5,-3.5\n" + DECIMALS, ROW),
    "infinite": ("inf,1.5,2.5\n" + DECIMALS, ROW),
    "not a number": ("nan,NaN,1.5\n" + DECIMALS, ROW),
    "nothing but missing values": ("NA,,nan\n" + DECIMALS, ROW),
    "first value missing": (",1.5,2.5\n" + DECIMALS, ROW),
    "an integer among decimals": ("1,2.5,3.5\n" + DECIMALS, ROW),
    "integers": (LARGE, ROW),
    "integers, one row": ("3,1,2\n", ROW),
    "integers, two rows": ("1,2\n3,4\n", ROW),
    "integers, all equal": ("5,5,5\n" * N, ROW),
    "integers that count, all rows equal": ("0,1,2\n" * N, ROW),
    "integers twice the same above decimals": ("1,1,2\n" + DECIMALS, ROW),
    "an integer above a few decimals": ("1,2\n3,4.5\n", ROW),
    "zeros and ones": ("1,1,0\n" + BITS, ROW),
    # A value that is none: a row, refused for it if that column is used.
    "a dash": ("1.5,-,2.5\n" + DECIMALS, ROW),
    "a question mark among integers": ("300,?,200\n" + LARGE, ROW),
    "missing, in words": ("1.5,missing,2.5\n" + DECIMALS, ROW),
    "an error of a spreadsheet": ("#DIV/0!,1.5,2.5\n" + DECIMALS, ROW),
    "nothing but a dash": ("-\n" + ONE, ROW),
    # Integers, taken for names.
    "pandas, by itself": ("0,1,2\n" + DECIMALS, GUESSED_NAMES),
    "pandas, one column": ("0\n" + ONE, GUESSED_NAMES),
    "pandas, one row": ("0,1,2\n0.5,1.5,2.5\n", GUESSED_NAMES),
    "pandas, with its index": (",0,1,2\n" + COUNTED, GUESSED_NAMES),
    "pandas, integers and decimals": ("0,1,2\n" + MIXED, GUESSED_NAMES),
    "pandas, equal steps at first": ("0\n0.25\n0.5\n" + ONE, GUESSED_NAMES),
    "pandas, integers elsewhere": ("0,1,2\n" + LARGE, GUESSED_NAMES),
    "pandas, pixels": (lines([range(64)]) + PIXELS, GUESSED_NAMES),
    "pandas, all in quotes": ('"0","1","2"\n' + QUOTED, GUESSED_NAMES),
    "pandas, and a byte order mark": ("\ufeff0,1,2\n" + DECIMALS, GUESSED_NAMES),
    "pandas, on Windows": (("0,1,2\n" + DECIMALS).replace("\n", "\r\n"), GUESSED_NAMES),
    "pandas, of text and numbers": ("0,1,2\n" + FLOWERS, GUESSED_NAMES),
    "years": ("2019,2020\n" + PAIRS, GUESSED_NAMES),
    "years above integers": ("2019,2020,2021\n" + LARGE, GUESSED_NAMES),
    "years in quotes": ('"2019","2020"\n' + PAIRS, GUESSED_NAMES),
    "years in a file of quotes": ('"2019","2020","2021"\n' + QUOTED, GUESSED_NAMES),
    "years beside text": ("place,2019,2020\n" + PLACES, GUESSED_NAMES),
    "every tenth year beside text": ("place,1990,2000\n" + PLACES, GUESSED_NAMES),
    "lags": ("-1,0,1\n" + DECIMALS, GUESSED_NAMES),
    "numbers with spaces": ("0, 1, 2\n" + DECIMALS, GUESSED_NAMES),
    "numbers in quotes above integers": ('"7","3","9"\n' + LARGE, GUESSED_NAMES),
    "decimals in quotes above others": ('"0.5","1.5","9"\n' + DECIMALS, GUESSED_NAMES),
    "a label, and pixels": (
        lines([["label", *range(63)]]) + PIXELS,
        GUESSED_NAMES,
    ),
    "a number among texts": ("x,y,3\n" + LARGE, GUESSED_NAMES),
    # Numbers, taken for a row.
    "numbers that go on": (lines(np.arange(3 * N).reshape(N, 3)), GUESSED_ROW),
    "decimals that go on": (
        "".join(f"{0.1 * i:g},{1 + 0.1 * i:g},{2 + 0.1 * i:g}\n" for i in range(9)),
        GUESSED_ROW,
    ),
    "text that comes again": ("5.1,3.5,setosa\n" + FLOWERS, GUESSED_ROW),
    # Open.
    "integers that count, alone": ("0,1,2\n", OPEN),
    "integers that count above a row": ("0,1,2\n5,3,7\n", OPEN),
    "integers that count, a row equal": ("0,1,2\n" * 2, OPEN),
    "pandas, zeros and ones": ("0,1,2\n" + BITS, OPEN),
    "pandas, its first row the same": (
        "0,1,2\n" + lines(np.arange(3 * N).reshape(N, 3)),
        OPEN,
    ),
    "years among their like": ("2019,2020\n" + "2019,2021\n" * N, OPEN),
    "identifiers": ("101,205,317\n" + DECIMALS, OPEN),
    "one identifier": ("17\n" + ONE, OPEN),
    "identifiers above integers and decimals": ("101,205,317\n" + MIXED, OPEN),
    "decimals above integers": ("0.5,1.5,2.5\n" + LARGE, OPEN),
    "dates, and a value": ("2019-12-31,0.5\n" + DATED, OPEN),
    "text above numbers, and a decimal": ("x,1.5,2.5\n" + DECIMALS, OPEN),
    "text above numbers, and integers": ("x,300,200\n" + LARGE, OPEN),
    "text that may be a name, and decimals": ("place,1.5,2.5\n" + PLACES, OPEN),
}


def n_lines(content):
    return len(content.strip().splitlines())


def fields(content):
    line = content.removeprefix("\ufeff").splitlines()[0]
    return line.replace('"', "").split(",")


@pytest.fixture
def file(tmp_path, request):
    content, decision = CASES[request.param]
    path = tmp_path / "x.csv"
    path.write_text(content)
    return path, content, decision


every_file = pytest.mark.parametrize("file", CASES, indirect=True)
every_table = pytest.mark.parametrize(
    "file",
    [name for name, (_, decided) in CASES.items() if decided != OPEN],
    indirect=True,
)


def numeric(path, **options):
    """Open the columns that hold numbers below the first line."""
    content = path.read_text().splitlines()
    last = content[-1].replace('"', "").split(",")
    names = next(passthrough(path, "*", **options)).schema.names
    wanted = [name for name, value in zip(names, last) if value[:1] in "-0123456789"]
    return open_data(path, wanted, **options)


@every_file
def test_what_is_decided_of_a_first_line(file):
    path, content, decision = file
    first = fields(content)
    if decision == OPEN:
        for read in (open_data, KMeans(1).fit, lambda path: passthrough(path, "*")):
            with pytest.raises(ValueError, match="may hold the names") as refused:
                read(path)
            assert "header=True (names) or header=False (a row)" in str(refused.value)
            assert str(refused.value).isprintable() and len(str(refused.value)) < 500
        return
    kept = list(passthrough(path, "*"))
    has_names = decision in (NAMES, GUESSED_NAMES)
    n_rows = n_lines(content) - has_names
    expected = first if has_names else [str(i) for i in range(len(first))]
    assert all(batch.schema.names == expected for batch in kept)
    assert sum(batch.num_rows for batch in kept) == n_rows


@every_table
def test_what_is_read_agrees_with_what_is_decided(file):
    path, content, decision = file
    has_names = decision in (NAMES, GUESSED_NAMES)
    if n_lines(content) == has_names:
        with pytest.raises(ValueError, match="has no rows"):
            open_data(path)
        return
    try:
        found = numeric(path)
    except ValueError as error:
        assert "in line 1, not a number" in str(error) and decision == ROW
        assert "If that line holds names, use header=True" in str(error)
        return
    assert found.n_rows == n_lines(content) - has_names
    assert (found.names is not None) == has_names and found.names == found.columns.names
    assert found.columns.is_guess == (decision in (GUESSED_NAMES, GUESSED_ROW))
    assert "The first line of" in found.columns.decision
    if found.columns.is_guess:
        assert f"Use header={not has_names} if it" in found.columns.decision
    assert np.array_equal(found.load(), numeric(path, header=has_names).load(), True)


@every_file
def test_what_a_user_says_is_done(file):
    path, content, _ = file
    first = fields(content)
    as_rows = list(passthrough(path, "*", header=False))
    assert as_rows[0].schema.names == [str(i) for i in range(len(first))]
    assert sum(batch.num_rows for batch in as_rows) == n_lines(content)
    if len(set(first)) == len(first):
        named = passthrough(path, "*", header=True)
        assert sum(batch.num_rows for batch in named) == n_lines(content) - 1
    else:
        with pytest.raises(ValueError, match=r"[23] columns named"):
            passthrough(path, "*", header=True)


def test_names_twice_the_same_stay_names(tmp_path):
    (tmp_path / "x.csv").write_text("x,x,y\n" + DECIMALS)
    with pytest.raises(ValueError, match="2 columns named 'x'"):
        open_data(tmp_path / "x.csv")
    assert open_data(tmp_path / "x.csv", "y").shape == (N, 1)


@pytest.mark.parametrize("n_columns", [1, 3, 20])
@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".txt"])
def test_tables_of_pandas_have_as_many_rows_as_they_had(
    tmp_path, n_columns, index, ending
):
    path = tmp_path / f"x{ending}"
    frame = pd.DataFrame(RNG.random((100, n_columns)))
    frame.to_csv(path, index=index, sep="\t" if ending == ".tsv" else ",")
    km = KMeans(3, random_state=0).fit(path)
    assert km.labels_.shape == (100,)
    names = [""] * index + [str(i) for i in range(n_columns)]
    assert list(km.feature_names_in_) == names
    assert np.array_equal(km.predict(path), km.labels_)
    # Without its names it is the same table.
    frame.to_csv(path, index=index, header=False, sep="\t" if ending == ".tsv" else ",")
    assert open_data(path).shape == (100, n_columns + index)


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_any_delimiter_is_as_good(tmp_path, delimiter):
    for content, decision in CASES.values():
        if '"' in content or decision == OPEN or n_lines(content) == 1:
            continue
        path = tmp_path / "x.txt"
        path.write_text(content)
        expected = [batch.to_pylist() for batch in passthrough(path, "*")]
        if content.splitlines()[0].count(","):
            path.write_text(content.replace(",", delimiter))
        assert [batch.to_pylist() for batch in passthrough(path, "*")] == expected


def test_rows_read_in_blocks_agree(tmp_path):
    values = RNG.random((30_000, 3))
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(("0,1,2\n" + lines(values)).encode()))
    data = open_data(path, memory=LITTLE)
    assert not data.in_memory and data.shape == values.shape
    assert np.array_equal(data.load(), values)


def test_only_a_part_of_a_file_is_looked_at(tmp_path):
    # From the middle on, it would be decided otherwise.
    path = tmp_path / "x.csv"
    path.write_text("0,1,2\n" + DECIMALS * 100 + "0,1,2\n" * 10**5)
    assert open_data(path).names == ("0", "1", "2")


def test_lines_that_do_not_end_are_not_looked_at(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("0,1,2\n" + "1" * 2**22)
    with pytest.raises(ValueError, match="few rows below"):
        open_data(path)


def test_a_wide_table_is_decided_by_some_of_its_rows(tmp_path):
    path = tmp_path / "x.csv"
    values = RNG.random((5, 8_000))
    path.write_text(lines([range(8_000)]) + lines(values))
    assert np.array_equal(open_data(path).load(), values)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (0, "header=0 should be True"),
        ("infer", "header='infer' should be True"),
        ([0], "should be True"),
    ],
)
def test_what_pandas_takes_for_a_header_is_not_taken_for_another(
    tmp_path, header, message
):
    (tmp_path / "x.csv").write_text("x,y,z\n" + DECIMALS)
    with pytest.raises(ValueError, match=message):
        open_data(tmp_path / "x.csv", header=header)


def test_a_header_is_of_text_files_alone(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "x.parquet")
    files = tmp_path / "x.npy", tmp_path / "x.parquet"
    for X in (*files, np.eye(3), lambda: [np.eye(3)]):
        with pytest.raises(ValueError, match="header=True is about the first line"):
            open_data(X, header=True)
    with pytest.raises(ValueError, match="header=False is about the first line"):
        passthrough(tmp_path / "x.parquet", "a", header=False)
    data = open_data(tmp_path / "x.npy")
    with pytest.raises(ValueError, match="when data are opened"):
        open_data(data, header=True)
    assert data.columns == (None, "The columns of x.npy have no names.", False)
    columns = open_data(tmp_path / "x.parquet").columns
    assert columns == (("a",), "The columns of x.parquet have names there.", False)
    assert open_data(np.eye(3)).standardized().columns.names is None


# On the command line


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, case in {
        "text": "text",
        "row": "decimals",
        "guess": "pandas, by itself",
        "open": "pandas, zeros and ones",
        "dash": "a dash",
    }.items():
        (tmp_path / f"{name}.csv").write_text(CASES[case][0])
    return tmp_path


def commands(data, *options):
    """Yield every command that reads data, as it is typed."""
    yield "fit", f"{data}.csv", "-k", 2, "-o", "m.cprime", *options
    yield "compare", f"{data}.csv", "-k", 2, *options
    yield "predict", "m.cprime", f"{data}.csv", "-o", "l.csv", "--keep-all", *options
    yield "report", "m.cprime", f"{data}.csv", "-o", "r.html", *options


@pytest.mark.parametrize("data", ["text", "row"])
def test_what_is_plain_is_not_spoken_of(written, data):
    for typed in commands(data):
        result = run(*typed)
        assert result.exit_code == 0 and result.stderr == ""
    assert len((written / "l.csv").read_text().splitlines()) == N + 1


def test_a_guess_is_said_in_one_line_with_the_way_to_override_it(written):
    for typed in commands("guess"):
        result = run(*typed)
        assert result.exit_code == 0, result.stderr
        (line,) = result.stderr.splitlines()
        assert "The first line of guess.csv is taken for the names" in line
        assert "Use --no-header if it is a row." in line
    kept, *rows = (written / "l.csv").read_text().splitlines()
    assert kept.startswith("0,1,2,label") and len(rows) == N
    for option, n_rows in (("--header", N), ("--no-header", N + 1)):
        for typed in commands("guess", option):
            result = run(*typed)
            assert result.exit_code == 0 and result.stderr == ""
        assert len((written / "l.csv").read_text().splitlines()) == n_rows + 1


def test_what_is_open_is_refused_with_both_options(written):
    done("fit", "open.csv", "-k", 2, "-o", "m.cprime", "--header")
    for typed in commands("open"):
        result = run(*typed)
        assert result.exit_code == 1
        (line,) = result.stderr.splitlines()
        assert line.startswith("cprime: The first line of open.csv, '0', '1', '2', may")
        assert "Use --header (names) or --no-header (a row)." in line


def test_a_value_that_is_none_is_named_with_its_line(written):
    result = run("fit", "dash.csv", "-k", 2, "-o", "m.cprime")
    assert result.exit_code == 1
    assert "Column '1' of dash.csv holds '-' in line 1, not a number" in result.stderr
    assert "use --header" in result.stderr


@pytest.mark.parametrize("option", ["--header", "--no-header"])
def test_what_may_be_done_next_says_the_same_of_the_header(written, option):
    groups = RNG.integers(0, 3, size=(N, 3)) + 3 * RNG.integers(0, 3, size=(N, 1))
    (written / "groups.csv").write_text("0,1,2\n" + lines(groups))
    for command, typed in {
        "choose": ["open.csv"],
        "report": ["groups.csv"],
        "predict": ["groups.csv", "--report", "r.html"],
    }.items():
        said = done("fit", *typed, "-k", 3, "-o", "m.cprime", option)
        last = said.splitlines()[-1]
        assert last.startswith(f"next: cprime {command} ")
        assert option in last.split()


def test_a_fit_says_what_was_guessed_of_its_file(tmp_path, caplog):
    path = tmp_path / "x.csv"
    path.write_text("0,1,2\n" + DECIMALS)
    kmeans = KMeans(2, random_state=0).fit(path)
    assert len(kmeans.labels_) == n_lines(DECIMALS)
    (said,) = caplog.messages
    assert "is taken for the names of the columns" in said and "header=False" in said
    caplog.clear()
    KMeans(2, random_state=0).fit(open_data(path, header=True))
    assert not caplog.messages

"""Sparse matrices whose arrays do not fit together, and some that only look so."""

import numpy as np
import scipy.sparse as sp

# Six rows about each of two places, three or four entries each.
DENSE = np.array([[0.0, 3.0, 0.5, 1.0, 0.0], [0.0, 0.25, 9.0, 8.0, 1.0]])
DENSE = np.repeat(DENSE, 6, axis=0) * (1.0 + np.arange(12.0)[:, None] / 64.0)
N, D = DENSE.shape
INDEX_TYPES = [np.int32, np.int64]


def honest(kind, index):
    """Return the matrix in CSR or CSC, with indices of this type."""
    A = sp.csr_array(DENSE).asformat(kind)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    return A


def put(array, position, value):
    """Return a way to spoil a matrix: one number in one of its arrays."""

    def spoil(A):
        getattr(A, array)[position] = value(A) if callable(value) else value

    return spoil


def change(array, to):
    """Return a way to spoil a matrix: another array in place of one of its own."""
    return lambda A: setattr(A, array, to(getattr(A, array)))


def width(A):
    """Return how many columns a row has, or a column of CSC rows."""
    return A.shape[0] if A.format == "csc" else A.shape[1]


def smallest(A):
    return np.iinfo(A.indices.dtype).min


def largest(A):
    return np.iinfo(A.indices.dtype).max


def of_lines(n):
    """Return a way to spoil a matrix: it says it has n rows, or columns if CSC."""

    def spoil(A):
        A._shape = (N, n) if A.format == "csc" else (n, D)

    return spoil


def of_width(n):
    def spoil(A):
        A._shape = (n, D) if A.format == "csc" else (N, n)

    return spoil


def believed(spoil):
    """Return the same, of a matrix that scipy believes to be in order."""

    def also(A):
        spoil(A)
        A.has_sorted_indices = A.has_canonical_format = True

    return also


def all_negative(A):
    A.indices -= 1 + A.indices.max()


# What is wrong | how to make it so | what the message says of it
COMPRESSED = [
    ("index -1", put("indices", 3, -1), "indices holds -1 at position 3 "),
    ("index = width", put("indices", 3, width), r"holds \d+ at position 3 "),
    ("first index", put("indices", 0, 77), "77 at position 0 .(row|column) [01]"),
    ("last index", put("indices", -1, width), "at position 41 "),
    ("index largest", put("indices", 5, largest), r"holds \d+7 at position 5 "),
    ("index smallest", put("indices", 5, smallest), r"holds -\d+8 at position 5 "),
    ("index 1000", put("indices", 7, 1000), "holds 1000 at position 7 .* counted"),
    ("index 1e6", put("indices", 7, 10**6), "holds 1000000 at position 7 "),
    ("all negative", all_negative, r"holds -\d+ at position 0 "),
    ("-1, believed", believed(put("indices", 3, -1)), "holds -1 at position 3 "),
    ("1000, believed", believed(put("indices", 3, 1000)), "holds 1000 at position 3 "),
    ("starts at 1", put("indptr", 0, 1), "indptr begins with 1, not with 0"),
    ("starts at -1", put("indptr", 0, -1), "indptr begins with -1, not with 0"),
    ("starts at least", put("indptr", 0, smallest), "indptr begins with -"),
    ("falls", put("indptr", 3, 0), r"falls from \d+ to 0 at (row|column) 2"),
    ("a peak", put("indptr", 2, 42), r"indptr falls from 42 to \d+ at \w+ 2"),
    ("a high peak", put("indptr", 2, 10**9), "indptr falls from 1000000000 to"),
    ("a pit", put("indptr", 2, -5), r"indptr falls from \d+ to -5 at \w+ 1"),
    ("a deep pit", put("indptr", 2, smallest), r"indptr falls from \d+ to -"),
    ("ends at 0", put("indptr", -1, 0), r"indptr falls from \d+ to 0"),
    ("ends at -1", put("indptr", -1, -1), r"indptr falls from \d+ to -1"),
    ("ends beyond", put("indptr", -1, 43), "indptr ends with 43, but there are 42 in"),
    ("ends far beyond", put("indptr", -1, largest), r"indptr ends with \d+7, but"),
    ("indptr short", change("indptr", lambda i: i[:-1]), "indptr has .* entries, not"),
    ("indptr long", change("indptr", lambda i: np.r_[i, i[-1:]]), "indptr has .*, not"),
    ("no indptr", change("indptr", lambda i: i[:0]), "indptr has 0 entries, not"),
    ("indptr 2-D", change("indptr", lambda i: i[:, None]), "indptr has shape"),
    ("indptr float", change("indptr", lambda i: i + 0.0), "indptr is of type float64"),
    ("indptr nan", change("indptr", lambda i: i * np.nan), "indptr is of type float64"),
    ("indptr bool", change("indptr", lambda i: i > 0), "indptr is of type bool"),
    ("indptr object", change("indptr", lambda i: i.astype("O")), "indptr is .* object"),
    ("indptr text", change("indptr", lambda i: i.astype("U")), "indptr is of type <U"),
    ("indptr None", change("indptr", lambda i: None), "indptr is of type object"),
    ("indices float", change("indices", lambda i: i + 0.5), "indices is of type float"),
    ("indices bool", change("indices", lambda i: i > 0), "indices is of type bool"),
    ("indices object", change("indices", lambda i: i.astype("O")), "indices is of typ"),
    ("indices 2-D", change("indices", lambda i: i[:, None]), "indices has shape"),
    ("indices short", change("indices", lambda i: i[:-1]), "41 indices, but 42 data"),
    ("indices long", change("indices", lambda i: np.r_[i, i]), "84 indices, but 42 da"),
    ("no indices", change("indices", lambda i: i[:0]), "there are 0 indices, but"),
    ("data short", change("data", lambda v: v[:-1]), "42 indices, but 41 data"),
    ("data long", change("data", lambda v: np.r_[v, v]), "42 indices, but 84 data"),
    ("no data", change("data", lambda v: v[:0]), "42 indices, but 0 data"),
    ("data 2-D", change("data", lambda v: v[:, None]), "data has . dimensions, not"),
    ("data 0-D", change("data", lambda v: np.array(1.0)), "data has 0 dimensions, not"),
    ("data text", change("data", lambda v: v.astype("U")), "data is of type <U"),
    ("data dates", change("data", lambda v: v.astype("M8[s]")), "data is of type date"),
    ("data object", change("data", lambda v: v.astype("O")), "data is of type object"),
    ("narrow", of_width(2), r"holds \d+ at position \d"),
    ("no width", of_width(0), r"at position 0 .*, but the 0 (row|column)s"),
    ("fewer lines", of_lines(2), r"indptr has \d+ entries, not 2 (row|column)s"),
    ("more lines", of_lines(99), r"indptr has \d+ entries, not 99 (row|column)s"),
    ("no lines", of_lines(0), "indptr has .* entries, not 0 (row|column)s"),
]


def at(array, value):
    return put(array, 3, value)


def third(lists, change_list):
    """Return a way to spoil LIL: something done to the list of row 3."""
    return lambda A: change_list(getattr(A, lists)[3])


def key(place, value=1.0):
    return lambda A: A._dict.__setitem__(place, value)


OTHERS = {
    "coo": [
        ("row -1", at("row", -1), "coords of rows holds -1 at position 3"),
        ("row = height", at("row", N), "holds 12 at position 3, but the 12 rows are"),
        ("row 1e9", at("row", 10**9), "rows holds 1000000000 at position 3"),
        ("column -1", at("col", -1), "coords of columns holds -1 at position 3"),
        ("column = width", at("col", D), "holds 5 at position 3, but the 5 columns ar"),
        ("data short", change("data", lambda v: v[:-1]), "42 row indices, but 41 data"),
        ("data 2-D", change("data", lambda v: v[:, None]), "data has . dimensions, no"),
        ("coords short", change("coords", lambda c: (c[0], c[1][1:])), "41 column ind"),
        ("coords float", change("coords", lambda c: (c[0] + 0.5, c[1])), "of type flo"),
        ("one coord", change("coords", lambda c: c[:1]), "have 1 coordinates each"),
        ("fewer rows", of_lines(2), "coords of rows holds 2 at position"),
    ],
    "bsr": [
        ("index -1", at("indices", -1), "indices holds -1 at position 3 .block row 1"),
        ("index 99", at("indices", 99), "indices holds 99 at .* 5 block columns are"),
        ("indptr falls", put("indptr", 2, 0), "falls from 3 to 0 at block row 1"),
        ("indptr ends", put("indptr", -1, 99), "ends with 99, but there are 14 indice"),
        ("data 1-D", change("data", np.ravel), "data has . dimensions, not"),
        ("blocks of 5", change("data", lambda v: np.ones((14, 5, 1))), "blocks of sha"),
        ("no blocks", change("data", lambda v: v[:, :0]), "blocks of shape"),
        ("data short", change("data", lambda v: v[:-1]), "14 indices, but 13 data"),
    ],
    "dia": [
        ("offsets short", change("offsets", lambda o: o[:-1]), "offsets, but"),
        ("offsets float", change("offsets", lambda o: o + 0.5), "offsets is of type f"),
        ("offsets alike", change("offsets", lambda o: 0 * o), "offsets are the same"),
        ("offsets 2-D", change("offsets", lambda o: o[:, None]), "offsets has shape"),
        ("data 1-D", change("data", np.ravel), "data has . dimensions, not"),
    ],
    "lil": [
        ("column -1", third("rows", lambda r: r.append(r.pop() - 9)), "3, column -6,"),
        ("column 99", third("rows", lambda r: r.append(r.pop() + 96)), "3, column 99,"),
        ("column 1.5", third("rows", lambda r: r.append(r.pop() / 2)), "3, column 1.5"),
        ("a value less", third("data", list.pop), "row 3 has 3 columns, but 2 values"),
        ("a value more", third("data", lambda v: v.append(1.0)), "3 columns, but 4 va"),
        ("text", third("data", lambda v: v.append(str(v.pop()))), "at row 3, column 3"),
        ("no list", put("rows", 3, None), "row 3 is not a list"),
        ("rows short", change("rows", lambda r: r[:-1]), "are not 12 lists each"),
    ],
    "dok": [
        ("row -1", key((-1, 0)), "an entry at row -1, column 0, but shape"),
        ("row 99", key((99, 0)), "an entry at row 99, column 0, but shape"),
        ("column 99", key((0, 99)), "an entry at row 0, column 99, but shape"),
        ("row 0.5", key((0.5, 0)), "an entry at row 0.5, column 0, but shape"),
        ("one number", key(7), "an entry at 7, not at a row and a column"),
        ("three numbers", key((1, 2, 3)), "an entry at .1, 2, 3., not at a row"),
        ("text", key((0, 0), "x"), "'x' at row 0, column 0, which is not a number"),
    ],
}


def malformed():
    """Yield name, matrix and what is said of it, for all that must be refused."""
    for name, spoil, says in COMPRESSED:
        for kind in ("csr", "csc"):
            for index in INDEX_TYPES:
                A = honest(kind, index)
                spoil(A)
                yield f"{kind} {np.dtype(index)} {name}", A, says
    for kind, table in OTHERS.items():
        for name, spoil, says in table:
            A = sp.csr_array(DENSE)
            A = A.tobsr((3, 1)) if kind == "bsr" else A.asformat(kind)
            spoil(A)
            yield f"{kind} {name}", A, says
    shapes = [(5,)]
    if hasattr(sp.coo_array, "tensordot"):
        # Since scipy 1.15 there are sparse arrays of more dimensions.
        shapes.append((2, 2, 2))
    for shape in shapes:
        A = sp.coo_array(np.ones(shape))
        yield f"{A.ndim}-D", A, "has shape .*: rows and columns are needed"


def backwards(A):
    """Put the entries of every row, or column, in the opposite order."""
    for array in (A.data, A.indices):
        for start, stop in zip(A.indptr[:-1], A.indptr[1:]):
            array[start:stop] = array[start:stop][::-1].copy()


def halved(A):
    """Make two halves of every entry; those of a row lie apart."""
    lines = list(zip(A.indptr[:-1], A.indptr[1:]))
    A.data, A.indices = (
        np.concatenate([np.r_[of[i:j], of[i:j]] for i, j in lines])
        for of in (A.data / 2.0, A.indices)
    )
    A.indptr = A.indptr * 2


def mixed(A):
    halved(A)
    backwards(A)


def doubted(A):
    A.has_sorted_indices = A.has_canonical_format = False


def with_room(A):
    """Leave room behind the last entry, with nonsense in it."""
    A.data = np.r_[A.data, np.nan, np.inf]
    A.indices = np.r_[A.indices, [-1, 1000]].astype(A.indices.dtype)


def read_only(A):
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False


def counted(to):
    """Return a way to change the arrays that count rows and columns."""
    return lambda A: [change(array, to)(A) for array in ("indices", "indptr")]


# Legal, if seldom seen.
UNUSUAL = {
    "as it should be": lambda A: None,
    "unsorted": backwards,
    "unsorted, believed": believed(backwards),
    "repeated": halved,
    "repeated, believed": believed(halved),
    "unsorted and repeated": mixed,
    "unsorted and repeated, believed": believed(mixed),
    "sorted, doubted": doubted,
    "room behind": with_room,
    "int16": counted(lambda i: i.astype(np.int16)),
    "uint8": counted(lambda i: i.astype(np.uint8)),
    "uint64": counted(lambda i: i.astype(np.uint64)),
    "other byte order": counted(lambda i: i.astype(i.dtype.newbyteorder(">"))),
    "values of other byte order": change("data", lambda v: v.astype(">f8")),
    "wide indices": change("indices", lambda i: i.astype(np.int64)),
    "wide indptr": change("indptr", lambda i: i.astype(np.int64)),
    "values apart": change("data", lambda v: np.repeat(v, 2)[::2]),
    "indices apart": counted(lambda i: np.repeat(i, 2)[::2]),
    "values from the end": change("data", lambda v: v[::-1].copy()[::-1]),
    "indices from the end": counted(lambda i: i[::-1].copy()[::-1]),
    "read-only": read_only,
    "lists": lambda A: [change(of, list)(A) for of in ("data", "indices", "indptr")],
}


def unusual():
    """Yield name and matrix, for all that mean what `DENSE` says."""
    for name, make in UNUSUAL.items():
        for kind in ("csr", "csc"):
            for index in INDEX_TYPES:
                A = honest(kind, index)
                make(A)
                yield f"{kind} {np.dtype(index)} {name}", A
    for kind in ("coo", "bsr", "dia", "lil", "dok"):
        yield f"{kind} as it should be", sp.csr_array(DENSE).asformat(kind)
    A = sp.coo_array(DENSE / 2.0)
    data, row, col = (np.r_[of, of] for of in (A.data, A.row, A.col))
    A = sp.coo_array((data, (row, col)), shape=DENSE.shape)
    A.has_canonical_format = True
    yield "coo repeated, believed", A
    A = sp.dia_array(DENSE)
    A.data = np.r_[A.data, np.ones((2, A.data.shape[1]))]
    A.offsets = np.r_[A.offsets.astype(np.int64), [2**32 + 1, -(2**32) - 1]]
    yield "dia with diagonals outside", A

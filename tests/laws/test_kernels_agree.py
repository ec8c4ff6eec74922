"""Every kernel finds what the reference finds, whatever short cuts it takes.

The same K to the last row, the same distances to the last bit, and sums that differ
only by the order of additions. What a kernel remembers from one sweep to the next may
save it work, and changes nothing else.
"""

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import paper
import pytest
from every_kernel import KERNELS
from hypothesis import assume, given, note
from hypothesis import strategies as st
from problems import FLOOR, NEVER_CONVERGED, fewer_examples, generator, many_examples
from scenes import LAYOUTS, any_clusters, drawn_bias, nudged, scenes, with_outliers
from traces import assert_never_falls

from cprime import em
from cprime.blocks import Kept
from cprime.kernels import get_kernel, hints, native, reference
from cprime.models import Isotropic
from cprime.problem import Problem
from cprime.rows import MemoryRows
from cprime.search import Exact, Lazy
from cprime.stats import Stats, weighted_sum
from cprime.theta import Coefficients, Theta
from cprime.truncation import Truncated

others = pytest.mark.parametrize("name", [k for k in KERNELS if k != "reference"])
any_kernel = pytest.mark.parametrize("name", KERNELS)
# Sums of the same numbers in another order, and exponentials good to an ulp or two.
EXACT = 1e-12
# Below this float64 holds fewer digits than it promises.
LEAST = 1e-300


def agree(found, expected, size):
    """Return whether numbers differ by little of `size`; infinities must be equal."""
    found, expected = np.asarray(found), np.asarray(expected)
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= EXACT * size + LEAST
    return bool(np.all((found == expected) | near))


def sizes(scene, kept, coefficients):
    """Return what the absolute values of all terms of every sum add up to."""
    values = scene.values.astype(np.float64)
    weights, (C, D) = scene.block.weights, coefficients.means.shape
    K = _all_kept(kept, C)
    distances = reference.distances(values, coefficients.means)
    truncated = Truncated.of(distances, K, coefficients)
    q, entropies, _ = truncated.normalise()
    shares = weights[:, None] * q
    shifts = np.empty((C, D))
    for d in range(D):
        difference = np.abs(values[:, d, None] - coefficients.means[K, d])
        shifts[:, d] = np.bincount(K.ravel(), (shares * difference).ravel(), C)
    # A free energy is the difference of a bias and an energy.
    energies = 2 * np.abs(coefficients.bias.max()) + np.abs(truncated.highest[:, 0])
    with np.errstate(over="ignore"):
        free_energy = weighted_sum(weights, energies + np.log(K.shape[1]))
    weight = float(np.sum(weights))
    return Stats(
        counts=np.bincount(K.ravel(), shares.ravel(), C),
        shifts=shifts,
        scatter=float(np.sum(shares * truncated.distances)),
        quantization_error=float(np.sum(weights * truncated.distances[:, 0])),
        # log 1 of a total that is 1 but for rounding.
        entropy=float(np.sum(weights * entropies)) + weight * 32 * paper.EPS / EXACT,
        free_energy=free_energy,
        weight=weight,
        evaluations=0,
        changed=0,
    )


def _all_kept(kept, C):
    """Return K, also where there is nothing to remember because it is all of them."""
    everything = np.broadcast_to(np.arange(C), (len(kept.K), C))
    return everything if kept.K.shape[1] == 0 else kept.K


def assert_same_sums(found, expected, size):
    assert found.changed == expected.changed
    for field in fields(Stats):
        if field.name not in ("evaluations", "changed"):
            pair = (getattr(found, field.name), getattr(expected, field.name))
            assert np.shape(pair[0]) == np.shape(pair[1])
            assert agree(*pair, getattr(size, field.name)), field.name


def assert_same_clusters_are_empty(found, expected):
    """Only a count of exactly zero makes a cluster empty, and then it may be moved."""
    assert np.array_equal(found.counts == 0, expected.counts == 0)


def bits(stats):
    """Return every number but the count of evaluations, which is work, not a result."""
    return {
        f.name: np.asarray(getattr(stats, f.name)).tobytes()
        for f in fields(Stats)
        if f.name != "evaluations"
    }


def assert_same_clusters(found, expected):
    assert found.K.dtype == expected.K.dtype == np.int32
    assert found.K.shape == expected.K.shape
    assert np.array_equal(found.K, expected.K)


@others
@many_examples
@given(scene=scenes())
def test_a_sweep_keeps_the_same_clusters_and_adds_up_to_the_same_sums(name, scene):
    note(scene.recipe)
    K, stats = scene.swept(get_kernel(name), scene.before)
    K_expected, expected = scene.swept(reference, scene.before)
    assert_same_clusters(K, K_expected)
    assert_same_sums(stats, expected, sizes(scene, K_expected, scene.coefficients))
    if scene.C_prime == 1:
        assert_same_clusters_are_empty(stats, expected)


@others
@many_examples
@given(scene=scenes(lazy=False))
def test_a_posterior_has_the_same_clusters_at_the_same_distances_to_the_bit(
    name, scene
):
    note(scene.recipe)
    found, expected = (
        kernel.posterior(scene.values, scene.coefficients, scene.C_prime)
        for kernel in (get_kernel(name), reference)
    )
    assert_same_clusters(found, expected)
    assert found.distances.tobytes() == expected.distances.tobytes()
    assert found.relative.shape == expected.relative.shape
    assert agree(found.relative, expected.relative, np.abs(expected.relative))
    assert found.highest.shape == expected.highest.shape
    size = 2 * np.abs(scene.coefficients.bias.max()) + np.abs(expected.highest)
    assert agree(found.highest, expected.highest, size)


@others
@given(scene=scenes(lazy=False))
def test_the_nearest_cluster_is_the_same(name, scene):
    note(scene.recipe)
    found, expected = (
        kernel.nearest(scene.values, scene.coefficients)
        for kernel in (get_kernel(name), reference)
    )
    assert found.dtype == np.int32 and found.shape == (len(scene.values),)
    assert np.array_equal(found, expected)


@others
@given(scene=scenes())
def test_distances_are_the_same_to_the_bit(name, scene):
    note(scene.recipe)
    means = scene.coefficients.means
    found = get_kernel(name).distances(scene.values, means)
    assert found.shape == (len(scene.values), scene.C)
    assert found.tobytes() == reference.distances(scene.values, means).tobytes()


@others
@given(data=st.data(), scene=scenes())
def test_the_nearer_of_more_means_is_the_same_to_the_bit(name, data, scene):
    note(scene.recipe)
    rng, means = generator(data.draw), scene.coefficients.means
    first = int(rng.integers(0, scene.C + 1))
    nearest, owner = np.full(len(scene.values), np.inf), np.zeros(len(scene.values))
    if first > 0:
        distances = reference.distances(scene.values, means[:first])
        nearest, owner = distances.min(axis=1), distances.argmin(axis=1)
    more = means[rng.permutation(scene.C)]
    found, expected = (
        kernel.nearer(scene.values, more, means[:first], nearest, owner)
        for kernel in (get_kernel(name), reference)
    )
    assert found[0].tobytes() == expected[0].tobytes()
    assert np.array_equal(found[1], expected[1])


@others
@given(data=st.data(), scene=scenes(), dtype=st.sampled_from([np.int32, np.int64]))
def test_the_gaps_of_any_clusters_are_the_same(name, data, scene, dtype):
    note(scene.recipe)
    rng, N = generator(data.draw), len(scene.values)
    K = any_clusters(rng, N, scene.C, scene.C_prime).astype(dtype)
    if data.draw(st.booleans()):
        # The closest ones: gaps far below the rounding of a log-likelihood.
        K = reference.posterior(scene.values, scene.coefficients, scene.C_prime).K
    if data.draw(st.booleans()):
        # Some columns of a wider table.
        K = np.repeat(K, 2, axis=1)[:, ::2]
    found, expected = (
        kernel.gaps(scene.values, K, scene.coefficients)
        for kernel in (get_kernel(name), reference)
    )
    assert found.shape == (N,)
    assert agree(found, expected, np.abs(expected))


@others
@pytest.mark.parametrize("C_prime", [1, 2, 50])
@pytest.mark.parametrize("variance", [2.0**-1000, 1e-290, 1e-200, 1.0])
def test_gaps_are_the_same_where_rows_are_too_far_for_their_densities(
    name, variance, C_prime
):
    rng = np.random.default_rng(2)
    X, means = with_outliers(rng, N=87, D=24, C=110)
    coefficients = Isotropic().coefficients(Theta(means, variance))
    closest = reference.posterior(X, coefficients, C_prime).K
    for K in (closest, any_clusters(rng, len(X), 110, C_prime)):
        found, expected = (
            kernel.gaps(X, K, coefficients) for kernel in (get_kernel(name), reference)
        )
        assert agree(found, expected, np.abs(expected))


@others
@given(data=st.data(), scene=scenes(), n_seeds=st.integers(1, 12))
def test_the_same_rows_become_seeds(name, data, scene, n_seeds):
    note(scene.recipe)
    rng, block = generator(data.draw), scene.block
    assume(block.weights.any())
    line = rng.permutation(block.n_rows)
    first = int(np.argmax(block.weights[line]))
    points = rng.random((n_seeds - 1, rng.integers(1, 12)))
    points[rng.random(points.shape) < 0.1] = np.nextafter(1.0, 0.0)
    found, evaluations = get_kernel(name).draw_seeds(block, line, first, points)
    expected, _ = reference.draw_seeds(block, line, first, points)
    assert found.shape == (n_seeds,) and evaluations >= block.n_rows
    assert np.array_equal(found, expected)


@any_kernel
@given(data=st.data(), scene=scenes(layouts=["C order"]))
def test_how_rows_lie_in_memory_changes_no_bit(name, data, scene):
    layouts = [layout for layout in LAYOUTS if not layout.startswith("one ")]
    layout = data.draw(st.sampled_from(layouts))
    note(f"{scene.recipe}, {layout}")
    lying = replace(scene.block, X=LAYOUTS[layout](scene.block.X))
    K, stats = scene.swept(get_kernel(name), scene.before)
    K_lying, stats_lying = replace(scene, block=lying).swept(
        get_kernel(name), scene.before
    )
    assert_same_clusters(K_lying, K)
    assert bits(stats_lying) == bits(stats)


@given(scene=scenes())
def test_any_vector_unit_gives_the_same_bits(scene):
    """Only shifts of rows that keep all clusters depend on fused multiply-adds."""
    note(scene.recipe)
    best, found = native.isa_name(), {}
    K_expected, expected = scene.swept(reference, scene.before)
    size = sizes(scene, K_expected, scene.coefficients)
    keep_all = scene.C_prime == len(scene.coefficients.means)
    try:
        for path in native.isa_names():
            native.use_isa(path)
            K, stats = scene.swept(native, scene.before)
            assert_same_clusters(K, K_expected)
            assert_same_sums(stats, expected, size)
            of_sweep = bits(stats)
            if keep_all and "baseline" in (path, best):
                del of_sweep["shifts"]
            distances = native.distances(scene.values, scene.coefficients.means)
            posterior = native.posterior(scene.values, scene.coefficients, 1)
            found[path] = [
                of_sweep,
                distances.tobytes(),
                posterior.distances.tobytes(),
            ]
    finally:
        native.use_isa(best)
    for path, (of_sweep, *of_rows) in found.items():
        assert of_sweep.items() <= found[best][0].items(), path
        assert of_rows == found[best][1:], path


@given(scene=scenes())
def test_any_vector_unit_gives_gaps_of_the_same_bits(scene):
    note(scene.recipe)
    best, found = native.isa_name(), {}
    K = reference.posterior(scene.values, scene.coefficients, scene.C_prime).K
    try:
        for path in native.isa_names():
            native.use_isa(path)
            gaps = native.gaps(scene.values, K, scene.coefficients)
            found[path] = gaps.tobytes()
    finally:
        native.use_isa(best)
    for path in found:
        assert found[path] == found[best], path


@others
@given(scene=scenes())
def test_a_sweep_leaves_alone_what_it_is_given(name, scene):
    note(scene.recipe)
    given_numbers = [
        scene.values,
        scene.block.weights,
        scene.coefficients.means,
        scene.coefficients.bias,
        *([] if scene.before is None else [scene.before.K]),
    ]
    before = [numbers.tobytes() for numbers in given_numbers]
    scene.swept(get_kernel(name), scene.before)
    assert [numbers.tobytes() for numbers in given_numbers] == before


# How clusters may change between two sweeps. All get a generator, the rows as float64,
# the coefficients, and the statistics of a sweep under them.


def stay(rng, rows, coefficients, stats):
    return coefficients


def stay_in_another_array(rng, rows, coefficients, stats):
    return replace(coefficients, means=coefficients.means.copy())


def follow_their_rows(rng, rows, coefficients, stats):
    """Take an M-step."""
    if stats.weight == 0:
        return coefficients
    about = Theta(coefficients.means, coefficients.whitening**-2.0)
    after = Isotropic(floor=about.covariance / 4).maximize(stats, about)
    return replace(coefficients, means=after.means, whitening=after.covariance**-0.5)


def shake(rng, rows, coefficients, stats):
    """Move by a last bit here and there."""
    return replace(coefficients, means=nudged(rng, coefficients.means))


def drift(rng, rows, coefficients, stats):
    """Move all a little, some of them more."""
    means = coefficients.means
    steps = 10.0 ** rng.uniform(-6.0, 0.0, (len(means), 1)) * np.ptp(rows)
    return replace(coefficients, means=means + steps * rng.standard_normal(means.shape))


def jump(rng, rows, coefficients, stats):
    """Let a few jump onto rows, from wherever they are."""
    few = rng.integers(len(coefficients.means), size=3)
    return _with_means(coefficients, few, rows[rng.integers(len(rows), size=3)])


def jump_far_away(rng, rows, coefficients, stats):
    cluster = rng.integers(len(coefficients.means), size=1)
    how_far = 10.0 ** rng.integers(1, 10) * np.abs(rows).max()
    return _with_means(coefficients, cluster, how_far * rng.standard_normal())


def change_places(rng, rows, coefficients, stats):
    pair = rng.integers(len(coefficients.means), size=2)
    return _with_means(coefficients, pair, coefficients.means[pair[::-1]])


def meet(rng, rows, coefficients, stats):
    """Let one come to lie exactly on another."""
    one, other = rng.integers(len(coefficients.means), size=2)
    return _with_means(coefficients, one, coefficients.means[other])


def start_anew(rng, rows, coefficients, stats):
    C = len(coefficients.means)
    return replace(coefficients, means=rows[rng.integers(len(rows), size=C)])


def sharpen(rng, rows, coefficients, stats):
    """Change the variance, which is all that a penalty and a posterior may notice."""
    factor = rng.choice([0.5, 2.0])
    return replace(coefficients, whitening=factor * coefficients.whitening)


def handicap(rng, rows, coefficients, stats):
    """Change the biases: a cluster may win or lose rows without a move."""
    kind = rng.choice(["equal", "unequal", "all but equal", "in steps", "hopeless"])
    level = np.full(len(coefficients.bias), coefficients.bias.max())
    return replace(coefficients, bias=drawn_bias(rng, kind, level))


def _with_means(coefficients, which, places):
    means = coefficients.means.copy()
    means[which] = places
    return replace(coefficients, means=means)


MOVES = [
    follow_their_rows,
    follow_their_rows,
    follow_their_rows,
    stay,
    stay_in_another_array,
    shake,
    drift,
    jump,
    jump_far_away,
    change_places,
    meet,
    start_anew,
    sharpen,
    handicap,
]
histories = st.lists(st.sampled_from(MOVES), min_size=1, max_size=14)


@pytest.fixture(scope="module")
def remembering():
    """Let kernels remember what they can, also where it would not pay."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hints, "LEAST_WORK", 0)
        patch.setattr(hints, "SETTLED", 1.0)
        yield


@others
@many_examples
@given(data=st.data(), scene=scenes(few=True), moves=histories)
def test_what_a_kernel_remembers_changes_no_bit(remembering, name, data, scene, moves):
    note(scene.recipe)
    kernel, rng = get_kernel(name), generator(data.draw)
    rows, coefficients = scene.values.astype(np.float64), scene.coefficients
    kept, stats = scene.swept(kernel, scene.before)
    for move in moves:
        coefficients = move(rng, rows, coefficients, stats)
        forgotten = Kept(kept.K.copy())
        K_anew, stats_anew = scene.swept(kernel, forgotten, coefficients)
        K_expected, expected = scene.swept(reference, forgotten, coefficients)
        kept, stats = scene.swept(kernel, kept, coefficients)
        assert_same_clusters(K_anew, K_expected)
        assert_same_clusters(kept, K_expected)
        assert bits(stats) == bits(stats_anew)
        assert stats.changed == expected.changed
    assert_same_sums(stats, expected, sizes(scene, K_expected, coefficients))


@others
@given(data=st.data(), scene=scenes(few=True), moves=histories)
def test_a_sweep_may_go_on_from_any_sweep_before_not_only_the_last(
    remembering, name, data, scene, moves
):
    note(scene.recipe)
    kernel, rng = get_kernel(name), generator(data.draw)
    rows, coefficients = scene.values.astype(np.float64), scene.coefficients
    kept, stats = scene.swept(kernel, scene.before)
    past, as_they_were = [kept], [kept.K.copy()]
    for move in moves:
        coefficients = move(rng, rows, coefficients, stats)
        # Most often that before the last: what came of it has been remembered since.
        earlier = data.draw(st.sampled_from([*past, *past[-2:-1] * 4]))
        K_anew, stats_anew = scene.swept(kernel, Kept(earlier.K), coefficients)
        kept, stats = scene.swept(kernel, earlier, coefficients)
        assert_same_clusters(kept, K_anew)
        assert bits(stats) == bits(stats_anew)
        past.append(kept)
        as_they_were.append(kept.K.copy())
    for kept, K in zip(past, as_they_were):
        assert np.array_equal(kept.K, K)


@others
def test_more_clusters_than_fit_into_two_bytes_are_remembered_too(remembering, name):
    rng = np.random.default_rng(0)
    means, kernel = rng.standard_normal((2**16 + 100, 2)), get_kernel(name)
    # Rows of the last clusters, whose numbers need a third byte, and of the first.
    X = np.concatenate([means[-40:], means[:40]]) + 1e-4
    rows, plan, kept = MemoryRows(X), Exact().plan(), None
    for C_prime in (1, 3):
        for _ in range(4):
            coefficients = Isotropic().coefficients(Theta(means, 1e-4))
            K, _ = rows.sweep(reference, None, coefficients, plan, C_prime)
            kept, _ = rows.sweep(kernel, kept, coefficients, plan, C_prime)
            assert_same_clusters(kept, K)
            means = means + 1e-4 * rng.standard_normal(means.shape)
        kept = None


@others
@pytest.mark.parametrize("far", [1e12, 1e18, 1e20, 1e40, 1e120])
@pytest.mark.parametrize("far_means", [0, 2])
def test_rows_and_means_beyond_the_reach_of_float32_are_not_lost(
    remembering, name, far, far_means
):
    rng = np.random.default_rng(0)
    X, means = rng.standard_normal((300, 5)), rng.standard_normal((100, 5))
    means[:far_means] *= far
    X[::7] *= far
    rows, kernel, kept = MemoryRows(X), get_kernel(name), None
    for _ in range(4):
        coefficients = Isotropic().coefficients(Theta(means, 1.0))
        K, _ = rows.sweep(reference, None, coefficients, Exact().plan(), 3)
        kept, stats = rows.sweep(kernel, kept, coefficients, Exact().plan(), 3)
        assert_same_clusters(kept, K)
        assert_same_clusters(kernel.posterior(X, coefficients, 3), K)
        # Those next to the far rows come along, others do not.
        means = Isotropic().maximize(stats, Theta(means, 1.0)).means


@others
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("D", [1, 3, 20])
def test_near_ties_are_decided_at_every_scale_at_once(name, D, dtype):
    # Clusters in tight groups from near to far: what rounding may hide near a row has
    # nothing to do with how far away the farthest mean is.
    rng = np.random.default_rng(D)
    scales = np.repeat(10.0 ** np.arange(-3, 6), 30)[:, None]
    places = scales * rng.standard_normal((9, D)).repeat(30, axis=0)
    means = places + 1e-6 * scales * rng.standard_normal((270, D))
    rows = means[rng.integers(270, size=3000)]
    rows = (rows + 1e-6 * np.abs(rows) * rng.standard_normal(rows.shape)).astype(dtype)
    coefficients = Isotropic().coefficients(Theta(means, 1e-8))
    kernel = get_kernel(name)
    nearest = reference.nearest(rows, coefficients)
    assert np.array_equal(kernel.nearest(rows, coefficients), nearest)
    for C_prime in (1, 2, 7, 15, 40):
        found = kernel.posterior(rows, coefficients, C_prime)
        expected = reference.posterior(rows, coefficients, C_prime)
        assert_same_clusters(found, expected)
        assert np.array_equal(found.distances, expected.distances)


def test_what_is_remembered_saves_work():
    rng = np.random.default_rng(0)
    centres = rng.uniform(-50.0, 50.0, (200, 40))
    rows = MemoryRows(centres[rng.integers(200, size=3000)])
    kept, work = None, []
    for step in (0.0, 1e-2, 1e-2, 1e-2):
        centres = centres + step * rng.standard_normal(centres.shape)
        coefficients = Isotropic().coefficients(Theta(centres, 1.0))
        kept, stats = rows.sweep(native, kept, coefficients, Exact().plan(), C_prime=1)
        work.append(stats.evaluations)
    assert work[0] == 3000 * 200
    assert work[-1] < work[0] / 10


@others
def test_rows_that_changed_in_place_are_seen(name):
    rng = np.random.default_rng(0)
    X, means = rng.standard_normal((500, 3)), rng.standard_normal((20, 3))
    rows, coefficients = MemoryRows(X), Isotropic().coefficients(Theta(means, 1.0))
    for _ in range(3):
        (K, stats), (K_expected, expected) = (
            rows.sweep(kernel, None, coefficients, Exact().plan(), 2)
            for kernel in (get_kernel(name), reference)
        )
        assert_same_clusters(K, K_expected)
        assert agree(stats.scatter, expected.scatter, expected.scatter)
        X += rng.standard_normal(X.shape)


# So many that it pays to remember something of them, or not.
few_or_many = st.integers(1, 30) | st.integers(64, 100)


def scattered_problem(rng, kernel, C, D, dtype, search, outliers=0.0):
    """Return a problem without near ties: last bits of means cannot change a label."""
    centres = 3.0 * rng.standard_normal((C, D))
    N = int(rng.integers(C, 400))
    X = centres[rng.integers(C, size=N)] + rng.standard_normal((N, D))
    X[rng.random(N) < outliers] *= 10.0 ** rng.integers(1, 8)
    weights = rng.uniform(0.0, 2.0, N) * (rng.random(N) < 0.9)
    weights[:C] = 1.0
    rows = MemoryRows(X.astype(dtype), weights)
    return Problem(rows, Isotropic(floor=FLOOR), search, kernel, C_prime=1)


@others
@given(
    data=st.data(),
    C=few_or_many,
    D=st.integers(2, 20),
    dtype=st.sampled_from([np.float32, np.float64]),
    search=st.sampled_from([Exact(), Exact(), Lazy(0.1)]),
)
def test_fits_from_the_same_means_have_the_same_clusters_in_every_iteration(
    remembering, name, data, C, D, dtype, search
):
    rng = generator(data.draw)
    problem = scattered_problem(rng, reference, C, D, dtype, search)
    means = problem.rows.take(np.arange(C))
    if data.draw(st.booleans()):
        # Nobody is near half of the clusters: they must be moved first.
        means[: C // 2] += 1e3 * np.arange(1, C // 2 + 1)[:, None]
    expected, found = (
        em.steps(replace(problem, kernel=kernel), means, NEVER_CONVERGED, max_iter=15)
        for kernel in (reference, get_kernel(name))
    )
    largest = np.abs(means).max()
    for step, other in zip(expected, found, strict=True):
        assert_same_clusters(other.K, step.K)
        assert other.relocated == step.relocated
        assert other.changed == step.changed
        assert np.abs(other.theta.means - step.theta.means).max() <= 1e-12 * largest


@others
@given(
    data=st.data(),
    C=st.integers(64, 100),
    D=st.integers(1, 10),
    search=st.sampled_from([Exact(), Exact(), Lazy(0.1)]),
    outliers=st.sampled_from([0.0, 0.01, 0.1]),
)
def test_every_iteration_of_a_long_fit_is_right_by_itself(
    remembering, name, data, C, D, search, outliers
):
    rng = generator(data.draw)
    kernel = get_kernel(name)
    problem = scattered_problem(rng, kernel, C, D, np.float64, search, outliers)
    means = problem.rows.take(rng.permutation(problem.rows.n_rows)[:C])
    by_reference = replace(problem, kernel=reference)
    history = list(em.steps(problem, means, NEVER_CONVERGED, max_iter=25))
    for before, after in pairwise(history):
        # The first iteration goes on from the start itself, which is a complete sweep.
        forgotten = Kept(before.K.K) if after.iteration > 1 else None
        K, _ = by_reference.sweep(before.theta, forgotten)
        _, stats = problem.sweep(before.theta, forgotten)
        if not after.relocated:
            assert_same_clusters(after.K, K)
            expected = before.theta
            if not NEVER_CONVERGED.is_fixed(problem, before.theta, stats):
                expected = problem.model.maximize(stats, before.theta)
            assert after.theta.means.tobytes() == expected.means.tobytes()
            assert after.theta.covariance == expected.covariance
    F, variance = zip(*[(step.free_energy, step.theta.covariance) for step in history])
    assert_never_falls(np.array(F), np.array(variance), D)


@others
@fewer_examples
@given(data=st.data(), C=few_or_many, D=st.integers(1, 10))
def test_fits_of_the_same_rows_may_take_turns(remembering, name, data, C, D):
    rng = generator(data.draw)
    problem = scattered_problem(rng, get_kernel(name), C, D, np.float64, Exact())

    def fit(first):
        means = problem.rows.take(np.arange(first, first + C))
        return em.steps(problem, means, NEVER_CONVERGED, max_iter=8)

    spare = problem.rows.n_rows - C
    starts = (0, min(1, spare))
    one_by_one = zip(*[list(fit(first)) for first in starts])
    in_turns = zip(*[fit(first) for first in starts])
    for alone, together in zip(one_by_one, in_turns, strict=True):
        for a, b in zip(alone, together):
            assert a.theta.means.tobytes() == b.theta.means.tobytes()
            assert a.free_energy == b.free_energy
            assert_same_clusters(b.K, a.K)


def test_a_difference_in_the_last_bits_would_be_noticed():
    found = np.array([1.0, 2.0, 0.0])
    assert agree(found, found * (1 + 1e-13), np.abs(found))
    assert not agree(found, found * (1 + 1e-11), np.abs(found))
    assert not agree(np.array([np.inf]), np.array([1.0]), 1.0)
    assert not agree(np.array([np.nan]), np.array([1.0]), 1.0)


def test_unequal_biases_are_what_a_scene_says():
    # The scenes rely on it: a bias of k/32 handicaps by k/16 where the whitening is 1.
    coefficients = Coefficients(np.array([0.0, 1 / 32]), np.zeros((2, 1)), 1.0)
    assert coefficients.penalty().tolist() == [1 / 16, 0.0]

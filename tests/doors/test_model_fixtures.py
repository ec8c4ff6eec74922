"""Model files of every released format load, and predict what they did."""

import json
from pathlib import Path

import numpy as np
import pytest

import cprime

FIXTURES = Path(__file__).parent.parent / "fixtures" / "models"
FILES = sorted(FIXTURES.glob("v*/*.cprime"))


@pytest.mark.parametrize(
    "file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}"
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_released_format_is_read_forever(file):
    rows = np.load(file.parent / "rows.npy")
    labels = json.loads((file.parent / "labels.json").read_text())[file.stem]
    model = cprime.load(file)
    assert model.predict(rows).tolist() == labels
    probabilities = model.predict_proba(rows)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)
    assert cprime.describe(file)["format"] == int(file.parent.name[1:])


def test_there_is_a_fixture_of_everything():
    told = [cprime.describe(file) for file in FILES]
    assert {of["class"] for of in told} == {
        "KMeans",
        "SoftKMeans",
        "FuzzyKMeans",
        "GaussianMixture",
    }
    mixtures = [of for of in told if of["class"] == "GaussianMixture"]
    kinds = {of["parameters"]["covariance_type"] for of in mixtures}
    assert kinds == {"full", "tied", "diag", "spherical", "isotropic"}
    assert any("scaler" in of for of in told)
    assert any("feature_names_in_" in of["fitted"] for of in told)
    labels = {file.parent: set() for file in FILES}
    for file in FILES:
        labels[file.parent].add(file.stem)
    for folder, names in labels.items():
        assert names == json.loads((folder / "labels.json").read_text()).keys()

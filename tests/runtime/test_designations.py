"""What of a list of texts is a code or a name although it has digits."""

from __future__ import annotations

import pytest

from gllint_runtime.policy.designations import are_codes


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["01", "02", "22", "ZZ"], True),
        (["01", "ZZ"], True),
        (["1", "02"], False),
        (["21", "22"], False),
        (["3024-night", "cobalt", "monokai", "nord"], True),
        (["3024-night", "cobalt", "nord"], False),
        (["cobalt", "monokai", "nord"], False),
        (["5-kwh", "cobalt", "monokai", "nord"], False),
        (["5-days", "cobalt", "monokai", "nord"], False),
        (["3024-night", "1x", "cobalt", "monokai", "nord"], False),
        (["3024-night", "", "cobalt", "monokai", "nord"], False),
        (["3024-night", "cobalt blue", "monokai", "nord"], False),
        (["500", "kWh"], False),
        ([], False),
    ],
)
def test_texts_that_are_listed_are_codes_or_names(texts: list[str], expected: bool) -> None:
    assert are_codes(texts) is expected

"""-k expressions, dtypes, tiers and shards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnll_cli.cases.model import Case
from gnll_cli.cases.selection import keyword, parse_shard, shard
from gnll_cli.errors import UsageError

ID = "matrix/fp16-mean-7x513-target_axis1-var_scalar"


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ("fp16", True),
        ("FP16", True),
        ("matrix/fp16", True),
        ("fp32", False),
        ("not fp32", True),
        ("NOT not fp16", True),
        ("fp16 and mean", True),
        ("fp16 and sum", False),
        ("sum or mean", True),
        ("sum or fp32 and mean", False),
        ("fp16 or sum and fp32", True),
        ("(fp16 or sum) and fp32", False),
        ("not (sum or fp32)", True),
        ("not sum and mean", True),
        ("((((mean))))", True),
        ("7x513 AND(var_scalar)", True),
        (f"={ID}", True),
        (f"={ID.upper()}", True),
        ("=matrix/fp16", False),
        (f"not ={ID}", False),
        ("sandor or mean", True),
    ],
)
def test_expressions(expression: str, selected: bool) -> None:
    assert keyword(expression)(ID) is selected


@pytest.mark.parametrize(
    ("expression", "what", "column"),
    [
        ("", "the expression is empty", 0),
        ("   ", "the expression is empty", 0),
        ("fp16 and", "a word is missing at the end", 8),
        ("fp16 mean", "'mean' where 'and' or 'or' should be", 5),
        ("and fp16", "a word is missing before 'and'", 0),
        ("fp16 or or mean", "a word is missing before 'or'", 8),
        ("(fp16", "this '(' is not closed", 0),
        ("(fp16 mean)", "'and', 'or' or ')' should be here", 6),
        ("fp16)", "')' without '('", 4),
        ("()", "a word is missing before ')'", 1),
        ("not", "a word is missing at the end", 3),
        ("fp16 and =", "an id is missing after '='", 9),
        ("(" * 60 + "a" + ")" * 60, "parentheses more than 50 deep", 50),
    ],
)
def test_a_wrong_expression_is_shown_with_a_caret(expression: str, what: str, column: int) -> None:
    with pytest.raises(UsageError) as caught:
        keyword(expression)
    assert (caught.value.what, caught.value.where) == (what, "-k")
    shown, caret = caught.value.hint.split("\n")
    assert caret.index("^") == 2 + column
    assert shown.startswith(expression.strip()[:20])


def test_a_long_expression_is_shown_around_the_place() -> None:
    with pytest.raises(UsageError) as caught:
        keyword(" and ".join(["word"] * 100) + " word")
    shown, caret = caught.value.hint.split("\n")
    assert len(shown) <= 101
    assert shown[caret.index("^") - 2 :].startswith("word")
    with pytest.raises(UsageError, match="characters"):
        keyword("a" * 20_000)


Tree = tuple | str
WORDS = st.sampled_from(["fp16", "mean", "sum", "axis1", "x"])
TREES: st.SearchStrategy[Tree] = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.just("and"), inner, inner),
        st.tuples(st.just("or"), inner, inner),
    ),
    max_leaves=12,
)
_STRENGTH = {"or": 0, "and": 1, "not": 2}


def _text(tree: Tree, outer: int = 0) -> str:
    """The expression with only the parentheses that precedence demands."""
    if isinstance(tree, str):
        return tree
    own = _STRENGTH[tree[0]]
    text = f"not {_text(tree[1], 2)}" if tree[0] == "not" else f" {tree[0]} ".join(_text(t, own) for t in tree[1:])
    return f"({text})" if own < outer else text


def _value(tree: Tree, name: str) -> bool:
    if isinstance(tree, str):
        return tree in name
    if tree[0] == "not":
        return not _value(tree[1], name)
    values = [_value(t, name) for t in tree[1:]]
    return all(values) if tree[0] == "and" else any(values)


@given(TREES, st.lists(WORDS, max_size=4).map("-".join))
def test_precedence(tree: Tree, name: str) -> None:
    assert keyword(_text(tree))(name) == _value(tree, name)


@given(st.text(alphabet="()=andortx \t\n", max_size=30))
def test_any_text_is_an_expression_or_a_usage_error(text: str) -> None:
    try:
        predicate = keyword(text)
    except UsageError:
        return
    assert predicate("x") in (True, False)


def _case(number: int, elements: int) -> Case:
    return Case(f"x/{number}", "toy", "fp32", {}, {"input": (elements,)}, {}, {}, 0)


@given(st.lists(st.integers(0, 10_000), max_size=60), st.integers(1, 9))
def test_shards_are_a_balanced_partition(sizes: list[int], count: int) -> None:
    cases = [_case(number, size) for number, size in enumerate(sizes)]
    parts = [list(shard(cases, index, count)) for index in range(1, count + 1)]
    assert sorted(case.id for part in parts for case in part) == sorted(case.id for case in cases)
    loads = [sum(case.cost for case in part) for part in parts]
    # Giving each case to the least loaded keeps the loads within one case of each other.
    assert max(loads) - min(loads) <= max((case.cost for case in cases), default=0)
    assert [list(shard(iter(cases), index, count)) for index in range(1, count + 1)] == parts
    # Within a shard cases keep their order.
    for part in parts:
        assert part == [case for case in cases if case in part]


def test_shards_of_a_suite_are_disjoint_and_lazy(load: Callable) -> None:
    suite = load(
        "operator: gaussian_nll_loss_grad\n"
        "matrix: {dtype: [fp32, fp16, bf16], reduction: [none, sum], shape: [[2, 3], [700], [5, 5]]}\n"
        "random: {count: 50, tier: full}\n"
    )
    everything = [case.id for case in suite.cases()]
    parts = [[case.id for case in suite.cases(shard=f"{i}/4")] for i in range(1, 5)]
    assert sorted(name for part in parts for name in part) == sorted(everything)
    assert suite.count(shard=(2, 4)) == len(parts[1])
    some = [case.id for case in suite.cases(dtype=["fp16"], shard=(1, 2))]
    assert all(case.dtype == "fp16" for case in suite.cases(dtype=["fp16"]))
    assert set(some) < {case.id for case in suite.cases(dtype=["fp16"])}


@pytest.mark.parametrize(
    "text", ["", "1", "1/", "/2", "0/2", "3/2", "-1/2", "1/0", "a/b", "1/2/3", "1.0/2", "1/9999999", "²/3"]
)
def test_wrong_shards(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_shard(text)
    assert caught.value.where == "--shard"
    assert caught.value.hint


def test_right_shards() -> None:
    assert parse_shard("1/1") == (1, 1)
    assert parse_shard(" 03 / 10 ") == (3, 10)


def test_tiers_are_cumulative(load: Callable) -> None:
    suite = load(
        "operator: gaussian_nll_loss_grad\n"
        "matrix: {dtype: fp32, shape: [2]}\n"
        "tier: smoke\n"
        "include: [{shape: [3], tier: full}, {shape: [4], tier: nightly}]\n"
    )
    assert [suite.count(tier) for tier in ("smoke", "full", "nightly")] == [1, 2, 3]
    assert [case.shapes["input"] for case in suite.cases("full")] == [(2,), (3,)]
    assert suite.count() == 2
    with pytest.raises(UsageError, match="unknown tier 'ful'"):
        suite.cases("ful")


def test_a_wrong_selection_is_an_error_before_the_first_case(load: Callable) -> None:
    suite = load("operator: gaussian_nll_loss_grad\nmatrix: {dtype: fp32, shape: [2]}\n")
    for wrong in ({"dtype": ["fp61"]}, {"keyword": "("}, {"shard": "5/4"}, {"shard": (0, 4)}, {"tier": "x"}):
        with pytest.raises(UsageError):
            suite.cases(**wrong)
        with pytest.raises(UsageError):
            suite.count(**wrong)
    assert list(suite.cases(dtype=["fp16"])) == []


def test_another_campaign_seed_gives_other_data_to_the_same_ids(load: Callable) -> None:
    suite = load("operator: gaussian_nll_loss_grad\nmatrix: {dtype: fp32, shape: [[2], [3]]}\nrandom: {count: 2}\n")
    usual, other = list(suite.cases()), list(suite.cases(campaign_seed=7))
    assert [case.id for case in usual] == [case.id for case in other]
    assert all(a.seed != b.seed for a, b in zip(usual, other, strict=True))
    assert [c.seed for c in other] == [c.seed for c in suite.cases(campaign_seed=7)]

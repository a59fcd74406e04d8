import threading

import pytest

from referee.llm import minilm
from referee.llm.minilm import one_blas_thread


class Library:
    """OpenBLAS, as far as it is asked."""

    def __init__(self) -> None:
        self.threads = 4

    def scipy_openblas_get_num_threads64_(self) -> int:
        return self.threads

    def scipy_openblas_set_num_threads64_(self, threads: int) -> None:
        self.threads = threads


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library()
    monkeypatch.setattr(minilm, "_openblas", lambda: found)
    return found


def test_the_last_to_leave_puts_things_back_whoever_came_first(library: Library) -> None:
    second_is_in, first_is_out = threading.Event(), threading.Event()
    seen = []

    def second() -> None:
        with one_blas_thread():
            second_is_in.set()
            first_is_out.wait(120)
            seen.append(library.threads)

    other = threading.Thread(target=second)
    with one_blas_thread():
        other.start()
        assert second_is_in.wait(120)
        assert library.threads == 1
    first_is_out.set()
    other.join()
    assert seen == [1]
    assert library.threads == 4


def test_an_error_within_puts_things_back(library: Library) -> None:
    with pytest.raises(ValueError, match="within"), one_blas_thread():
        raise ValueError("within")
    assert library.threads == 4


def test_another_blas_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_openblas", lambda: None)
    with one_blas_thread():
        pass


def test_the_one_that_comes_with_numpy_is_held() -> None:
    found = minilm._openblas()
    if found is None:
        pytest.skip("this numpy has another BLAS: pip install --force-reinstall --only-binary numpy numpy")
    before = getattr(found, minilm._GET)()
    with one_blas_thread():
        assert getattr(found, minilm._GET)() == 1
    assert getattr(found, minilm._GET)() == before

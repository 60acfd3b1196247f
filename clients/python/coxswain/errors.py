"""The one exception of this package."""


class CoxswainError(Exception):
    """One sentence for people, and `code`, which is stable, for programs: docs/guide/failures.md lists them."""

    def __init__(self, code: str, sentence: str):
        super().__init__(sentence)
        self.code = code

"""Encoders that wrap another encoder: to load it with the first text, or to cache the vectors of questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from taxkg_assets.retrieval.encoding.encoder import CosineScale, Encoder, Progress, TokenVectors, Vectors
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder


@dataclass(frozen=True)
class DeferredEncoder:
    """An encoder that is loaded when it first encodes, as most builds of a large library encode nothing."""

    model_name: str
    model_hash: str
    scale: CosineScale
    load: Callable[[], Encoder]
    """Loads the encoder; returns it at once if it is loaded already."""
    tokenize: Callable[[Sequence[str]], list[list[int]]] | None = None
    """Does what `find_tokens` of the encoder does, without loading its weights; None if only the encoder can."""
    encode_many: Callable[[Sequence[str], Progress | None], Vectors] | None = None
    """Encodes passages as the encoder does, but in another process; None to encode in this one."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return self.load().dimension

    def encode_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Encode as the wrapped encoder does.

        Args:
            texts: Texts.
            progress: Called with the number of encoded texts.

        Returns:
            Unit vectors, shape (texts, dimension).
        """
        if self.encode_many is not None:
            return self.encode_many(texts, progress)
        return self.load().encode_passages(texts, progress=progress)

    def encode_query(self, text: str) -> Vectors:
        """Encode as the wrapped encoder does.

        Args:
            text: The question.

        Returns:
            Unit vector, shape (1, dimension).
        """
        return self.load().encode_query(text)

    def encode_sentences(self, texts: Sequence[str]) -> Vectors:
        """Encode as the wrapped encoder does.

        Args:
            texts: Texts.

        Returns:
            Unit vectors, shape (texts, dimension).
        """
        return self.load().encode_sentences(texts)

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return tokens as the wrapped encoder does.

        Args:
            texts: Texts.
        """
        return (self.tokenize or self.load().find_tokens)(texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode as the wrapped encoder does.

        Args:
            texts: Texts.

        Returns:
            Tokens of each text with their unit vectors.
        """
        return self.load().encode_tokens(texts)

    def encode_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """Encode passages and their tokens, in one pass where the encoder can.

        Args:
            texts: Passages.

        Returns:
            What `encode_passages` and `encode_tokens` return.
        """
        encoder = self.load()
        if isinstance(encoder, SentenceEncoder):
            return encoder.encode_with_tokens(texts)
        return encoder.encode_passages(texts), encoder.encode_tokens(texts)

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        """Encode as the wrapped encoder does.

        Args:
            tokens: Token ids.

        Returns:
            Unit vectors, shape (tokens, dimension).
        """
        return self.load().encode_lone_tokens(tokens)


@dataclass(frozen=True)
class VectorKeepingEncoder:
    """Encodes tokens of passages, and keeps the vectors of the passages, which the same pass gives.

    Attributes:
        wrapped: Encoder of passages with their tokens.
        vectors: Vectors by passage.
    """

    wrapped: DeferredEncoder
    vectors: dict[str, Vectors] = field(default_factory=dict)

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return tokens as the wrapped encoder does.

        Args:
            texts: Texts.
        """
        return self.wrapped.find_tokens(texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode the tokens of passages, and keep the vectors of the passages.

        Args:
            texts: Passages.

        Returns:
            Tokens of each text with their unit vectors.
        """
        vectors, tokens = self.wrapped.encode_with_tokens(texts)
        self.vectors.update(zip(texts, vectors, strict=True))
        return tokens

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        """Encode as the wrapped encoder does.

        Args:
            tokens: Token ids.

        Returns:
            Unit vectors, shape (tokens, dimension).
        """
        return self.wrapped.encode_lone_tokens(tokens)


@dataclass(frozen=True)
class RememberingEncoder:
    """An encoder that encodes each question once, for comparisons that repeat the same questions."""

    wrapped: Encoder
    questions: dict[str, Vectors] = field(default_factory=dict)
    question_tokens: dict[str, TokenVectors] = field(default_factory=dict)

    @property
    def model_name(self) -> str:
        """Return the name or path of the model."""
        return self.wrapped.model_name

    @property
    def model_hash(self) -> str:
        """Return the digest of its weights."""
        return self.wrapped.model_hash

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return self.wrapped.dimension

    @property
    def scale(self) -> CosineScale:
        """Return the map from its cosines to those of its base."""
        return self.wrapped.scale

    def encode_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Encode as the wrapped encoder does.

        Args:
            texts: Texts.
            progress: Called with the number of encoded texts.

        Returns:
            Unit vectors, shape (texts, dimension).
        """
        return self.wrapped.encode_passages(texts, progress=progress)

    def encode_query(self, text: str) -> Vectors:
        """Encode a question, or return its cached vector.

        Args:
            text: The question.

        Returns:
            Unit vector, shape (1, dimension).
        """
        if text not in self.questions:
            self.questions[text] = self.wrapped.encode_query(text)
        return self.questions[text]

    def encode_sentences(self, texts: Sequence[str]) -> Vectors:
        """Encode as the wrapped encoder does.

        Args:
            texts: Texts.

        Returns:
            Unit vectors, shape (texts, dimension).
        """
        return self.wrapped.encode_sentences(texts)

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return tokens as the wrapped encoder does.

        Args:
            texts: Texts.
        """
        return self.wrapped.find_tokens(texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode the tokens of questions, or return their cached vectors.

        Args:
            texts: Questions.

        Returns:
            Tokens of each text with their unit vectors.
        """
        new_texts = [text for text in texts if text not in self.question_tokens]
        self.question_tokens.update(
            zip(new_texts, self.wrapped.encode_tokens(new_texts), strict=True) if new_texts else ()
        )
        return [self.question_tokens[text] for text in texts]

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        """Encode as the wrapped encoder does.

        Args:
            tokens: Token ids.

        Returns:
            Unit vectors, shape (tokens, dimension).
        """
        return self.wrapped.encode_lone_tokens(tokens)

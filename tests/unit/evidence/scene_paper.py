from __future__ import annotations

from referee.schemas.paper import Block, Box, Converter, Paper, Reference, Section

METHOD = (
    "We propose a self-\nsupervised objective that aligns two views of a scene. The ﬁrst view is cropped at random, "
    "and the second one is blurred. Training does not require any labels. We minimise the loss with a learning rate "
    "of 3e-4 for 200 epochs on 8 GPUs."
)
RESULTS = (
    "Our model reaches an accuracy of 0.78 on the test set, which is higher than the strongest baseline (p < 0.05). "
    "The change in calibration error is −0.3 points. The model's “zero-shot” variant improves by 2.5% over GPT-4."
)


def block(block_id: str, text: str, *, kind: str = "paragraph", page: int | None = 1, box: Box | None = None) -> Block:
    return Block.model_validate({"id": block_id, "kind": kind, "text": text, "page": page, "box": box})


def paper(*sections: Section, title: str = "Aligning two views of a scene", abstract: str = "") -> Paper:
    return Paper(
        paper_id="0" * 64,
        title=title,
        abstract=abstract,
        format="text",
        sections=sections or (method(), results()),
        references=(Reference(id="r1", text="Doe, J. Contrastive learning of visual scenes. 2021.", page=9),),
        converter=Converter(name="test", version="1"),
    )


def method() -> Section:
    return Section(id="s3", heading="Method", number="3", level=1, blocks=(block("s3b1", METHOD, page=2),))


def results() -> Section:
    box = Box(x0=1, y0=2, x1=3, y1=4)
    return Section(
        id="s4",
        heading="4 Results",
        number="4",
        level=1,
        blocks=(
            block("s4b1", RESULTS, page=3, box=box),
            block(
                "s4b2", "Method | Accuracy | Error\nBaseline | 0.71 | 0.29\nOurs | 0.78 | 0.22", kind="table", page=3
            ),
            block("s4b3", "Table 1: Accuracy and error on the held-out scenes.", kind="caption", page=3),
            block("s4b4", "The gain stems from the larger crops, and it", page=3),
            block("s4b5", "Figure 2: Crops of both views.", kind="caption", page=4),
            block("s4b6", "vanishes once the crops are fixed.", page=4),
            block("s4b7", "L = L_1 + λ L_2 - μ R(θ), θ ≥ 0", kind="equation", page=4),
        ),
    )

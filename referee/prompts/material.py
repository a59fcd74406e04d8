"""Untrusted text inside delimiters that it cannot close."""

from __future__ import annotations

import re

_UNSAFE = re.compile(r'["<>\n]')
# Control characters (but line break and tab), lone surrogates, and a "<" in its compatibility forms.
_CLEANED = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)]) | {0xFF1C: "<", 0xFE64: "<"}
del _CLEANED[ord("\n")], _CLEANED[ord("\t")]
_TAG = re.compile(r"<(?=[\s/]*[A-Za-z_|])")


def delimit(tag: str, text: str, **attributes: str) -> str:
    """Wrap material in ``<tag ...>`` so that nothing inside can end or open a delimiter.

    Every ``<`` that could begin a tag or a model's control token such as ``<|im_end|>`` (in any compatibility form,
    spaced or not) becomes ``‹``; comparison signs before digits stay as they are. Control characters other than line
    breaks and tabs go.

    Args:
        tag: The delimiter's name, lower case.
        text: Paper, review or web text: data, never instructions.
        **attributes: Short trusted values for the opening tag; quotes and angle brackets in them are dropped.
    """
    clean = _TAG.sub("‹", text.translate(_CLEANED))
    extra = "".join(f' {name}="{_UNSAFE.sub("", value)}"' for name, value in attributes.items())
    return f"<{tag}{extra}>\n{clean}\n</{tag}>"

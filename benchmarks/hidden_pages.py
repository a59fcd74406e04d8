"""Pages and Markdown with text that a reader cannot see, a technique each; ``@`` stands for the sentence.

``STYLES`` go into the page's style sheet, ``ELEMENTS`` into its body, ``UNPRINTED`` are parts of a file that no page
shows. A renderer says of each whether it hides anything.
"""

from __future__ import annotations

import html

STYLES = {
    "display": ".x { display: none }",
    "visibility": ".x { visibility: hidden }",
    "white": ".x { color: #fff }",
    "white by hsl": ".x { color: hsl(0 0% 100%) }",
    "white by hsl with commas": ".x { color: hsla(120, 100%, 99.5%, 1) }",
    "white by hwb": ".x { color: hwb(0 100% 0%) }",
    "white by lab": ".x { color: lab(100 0 0) }",
    "white by lch": ".x { color: lch(99.8% 0 0) }",
    "white by oklch": ".x { color: oklch(1 0 0) }",
    "white by color()": ".x { color: color(srgb 1 1 1) }",
    "white by a rare name": ".x { color: seashell }",
    "system colour": ".x { color: Canvas }",
    "variable": ":root { --c: white } .x { color: var(--c) }",
    "variable's fallback": ".x { color: var(--none, #fefefe) }",
    "variable in a parent": "body { --q: none } .x { display: var(--q) }",
    "escaped property": r".x { dis\70lay: none }",
    "escaped value": r".x { display: \6eone }",
    "escaped selector": r".\78 { display: none }",
    "filter": ".x { filter: opacity(0) }",
    "filter in per cent": ".x { filter: blur(1px) opacity(0%) }",
    "content-visibility": ".x { content-visibility: hidden }",
    "id": "#i { display: none }",
    "attribute": "[data-k] { display: none }",
    "attribute's value": '[data-k="v"] { display: none }',
    "attribute's beginning": "p[data-k^=v] { display: none }",
    "nth-of-type": "p:nth-of-type(3) { display: none }",
    "nth-child": "body > :nth-child(5) { display: none }",
    "last-of-type": "p:last-of-type { display: none }",
    "descendant": "body p.x { display: none }",
    "child": "body > .x { display: none }",
    "sibling": "h2 ~ .x { display: none }",
    "next sibling": "p + .x { display: none }",
    ":not": "p:not(.seen) { display: none }",
    ":is": ":is(.x, .y) { display: none }",
    ":where": ":where(.x) { display: none }",
    "everything in it": ".x, .x * { display: none }",
    "media screen": "@media screen { .x { display: none } }",
    "media all and width": "@media all and (min-width: 1px) { .x { display: none } }",
    "media width alone": "@media (min-width: 1px) { .x { display: none } }",
    "supports": "@supports (display: block) { .x { display: none } }",
    "layer": "@layer a { .x { display: none } }",
    "nested rule": "body { & .x { display: none } }",
    "nested without &": "body { .x { display: none } }",
    "important beats style": ".x { display: none !important } .x { display: block }",
    "opacity": ".x { opacity: 0.01 }",
    "opacity in per cent": ".x { opacity: 1% }",
    "font shorthand": ".x { font: 0/0 a }",
    "font size by calc": ".x { font-size: calc(1px - 1px) }",
    "font size in vmin": ".x { font-size: 0vmin }",
    "scale property": ".x { scale: 0 }",
    "scaleX": ".x { transform: scaleX(0) }",
    "turned edge on": ".x { transform: rotateY(90deg) }",
    "moved away": ".x { transform: translateX(-300vw) }",
    "translate property": ".x { translate: -9999px }",
    "left": ".x { position: absolute; left: -9999px }",
    "inset": ".x { position: absolute; inset: -9999px auto auto -9999px }",
    "relative left": ".x { position: relative; left: -9999px }",
    "margin": ".x { margin: 0 0 0 -9999px }",
    "indent": ".x { text-indent: -9999px }",
    "height": ".x { height: 0; overflow: hidden }",
    "max-height": ".x { max-height: 0; overflow: clip }",
    "clip": ".x { position: absolute; clip: rect(0 0 0 0) }",
    "clip-path": ".x { clip-path: circle(0) }",
    "clip-path polygon": ".x { clip-path: polygon(0 0, 0 0, 0 0) }",
    "mask": ".x { mask-image: linear-gradient(transparent, transparent) }",
    "text fill": ".x { -webkit-text-fill-color: transparent }",
}
ELEMENTS = {
    "style attribute": '<p style="display:none">@</p>',
    "escape in a style attribute": r'<p style="dis\70lay:none">@</p>',
    "hidden": "<p hidden>@</p>",
    "hidden until found": '<p hidden="until-found">@</p>',
    "popover": "<div popover>@</div>",
    "dialog": "<dialog>@</dialog>",
    "annotation": "<p><math><semantics><mi>x</mi><annotation>@</annotation></semantics></math></p>",
    "rp": "<p><ruby>x<rp>@</rp><rt>y</rt></ruby></p>",
    "datalist": "<datalist><option>@</option></datalist>",
    "object": '<object data="data:text/html,<p>x"><p>@</p></object>',
    "canvas": "<canvas>@</canvas>",
    "video": "<video><p>@</p></video>",
    "audio": "<audio><p>@</p></audio>",
    "iframe": "<iframe>@</iframe>",
    "svg desc": '<svg width="9" height="9"><desc>@</desc></svg>',
    "svg title": '<svg width="9" height="9"><title>@</title></svg>',
    "svg defs": '<svg width="9" height="9"><defs><text y="9">@</text></defs></svg>',
    "svg metadata": '<svg width="9" height="9"><metadata>@</metadata></svg>',
    "font": '<font color="white">@</font>',
    "bgcolor": '<table bgcolor="#123456" width="1300"><tr><td><font color="#123456">@</font></td></tr></table>',
    "noframes": "<noframes>@</noframes>",
    "area": '<map><area alt="@"></map>',
    "select": '<select style="width:90px"><option>x</option><option>@</option></select>',
    "fillers": "<p>@fillers</p>",
}
UNPRINTED = {
    "comment": "<!-- @ -->",
    "meta": '<meta name="description" content="@">',
    "hidden input": '<input type="hidden" value="@">',
    "template": "<template>@</template>",
    "noscript": "<noscript>@</noscript>",
    "alt": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" alt="@">',
    "title": '<p title="@">Seen here.</p>',
    "aria-label": '<p aria-label="@">Seen here.</p>',
    "script": '<script type="application/json">"@"</script>',
    "data attribute": '<p data-note="@">Seen here.</p>',
}
# A filler letter for each bit: letters without ink, which a renderer gives no glyph or a blank.
MARKDOWN = {
    "link comment": '[x]: <> "@"',
    "link comment, another name": "[//]: # (@)",
    "reference that is not used": '[note]: http://a.org "@"',
    "reference target": "[note]: <@under>",
    "alternative text": '![@](data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA= "x")',
    "link title": 'See [this](http://a.org "@").',
    "image title": '![x](data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA= "@")',
    "title of a reference": 'See [this][n].\n\n[n]: http://a.org "@"',
    "white TeX": r"$\color{white}{@}$",
    "white TeX by model": r"$\color[rgb]{1,1,1}{\text{@}}$",
    "white TeX by textcolor": r"$\textcolor{#ffffff}{\text{@}}$",
    "phantom": r"$\phantom{\text{@}}$",
    "Hangul fillers": "Seen@fillers.",
    "soft hyphens": "@soft",
    "comment": "<!-- @ -->",
    "style": '<p style="display:none">@</p>',
    "escape in a style": r'<p style="dis\70lay:none">@</p>',
    "hsl": '<span style="color:hsl(0 0% 100%)">@</span>',
    "filter": '<span style="filter:opacity(0)">@</span>',
    "popover": "<div popover>@</div>",
    "details": "<details><summary>x</summary>\n\n@\n\n</details>",
    "style sheet": "<style>.x { display: none }</style>\n\n<p class=x>@</p>",
    "info of a fence": "```text @\ncode\n```",
    "front matter": "@front",
    "zero width": "@tags",
}
_PARAGRAPH = "Plain words about samples stand here and go on for a line or two, as they do in papers."


def page(technique: str, sentence: str) -> str:
    """The page with one technique."""
    style = STYLES.get(technique, "")
    body = f'<p class="x" id="i" data-k="v">{sentence}</p>'
    if not style:
        body = {**ELEMENTS, **UNPRINTED}[technique].replace("@fillers", fillers(sentence)).replace("@", sentence)
    after = "" if technique == "last-of-type" else "<div>The end.</div>"
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>A Paper</title><style>{style}</style></head><body>'
        f'<h1>A Paper</h1><h2>1 Introduction</h2><p class="seen">{_PARAGRAPH}</p><p class="seen">{_PARAGRAPH}</p>'
        f"{body}{after}</body></html>"
    )


def markdown(technique: str, sentence: str) -> str:
    """The Markdown text with one technique."""
    body = MARKDOWN[technique]
    front = f"---\nnote: {sentence}\n---\n\n" if body == "@front" else ""
    signs = {
        "@front": "",
        "@fillers": fillers(sentence),
        "@soft": "\u00ad".join(sentence),
        "@tags": "Seen" + "".join(chr(0xE0000 + ord(sign)) for sign in sentence),
        "@under": sentence.replace(" ", "_"),
    }
    for mark, text in signs.items():
        body = body.replace(mark, text)
    body = body.replace("@", sentence)
    return f"{front}# A Paper\n\n## 1 Introduction\n\n{_PARAGRAPH}\n\n{body}\n\n{_PARAGRAPH}\n"


def fillers(sentence: str) -> str:
    """The sentence's bits in two letters that have no ink."""
    bits = "".join(f"{byte:08b}" for byte in html.unescape(sentence).encode())
    return bits.replace("0", "\u3164").replace("1", "\uffa0")

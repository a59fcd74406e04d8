r"""Quantities as siunitx prints them: numbers, ranges and lists, and units from their names (``\kilo\hertz``: kHz)."""

from __future__ import annotations

import re

from referee.papers.latex.scan import Braces, pairs

_PREFIXES = pairs("""yocto y zepto z atto a femto f pico p nano n micro µ milli m centi c deci d deca da deka da
    hecto h kilo k mega M giga G tera T peta P exa E zetta Z yotta Y kibi Ki mebi Mi gibi Gi tebi Ti pebi Pi
    exbi Ei""")
# What is not named here prints its own name, which is right for the short forms: \kHz, \eV, \cm.
_UNITS = pairs("""metre m meter m second s kilogram kg gram g ampere A kelvin K mole mol candela cd hertz Hz
    newton N pascal Pa joule J watt W coulomb C volt V farad F ohm Ω siemens S weber Wb tesla T henry H
    celsius °C degreeCelsius °C lumen lm lux lx becquerel Bq gray Gy sievert Sv katal kat radian rad
    steradian sr minute min hour h day d hectare ha litre L liter L tonne t degree ° arcminute ′ arcsecond ″
    percent % electronvolt eV dalton Da atomicmassunit u astronomicalunit au bel B decibel dB neper Np
    angstrom Å bar bar barn b knot kn mmHg mmHg nauticalmile M bit bit byte B parsec pc clight c um µm us µs
    ug µg uL µL ul µl uA µA uF µF uW µW uV µV uN µN uJ µJ umol µmol permille ‰ lightyear ly""")
_POWERS = {"square": "^2", "squared": "^2", "cubic": "^3", "cubed": "^3", "of": " of "}
_TOKEN = re.compile(r"\\(?P<word>[A-Za-z]+)\s*(?:\{(?P<given>[^{}]*)\})?|\\?(?P<chars>%|[^\\{}.~\s]+)")
_DECLARED = re.compile(r"\\(?:DeclareSIUnit|newunit)(?![a-zA-Z])")
_EXPONENT = re.compile(r"\s*[eEdD]\s*\+?(-?\d+)")
_SIGNS = (("+-", "±"), ("\\pm", "±"), ("~", ""), ("\\,", ""), ("x", " × "), ("\\times", " × "))
# The mandatory arguments of each command: n a number, l numbers between semicolons, a an angle, u a unit.
QUANTITIES = {
    "num": "n", "tablenum": "n", "numproduct": "n", "complexnum": "n", "ang": "a", "unit": "u", "si": "u",
    "numlist": "l", "numrange": "nn", "qty": "nu", "SI": "nu", "qtyproduct": "nu", "complexqty": "nu", "qtylist": "lu",
    "SIlist": "lu", "qtyrange": "nnu", "SIrange": "nnu",
}  # fmt: skip
QUANTITY_FORMS = {name: "[{[{" if name == "SI" else "[" + "{" * len(kinds) for name, kinds in QUANTITIES.items()}


def declared_units(source: str) -> dict[str, str]:
    r"""Units that the paper makes for itself by ``\DeclareSIUnit``, by name."""
    braces = Braces(source)
    units: dict[str, str] = {}
    for match in _DECLARED.finditer(source):
        if name := braces.argument((braces.bracket(match.end()) or ("", match.end()))[1]):
            body = braces.argument((braces.bracket(name[1]) or name)[1])
            units[name[0].strip(" \\")] = unit_text(body[0] if body else "", units)
    return units


def unit_text(source: str, declared: dict[str, str]) -> str:
    r"""'J/(kg K)' for ``\joule\per\kilogram\per\kelvin``; where nothing stands above the line, 's^-1'."""
    if "\\" not in source:
        return " ".join(re.sub(r"[.~]", " ", re.sub(r"[{}]", "", source)).split())
    over: list[str] = []
    under: list[str] = []
    side, last, lead, power = over, over, "", ""
    for token in _TOKEN.finditer(source):
        word, given = token["word"] or "", token["given"]
        if word == "per":
            side = under
        elif word in _PREFIXES:
            lead += _PREFIXES[word]
        elif word in ("square", "cubic", "raiseto"):
            power = _POWERS.get(word, f"^{given}")
        elif word in ("squared", "cubed", "of", "tothe"):
            last[-1:] = [part + _POWERS.get(word, "^") + (given or "") for part in last[-1:]]
        elif shown := declared.get(word, "") or _UNITS.get(word, given or token["chars"] or word):
            side.append(f"{lead}{shown}{power}")
            side, last, lead, power = over, side, "", ""
    if not over:
        return " ".join(f"{one.replace('^', '^-')}" if "^" in one else f"{one}^-1" for one in under) or lead
    return " ".join(over) + (f"/({' '.join(under)})" if len(under) > 1 else f"/{under[0]}" if under else "")


def number_text(source: str) -> str:
    """A number as it is printed: '1.5×10^6' for '1.5e6'."""
    text = _EXPONENT.sub(r"×10^\1", " ".join(source.split()))
    for typed, printed in _SIGNS:
        text = text.replace(typed, printed)
    text = " ".join(re.sub(r"\\[A-Za-z]+|[{}]", " ", text).split()).removeprefix("×")
    return f"0{text}" if text.startswith(".") else text


def quantity_text(name: str, given: list[str], declared: dict[str, str]) -> str:
    r"""What one command of siunitx prints, from its mandatory arguments."""
    parts = dict.fromkeys("nlau", "")
    for kind, source in zip(QUANTITIES[name], given, strict=False):
        if kind == "u":
            parts["u"] = unit_text(source, declared)
        elif kind == "a":
            angles = zip(source.split(";"), "°′″", strict=False)
            parts["a"] = "".join(f"{number_text(number)}{mark}" for number, mark in angles if number.strip())
        else:
            numbers = [number_text(number) for number in source.split(";" if kind == "l" else "\n\n")]
            joined = ", ".join(numbers[:-1]) + (" and " if numbers[1:] else "") + numbers[-1]
            parts["n"] = f"{parts['n']} to {joined}" if parts["n"] else joined
    number, unit = parts["n"] + parts["a"], parts["u"]
    return f"{number}{unit}" if unit[:1] in "°′″" and unit != "°C" else f"{number} {unit}".strip()

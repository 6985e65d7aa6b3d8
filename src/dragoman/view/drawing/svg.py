"""Parts of SVG pictures as text. Labels are escaped; text and lines use the current colour."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from markupsafe import Markup, escape

from dragoman.text import readable

__all__ = ["LETTER", "label", "path", "svg", "text", "text_width"]

LETTER = 6.9
"""Estimated mean width of a letter at 13 pixels."""
_FONT = "font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: currentColor"


def svg(width: float, height: float, parts: Sequence[Markup], title: str, *, description: str = "") -> Markup:
    """A picture with a title and an optional longer description, for accessibility."""
    head = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" width="{}" role="img" style="{}"><title>{}</title>'
    )
    size = (round(width), round(height), round(width))
    desc = Markup("<desc>{}</desc>").format(label(description)) if description else Markup("")
    return head.format(*size, _FONT, label(title)) + desc + Markup("").join(parts) + Markup("</svg>\n")


def text(x: float, y: float, content: str, anchor: str, *, soft: bool = False, rtl: bool = False) -> Markup:
    """A text element at a position; a soft one is paler, one that is read from right to left says so."""
    style = Markup(' fill-opacity="0.65"') if soft else Markup("")
    if rtl:
        style += Markup(' direction="rtl"')
    element = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>')
    return element.format(x, y, anchor, style, label(content))


def path(d: str, *, opacity: float = 0.5, width: float = 1.0, dash: str = "") -> Markup:
    """An open line along `d` in the current colour."""
    dashes = Markup(' stroke-dasharray="{}"').format(dash) if dash else Markup("")
    line = Markup('<path fill="none" stroke="currentColor" stroke-opacity="{:g}" stroke-width="{:g}"{} d="{}"/>')
    return line.format(opacity, width, dashes, d)


def label(content: str) -> Markup:
    """Escaped text as `readable` gives it."""
    return escape(readable(content))


def text_width(content: str) -> float:
    """Estimated width of text at 13 pixels: wide characters (such as Chinese) count as two letters, marks as none."""
    shown = readable(content)
    if shown.isascii():
        return LETTER * len(shown)
    letters = sum(
        0.0 if unicodedata.combining(char) else 1.9 if unicodedata.east_asian_width(char) in "WF" else 1.0
        for char in shown
    )
    return LETTER * letters

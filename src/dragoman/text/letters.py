"""Letters of scripts that have no spaces between words."""

from __future__ import annotations

__all__ = ["UNSPACED", "UNSPACED_SIGNS"]

UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0f0a\u0f0c\u0f15-\u0fff\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dd-\u17ff"
    "\u3005-\u3007\u3031-\u3035\u303b\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Letters of scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan), as the
content of a character class."""
UNSPACED_SIGNS = "\u3001-\u3004\u3008-\u3030\u303d-\u303f\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
"""Their punctuation, which has no spaces around it either."""

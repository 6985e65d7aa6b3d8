// Differences between two sentences of words, and words that can be marked.
import { el } from "./dom.js";

export const split = (text) => text.split(/[ \t]+/).filter(Boolean);

/** Which words of `words` are in a longest common subsequence with `other`. */
export const common = (words, other) => {
  const rows = words.length + 1;
  const columns = other.length + 1;
  const length = new Uint16Array(rows * columns);
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      length[i * columns + j] =
        words[i] === other[j]
          ? length[(i + 1) * columns + j + 1] + 1
          : Math.max(length[(i + 1) * columns + j], length[i * columns + j + 1]);
    }
  }
  const same = words.map(() => false);
  for (let i = 0, j = 0; i < words.length && j < other.length; ) {
    if (words[i] === other[j]) {
      same[i] = true;
      i++;
      j++;
    } else if (length[(i + 1) * columns + j] >= length[i * columns + j + 1]) i++;
    else j++;
  }
  return same;
};

/** The words of a sentence; those that another one lacks are marked. */
export const marked = (text, other) => {
  const words = split(text);
  if (other === null) return words.join(" ");
  const same = common(words, split(other));
  return words.map((word, i) => [i ? " " : "", same[i] ? word : el("ins", {}, word)]);
};

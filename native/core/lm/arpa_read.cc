#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/errors.hh"
#include "core/lm/arpa.hh"
#include "core/lm/assemble.hh"

namespace dragoman::lm {

namespace {

constexpr std::string_view kSpace = " \t";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// Removes and returns the next field of `rest`; empty at the end.
std::string_view take_field(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
  const std::string_view field = rest.substr(0, rest.find_first_of(kSpace));
  rest.remove_prefix(field.size());
  return field;
}

template <typename T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  std::string result = "'";
  result += text.substr(0, kShown);
  result += text.size() > kShown ? "…'" : "'";
  return result;
}

// The stored form of a word that may or may not be escaped in the file.
void append_stored(std::string_view word, std::string& out) {
  if (word.front() == '\\') {
    names::escape_word(names::unescape_word(word), out);
    if (out == word) return;
    out.clear();
  }
  names::escape_word(word, out);
}

}  // namespace

ArpaReader::ArpaReader() {
  for (const char* symbol : {"<unk>", "<s>", "</s>"}) words_.intern(symbol);
}

void ArpaReader::fail(const std::string& what) const { throw InputError(what, line_); }

void ArpaReader::feed(std::string_view block) {
  const size_t valid = names::valid_utf8_prefix(block);
  std::fill(std::begin(previous_), std::end(previous_), std::string_view());
  size_t pos = 0;
  while (pos < block.size()) {
    ++line_;
    const size_t end = std::min(block.find('\n', pos), block.size());
    if (valid < block.size() && valid <= end) fail("invalid UTF-8");
    size_t stop = end;
    if (stop > pos && block[stop - 1] == '\r') --stop;
    line(block.substr(pos, stop - pos));
    pos = end + 1;
  }
}

void ArpaReader::line(std::string_view text) {
  const std::string_view body = trimmed(text);
  switch (part_) {
    case Part::kPreamble:
      if (body == "\\data\\") part_ = Part::kCounts;
      return;
    case Part::kCounts:
      if (body.empty()) return;
      if (body.front() == '\\') return section_line(body);
      return count_line(body);
    case Part::kNgrams:
      if (body.empty()) {
        part_ = Part::kAfterNgrams;
        return;
      }
      // A word may begin with a backslash, but a line begins with a number.
      if (body.front() == '\\') return section_line(body);
      return ngram_line(text);
    case Part::kAfterNgrams:
      if (body.empty()) return;
      if (body.front() != '\\') fail("an n-gram after an empty line; expected a section or \\end\\");
      return section_line(body);
    case Part::kEnd:
      if (!body.empty()) fail("text after \\end\\");
      return;
  }
}

void ArpaReader::count_line(std::string_view text) {
  std::string_view rest = text;
  const std::string_view keyword = take_field(rest);
  const size_t equals = rest.find('=');
  int64_t n = 0, count = -1;
  if (keyword != "ngram" || equals == std::string_view::npos || !parse(trimmed(rest.substr(0, equals)), n) ||
      !parse(trimmed(rest.substr(equals + 1)), count) || count < 0)
    fail("expected 'ngram ORDER=COUNT', found " + quoted(text));
  if (n != static_cast<int64_t>(sections_.size()) + 1)
    fail("expected the count of order " + std::to_string(sections_.size() + 1) + ", found order " + std::to_string(n));
  if (n > kMaxOrder) fail("the order is greater than " + std::to_string(kMaxOrder) + ", the highest supported");
  sections_.emplace_back();
  sections_.back().n_promised = count;
  sections_.back().ngrams.n = sections_.size();
}

void ArpaReader::section_line(std::string_view text) {
  if (n_ > 0) end_section();
  if (n_ == sections_.size()) {
    if (n_ == 0) fail("the header has no 'ngram ORDER=COUNT' lines");
    if (text != "\\end\\") fail("expected \\end\\ after the last section, found " + quoted(text));
    part_ = Part::kEnd;
    return;
  }
  ++n_;
  std::string expected = "\\";
  expected += std::to_string(n_) + "-grams:";
  if (text != expected) fail("expected the section " + expected + " found " + quoted(text));
  sections_[n_ - 1].first_line = line_ + 1;
  part_ = Part::kNgrams;
}

void ArpaReader::end_section() {
  const Section& section = sections_[n_ - 1];
  const auto n_found = static_cast<int64_t>(section.ngrams.size());
  if (n_found != section.n_promised)
    fail("the header announces " + std::to_string(section.n_promised) + " " + std::to_string(n_) +
         "-grams, but the section has " + std::to_string(n_found));
}

void ArpaReader::ngram_line(std::string_view text) {
  Section& section = sections_[n_ - 1];
  if (static_cast<int64_t>(section.ngrams.size()) == section.n_promised)
    fail("more " + std::to_string(n_) + "-grams than the " + std::to_string(section.n_promised) +
         " announced in the header");
  std::string_view rest = text, number, words, weight;
  bool has_weight = false;
  if (rest.find('\t') != std::string_view::npos) {
    // Probability, words and weight are separated by tabs, so a stray space inside a word is detected.
    const auto take = [&rest] {
      const std::string_view field = rest.substr(0, rest.find('\t'));
      rest.remove_prefix(std::min(field.size() + 1, rest.size()));
      return trimmed(field);
    };
    number = take();
    words = take();
    if (!trimmed(rest).empty()) {
      weight = take();
      has_weight = true;
    }
    if (!trimmed(rest).empty()) fail("expected a log probability, the words and a backoff weight; found more fields");
  } else {
    number = take_field(rest);
    const char* begin = rest.data();
    for (size_t i = 0; i < n_; ++i) take_field(rest);
    words = {begin, static_cast<size_t>(rest.data() - begin)};
    weight = trimmed(rest);
    has_weight = !weight.empty();
  }

  double logprob = 0, backoff = 0;
  if (!parse(number, logprob) || !std::isfinite(logprob)) fail("expected a log probability, found " + quoted(number));
  if (logprob > 0) fail("the log probability " + quoted(number) + " is positive");
  const auto natural = static_cast<float>(logprob * kLn10);
  if (!std::isfinite(natural)) fail("the log probability " + quoted(number) + " is too small");
  section.ngrams.logprob.push_back(natural);
  add_words(words);
  if (n_ == sections_.size()) {
    if (has_weight) fail("a backoff weight (or a word too many) in the highest order: " + quoted(weight));
    return;
  }
  if (!has_weight) {
    section.ngrams.backoff.push_back(std::numeric_limits<float>::quiet_NaN());
    return;
  }
  if (!parse(weight, backoff) || !std::isfinite(static_cast<float>(backoff * kLn10)))
    fail("expected a backoff weight (a number), found " + quoted(weight));
  section.ngrams.backoff.push_back(static_cast<float>(backoff * kLn10));
}

void ArpaReader::add_words(std::string_view words) {
  size_t n_found = 0;
  for (std::string_view rest = words;; ++n_found) {
    const std::string_view word = take_field(rest);
    if (word.empty()) break;
    if (n_found < n_) sections_[n_ - 1].ngrams.words.push_back(word_at(n_found, word));
  }
  if (n_found != n_)
    fail("expected " + std::to_string(n_) + (n_ == 1 ? " word" : " words") + ", found " + std::to_string(n_found) +
         ": " + quoted(words));
}

uint32_t ArpaReader::word_at(size_t k, std::string_view word) {
  if (n_ == 1) return word_id(word);
  if (word != previous_[k]) {
    previous_ids_[k] = word_id(word);
    previous_[k] = word;
  }
  return previous_ids_[k];
}

uint32_t ArpaReader::word_id(std::string_view word) {
  if (word == "<UNK>") word = "<unk>";
  if (word != "<unk>" && word != "<s>" && word != "</s>") {
    stored_.clear();
    append_stored(word, stored_);
    word = stored_;
  }
  if (n_ > 1) {
    const int32_t id = words_.find(word);
    if (id == names::WordTable::kAbsent || !listed_[static_cast<size_t>(id)])
      fail("the word " + quoted(word) + " is not a 1-gram of the model");
    return static_cast<uint32_t>(id);
  }
  const auto id = static_cast<size_t>(words_.intern(word));
  if (listed_.size() <= id) listed_.resize(id + 1, false);
  if (listed_[id]) fail("the 1-gram " + quoted(word) + " is a duplicate");
  listed_[id] = true;
  return static_cast<uint32_t>(id);
}

void ArpaReader::require_symbols() {
  listed_.resize(static_cast<size_t>(words_.size()), false);
  for (const uint32_t symbol : {kBos, kEos})
    if (!listed_[symbol])
      fail("the 1-grams lack " + std::string(words_.word(static_cast<int32_t>(symbol))) +
           "; sentences could not be scored");
}

std::unique_ptr<Model> ArpaReader::finish(Control& control) {
  if (part_ == Part::kPreamble)
    fail("is not a language model: neither the binary format nor ARPA text, which has a line \\data\\");
  if (part_ != Part::kEnd) fail("the ARPA file has no \\end\\; is it truncated?");
  require_symbols();
  const size_t order = sections_.size();
  std::vector<Level> levels(order);

  std::vector<NgramList> lists;
  for (Section& section : sections_) lists.push_back(std::move(section.ngrams));

  // Unigrams are in any order in the file; their index is the word id.
  const auto n_words = static_cast<size_t>(words_.size());
  levels[0].logprob.assign(n_words, kMissingUnk);
  if (order > 1) levels[0].backoff.assign(n_words, 0);
  std::vector<int64_t> lines(n_words, 0);
  for (size_t i = 0; i < lists[0].size(); ++i) {
    const size_t id = lists[0].words[i];
    levels[0].logprob[id] = lists[0].logprob[i];
    if (order > 1) levels[0].backoff[id] = lists[0].backoff[i];
    lines[id] = sections_[0].first_line + static_cast<int64_t>(i);
  }
  const auto line_of = [&](size_t n, size_t i) {
    return n == 1 ? lines[i] : sections_[n - 1].first_line + static_cast<int64_t>(i);
  };
  link(lists, levels, line_of, words_, control);
  return assemble(words_, std::move(levels), control);
}

}  // namespace dragoman::lm

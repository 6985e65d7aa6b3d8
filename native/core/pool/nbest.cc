#include "core/pool/nbest.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/errors.hh"
#include "core/base/json.hh"
#include "core/base/number.hh"

namespace dragoman::pool {

namespace {

constexpr std::string_view kMissing = ":missing";  // ends the name of the indicator of a feature that is null
constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
// A sentence number that is greater than lines read so far can explain is none: a time stamp, a hash.
constexpr int64_t kMostUnread = 1'000'000, kMostPerLine = 10;

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

// Removes and returns the next token of `rest`; empty at the end.
std::string_view next_token(std::string_view& rest) {
  size_t i = 0;
  while (i < rest.size() && is_space(rest[i])) ++i;
  const size_t start = i;
  while (i < rest.size() && !is_space(rest[i])) ++i;
  const auto token = rest.substr(start, i - start);
  rest.remove_prefix(i);
  return token;
}

// Calls body(line, number) for every line that is not blank.
template <typename Body>
void for_each_line(std::string_view block, int64_t first_line, Body&& body) {
  if (const size_t valid = names::valid_utf8_prefix(block); valid != block.size())
    throw InputError("invalid UTF-8; convert the file to UTF-8, for instance with iconv",
                     first_line + std::count(block.begin(), block.begin() + static_cast<int64_t>(valid), '\n'));
  for (int64_t number = first_line; !block.empty(); ++number) {
    const size_t end = std::min(block.find('\n'), block.size());
    std::string_view line = block.substr(0, end);
    block.remove_prefix(std::min(end + 1, block.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!trim(line).empty()) body(line, number);
  }
}

}  // namespace

NbestReader::NbestReader(names::FeatureIndex& index, names::WordTable& words) : index_(index), words_(words) {}

void NbestReader::read_fields(std::string_view block, int64_t first_line, const NbestFields& fields) {
  constexpr size_t kMaxFields = 16;
  const auto needed = static_cast<size_t>(std::max({fields.id, fields.text, fields.features})) + 1;
  for_each_line(block, first_line, [&](std::string_view line, int64_t number) {
    std::string_view parts[kMaxFields];
    size_t n = 0;
    for (std::string_view rest = line; n < kMaxFields;) {
      const size_t bar = rest.find("|||");
      parts[n++] = trim(rest.substr(0, std::min(bar, rest.size())));
      if (bar == std::string_view::npos) break;
      rest.remove_prefix(bar + 3);
    }
    if (n < needed)
      throw InputError(std::to_string(n) + " fields separated by '|||', expected at least " + std::to_string(needed) +
                           " (such as 'id ||| text ||| features ||| score')",
                       number);
    const auto field = [&](int at) { return at >= 0 && static_cast<size_t>(at) < n ? parts[at] : std::string_view(); };
    add_id(field(fields.id), number);
    add_text(field(fields.text));
    add_features(field(fields.features), number);
    double total = kAbsent;
    if (const auto text = field(fields.total); !text.empty() && !parse_finite(text, total, number))
      throw InputError("expected the total score, found " + quoted(text), number);
    finish_row(total, number);
  });
}

void NbestReader::read_json(std::string_view block, int64_t first_line) {
  for_each_line(block, first_line, [&](std::string_view line, int64_t number) { add_json(line, number); });
}

void NbestReader::add_id(std::string_view field, int64_t line) {
  int64_t id = -1;
  const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), id);
  if (error != std::errc() || stop != field.data() + field.size() || id < 0 || id > std::numeric_limits<int32_t>::max())
    throw InputError("expected a sentence number (0, 1, ...), found " + quoted(field), line);
  if (id > kMostUnread + kMostPerLine * n_lines_)
    throw InputError("sentence " + std::to_string(id) + " after " + std::to_string(n_lines_) +
                         " candidates; sentence numbers are line numbers of source and references, from 0",
                     line);
  rows_.sentences.push_back(id);
}

void NbestReader::add_text(std::string_view text) {
  while (true) {
    const auto word = next_token(text);
    if (word.empty()) break;
    const char first = word.front();
    if (first == '\\' || first == '<' || first == '[' || word.find('|') != std::string_view::npos) {
      scratch_.clear();
      names::escape_word(word, scratch_);
      rows_.tokens.push_back(words_.intern(scratch_));
    } else {
      rows_.tokens.push_back(words_.intern(word));
    }
  }
}

int32_t NbestReader::intern_name(std::string_view name) {
  if (position_ < previous_.size() && raw_names_.word(previous_[position_]) == name) return previous_[position_++];
  const int32_t id = raw_names_.intern(name);
  if (static_cast<size_t>(id) == names_.size()) names_.emplace_back();
  if (position_ < previous_.size())
    previous_[position_] = id;
  else
    previous_.push_back(id);
  ++position_;
  return id;
}

void NbestReader::add_feature(int32_t name, int64_t line) {
  NbestName& entry = names_[static_cast<size_t>(name)];
  if (entry.ids.empty()) {
    const std::string text(raw_names_.word(name));
    try {
      if (values_.size() == 1)
        entry.ids.push_back(index_.intern(text));
      else
        for (size_t i = 1; i <= values_.size(); ++i) entry.ids.push_back(index_.intern(text + "_" + std::to_string(i)));
    } catch (const InputError& error) {
      throw InputError(error.what(), line);
    }
  }
  if (entry.ids.size() != values_.size())
    throw InputError("the feature " + quoted(raw_names_.word(name)) + " has " + std::to_string(values_.size()) +
                         " values here and " + std::to_string(entry.ids.size()) + " before",
                     line);
  ++entry.n_lines;
  if (entry.gap_line == 0 && entry.last_row < n_lines_ - 1) {
    entry.gap_line = last_line_;
    entry.gap_sentence = last_sentence_;
  }
  entry.last_row = n_lines_;
  for (const double value : values_) entry.is_count = entry.is_count && value >= 0 && value == std::trunc(value);
  for (size_t i = 0; i < values_.size(); ++i) row_.emplace_back(entry.ids[i], to_feature_value(values_[i], line));
  values_.clear();
}

// `Name= a b c`, `Name: a b c` and `name=a` may be mixed: a name is recognised by its last character.
void NbestReader::add_features(std::string_view field, int64_t line) {
  int32_t open = -1;  // the name whose values are being read
  const auto close = [&] {
    if (open < 0) return;
    if (values_.empty()) throw InputError("the feature " + quoted(raw_names_.word(open)) + " has no value", line);
    add_feature(open, line);
    open = -1;
  };
  while (true) {
    const auto token = next_token(field);
    if (token.empty()) break;
    double value;
    const char last = token.back();
    if (last == '=' || last == ':') {
      close();
      if (token.size() == 1) throw InputError("a feature name is empty", line);
      has_colons_ = has_colons_ || last == ':';
      open = intern_name(token.substr(0, token.size() - 1));
    } else if (open >= 0 && parse_finite(token, value, line)) {
      values_.push_back(value);
    } else {
      const size_t equals = token.rfind('=');
      if (equals == std::string_view::npos || equals == 0)
        throw InputError("expected a feature such as 'lm=-4.2' or 'LM0= -4.2', found " + quoted(token), line);
      close();
      if (!parse_finite(token.substr(equals + 1), value, line))
        throw InputError("expected a number after '=' in " + quoted(token), line);
      values_.push_back(value);
      add_feature(intern_name(token.substr(0, equals)), line);
    }
  }
  close();
}

double& NbestReader::score(std::string_view name) {
  const auto found = std::find(score_names_.begin(), score_names_.end(), name);
  const auto column = static_cast<size_t>(found - score_names_.begin());
  if (found == score_names_.end()) score_names_.emplace_back(name);
  rows_.scores.resize(score_names_.size());
  rows_.scores[column].resize(rows_.sentences.size(), kAbsent);
  return rows_.scores[column].back();
}

// A feature that is null has the value 0 and an indicator of 1, which tells it from a feature that is 0.
void NbestReader::add_json(std::string_view text, int64_t line) {
  JsonReader json(text, line);
  bool has_id = false, has_text = false;
  double total = kAbsent;
  rows_.sentences.push_back(0);
  std::string string;
  std::vector<std::string> seen;
  json.object([&](std::string_view name) {
    seen.emplace_back(name);
    if (std::count(seen.begin(), seen.end(), name) > 1) throw InputError("duplicate key " + quoted(name), line);
    if (name == "id") {
      rows_.sentences.pop_back();
      std::string_view number;
      try {
        number = json.number_text();
      } catch (const InputError&) {
        throw InputError("expected a number as the id, such as 0, without quotes", line);
      }
      add_id(number, line);
      has_id = true;
    } else if (name == "text") {
      json.string(string);
      // A candidate is one line of output.
      std::replace_if(string.begin(), string.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
      add_text(string);
      has_text = true;
    } else if (name == "features") {
      json.object([&](std::string_view feature) {
        const int32_t id = intern_name(feature.empty() ? throw InputError("a feature name is empty", line) : feature);
        const bool is_missing = json.null();
        values_.push_back(is_missing ? 0 : json.number());
        add_feature(id, line);
        if (is_missing) {
          const int32_t indicator = intern_name(std::string(feature) + std::string(kMissing));
          values_.push_back(1);
          add_feature(indicator, line);
        }
      });
    } else if (name == "scores") {
      std::vector<std::string> names;
      json.object([&](std::string_view metric) {
        names.emplace_back(metric);
        if (std::count(names.begin(), names.end(), metric) > 1)
          throw InputError("duplicate score " + quoted(metric), line);
        double& value = score(metric);
        if (!json.null()) value = json.number();
      });
    } else if (name == "total") {
      if (!json.null()) total = json.number();
    } else {
      json.skip();
    }
  });
  json.end();
  if (!has_id || !has_text)
    throw InputError(std::string("the key \"") + (has_id ? "text" : "id") +
                         "\" is missing; expected {\"id\": 0, \"text\": \"...\", \"features\": {...}}",
                     line);
  finish_row(total, line);
}

void NbestReader::finish_row(double total, int64_t line) {
  previous_.resize(position_);
  position_ = 0;
  const auto by_id = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(row_.begin(), row_.end(), by_id)) std::sort(row_.begin(), row_.end(), by_id);
  for (size_t i = 0; i < row_.size(); ++i) {
    const auto [id, value] = row_[i];
    if (i > 0 && id == row_[i - 1].first) throw InputError("duplicate feature " + quoted(index_.name(id)), line);
    if (value == 0) continue;  // absent means 0
    rows_.feature_ids.push_back(id);
    rows_.feature_values.push_back(value);
  }
  row_.clear();
  rows_.feature_offsets.push_back(static_cast<int64_t>(rows_.feature_ids.size()));
  rows_.token_offsets.push_back(static_cast<int64_t>(rows_.tokens.size()));
  rows_.totals.push_back(total);
  last_line_ = line;
  last_sentence_ = rows_.sentences.back();
  ++n_lines_;
}

std::optional<NbestGap> NbestReader::first_gap() const {
  std::optional<NbestGap> found;
  if (has_colons_) return found;
  for (size_t i = 0; i < names_.size(); ++i) {
    const NbestName& name = names_[i];
    if (name.is_count || 2 * name.n_lines < n_lines_ || name.n_lines == n_lines_) continue;
    const bool known = name.gap_line > 0;  // else the last line lacks it
    const NbestGap gap{std::string(raw_names_.word(static_cast<int32_t>(i))), name.n_lines,
                       known ? name.gap_line : last_line_, known ? name.gap_sentence : last_sentence_};
    if (!found || gap.line < found->line) found = gap;
  }
  return found;
}

NbestRows NbestReader::take() {
  rows_.scores.resize(score_names_.size());
  for (auto& column : rows_.scores) column.resize(rows_.sentences.size(), kAbsent);
  return std::exchange(rows_, NbestRows());
}

}  // namespace dragoman::pool

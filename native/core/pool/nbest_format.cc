#include "core/pool/nbest_format.hh"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/base/errors.hh"
#include "core/base/number.hh"

namespace dragoman::pool {

namespace {

template <typename Number>
void append_number(Number value, std::string& out) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, end);
}

void append_json_string(std::string_view text, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

class Writer {
 public:
  Writer(const NbestTable& table, const names::FeatureIndex& index, const names::WordTable& words, NbestStyle style)
      : table_(table), index_(index), words_(words), style_(style) {
    for (const auto& dense : table_.dense)
      for (const int32_t id : dense.ids) dense_.push_back(id);
    std::sort(dense_.begin(), dense_.end());
  }

  void line(int64_t candidate, int32_t sentence, std::string& out) {
    const double total = table_.totals[static_cast<size_t>(candidate)];
    if (style_ == NbestStyle::kJson) {
      out += "{\"id\": ";
      append_number(sentence, out);
      out += ", \"text\": ";
      append_json_string(text(candidate), out);
      out += ", \"features\": {";
      features(candidate, out);
      out += '}';
      scores(candidate, out);
      if (!std::isnan(total)) {
        out += ", \"total\": ";
        append_number(total, out);
      }
      out += "}\n";
      return;
    }
    append_number(sentence, out);
    out += " ||| ";
    out += text(candidate);
    out += " ||| ";
    if (style_ == NbestStyle::kTravatar) {
      append_number(std::isnan(total) ? 0 : total, out);
      out += " ||| ";
    }
    features(candidate, out);
    if (style_ != NbestStyle::kTravatar && !std::isnan(total)) {
      out += " ||| ";
      append_number(total, out);
    }
    out += '\n';
  }

 private:
  const std::string& text(int64_t candidate) {
    text_.clear();
    for (const int32_t token : table_.tokens[candidate]) {
      if (token < 0 || token >= words_.size()) throw InputError("a candidate has a word id beyond the vocabulary");
      const std::string word = names::unescape_word(words_.word(token));
      if (style_ != NbestStyle::kJson && word.find("|||") != std::string::npos)
        throw InputError("the word " + quoted(word) + " cannot be written in fields separated by |||; use JSON Lines");
      if (!text_.empty()) text_ += ' ';
      text_ += word;
    }
    return text_;
  }

  void name(std::string_view name, std::string& out) const {
    if (style_ == NbestStyle::kJson) {
      append_json_string(name, out);
      out += ": ";
      return;
    }
    if (name.find(' ') != std::string_view::npos || name.find("|||") != std::string_view::npos)
      throw InputError("the feature name " + quoted(name) +
                       " cannot be written in fields separated by |||; use JSON Lines");
    out += name;
    out += style_ == NbestStyle::kMoses ? "= " : "=";
  }

  void features(int64_t candidate, std::string& out) const {
    const Ragged<int32_t> all_ids{table_.candidates.rows, table_.candidates.ids};
    const Ragged<float> all_values{table_.candidates.rows, table_.candidates.values};
    const auto ids = all_ids[candidate];
    const auto values = all_values[candidate];
    const auto value_of = [&](int32_t id) {
      const auto found = std::lower_bound(ids.begin(), ids.end(), id);
      return found != ids.end() && *found == id ? values[static_cast<size_t>(found - ids.begin())] : 0.0f;
    };
    const std::string_view separator = style_ == NbestStyle::kJson ? ", " : " ";
    bool first = true;
    const auto begin_item = [&] {
      if (!std::exchange(first, false)) out += separator;
    };
    for (const auto& dense : table_.dense) {
      if (style_ == NbestStyle::kMoses) {
        begin_item();
        name(dense.name, out);
        for (size_t i = 0; i < dense.ids.size(); ++i) {
          if (i > 0) out += ' ';
          append_number(value_of(dense.ids[i]), out);
        }
        continue;
      }
      for (const int32_t id : dense.ids) {
        begin_item();
        name(index_.name(id), out);
        append_number(value_of(id), out);
      }
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= index_.size()) throw InputError("a candidate has a feature id beyond the index");
      if (std::binary_search(dense_.begin(), dense_.end(), ids[i])) continue;
      begin_item();
      name(index_.name(ids[i]), out);
      append_number(values[i], out);
    }
  }

  void scores(int64_t candidate, std::string& out) const {
    const size_t n = table_.score_names.size();
    std::string items;
    for (size_t i = 0; i < n; ++i) {
      const double value = table_.scores[static_cast<size_t>(candidate) * n + i];
      if (std::isnan(value)) continue;
      if (!items.empty()) items += ", ";
      append_json_string(table_.score_names[i], items);
      items += ": ";
      append_number(value, items);
    }
    if (!items.empty()) out += ", \"scores\": {" + items + "}";
  }

  const NbestTable& table_;
  const names::FeatureIndex& index_;
  const names::WordTable& words_;
  NbestStyle style_;
  std::vector<int32_t> dense_;
  std::string text_;
};

}  // namespace

std::string format_nbest(const NbestTable& table, const names::FeatureIndex& index, const names::WordTable& words,
                         NbestStyle style) {
  const Candidates& c = table.candidates;
  c.check();
  table.tokens.check("tokens");
  const auto n = static_cast<size_t>(c.size());
  if (table.tokens.size() != c.size() || table.totals.size() != n ||
      table.scores.size() != n * table.score_names.size() ||
      table.sentence_ids.size() != static_cast<size_t>(c.n_sentences()))
    throw std::invalid_argument("the columns of the table must have one row per candidate");
  for (const auto& dense : table.dense)
    for (const int32_t id : dense.ids)
      if (id < 0 || id >= index.size()) throw std::invalid_argument("dense: no such feature");
  Writer writer(table, index, words, style);
  std::string out;
  for (int64_t s = 0; s < c.n_sentences(); ++s)
    for (int64_t i = c.sentences[static_cast<size_t>(s)]; i < c.sentences[static_cast<size_t>(s) + 1]; ++i)
      writer.line(i, table.sentence_ids[static_cast<size_t>(s)], out);
  return out;
}

}  // namespace dragoman::pool

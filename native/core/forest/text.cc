#include "core/forest/text.hh"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/errors.hh"
#include "core/base/number.hh"

namespace dragoman::forest {

namespace {

constexpr std::string_view kHeader = "# target ||| features ||| source-covered\n";

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  int64_t number() const { return number_; }
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return true;
  }
  // The next line that is no comment; an edge may begin with a '#', but then it has fields.
  std::string_view need(const char* what) {
    std::string_view line;
    do
      if (!next(line)) throw InputError(std::string("the hypergraph is truncated; expected ") + what, number_ + 1);
    while (line.starts_with('#') && line.find("|||") == std::string_view::npos);
    return line;
  }
  [[noreturn]] void fail(const std::string& why) const { throw InputError(why, number_); }

 private:
  std::string_view rest_;
  int64_t number_ = 0;
};

// The next token, separated by spaces and tabs; empty at the end.
std::string_view take_token(std::string_view& rest) {
  const size_t begin = rest.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest = rest.substr(begin);
  const std::string_view token = rest.substr(0, rest.find_first_of(" \t"));
  rest = rest.substr(token.size());
  return token;
}

bool parse_count(std::string_view text, int32_t& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size() && value >= 0;
}

// "[12]" is a reference to vertex 12.
bool parse_reference(std::string_view token, int32_t& vertex) {
  return token.size() > 2 && token.front() == '[' && token.back() == ']' &&
         parse_count(token.substr(1, token.size() - 2), vertex);
}

int32_t intern_word(std::string_view token, names::WordTable& words) {
  if (token == "<s>" || token == "</s>") return words.intern(token);
  // Our own files have stored forms; those of other tools have plain words.
  std::string stored;
  if (token.front() == '\\') {
    names::escape_word(names::unescape_word(token), stored);
    if (stored == token) return words.intern(token);
    stored.clear();
  }
  names::escape_word(token, stored);
  return words.intern(stored);
}

Feature parse_feature(std::string_view token, names::FeatureIndex& index, const Lines& lines) {
  const size_t equals = token.rfind('=');
  if (equals == std::string_view::npos || equals == 0) lines.fail("expected 'name=value', found " + quoted(token));
  const std::string_view text = token.substr(equals + 1);
  double value = 0;
  if (!parse_finite(text, value, lines.number()))
    lines.fail("the value of the feature " + quoted(token.substr(0, equals)) + " is not a number: " + quoted(text));
  const float stored = to_feature_value(value, lines.number());
  try {
    return {index.intern(token.substr(0, equals)), stored};
  } catch (const InputError& error_in_name) {
    lines.fail(error_in_name.what());
  }
}

void append_number(double value, std::string& out) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value));
  (void)error;  // a float always fits
  out.append(buffer, end);
}

}  // namespace

Forest read_hypergraph(std::string_view text, names::WordTable& words, names::FeatureIndex& features) {
  const size_t valid = names::valid_utf8_prefix(text);
  Lines lines(text);
  if (valid != text.size()) {
    int64_t line = 1;
    for (const char c : text.substr(0, valid)) line += c == '\n';
    throw InputError("invalid UTF-8; convert the file to UTF-8", line);
  }
  std::string_view line;
  do line = lines.need("a line with the numbers of vertices and edges");
  while (line.starts_with('#'));
  int32_t n_vertices = 0, n_edges = 0;
  std::string_view rest = line;
  const bool counts_ok = parse_count(take_token(rest), n_vertices) && parse_count(take_token(rest), n_edges);
  if (!counts_ok || !take_token(rest).empty())
    lines.fail("expected the numbers of vertices and edges, found " + quoted(line));
  if (n_vertices == 0) lines.fail("a hypergraph needs at least one vertex");

  Forest forest;
  std::vector<int32_t> symbols, tails;
  std::vector<Feature> values;
  for (int32_t v = 0; v < n_vertices; ++v) {
    line = lines.need("a vertex's number of edges");
    rest = line;
    int32_t n_here = 0;
    if (!parse_count(take_token(rest), n_here) || !take_token(rest).empty())
      lines.fail("expected the number of edges of vertex " + std::to_string(v) + ", found " + quoted(line));
    if (n_here > n_edges - forest.n_edges())
      lines.fail("more edges than the " + std::to_string(n_edges) + " announced in the header");
    Forest::Node node;
    bool is_added = false;
    for (int32_t i = 0; i < n_here; ++i) {
      rest = lines.need("an edge");
      symbols.clear();
      tails.clear();
      values.clear();
      bool has_bar = false;
      for (std::string_view token = take_token(rest); !token.empty(); token = take_token(rest)) {
        if ((has_bar = token == "|||")) break;
        int32_t vertex = 0;
        if (!parse_reference(token, vertex)) {
          symbols.push_back(intern_word(token, words));
          continue;
        }
        if (vertex >= v)
          lines.fail("vertex " + std::to_string(v) + " refers to " + std::string(token) +
                     ", which does not come before it; vertices must be bottom-up");
        symbols.push_back(tail_symbol(static_cast<int32_t>(tails.size())));
        tails.push_back(vertex);
      }
      if (!has_bar) lines.fail("expected 'target ||| features ||| source words covered'");
      has_bar = false;
      for (std::string_view token = take_token(rest); !token.empty(); token = take_token(rest)) {
        if ((has_bar = token == "|||")) break;
        values.push_back(parse_feature(token, features, lines));
      }
      const std::string_view covered = take_token(rest);
      int32_t n_covered = -1;
      if (has_bar && !covered.empty() && (!parse_count(covered, n_covered) || !take_token(rest).empty()))
        lines.fail("expected the number of source words covered, found " + quoted(covered));
      if (!is_added) {
        node.covered = n_covered;
        forest.add_node(node);
        is_added = true;
      }
      forest.add_edge(forest.add_instance({}, symbols, values), tails, {});
    }
    if (!is_added) forest.add_node(node);
  }
  if (forest.n_edges() != n_edges)
    lines.fail("the header announces " + std::to_string(n_edges) + " edges, but there are " +
               std::to_string(forest.n_edges()));
  while (lines.next(line))
    if (!line.starts_with('#') && line.find_first_not_of(" \t") != std::string_view::npos)
      lines.fail("more lines than announced in the header; is this more than one hypergraph?");
  return forest;
}

std::string write_hypergraph(const Forest& forest, const names::WordTable& words,
                             const std::vector<std::string>& own_words, const names::FeatureIndex& features) {
  std::string out(kHeader);
  out += std::to_string(forest.n_nodes()) + " " + std::to_string(forest.n_edges()) + "\n";
  const auto add_features = [&](std::span<const Feature> row) {
    for (const Feature& f : row) {
      if (f.id < 0 || f.id >= features.size()) throw InputError("the forest has a feature that the index lacks");
      const std::string_view name = features.name(f.id);
      if (name.find_first_of(" \t") != std::string_view::npos)
        throw InputError("the feature name " + quoted(name) + " has a space, which hypergraph text cannot represent");
      if (!out.ends_with(' ')) out += ' ';
      out += name;
      out += '=';
      append_number(f.value, out);
    }
  };
  for (int32_t v = 0; v < forest.n_nodes(); ++v) {
    out += std::to_string(forest.end_edge(v) - forest.first_edge(v)) + "\n";
    for (int32_t e = forest.first_edge(v); e < forest.end_edge(v); ++e) {
      const int32_t instance = forest.edge_instance(e);
      bool is_first = true;
      for (const int32_t symbol : forest.symbols(instance)) {
        if (!std::exchange(is_first, false)) out += ' ';
        if (symbol < 0) {
          out += "[" + std::to_string(forest.tails(e)[static_cast<size_t>(tail_slot(symbol))]) + "]";
        } else if (symbol < words.size()) {
          out += words.word(symbol);
        } else {
          const auto own = static_cast<size_t>(symbol - words.size());
          if (own >= own_words.size()) throw InputError("the forest has a word that the vocabulary lacks");
          out += own_words[own];
        }
      }
      // Moses splits at " ||| ", so that each has its own spaces, also beside nothing.
      out += " ||| ";
      add_features(forest.local_features(instance));
      add_features(forest.own_features(e));
      out += " ||| " + std::to_string(std::max(0, forest.node(v).covered)) + "\n";
    }
  }
  return out;
}

}  // namespace dragoman::forest

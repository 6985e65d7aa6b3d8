#include "core/templates/rule_template.hh"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "core/base/errors.hh"
#include "core/templates/application_template.hh"
#include "core/templates/orientation_template.hh"

namespace dragoman::templates {

namespace {

// Filled before main, read-only afterwards.
std::vector<TemplateKind>& registry() {
  static std::vector<TemplateKind> kinds;
  return kinds;
}

}  // namespace

std::string_view SideNames::text(grammar::Symbol symbol) const {
  if (is_word(symbol) && symbol < words->size()) return words->word(symbol);
  if (is_word(symbol) || static_cast<size_t>(-1 - symbol) >= nonterminals.size())
    throw InputError("a rule has a symbol without a name; the grammar is damaged");
  return nonterminals[static_cast<size_t>(-1 - symbol)];
}

std::vector<bool> SideNames::most_frequent(size_t n) const {
  if (counts.empty())
    throw InputError("templates of frequent words need word counts, which this grammar lacks: provide them");
  return most_frequent(n, counts);
}

std::vector<bool> SideNames::most_frequent(size_t n, std::span<const int64_t> by) const {
  std::vector<int32_t> order;
  for (int32_t word = kFirstWord; word < words->size(); ++word)
    if (static_cast<size_t>(word) < by.size() && by[static_cast<size_t>(word)] > 0) order.push_back(word);
  n = std::min(n, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                    [&](int32_t a, int32_t b) {
                      const int64_t x = by[static_cast<size_t>(a)], y = by[static_cast<size_t>(b)];
                      return x != y ? x > y : words->word(a) < words->word(b);
                    });
  std::vector<bool> result(static_cast<size_t>(words->size()));
  for (size_t i = 0; i < n; ++i) result[static_cast<size_t>(order[i])] = true;
  return result;
}

const grammar::GrammarTables& RuleSides::pair_counts(std::string_view setting) const {
  if (tables == nullptr || tables->is_given())
    throw InputError(std::string(setting) +
                     " needs counts of linked word pairs, which an imported grammar lacks; leave this setting out");
  return *tables;
}

FrequentWords RuleSides::source_words(int64_t n, CountedBy by) const {
  if (by == CountedBy::kFrequency) return {source, n};
  const auto counts = pair_counts("by=unaligned").unaligned_source_words();
  return {source, source.most_frequent(static_cast<size_t>(n), counts)};
}

FrequentWords RuleSides::target_words(int64_t n, CountedBy by) const {
  if (by == CountedBy::kFrequency) return {target, n};
  const auto counts = pair_counts("by=unaligned").unaligned_target_words();
  return {target, target.most_frequent(static_cast<size_t>(n), counts)};
}

void FeatureRows::append_escaped(std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        names_ += "\\\\";
        break;
      case ',':
        names_ += "\\,";
        break;
      case ' ':
        names_ += "\\s";
        break;
      case '\t':
        names_ += "\\t";
        break;
      case '\n':
        names_ += "\\n";
        break;
      case '\r':
        names_ += "\\r";
        break;
      default:
        if (const auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7f) {
          constexpr std::string_view kDigits = "0123456789abcdef";
          names_ += "\\x";
          names_ += kDigits[byte >> 4];
          names_ += kDigits[byte & 15];
        } else {
          names_ += c;
        }
    }
  }
}

void FeatureRows::append_argument(char mark, std::string_view text) {
  names_ += mark;
  append_escaped(text);
}

void FeatureRows::append_argument(char mark, int64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  names_ += mark;
  names_.append(digits, end);
}

void FeatureRows::append_argument(char mark, const Words& words) {
  names_ += mark;
  for (size_t i = 0; i < words.symbols.size(); ++i) {
    if (i > 0) append_escaped(" ");
    append_escaped(words.side.text(words.symbols[i]));
  }
}

void FeatureRows::end_name(float value) {
  ends_.push_back(names_.size());
  values_.push_back(value);
}

RegisterTemplate::RegisterTemplate(TemplateKind kind) { registry().push_back(std::move(kind)); }

std::vector<TemplateKind> template_kinds() {
  std::vector<TemplateKind> kinds = registry();
  std::sort(kinds.begin(), kinds.end(), [](const TemplateKind& a, const TemplateKind& b) { return a.name < b.name; });
  return kinds;
}

TemplateSet::TemplateSet(RuleSides sides, std::span<const TemplateChoice> choices, bool has_rules)
    : sides_(std::make_unique<const RuleSides>(std::move(sides))) {
  for (const TemplateChoice& choice : choices) {
    const auto& kinds = registry();
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const TemplateKind& k) { return k.name == choice.name; });
    if (kind == kinds.end()) throw std::invalid_argument("unknown template " + choice.name);
    if (choice.values.size() != kind->settings.size())
      throw std::invalid_argument("the template " + choice.name + " needs a value for each setting");
    for (size_t i = 0; i < choice.values.size(); ++i)
      if (choice.values[i] < kind->settings[i].least || choice.values[i] > kind->settings[i].most)
        throw std::invalid_argument("a setting of the template " + choice.name + " is out of range");
    for (const Named& other : templates_)
      if (other.name == choice.name) throw std::invalid_argument("duplicate template " + choice.name);
    if (kind->for_rules_only && !has_rules)
      throw InputError("the template " + choice.name +
                       " is for rules with nonterminals, which a phrase-based system lacks; leave it out");
    if (kind->for_phrases_only && has_rules)
      throw InputError("the template " + choice.name +
                       " is for orientations of phrases, which a hierarchical system lacks; leave it out");
    auto made = kind->make(*sides_, choice.values);
    const auto* context = dynamic_cast<const ContextTemplate*>(made.get());
    const auto* gap = dynamic_cast<const GapTemplate*>(made.get());
    const auto* orientation = dynamic_cast<const OrientationTemplate*>(made.get());
    templates_.push_back({choice.name, std::move(made), context, gap, orientation});
  }
}

bool TemplateSet::has_contexts() const {
  return std::any_of(templates_.begin(), templates_.end(), [](const Named& t) { return t.context != nullptr; });
}

bool TemplateSet::has_orientations() const {
  return std::any_of(templates_.begin(), templates_.end(), [](const Named& t) { return t.orientation != nullptr; });
}

bool TemplateSet::has_gaps() const {
  return std::any_of(templates_.begin(), templates_.end(), [](const Named& t) { return t.gap != nullptr; });
}

void TemplateSet::features(const RuleSight& rule, FeatureRows& out) const {
  for (const grammar::PhraseLink link : rule.links)
    if (link.source >= rule.source.size() || link.target >= rule.target.size())
      throw InputError("a rule's link points outside of it; the grammar is damaged");
  for (const Named& t : templates_) {
    out.use(t.name);
    t.made->features(rule, out);
  }
  out.end_row();
}

}  // namespace dragoman::templates

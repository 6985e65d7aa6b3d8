#include "core/templates/orientation_template.hh"

namespace dragoman::templates {

namespace {

constexpr int32_t kUnknown = -2;

}  // namespace

int32_t OrientationParts::Numbers::of(std::span<const int32_t> sequence) {
  uint64_t hash = sequence.size();
  for (const int32_t value : sequence) hash = grammar::mix64(hash ^ static_cast<uint32_t>(value));
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (std::ranges::equal(sequences_[it->second], sequence)) return it->second;
  const auto number = static_cast<int32_t>(size());
  by_hash_.emplace(hash, number);
  sequences_.values.insert(sequences_.values.end(), sequence.begin(), sequence.end());
  sequences_.offsets.push_back(static_cast<int64_t>(sequences_.values.size()));
  return number;
}

OrientationParts::OrientationParts(const TemplateSet& set) : set_(&set) {
  for (const TemplateSet::Named& named : set.templates())
    for (size_t place = 0; named.orientation != nullptr && place < kWordPlaces; ++place)
      sees_[place] = sees_[place] || named.orientation->sees(static_cast<WordPlace>(place));
}

void OrientationParts::number_found(size_t named) {
  for (const OrientationTemplate::Key& key : found_) {
    key_.assign(1, static_cast<int32_t>(named));
    key_.insert(key_.end(), key.begin(), key.end());
    numbers_.push_back(keys_.of(key_));
  }
  found_.clear();
}

int32_t OrientationParts::part_of(WordPlace place, grammar::Symbol word) {
  // Words beyond the vocabulary are all the same to templates.
  const SideNames& side = is_source(place) ? set_->sides().source : set_->sides().target;
  if (word < 0 || word >= side.words->size()) word = 0;
  auto& known = part_of_word_[static_cast<size_t>(place)];
  if (known.empty()) known.assign(static_cast<size_t>(std::max(1, side.words->size())), kUnknown);
  int32_t& part = known[static_cast<size_t>(word)];
  if (part != kUnknown) return part;
  numbers_.clear();
  for (size_t t = 0; t < set_->templates().size(); ++t) {
    const OrientationTemplate* made = set_->templates()[t].orientation;
    if (made == nullptr || !made->sees(place)) continue;
    made->of_word(place, word, found_);
    number_found(t);
  }
  return part = parts_.of(numbers_);
}

void OrientationParts::add_phrase(std::span<const grammar::Symbol> source, std::span<const grammar::Symbol> target) {
  const auto add = [&](int32_t part) {
    if (!parts_[static_cast<size_t>(part)].empty()) rows_.values.push_back(part);
  };
  const auto add_edge = [&](WordPlace place, grammar::Symbol word) {
    if (sees(place)) add(part_of(place, word));
  };
  if (!source.empty()) {
    add_edge(WordPlace::kSourceFirst, source.front());
    add_edge(WordPlace::kSourceLast, source.back());
  }
  if (!target.empty()) {
    add_edge(WordPlace::kTargetFirst, target.front());
    add_edge(WordPlace::kTargetLast, target.back());
  }
  numbers_.clear();
  for (size_t t = 0; t < set_->templates().size(); ++t)
    if (const OrientationTemplate* made = set_->templates()[t].orientation) {
      made->of_phrase(source, target, found_);
      number_found(t);
    }
  for (const int32_t& key : numbers_) add(parts_.of({&key, 1}));
  rows_.offsets.push_back(static_cast<int64_t>(rows_.values.size()));
  if (!has_blocks()) return;
  block_targets_.push_back(target.empty() ? kNone : part_of(WordPlace::kBlockTargetFirst, target.front()));
  block_targets_.push_back(target.empty() ? kNone : part_of(WordPlace::kBlockTargetLast, target.back()));
}

void OrientationParts::add_passed(grammar::Symbol word) {
  const SideNames& source = set_->sides().source;
  const bool is_known = word >= kFirstWord && word < source.words->size();
  const grammar::Symbol same = is_known ? set_->sides().target.words->find(source.words->word(word)) : -1;
  add_phrase({&word, is_known ? 1u : 0u}, {&same, same >= 0 ? 1u : 0u});
}

void OrientationParts::add_source(grammar::Symbol word) {
  if (word < kFirstWord) word = 0;
  if (has_blocks()) {
    block_sources_.push_back(part_of(WordPlace::kBlockSourceFirst, word));
    block_sources_.push_back(part_of(WordPlace::kBlockSourceLast, word));
  }
  if (has_gaps()) gap_words_.push_back(part_of(WordPlace::kGap, word));
}

std::array<int32_t, 4> OrientationParts::block_start() {
  return {part_of(WordPlace::kBlockSourceFirst, kSentenceBegin), part_of(WordPlace::kBlockSourceLast, kSentenceBegin),
          part_of(WordPlace::kBlockTargetFirst, kSentenceBegin), part_of(WordPlace::kBlockTargetLast, kSentenceBegin)};
}

FeatureColumns OrientationParts::number(FeatureIds& ids, std::span<const uint8_t> wanted) const {
  const auto is_wanted = [&](size_t part, size_t o) { return wanted.empty() || wanted[part * kOrientations + o] != 0; };
  std::vector<uint8_t> names(keys_.size() * kOrientations);
  for (size_t part = 0; part < parts_.size(); ++part)
    for (const int32_t key : parts_[part])
      for (size_t o = 0; o < kOrientations; ++o)
        if (is_wanted(part, o)) names[at(key) * kOrientations + o] = 1;
  FeatureRows rows;
  for (size_t key = 0; key < keys_.size(); ++key) {
    const TemplateSet::Named& named = set_->templates()[at(keys_[key].front())];
    rows.use(named.name);
    for (size_t o = 0; o < kOrientations; ++o) {
      if (names[key * kOrientations + o] != 0)
        named.orientation->name(keys_[key].subspan(1), static_cast<grammar::Orientation>(o), rows);
      rows.end_row();
    }
  }
  // Each name is looked up once.
  std::vector<int32_t> id_of(rows.n_features(), names::FeatureIndex::kAbsent);
  std::vector<std::optional<std::span<const Blocks::Term>>> terms_of(ids.blocks() ? rows.n_features() : 0);
  for (size_t f = 0; f < rows.n_features(); ++f) {
    if (ids.blocks()) terms_of[f] = ids.terms(rows.name(f));
    if (!ids.blocks() || !terms_of[f]) id_of[f] = ids.of(rows.name(f));
  }
  FeatureColumns out;
  BlockSums sums(ids.blocks());
  for (size_t part = 0; part < parts_.size(); ++part)
    for (size_t o = 0; o < kOrientations; ++o) {
      for (const int32_t key : is_wanted(part, o) ? parts_[part] : std::span<const int32_t>{}) {
        const size_t row = at(key) * kOrientations + o;
        for (auto f = at(rows.offsets()[row]); f < at(rows.offsets()[row + 1]); ++f) {
          if (!terms_of.empty() && terms_of[f])
            sums.add(*terms_of[f], static_cast<double>(rows.value(f)));
          else if (id_of[f] != names::FeatureIndex::kAbsent) {
            out.ids.push_back(id_of[f]);
            out.values.push_back(rows.value(f));
          }
        }
      }
      sums.append(out.ids, out.values);
      out.offsets.push_back(out.ids.size());
    }
  return out;
}

}  // namespace dragoman::templates

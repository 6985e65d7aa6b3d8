#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hh"
#include "core/lm/arpa.hh"
#include "core/lm/batch.hh"
#include "core/lm/chart.hh"
#include "core/lm/estimate.hh"
#include "core/lm/model.hh"
#include "core/lm/pieces.hh"
#include "test/test.hh"

using namespace dragoman;
using namespace dragoman::lm;

namespace {

constexpr std::string_view kText = "a b c a b\na b d\nc a b a c\n\nb a b c d\nd d d a b c\na b c a d d\nb c a\n";

std::unique_ptr<Model> train(int order) {
  names::WordTable words;
  for (const char* symbol : {"<unk>", "<s>", "</s>"}) words.intern(symbol);
  names::EncodedLines lines;
  names::encode_lines(kText, words, 1, lines);
  TrainingText text;
  text.add({lines.offsets, lines.ids}, words.size(), {}, -1);
  Control control;
  const EstimateOptions options{order, std::vector<int64_t>(static_cast<size_t>(order), 0), true, {0.5, 1, 1.5}};
  return std::move(estimate(text, words, options, control).model);
}

std::string arpa_of(const Model& model) {
  ArpaWriter writer(model);
  std::string text, block;
  do {
    writer.next(block);
    text += block;
  } while (!block.empty());
  return text;
}

std::unique_ptr<Model> read(const std::string& arpa) {
  ArpaReader reader;
  reader.feed(arpa);
  Control control;
  return reader.finish(control);
}

std::unique_ptr<Model> map(const std::string& bytes, bool verify) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  std::fwrite(bytes.data(), 1, bytes.size(), file.get());
  std::fflush(file.get());
  return std::make_unique<Model>(fileno(file.get()), verify);
}

std::string file_of(const Model& model) {
  std::string bytes;
  for (const auto piece : model.file_pieces()) bytes += piece;
  return bytes;
}

double score(const Model& model, const std::vector<uint32_t>& words) {
  State state = model.begin_state();
  double sum = 0;
  for (const uint32_t word : words) sum += model.score(state, word, state);
  return sum;
}

// Everything a decoder does with a model, on arbitrary content.
void use(const Model& model) {
  Control control;
  score_text(model, kText, 1, {}, 2, control);
  PieceScorer inner(model), outer(model);
  for (uint32_t word = 0; word < model.n_words(); ++word) inner.word(word);
  outer.begin_sentence();
  outer.word(3 % model.n_words());
  outer.piece(inner.state());
  outer.word(kEos);
  State state = model.begin_state();
  model.match(state, kUnk, state);
  try {
    arpa_of(model);
  } catch (const InputError&) {
  }
}

// A piece of words and pieces: by numbers, and by PieceScorer.
std::pair<Piece, PieceScorer> random_piece(const Model& model, Pieces& pieces, std::mt19937& random, int depth) {
  std::pair<Piece, PieceScorer> made{{}, PieceScorer(model)};
  for (int n = static_cast<int>(random() % 4) + (depth > 0 ? 1 : 0); n > 0; --n) {
    if (depth > 0 && random() % 2 == 0) {
      const auto inner = random_piece(model, pieces, random, depth - 1);
      pieces.add(made.first, inner.first.state);
      made.second.piece(inner.second.state());
    } else {
      const uint32_t word = random() % 5 == 0 ? kUnk : 3 + random() % (model.n_words() - 3);
      pieces.word(made.first, word);
      made.second.word(word);
    }
  }
  return made;
}

}  // namespace

TEST(lm_batch_equals_single_scores) {
  for (int order = 1; order <= kMaxOrder; ++order) {
    const auto model = train(order);
    names::EncodedLines lines;
    names::encode_lines_frozen("a b c\nc x a d\n\nb b b b a", model->words(), kUnk, 1, lines);
    const Sentences sentences{lines.offsets, lines.ids};
    Control control;
    const BatchScores scores = score_ids(*model, sentences, {}, 3, control);
    for (int64_t i = 0; i < sentences.size(); ++i) {
      std::vector<uint32_t> words(sentences[i].begin(), sentences[i].end());
      words.push_back(kEos);
      CHECK(scores.logprob[static_cast<size_t>(i)] == score(*model, words));
    }
    const std::vector<int32_t> bad{static_cast<int32_t>(model->n_words())};
    const std::vector<int64_t> offsets{0, 1};
    CHECK(test::throws<InputError>([&] { score_ids(*model, {offsets, bad}, {}, 1, control); }));
  }
}

TEST(lm_chart_pieces_add_up) {
  const auto model = train(4);
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint32_t> words(random() % 12);
    for (uint32_t& word : words) word = random() % 5 == 0 ? kUnk : 3 + random() % (model->n_words() - 3);
    const size_t begin = words.empty() ? 0 : random() % words.size();
    const size_t end = words.empty() ? 0 : begin + random() % (words.size() - begin) + 1;
    PieceScorer inner(*model), outer(*model);
    for (size_t i = begin; i < end; ++i) inner.word(words[i]);
    outer.begin_sentence();
    for (size_t i = 0; i < begin; ++i) outer.word(words[i]);
    if (end > begin) outer.piece(inner.state());
    for (size_t i = end; i < words.size(); ++i) outer.word(words[i]);
    CHECK(std::abs(inner.score() + outer.score() - score(*model, words)) < 1e-4);
  }
}

TEST(lm_pieces_by_number_score_alike) {
  for (const int order : {1, 2, 4}) {
    const auto model = train(order);
    Pieces pieces(*model);
    std::mt19937 random(4);
    std::vector<std::pair<PieceState, ChartState>> states;
    for (int round = 0; round < 500; ++round) {
      if (round == 250) {
        pieces.clear();
        states.clear();
      }
      const auto [piece, scorer] = random_piece(*model, pieces, random, 3);
      CHECK(std::abs(piece.score - scorer.score()) < 1e-9);
      for (const auto& [by_number, state] : states) CHECK((by_number == piece.state) == (state == scorer.state()));
      states.emplace_back(piece.state, scorer.state());
    }
  }
}

TEST(lm_arpa_round_trip_is_exact) {
  const auto model = train(3);
  const auto again = read(arpa_of(*model));
  CHECK(score(*model, {3, 4, 5, 0, 3, 3, kEos}) == score(*again, {3, 4, 5, 0, 3, 3, kEos}));
}

TEST(lm_arpa_survives_mutations) {
  const std::string good = arpa_of(*train(3));
  std::mt19937 random(2);
  constexpr std::string_view kBytes = "0123456789-.\t \n\\aeb=<>/s\xff";
  int n_read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int change = static_cast<int>(random() % 3); change >= 0; --change) {
      const size_t place = random() % text.size();
      if (random() % 2 == 0)
        text[place] = kBytes[random() % kBytes.size()];
      else
        text.erase(place, random() % 9);
    }
    try {
      use(*read(text));
      ++n_read;
    } catch (const InputError&) {
    }
  }
  CHECK(n_read > 0 && n_read < 3000);
}

TEST(lm_binary_survives_mutations) {
  const auto model = train(3);
  const std::string good = file_of(*model);
  use(*map(good, true));
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (int change = static_cast<int>(random() % 40); change >= 0; --change)
      bytes[256 + random() % (bytes.size() - 256)] = static_cast<char>(random());
    if (bytes != good) CHECK(test::throws<InputError>([&] { map(bytes, true); }));
    try {
      use(*map(bytes, false));
    } catch (const InputError&) {
    }
    bytes = good.substr(0, random() % good.size());
    CHECK(test::throws<InputError>([&] { map(bytes, false); }));
  }
}

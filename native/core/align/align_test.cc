#include <cmath>
#include <vector>

#include "core/align/diagonal.hh"
#include "core/align/dirichlet.hh"
#include "core/align/ibm2.hh"
#include "core/align/links.hh"
#include "core/base/errors.hh"
#include "test/test.hh"

namespace {

using namespace dragoman;

double log_weights(const align::ShapeMass& shape, double tension) {
  double sum = 0;
  for (int32_t j = 0; j < shape.n_target; ++j) {
    double z = 0;
    for (int32_t i = 0; i < shape.n_source; ++i)
      z += std::exp(-tension * std::abs((i + 1.0) / shape.n_source - (j + 1.0) / shape.n_target));
    sum += shape.mass[static_cast<size_t>(j)] * std::log(z);
  }
  return sum;
}

std::vector<int32_t> words(int64_t n, uint32_t seed) {
  std::vector<int32_t> result;
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    result.push_back(static_cast<int32_t>((seed >> 16) % 23));
  }
  return result;
}

}  // namespace

TEST(diagonal_rows_are_the_definition) {
  for (const double tension : {0.1, 4.0, 13.0})
    for (int32_t n = 1; n < 9; ++n)
      for (int32_t m = 1; m < 9; ++m) {
        std::vector<double> row(static_cast<size_t>(m));
        const align::Diagonal diagonal(tension, 9);
        for (int32_t i = 0; i < n; ++i) {
          diagonal.row(i, n, row);
          for (int32_t j = 0; j < m; ++j) {
            const double expected = std::exp(-tension * std::abs((i + 1.0) / n - (j + 1.0) / m));
            CHECK(std::abs(row[static_cast<size_t>(j)] - expected) < 1e-12);
          }
        }
      }
}

TEST(feature_moments_are_derivatives_of_the_normaliser) {
  const std::vector<align::ShapeMass> shapes{{3, 2, {1.0, 0.5}}, {5, 7, {1, 2, 3, 0, 0.25, 1, 1}}, {1, 1, {2.0}}};
  for (const double tension : {0.3, 4.0, 11.0}) {
    const double h = 1e-4;
    double up = 0, here = 0, down = 0;
    for (const auto& shape : shapes) {
      up += log_weights(shape, tension + h);
      here += log_weights(shape, tension);
      down += log_weights(shape, tension - h);
    }
    const align::FeatureMoments moments = align::feature_moments(shapes, tension);
    CHECK(std::abs(moments.mean - (up - down) / (2 * h)) < 1e-6);
    CHECK(std::abs(moments.variance - (up - 2 * here + down) / (h * h)) < 1e-4);
  }
}

TEST(digamma_is_the_derivative_of_log_gamma) {
  for (const double x : {0.01, 0.5, 1.0, 3.7, 6.0, 250.0, 1e7}) {
    const double h = 1e-5 * x;
    const double slope = (std::lgamma(x + h) - std::lgamma(x - h)) / (2 * h);
    CHECK(std::abs(align::digamma(x) - slope) < 1e-6 * (1 + std::abs(slope)));
  }
}

TEST(fit_tension_finds_what_made_the_features) {
  const std::vector<align::ShapeMass> shapes{{4, 6, {1, 1, 1, 1, 1, 1}}, {7, 3, {2, 2, 2}}};
  for (const double tension : {0.5, 3.0, 17.0})
    CHECK(std::abs(align::fit_tension(shapes, align::feature_moments(shapes, tension).mean, 4.0) - tension) < 1e-3);
  CHECK(align::fit_tension(shapes, 0.0, 4.0) > 0.999 * align::kMaxTension);
  CHECK(align::fit_tension(shapes, -1e6, 4.0) < 1.001 * align::kMinTension);
}

TEST(training_is_the_same_for_any_number_of_threads) {
  std::vector<int64_t> source_offsets{0}, target_offsets{0};
  for (int64_t s = 0; s < 700; ++s) {
    source_offsets.push_back(source_offsets.back() + s % 12);  // some are empty, some too long
    target_offsets.push_back(target_offsets.back() + (s * 7) % 11);
  }
  const auto f = words(source_offsets.back(), 1), e = words(target_offsets.back(), 2);
  const Sentences source{source_offsets, f}, target{target_offsets, e};
  Control control;
  align::Ibm2Options options;
  options.max_length = 9;
  const auto one = align::train_ibm2(source, target, options, true, control);
  options.n_threads = 3;
  const auto three = align::train_ibm2(source, target, options, true, control);
  CHECK(one.assignment == three.assignment);
  CHECK(one.model.probs == three.model.probs);
  CHECK(one.model.align(source, target, 2, control) == one.assignment);
  for (int64_t s = 0; s < source.size(); ++s)
    for (int64_t k = target_offsets[static_cast<size_t>(s)]; k < target_offsets[static_cast<size_t>(s) + 1]; ++k) {
      const int32_t i = one.assignment[static_cast<size_t>(k)];
      CHECK(i >= -1 && i < static_cast<int32_t>(source[s].size()));
      if (source[s].size() > 9 || target[s].size() > 9) CHECK(i == -1);
    }
}

TEST(training_on_nothing) {
  const std::vector<int64_t> none{0}, empty_pair{0, 0};
  const std::vector<int32_t> ids;
  Control control;
  CHECK(align::train_ibm2({none, ids}, {none, ids}, {}, true, control).assignment.empty());
  CHECK(align::train_ibm2({empty_pair, ids}, {empty_pair, ids}, {}, true, control).assignment.empty());
}

TEST(symmetrize_does_not_allocate_by_positions) {
  const int32_t far = INT32_MAX;
  const std::vector<int64_t> offsets{0, 2};
  const std::vector<align::Link> a{{far, far}, {0, 0}}, b{{0, 0}, {far - 1, far}};
  Control control;
  for (const auto heuristic :
       {align::Heuristic::kUnion, align::Heuristic::kGrowDiagFinal, align::Heuristic::kRefined}) {
    const auto result = align::symmetrize({offsets, a}, {offsets, b}, heuristic, 2, control);
    CHECK(result.offsets.size() == 2 && !result.links.empty());
  }
}

TEST(pharaoh_text_round_trips_and_hostile_text_is_refused) {
  align::LinkTable table;
  align::parse_pharaoh("1-2 0-0\t0-0\r\n\n3-2147483647", 1, table);
  CHECK((table.offsets == std::vector<int64_t>{0, 2, 2, 3}));
  std::string text;
  align::format_pharaoh({table.offsets, table.links}, 0, 3, text);
  CHECK(text == "0-0 1-2\n\n3-2147483647\n");
  for (const char* bad : {"0", "-", "0-", "-0", "--1", "0--1", "0-1-2", "0-2147483648", "a-b", "0-1x", "0:1", "+0-1"}) {
    align::LinkTable unused;
    CHECK(test::throws<InputError>([&] { align::parse_pharaoh(bad, 1, unused); }));
  }
}

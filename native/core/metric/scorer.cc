#include "core/metric/scorer.hh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace dragoman::metric {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class BleuScorer : public Scorer {
 public:
  explicit BleuScorer(int max_order) : order_(static_cast<size_t>(max_order)), logs_(1 << 16) {
    if (max_order < 1) throw std::invalid_argument("BLEU needs an order of at least 1");
    for (size_t i = 0; i < logs_.size(); ++i) logs_[i] = std::log(static_cast<double>(i));
  }
  int n_stats() const override { return static_cast<int>(2 + 2 * order_); }
  double rank(std::span<const double> total) const override {
    double sum = 0;
    for (size_t n = 0; n < order_; ++n) {
      const double correct = total[2 + n], possible = total[2 + order_ + n];
      if (correct <= 0 || possible <= 0) return -kInfinity;
      sum += log_of(correct) - log_of(possible);
    }
    return sum / static_cast<double>(order_) + std::min(0.0, 1 - total[1] / total[0]);
  }
  double gain(std::span<const double> total) const override { return std::exp(rank(total)); }

 private:
  // Counts are whole numbers, and a sweep asks for the same ones again and again.
  double log_of(double x) const {
    const auto i = static_cast<int64_t>(x);
    return i < static_cast<int64_t>(logs_.size()) && static_cast<double>(i) == x ? logs_[static_cast<size_t>(i)]
                                                                                 : std::log(x);
  }

  size_t order_;
  std::vector<double> logs_;
};

class TerScorer : public Scorer {
 public:
  int n_stats() const override { return 2; }
  double gain(std::span<const double> total) const override {
    if (total[1] > 0) return 1 - total[0] / total[1];
    return total[0] > 0 ? 0 : 1;
  }
};

class MeanScorer : public Scorer {
 public:
  int n_stats() const override { return 2; }
  double gain(std::span<const double> total) const override { return total[1] > 0 ? total[0] / total[1] : 0; }
};

class ChrfScorer : public Scorer {
 public:
  ChrfScorer(int n_orders, double beta) : n_orders_(n_orders), beta_(beta) {
    if (n_orders < 1) throw std::invalid_argument("chrF needs at least one order");
  }
  int n_stats() const override { return 3 * n_orders_; }
  double gain(std::span<const double> total) const override {
    double precision = 0, recall = 0;
    int used = 0;
    for (size_t n = 0; n < static_cast<size_t>(n_orders_); ++n) {
      const double hyp = total[3 * n], ref = total[3 * n + 1], match = total[3 * n + 2];
      if (hyp <= 0 || ref <= 0) continue;
      precision += match / hyp;
      recall += match / ref;
      ++used;
    }
    if (used == 0) return 0;
    precision /= used;
    recall /= used;
    if (precision + recall <= 0) return 0;
    const double factor = beta_ * beta_;
    return (1 + factor) * precision * recall / (factor * precision + recall);
  }

 private:
  int n_orders_;
  double beta_;
};

class MixScorer : public Scorer {
 public:
  MixScorer(double constant, std::vector<MixPart> parts) : constant_(constant), parts_(std::move(parts)) {
    if (parts_.empty()) throw std::invalid_argument("a mix needs at least one part");
    for (const auto& part : parts_) n_stats_ += part.scorer->n_stats();
  }
  int n_stats() const override { return n_stats_; }
  double gain(std::span<const double> total) const override {
    double sum = constant_;
    size_t at = 0;
    for (const auto& [weight, scorer] : parts_) {
      const auto n = static_cast<size_t>(scorer->n_stats());
      sum += weight * scorer->gain(total.subspan(at, n));
      at += n;
    }
    return sum;
  }

 private:
  double constant_;
  std::vector<MixPart> parts_;
  int n_stats_ = 0;
};

}  // namespace

std::unique_ptr<Scorer> bleu_scorer(int max_order) { return std::make_unique<BleuScorer>(max_order); }
std::unique_ptr<Scorer> ter_scorer() { return std::make_unique<TerScorer>(); }
std::unique_ptr<Scorer> chrf_scorer(int n_orders, double beta) { return std::make_unique<ChrfScorer>(n_orders, beta); }
std::unique_ptr<Scorer> mean_scorer() { return std::make_unique<MeanScorer>(); }
std::unique_ptr<Scorer> mix_scorer(double constant, std::vector<MixPart> parts) {
  return std::make_unique<MixScorer>(constant, std::move(parts));
}

}  // namespace dragoman::metric

// Conditional distributions from expected counts.
#pragma once

#include <span>

namespace dragoman::align {

double digamma(double x);  // x > 0

// Counts to probabilities: relative frequencies, or with alpha > 0 the variational posterior under a symmetric
// Dirichlet prior, exp(digamma(count + alpha) - digamma(total)), which need not sum to 1. Negative counts mark entries
// outside the distribution; their probabilities are left unchanged. Probabilities are at least 1e-37.
void normalize(std::span<const double> counts, double alpha, std::span<float> probs);

}  // namespace dragoman::align

// Word classes by the exchange algorithm (Kneser and Ney 1993; Martin, Liermann and Ney 1998): words move one by one to
// the class that raises the likelihood of the text under a bigram model of classes most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/control.hh"
#include "core/corpus/bigrams.hh"

namespace dragoman::corpus {

// Counts of class pairs in rows, with what the gain of a move needs of each: f(n) = n log n, f(n + 1) - f(n) and
// f(n + 2) - f(n), because most words stand once or twice beside a class.
struct PairCounts {
  explicit PairCounts(int32_t n_rows, int32_t n_columns);
  void set(int32_t row, int32_t column, int64_t value);
  void add(int32_t row, int32_t column, int64_t more) { set(row, column, n(row, column) + more); }
  int64_t n(int32_t row, int32_t column) const { return count[place(row, column)]; }
  double value(int32_t row, int32_t column) const { return f[place(row, column)]; }
  size_t place(int32_t row, int32_t column) const { return at(row) * at(n_columns) + at(column); }
  // Adds f(n + more) - f(n) of a row to the sums, column by column.
  void add_gains(int32_t row, int64_t more, std::span<double> sums) const;

  int32_t n_columns;
  std::vector<int64_t> count;
  std::vector<double> f, one, two;
};

class Exchange {
 public:
  // `classes` to start with, by word; throws std::invalid_argument where they do not fit.
  Exchange(const WordBigrams& bigrams, int32_t n_classes, std::span<const int32_t> classes);

  int32_t n_classes() const { return n_classes_; }
  // The class of each id; -1 for those that the text lacks.
  std::vector<int32_t> by_id() const;
  // Log likelihood of the text, from the counts as they are.
  double likelihood() const;
  // How the log likelihood changes if the word moves to each class; 0 for the one it is in.
  void gains(int32_t word, std::span<double> out);
  void move(int32_t word, int32_t to);
  // Visits every word once, by descending frequency, and moves it to the best class (ties: the lowest) if that gains
  // more than rounding can. Returns how many moved. Advances `control` by the number of words.
  int64_t sweep(Control& control);

 private:
  // How often the word stands before and after each class, without itself.
  struct Context {
    std::vector<int64_t> count;    // by class
    std::vector<int32_t> classes;  // those that are not 0
  };
  void gather(int32_t word);
  void gather(int32_t word, std::span<const Neighbour> neighbours, Context& into);
  // sums_[c]: what the likelihood gains when the word, taken out of its class, is put into c.
  void weigh(int32_t word);
  void weigh_side(const PairCounts& pairs, const Context& context, const Context& other, int32_t from);
  double insertion_where_it_is(int32_t word) const;
  void change(int32_t before, int32_t after, int64_t more);

  const WordBigrams& bigrams_;
  int32_t n_classes_;
  std::vector<int32_t> classes_;  // by word; the boundary has the class n_classes_
  PairCounts forward_;            // a row for each first class
  PairCounts backward_;           // a row for each second class
  PairCounts totals_;             // one row
  Context before_, after_;
  int64_t twice_ = 0;  // how often the word stands beside itself
  std::vector<double> sums_, kept_;
};

// Classes to start with, of words by descending frequency. ALONE: each of the first n_classes - 1 has a class to
// itself, the rest share the last. DEALT: word w has the class w modulo n_classes.
enum class Start { ALONE, DEALT };
std::vector<int32_t> starting_classes(int32_t n_words, int32_t n_classes, Start start);

// The classes of all ids (-1: not in the text), and how they came about.
struct Clustering {
  std::vector<int32_t> classes;
  double start = 0;       // log likelihood of the classes to start with
  double likelihood = 0;  // and of these
  int32_t n_sweeps = 0;
  bool converged = false;  // the last sweep moved nothing
};

// Clusters for each number of classes, which must be from 1 to the number of words: from both starts, side by side in
// threads; what is more likely stays, ALONE if they are equal. Advances `control` by at most n_words * max_sweeps (and
// one) for each number and start.
std::vector<Clustering> cluster(const WordBigrams& bigrams, std::span<const int32_t> sizes, int32_t max_sweeps,
                                int n_threads, Control& control);

}  // namespace dragoman::corpus

// Moments of one column whose values come class by class, a few at a time, from batch to batch.
//
// A panel counts four columns at a time; here its four columns are one, of which they take every fourth value each,
// and whose moments are the sum of theirs. So a column alone is counted as fast as four, and as exactly.
#pragma once
#include <cstdint>
#include <vector>

#include "moments/cell_block.hpp"

namespace naively::dense {

class RunningMoments {
 public:
  explicit RunningMoments(std::ptrdiff_t classes);

  // Adds x[place[0]], …, x[place[n − 1]] to class c, but for what cannot be squared: NaN, and beyond `largest`.
  void add(std::ptrdiff_t c, const double* x, const std::uint16_t* place, int n);
  // Column j of cells: all that was added. More may be added afterwards.
  void write(Cells out, std::ptrdiff_t j);

  static constexpr double largest = 1e150;  // as `LARGEST` in statistics/moments.py
  static constexpr int most = 1024;         // values at a time

 private:
  // Values of a class wait until they are worth a run; what does not fill a line of four waits longer.
  static constexpr int worth = 64;
  struct Waiting {
    int n = 0;
    double x[worth];
  };
  void count(std::ptrdiff_t c, int n);

  Panel panel_;
  std::vector<Waiting> waiting_;
  Aligned<double> values_;  // of one class: those that waited, and those that came
};

}  // namespace naively::dense

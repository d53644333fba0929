// The calibration of two classes: the offset and the weights x = (b₁ − b₀, w₁, …) that minimise
//
//   Σ_i r_i log(1 + exp(−m_i)) + ½ Σ_j κ_j (x_j − v_j)²,   m_i = ± (a_i + Σ_j x_j f_ij),   0 ≤ x_j ≤ top for j ≥ 1 (1)
//
// f_i0 is 1 and f_ij what feature j says for the second class of row i against the first, a_i the same of the prior,
// and the sign is + for rows of the second class. Each step is Newton's, of the weights that no bound holds, or a part
// of it (Bertsekas, Projected Newton methods, SIAM J. Control Optim. 20 (1982) 221–246).
#pragma once
#include <cstdint>
#include <vector>

namespace naively::cells {

class Pair {
 public:
  // base is (row, class), evidence (feature, row, class), label 0 or 1.
  Pair(std::int64_t n_rows, std::int64_t n_features, const double* base, const double* evidence,
       const std::int64_t* label, const double* row_weight);

  struct Pull {
    const double *centre, *strength;  // v, κ, of x
    double top;
  };

  // From x to the minimum of (1), until a step gains less than `close` of it, or `steps` are done; returns (1) there.
  double minimise(const Pull& pull, double close, int steps, std::vector<double>& x);

 private:
  double value(const Pull& pull, const std::vector<double>& x);      // (1), its gradient_ and wrong_
  void curvature(const Pull& pull);                                  // the second derivatives of (1), into matrix_
  bool newton_step(const Pull& pull, const std::vector<double>& x);  // into step_

  std::int64_t n_, m_, width_;  // rows; features and 1; the rows and m in whole fours (what is beyond is zero)
  std::vector<double> f_, a_, sign_, r_;          // f is (row, feature), its rows `width_` long
  std::vector<double> wrong_;                     // the probability of the class that a row does not have
  std::vector<double> gradient_, step_, matrix_;  // all of `width_`, or rows of it
};

}  // namespace naively::cells

// The calibration of two classes: the offset and the weights x = (b₁ − b₀, w₁, …) that minimise
//
//   Σ_i r_i (log(1 + exp(−m_i)) + u_i m_i) + ½ Σ_j κ_j (x_j − v_j)²,   m_i = ± (a_i + Σ_j x_j f_ij)            (1)
//
// f_i0 is 1, f_ij is the evidence of feature j in row i for the second class against the first, and a_i that of the
// prior. The sign is + for rows whose target is the second class, and u_i is the target of the other class. Weights
// x_j, j ≥ 1, are from 0 to a maximum. Each step is Newton's, in the weights that are not at a bound, or a part of it
// (Bertsekas, Projected Newton methods, SIAM J. Control Optim. 20 (1982) 221–246).
#pragma once
#include <cstdint>
#include <vector>

namespace naively::posterior {

class TwoClassSolver {
 public:
  // base and target are (row, class), evidence is (feature, row, class). The two targets of a row add up to 1.
  TwoClassSolver(std::int64_t n_rows, std::int64_t n_features, const double* base, const double* evidence,
                 const double* target);

  struct Penalty {
    const double *centre, *strength;  // v, κ, of x
    double max_weight;
  };

  // Moves x to the minimum of (1), until a step gains less than `tolerance` of it or max_steps are done. Returns (1).
  double minimise(const double* row_weight, const Penalty& penalty, double tolerance, int max_steps,
                  std::vector<double>& x);

 private:
  double value(const Penalty& penalty, const std::vector<double>& x);  // (1), its gradient_ and wrong_
  void curvature(const Penalty& penalty);                              // the second derivatives of (1), into matrix_
  bool newton_step(const Penalty& penalty, const std::vector<double>& x);  // into step_

  std::int64_t n_rows_, n_, m_, width_;   // rows; features and 1; rows and m are padded with zeros to multiples of four
  std::vector<double> f_, a_, sign_, r_;  // f is (row, feature), its rows `width_` long
  std::vector<double> doubt_;             // u
  std::vector<double> wrong_;             // the probability of the class with the smaller target
  std::vector<double> gradient_, step_, matrix_;  // all of `width_`, or rows of it
};

}  // namespace naively::posterior

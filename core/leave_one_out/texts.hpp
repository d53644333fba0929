// Documents scored as if they had not been counted: left_out.hpp's equations, straight from the text.
#pragma once
#include "leave_one_out/tokens.hpp"
#include "text/text.hpp"

namespace naively::text {

// Document i left the class label[i] with a weight, and as so many rows; missing ones have nothing to say. `once`: each
// token counts once. Adds to out (document, class); of several that were not counted, tells of the first.
struct LeavingDocuments {
  const Documents& documents;
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
  bool once;
};

cells::NotCounted leave_text_out(const LeavingDocuments& leaving, const Vocabulary* vocabulary, const Options& options,
                                 const cells::TokenCells& cells, cells::Model model, double* out, int n_jobs,
                                 const Poll& poll);

}  // namespace naively::text

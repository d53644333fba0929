// Score documents as if they had not been counted: the equations of tokens.hpp, straight from the text.
#pragma once
#include "leave_one_out/tokens.hpp"
#include "text/text.hpp"

namespace naively::leave_one_out {

// Document i was counted in class label[i] with a weight, and as `rows` rows. Missing documents are not scored.
struct CountedDocuments {
  const text::Documents& documents;
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
  bool once;  // each token counts once
};

// Adds to out (document, class). Returns the first of the entries that were never counted; out is then of no use.
UncountedEntry leave_texts_out(const CountedDocuments& counted, const text::Vocabulary* vocabulary,
                               const text::Options& options, const TokenCells& cells, Model model, double* out,
                               int n_threads, const text::Poll& poll);

}  // namespace naively::leave_one_out

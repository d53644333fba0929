// Cells of a column of CSV: which are missing, and whether all others are numbers.
#pragma once
#include <string>
#include <vector>

#include "support/memory.hpp"
#include "text/documents.hpp"

namespace naively::text {

// Whether each cell is one of some values; a missing one is not.
support::LargeArray<bool> are_among(const Documents& cells, const std::vector<std::string>& values);

struct NumberKinds {
  bool has_values = false;                       // some cells are not missing, and
  bool are_integers = true, are_numbers = true;  // all of these are integers of 64 bits, are numbers
};

// Looks at the cells that are not among the missing values. Cells are numbers if a type for numbers keeps what is
// written: 007 and +1 are codes, and of 0.1 with 20 digits a double would lose some.
//
//   integer    0, or a digit from 1 on and at most 17 more; − before it, but −0 is not one
//   number     0, or a digit from 1 on and at most 14 more; a point and at most 17 digits, not counting zeros after
//   "0.";
//              an exponent from −289 to 289
NumberKinds number_kinds(const Documents& cells, const std::vector<std::string>& missing);

}  // namespace naively::text

// What one class at a time has counted of each token; see left_out.hpp.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "leave_one_out/tokens.hpp"
#include "support/memory.hpp"

namespace naively::cells {

struct Counted {  // a cell that is not there has no rows
  double sum;
  std::int64_t rows;
};

// The cells class by class: cell `at` of the tokens' list, which is one of `token`.
struct ClassCells {
  struct Cell {
    std::int64_t token, at;
  };
  std::vector<std::int64_t> first;  // class c has [first[c], first[c + 1])
  std::vector<Cell> cell;

  explicit ClassCells(const TokenCells& cells) : first(cells.n_classes + 2), cell(cells.start[cells.n_tokens]) {
    for (std::size_t j = 0; j < cell.size(); ++j) ++first[cells.owner[j] + 2];
    for (std::int64_t c = 1; c <= cells.n_classes; ++c) first[c + 1] += first[c];
    for (std::int64_t k = 0; k < cells.n_tokens; ++k)
      for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) cell[first[cells.owner[j] + 1]++] = {k, j};
  }
};

// Rows that leave one class after the other look their cells up in a small table, by the token's number; to begin
// another class costs as much as it has cells.
class OwnCells {
 public:
  OwnCells(const TokenCells& cells, const ClassCells& by_class)
      : cells_(cells), by_class_(by_class), own_(static_cast<std::size_t>(cells.n_tokens)) {}

  void hold(std::int32_t label) {
    if (label == held_) return;
    if (held_ >= 0) for_cells(held_, [&](const ClassCells::Cell& cell) { own_[cell.token] = {0, 0}; });
    for_cells(label,
              [&](const ClassCells::Cell& cell) { own_[cell.token] = {cells_.sum[cell.at], cells_.rows[cell.at]}; });
    held_ = label;
  }

  Counted of(std::int64_t k) const { return own_[k]; }
  void prefetch(std::int64_t k) const { __builtin_prefetch(&own_[k]); }

 private:
  template <class Do>
  void for_cells(std::int32_t label, Do&& act) {
    for (std::int64_t i = by_class_.first[label]; i < by_class_.first[label + 1]; ++i) act(by_class_.cell[i]);
  }

  const TokenCells& cells_;
  const ClassCells& by_class_;
  support::LargeArray<Counted> own_;
  std::int32_t held_ = -1;
};

// One for each thread, who takes any that is idle.
class OwnTables {
 public:
  explicit OwnTables(const TokenCells& cells) : cells_(cells), by_class_(cells) {}

  class Taken {
   public:
    explicit Taken(OwnTables& tables) : tables_(tables) {
      const std::lock_guard lock(tables.guard_);
      if (tables.idle_.empty()) {
        table_ = std::make_unique<OwnCells>(tables.cells_, tables.by_class_);
      } else {
        table_ = std::move(tables.idle_.back());
        tables.idle_.pop_back();
      }
    }
    ~Taken() {
      const std::lock_guard lock(tables_.guard_);
      tables_.idle_.push_back(std::move(table_));
    }
    OwnCells& operator*() { return *table_; }

   private:
    OwnTables& tables_;
    std::unique_ptr<OwnCells> table_;
  };

 private:
  const TokenCells& cells_;
  const ClassCells by_class_;
  std::mutex guard_;
  std::vector<std::unique_ptr<OwnCells>> idle_;
};

// Numbers of rows in the order of their classes, else of the rows.
inline std::vector<std::int64_t> by_label(const std::int32_t* label, std::int64_t n, std::int64_t n_classes) {
  std::vector<std::int64_t> first(n_classes + 1), order(n);
  for (std::int64_t i = 0; i < n; ++i) ++first[label[i] + 1];
  for (std::int64_t c = 0; c < n_classes; ++c) first[c + 1] += first[c];
  for (std::int64_t i = 0; i < n; ++i) order[first[label[i]]++] = i;
  return order;
}

}  // namespace naively::cells

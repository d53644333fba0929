// Cells: a sparse table class × token, class-major, tokens ascending within a class.
//
// Every cell has one or more sums of weights (channels) and a whole number of rows; it exists while its rows
// are not 0. Tables are made at an upper bound of their size and shrunk in place: memory that was never
// written to is never resident, so the peak follows what is not zero.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace naively::cells {

// An uninitialised array that can shrink in place and be given away.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::int64_t size = 0) : memory_(allocate(nullptr, size)) {}
  T* get() { return memory_.get(); }
  const T* get() const { return memory_.get(); }
  T& operator[](std::int64_t i) { return memory_.get()[i]; }
  const T& operator[](std::int64_t i) const { return memory_.get()[i]; }
  void resize(std::int64_t size) { memory_.reset(allocate(memory_.release(), size)); }
  T* release() { return memory_.release(); }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  static T* allocate(T* old, std::int64_t size) {
    void* p = std::realloc(old, (size > 0 ? size : 1) * sizeof(T));
    if (p == nullptr) {
      std::free(old);
      throw std::bad_alloc();
    }
    return static_cast<T*>(p);
  }
  std::unique_ptr<T, Free> memory_;
};

// Cells that someone else owns. sums[f * size + i] is channel f of cell i.
struct CellsView {
  std::int64_t n_classes, n_sums, size;
  const std::int64_t* indptr;
  const std::int32_t* index;
  const double* sums;
  const std::int64_t* rows;
};

struct Cells {
  std::int64_t n_classes = 0, n_sums = 0, size = 0;
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> index;
  Buffer<double> sums;
  Buffer<std::int64_t> rows;
};

// Cells in the making: class c has room from start[c] to start[c + 1], and its first used[c] cells are filled.
// Different classes may be filled by different threads.
class Draft {
 public:
  Draft(std::vector<std::int64_t> start, std::int64_t n_sums);

  // Appends a cell to class c; tokens must come in ascending order.
  void append(std::int64_t c, std::int32_t token, const double* sums, std::int64_t n_rows) {
    const std::int64_t at = start_[c] + used_[c]++;
    index_[at] = token;
    rows_[at] = n_rows;
    for (std::int64_t f = 0; f < n_sums_; ++f) sums_[f * room_ + at] = sums[f];
  }
  // Appends cells [from, to) of a table as they are.
  void append(std::int64_t c, const CellsView& cells, std::int64_t from, std::int64_t to);
  // Closes the gaps between classes and gives the memory away.
  Cells finish() &&;

 private:
  std::vector<std::int64_t> start_, used_;
  std::int64_t n_sums_, room_;
  Buffer<std::int32_t> index_;
  Buffer<double> sums_;
  Buffer<std::int64_t> rows_;
};

// Throws std::invalid_argument unless indptr is 0 = i_0 ≤ i_1 ≤ … ≤ i_n = size.
void check_indptr(const std::int64_t* indptr, std::int64_t n, std::int64_t size, const char* of);

Cells merge_cells(const CellsView& a, const CellsView& b, int sign);

Cells renumber_cells(const CellsView& cells, const std::int32_t* class_map, const std::int32_t* index_map,
                     std::int64_t n_tokens, std::int64_t n_classes);

// The transpose: the cells of token k are order[indptr[k] .. indptr[k + 1]), of classes[…].
struct TokenMajor {
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> classes;
  Buffer<std::int64_t> order;
};
TokenMajor by_token(const CellsView& cells, std::int64_t n_tokens);

// The cells of some tokens, token by token, and after them, of all other tokens together, one for each class that has
// any.
struct SomeTokens {
  std::int64_t size, n_seen;  // cells; different tokens of all cells
  Buffer<std::int64_t> start;
  Buffer<std::int32_t> owner;
  Buffer<double> sums;  // (channel, cell)
  Buffer<std::int64_t> rows;
};
// Token k becomes place[k] of 0 … n_places − 1, or is one of the others if that is −1.
SomeTokens some_tokens(const CellsView& cells, const std::int32_t* place, std::int64_t n_tokens, std::int64_t n_places);

}  // namespace naively::cells
